/** What can go wrong for reasons outside the program, with a stable code each. */

export type LogErrorCode =
  /** There is no such log. */
  | "not-found"
  /** A new session's id is taken. */
  | "exists"
  /** Not a session log at all. */
  | "not-a-log"
  /** Another process writes it. */
  | "busy"
  /** Bad lines before the last, or a gap: `hansard doctor`. */
  | "damaged"
  /** Written by a newer version: it can be read. */
  | "newer"
  /** The disk or its permissions do not allow it. */
  | "not-writable"
  /** A record that the log does not take; nothing was written. */
  | "invalid-record"
  /** A record, a blob or a setting above its limit; nothing was written. */
  | "too-large"
  /** Another process has taken the lease over. */
  | "lease-lost"
  /** The writer is closed. */
  | "closed"
  | "bad-id"
  /** A fork that cannot be made: no such message, a broken or circular ancestry, a damaged parent. */
  | "bad-fork"
  /** A blob that is not there. */
  | "blob-missing"
  /** A blob whose bytes are not the ones that were stored. */
  | "blob-damaged"
  /** A file that could not be read. */
  | "unreadable";

export class LogError extends Error {
  readonly code: LogErrorCode;
  /** What to do about it, where something can be done. */
  readonly next: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  constructor(
    code: LogErrorCode,
    message: string,
    options: {
      readonly next?: string;
      readonly cause?: unknown;
      readonly details?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "LogError";
    this.code = code;
    this.next = options.next;
    this.details = options.details ?? {};
  }
}

/** The system's code of a failed file operation ("ENOSPC"), or undefined where `error` is something else. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof LogError) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

const sentences: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file may not grow any more",
  EIO: "the disk reports an error",
  EROFS: "the file system is read-only",
  EACCES: "permission is missing",
  EPERM: "permission is missing",
  ENOENT: "the folder is gone",
  ENOTDIR: "a part of the path is no folder",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  ELOOP: "the log is a symbolic link",
  EISDIR: "the log is a folder",
};

/** The cause in words, with the system's code. */
export function errnoWords(code: string): string {
  const words = sentences[code];
  return words === undefined ? code : `${words} (${code})`;
}
