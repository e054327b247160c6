/** The text of a prompt in rows of a width, and where the cursor is in them. */
import { cellsOf, cutCells, joinSpans, type Span, sanitizeLine } from "../text/index.ts";
import { atomsOf, chipIndexOf } from "./atoms.ts";
import { countLines } from "./chips.ts";
import type { Editor } from "./types.ts";

/** One atom as it is drawn. */
interface Cell {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly cells: number;
  readonly isChip: boolean;
  readonly isBlank: boolean;
}

/** A row: the atoms `[start, end)` of the text; `end` is before the line feed where a line ends with it. */
export interface TextRow {
  readonly start: number;
  readonly end: number;
  readonly cells: number;
  readonly spans: readonly Span[];
  /** Borders between atoms with their columns, the row's end included. */
  readonly borders: readonly { readonly offset: number; readonly column: number }[];
  /** The next row goes on with the same line. */
  readonly isContinued: boolean;
}

export interface TextPlace {
  /** From 0. */
  readonly row: number;
  /** Cells from the start of the row. */
  readonly column: number;
}

const tabCells = 4;

function chipLabel(text: string): string {
  const lines = countLines(text);
  const size = lines > 1 ? `${lines} lines` : `${text.length} characters`;
  return `[pasted ${size}]`;
}

function drawnAtom(atom: string, chips: ReadonlyMap<number, string>): { text: string; isChip: boolean } {
  const chip = chipIndexOf(atom);
  if (chip !== undefined) return { text: chipLabel(chips.get(chip) ?? ""), isChip: true };
  if (atom === "\t") return { text: " ".repeat(tabCells), isChip: false };
  const safe = sanitizeLine(atom);
  // A mark without a base would join what stands before it.
  return { text: cellsOf(safe) === 0 ? `◌${safe}` : safe, isChip: false };
}

function cellOf(atom: string, start: number, width: number, chips: ReadonlyMap<number, string>): Cell {
  const { text, isChip } = drawnAtom(atom, chips);
  const cells = cellsOf(text);
  const shown = cells <= width ? text : isChip || atom === "\t" ? cutCells(text, width) : "▯";
  return {
    start,
    end: start + atom.length,
    text: shown,
    cells: cellsOf(shown),
    isChip,
    isBlank: /^\s/u.test(atom),
  };
}

function rowOf(cells: readonly Cell[], start: number, isContinued: boolean): TextRow {
  const borders = [{ offset: start, column: 0 }];
  const spans: Span[] = [];
  let column = 0;
  let end = start;
  for (const cell of cells) {
    column += cell.cells;
    end = cell.end;
    borders.push({ offset: end, column });
    spans.push(cell.isChip ? { text: cell.text, tone: "code" } : { text: cell.text });
  }
  return { start, end, cells: column, spans: joinSpans(spans), borders, isContinued };
}

/** How many of `cells` stay in a row that is full: up to the last blank, or all of them. */
function breakAt(cells: readonly Cell[]): number {
  for (let index = cells.length; index > 0; index--) if (cells[index - 1]!.isBlank) return index;
  return cells.length;
}

function* rowsOfLine(
  line: string,
  start: number,
  width: number,
  chips: ReadonlyMap<number, string>,
): Generator<TextRow> {
  let row: Cell[] = [];
  let rowStart = start;
  let used = 0;
  let at = start;
  for (const atom of atomsOf(line)) {
    const cell = cellOf(atom, at, width, chips);
    at = cell.end;
    if (used + cell.cells > width && row.length > 0) {
      const count = cell.isBlank ? row.length : breakAt(row);
      yield rowOf(row.slice(0, count), rowStart, true);
      row = row.slice(count);
      rowStart = row[0]?.start ?? cell.start;
      used = row.reduce((sum, { cells }) => sum + cells, 0);
      if (used + cell.cells > width && row.length > 0) {
        yield rowOf(row, rowStart, true);
        row = [];
        rowStart = cell.start;
        used = 0;
      }
    }
    row.push(cell);
    used += cell.cells;
  }
  yield rowOf(row, rowStart, false);
}

/** The rows of the text, none wider than `width` cells (1 at least), broken after blanks where there are some. Linear in the text. */
export function layOut({ text, chips }: Pick<Editor, "text" | "chips">, width: number): readonly TextRow[] {
  const room = Math.max(1, width);
  const rows: TextRow[] = [];
  let start = 0;
  for (const line of text.split("\n")) {
    rows.push(...rowsOfLine(line, start, room, chips));
    start += line.length + 1;
  }
  return rows;
}

/** The place of `offset`, a border: where a row is full, the start of the next one. */
export function placeOf(rows: readonly TextRow[], offset: number): TextPlace {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (rows[middle]!.start <= offset) low = middle;
    else high = middle - 1;
  }
  const border = rows[low]!.borders.findLast((each) => each.offset <= offset);
  return { row: low, column: border?.column ?? 0 };
}

/** The border in `row` that is nearest to `column` from the left. */
export function offsetAt(rows: readonly TextRow[], row: number, column: number): number {
  const found = rows[row]!;
  // The end of a row that is continued is the start of the next one.
  const borders = found.isContinued ? found.borders.slice(0, -1) : found.borders;
  return borders.findLast((each) => each.column <= column)?.offset ?? found.start;
}
