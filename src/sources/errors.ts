/** Errors of the readers: what a person can cause, with a stable code. */
import { FileError } from "../lines/index.ts";

/**
 * - `not-found`, `directory`, `not-a-file`, `permission`, `unreadable`: the path cannot be read as a file.
 * - `empty`, `binary`, `unknown-format`: it can be read and holds no session that a source knows.
 * - `bad-position`: a position that this log did not give, or gives no longer.
 * - `unknown-agent`: no source has that name.
 */
export type SourceErrorCode =
  | "not-found"
  | "directory"
  | "not-a-file"
  | "permission"
  | "unreadable"
  | "empty"
  | "binary"
  | "unknown-format"
  | "bad-position"
  | "unknown-agent";

/** An expected failure of a reader. The message says what and where, `next` what to do about it. */
export class SourceError extends Error {
  readonly code: SourceErrorCode;
  readonly path?: string;
  readonly next?: string;

  constructor(
    code: SourceErrorCode,
    message: string,
    more: { readonly path?: string; readonly next?: string; readonly cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.name = "SourceError";
    this.code = code;
    if (more.path !== undefined) this.path = more.path;
    if (more.next !== undefined) this.next = more.next;
  }
}

/** A file's error as a reader's; any other error as it is. */
export function asSourceError(error: unknown): unknown {
  if (!(error instanceof FileError)) return error;
  const { code, path, message } = error;
  return new SourceError(code, `${message}.`, { path, cause: error, ...nextOf(code) });
}

function nextOf(code: FileError["code"]): { readonly next?: string } {
  switch (code) {
    case "not-found":
      return { next: "`hansard list` shows the sessions that were found, with their ids." };
    case "permission":
      return { next: "Ask the owner of the file, or open a copy of it." };
    default:
      return { next: "`hansard list` shows the sessions that can be opened." };
  }
}
