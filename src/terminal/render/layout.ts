/** Helpers that lay spans out into lines of a width. */
import {
  cellsOf,
  cutCells,
  hasUncertainWidth,
  joinSpans,
  type Line,
  type Span,
  spansCells,
  splitRows,
  type Tone,
  wrapHard,
  wrapWords,
} from "../text/index.ts";

/** A span of our own words in a tone. */
export function tone(text: string, name: Tone): Span {
  return { text, tone: name };
}

/** A row laid out for its width. */
export function fitLine(spans: readonly Span[]): Line {
  return { spans: joinSpans(spans), wrap: "fit" };
}

/** The empty row. */
export const blankLine: Line = { spans: [], wrap: "fit" };

/** A blank column of the usual indent, narrower where the width leaves little. */
export function indentOf(width: number, wanted: number): number {
  return Math.max(0, Math.min(wanted, Math.floor(width / 4)));
}

/** `spans` without blanks at their end. */
export function trimEnd(spans: readonly Span[]): readonly Span[] {
  const trimmed = [...spans];
  while (trimmed.length > 0) {
    const last = trimmed.at(-1)!;
    const text = last.text.replace(/ +$/, "");
    if (text === last.text) break;
    if (text === "") {
      trimmed.pop();
    } else {
      trimmed[trimmed.length - 1] = { ...last, text };
      break;
    }
  }
  return trimmed;
}

/**
 * A line of code or output: unbroken, so that the terminal wraps and copies it whole; as rows of ours where its width is uncertain,
 * since then only we can say where rows end.
 */
export function codeLines(spans: readonly Span[], width: number): readonly Line[] {
  const line: Line = { spans: joinSpans(trimEnd(spans)), wrap: "flow" };
  const isUncertain = line.spans.some((span) => hasUncertainWidth(span.text));
  return isUncertain || width < 2
    ? splitRows({ ...line, wrap: "flow" }, width).map((row) => fitLine(row.spans))
    : [line];
}

/** Prose wrapped between words, `first` in front of the first row and `rest` in front of the others. */
export function wrapped(
  spans: readonly Span[],
  width: number,
  first: readonly Span[] = [],
  rest: readonly Span[] = first,
): readonly Line[] {
  const lead = Math.max(spansCells(first), spansCells(rest));
  if (lead >= width) return wrapHard([...first, ...spans], width).map(fitLine);
  return wrapWords(spans, width - lead).map((row, index) =>
    fitLine([...(index === 0 ? first : rest), ...row]),
  );
}

/** Puts `first` and `rest` in front of laid out rows; unbroken lines stay in column 0. */
export function prefixed(
  lines: readonly Line[],
  first: readonly Span[],
  rest: readonly Span[],
): readonly Line[] {
  let isFirst = true;
  return lines.map((line) => {
    const lead = isFirst ? first : rest;
    if (line.wrap === "flow") return line;
    isFirst = false;
    return line.spans.length === 0 ? fitLine(trimEnd(lead)) : fitLine([...lead, ...line.spans]);
  });
}

/** `spans` cut to `max` cells, with an ellipsis where something is missing. */
export function cutSpans(spans: readonly Span[], max: number): readonly Span[] {
  if (spansCells(spans) <= max) return spans;
  const kept: Span[] = [];
  let left = max;
  for (const span of spans) {
    const width = cellsOf(span.text);
    if (width < left) {
      kept.push(span);
      left -= width;
      continue;
    }
    // What follows is missing too, so this span ends in the ellipsis even where it fits just so.
    kept.push({ ...span, text: cutCells(`${span.text}\u2026`, left) });
    break;
  }
  return kept;
}

/**
 * One row with `left` at its start and `right` at its end, a cell short of `width` so that the last column stays free. The right part
 * is left out where the left one would have fewer than `leftMin` cells; the left one is cut with an ellipsis.
 */
export function spread(left: readonly Span[], right: readonly Span[], width: number, leftMin = 16): Line {
  const room = Math.max(1, width > 1 ? width - 1 : 1);
  const rightCells = spansCells(right);
  const leftCells = spansCells(left);
  if (rightCells === 0 || room - rightCells - 2 < Math.min(leftMin, leftCells)) {
    return fitLine(cutSpans(left, room));
  }
  const cut = cutSpans(left, room - rightCells - 2);
  const gap = room - rightCells - spansCells(cut);
  return fitLine([...cut, { text: " ".repeat(gap) }, ...right]);
}

/** The first of `texts` that fits into `width` cells; the last one, cut, where none does. */
export function widest(texts: readonly string[], width: number): string {
  return texts.find((text) => cellsOf(text) <= width) ?? cutCells(texts.at(-1) ?? "", width);
}
