/** The outside world of a command: streams, environment, clock. Injected, so that tests run commands without a process. */
import { userInfo } from "node:os";
import type { Surroundings } from "../sources/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";

/** Where a command writes. */
export interface Output {
  readonly isTTY: boolean;
  /** Columns of the terminal, or undefined where there is none. */
  readonly columns: number | undefined;
  /**
   * Resolves once the text may be forgotten (backpressure); false when the reader has gone and writing should stop. Rejects with a
   * CommandError where the text cannot be written (a full disk).
   */
  write(text: string): Promise<boolean>;
}

export interface Io {
  readonly out: Output;
  readonly err: Output;
  readonly around: Surroundings;
  readonly cwd: string;
  now(): number;
}

function isReaderGone(error: NodeJS.ErrnoException): boolean {
  return error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";
}

/** An output over a Node stream. A closed pipe is remembered, not thrown. */
export function createOutput(stream: NodeJS.WriteStream): Output {
  let closed = false;
  // Whoever wrote is told by `write`; the listener keeps the error from ending the process unsaid.
  stream.on("error", () => {
    closed = true;
  });
  return {
    get isTTY() {
      return stream.isTTY === true;
    },
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
    write(text) {
      if (closed || stream.destroyed) return Promise.resolve(false);
      return new Promise((resolve, reject) => {
        stream.write(text, (error) => {
          if (!error || isReaderGone(error)) resolve(!error && !closed);
          else
            reject(
              new CommandError(exitCodes.unreadable, `the output cannot be written: ${error.message}`, [
                "Free some space, or write it elsewhere.",
              ]),
            );
        });
      });
    },
  };
}

/** The working folder; the root where it was removed under the process. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "/";
    throw error;
  }
}

/** The person's home folder: the environment's, else the system's own record; empty where there is neither. */
function homeFolder(env: NodeJS.ProcessEnv): string {
  const named = env["HOME"] || env["USERPROFILE"];
  if (named) return named;
  try {
    return userInfo().homedir;
  } catch (error) {
    // An account that the system does not know, as in containers.
    if ((error as NodeJS.ErrnoException).code === "ERR_SYSTEM_ERROR") return "";
    throw error;
  }
}

/** The process's own surroundings. */
export function processIo(): Io {
  return {
    out: createOutput(process.stdout),
    err: createOutput(process.stderr),
    around: {
      env: process.env,
      home: homeFolder(process.env),
      platform: process.platform,
    },
    cwd: workingFolder(),
    now: () => Date.now(),
  };
}
