/** `hansard list`: the sessions found on this computer, newest first where nothing else is asked for. */
import { type FoundSession, sourceRoots } from "../sources/index.ts";
import { cellsOf, cutCells, sanitizeLine } from "../terminal/text/index.ts";
import type { Described } from "./describe-all.ts";
import { exitCodes } from "./exit.ts";
import { formatAge, formatBytes, formatFolder } from "./format.ts";
import type { Io } from "./io.ts";
import { chooseListed, type ListChoice } from "./list-choice.ts";
import { findSessions } from "./resolve.ts";

export interface ListOptions extends ListChoice {
  readonly agent?: string;
  readonly json?: boolean;
  /** Most sessions shown; absent: a screenful in a terminal, all of them elsewhere. */
  readonly limit?: number;
}

/** Sessions shown in a terminal unless more are asked for. */
const TERMINAL_SESSIONS_MAX = 30;

/** Folders of one agent that are named where nothing was found. */
const ROOTS_MAX = 4;
/** Cells that a title has at least. */
const TITLE_CELLS_MIN = 8;

/** Text cut or padded to exactly `cells`. */
function column(text: string, cells: number): string {
  const cut = cellsOf(text) > cells ? cutCells(text, cells) : text;
  return cut + " ".repeat(Math.max(0, cells - cellsOf(cut)));
}

/** Fewest characters of an id that are shown. */
const ID_START_MIN = 8;

/** For each id the start of it that names it among all of them, as `open` takes it. Doubles of an id have the same start. */
export function uniqueStarts(ids: readonly string[]): string[] {
  const sorted = [...new Set(ids.map((id) => id.toLowerCase()))].sort();
  const shared = (a: string, b: string | undefined): number => {
    let at = 0;
    while (b !== undefined && at < a.length && a[at] === b[at]) at += 1;
    return at;
  };
  const lengths = new Map<string, number>();
  for (const [at, id] of sorted.entries())
    lengths.set(id, 1 + Math.max(shared(id, sorted[at - 1]), shared(id, sorted[at + 1])));
  return ids.map((id) => id.slice(0, Math.max(ID_START_MIN, lengths.get(id.toLowerCase()) ?? 0)));
}

function rows(
  infos: readonly Described[],
  found: readonly FoundSession[],
  starts: readonly string[],
  io: Io,
  width: number,
): string[] {
  const ages = found.map((f) => formatAge(f.modifiedAt, io.now()));
  const sizes = found.map((f) => formatBytes(f.bytes));
  const ids = starts.map(sanitizeLine);
  const folders = infos.map((i) =>
    i.cwd === undefined ? "" : sanitizeLine(formatFolder(i.cwd, io.around.home)),
  );
  const titles = infos.map(
    (i) =>
      `${i.archived === true ? "(archived) " : ""}${sanitizeLine(i.title ?? (i.unreadable === true ? "(cannot be read)" : "(no prompt yet)"))}`,
  );
  const widest = (cells: readonly string[], max: number): number =>
    Math.min(max, Math.max(1, ...cells.map(cellsOf)));
  const age = widest(ages, 12);
  const agent = widest(
    found.map((f) => f.agent),
    12,
  );
  const size = widest(sizes, 8);
  // An id is never cut: what is shown is what `open` takes.
  const id = Math.max(1, ...ids.map(cellsOf));
  // Where there is no room for a title, the columns that are missed least go first.
  const gap = 2;
  let rest = width - id - gap;
  const shows = (cells: number): boolean => {
    if (rest - cells - gap < TITLE_CELLS_MIN + gap) return false;
    rest -= cells + gap;
    return true;
  };
  const isAged = shows(age);
  const isAgentShown = shows(agent);
  const isSized = shows(size);
  rest = Math.max(0, rest - gap);
  const folder = rest >= 50 ? Math.min(widest(folders, 40), Math.floor(rest * 0.4)) : 0;
  const title = Math.max(TITLE_CELLS_MIN, rest - (folder > 0 ? folder + gap : 0));
  return found.map((f, i) => {
    const cells: string[] = [];
    if (isAged) cells.push(column(ages[i] ?? "", age));
    if (isAgentShown) cells.push(column(f.agent, agent));
    cells.push(column(titles[i] ?? "", title));
    if (folder > 0) cells.push(column(folders[i] ?? "", folder));
    if (isSized) cells.push((sizes[i] ?? "").padStart(size));
    cells.push(ids[i] ?? "");
    return cells.join(" ".repeat(gap)).trimEnd();
  });
}

/** Prints the list; with `json`, one session a line as JSON. Reads the head and the tail of each file shown, never a whole one. */
export async function runList(io: Io, options: ListOptions): Promise<number> {
  const problems: string[] = [];
  const all = await findSessions(io, options.agent, (path, message) => problems.push(`${path}: ${message}`));
  const limit = options.limit ?? (io.out.isTTY && options.json !== true ? TERMINAL_SESSIONS_MAX : all.length);
  const { found, infos, left } = await chooseListed(io, all, limit, options);
  if (options.json === true) {
    for (const [i, session] of found.entries()) {
      if (!(await io.out.write(`${JSON.stringify({ ...session, ...infos[i] })}\n`))) break;
    }
  } else if (found.length === 0 && all.length > 0) {
    await io.out.write(
      `None of ${all.length === 1 ? "1 session" : `${all.length} sessions`} is like that.\n`,
    );
  } else if (found.length === 0) {
    await io.out.write("No sessions found. Looked in:\n");
    for (const { label, roots } of sourceRoots(io.around, options.agent)) {
      for (const root of roots.slice(0, ROOTS_MAX)) await io.out.write(`  ${sanitizeLine(root)}\n`);
      if (roots.length > ROOTS_MAX)
        await io.out.write(`  … and ${roots.length - ROOTS_MAX} more places of ${label}\n`);
    }
    await io.out.write(
      "`hansard demo` shows one made on the spot; `hansard open <path>` opens a file from anywhere.\n",
    );
  } else {
    const starts = new Map(uniqueStarts(all.map((session) => session.id)).map((start, i) => [all[i], start]));
    const ids = found.map((session) => starts.get(session) ?? session.id);
    const lines = rows(infos, found, ids, io, io.out.columns ?? 160);
    if (left === undefined) lines.push("", "… more may be like that (--limit)");
    else if (left > 0) lines.push("", `… ${left} more (hansard list --limit ${found.length + left})`);
    if (io.out.isTTY) lines.push("", "hansard open <id> shows one; `hansard open last` the newest.");
    await io.out.write(`${lines.join("\n")}\n`);
  }
  for (const problem of problems) await io.err.write(`hansard: not listed: ${sanitizeLine(problem)}\n`);
  return exitCodes.ok;
}
