/** Brings the index up to date with one session: all of it the first time, then what was appended. */
import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { Log, Page } from "../sources/index.ts";
import {
  BATCH_ENTRIES_MAX,
  BATCH_UNITS_MAX,
  GROWN_CHECK_BYTES,
  REREAD_ENTRIES,
  SCAN_PAGE_ENTRIES,
  SESSION_ENTRIES_MAX,
} from "./limits.ts";
import { foldCase } from "./query.ts";
import type { IndexedEntry, IndexedSession, IndexStore } from "./store.ts";
import { textOf } from "./text.ts";

/** A session's file as it is now. */
interface Now {
  readonly print: string;
  readonly identity: string;
  readonly size: number;
  checkAt(size: number): Promise<string>;
}

/** Undefined where the session is no file of its own, so that nothing tells whether it has changed. */
async function look<T>(path: string, use: (now: Now) => Promise<T>): Promise<T | undefined> {
  const file = await openIfThere(path);
  if (file === undefined) return undefined;
  try {
    const { dev, ino, size, mtimeNs, isFile } = await file
      .stat({ bigint: true })
      .then((stat) => ({ ...stat, isFile: stat.isFile() }));
    if (!isFile) return undefined;
    const identity = `${dev}:${ino}`;
    return await use({
      print: `${identity}:${size}:${mtimeNs}`,
      identity,
      size: Number(size),
      async checkAt(end) {
        const bytes = Buffer.alloc(Math.min(end, GROWN_CHECK_BYTES));
        const { bytesRead } = await file.read(bytes, 0, bytes.length, end - bytes.length);
        return createHash("sha256").update(bytes.subarray(0, bytesRead)).digest("base64");
      },
    });
  } finally {
    await file.close();
  }
}

/** A session in a database has a path that is no file's; what is gone altogether is told by its own reader. */
async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

export interface Updated {
  readonly session: IndexedSession;
  /** Whether anything had to be read. */
  readonly isFresh: boolean;
}

/**
 * The session as the index has it once it is up to date; undefined where it cannot be kept in the index, or another process is at it: then
 * it is to be read. A file that only grew costs what was appended.
 */
export async function update(
  store: IndexStore,
  path: string,
  openLog: () => Promise<Log>,
  signal?: AbortSignal,
): Promise<Updated | undefined> {
  return look(path, async (now) => {
    const known = store.session(path);
    if (known?.print === now.print) return { session: known, isFresh: true };
    const hasGrown =
      known !== undefined &&
      known.resume !== "" &&
      known.identity === now.identity &&
      now.size >= known.size &&
      (await now.checkAt(known.size)) === known.grownCheck;
    const log = await openLog();
    try {
      const start = hasGrown ? known : undefined;
      const session = await readInto(store, path, log, now, known, start, signal);
      return session === undefined ? undefined : { session, isFresh: false };
    } finally {
      await log.close();
    }
  });
}

async function readInto(
  store: IndexStore,
  path: string,
  log: Log,
  now: Now,
  before: IndexedSession | undefined,
  start: IndexedSession | undefined,
  signal: AbortSignal | undefined,
): Promise<IndexedSession | undefined> {
  const grownCheck = await now.checkAt(now.size);
  let known = before;
  let from = start?.count ?? 0;
  let batch: IndexedEntry[] = [];
  let units = 0;
  let recent: string[] = [];
  let page: Page =
    start === undefined
      ? await log.first(SCAN_PAGE_ENTRIES)
      : await log.newer(start.resume, SCAN_PAGE_ENTRIES);
  for (;;) {
    for (const [index, entry] of page.entries.entries()) {
      const at = page.positions[index] ?? page.start;
      const text = foldCase(textOf(entry));
      batch.push({ at, end: page.positions[index + 1] ?? page.end, text });
      units += text.length;
      recent.push(at);
    }
    recent = recent.slice(-REREAD_ENTRIES);
    const count = from + batch.length;
    if (count > SESSION_ENTRIES_MAX) return undefined;
    if (page.atEnd || units >= BATCH_UNITS_MAX || batch.length >= BATCH_ENTRIES_MAX) {
      known = store.put(path, known, from, batch, {
        print: page.atEnd ? now.print : "",
        identity: now.identity,
        size: now.size,
        grownCheck,
        resume: recent[0] ?? "",
        count: count - recent.length,
      });
      if (known === undefined || page.atEnd) return known;
      from = count;
      batch = [];
      units = 0;
    }
    if (signal?.aborted === true) return undefined;
    page = await log.newer(page.end, SCAN_PAGE_ENTRIES);
  }
}
