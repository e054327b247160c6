/** Finding words in laid-out rows, across the places where rows were wrapped. */
import type { Entry } from "../../transcript/index.ts";
import type { Line, Span } from "../text/index.ts";
import type { BlockRow } from "./block-layout.ts";
import { searchedText } from "./entry-text.ts";

/** A piece of a match: units `[from, to)` of the text of one row. */
export interface MatchPiece {
  readonly row: number;
  readonly from: number;
  readonly to: number;
}

/** The pieces of one match, in row order. */
export type Match = readonly MatchPiece[];

export interface Needle {
  readonly text: string;
  /** Capital letters count only where the needle has one. */
  readonly isCaseKept: boolean;
  /** Letters and digits alone, in lower case: what an entry must hold to be worth laying out. */
  readonly core: string;
}

function coreOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

export function needleOf(text: string): Needle | undefined {
  const words = text.replace(/\s+/g, " ").trim();
  if (words === "") return undefined;
  const isCaseKept = words !== words.toLowerCase();
  return { text: isCaseKept ? words : words.toLowerCase(), isCaseKept, core: coreOf(words) };
}

/** False where the rows of `entry` surely do not hold the needle. Linear in the entry's text. */
export function mayHold(entry: Entry, needle: Needle): boolean {
  return needle.core === "" || coreOf(searchedText(entry)).includes(needle.core);
}

export function rowText(row: BlockRow): string {
  return row.line.spans.map((span) => span.text).join("");
}

interface CollapsedRow {
  readonly text: string;
  /** The place in the row of each unit of `text`. */
  readonly places: readonly number[];
}

/** A row with each run of white space made one blank; a blank at its start is left out where `isBlankBefore`. */
function collapsed(row: BlockRow, isCaseKept: boolean, isBlankBefore: boolean): CollapsedRow {
  const own = rowText(row);
  const lower = isCaseKept ? own : own.toLowerCase();
  // Some letters change their length with their case; then the row is searched as it stands.
  const shown = lower.length === own.length ? lower : own;
  const units: string[] = [];
  const places: number[] = [];
  let wasBlank = isBlankBefore;
  for (let place = 0; place < shown.length; place++) {
    const isBlank = /\s/.test(shown[place]!);
    if (isBlank && wasBlank) continue;
    units.push(isBlank ? " " : shown[place]!);
    places.push(place);
    wasBlank = isBlank;
  }
  return { text: units.join(""), places };
}

/** All matches in the rows of a block, in order, not overlapping. White space runs and row ends count as one blank. Linear. */
export function matchesIn(rows: readonly BlockRow[], needle: Needle): readonly Match[] {
  const parts: string[] = [];
  /** For each row: where its text starts, and whether a blank stands before it. */
  const starts: number[] = [];
  const blanksBefore: boolean[] = [];
  let length = 0;
  let isBlank = true;
  for (const row of rows) {
    if (!row.isContinued && !isBlank) {
      parts.push(" ");
      length += 1;
      isBlank = true;
    }
    starts.push(length);
    blanksBefore.push(isBlank);
    const { text } = collapsed(row, needle.isCaseKept, isBlank);
    parts.push(text);
    length += text.length;
    if (text !== "") isBlank = text.endsWith(" ");
  }
  const text = parts.join("");
  const matches: Match[] = [];
  let row = 0;
  for (
    let at = text.indexOf(needle.text);
    at !== -1;
    at = text.indexOf(needle.text, at + needle.text.length)
  ) {
    const end = at + needle.text.length;
    while (row + 1 < rows.length && starts[row + 1]! <= at) row += 1;
    const pieces: MatchPiece[] = [];
    for (let index = row; index < rows.length && starts[index]! < end; index++) {
      const { places } = collapsed(rows[index]!, needle.isCaseKept, blanksBefore[index]!);
      const from = places[Math.max(0, at - starts[index]!)];
      const last = places[Math.min(places.length, end - starts[index]!) - 1];
      if (from !== undefined && last !== undefined && last >= from)
        pieces.push({ row: index, from, to: last + 1 });
    }
    if (pieces.length > 0) matches.push(pieces);
  }
  return matches;
}

/** The row with the units `[from, to)` of each piece shown inverse. */
export function highlighted(line: Line, pieces: readonly MatchPiece[]): Line {
  if (pieces.length === 0) return line;
  const spans: Span[] = [];
  let at = 0;
  for (const span of line.spans) {
    let rest = span.text;
    while (rest !== "") {
      const inside = pieces.find((piece) => at >= piece.from && at < piece.to);
      const next =
        inside?.to ?? Math.min(...pieces.map((piece) => (piece.from > at ? piece.from : Infinity)));
      const take = Math.min(rest.length, next - at);
      spans.push({ ...span, text: rest.slice(0, take), ...(inside === undefined ? {} : { inverse: true }) });
      rest = rest.slice(take);
      at += take;
    }
  }
  return { ...line, spans };
}
