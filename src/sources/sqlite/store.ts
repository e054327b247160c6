/** One session in a database: its rows, read in the private copy. */
import { dirname } from "node:path";
import type { Database } from "../../sqlite/index.ts";
import { type MessageShelf, MessageStore } from "../document/message-store.ts";
import { SourceError } from "../errors.ts";
import { acquireCopy, type DatabaseCopy, releaseCopy } from "./copy.ts";
import type { DatabaseFormat } from "./format.ts";

/** Opens a session of a database; reads its messages once. Throws a SourceError where there is none of that id. */
export async function openSessionStore(
  path: string,
  tables: DatabaseFormat,
  id: string,
): Promise<MessageStore> {
  const store = await MessageStore.open(shelfOf(await acquireCopy(path), tables, id));
  if (store !== undefined) return store;
  throw new SourceError("not-found", `${path} holds no session ${id}.`, {
    path,
    next: "`hansard list` shows the sessions that were found, with their ids.",
  });
}

/** A session of the copy, as a shelf that gives the copy back when it is closed. */
export function shelfOf(copy: DatabaseCopy, tables: DatabaseFormat, id: string): MessageShelf {
  // Other readers of the copy may be taking over a change.
  const read = async <T>(work: (database: Database) => T): Promise<T> => {
    await copy.settle();
    return copy.read(work);
  };
  return {
    format: tables.document,
    watched: [copy.path, `${copy.path}-wal`, dirname(copy.path)],
    get modifiedAt() {
      return copy.modifiedAt;
    },
    get version() {
      return copy.version;
    },
    refresh: () => copy.refresh(),
    facts: () => read((database) => tables.facts(database, id)),
    messages: () => read((database) => tables.messages(database, id)),
    message: (key) => read((database) => tables.message(database, id, key)),
    close: () => releaseCopy(copy),
  };
}
