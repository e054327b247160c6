/** An agent's process: its own group, its last words kept, and a way to end it that cannot fail to. */
import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../log/index.ts";
import { AgentError, errnoOf } from "./errors.ts";
import {
  closeGraceMs,
  pipesGraceMs,
  stderrBytesMax,
  stderrLineCharsMax,
  stderrLinesTold,
  terminateGraceMs,
} from "./limits.ts";

/** What is run. */
export interface AgentCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A running process as the driver sees it. */
export interface AgentProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once it has ended and its output is read. */
  readonly exited: Promise<Exit>;
  /** Sends a signal to it and to all that it has started. One that has ended is left alone. */
  signal(name: "SIGTERM" | "SIGKILL"): void;
}

/** Starts a process. Rejects with the system's error where that cannot be done. */
export type Spawn = (
  command: AgentCommand,
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
) => Promise<AgentProcess>;

const isWindows = process.platform === "win32";

/** Starts a real process, in a process group of its own, so that all it starts ends with it. */
export const spawnProcess: Spawn = async (command, { cwd, env }) => {
  const child = spawn(command.program, [...command.args], {
    cwd,
    env: { ...env, ...command.env },
    stdio: ["pipe", "pipe", "pipe"],
    detached: !isWindows,
    windowsHide: true,
  });
  const exited = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  // A later failure to signal it shows as a process that goes on; the ladder goes on too.
  child.on("error", () => undefined);
  // One that ends does not read any more; its end is told by `exited`.
  child.stdin.on("error", () => undefined);
  const signal = (name: NodeJS.Signals): void => {
    const { pid } = child;
    if (pid === undefined) return;
    try {
      if (isWindows) child.kill(name);
      else process.kill(-pid, name);
    } catch (error) {
      if (errnoOf(error) !== "ESRCH" && errnoOf(error) !== "EPERM") throw error;
    }
  };
  child.once("exit", () => {
    // What it had started may hold its pipes open for ever.
    signal("SIGTERM");
    setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, pipesGraceMs).unref();
  });
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited, signal };
};

/** The last bytes of a stream, as lines. */
export class LastWords {
  #kept: Buffer = Buffer.alloc(0);
  #isCut = false;

  add(chunk: Uint8Array): void {
    const all = Buffer.concat([this.#kept, chunk]);
    this.#isCut ||= all.length > stderrBytesMax;
    this.#kept = Buffer.from(all.subarray(Math.max(0, all.length - stderrBytesMax)));
  }

  /** The last lines that say something, oldest first; empty where nothing was said. */
  lines(): readonly string[] {
    const lines = this.#kept.toString("utf8").split(/\r\n|\n|\r/);
    if (this.#isCut) lines.shift();
    return lines
      .map((line) => line.trim())
      .filter((line) => line !== "")
      .slice(-stderrLinesTold)
      .map((line) => (line.length > stderrLineCharsMax ? `${line.slice(0, stderrLineCharsMax)}…` : line));
  }
}

/** The sentence that tells how it ended. */
export function exitSentence(label: string, exit: Exit, words: readonly string[]): string {
  const how =
    exit.signal !== null
      ? `was ended by ${exit.signal}`
      : exit.code === 0
        ? "ended"
        : `ended with code ${exit.code}`;
  return `${label} ${how}${words.length === 0 ? "" : `: ${words.join(" / ")}`}`;
}

/** The refusal of a command that could not be started, in words. */
export function startError(command: AgentCommand, cwd: string, error: unknown): AgentError {
  const code = errnoOf(error);
  const details = { program: command.program, code };
  if (code === "ENOENT")
    return new AgentError("agent-missing", `there is no command ${command.program}`, {
      next: "Install it, or give the whole path of the agent's command.",
      cause: error,
      details,
    });
  if (code === "EACCES" || code === "ENOEXEC" || code === "EPERM")
    return new AgentError("agent-start", `${command.program} cannot be run here (${code})`, {
      next: "See whether it is a program and may be executed.",
      cause: error,
      details,
    });
  return new AgentError("agent-start", `${command.program} could not be started in ${cwd}`, {
    cause: error,
    details,
  });
}

/** Ends a process: its stdin is closed; if that does not end it, SIGTERM, then SIGKILL. Resolves once it has ended. */
export async function endProcess(agent: AgentProcess, clock: Clock): Promise<Exit> {
  let hasEnded = false;
  const exited = agent.exited.then((exit) => {
    hasEnded = true;
    return exit;
  });
  agent.stdin.end();
  for (const [graceMs, signal] of [
    [closeGraceMs, "SIGTERM"],
    [terminateGraceMs, "SIGKILL"],
  ] as const) {
    await Promise.race([exited, pause(clock, graceMs, exited)]);
    if (hasEnded) break;
    agent.signal(signal);
  }
  return await exited;
}

async function pause(clock: Clock, ms: number, until: Promise<unknown>): Promise<void> {
  await new Promise<void>((resolve) => {
    const callOff = clock.after(ms, resolve);
    void until.then(() => {
      callOff();
      resolve();
    });
  });
}
