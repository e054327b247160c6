/** Lines into rows: word wrap for prose, hard wrap for code, and where a terminal itself breaks a long line. */
import { breakGrapheme, cellsOf, firstGrapheme, graphemes, isPlainAscii, takeCells } from "./cells.ts";
import type { Line, Span } from "./types.ts";

/** The cells of all spans of a line together. */
export function spansCells(spans: readonly Span[]): number {
  let total = 0;
  for (const span of spans) total += cellsOf(span.text);
  return total;
}

/** `span` with another text; its style stays. */
export function withText(span: Span, text: string): Span {
  return { ...span, text };
}

/** Collects spans into rows of at most `width` cells. */
class RowBuilder {
  readonly rows: Span[][] = [];
  readonly width: number;
  row: Span[] = [];
  col = 0;

  constructor(width: number) {
    this.width = Math.max(1, width);
  }

  add(span: Span, width: number): void {
    this.row.push(span);
    this.col += width;
  }

  breakRow(): void {
    this.rows.push(this.row);
    this.row = [];
    this.col = 0;
  }

  /** Adds a span of any width, breaking rows where they are full and never inside a grapheme that fits a row. */
  addHard(span: Span): void {
    let text = span.text;
    while (text !== "") {
      const cut = takeCells(text, this.width - this.col);
      if (cut.head !== "") {
        this.add(cut.rest === "" ? withText(span, text) : withText(span, cut.head), cut.cells);
        text = cut.rest;
        if (text === "") return;
      }
      const next = firstGrapheme(text);
      if (cellsOf(next) > this.width) {
        this.addBroken(span, next);
        text = text.slice(next.length);
      } else {
        this.breakRow();
      }
    }
  }

  /** Adds a grapheme that is wider than a row, in parts. */
  private addBroken(span: Span, grapheme: string): void {
    for (const part of breakGrapheme(grapheme, this.width)) {
      const width = cellsOf(part);
      if (this.col + width > this.width) this.breakRow();
      this.add(withText(span, part), width);
    }
  }

  finish(): Span[][] {
    this.rows.push(this.row);
    return this.rows;
  }
}

/** Rows of at most `width` cells, broken wherever a row is full. An empty line is one empty row. */
export function wrapHard(spans: readonly Span[], width: number): readonly Span[][] {
  const builder = new RowBuilder(width);
  for (const span of spans) builder.addHard(span);
  return builder.finish();
}

/** The rows a terminal of `width` columns uses for `line`: exact for a flow line of certain widths, 1 at least. */
export function rowsOf(line: Line, width: number): number {
  const columns = Math.max(1, width);
  let rows = 1;
  let col = 0;
  for (const span of line.spans) {
    if (isPlainAscii(span.text)) {
      const end = col + span.text.length;
      const full = Math.max(0, Math.ceil(end / columns) - 1);
      rows += full;
      col = end - full * columns;
      continue;
    }
    for (const grapheme of graphemes(span.text)) {
      const own = cellsOf(grapheme);
      const parts = own > columns ? breakGrapheme(grapheme, columns) : [grapheme];
      for (const part of parts) {
        const partCells = parts.length === 1 && own <= columns ? own : cellsOf(part);
        if (col + partCells > columns) {
          rows += 1;
          col = 0;
        }
        col += partCells;
      }
    }
  }
  return rows;
}

/** `line` as rows of at most `width` cells, each a `fit` line: what a terminal of that width shows of it. */
export function splitRows(line: Line, width: number): readonly Line[] {
  if (line.wrap === "fit" && spansCells(line.spans) <= width) return [line];
  return wrapHard(line.spans, width).map((spans) => ({ spans, wrap: "fit" }));
}

/** A run of characters that stays together, or the space between two of them. */
interface Unit {
  readonly pieces: readonly Span[];
  readonly cells: number;
  readonly isSpace: boolean;
}

const ideograph =
  /[\u2e80-\u2fdf\u3000-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60]|[\u{20000}-\u{3ffff}]/u;
/** Characters that may not begin a row, and ones that may not end it. */
const closing =
  /^[、。，．：；？！）］｝〉》」』】〕〗〙〛’”％ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ…‥,.:;?!)\]}»›]/u;
