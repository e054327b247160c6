/**
 * Chaos for the server's lanes: a log that is written without pause, a server that is started anew at random, clients that are cut at any
 * byte, slow, behind a proxy that holds bytes back, with positions that are bad, foreign or of a log that is gone. Every client must end
 * with every entry once and in order, and be told to begin anew only where that is true.
 */
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import {
  type Catalogue,
  type CatalogueItem,
  type KeyStore,
  type LaneFrame,
  openKeyStore,
  type RunningServer,
  servedSession,
  startServer,
} from "../src/server/index.ts";
import { createSession } from "../src/session/index.ts";
import { openLog } from "../src/sources/index.ts";
import { type BufferingProxy, startProxy } from "./buffering-proxy.ts";
import { randomFrom, whole } from "./random.ts";

export interface FollowOptions {
  readonly seed: number;
  readonly reconnects: number;
}

export interface FollowReport {
  readonly reconnects: number;
  readonly restarts: number;
  readonly entries: number;
  readonly clients: number;
  /** Entries that a client never got, got twice, or got out of order. */
  readonly lost: number;
  readonly doubled: number;
  readonly disordered: number;
  /** Told to begin anew while the log was whole. */
  readonly falseResets: number;
  /** Bad, foreign and void positions that were not told as such. */
  readonly missedResets: number;
  readonly probes: number;
  /** Errors that the server told of. */
  readonly failures: readonly string[];
}

const CLIENTS = 8;
/** Entries past which the writer waits until the run is over. */
const ENTRIES_MAX = 3_000;
/** Polls after which a client that still misses something has lost it. */
const DRAIN_POLLS_MAX = 200;
/** How long the writer waits for clients to connect anew before it writes on, at most. */
const WRITE_PAUSE_MS = 2;
const WRITE_WAITS_MAX = 8;
/** Connections of all clients between two restarts of the server, at most. */
const RESTART_AFTER_MAX = 40;

class Writer {
  readonly path: string;
  readonly #random: () => number;
  #serial = 0;

  constructor(path: string, random: () => number) {
    this.path = path;
    this.#random = random;
  }

  get entries(): number {
    return this.#serial;
  }

