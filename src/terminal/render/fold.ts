/** Text folded to a few rows, with what is hidden said. Costs what is shown and a count of the rest. */
import {
  binaryKind,
  type Line,
  looksBinary,
  rowsOf,
  type SafeLine,
  sanitizeLines,
  splitRows,
  type Tone,
} from "../text/index.ts";
import { formatBytes, formatCount, plural } from "./format.ts";
import { codeLines, fitLine, tone, widest } from "./layout.ts";

export interface FoldOptions {
  readonly width: number;
  readonly indent: number;
  /** Rows shown at most, of them `tailRows` from the end; Infinity unfolds. */
  readonly rowsMax: number;
  readonly tailRows: number;
  readonly moreKey: string;
  readonly tone?: Tone;
}

/** The hint that stands for hidden lines, at the greatest length that fits. */
export function moreHint(what: string, short: string, key: string, width: number): string {
  return widest([`… ${what} (${key})`, `… ${short} (${key})`, `… ${short}`, "…"], width);
}

/** The row that says how much is hidden. */
export function hintLine(what: string, short: string, key: string, width: number, indent: number): Line {
  const lead = " ".repeat(indent);
  return fitLine([{ text: lead }, tone(moreHint(what, short, key, Math.max(1, width - indent)), "dim")]);
}

/** Where the text of `text` ends, line feeds and blanks at its end left off. */
function contentEnd(text: string): number {
  let end = text.length;
  while (end > 0 && " \t\r\n".includes(text[end - 1]!)) end -= 1;
  return end;
}

export function countLines(text: string, from: number, to: number): number {
  if (from >= to) return 0;
  let count = 1;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Code units of a raw line that surely cover `rows` rows, escape sequences and marks included; the rest is not looked at. */
function unitsFor(rows: number, width: number): number {
  return rows * width * 8 + 1024;
}

interface Shown {
  readonly lines: readonly Line[];
  readonly rows: number;
  /** Code units of the line that are not shown. */
  readonly hiddenUnits: number;
}

class Folder {
  private readonly options: FoldOptions;
  private readonly lead: string;

  constructor(options: FoldOptions) {
    this.options = options;
    this.lead = " ".repeat(options.indent);
  }

  /** One raw line in at most `rowsMax` rows, from its start. */
  line(raw: string, rowsMax: number): Shown {
    const { width } = this.options;
    const isWhole = rowsMax === Number.POSITIVE_INFINITY;
    const reach = isWhole ? raw.length : Math.min(raw.length, unitsFor(rowsMax, width));
    const safe = sanitizeLines(raw.slice(0, reach), {
      sgr: "keep",
      whole: isWhole,
      overwritten: "last",
    }).flat();
    const lines = this.styled(safe);
    const rows = lines.reduce((sum, line) => sum + rowsOf(line, width), 0);
    if (isWhole || (rows <= rowsMax && reach === raw.length)) return { lines, rows, hiddenUnits: 0 };
    const cut = lines.flatMap((line) => splitRows(line, width)).slice(0, rowsMax);
    const shown = cut.reduce(
      (sum, line) => sum + line.spans.reduce((all, span) => all + span.text.length, 0),
      0,
    );
    return {
      lines: cut,
      rows: cut.length,
      hiddenUnits: Math.max(1, raw.length - Math.max(0, shown - this.lead.length)),
    };
  }

  private styled(safe: SafeLine): readonly Line[] {
    const base = this.options.tone;
    const spans =
      base === undefined
        ? safe
        : safe.map((span) => (span.tone === undefined ? { ...span, tone: base } : span));
    return codeLines(spans.length === 0 ? [] : [{ text: this.lead }, ...spans], this.options.width);
  }
}

/** Lines of `text` (a tool's output) within the limits of `options`, and a hint in the place of what is left out. */
export function foldedLines(text: string, options: FoldOptions): readonly Line[] {
  const end = contentEnd(text);
  if (end === 0) return [];
  const isFolded = options.rowsMax !== Number.POSITIVE_INFINITY;
  if (isFolded && looksBinary(text)) {
    const lead = " ".repeat(options.indent);
    const what = `${binaryKind(text)}, ${formatBytes(text.length)}`;
    return [
      fitLine([
        { text: lead },
        tone(
          widest(
            [`${what} (${options.moreKey})`, what, "binary"],
            Math.max(1, options.width - options.indent),
          ),
          "danger",
        ),
      ]),
    ];
  }
  const folder = new Folder(options);
  const head: Line[] = [];
  let rows = 0;
  let at = firstLine(text);
  const headMax = options.rowsMax - options.tailRows;
  // The tail is only parted from the head where not all fits.
  while (at < end && rows < options.rowsMax) {
    const to = lineEnd(text, at, end);
    const shown = folder.line(text.slice(at, to), options.rowsMax - rows);
    const isLast = to >= end && shown.hiddenUnits === 0;
    if (isLast) return [...head, ...shown.lines];
    if (rows + shown.rows > headMax && options.tailRows > 0) break;
    head.push(...shown.lines);
    rows += shown.rows;
    at = to + 1;
    if (shown.hiddenUnits > 0)
      return [...head, cutHint(shown.hiddenUnits, countLines(text, at, end), options)];
  }
  if (at >= end) return head;
  if (options.tailRows === 0) return [...head, linesHint(countLines(text, at, end), options)];
  return headAndTail(text, at, end, head, folder, options);
}

/** The first line with text: blank lines in front of an output are not worth a row. */
function firstLine(text: string): number {
  const match = /^(?:[ \t\r]*\n)+/.exec(text.slice(0, 4096));
  return match === null ? 0 : match[0].length;
}

function lineEnd(text: string, at: number, end: number): number {
  const to = text.indexOf("\n", at);
  return to === -1 || to > end ? end : to;
}

function headAndTail(
  text: string,
  from: number,
  end: number,
  head: readonly Line[],
  folder: Folder,
  options: FoldOptions,
): readonly Line[] {
  const tail: Line[] = [];
  let rows = 0;
  let to = end;
  const tailMax = Math.max(options.tailRows, options.rowsMax - head.length - 1);
  while (to > from && rows < tailMax) {
    const start = Math.max(from, text.lastIndexOf("\n", to - 1) + 1);
    const shown = folder.line(text.slice(start, to), tailMax - rows);
    if (shown.hiddenUnits > 0 && tail.length > 0) break;
    tail.unshift(...shown.lines);
    rows += shown.rows;
    to = start - 1;
    if (shown.hiddenUnits > 0) {
      const hidden = countLines(text, from, to);
      return [
        ...head,
        ...(hidden > 0 ? [linesHint(hidden, options)] : []),
        ...tail,
        cutHint(shown.hiddenUnits, 0, options),
      ];
    }
  }
  const hidden = countLines(text, from, to);
  return hidden > 0 ? [...head, linesHint(hidden, options), ...tail] : [...head, ...tail];
}

function linesHint(count: number, options: FoldOptions): Line {
  return hintLine(
    `${plural(count, "line")} more`,
    `${formatCount(count)} more`,
    options.moreKey,
    options.width,
    options.indent,
  );
}

function cutHint(units: number, lines: number, options: FoldOptions): Line {
  const rest = `${plural(units, "character")} of the line`;
  const what = lines > 0 ? `${rest} and ${plural(lines, "line")} more` : `${rest} more`;
  return hintLine(what, `${formatCount(units)} more`, options.moreKey, options.width, options.indent);
}
