/** Sessions that Hansard keeps itself: found by name, and what can go wrong with their logs told as a person's error. */
import { basename, dirname } from "node:path";
import { LogError, type LogErrorCode, sessionsFolder, stateFolder } from "../log/index.ts";
import { sanitizeLine } from "../terminal/text/index.ts";
import { CommandError } from "./errors.ts";
import { type ExitCode, exitCodes } from "./exit.ts";
import { shellWord } from "./format.ts";
import type { Io } from "./io.ts";
import { resolveSession } from "./resolve.ts";

export interface OwnSession {
  /** The folder that holds the sessions. */
  readonly sessions: string;
  readonly id: string;
  /** The log's path. */
  readonly path: string;
}

/** The folder of our sessions. */
export function ownSessions(io: Io): string {
  return sessionsFolder(stateFolder(io.around));
}

/**
 * The session of ours that `name` means, by id, a unique start of one, a title, a path, or `last`. Throws a CommandError where there is
 * none; where another agent's session has the name, that is said with what can be done with it.
 */
export async function resolveOwn(io: Io, name: string): Promise<OwnSession> {
  const path = await resolveSession(io, name, "hansard").catch(async (error: unknown) => {
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.notFound || name === "last")
      throw error;
    return await resolveSession(io, name).catch(() => {
      throw error;
    });
  });
  const folder = dirname(path);
  if (basename(path) === "log.jsonl") return { sessions: dirname(folder), id: basename(folder), path };
  const word = shellWord(sanitizeLine(name));
  throw new CommandError(exitCodes.notASession, `${path} is no session log of Hansard's own.`, [
    `Those lie in ${ownSessions(io)}. \`hansard show ${word}\` reads it, \`hansard continue ${word}\` carries it on.`,
  ]);
}

function exitCodeOf(code: LogErrorCode): ExitCode {
  switch (code) {
    case "not-found":
      return exitCodes.notFound;
    case "not-a-log":
    case "bad-id":
      return exitCodes.notASession;
    case "damaged":
    case "blob-damaged":
    case "blob-missing":
      return exitCodes.damaged;
    case "exists":
    case "bad-fork":
      return exitCodes.usage;
    case "busy":
    case "newer":
    case "not-writable":
    case "invalid-record":
    case "too-large":
    case "lease-lost":
    case "closed":
    case "unreadable":
      return exitCodes.unreadable;
  }
}

/** Does the work; what a log cannot do for reasons outside the program comes as a CommandError. */
export async function withLogErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    const { code, message, next } = error;
    const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
    throw new CommandError(exitCodeOf(code), sentence, next === undefined ? [] : [next]);
  }
}
