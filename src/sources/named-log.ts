/**
 * What logs have in common whose entries have names and whose order is kept in memory (Gemini CLI chats, messages directories): pages and
 * following over a list of rows, each row being one or more neighbouring entries.
 */
import type { Entry } from "../transcript/index.ts";
import { PAGE_ENTRIES_MAX } from "./limits.ts";
import { afterName, beforeName, parseNamedPosition } from "./named-position.ts";
import { badPosition } from "./position.ts";
import type { DamageNote, Page, Position } from "./types.ts";

/** A row of a named log. */
export interface NamedRow {
  readonly name: string;
  readonly entryCount: number;
}

/** A place between two entries: before entry `ordinal` of row `row`; the end is one past the last row. */
export interface Cursor {
  readonly row: number;
  readonly ordinal: number;
}

export interface RowReader<R extends NamedRow> {
  readonly rows: readonly R[];
  /** Told of all rows of a page before the first is read. */
  prepare?(rows: readonly R[]): Promise<void>;
  /** The row's entries, as many as its `entryCount`. */
  read(row: R): Promise<readonly Entry[]>;
  damage(rows: readonly R[]): readonly DamageNote[];
  /** Names the state of the log for positions after an entry. */
  state(): string;
}

/** The name of a row's entry. */
export function entryName(row: NamedRow, ordinal: number): string {
  return ordinal === 0 ? row.name : `${row.name}.${ordinal}`;
}

/**
 * The cursor that a position means in these rows. `missing` may know a place for an entry that is not there; otherwise `bad-position` is
 * thrown.
 */
export function locate(
  rows: readonly NamedRow[],
  position: Position,
  missing: (name: string) => Cursor | undefined = () => undefined,
): Cursor {
  const parsed = parseNamedPosition(position);
  if (parsed.type === "start") return { row: 0, ordinal: 0 };
  const found = findEntry(rows, parsed.name);
  const other = found ?? missing(parsed.name);
  if (!other) throw badPosition(position, "no entry of this log has that name (any more)");
  if (!found || parsed.type === "before") return other;
  return normalise(rows, { row: found.row, ordinal: found.ordinal + 1 });
}

function findEntry(rows: readonly NamedRow[], name: string): Cursor | undefined {
  const whole = rows.findIndex((r) => r.name === name);
  if (whole !== -1) return { row: whole, ordinal: 0 };
  const match = /^(.+)\.([1-9]\d{0,6})$/s.exec(name);
  if (!match) return undefined;
  const row = rows.findIndex((r) => r.name === match[1]);
  const ordinal = Number(match[2]);
  return row !== -1 && ordinal < (rows[row]?.entryCount ?? 0) ? { row, ordinal } : undefined;
}

function normalise(rows: readonly NamedRow[], cursor: Cursor): Cursor {
  let { row, ordinal } = cursor;
  while (row < rows.length && ordinal >= rows[row]!.entryCount) {
    row += 1;
    ordinal = 0;
  }
  return { row, ordinal };
}

/** The cursor just after the last entry. */
export function endOf(rows: readonly NamedRow[]): Cursor {
  return { row: rows.length, ordinal: 0 };
}

/** The page of at most `limit` entries that ends at the cursor. */
export async function pageBefore<R extends NamedRow>(
  reader: RowReader<R>,
  cursor: Cursor,
  limit: number,
): Promise<Page> {
  const rows = reader.rows;
  let room = clampLimit(limit);
  let { row, ordinal } = cursor;
  while (room > 0) {
    if (ordinal > 0) {
      const step = Math.min(room, ordinal);
      ordinal -= step;
      room -= step;
    } else if (row > 0) {
      row -= 1;
      ordinal = rows[row]!.entryCount;
    } else break;
  }
  return readPage(reader, normalise(rows, { row, ordinal }), cursor);
}

/** The page of at most `limit` entries that begins at the cursor. */
export async function pageAfter<R extends NamedRow>(
  reader: RowReader<R>,
  cursor: Cursor,
  limit: number,
): Promise<Page> {
  const rows = reader.rows;
  let room = clampLimit(limit);
  let { row, ordinal } = cursor;
  while (room > 0 && row < rows.length) {
    const step = Math.min(room, rows[row]!.entryCount - ordinal);
    ordinal += step;
    room -= step;
    if (ordinal < rows[row]!.entryCount) break;
    row += 1;
    ordinal = 0;
  }
  return readPage(reader, cursor, { row, ordinal });
}

function clampLimit(limit: number): number {
  return Math.max(0, Math.min(Math.floor(limit), PAGE_ENTRIES_MAX));
}

async function readPage<R extends NamedRow>(reader: RowReader<R>, from: Cursor, to: Cursor): Promise<Page> {
  const rows = reader.rows;
  const parts: { readonly row: R; readonly first: number; readonly end: number }[] = [];
  for (let at = from.row; at < rows.length && (at < to.row || (at === to.row && to.ordinal > 0)); at++) {
    const row = rows[at]!;
    const first = at === from.row ? from.ordinal : 0;
    const end = at === to.row ? to.ordinal : row.entryCount;
    if (first < end) parts.push({ row, first, end });
  }
  const shown = parts.map((p) => p.row);
  await reader.prepare?.(shown);
  const entries: Entry[] = [];
  for (const { row, first, end } of parts) entries.push(...(await reader.read(row)).slice(first, end));
  const positions = entries.map((e) => beforeName(e.name));
  const isAtEnd = to.row >= rows.length;
  return {
    entries,
    positions,
    start: positions[0] ?? positionAt(rows, from),
    end: isAtEnd ? afterName(lastName(rows, to), reader.state()) : positionAt(rows, to),
    atStart: isStart(rows, from),
    atEnd: isAtEnd,
    damage: reader.damage(shown),
  };
}

function isStart(rows: readonly NamedRow[], cursor: Cursor): boolean {
  if (cursor.ordinal > 0) return false;
  for (let row = 0; row < Math.min(cursor.row, rows.length); row++)
    if (rows[row]!.entryCount > 0) return false;
  return true;
}

function lastName(rows: readonly NamedRow[], before: Cursor): string | undefined {
  if (before.ordinal > 0) return entryName(rows[before.row]!, before.ordinal - 1);
  for (let row = Math.min(before.row, rows.length) - 1; row >= 0; row--) {
    const found = rows[row]!;
    if (found.entryCount > 0) return entryName(found, found.entryCount - 1);
  }
  return undefined;
}

/** The position of a cursor: after the entry before it, so that it holds whatever comes next. */
function positionAt(rows: readonly NamedRow[], cursor: Cursor): Position {
  return afterName(lastName(rows, cursor));
}
