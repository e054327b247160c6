/** `hansard show`: a session as linear text, or one entry a line as JSON with its place. */

import { tornEnd } from "../session/index.ts";
import { type Log, openLog, type Page, type Position, SourceError } from "../sources/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import type { Io } from "./io.ts";
import { resolveSession } from "./resolve.ts";
import { createTextPrinter } from "./text-printer.ts";

export interface ShowOptions {
  readonly json?: boolean;
  /** The newest entries only (before `before`). Absent: all. */
  readonly limit?: number;
  readonly before?: Position;
}

/** Entries a read. */
export const SHOW_PAGE_ENTRIES = 256;

/** A page at a position that an earlier page gave: where it is none any more, the log was rewritten meanwhile. */
async function readOn(page: Promise<Page>): Promise<Page> {
  try {
    return await page;
  } catch (error) {
    if (!(error instanceof SourceError) || error.code !== "bad-position") throw error;
    throw new CommandError(exitCodes.unreadable, "The session was rewritten while it was read.", [
      "Run the command again.",
    ]);
  }
}

/** Pages in log order that together hold the newest `limit` entries before `before`; each is read when it is asked for. */
export async function* pagesOf(log: Log, options: ShowOptions): AsyncGenerator<Page> {
  if (options.limit === undefined && options.before === undefined) {
    let page: Page = await log.first(SHOW_PAGE_ENTRIES);
    yield page;
    while (!page.atEnd) {
      page = await readOn(log.newer(page.end, SHOW_PAGE_ENTRIES));
      yield page;
    }
    return;
  }
  // Newest first on the way back keeps only positions; the entries are read again on the way forward, a page at a time.
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const asked = (left: number): number => Math.min(SHOW_PAGE_ENTRIES, left);
  let page: Page =
    options.before === undefined
      ? await log.tail(asked(limit))
      : await log.older(options.before, asked(limit));
  let left = limit - page.entries.length;
  if (left <= 0 || page.atStart) {
    yield page;
    return;
  }
  const sizes: number[] = [page.entries.length];
  while (left > 0 && !page.atStart) {
    page = await readOn(log.older(page.start, asked(left)));
    if (page.entries.length === 0) break;
    sizes.push(page.entries.length);
    left -= page.entries.length;
  }
  sizes.pop();
  yield page;
  for (const size of sizes.reverse()) {
    page = await readOn(log.newer(page.end, size));
    yield page;
  }
}

/** Prints the entries; stops quietly when the reader of the output has gone. */
export async function runShow(io: Io, name: string, options: ShowOptions): Promise<number> {
  const log = await openLog(await resolveSession(io, name));
  try {
    const printer = createTextPrinter(io);
    let isFirst = true;
    for await (const page of pagesOf(log, options)) {
      let out = "";
      if (options.json === true) {
        for (const [i, entry] of page.entries.entries())
          out += `${JSON.stringify({ position: page.positions[i], ...entry })}\n`;
      } else {
        if (isFirst) out += printer.earlier(page, name);
        out += printer.entries(page.entries);
      }
      isFirst = false;
      if (out !== "" && !(await io.out.write(out))) break;
    }
    if (options.before === undefined) await tellTorn(io, log);
    return exitCodes.ok;
  } finally {
    await log.close();
  }
}

/** Says what stands behind the last entry and is no whole record: it is being written, or its writer was cut off. */
async function tellTorn(io: Io, log: Log): Promise<void> {
  const torn = tornEnd(await log.tail(1));
  if (torn !== undefined)
    await io.err.write(
      `hansard: the last ${torn.end - torn.start} bytes are no whole record (yet); they are not shown\n`,
    );
}
