/** Beginning a session, or taking one up again. */
import { dirname } from "node:path";
import {
  createLog,
  createUnsavedLog,
  LogError,
  type LogListener,
  type LogWriter,
  nodePorts,
  openLogForWrite,
  type RecordSpec,
  settingBytesMax,
  type TailState,
} from "../log/index.ts";
import type { DrivenSession, SessionInfo } from "../session/index.ts";
import { type Connection, connect, type OpenedSession } from "./connection.ts";
import { Driver, type HandoffParts } from "./driver.ts";
import { AgentError, errnoOf } from "./errors.ts";
import { agentSessionSetting, inboxSetting } from "./fold.ts";
import { recallBlocks } from "./handoff.ts";
import {
  type HandoffChannel,
  handoffServer,
  type McpServerSpec,
  openHandoffChannel,
} from "./handoff-channel.ts";
import { HistoryPages } from "./history-pages.ts";
import { Inbox } from "./inbox.ts";
import { fieldsOf } from "./input.ts";
import { contextEntriesMax, earlyMax } from "./limits.ts";
import { type AgentCommand, spawnProcess } from "./process.ts";
import { contextText } from "./replay.ts";
import { StepWriter } from "./step-writer.ts";
import type { DrivenOptions, DriverPorts } from "./types.ts";
import { watchNodeFolder } from "./watch-folder.ts";

/** A driven session with what the command line tells a person about it. */
export interface Driven extends DrivenSession {
  /** The session's id, to take it up again; absent where it is not saved. */
  readonly id: string | undefined;
  /** Path of the session's log; absent where it is not saved. */
  readonly path: string | undefined;
  /** One sentence that tells the truth about the log; absent before the session is closed. */
  readonly closeMessage: string | undefined;
  /** Whether all of it is in the log; absent before the session is closed, and where it was not to be saved. */
  readonly isSaved: boolean | undefined;
}

const commandSetting = "command";

/** The command that a session was driven with last, as its log tells it; absent where it was too long to be kept. */
export function commandOf(tail: TailState): AgentCommand | undefined {
  const kept = fieldsOf(tail.settings[commandSetting]);
  const program = kept?.["program"];
  const args = kept?.["args"];
  if (typeof program !== "string" || !Array.isArray(args)) return undefined;
  return args.every((arg) => typeof arg === "string") ? { program, args } : undefined;
}

/** The setting that keeps a command, without its environment; null where it is longer than a setting may be. */
function commandRecord({ program, args }: AgentCommand): RecordSpec {
  const value = { program, args: [...args] };
  const isLong = Buffer.byteLength(JSON.stringify(value)) > settingBytesMax;
  return { kind: "set", key: commandSetting, value: isLong ? null : value };
}

/**
 * Starts an agent and begins a session with it, or takes one up (`resume`). Resolves once the agent is ready for a prompt. A session that
 * is begun has a log only from then on, so an agent that does not start leaves nothing behind.
 *
 * Rejects with an `AgentError`: `agent-missing`, `agent-start`, `agent-protocol`, `agent-login`, `agent-refused`, `bad-folder`,
 * `session-busy` (who drives it is in the message and in `details`); and with a `LogError` where the session cannot be written.
 */
export async function createDriven(options: DrivenOptions): Promise<Driven> {
  const ports: DriverPorts = {
    log: nodePorts,
    spawn: spawnProcess,
    watchFolder: watchNodeFolder,
    ...options.ports,
  };
  const start = new Start(options, ports);
  try {
    return await start.run();
  } catch (error) {
    await start.undo();
    throw error;
  }
}

class Start {
  readonly #options: DrivenOptions;
  readonly #ports: DriverPorts;
  #log: LogWriter | undefined;
  #connection: Connection | undefined;
  #driver: Driver | undefined;
  #channel: HandoffChannel | undefined;

  constructor(options: DrivenOptions, ports: DriverPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  /** What happens before the driver is there has nobody to tell it to. */
  readonly #listener: LogListener = {
    notice: (notice) => this.#driver?.listener.notice(notice),
    saved: () => this.#driver?.listener.saved(),
  };

