/** Paths of sessions that are rows: the database's path, `#`, the session's id. */

/** True for the first bytes of an SQLite database. */
export function isDatabase(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 16)).toString("latin1") === "SQLite format 3\0";
}

/** The database's path and the session's id, absent where the path names none. An id has no slash, backslash or `#`. */
export function splitSessionPath(path: string): { readonly file: string; readonly id?: string } {
  const match = /^(.+)#([^#/\\]+)$/s.exec(path);
  return match?.[1] === undefined || match[2] === undefined
    ? { file: path }
    : { file: match[1], id: match[2] };
}
