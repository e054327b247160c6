/** The search that the server offers, within what a key may see. */
import { parseQuery, search } from "../search/index.ts";
import type { Search, SearchHit } from "../server/index.ts";
import { type FoundSession, openLog } from "../sources/index.ts";
import { servedId } from "./serve-catalogue.ts";

export interface ServedSearchOptions {
  readonly find: () => Promise<readonly FoundSession[]>;
  readonly only?: ReadonlySet<string>;
  /** The file of the index; absent: every session is read. */
  readonly index?: string;
}

/** Looks through the sessions that the request allows, newest first; a session that cannot be read is passed over. */
export function createServedSearch({ find, only, index }: ServedSearchOptions): Search {
  return async ({ words, limit, allows, session, signal }) => {
    const query = parseQuery(words);
    if (query === undefined) return [];
    const scanned = (await find()).flatMap((found) => {
      const id = servedId(found.agent, found.path);
      const isWanted = (only?.has(id) ?? true) && (session === undefined || session === id) && allows(id);
      return isWanted ? [{ id, path: found.path, open: () => openLog(found.path) }] : [];
    });
    const hits: SearchHit[] = [];
    for await (const { id, at, entry, excerpt, time } of search(scanned, query, {
      ...(index === undefined ? {} : { index }),
      limit,
      signal,
      onProblem: () => undefined,
    }))
      hits.push({ session: id, at, entry, excerpt, ...(time === undefined ? {} : { time }) });
    return hits;
  };
}