  #record(fields: object): string {
    const serial = this.#serial++;
    const parentUuid = serial === 0 ? null : `u${serial - 1}`;
    const timestamp = new Date(Date.UTC(2026, 7, 10) + serial * 1000).toISOString();
    const head = { uuid: `u${serial}`, parentUuid, isSidechain: false, sessionId: "s", timestamp };
    return `${JSON.stringify({ ...head, ...fields })}\n`;
  }

  #said(content: object, stop: string): string {
    const message = {
      id: `m${this.#serial}`,
      role: "assistant",
      model: "a-model",
      stop_reason: stop,
      usage: {},
    };
    return this.#record({ type: "assistant", message: { ...message, content: [content] } });
  }

  /** The records of one turn: a prompt, a few calls with their results, an answer. */
  turn(): readonly string[] {
    const text = (): string => `${this.#serial} ${"word ".repeat(whole(this.#random, 1, 120))}`;
    const lines = [this.#record({ type: "user", message: { role: "user", content: text() } })];
    for (let calls = whole(this.#random, 0, 2); calls > 0; calls -= 1) {
      const id = `t${this.#serial}`;
      lines.push(this.#said({ type: "tool_use", id, name: "Bash", input: { command: text() } }, "tool_use"));
      const result = { type: "tool_result", tool_use_id: id, content: text() };
      lines.push(this.#record({ type: "user", message: { role: "user", content: [result] } }));
    }
    return [...lines, this.#said({ type: "text", text: text() }, "end_turn")];
  }

  /** Writes one turn, its bytes cut anywhere. */
  async write(): Promise<void> {
    let bytes = Buffer.from(this.turn().join(""));
    while (bytes.length > 0) {
      const cut = whole(this.#random, 1, bytes.length);
      await appendFile(this.path, bytes.subarray(0, cut));
      bytes = bytes.subarray(cut);
      await turn();
    }
  }
}

interface World {
  readonly random: () => number;
  readonly writer: Writer;
  readonly proxy: BufferingProxy;
  readonly secret: string;
  server: RunningServer;
  reconnects: number;
  readonly wanted: number;
}

/** What one client holds, and what it found wrong. */
class Client {
  readonly names: string[] = [];
  readonly #seen = new Set<string>();
  position = "-1";
  doubled = 0;
  falseResets = 0;
  isTold = false;

  take(frame: LaneFrame, position: string | undefined): void {
    if (frame.type === "reset") {
      this.falseResets += 1;
      this.position = "-1";
      return;
    }
    const name =
      frame.type === "blockFinished"
        ? frame.entry.name
        : frame.type === "blockSettled"
          ? frame.name
          : undefined;
    if (name !== undefined) {
      if (this.#seen.has(name)) this.doubled += 1;
      this.#seen.add(name);
      this.names.push(name);
    }
    if (position !== undefined) this.position = position;
  }
}

function connect(
  world: World,
  query: string,
  port: number,
  id?: string,
): Promise<IncomingMessage | undefined> {
  return new Promise((resolve) => {
    const asking = request(
      {
        host: "127.0.0.1",
        port,
        path: `/api/sessions/s1/changes?${query}`,
        agent: false,
        headers: {
          // Through the proxy the server is still asked under its own name.
          host: `127.0.0.1:${world.server.port}`,
          authorization: `Bearer ${world.secret}`,
          ...(id === undefined ? {} : { "last-event-id": id }),
        },
      },
      resolve,
    );
    // The server is down at this moment, or the proxy cut the line.
    asking.on("error", () => resolve(undefined));
    asking.end();
  });
}

/** Reads events until so many bytes came, or the line ended; slowly where it is told to. */
async function readEvents(
  answer: IncomingMessage,
  client: Client,
  bytesMax: number,
  isSlow: boolean,
  wait: () => boolean,
): Promise<void> {
  const parser = createParser({
    onEvent: ({ data, id }) => {
      const frame = JSON.parse(data) as LaneFrame;
      if (frame.type !== "closed" && frame.type !== "lagged") client.take(frame, id);
    },
  });
  let bytes = 0;
  const text = new TextDecoder();
  await new Promise<void>((resolve) => {
    const end = (): void => {
      answer.destroy();
      resolve();
    };
    answer.on("data", (chunk: Buffer) => {
      const part = chunk.subarray(0, Math.max(0, bytesMax - bytes));
      bytes += part.length;
      parser.feed(text.decode(part, { stream: true }));
      if (bytes >= bytesMax || !wait()) return end();
      if (!isSlow) return;
      answer.pause();
      setImmediate(() => answer.resume());
    });
    answer.on("end", resolve).on("error", resolve).on("close", resolve);
  });
}

async function poll(world: World, client: Client, query: string, port: number): Promise<boolean> {
  const answer = await connect(world, `${query}offset=${client.position}`, port);
  if (answer === undefined) return false;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch (error) {
    // Cut inside of the answer: nothing of it is taken.
    if (error instanceof Error && "code" in error && error.code === "ECONNRESET") return false;
    throw error;
  }
  if (answer.statusCode === 410) client.falseResets += 1;
  const next = answer.headers["stream-next-offset"];
  if (answer.statusCode !== 200 || typeof next !== "string") return answer.statusCode === 204;
  for (const frame of JSON.parse(Buffer.concat(chunks).toString("utf8")) as LaneFrame[])
    client.take(frame, undefined);
  client.position = next;
  return answer.headers["stream-up-to-date"] === "true";
}

async function runClient(world: World, client: Client): Promise<void> {
  const { random } = world;
  const goesOn = (): boolean => world.reconnects < world.wanted;
  while (goesOn()) {
    world.reconnects += 1;
    const port = random() < 0.3 ? world.proxy.port : world.server.port;
    const way = random();
    if (way < 0.15) await poll(world, client, "", port);
    else if (way < 0.2 && client.position !== "-1") await poll(world, client, "live=long-poll&", port);
    else {
      // The address has the position of long ago, the header the newest, as in a browser that connects anew.
      const answer = await connect(world, "live=events&offset=-1", port, client.position);
      const bytesMax = Math.floor(10 ** (random() * 4.6));
      if (answer !== undefined) await readEvents(answer, client, bytesMax, random() < 0.2, goesOn);
    }
    await turn();
  }
}

/** Positions that lead nowhere; the count of those that were not told so. */
async function probe(world: World, positions: readonly string[]): Promise<number> {
  let missed = 0;
  for (const position of positions) {
    const polled = await connect(world, `offset=${position}`, world.server.port);
    polled?.resume();
    if (polled?.statusCode !== 400 && polled?.statusCode !== 410) missed += 1;
    const client = new Client();
    const answer = await connect(world, `live=events&offset=${position}`, world.server.port);
    if (answer !== undefined) await readEvents(answer, client, 1e6, false, () => client.falseResets === 0);
    if (client.falseResets !== 1 || client.names.length > 0) missed += 1;
  }
  return missed;
}

function catalogueOf(path: string): Catalogue {
  const item: CatalogueItem = { id: "s1", info: { agent: "claude-code", id: "s1", path } };
  return {
    list: async () => [item],
    find: async (id) => (id === item.id ? item : undefined),
    describe: async () => item.info,
    async open() {
      const log = await openLog(path);
      return servedSession(createSession(log, await log.info()));
    },
  };
}

/** Runs clients until they have connected so many times, and judges what they hold. */
export async function runFollow({ seed, reconnects }: FollowOptions): Promise<FollowReport> {
  const random = randomFrom(seed);
  const folder = await mkdtemp(join(tmpdir(), "hansard-sim-follow-"));
  const proxy = await startProxy(random);
  try {
    return await runIn(folder, proxy, random, reconnects);
  } finally {
    await proxy.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function runIn(
  folder: string,
  proxy: BufferingProxy,
  random: () => number,
  reconnects: number,
): Promise<FollowReport> {
  const path = join(folder, "s.jsonl");
  const writer = new Writer(path, random);
  await writeFile(path, writer.turn().join(""));
  const keys: KeyStore = await openKeyStore(join(folder, "keys"), Date.now);
  const { secret } = await keys.add({ label: "sim", sessions: "all", may: "read" });
  const failures: string[] = [];
  const serve = async (): Promise<RunningServer> => {
    const started = await startServer({
      catalogue: catalogueOf(path),
      keys,
      port: 0,
      onFailure: (error) =>
        failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    });
    proxy.target = started.port;
    return started;
  };
  const world: World = {
    random,
    writer,
    proxy,
    secret,
    server: await serve(),
    reconnects: 0,
    wanted: reconnects,
  };
  const clients = Array.from({ length: CLIENTS }, () => new Client());
  const goesOn = (): boolean => world.reconnects < reconnects;

  async function write(): Promise<void> {
    while (goesOn()) {
      if (writer.entries < ENTRIES_MAX) await writer.write();
      // Not so fast that clients only ever catch up: most of them are to come back to a lane that still has their frame.
      const connected = world.reconnects + CLIENTS;
      for (let waits = 0; waits < WRITE_WAITS_MAX && goesOn() && world.reconnects < connected; waits += 1)
        await pause(WRITE_PAUSE_MS);
    }
    // Wakes the clients that wait for a line, also those that only now begin to.
    while (!areDone) {
      await writer.write();
      await pause(WRITE_PAUSE_MS);
    }
  }
  let restarts = 0;
  async function restart(): Promise<void> {
    let next = whole(random, 1, RESTART_AFTER_MAX);
    while (goesOn()) {
      await turn();
      if (world.reconnects < next) continue;
      next = world.reconnects + whole(random, 1, RESTART_AFTER_MAX);
      const old = world.server;
      world.server = await serve();
      await old.close();
      restarts += 1;
    }
  }
  let areDone = false;
  const run = Promise.all(clients.map((client) => runClient(world, client))).finally(() => {
    areDone = true;
  });
  await Promise.all([write(), restart(), run]);

  const expected = await namesOf(path);
  for (const client of clients) {
    // The hub may have to read the last lines yet: then it is waited for.
    for (let polls = 0; polls < DRAIN_POLLS_MAX && client.names.length < expected.length; polls += 1) {
      const isUpToDate = await poll(world, client, "", world.server.port);
      if (isUpToDate && client.names.length < expected.length)
        await poll(world, client, "live=long-poll&", world.server.port);
    }
  }
  const falseResets = clients.reduce((sum, client) => sum + client.falseResets, 0);
  const bad = ["rubbish", "a.1.-.MQ", `${clients[0]?.position}x`, "-.0.AAAAAAAA.MTIz", "-.0.-.OTk5OTk5OTk5"];
  let missedResets = await probe(world, bad);
  // The log is another one from now on: each position is of a log that is gone.
  const other = new Writer(path, random);
  await writeFile(path, Array.from({ length: 3 }, () => other.turn().join("")).join(""));
  await world.server.close();
  world.server = await serve();
  const gone = [...new Set(clients.map(({ position }) => position))];
  missedResets += await probe(world, gone);
  await world.server.close();

  const wanted = new Set(expected);
  const lost = clients.reduce((sum, { names }) => sum + wanted.size - new Set(names).size, 0);
  return {
    reconnects: world.reconnects,
    restarts,
    entries: expected.length,
    clients: CLIENTS,
    lost,
    doubled: clients.reduce((sum, client) => sum + client.doubled, 0),
    disordered: clients.filter(({ names }) => names.some((name, at) => name !== expected[at])).length,
    falseResets,
    missedResets,
    probes: 2 * (bad.length + gone.length),
    failures,
  };
}

/** The names of all finished entries of a log, in order. */
async function namesOf(path: string): Promise<readonly string[]> {
  const log = await openLog(path);
  try {
    const names: string[] = [];
    for (let page = await log.first(500); ; page = await log.newer(page.end, 500)) {
      names.push(...page.entries.map(({ name }) => name));
      if (page.atEnd || page.entries.length === 0) return names;
    }
  } finally {
    await log.close();
  }
}

export function isClean(report: FollowReport): boolean {
  const { lost, doubled, disordered, falseResets, missedResets, failures } = report;
  return lost + doubled + disordered + falseResets + missedResets + failures.length === 0;
}

export function followWords(seed: number, report: FollowReport): string {
  return [
    `follow --seed ${seed}: ${report.reconnects} connections of ${report.clients} clients to ${report.restarts + 1} servers, ${report.entries} entries`,
    `lost ${report.lost} · doubled ${report.doubled} · clients out of order ${report.disordered}`,
    `told to begin anew without need ${report.falseResets} · void positions not told ${report.missedResets} of ${report.probes}`,
    ...report.failures.slice(0, 5).map((failure) => `the server told: ${failure}`),
    "",
  ].join("\n");
}
