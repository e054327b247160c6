/** A session that Hansard drives: started or taken up, shown, and ended with the words that bring it back. */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { basename, isAbsolute, resolve } from "node:path";
import {
  type AgentCommand,
  AgentError,
  createDriven,
  type Driven,
  type DrivenOptions,
  findKnownAgent,
  findProgram,
  handoffTool,
} from "../agent/index.ts";
import { openLog } from "../sources/index.ts";
import { sanitizeLine } from "../terminal/text/index.ts";
import { converse, readPrompt } from "./converse.ts";
import { editorCommand, editText } from "./edit-text.ts";
import { CommandError } from "./errors.ts";
import { type ExitCode, exitCodes } from "./exit.ts";
import { shellWord } from "./format.ts";
import type { Io } from "./io.ts";
import { ownSessions, withLogErrors } from "./own-session.ts";
import { keepTyped } from "./type-ahead.ts";

/** The agent to run, and how a person names it. */
export interface ChosenAgent {
  readonly name: string;
  readonly command: AgentCommand;
}

/** Whether there is a file at a path that may be run. */
export async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
}

/** A known agent by its name, with further arguments for its command. Throws an AgentError where it is not there. */
export async function knownAgent(io: Io, name: string, more: readonly string[] = []): Promise<ChosenAgent> {
  const { env, platform } = io.around;
  const { command } = await findKnownAgent(name, { env, platform, isProgram });
  return { name, command: { ...command, args: [...command.args, ...more] } };
}

/**
 * An agent by its command. It runs where the agent works, so an argument that names a file from where the person stands, and none from
 * there, gets its whole path.
 */
export async function commandAgent(
  io: Io,
  words: readonly string[],
  cwd: string = io.cwd,
): Promise<ChosenAgent> {
  const [program = "", ...args] = words;
  const { env, platform } = io.around;
  const path = await findProgram(program, { env, platform, isProgram });
  if (path === undefined)
    throw new AgentError("agent-missing", `the command ${program} is not there, or cannot be run`, {
      next: "Give a command on PATH, or the path of a program.",
    });
  const name = nameOf(program, args);
  const own = program.includes("/") ? resolve(io.cwd, path) : path;
  const found = await Promise.all(args.map((arg) => fromHere(arg, io.cwd, resolve(io.cwd, cwd))));
  return { name, command: { program: own, args: found } };
}

const runtimes: ReadonlySet<string> = new Set([
  "node",
  "bun",
  "deno",
  "tsx",
  "python",
  "python3",
  "ruby",
  "perl",
]);
/** Names of files that say nothing of whose they are: the folder does. */
const plainNames: ReadonlySet<string> = new Set(["index", "main", "cli", "agent", "dist", "bin", "src"]);

/** How people name the agent of a command: by its program, or by the script that a runtime is given. */
export function nameOf(program: string, args: readonly string[]): string {
  const name = basename(program).replace(/\.(?:exe|cmd|bat)$/i, "");
  const script = args.find((arg) => /^[^-].*\.(?:[cm]?[jt]sx?|py|rb|pl)$/.test(arg) && !/\s/.test(arg));
  if (!runtimes.has(name) || script === undefined) return name;
  const parts = script.split(/[/\\]/).filter((part) => part !== "" && part !== "." && part !== "..");
  const words = parts.map((part, at) =>
    at === parts.length - 1 ? part.replace(/\.[cm]?[jt]s$|\.py$|\.rb$|\.pl$/, "") : part,
  );
  return words.findLast((word) => !plainNames.has(word)) ?? name;
}

async function fromHere(arg: string, here: string, there: string): Promise<string> {
  if (here === there || arg === "" || arg.startsWith("-") || isAbsolute(arg)) return arg;
  return (await isFile(resolve(here, arg))) && !(await isFile(resolve(there, arg)))
    ? resolve(here, arg)
    : arg;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
}

function exitCodeOf(error: AgentError): ExitCode {
  switch (error.code) {
    case "bad-folder":
    case "bad-choice":
    case "too-much":
      return exitCodes.usage;
    case "session-busy":
      return exitCodes.unreadable;
    default:
      return exitCodes.agent;
  }
}

/** Does the work; what an agent or a log cannot do for reasons outside the program comes as a CommandError. */
export async function withAgentErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await withLogErrors(work);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    const sentence = error.message;
    throw new CommandError(
      exitCodeOf(error),
      /[.!?]$/.test(sentence) ? sentence : `${sentence}.`,
      error.next === undefined ? [] : [error.next],
    );
  }
}

