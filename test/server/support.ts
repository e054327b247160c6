/** A server over real files and real sockets, a clock that is turned by hand, and clients that speak plain HTTP. */
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { onTestFinished } from "vitest";
import {
  type Catalogue,
  type CatalogueItem,
  type Clock,
  type KeySpec,
  type KeyStore,
  type MadeKey,
  openKeyStore,
  type RunningServer,
  type ServedSession,
  type ServerOptions,
  startServer,
} from "../../src/server/index.ts";
import { createSession } from "../../src/session/index.ts";
import { openLog } from "../../src/sources/index.ts";

export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-server-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A clock that stands still until it is turned. */
export class HandClock implements Clock {
  #now: number;
  #timers: { readonly at: number; readonly act: () => void }[] = [];
  #awaited: { readonly delayMs: number; readonly resolve: () => void }[] = [];

  constructor(now: number = Date.UTC(2026, 7, 10)) {
    this.#now = now;
  }

  readonly now = (): number => this.#now;

  readonly after = (delayMs: number, act: () => void): (() => void) => {
    const timer = { at: this.#now + delayMs, act };
    this.#timers.push(timer);
    for (const each of this.#awaited) if (each.delayMs === delayMs) each.resolve();
    this.#awaited = this.#awaited.filter((each) => each.delayMs !== delayMs);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  };

  /** Resolves once a timer of this delay is set. */
  timerSet(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited.push({ delayMs, resolve });
    });
  }

  /** Turns it on, each timer run at its time. */
  turn(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = this.#timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((each) => each !== due);
      this.#now = Math.max(this.#now, due.at);
      due.act();
    }
    this.#now = end;
  }
}

/** A log of Claude Code that a test writes. */
export class LogWriter {
  readonly path: string;
  #serial = 0;

  constructor(path: string) {
    this.path = path;
  }

  #record(fields: object): string {
    const serial = this.#serial++;
    const uuid = `u${serial}`;
    const parentUuid = serial === 0 ? null : `u${serial - 1}`;
    const timestamp = new Date(Date.UTC(2026, 7, 10) + serial * 1000).toISOString();
    return `${JSON.stringify({ uuid, parentUuid, isSidechain: false, sessionId: "s", timestamp, ...fields })}\n`;
  }

  promptLine(text: string): string {
    return this.#record({ type: "user", message: { role: "user", content: text } });
  }

  #said(content: readonly object[], stop: string): string {
    const message = {
      id: `m${this.#serial}`,
      role: "assistant",
      model: "a-model",
      stop_reason: stop,
      usage: { output_tokens: 3 },
    };
    return this.#record({ type: "assistant", message: { ...message, content } });
  }

  answerLine(text: string): string {
    return this.#said([{ type: "text", text }], "end_turn");
  }

  callLine(id: string, command: string): string {
    return this.#said([{ type: "tool_use", id, name: "Bash", input: { command } }], "tool_use");
  }

  resultLine(id: string, text: string): string {
    return this.#record({
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] },
    });
  }

  append(...lines: readonly string[]): Promise<void> {
    return appendFile(this.path, lines.join(""));
  }
}

/** A log with a prompt and an answer in it. */
export async function makeLog(folder: string, name: string = "s.jsonl"): Promise<LogWriter> {
  const log = new LogWriter(join(folder, name));
  await writeFile(log.path, log.promptLine("first question") + log.answerLine("first answer"));
  return log;
}

/** The catalogue of some files, each under its own id. */
export function catalogueOf(
  paths: Readonly<Record<string, string>>,
  serve: (served: ServedSession, id: string) => ServedSession = (served) => served,
): Catalogue {
  const items: readonly CatalogueItem[] = Object.entries(paths).map(([id, path]) => ({
    id,
    info: { agent: "claude-code", id: `own-${id}`, path },
  }));
  return {
    list: async () => items,
    find: async (id) => items.find((item) => item.id === id),
    describe: async (item) => ({ ...item.info, title: `title of ${item.id}` }),
    async open(item) {
      const log = await openLog(item.info.path);
      return serve({ session: createSession(log, await log.info()) }, item.id);
    },
  };
}

