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

/** The cursor that a position means in these rows. Throws `bad-position` where its entry is not there. */
export function locate(rows: readonly NamedRow[], position: Position): Cursor {
  const parsed = parseNamedPosition(position);
  if (parsed.type === "start") return { row: 0, ordinal: 0 };
  const found = findEntry(rows, parsed.name);
  if (!found) throw badPosition(position, "no entry of this log has that name (any more)");
  if (parsed.type === "before") return found;
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
  const entries: Entry[] = [];
  const positions: Position[] = [];
  const shown: R[] = [];
  for (let row = from.row; row < rows.length && (row < to.row || (row === to.row && to.ordinal > 0)); row++) {
    const first = row === from.row ? from.ordinal : 0;
    const end = row === to.row ? to.ordinal : rows[row]!.entryCount;
    if (first >= end) continue;
    const all = await reader.read(rows[row]!);
    shown.push(rows[row]!);
    for (const entry of all.slice(first, end)) {
      entries.push(entry);
      positions.push(beforeName(entry.name));
    }
  }
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
