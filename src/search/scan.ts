/** A search by reading: no index, nothing kept. Sessions are read from their ends, one after another. */
import { open } from "node:fs/promises";
import type { Log, Page } from "../sources/index.ts";
import { SCAN_PAGE_ENTRIES, SESSION_HITS_MAX, SIFT_BYTES } from "./limits.ts";
import { foldCase, matches, type Query, wordsOf } from "./query.ts";
import { excerptOf, textOf } from "./text.ts";

/** A session to look through. */
export interface Scanned<Id> {
  readonly id: Id;
  readonly path: string;
  readonly open: () => Promise<Log>;
}

export interface ScanHit<Id> {
  readonly id: Id;
  /** The position just before the entry, and just after it. */
  readonly at: string;
  readonly end: string;
  readonly entry: string;
  readonly excerpt: string;
  readonly time?: number;
}

export interface ScanOptions {
  readonly limit: number;
  readonly signal?: AbortSignal;
  /** Entries before this time are not looked at: milliseconds since the epoch. */
  readonly since?: number;
  /** Told of a session that could not be read; the search goes on. */
  readonly onProblem?: (path: string, error: unknown) => void;
}

/**
 * Hits in the order of the sessions given, each session's newest first, at most `SESSION_HITS_MAX` of one. Reads a whole session at most;
 * one whose file cannot hold the words is looked through as bytes alone.
 */
export async function* scan<Id>(
  sessions: Iterable<Scanned<Id>> | AsyncIterable<Scanned<Id>>,
  query: Query,
  options: ScanOptions,
): AsyncGenerator<ScanHit<Id>> {
  let left = options.limit;
  for await (const session of sessions) {
    if (left <= 0 || options.signal?.aborted === true) return;
    try {
      if (!(await mayHold(session.path, query, options.signal))) continue;
      for await (const hit of scanOne(session, query, options)) {
        yield hit;
        left -= 1;
        if (left <= 0) return;
      }
    } catch (error) {
      if (options.onProblem === undefined) throw error;
      options.onProblem(session.path, error);
    }
  }
}

async function* scanOne<Id>(
  session: Scanned<Id>,
  query: Query,
  { signal, since }: ScanOptions,
): AsyncGenerator<ScanHit<Id>> {
  const log = await session.open();
  let found = 0;
  try {
    let page: Page = await log.tail(SCAN_PAGE_ENTRIES);
    for (;;) {
      for (let index = page.entries.length - 1; index >= 0; index -= 1) {
        const entry = page.entries[index]!;
        if (since !== undefined && entry.time !== undefined && entry.time < since) continue;
        const text = textOf(entry);
        if (!matches(query, foldCase(text))) continue;
        yield {
          id: session.id,
          at: page.positions[index] ?? page.start,
          end: page.positions[index + 1] ?? page.end,
          entry: entry.name,
          excerpt: excerptOf(text, query),
          ...(entry.time === undefined ? {} : { time: entry.time }),
        };
        found += 1;
        if (found >= SESSION_HITS_MAX) return;
      }
      if (page.atStart || signal?.aborted === true) return;
      page = await log.older(page.start, SCAN_PAGE_ENTRIES);
    }
  } finally {
    await log.close();
  }
}

/** Terms that stand in a JSON file as they are: nothing in them is ever escaped. */
const plainTerm = /^[a-z0-9_.,:;+=()-]+$/;

/**
 * Whether a file of JSON lines may hold the words: looked through as bytes, which is many times quicker than reading its records. True
 * where it cannot be told so.
 */
async function mayHold(path: string, { all }: Query, signal: AbortSignal | undefined): Promise<boolean> {
  if (!path.endsWith(".jsonl")) return true;
  const wanted = new Set(all.map(wordsOf).filter((term) => plainTerm.test(term)));
  if (wanted.size === 0) return true;
  const file = await open(path, "r");
  try {
    const keep = Math.max(...[...wanted].map((term) => term.length)) - 1;
    const block = Buffer.alloc(SIFT_BYTES);
    let before = "";
    for (let at = 0; signal?.aborted !== true; ) {
      const { bytesRead } = await file.read(block, 0, block.length, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      const text = before + block.toString("latin1", 0, bytesRead).toLowerCase();
      for (const term of wanted) if (text.includes(term)) wanted.delete(term);
      if (wanted.size === 0) return true;
      before = keep === 0 ? "" : text.slice(-keep);
    }
    return false;
  } finally {
    await file.close();
  }
}