export interface DriveOptions {
  readonly agent: ChosenAgent;
  readonly version: string;
  /** Absent: where the session worked before, or the working folder. */
  readonly cwd?: string;
  readonly isSaved: boolean;
  /** The session to take up. */
  readonly resume?: string;
  readonly steal?: boolean;
  readonly resize?: "adopt" | "reprint";
  /** What the agent is told before the first prompt, where it does not know the session. */
  readonly context?: string;
  /** Sent once the agent is ready. */
  readonly firstPrompt?: string;
  /** Goes on with a handoff that was paused or failed too. */
  readonly recover?: "all";
  /** Called once the agent has a session. */
  readonly onStarted?: () => void;
}

async function begin(io: Io, options: DriveOptions, isTalk: boolean): Promise<Driven> {
  const { agent, version, resume, steal } = options;
  const cwd = options.cwd === undefined ? undefined : resolve(io.cwd, options.cwd);
  const stop = new AbortController();
  let code: ExitCode = 130;
  const onInterrupt = (): void => stop.abort();
  const onTerminate = (): void => {
    code = 143;
    stop.abort();
  };
  const driven: DrivenOptions = {
    command: agent.command,
    agent: agent.name,
    env: io.around.env,
    client: { name: "hansard", version },
    signal: stop.signal,
    openHistory: openLog,
    handoffTool: handoffTool(process.execPath),
    ...(cwd === undefined ? (resume === undefined ? { cwd: io.cwd } : {}) : { cwd }),
    ...(options.isSaved ? { sessions: ownSessions(io) } : {}),
    ...(resume === undefined ? {} : { resume }),
    ...(steal === undefined ? {} : { steal }),
    ...(options.recover === undefined ? {} : { recover: options.recover }),
    ...(options.context === undefined ? {} : { context: options.context }),
  };
  const words = `hansard: starting ${sanitizeLine(agent.name)} …`;
  if (io.err.isTTY) await io.err.write(words);
  process.once("SIGINT", onInterrupt).once("SIGTERM", onTerminate);
  const release = isTalk ? keepTyped(process.stdin, (text) => io.err.write(text), onInterrupt) : undefined;
  let isOver = true;
  try {
    const started = await createDriven(driven);
    isOver = false;
    return started;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    throw new CommandError(code, "The start was called off.");
  } finally {
    process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate);
    release?.(isOver);
    if (io.err.isTTY) await io.err.write("\r\x1b[K");
  }
}

/** What brings the session back; undefined where it is not saved. */
function wayBack(driven: Driven): string | undefined {
  return driven.id === undefined ? undefined : `hansard resume ${shellWord(driven.id)}`;
}

/**
 * Drives an agent until the person quits; without a terminal, for one prompt from the standard input. What became of the session is said at
 * the end. Throws AgentErrors and LogErrors.
 */
export async function drive(io: Io, options: DriveOptions): Promise<ExitCode> {
  const isTalk = io.out.isTTY && process.stdin.isTTY && io.around.env["TERM"] !== "dumb";
  const prompt = isTalk ? undefined : (options.firstPrompt ?? (await readPrompt(process.stdin)));
  const driven = await begin(io, options, isTalk);
  options.onStarted?.();
  const back = wayBack(driven);
  let code: ExitCode;
  try {
    if (prompt === undefined) code = await talk(io, driven, back, options);
    else code = await converse(io, driven, prompt);
  } finally {
    await driven.close();
  }
  if (driven.closeMessage !== undefined && (isTalk || driven.id !== undefined))
    await io.err.write(`hansard: ${sanitizeLine(driven.closeMessage)}\n`);
  if (!isTalk && back !== undefined && driven.path !== undefined && (await isFile(driven.path)))
    await io.err.write(`hansard: ${sanitizeLine(back)} carries it on\n`);
  if (code !== exitCodes.ok) return code;
  if (driven.driver.failure !== undefined) return exitCodes.agent;
  return driven.isSaved === false ? exitCodes.unreadable : code;
}

async function talk(
  io: Io,
  session: Driven,
  back: string | undefined,
  { resize, firstPrompt }: DriveOptions,
): Promise<ExitCode> {
  const { runInTerminal } = await import("./terminal-run.ts");
  // Its failure is the turn's, and is told there.
  if (firstPrompt !== undefined) void session.prompt(firstPrompt).catch(() => undefined);
  const editor = editorCommand(io.around.env);
  return await runInTerminal(io, session, {
    ...(resize === undefined ? {} : { resize }),
    ...(back === undefined ? {} : { wayBack: back }),
    talk: {
      session,
      by: `the terminal of process ${process.pid}`,
      ...(editor === undefined ? {} : { editText: (text: string) => editText(editor, text) }),
    },
  });
}