const opening = /[（［｛〈《「『【〔〖〘〚‘“([{«‹]$/u;
const chunk = / +|[^ ]+/g;
/** Cells that an indent must leave for the text behind it. */
const indentRoomMin = 8;

/** Splits a word at the places between ideographs where a row may end. */
function splitIdeographs(word: string): readonly string[] {
  if (!ideograph.test(word)) return [word];
  const parts: string[] = [];
  let part = "";
  let wasIdeograph = false;
  for (const grapheme of graphemes(word)) {
    const isIdeograph = ideograph.test(grapheme);
    const mayBreak = (isIdeograph || wasIdeograph) && !closing.test(grapheme) && !opening.test(part);
    if (part !== "" && mayBreak) {
      parts.push(part);
      part = "";
    }
    part += grapheme;
    wasIdeograph = isIdeograph;
  }
  parts.push(part);
  return parts;
}

function* unitsOf(spans: readonly Span[]): Generator<Unit> {
  let pieces: Span[] = [];
  let width = 0;
  const word = (): Unit => ({ pieces, cells: width, isSpace: false });
  for (const span of spans) {
    for (const [run] of span.text.matchAll(chunk)) {
      if (run.startsWith(" ")) {
        if (pieces.length > 0) yield word();
        pieces = [];
        width = 0;
        yield { pieces: [withText(span, run)], cells: run.length, isSpace: true };
        continue;
      }
      const parts = splitIdeographs(run);
      for (const [index, part] of parts.entries()) {
        pieces.push(withText(span, part));
        width += cellsOf(part);
        if (index === parts.length - 1) continue;
        yield word();
        pieces = [];
        width = 0;
      }
    }
  }
  if (pieces.length > 0) yield word();
}

/**
 * Rows of at most `width` cells, broken between words (and between ideographs). Spaces at a break are dropped, so a word that ends at
 * the edge leaves no blank row; spaces at the start of the line are kept as its indent. A word wider than a row is broken hard.
 */
export function wrapWords(spans: readonly Span[], width: number): readonly Span[][] {
  const [only] = spans;
  if (only !== undefined && spans.length === 1 && isPlainAscii(only.text))
    return wrapPlainWords(only, Math.max(1, width));
  const builder = new RowBuilder(width);
  let space: Unit | undefined;
  let isStart = true;
  for (const unit of unitsOf(spans)) {
    if (unit.isSpace) {
      // A second space run follows only where spans meet; both are kept within the row.
      space =
        space === undefined
          ? unit
          : { pieces: [...space.pieces, ...unit.pieces], cells: space.cells + unit.cells, isSpace: true };
      continue;
    }
    const gap = space?.cells ?? 0;
    if (builder.col + gap + unit.cells <= builder.width) {
      for (const piece of space?.pieces ?? []) builder.add(piece, cellsOf(piece.text));
      for (const piece of unit.pieces) builder.add(piece, cellsOf(piece.text));
    } else {
      // An indent stays in front of a word that must be broken anyway, where it leaves room; else the word comes first.
      const keepsIndent = isStart && unit.cells > builder.width && builder.width - gap >= indentRoomMin;
      if (keepsIndent) for (const piece of space?.pieces ?? []) builder.add(piece, cellsOf(piece.text));
      else if (builder.col > 0) builder.breakRow();
      for (const piece of unit.pieces) builder.addHard(piece);
    }
    space = undefined;
    isStart = false;
  }
  return builder.finish();
}

/** The same for one span of printable ASCII, where each row is a slice of it: megabytes of prose are laid out at once. */
function wrapPlainWords(span: Span, width: number): readonly Span[][] {
  const { text } = span;
  const rows: Span[][] = [];
  const addRow = (start: number, end: number): void => {
    rows.push(end > start ? [withText(span, text.slice(start, end))] : []);
  };
  let rowStart = 0;
  let rowEnd = 0;
  let isStart = true;
  for (let at = 0; ; ) {
    let wordStart = at;
    while (text.charCodeAt(wordStart) === 0x20) wordStart += 1;
    if (wordStart >= text.length) break;
    const space = text.indexOf(" ", wordStart);
    const wordEnd = space < 0 ? text.length : space;
    const gap = wordStart - at;
    if (wordEnd - rowStart > width) {
      const isWide = wordEnd - wordStart > width;
      const keepsIndent = isStart && isWide && width - gap >= indentRoomMin;
      if (!keepsIndent) {
        if (rowEnd > rowStart) addRow(rowStart, rowEnd);
        rowStart = wordStart;
      }
      for (; wordEnd - rowStart > width; rowStart += width) addRow(rowStart, rowStart + width);
    }
    rowEnd = wordEnd;
    isStart = false;
    at = wordEnd;
  }
  addRow(rowStart, rowEnd);
  return rows;
}

/** Spans of equal style next to each other made one. */
export function joinSpans(spans: readonly Span[]): readonly Span[] {
  const joined: Span[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (span.text === "") continue;
    if (last !== undefined && isSameStyle(last, span)) {
      joined[joined.length - 1] = withText(last, last.text + span.text);
    } else {
      joined.push(span);
    }
  }
  return joined;
}

/** True where two spans look alike. */
export function isSameStyle(a: Span, b: Span): boolean {
  return (
    (a.tone ?? "text") === (b.tone ?? "text") &&
    (a.bold ?? false) === (b.bold ?? false) &&
    (a.italic ?? false) === (b.italic ?? false) &&
    (a.underline ?? false) === (b.underline ?? false) &&
    (a.strike ?? false) === (b.strike ?? false) &&
    (a.inverse ?? false) === (b.inverse ?? false)
  );
}