export interface TestServer {
  readonly server: RunningServer;
  readonly keys: KeyStore;
  readonly failures: readonly unknown[];
  addKey(spec?: Partial<KeySpec>): Promise<MadeKey>;
}

export async function makeServer(
  options: Partial<ServerOptions> & Pick<ServerOptions, "catalogue">,
): Promise<TestServer> {
  const { clock } = options;
  const keys =
    options.keys ?? (await openKeyStore(join(await tempFolder(), "server"), clock?.now ?? Date.now));
  const failures: unknown[] = [];
  const server = await startServer({ port: 0, onFailure: (error) => failures.push(error), ...options, keys });
  onTestFinished(() => server.close());
  return {
    server,
    keys,
    failures,
    addKey: (spec = {}) => keys.add({ label: "a test", sessions: "all", may: "answer", ...spec }),
  };
}

export interface Asked {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface AskOptions {
  readonly method?: string;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function open(server: RunningServer, target: string, options: AskOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { method = options.body === undefined ? "GET" : "POST", secret, body } = options;
    const asking = request(
      {
        host: "127.0.0.1",
        port: server.port,
        path: target,
        method,
        agent: false,
        headers: {
          ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...options.headers,
        },
      },
      resolve,
    );
    asking.on("error", reject);
    asking.end(body);
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** One request, answered whole. The target is sent as it is, whatever it holds. */
export async function ask(server: RunningServer, target: string, options: AskOptions = {}): Promise<Asked> {
  const answer = await open(server, target, options);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await textOf(answer) };
}

/** The same, its JSON. */
export async function askJson<T>(
  server: RunningServer,
  target: string,
  options: AskOptions = {},
): Promise<T> {
  const { status, body } = await ask(server, target, options);
  if (status !== 200) throw new Error(`${target} answered ${status}: ${body}`);
  return JSON.parse(body) as T;
}

/** An open lane: its events one by one. */
export interface OpenLane {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The next event; undefined once the lane has ended. */
  next(): Promise<EventSourceMessage | undefined>;
  /** The next event's data as JSON. */
  nextFrame<T>(): Promise<T>;
  /** All further events, until the lane ends. */
  rest(): Promise<readonly EventSourceMessage[]>;
  /** The position of the last event that had one. */
  readonly position: string;
  readonly comments: number;
  /** Resolves at the next comment (a heartbeat). */
  comment(): Promise<void>;
  readonly raw: IncomingMessage;
  close(): void;
}

export async function openLane(
  server: RunningServer,
  target: string,
  options: AskOptions = {},
): Promise<OpenLane> {
  const raw = await open(server, target, {
    ...options,
    headers: { accept: "text/event-stream", ...options.headers },
  });
  const waiting: EventSourceMessage[] = [];
  let wake: () => void = () => undefined;
  let isOver = false;
  let comments = 0;
  let commented: () => void = () => undefined;
  let position = "";
  const parser = createParser({
    onEvent: (event) => {
      waiting.push(event);
      wake();
    },
    onComment: () => {
      comments += 1;
      commented();
    },
  });
  const over = (): void => {
    isOver = true;
    wake();
  };
  raw.setEncoding("utf8");
  raw.on("data", (text: string) => parser.feed(text));
  raw.on("end", over);
  raw.on("error", over);
  raw.on("close", over);
  onTestFinished(() => {
    raw.destroy();
  });
  const next = async (): Promise<EventSourceMessage | undefined> => {
    for (;;) {
      const event = waiting.shift();
      if (event !== undefined) {
        if (event.id !== undefined) position = event.id;
        return event;
      }
      if (isOver) return undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    status: raw.statusCode ?? 0,
    headers: raw.headers,
    raw,
    next,
    async nextFrame<T>() {
      const event = await next();
      if (event === undefined) throw new Error("the lane ended");
      return JSON.parse(event.data) as T;
    },
    async rest() {
      const events: EventSourceMessage[] = [];
      for (let event = await next(); event !== undefined; event = await next()) events.push(event);
      return events;
    },
    get position() {
      return position;
    },
    get comments() {
      return comments;
    },
    comment: () =>
      new Promise((resolve) => {
        commented = resolve;
      }),
    close: () => raw.destroy(),
  };
}
