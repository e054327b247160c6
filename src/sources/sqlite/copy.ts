/**
 * A private copy of a database that another program writes. A reader of a write-ahead log takes locks and makes a `-shm` file beside it;
 * so the database and its log are copied into a folder of ours, by reference where the file system can, and read there.
 */
import { constants, rmSync } from "node:fs";
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { FileState } from "../../lines/index.ts";
import { type Database, openDatabase, SqliteError } from "../../sqlite/index.ts";
import { SourceError } from "../errors.ts";
import { fileStateAt, isFileError } from "../file-errors.ts";
import { makePrivateFolder } from "../private-folder.ts";
import { COPIES_KEPT_MAX, COPY_BYTES_MAX, COPY_REST_FACTOR, COPY_TRIES_MAX } from "./limits.ts";

interface States {
  readonly main: FileState;
  readonly wal: FileState | undefined;
  readonly journal: FileState | undefined;
}

export interface CopyPorts {
  /** Milliseconds of a clock that only goes forward. */
  now(): number;
  readonly bytesMax: number;
}

const nodePorts: CopyPorts = { now: () => performance.now(), bytesMax: COPY_BYTES_MAX };

/** The copies of this process by the path of their database: sessions of one database share one. */
const copies = new Map<string, DatabaseCopy>();
let isCleaning = false;

/** The up-to-date copy of a database, to be released. Throws a SourceError where it cannot be had. */
export async function acquireCopy(path: string): Promise<DatabaseCopy> {
  const known = copies.get(path) ?? new DatabaseCopy(path);
  copies.delete(path);
  copies.set(path, known);
  known.users += 1;
  try {
    if ((await known.refresh()) === "gone")
      throw new SourceError("not-found", `${path} does not exist.`, {
        path,
        next: "`hansard list` shows the sessions that were found.",
      });
    return known;
  } catch (error) {
    await releaseCopy(known);
    throw error;
  }
}

/** Gives a copy back; the newest few are kept for the next reader, until the process ends. */
export async function releaseCopy(copy: DatabaseCopy): Promise<void> {
  copy.users -= 1;
  const idle = [...copies.values()].filter((each) => each.users === 0);
  for (const each of idle.slice(0, Math.max(0, idle.length - COPIES_KEPT_MAX))) {
    copies.delete(each.path);
    await each.remove();
  }
}

/** Removes the copies that nobody uses. */
export async function dropIdleCopies(): Promise<void> {
  for (const each of [...copies.values()]) {
    if (each.users > 0) continue;
    copies.delete(each.path);
    await each.remove();
  }
}

export class DatabaseCopy {
  readonly path: string;
  users = 0;
  /** Grows with every change that was taken over. */
  version = 0;
  readonly #ports: CopyPorts;
  #folder: string | undefined;
  #states: States | undefined;
  #database: Database | undefined;
  #restsUntil = 0;
  #working: Promise<"same" | "changed" | "gone"> | undefined;

  constructor(path: string, ports: CopyPorts = nodePorts) {
    this.path = path;
    this.#ports = ports;
  }

