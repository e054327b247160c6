/** The file of the index: which words stand in which entries. A cache: it is made anew whenever it cannot be trusted. */
import { chmodSync, closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { type Database, openDatabase, SqliteError, type Statement } from "../sqlite/index.ts";
import { BUSY_MS, SESSION_ENTRIES_MAX } from "./limits.ts";

/** The version of the file's form; a file of another one is made anew. */
export const INDEX_VERSION = 1;

/** What the index knows of a session's file. */
export interface IndexedState {
  /** The file as it was when all of it had been read; empty where the reading has not come to its end. */
  readonly print: string;
  readonly identity: string;
  readonly size: number;
  /** A print of the bytes before `size`. */
  readonly grownCheck: string;
  /** Where to read on, and how many entries stand before it. */
  readonly resume: string;
  readonly count: number;
}

export interface IndexedSession extends IndexedState {
  readonly id: number;
  /** Goes up with each change, so that two processes do not mix theirs. */
  readonly turn: number;
}

export interface IndexedEntry {
  readonly at: string;
  readonly end: string;
  /** In folded case. */
  readonly text: string;
}

const schema = `
CREATE TABLE session (id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL, turn INTEGER NOT NULL, print TEXT NOT NULL, identity TEXT NOT NULL,
  size INTEGER NOT NULL, grownCheck TEXT NOT NULL, resume TEXT NOT NULL, count INTEGER NOT NULL);
CREATE TABLE entry (id INTEGER PRIMARY KEY, at TEXT NOT NULL, end TEXT NOT NULL);
CREATE VIRTUAL TABLE word USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='unicode61 remove_diacritics 0');
PRAGMA user_version = ${INDEX_VERSION};`;

export class IndexStore {
  readonly path: string;
  readonly #db: Database;
  readonly #prepared = new Map<string, Statement>();

  private constructor(path: string, db: Database) {
    this.path = path;
    this.#db = db;
  }

  /**
   * Opens the index, readable by its owner alone. One that is damaged or of another version is made anew, and `onRebuilt` told why. Throws
   * a SqliteError where there is no SQLite or the file cannot be used.
   */
  static open(path: string, onRebuilt: (why: string) => void): IndexStore {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    try {
      return IndexStore.#openOnce(path, onRebuilt);
    } catch (error) {
      if (!isDamage(error)) throw error;
      onRebuilt("it was damaged");
      removeIndex(path);
      return IndexStore.#openOnce(path, onRebuilt);
    }
  }

  static #openOnce(path: string, onRebuilt: (why: string) => void): IndexStore {
    // The mode before the first byte: what SQLite lays beside it takes it over.
    closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
    const db = openDatabase(path);
    try {
      db.run(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;`);
      const version = Number(db.prepare("PRAGMA user_version").all()[0]?.["user_version"]);
      if (version !== INDEX_VERSION && version !== 0) {
        db.close();
        onRebuilt("it was of another version");
        removeIndex(path);
        return IndexStore.#openOnce(path, onRebuilt);
      }
      if (version === 0) createSchema(db);
      return new IndexStore(path, db);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  session(path: string): IndexedSession | undefined {
    const [row] = this.#statement("SELECT * FROM session WHERE path = ?").all(path);
    return row as unknown as IndexedSession | undefined;
  }

  paths(): readonly string[] {
    return this.#statement("SELECT path FROM session")
      .all()
      .map(({ path }) => String(path));
  }

  /**
   * Puts entries behind the first `from` of a session, in place of those that stand there. Undefined where another process has changed the
   * session since `known` was read; then nothing is changed.
   */
  put(
    path: string,
    known: IndexedSession | undefined,
    from: number,
    entries: readonly IndexedEntry[],
    state: IndexedState,
  ): IndexedSession | undefined {
    return this.#transaction(() => {
      const now = this.session(path);
      if (now?.turn !== known?.turn || now?.id !== known?.id) return undefined;
      const fields = [state.print, state.identity, state.size, state.grownCheck, state.resume, state.count];
      if (now === undefined)
        this.#statement(
          "INSERT INTO session (path, turn, print, identity, size, grownCheck, resume, count) VALUES (?, 0, ?, ?, ?, ?, ?, ?)",
        ).run(path, ...fields);
      else
        this.#statement(
          "UPDATE session SET turn = turn + 1, print = ?, identity = ?, size = ?, grownCheck = ?, resume = ?, count = ? WHERE id = ?",
        ).run(...fields, now.id);
      const session = this.session(path);
      if (session === undefined) throw new Error("the row that was written is not there");
      const first = session.id * SESSION_ENTRIES_MAX;
      if (now !== undefined) this.#remove(first + from, first + SESSION_ENTRIES_MAX);
      const place = this.#statement("INSERT INTO entry VALUES (?, ?, ?)");
      const word = this.#statement("INSERT INTO word (rowid, text) VALUES (?, ?)");
      for (const [at, entry] of entries.entries()) {
        place.run(first + from + at, entry.at, entry.end);
        word.run(first + from + at, entry.text);
      }
      return session;
    });
  }

  /** Takes a session out. */
  forget(path: string): void {
    this.#transaction(() => {
      const session = this.session(path);
      if (session === undefined) return;
      this.#remove(session.id * SESSION_ENTRIES_MAX, (session.id + 1) * SESSION_ENTRIES_MAX);
      this.#statement("DELETE FROM session WHERE id = ?").run(session.id);
    });
  }

  /** The places of a session's entries that hold the words of an index query, newest first. */
  find(session: IndexedSession, words: string): readonly Omit<IndexedEntry, "text">[] {
    const first = session.id * SESSION_ENTRIES_MAX;
    const rows = this.#statement(
      "SELECT rowid FROM word WHERE word MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC",
    ).all(words, first, first + SESSION_ENTRIES_MAX);
    const place = this.#statement("SELECT at, end FROM entry WHERE id = ?");
    return rows.flatMap(({ rowid }) =>
      place.all(rowid ?? null).map(({ at, end }) => ({ at: String(at), end: String(end) })),
    );
  }

  close(): void {
    this.#db.close();
  }

  #remove(start: number, end: number): void {
    const ids = this.#statement("SELECT id FROM entry WHERE id >= ? AND id < ?").all(start, end);
    const word = this.#statement("DELETE FROM word WHERE rowid = ?");
    for (const { id } of ids) word.run(id ?? null);
    this.#statement("DELETE FROM entry WHERE id >= ? AND id < ?").run(start, end);
  }

  #statement(sql: string): Statement {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }

  #transaction<T>(work: () => T): T {
    return transaction(this.#db, work);
  }
}

function transaction<T>(db: Database, work: () => T): T {
  db.run("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.run("COMMIT");
    return result;
  } catch (error) {
    try {
      db.run("ROLLBACK");
    } catch (second) {
      // SQLite has rolled back by itself (a full disk); what went wrong first is what counts.
      if (!(second instanceof SqliteError)) throw second;
    }
    throw error;
  }
}

/** Two processes may come to an empty file at once: the second finds the first one's tables. */
function createSchema(db: Database): void {
  transaction(db, () => {
    if (Number(db.prepare("PRAGMA user_version").all()[0]?.["user_version"]) === 0) db.run(schema);
  });
}

/** True where the file is not what it should be; a file that is busy or cannot be written is as good as ever. */
export function isDamage(error: unknown): boolean {
  return (
    error instanceof SqliteError &&
    ["SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR"].includes(error.result ?? "")
  );
}

export function removeIndex(path: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(path + end, { force: true });
}
