/** Errors that a person can cause: what happened, where, and what to do next. */
import { SourceError } from "../sources/index.ts";
import { type ExitCode, exitCodes } from "./exit.ts";

/** An expected failure of a command. `lines` follow the message, one a line (candidates, hints). */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  readonly lines: readonly string[];
  constructor(exitCode: ExitCode, message: string, lines: readonly string[] = []) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
    this.lines = lines;
  }
}

/** The exit code of a reader's error, by its stable code. */
function exitCodeOf(code: string): ExitCode {
  switch (code) {
    case "not-found":
      return exitCodes.notFound;
    case "directory":
    case "not-a-file":
    case "permission":
    case "unreadable":
      return exitCodes.unreadable;
    case "empty":
    case "binary":
    case "unknown-format":
      return exitCodes.notASession;
    case "bad-position":
      return exitCodes.usage;
    default:
      return exitCodes.unreadable;
  }
}

/** The person's error in `error`, or undefined where it is a bug. */
export function asCommandError(error: unknown): CommandError | undefined {
  if (error instanceof CommandError) return error;
  if (error instanceof SourceError)
    return new CommandError(exitCodeOf(error.code), error.message, error.next ? [error.next] : []);
  return undefined;
}
