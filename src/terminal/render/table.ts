/** Tables laid out to a width: columns aligned and shrunk, cells wrapped; as a list of fields where columns cannot be. */
import { type Line, type Span, spansCells, wrapWords } from "../text/index.ts";
import { blankLine, fitLine, tone, trimEnd, wrapped } from "./layout.ts";

export type Alignment = "left" | "right" | "center" | null;

export interface Table {
  readonly header: readonly (readonly Span[])[];
  readonly rows: readonly (readonly (readonly Span[])[])[];
  readonly align: readonly Alignment[];
}

const gapCells = 2;
const columnCellsMin = 4;

/** Widths of at most `room` cells together: the widest columns give way first. Undefined where they would be too narrow to read. */
function columnWidths(natural: readonly number[], room: number): readonly number[] | undefined {
  const least = natural.map((width) => Math.min(width, columnCellsMin));
  const sum = (widths: readonly number[]): number => widths.reduce((total, width) => total + width, 0);
  if (sum(least) > room) return undefined;
  let cap = Math.max(...natural, 1);
  let low = 1;
  const capped = (limit: number): readonly number[] =>
    natural.map((width, index) => Math.max(least[index]!, Math.min(width, limit)));
  if (sum(natural) <= room) return natural;
  while (low < cap) {
    const middle = Math.ceil((low + cap) / 2);
    if (sum(capped(middle)) <= room) low = middle;
    else cap = middle - 1;
  }
  return capped(low);
}

function aligned(spans: readonly Span[], width: number, align: Alignment): readonly Span[] {
  const free = Math.max(0, width - spansCells(spans));
  const before = align === "right" ? free : align === "center" ? Math.floor(free / 2) : 0;
  return [{ text: " ".repeat(before) }, ...spans, { text: " ".repeat(free - before) }];
}

function rowLines(
  cells: readonly (readonly Span[])[],
  widths: readonly number[],
  align: readonly Alignment[],
): readonly Line[] {
  const wrappedCells = widths.map((width, index) => wrapWords(cells[index] ?? [], Math.max(1, width)));
  const height = Math.max(1, ...wrappedCells.map((rows) => rows.length));
  const lines: Line[] = [];
  for (let row = 0; row < height; row++) {
    const spans = widths.flatMap((width, index) => [
      ...(index === 0 ? [] : [{ text: " ".repeat(gapCells) }]),
      ...aligned(wrappedCells[index]![row] ?? [], width, align[index] ?? null),
    ]);
    lines.push(fitLine(trimEnd(spans)));
  }
  return lines;
}

/** Each row as a list of `header: value`, for widths where columns have no room. */
function recordLines(table: Table, width: number): readonly Line[] {
  const lines: Line[] = [];
  for (const [number, row] of table.rows.entries()) {
    if (number > 0) lines.push(blankLine);
    for (const [index, cell] of row.entries()) {
      const name = (table.header[index] ?? []).map((span) => ({ ...span, bold: true }));
      lines.push(...wrapped([...name, tone(": ", "dim"), ...cell], width));
    }
  }
  if (table.rows.length === 0) lines.push(...table.header.flatMap((cell) => wrapped(cell, width)));
  return lines;
}

/** `table` in at most `width` cells. */
export function tableLines(table: Table, width: number): readonly Line[] {
  const natural = table.header.map((cell, index) =>
    Math.max(1, spansCells(cell), ...table.rows.map((row) => spansCells(row[index] ?? []))),
  );
  const widths = columnWidths(natural, width - gapCells * (natural.length - 1));
  if (widths === undefined) return recordLines(table, width);
  const header = table.header.map((cell) => cell.map((span) => ({ ...span, bold: true })));
  const rule = widths.flatMap((cells, index) => [
    ...(index === 0 ? [] : [{ text: " ".repeat(gapCells) }]),
    tone("─".repeat(cells), "rule"),
  ]);
  return [
    ...rowLines(header, widths, table.align),
    fitLine(rule),
    ...table.rows.flatMap((row) => rowLines(row, widths, table.align)),
  ];
}
