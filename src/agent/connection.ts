/**
 * One agent over stdio. Requests go through the official SDK; what the agent tells (`session/update`) is read here, in the order of its
 * coming, because an answer must not overtake what was said before it. Nothing that an agent writes ends the program or reaches stderr.
 */
import type { AnyMessage, ClientContext } from "@agentclientprotocol/sdk";
import type { Clock } from "../log/index.ts";
import { AgentError } from "./errors.ts";
import type { McpServerSpec } from "./handoff-channel.ts";
import { type Fields, fieldsOf, headOf, wordOf } from "./input.ts";
import { badLineCharsMax, badLinesToldMax, longTextBytesMax, messageBytesMax, startMsMax } from "./limits.ts";
import {
  type AgentCommand,
  type AgentProcess,
  endProcess,
  exitSentence,
  LastWords,
  type Spawn,
  startError,
} from "./process.ts";
import { type Mode, readModes } from "./updates.ts";
import { type JsonObject, readWire } from "./wire.ts";

/** The version of the protocol that is spoken. */
export const protocolVersion = 1;

/** How the person answered a permission request. */
export type AskOutcome = { readonly optionId: string } | "cancelled";

/** What the agent wants of its driver. */
export interface ConnectionHandlers {
  /** One `update` of a session, as it came. The agent is read on once this has resolved. */
  update(sessionId: string, update: unknown): Promise<void>;
  /** A permission request. `signal` aborts where the agent takes it back or ends. */
  ask(request: Fields, signal: AbortSignal): Promise<AskOutcome>;
  /** Something that a person should see and that is no part of the conversation. */
  oddity(text: string): void;
}

export interface OpenedSession {
  readonly sessionId: string;
  readonly modes: readonly Mode[];
  readonly modeId?: string;
}

export interface PromptEnd {
  /** The agent's own word. */
  readonly stopReason: string;
  readonly usage: Readonly<Record<string, number>>;
}

export interface AgentIdentity {
  readonly name: string;
  readonly version?: string;
}

export interface Connection {
  readonly agent: AgentIdentity;
  /** Whether an earlier session can be taken up again. */
  readonly canLoad: boolean;
  newSession(cwd: string, servers?: readonly McpServerSpec[]): Promise<OpenedSession>;
  /** Takes up an earlier session. What the agent tells of it again meanwhile is told to `update` as well. */
  loadSession(sessionId: string, cwd: string, servers?: readonly McpServerSpec[]): Promise<OpenedSession>;
  prompt(sessionId: string, text: string): Promise<PromptEnd>;
  cancel(sessionId: string): Promise<void>;
  setMode(sessionId: string, modeId: string): Promise<void>;
  /** Resolves, never rejects, once the agent has ended, with the sentence that tells how. */
  readonly ended: Promise<string>;
  /** Ends the agent. Resolves once it has ended. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly command: AgentCommand;
  /** The agent as people name it, for sentences. */
  readonly label: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly client: { readonly name: string; readonly version: string };
  readonly spawn: Spawn;
  readonly clock: Clock;
  readonly handlers: ConnectionHandlers;
  readonly signal?: AbortSignal;
}