  async run(): Promise<Driven> {
    const options = this.#options;
    if (options.resume !== undefined) this.#log = await this.#openLog(options.resume);
    const cwd = await this.#folder();
    let isMuted = false;
    this.#connection = await connect({
      command: options.command,
      label: options.agent,
      cwd,
      env: options.env,
      client: options.client,
      spawn: this.#ports.spawn,
      clock: this.#ports.log.clock,
      handlers: {
        update: async (sessionId, update) => {
          if (!isMuted) await this.#early(async (driver) => await driver.handlers.update(sessionId, update));
        },
        ask: async (request, signal) => (await this.#driver?.handlers.ask(request, signal)) ?? "cancelled",
        oddity: (text) => this.#earlyOddity(text),
      },
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    await this.#openChannel();
    isMuted = this.#log !== undefined;
    const { opened, isNew } = await this.#openSession(cwd);
    isMuted = false;
    return await this.#begin(cwd, opened, isNew);
  }

  // Updates may come between the opening of the session and the making of the driver: a first list of commands, say.
  readonly #waiting: (((driver: Driver) => Promise<void>) | undefined)[] = [];
  readonly #oddities: string[] = [];

  async #early(run: (driver: Driver) => Promise<void>): Promise<void> {
    if (this.#driver !== undefined) await run(this.#driver);
    else if (this.#waiting.length < earlyMax) this.#waiting.push(run);
  }

  #earlyOddity(text: string): void {
    if (this.#driver !== undefined) this.#driver.notice("warning", text);
    else if (this.#oddities.length < earlyMax) this.#oddities.push(text);
  }

  /** The way for notes of the agent's handoff tool. Where none can be made, the agent is offered none. */
  async #openChannel(): Promise<void> {
    const { handoffTool, sessions } = this.#options;
    if (handoffTool === undefined || sessions === undefined) return;
    this.#channel = await openHandoffChannel(
      async (note) =>
        (await this.#driver?.handOffByAgent(note)) ?? {
          isAccepted: false,
          text: "The session is not open yet.",
        },
    ).catch(tolerate);
  }

  #servers(): readonly McpServerSpec[] {
    const { handoffTool } = this.#options;
    if (this.#channel === undefined || handoffTool === undefined) return [];
    return [handoffServer(handoffTool, this.#channel)];
  }

  #handoffParts(cwd: string, isResumed: boolean): HandoffParts | undefined {
    const { sessions, recover = "open" } = this.#options;
    if (sessions === undefined) return undefined;
    return {
      ports: this.#ports.log,
      sessions,
      openSession: async () => await (this.#connection as Connection).newSession(cwd, this.#servers()),
      ...(isResumed ? { recover } : {}),
      close: async () => await this.#channel?.close(),
    };
  }

  async undo(): Promise<void> {
    await this.#channel?.close();
    await this.#connection?.close();
    await this.#log?.close();
  }

  async #openLog(id: string): Promise<LogWriter> {
    const { sessions, steal, durability } = this.#options;
    if (sessions === undefined)
      throw new AgentError("bad-folder", "a session that is not saved cannot be taken up");
    try {
      return await openLogForWrite(
        {
          sessions,
          id,
          listener: this.#listener,
          ...(steal === undefined ? {} : { steal }),
          ...(durability === undefined ? {} : { durability }),
        },
        this.#ports.log,
      );
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== "busy") throw error;
      throw new AgentError("session-busy", error.message, {
        cause: error,
        details: error.details,
        ...(error.next === undefined ? {} : { next: error.next }),
      });
    }
  }

  async #folder(): Promise<string> {
    const cwd = this.#options.cwd ?? this.#log?.session.cwd;
    if (cwd === undefined)
      throw new AgentError("bad-folder", "no folder was named for the agent to work in", {
        next: "The session's log does not tell where it worked: name the folder with --cwd.",
      });
    const facts = await this.#ports.log.files.facts(cwd).catch(tolerate);
    // A link to a folder is one; only what is there and is a file is refused here, the rest by the system.
    if (facts === undefined || facts.isFile)
      throw new AgentError("bad-folder", `there is no folder ${cwd} for the agent to work in`, {
        next: "Name another with --cwd.",
      });
    return cwd;
  }

