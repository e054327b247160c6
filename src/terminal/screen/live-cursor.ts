/** The person's cursor in the live region: where it is to stand, and where it is found after the terminal wrapped its rows anew. */
import type { Line } from "../text/index.ts";
import { liveRows } from "./rows.ts";
import type { CursorPlace, LiveCursor } from "./types.ts";

export const hideCursor = "\x1b[?25l";
export const showCursor = "\x1b[?25h";

/** A place in the rows of the live region, both from 0. */
export interface RowPlace {
  readonly row: number;
  readonly column: number;
}

/** The row of `count` drawn ones, and the column, that a cursor in `lines` has; undefined where its line is not shown. */
export function placeInRows(
  lines: readonly Line[],
  cursor: LiveCursor | undefined,
  columns: number,
  count: number,
): RowPlace | undefined {
  if (cursor === undefined) return undefined;
  const below = liveRows(lines.slice(cursor.line + 1), columns, count).length;
  const row = count - 1 - below;
  return row < 0 ? undefined : { row, column: Math.max(0, Math.min(cursor.column, columns - 1)) };
}

export function isSamePlace(a: RowPlace | undefined, b: RowPlace | undefined): boolean {
  return a?.row === b?.row && a?.column === b?.column;
}

/** From the start of the last of `count` rows to `place`, shown. */
export function goToPlace({ row, column }: RowPlace, count: number): string {
  const up = count - 1 - row;
  return `${up <= 0 ? "" : `\x1b[${up}A`}${column === 0 ? "" : `\x1b[${column}C`}${showCursor}`;
}

/** From `place` to the start of the last of `count` rows. */
export function leavePlace({ row }: RowPlace, count: number): string {
  const down = count - 1 - row;
  return `${down <= 0 ? "" : `\x1b[${down}B`}\r`;
}

/**
 * How many rows below the start of its live row a cursor that was left in `column` (from 0) is, as `found` tells. Where the terminal
 * wrapped that row, it went on to a row below, or stayed at the edge; where both would leave it in the last column, it counts as having
 * stayed, since what is above it may be printed. Undefined where it is not where it was left.
 */
export function rowsIntoLine(column: number, found: CursorPlace, columns: number): number | undefined {
  if (column < columns) return found.column === column + 1 ? 0 : undefined;
  if (found.column === columns) return 0;
  return found.column === (column % columns) + 1 ? Math.floor(column / columns) : undefined;
}

/** Whether a cursor that was left in `column` is in the last one whether its row was wrapped or cut. */
export function isEdgeUnsure(column: number, columns: number): boolean {
  return column >= columns && column % columns === columns - 1;
}