/**
 * Starts an agent and greets it. Rejects with an `AgentError`: `agent-missing`, `agent-start`, `agent-protocol`, `agent-login`. The
 * process has ended by then.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { command, cwd, env } = options;
  let agent: AgentProcess;
  try {
    agent = await options.spawn(command, { cwd, env });
  } catch (error) {
    throw startError(command, cwd, error);
  }
  const connection = new StdioConnection(agent, options);
  try {
    await connection.greet();
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

class StdioConnection implements Connection {
  agent: AgentIdentity;
  canLoad = false;
  readonly ended: Promise<string>;
  readonly #process: AgentProcess;
  readonly #options: ConnectOptions;
  readonly #words = new LastWords();
  readonly #reading: Promise<void>;
  readonly #outstanding = new Set<number | string>();
  /** What to do for each request that is under way when the agent ends. */
  readonly #underWay = new Set<(error: AgentError) => void>();
  #canResume = false;
  #context: Promise<ClientContext>;
  #feed: ReadableStreamDefaultController<AnyMessage> | undefined;
  #badLines = 0;
  #hasEnded = false;

  constructor(agent: AgentProcess, options: ConnectOptions) {
    this.#process = agent;
    this.#options = options;
    this.agent = { name: options.label };
    agent.stdin.on("error", () => undefined);
    agent.stderr.on("data", (chunk: Uint8Array) => this.#words.add(chunk));
    this.#context = this.#open();
    this.#reading = this.#context.then(() => this.#read());
    this.ended = this.#end();
  }

  async #end(): Promise<string> {
    await this.#reading;
    // One that has closed its output says nothing any more, whether it runs or not.
    const exit = await endProcess(this.#process, this.#options.clock);
    this.#hasEnded = true;
    const sentence = exitSentence(this.#options.label, exit, this.#words.lines());
    for (const fail of this.#underWay) fail(new AgentError("agent-ended", sentence));
    return sentence;
  }

  /** The SDK's client over streams of our own. */
  async #open(): Promise<ClientContext> {
    // Loaded when it is needed: it takes longer than all else of the program's start.
    const { client } = await import("@agentclientprotocol/sdk");
    const readable = new ReadableStream<AnyMessage>({
      start: (controller) => {
        this.#feed = controller;
      },
    });
    const writable = new WritableStream<AnyMessage>({
      write: async (message) => {
        if ("method" in message && "id" in message && message.id !== null) this.#outstanding.add(message.id);
        await this.#write(message);
      },
    });
    const { handlers } = this.#options;
    const connection = client({ name: this.#options.client.name })
      .onRequest(
        "session/request_permission",
        (params: unknown) => fieldsOf(params) ?? {},
        async ({ params, signal }) => {
          const outcome = await handlers.ask(params, signal);
          return {
            outcome:
              outcome === "cancelled"
                ? { outcome: "cancelled" as const }
                : { outcome: "selected" as const, optionId: outcome.optionId },
          };
        },
      )
      .connect({ readable, writable });
    return connection.agent;
  }

  async #write(message: AnyMessage): Promise<void> {
    const { stdin } = this.#process;
    if (stdin.destroyed || stdin.writableEnded) return;
    await new Promise<void>((resolve) => {
      // A failed write is told by the agent's end.
      stdin.write(`${JSON.stringify(message)}\n`, () => resolve());
    });
  }

  async #read(): Promise<void> {
    try {
      for await (const item of readWire(this.#process.stdout as AsyncIterable<Uint8Array>)) {
        if (item.type === "message") await this.#receive(item.value);
        else if (item.type === "cut") {
          this.#tellCut(item.bytes);
          await this.#receive(item.value);
        } else if (item.type === "large") await this.#receiveLarge(item.head, item.tail, item.bytes);
        else this.#tellBadLine(item.text);
      }
    } catch (error) {
      // The pipe broke, or was closed on an agent that had ended.
      if (!isPipeError(error)) throw error;
    } finally {
      this.#feed?.close();
      this.#feed = undefined;
    }
  }

  async #receive(message: JsonObject): Promise<void> {
    if (typeof message["method"] !== "string") {
      this.#receiveAnswer(message);
      return;
    }
    if (message["jsonrpc"] !== "2.0") {
      this.#options.handlers.oddity(`${this.#options.label} sent a message that is no JSON-RPC 2.0.`);
      return;
    }
    if ("id" in message) {
      this.#pass(message);
      return;
    }
    if (message["method"] === "session/update") {
      const params = fieldsOf(message["params"]);
      const sessionId = params?.["sessionId"];
      await this.#options.handlers.update(typeof sessionId === "string" ? sessionId : "", params?.["update"]);
    } else if (message["method"] === "$/cancel_request") this.#pass(message);
  }

  #receiveAnswer(message: JsonObject): void {
    const { id } = message;
    const isKnown = (typeof id === "number" || typeof id === "string") && this.#outstanding.delete(id);
    if (isKnown) this.#pass({ ...message, jsonrpc: "2.0" });
    else this.#options.handlers.oddity(`${this.#options.label} answered something that it was not asked.`);
  }

  #pass(message: JsonObject): void {
    this.#feed?.enqueue(message as unknown as AnyMessage);
  }

  #tellCut(bytes: number): void {
    const [limit, kept] = [messageBytesMax, longTextBytesMax].map((each) => `${each / 1024 / 1024} MiB`);
    this.#options.handlers.oddity(
      `${this.#options.label} sent a message of ${bytes} bytes, above the limit of ${limit}: of each of its texts the first ${kept} were kept.`,
    );
  }

  /** What a message that is too long was, as far as its ends say: a call's end is not lost with its output. */
  async #receiveLarge(head: string, tail: string, bytes: number): Promise<void> {
    const { handlers, label } = this.#options;
    const limit = `${Math.floor(messageBytesMax / 1024 / 1024)} MiB`;
    const method = /"method"\s*:\s*"([^"]{1,100})"/.exec(head)?.[1];
    const id = /^\s*\{(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)/.exec(head)?.[1];
    const callId = pickField(head, tail, "toolCallId");
    if (method === "session/update" && callId !== undefined) {
      const text = `[${bytes} bytes of output came in one message, above the limit of ${limit}: not kept]`;
      const status = pickField(head, tail, "status");
      await handlers.update(pickField(head, tail, "sessionId") ?? "", {
        sessionUpdate: "tool_call_update",
        toolCallId: callId,
        ...(status === undefined ? {} : { status }),
        content: [{ type: "content", content: { type: "text", text } }],
      });
      return;
    }
    handlers.oddity(
      `${label} sent a message of ${bytes} bytes, above the limit of ${limit}; it was passed over.`,
    );
    if (method === undefined && id !== undefined && this.#outstanding.delete(Number(id)))
      this.#pass({
        jsonrpc: "2.0",
        id: Number(id),
        error: { code: -32603, message: "its answer was too long" },
      });
    else if (method !== undefined && id !== undefined)
      await this.#write({
        jsonrpc: "2.0",
        id: Number(id),
        error: { code: -32600, message: `a message is at most ${messageBytesMax} bytes` },
      });
  }

  #tellBadLine(text: string): void {
    this.#badLines += 1;
    const { handlers, label } = this.#options;
    if (this.#badLines <= badLinesToldMax)
      handlers.oddity(
        `${label} wrote a line that is no message: ${JSON.stringify(headOf(text.trim(), badLineCharsMax))}`,
      );
    else if (this.#badLines === badLinesToldMax + 1)
      handlers.oddity(`${label} writes more lines that are no messages; they are passed over.`);
  }

  /** A request that ends with the agent, whatever the SDK makes of its closed stream. */
  async #request(method: string, params: unknown): Promise<Fields> {
    const { label } = this.#options;
    const context = await this.#context;
    if (this.#hasEnded) throw new AgentError("agent-ended", await this.ended);
    let fail = (_: AgentError): void => undefined;
    const ended = new Promise<never>((_, reject) => {
      fail = reject;
    });
    this.#underWay.add(fail);
    try {
      const asked = context.request<unknown>(method, params).catch((error: unknown) => {
        if (isRequestError(error)) throw refusal(label, method, error);
        // The stream was closed: the process's own end says more, and comes.
        return ended;
      });
      return fieldsOf(await Promise.race([asked, ended])) ?? {};
    } finally {
      this.#underWay.delete(fail);
    }
  }

  /** Says who we are and learns who the agent is. Only versions that both speak are gone on with. */
  async greet(): Promise<void> {
    const { label, client } = this.#options;
    const answer = await this.#inTime(
      this.#request("initialize", {
        protocolVersion,
        // No file access and no terminals are offered: agents then use their own, which obey the agent's own rules.
        clientCapabilities: {
          fs: { readTextFile: false, writeTextFile: false },
          terminal: false,
          session: { notices: {}, compaction: {} },
        },
        clientInfo: { name: client.name, title: "Hansard", version: client.version },
      }),
    );
    const version = answer["protocolVersion"];
    if (version !== protocolVersion)
      throw new AgentError(
        "agent-protocol",
        `${label} speaks version ${JSON.stringify(version) ?? "none"} of the Agent Client Protocol; Hansard speaks version ${protocolVersion}`,
        { next: "Update the agent, or Hansard, to versions that speak the same." },
      );
    const info = fieldsOf(answer["agentInfo"]);
    const told = wordOf(info?.["title"]) ?? wordOf(info?.["name"]);
    const toldVersion = wordOf(info?.["version"]);
    this.agent = { name: told ?? label, ...(toldVersion === undefined ? {} : { version: toldVersion }) };
    const capabilities = fieldsOf(answer["agentCapabilities"]);
    const session = fieldsOf(capabilities?.["sessionCapabilities"]);
    this.#canResume = fieldsOf(session?.["resume"]) !== undefined;
    this.canLoad = this.#canResume || capabilities?.["loadSession"] === true;
  }

  async #inTime<T>(asked: Promise<T>): Promise<T> {
    const { clock, label, signal } = this.#options;
    let callOff = (): void => undefined;
    let aborted = (): void => undefined;
    const late = new Promise<never>((_, reject) => {
      callOff = clock.after(startMsMax, () =>
        reject(
          new AgentError("agent-start", `${label} did not answer within ${startMsMax / 1000} seconds`, {
            next: "Run its command by itself to see what it waits for.",
          }),
        ),
      );
      aborted = () => reject(signal?.reason as Error);
      if (signal?.aborted === true) aborted();
      signal?.addEventListener("abort", aborted);
    });
    try {
      return await Promise.race([asked, late]);
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== "agent-ended") throw error;
      throw new AgentError("agent-start", error.message, {
        next: "Run its command by itself to see what is wrong.",
        cause: error,
      });
    } finally {
      callOff();
      signal?.removeEventListener("abort", aborted);
      asked.catch(() => undefined);
    }
  }

  async newSession(cwd: string, servers: readonly McpServerSpec[] = []): Promise<OpenedSession> {
    const answer = await this.#inTime(this.#request("session/new", { cwd, mcpServers: servers }));
    const { sessionId } = answer;
    if (typeof sessionId !== "string" || sessionId === "")
      throw new AgentError("agent-protocol", `${this.#options.label} opened a session without an id`);
    return { sessionId, ...readModes(answer["modes"]) };
  }

  async loadSession(
    sessionId: string,
    cwd: string,
    servers: readonly McpServerSpec[] = [],
  ): Promise<OpenedSession> {
    // Resuming tells nothing again, so it is preferred.
    const method = this.#canResume ? "session/resume" : "session/load";
    const answer = await this.#inTime(this.#request(method, { sessionId, cwd, mcpServers: servers }));
    return { sessionId, ...readModes(answer["modes"]) };
  }

  async prompt(sessionId: string, text: string): Promise<PromptEnd> {
    const answer = await this.#request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    const usage = Object.entries(fieldsOf(answer["usage"]) ?? {}).filter(
      (entry): entry is [string, number] => Number.isSafeInteger(entry[1]) && (entry[1] as number) >= 0,
    );
    return {
      stopReason: wordOf(answer["stopReason"]) ?? "unknown",
      usage: Object.fromEntries(usage.slice(0, 32)),
    };
  }

  async cancel(sessionId: string): Promise<void> {
    if (this.#hasEnded) return;
    const context = await this.#context;
    await context.notify<unknown>("session/cancel", { sessionId }).catch(ignoreClosed);
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    await this.#request("session/set_mode", { sessionId, modeId });
  }

  async close(): Promise<void> {
    await endProcess(this.#process, this.#options.clock);
    await this.ended;
  }
}

function isPipeError(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^E[A-Z_]+$/.test(code);
}

function ignoreClosed(error: unknown): void {
  // An agent that has ended is told by its end.
  if (!(error instanceof Error)) throw error;
}

function pickField(head: string, tail: string, name: string): string | undefined {
  const form = new RegExp(`"${name}"\\s*:\\s*"([^"\\\\]{1,512})"`);
  return form.exec(head)?.[1] ?? form.exec(tail)?.[1];
}

interface RequestErrorLike {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

function isRequestError(error: unknown): error is RequestErrorLike {
  return error instanceof Error && typeof (error as { code?: unknown }).code === "number";
}

const authRequired = -32000;

function refusal(label: string, method: string, error: RequestErrorLike): AgentError {
  const data = fieldsOf(error.data);
  const more = wordOf(data?.["details"]) ?? wordOf(data?.["message"]);
  const words = more === undefined ? error.message : `${error.message}: ${more}`;
  // In a turn the code is used for other refusals too, and the agent's own words say which.
  if (error.code === authRequired && method !== "session/prompt")
    return new AgentError("agent-login", `${label} wants a login: ${words}`, {
      next: `Run ${label} by itself once and log in, then try again.`,
      details: { method, code: error.code },
    });
  return new AgentError("agent-refused", `${label} refused: ${words}`, {
    ...(error.code === authRequired
      ? { next: `Where it wants a login: run ${label} by itself once and log in.` }
      : {}),
    details: { method, code: error.code },
  });
}
