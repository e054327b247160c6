/** A search: by the index where there is one and it can tell, else by reading. Both find the same. */
import { SourceError } from "../sources/index.ts";
import { SqliteError } from "../sqlite/index.ts";
import { SESSION_HITS_MAX } from "./limits.ts";
import { foldCase, indexQuery, matches, type Query } from "./query.ts";
import { type ScanHit, type Scanned, type ScanOptions, scan } from "./scan.ts";
import { IndexStore, isDamage, removeIndex } from "./store.ts";
import { excerptOf, textOf } from "./text.ts";
import { update } from "./update.ts";

export interface SearchOptions extends ScanOptions {
  /** The file of the index. Absent: every session is read. */
  readonly index?: string;
  /** Told in a sentence what of the index is not as it should be; the search goes on. */
  readonly onNotice?: (words: string) => void;
  /** Told of a session before it is read for the index. */
  readonly onReading?: (path: string) => void;
}

/** Hits in the order of the sessions given, each session's newest first, at most `SESSION_HITS_MAX` of one. */
export async function* search<Id>(
  sessions: Iterable<Scanned<Id>>,
  query: Query,
  options: SearchOptions,
): AsyncGenerator<ScanHit<Id>> {
  const words = indexQuery(query);
  const keeper =
    options.index === undefined || words === undefined ? undefined : openStore(options.index, options);
  if (keeper === undefined || words === undefined) {
    yield* scan(sessions, query, options);
    return;
  }
  let left = options.limit;
  let store: IndexStore | undefined = keeper;
  try {
    for (const session of sessions) {
      if (left <= 0 || options.signal?.aborted === true) return;
      let hits: readonly ScanHit<Id>[] | undefined;
      try {
        hits = store === undefined ? undefined : await findIn(store, session, query, words, options);
      } catch (error) {
        if (isDamage(error) && store !== undefined) {
          store.close();
          removeIndex(store.path);
          store = undefined;
          options.onNotice?.(
            "the index was damaged; the sessions are read, and it is made anew the next time",
          );
        } else if (error instanceof SqliteError) {
          options.onNotice?.(`the index cannot be used (${error.message}); the session is read`);
        } else if (error instanceof SourceError && error.code === "bad-position") {
          // Rewritten under the reading: it is read as it is now.
          store?.forget(session.path);
        } else {
          if (options.onProblem === undefined) throw error;
          options.onProblem(session.path, error);
          continue;
        }
      }
      if (hits === undefined) {
        for await (const hit of scan([session], query, { ...options, limit: left })) {
          yield hit;
          left -= 1;
        }
        continue;
      }
      for (const hit of hits.slice(0, left)) yield hit;
      left -= hits.length;
    }
  } finally {
    store?.close();
  }
}

/** Takes the sessions out of the index that are not among `paths`; nothing where there is no index. */
export function forgetOthers(index: string, paths: ReadonlySet<string>): void {
  const store = openStore(index, {});
  if (store === undefined) return;
  try {
    for (const path of store.paths()) if (!paths.has(path)) store.forget(path);
  } catch (error) {
    // A cache that is busy or damaged is cleaned another time.
    if (!(error instanceof SqliteError)) throw error;
  } finally {
    store.close();
  }
}

function openStore(path: string, { onNotice }: Pick<SearchOptions, "onNotice">): IndexStore | undefined {
  try {
    return IndexStore.open(path, (why) => onNotice?.(`the index is made anew: ${why}`));
  } catch (error) {
    const isFile = typeof (error as NodeJS.ErrnoException).code === "string";
    if (!isFile) throw error;
    const why = error instanceof Error ? error.message : String(error);
    onNotice?.(`without an index every session is read: ${why}`);
    return undefined;
  }
}

/** The session's hits, each looked at in the log as it is; undefined where the index cannot keep the session. */
async function findIn<Id>(
  store: IndexStore,
  session: Scanned<Id>,
  query: Query,
  words: string,
  { signal, since, onReading }: SearchOptions,
): Promise<readonly ScanHit<Id>[] | undefined> {
  const updated = await update(
    store,
    session.path,
    () => {
      onReading?.(session.path);
      return session.open();
    },
    signal,
  );
  if (updated === undefined) return undefined;
  const places = store.find(updated.session, words);
  if (places.length === 0) return [];
  const hits: ScanHit<Id>[] = [];
  const log = await session.open();
  try {
    for (const { at, end } of places) {
      if (hits.length >= SESSION_HITS_MAX || signal?.aborted === true) break;
      const [entry] = (await log.newer(at, 1)).entries;
      if (entry === undefined) continue;
      if (since !== undefined && entry.time !== undefined && entry.time < since) continue;
      const text = textOf(entry);
      if (!matches(query, foldCase(text))) continue;
      hits.push({
        id: session.id,
        at,
        end,
        entry: entry.name,
        excerpt: excerptOf(text, query),
        ...(entry.time === undefined ? {} : { time: entry.time }),
      });
    }
  } finally {
    await log.close();
  }
  return hits;
}