  /** The agent's own session: the one it had, where it can take it up again. */
  async #openSession(cwd: string): Promise<{ readonly opened: OpenedSession; readonly isNew: boolean }> {
    const connection = this.#connection as Connection;
    const earlier = this.#earlierSessionId();
    if (earlier !== undefined && connection.canLoad) {
      try {
        return { opened: await connection.loadSession(earlier, cwd, this.#servers()), isNew: false };
      } catch (error) {
        // It has forgotten it: then it is told what was said.
        if (!(error instanceof AgentError) || error.code !== "agent-refused") throw error;
      }
    }
    return { opened: await connection.newSession(cwd, this.#servers()), isNew: true };
  }

  #earlierSessionId(): string | undefined {
    const log = this.#log;
    if (log === undefined) return undefined;
    const set = log.tail.settings[agentSessionSetting];
    // Another agent does not know it.
    if ((log.tail.settings["agent"] ?? log.session.agent) !== this.#options.agent) return undefined;
    return typeof set === "string" ? set : log.session.agentSessionId;
  }

  async #begin(cwd: string, opened: OpenedSession, isNew: boolean): Promise<Driven> {
    const options = this.#options;
    const connection = this.#connection as Connection;
    const { agent } = connection;
    const resumed = this.#log;
    const log = resumed ?? (await this.#createLog(cwd, opened.sessionId, agent.version));
    if (resumed === undefined) await log.append(commandRecord(options.command));
    this.#log = log;
    const history = this.#history(log);
    const context = resumed === undefined || !isNew ? undefined : await this.#contextFor(history);
    const folder = log.path === undefined ? undefined : dirname(log.path);
    const small = { files: this.#ports.log.files, randomId: this.#ports.log.randomId };
    const taken = log.tail.settings[inboxSetting];
    const steps =
      folder === undefined
        ? undefined
        : new StepWriter({ ports: small, folder, onProblem: (code) => this.#driver?.stepProblem(code) });
    const inbox =
      folder === undefined
        ? undefined
        : new Inbox(small, folder, typeof taken === "string" ? taken : undefined);
    await inbox?.open().catch(tolerate);
    const handoff = this.#handoffParts(cwd, resumed !== undefined);
    const driver = new Driver({
      log,
      info: infoOf(log, cwd, agent.version, this.#ports.log.clock.now()),
      agent: options.agent,
      clock: this.#ports.log.clock,
      history,
      watchFolder: this.#ports.watchFolder,
      ...(steps === undefined ? {} : { steps }),
      ...(inbox === undefined ? {} : { inbox }),
      ...(context === undefined ? {} : { context }),
      ...(handoff === undefined ? {} : { handoff }),
    });
    this.#driver = driver;
    if (resumed !== undefined) await this.#tellResumed(driver, resumed, opened.sessionId, isNew, context);
    this.#tellProblem(driver, log);
    for (const text of this.#oddities.splice(0)) driver.notice("warning", text);
    const started = driver.start({ connection, ...opened });
    for (const run of this.#waiting.splice(0)) await run?.(driver);
    await started;
    return withIdentity(driver, log);
  }

  async #createLog(cwd: string, agentSessionId: string, agentVersion?: string): Promise<LogWriter> {
    const { sessions, agent, durability } = this.#options;
    const { log: ports } = this.#ports;
    const about = { cwd, agent, agentSessionId, ...(agentVersion === undefined ? {} : { agentVersion }) };
    if (sessions === undefined) return createUnsavedLog({ id: ports.randomId(), ...about }, ports);
    return await createLog(
      {
        sessions,
        listener: this.#listener,
        ...about,
        ...(durability === undefined ? {} : { durability }),
      },
      ports,
    );
  }

  #history(log: LogWriter): HistoryPages {
    const { openHistory } = this.#options;
    const { path } = log;
    return new HistoryPages(
      path === undefined || openHistory === undefined ? undefined : () => openHistory(path),
    );
  }

  async #contextFor(history: HistoryPages): Promise<string | undefined> {
    const { context } = this.#options;
    if (context !== undefined) return context === "" ? undefined : context;
    const page = await history.tail(contextEntriesMax, [], false, false);
    const { sessions, resume } = this.#options;
    const notes =
      sessions === undefined || resume === undefined
        ? []
        : await recallBlocks(sessions, resume, this.#ports.log);
    const said = contextText(page.entries);
    const parts = [...notes, ...(said === undefined ? [] : [said])];
    return parts.length === 0 ? undefined : parts.join("\n\n");
  }

  async #tellResumed(
    driver: Driver,
    log: LogWriter,
    sessionId: string,
    isNew: boolean,
    context: string | undefined,
  ): Promise<void> {
    const { cut, interruptedTurn } = log.opened;
    if (cut !== undefined)
      driver.notice(
        "warning",
        `The log's end was torn: ${cut.end - cut.start} bytes were cut and are kept in ${cut.keptAs}.`,
      );
    if (interruptedTurn !== undefined)
      driver.notice(
        "warning",
        "The last turn did not end: it counts as interrupted, and a tool that ran may have partly run.",
      );
    if (!isNew) return;
    await log.append([
      { kind: "set", key: agentSessionSetting, value: sessionId },
      { kind: "set", key: "agent", value: this.#options.agent },
      commandRecord(this.#options.command),
      ...(this.#options.context === undefined || context === undefined
        ? []
        : [{ kind: "custom" as const, customType: "replay", data: { text: context }, display: false }]),
    ]);
    if (context !== undefined)
      driver.notice(
        "information",
        this.#options.context === undefined
          ? "The agent could not load its own session; it is told what was said, with the next prompt."
          : "The agent is told what was said before, with the next prompt.",
      );
  }

  /** A log that could not be begun was told of before there was a driver. */
  #tellProblem(driver: Driver, log: LogWriter): void {
    const { problem } = log.status();
    if (problem !== undefined)
      driver.listener.notice({
        code: "write-failed",
        tone: "error",
        text: `The session cannot be saved now (${problem.code}); it is tried again.`,
        details: { code: problem.code },
      });
  }
}

/** What the disk refuses here is told by what needs it later. */
function tolerate(error: unknown): undefined {
  if (errnoOf(error) === undefined) throw error;
  return undefined;
}

function infoOf(log: LogWriter, cwd: string, agentVersion: string | undefined, now: number): SessionInfo {
  const title = log.tail.settings["title"];
  return {
    agent: "hansard",
    id: log.id,
    path: log.path ?? "",
    cwd,
    ...(log.opened.state === "new" ? { startedAt: now } : {}),
    ...(typeof title === "string" ? { title, titled: true } : {}),
    ...(agentVersion === undefined ? {} : { agentVersion }),
  };
}

function withIdentity(driver: Driver, log: LogWriter): Driven {
  const isSaved = log.mode === "saved";
  return Object.assign(driver, { id: isSaved ? log.id : undefined, path: isSaved ? log.path : undefined });
}
