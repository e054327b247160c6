/** Where the files of one session lie in OpenCode's tree of files, told from where its own record lies. */
import { basename, dirname, join } from "node:path";

/** The files of one session, each folder with the names in it that end in `.json`. */
export interface TreeLayout {
  readonly id: string;
  /** The session's own record. */
  readonly record: string;
  /** The folder that all of the session's files are below, its record too. */
  readonly base: string;
  readonly messages: string;
  parts(message: string): string;
}

/**
 * `storage/session/<project>/<session>.json` with `storage/message/<session>/` and `storage/part/<message>/`; before that, in a tree for
 * each project, `storage/session/info/<session>.json` with `message/<session>/` and `part/<session>/<message>/` beside `info`.
 */
export function layoutOf(record: string): TreeLayout {
  const id = basename(record).replace(/\.json$/, "");
  const folder = dirname(record);
  const isOlder = basename(folder) === "info";
  // A record that someone laid elsewhere has no messages.
  const base = isOlder ? dirname(folder) : dirname(dirname(folder));
  return {
    id,
    record,
    base,
    messages: join(base, "message", id),
    parts: (message) => (isOlder ? join(base, "part", id, message) : join(base, "part", message)),
  };
}

/** True where the head is that of a session's own record: not of an export, which has it inside. */
export function isTreeRecord(head: Uint8Array): boolean {
  const text = new TextDecoder().decode(head.subarray(0, 16 * 1024)).replace(/^\uFEFF/, "");
  return (
    /^\s*\{\s*"id"\s*:\s*"ses_[^"]*"/.test(text) &&
    /"(?:projectID|directory|title)"\s*:/.test(text) &&
    !/"role"\s*:/.test(text)
  );
}