  get bytes(): number {
    return (this.#states?.main.size ?? 0) + (this.#states?.wal?.size ?? 0);
  }

  get modifiedAt(): number {
    const { main, wal } = this.#states ?? {};
    const newest = [main, wal].reduce(
      (most, s) => (s !== undefined && s.modified > most ? s.modified : most),
      0n,
    );
    return Number(newest / 1_000_000n);
  }

  /** Reads in the copy. What SQLite refuses is told as a SourceError. */
  read<T>(work: (database: Database) => T): T {
    const database = this.#database;
    if (database === undefined)
      throw new SourceError("unreadable", `${this.path} was closed.`, { path: this.path });
    try {
      return work(database);
    } catch (error) {
      throw asReadError(error, this.path);
    }
  }

  /** Takes over what the database has by now. Two at once are one. */
  refresh(): Promise<"same" | "changed" | "gone"> {
    this.#working ??= this.#refresh().finally(() => {
      this.#working = undefined;
    });
    return this.#working;
  }

  /** Resolves once nobody takes over a change: what is read at once then is read in one state. */
  async settle(): Promise<void> {
    while (this.#working !== undefined)
      // Who began it is told of its failure.
      await this.#working.then(
        () => undefined,
        () => undefined,
      );
  }

  async remove(): Promise<void> {
    this.#close();
    this.#states = undefined;
    const folder = this.#folder;
    this.#folder = undefined;
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }

  /** Like `remove`, at the end of the process. */
  removeNow(): void {
    this.#close();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  async #refresh(): Promise<"same" | "changed" | "gone"> {
    for (let tries = 0; tries < COPY_TRIES_MAX; tries++) {
      const states = await statesOf(this.path);
      if (states === undefined) return "gone";
      if (this.#states !== undefined && isSame(this.#states, states)) return "same";
      const isNewMain = this.#states === undefined || !isSameFile(this.#states.main, states.main);
      if (isNewMain && this.#states !== undefined && this.#ports.now() < this.#restsUntil) return "same";
      if (await this.#take(states, isNewMain)) return "changed";
    }
    // What was taken in between is of two moments: nothing of it is used.
    this.#states = undefined;
    throw new SourceError("unreadable", `${this.path} is being written.`, {
      path: this.path,
      next: "Try again.",
    });
  }

  /** False where the database was written meanwhile. */
  async #take(states: States, isNewMain: boolean): Promise<boolean> {
    const { path } = this;
    const bytes = states.main.size + (states.wal?.size ?? 0) + (states.journal?.size ?? 0);
    if (bytes > this.#ports.bytesMax)
      throw new SourceError("unreadable", `${path} is larger than ${this.#ports.bytesMax} bytes.`, { path });
    this.#folder ??= await privateFolder();
    const copy = join(this.#folder, "copy.db");
    this.#close();
    const began = this.#ports.now();
    for (const part of ["-wal", "-shm", "-journal"]) await rm(copy + part, { force: true });
    // A copy that a journal was rolled back in is not the file that it was made of.
    const isRolledBack = this.#states?.journal !== undefined;
    if (isNewMain || isRolledBack) await copyFile(path, copy, constants.COPYFILE_FICLONE);
    if (states.wal !== undefined && !(await copyPart(`${path}-wal`, `${copy}-wal`))) return false;
    if (states.journal !== undefined && !(await copyPart(`${path}-journal`, `${copy}-journal`))) return false;
    const after = await fileStateAt(path);
    if (after === undefined || !isSameFile(after, states.main)) {
      this.#states = undefined;
      return false;
    }
    if (isNewMain) {
      const now = this.#ports.now();
      this.#restsUntil = now + (now - began) * COPY_REST_FACTOR;
    }
    this.#states = states;
    this.version += 1;
    try {
      // The copy is ours: a journal that an interrupted writer left is rolled back in it.
      this.#database = openDatabase(copy, { readOnly: states.journal === undefined });
    } catch (error) {
      throw asReadError(error, path);
    }
    return true;
  }

  #close(): void {
    this.#database?.close();
    this.#database = undefined;
  }
}

async function privateFolder(): Promise<string> {
  if (!isCleaning) {
    isCleaning = true;
    process.once("exit", () => {
      for (const copy of copies.values()) copy.removeNow();
    });
  }
  return makePrivateFolder("copy");
}

async function copyPart(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if (isFileError(error, "ENOENT")) return false;
    throw error;
  }
}

async function statesOf(path: string): Promise<States | undefined> {
  const main = await fileStateAt(path);
  if (main === undefined) return undefined;
  const filled = async (part: string): Promise<FileState | undefined> => {
    const state = await fileStateAt(path + part);
    return state === undefined || state.size === 0 ? undefined : state;
  };
  return { main, wal: await filled("-wal"), journal: await filled("-journal") };
}

function isSame(a: States, b: States): boolean {
  return isSameFile(a.main, b.main) && isSameFile(a.wal, b.wal) && isSameFile(a.journal, b.journal);
}

function isSameFile(a: FileState | undefined, b: FileState | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.identity === b.identity && a.size === b.size && a.modified === b.modified;
}

/** What SQLite refused, as a SourceError; any other error as it is. */
export function asReadError(error: unknown, path: string): unknown {
  if (!(error instanceof SqliteError)) return error;
  if (error.code === "missing")
    return new SourceError("unreadable", `${path} is an SQLite database: ${error.message}.`, {
      path,
      next: "Use Node 22.13 or newer, or run `npm install better-sqlite3` beside Hansard.",
      cause: error,
    });
  return new SourceError("unreadable", `${path} cannot be read as a database: ${error.message}.`, {
    path,
    next: "Its own program may be able to repair it; `hansard list` shows the sessions that can be opened.",
    cause: error,
  });
}
