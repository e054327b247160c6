/** Finding words in laid-out rows, across the places where rows were wrapped. */
import type { Entry } from "../../transcript/index.ts";
import type { Line, Span } from "../text/index.ts";
import type { BlockRow } from "./block-layout.ts";
import { searchedText } from "./entry-text.ts";

export interface Needle {
  readonly text: string;
  /** Capital letters count only where the needle has one. */
  readonly isCaseKept: boolean;
  /** Its longest word, in lower case: what an entry must hold to be worth laying out. */
  readonly word: string;
}

/** The text of all rows of a block, each run of blanks and ruled lines made one blank. */
export interface SearchText {
  readonly text: string;
  /** Where the text of each row begins. */
  readonly starts: readonly number[];
}

/** Units `[from, to)` of the text of one row. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  /** It is (a part of) the match that was reached last. */
  readonly isCurrent?: true;
}

const blanks = /[\s\u2500-\u257f]+/g;

/** The needle that `text` asks for; undefined for one without anything to find. */
export function needleOf(text: string): Needle | undefined {
  const words = text.replace(blanks, " ").trim();
  if (words === "") return undefined;
  const isCaseKept = words !== words.toLowerCase();
  const longest = (words.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).reduce(
    (best, word) => (word.length > best.length ? word : best),
    "",
  );
  return { text: isCaseKept ? words : words.toLowerCase(), isCaseKept, word: longest };
}

/** What may stand inside a word of an entry and is not seen on its rows: colours, character names. */
const hidden = /\u001b|&#?\w+;/;
/** Marks of Markdown and invisible characters. */
const marks = /[*_~`\\\u00ad\u200b-\u200f\u2060\ufeff]+/g;

/**
 * False where the rows of `entry` surely do not hold the needle, as far as they show the entry's own words (not labels and times).
 * Linear in the entry's text, and much cheaper than its rows.
 */
export function mayHold(entry: Entry, needle: Needle): boolean {
  if (needle.word === "") return true;
  const text = searchedText(entry).toLowerCase();
  return text.includes(needle.word) || hidden.test(text) || text.replace(marks, "").includes(needle.word);
}

function rowText({ line }: BlockRow): string {
  return line.spans.map((span) => span.text).join("");
}

/** In lower case where that changes no letter's length; units keep their places. */
function folded(text: string, isCaseKept: boolean): string {
  if (isCaseKept) return text;
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
}

/** Linear in the rows. */
export function searchTextOf(rows: readonly BlockRow[], isCaseKept: boolean): SearchText {
  const parts: string[] = [];
  const starts: number[] = [];
  let length = 0;
  let isBlank = true;
  const add = (part: string): void => {
    if (part === "") return;
    parts.push(part);
    length += part.length;
    isBlank = part.endsWith(" ");
  };
  for (const row of rows) {
    if (!row.isContinued && !isBlank) add(" ");
    starts.push(length);
    const text = folded(rowText(row), isCaseKept).replace(blanks, " ");
    add(isBlank && text.startsWith(" ") ? text.slice(1) : text);
  }
  return { text: parts.join(""), starts };
}

/** The row that unit `at` of the text stands in. Logarithmic. */
export function rowAt({ starts }: SearchText, at: number): number {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= at) low = middle;
    else high = middle;
  }
  return low;
}

/** The first place of the needle at or after `from`. */
export function placeFrom({ text }: SearchText, needle: Needle, from: number): number | undefined {
  const at = text.indexOf(needle.text, from);
  return at < 0 ? undefined : at;
}

/** The last place of the needle that ends at or before `end`. */
export function placeBefore({ text }: SearchText, needle: Needle, end: number): number | undefined {
  const last = Math.min(end, text.length) - needle.text.length;
  if (last < 0) return undefined;
  const at = text.lastIndexOf(needle.text, last);
  return at < 0 ? undefined : at;
}

/** The parts of one row that belong to places of the needle. Linear in the row and the needle. */
export function stretchesIn(
  rows: readonly BlockRow[],
  searched: SearchText,
  needle: Needle,
  row: number,
  current?: number,
): readonly Stretch[] {
  const { text, starts } = searched;
  const start = starts[row];
  if (start === undefined) return [];
  const end = starts[row + 1] ?? text.length;
  const size = needle.text.length;
  const stretches: Stretch[] = [];
  let places: readonly number[] | undefined;
  const near = text.slice(Math.max(0, start - size + 1), end + size - 1);
  const shift = Math.max(0, start - size + 1);
  for (let at = near.indexOf(needle.text); at >= 0; at = near.indexOf(needle.text, at + 1)) {
    places ??= placesOf(rowText(rows[row]!), start === 0 || text[start - 1] === " ");
    const from = places[Math.max(0, shift + at - start)];
    const last = places[Math.min(places.length, shift + at + size - start) - 1];
    if (from !== undefined && last !== undefined && last >= from) {
      const isCurrent = shift + at === current ? { isCurrent: true as const } : {};
      stretches.push({ from, to: last + 1, ...isCurrent });
    }
  }
  return stretches;
}

/** The place in the row of each unit that its searched text has. */
function placesOf(text: string, isAfterBlank: boolean): readonly number[] {
  const places: number[] = [];
  let wasBlank = isAfterBlank;
  for (let place = 0; place < text.length; place++) {
    const isBlank = /[\s\u2500-\u257f]/.test(text[place]!);
    if (!(isBlank && wasBlank)) places.push(place);
    wasBlank = isBlank;
  }
  return places;
}

/** The row with its stretches shown inverse. */
export function highlighted(line: Line, stretches: readonly Stretch[]): Line {
  if (stretches.length === 0) return line;
  const spans: Span[] = [];
  let at = 0;
  for (const span of line.spans) {
    let rest = span.text;
    while (rest !== "") {
      const inside = stretches.filter(({ from, to }) => at >= from && at < to);
      const border =
        inside.length > 0
          ? Math.max(...inside.map(({ to }) => to))
          : Math.min(...stretches.map(({ from }) => (from > at ? from : Number.POSITIVE_INFINITY)));
      const take = Math.min(rest.length, border - at);
      const look = inside.some(({ isCurrent }) => isCurrent === true)
        ? { inverse: true, bold: true, underline: true }
        : { inverse: true };
      spans.push({ ...span, text: rest.slice(0, take), ...(inside.length === 0 ? {} : look) });
      rest = rest.slice(take);
      at += take;
    }
  }
  return { ...line, spans };
}
