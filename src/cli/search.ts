/** `hansard search`: words in all sessions of this computer. */
import { join } from "node:path";
import { stateFolder } from "../log/index.ts";
import { forgetOthers, parseQuery, type Scanned, search } from "../search/index.ts";
import { describeSession, type FoundSession, openLog, SourceError } from "../sources/index.ts";
import { sanitizeLine } from "../terminal/text/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import { formatAge, shellWord } from "./format.ts";
import type { Io } from "./io.ts";
import { findSessions } from "./resolve.ts";
import { parseSince } from "./since.ts";

export interface SearchOptions {
  readonly agent?: string;
  readonly since?: string;
  readonly limit?: number;
  readonly json?: boolean;
}

/** Where the index lies. */
export function indexPath(around: Io["around"]): string {
  return join(stateFolder(around), "search.sqlite");
}

/** Hits where nothing is said of their number. */
export const searchLimitDefault = 50;

/** Sessions to look through, each under what was found of it. */
export function scannedOf(sessions: readonly FoundSession[]): readonly Scanned<FoundSession>[] {
  return sessions.map((found) => ({ id: found, path: found.path, open: () => openLog(found.path) }));
}

/** Prints what is found, newest sessions first, each hit with the command that shows it. */
export async function runSearch(io: Io, words: readonly string[], options: SearchOptions): Promise<number> {
  const query = parseQuery(words.join(" "));
  if (query === undefined)
    throw new CommandError(exitCodes.usage, "What is to be looked for?", [
      'Words that must all be there, "a phrase", -without.',
    ]);
  const since = options.since === undefined ? undefined : parseSince(options.since, io.now());
  const all = await findSessions(io, options.agent);
  const sessions = since === undefined ? all : all.filter(({ modifiedAt }) => modifiedAt >= since);
  const stop = new AbortController();
  let hits = 0;
  let last: FoundSession | undefined;
  const index = indexPath(io.around);
  let isReading = false;
  const found = search(scannedOf(sessions), query, {
    index,
    onNotice: (words) => void io.err.write(`hansard: ${sanitizeLine(words)}\n`),
    onReading: () => {
      if (!isReading && io.err.isTTY)
        void io.err.write("hansard: reading what is new for the index; the next search is quicker\n");
      isReading = true;
    },
    limit: options.limit ?? searchLimitDefault,
    signal: stop.signal,
    ...(since === undefined ? {} : { since }),
    onProblem: (path, error) => {
      if (!(error instanceof SourceError) && (error as NodeJS.ErrnoException).code === undefined) throw error;
      void io.err.write(`hansard: ${sanitizeLine(path)} could not be read\n`);
    },
  });
  for await (const { id: session, at, end, entry, excerpt, time } of found) {
    hits += 1;
    const way = `hansard show ${shellWord(session.path)} --before ${end} --limit 3`;
    const text =
      options.json === true
        ? `${JSON.stringify({ agent: session.agent, id: session.id, path: session.path, at, end, entry, excerpt, ...(time === undefined ? {} : { time }) })}\n`
        : `${last === session ? "" : await headOf(io, session)}    ${sanitizeLine(excerpt)}\n      ${sanitizeLine(way)}\n`;
    last = session;
    if (!(await io.out.write(text))) break;
  }
  if (options.agent === undefined) forgetOthers(index, new Set(all.map(({ path }) => path)));
  if (hits === 0 && options.json !== true) await io.err.write("hansard: nothing was found\n");
  return hits === 0 ? exitCodes.notFound : exitCodes.ok;
}

async function headOf(io: Io, session: FoundSession): Promise<string> {
  const { title } = await describeSession(session).catch(() => session as { readonly title?: string });
  const parts = [session.agent, session.id, formatAge(session.modifiedAt, io.now()), title ?? ""];
  return `${parts
    .filter((part) => part !== "")
    .map(sanitizeLine)
    .join("  ")}\n`;
}
