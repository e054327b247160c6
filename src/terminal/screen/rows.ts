/** Lines to the rows that are written, and their sizes on a terminal. */
import {
  cellsOf,
  graphemes,
  hasUncertainWidth,
  type Line,
  rowsOf,
  spansCells,
  splitRows,
} from "../text/index.ts";

/** Cells that rows of ours may take: the last column stays free, so that no row ends in the bottom-right cell. */
export function roomOf(columns: number): number {
  return Math.max(1, columns - 1);
}

function isUncertain(line: Line): boolean {
  return line.spans.some((span) => hasUncertainWidth(span.text));
}

/**
 * The lines as they are written to a terminal of `columns`: flow lines whole, so that the terminal wraps them; lines that are too wide
 * or of uncertain width in rows that surely fit.
 */
export function printable(lines: readonly Line[], columns: number): readonly Line[] {
  const room = roomOf(columns);
  return lines.flatMap((line) => {
    if (line.wrap === "flow" && !isUncertain(line)) return [line];
    return spansCells(line.spans) <= room ? [line] : splitRows({ ...line, wrap: "flow" }, room);
  });
}

/** Rows of the live region: each takes exactly one row of the terminal; at most `rowsMax`, the last ones. */
export function liveRows(lines: readonly Line[], columns: number, rowsMax: number): readonly Line[] {
  const room = roomOf(columns);
  const rows: Line[] = [];
  for (let index = lines.length - 1; index >= 0 && rows.length < rowsMax; index--) {
    const line = lines[index]!;
    const split = spansCells(line.spans) <= room ? [line] : splitRows({ ...line, wrap: "flow" }, room);
    rows.unshift(...split.slice(-(rowsMax - rows.length)));
  }
  return rows;
}

/** The rows that a terminal of `columns` may give to written lines: `least` and `most` differ where widths are uncertain. */
export interface RowRange {
  readonly least: number;
  readonly most: number;
}

function leastCells(line: Line): number {
  let total = 0;
  for (const span of line.spans) {
    if (!hasUncertainWidth(span.text)) {
      total += cellsOf(span.text);
      continue;
    }
    for (const grapheme of graphemes(span.text)) {
      const cells = cellsOf(grapheme);
      total += hasUncertainWidth(grapheme) ? Math.min(1, cells) : cells;
    }
  }
  return total;
}

/** The rows that written lines take on a terminal of `columns` once it has wrapped them for that width. */
export function rowsOfAll(lines: readonly Line[], columns: number): RowRange {
  let least = 0;
  let most = 0;
  for (const line of lines) {
    const rows = rowsOf(line, columns);
    most += rows;
    least += isUncertain(line) ? Math.max(1, Math.ceil(leastCells(line) / columns)) : rows;
  }
  return { least, most };
}

/** What the first `count` rows show that `lines` take on a terminal of `columns`. */
export function firstRows(lines: readonly Line[], columns: number, count: number): readonly Line[] {
  const first: Line[] = [];
  let left = count;
  for (const line of lines) {
    if (left <= 0) break;
    const rows = rowsOf(line, columns);
    if (rows <= left) first.push(line);
    else first.push(...splitRows({ ...line, wrap: "flow" }, columns).slice(0, left));
    left -= rows;
  }
  return first;
}
