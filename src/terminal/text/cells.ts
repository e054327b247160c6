/** How many terminal cells a text takes: the one width rule of the whole program. */
import { eastAsianWidth } from "get-east-asian-width";
import { splitGraphemes } from "unicode-segmenter/grapheme";

const pages: (Uint8Array | undefined)[] = [];
const plainAscii = /^[\x20-\x7e]*$/;
const zeroWidth = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7fb]/u;
/** Format characters that occupy a cell: Arabic number signs and their kin. */
const spacingFormat = /[\u00ad\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;

function widthOfUncached(codePoint: number): number {
  if (codePoint < 0x20 || (codePoint >= 0x7f && codePoint < 0xa0)) return 0;
  const char = String.fromCodePoint(codePoint);
  if (zeroWidth.test(char) && !spacingFormat.test(char)) return 0;
  return eastAsianWidth(codePoint);
}

/** Cells of one code point on its own: 0, 1 or 2. Tables are made in pages of 256 when first asked for. */
function widthOf(codePoint: number): number {
  const number = codePoint >> 8;
  let page = pages[number];
  if (page === undefined) {
    page = new Uint8Array(256);
    for (let low = 0; low < 256; low++) page[low] = widthOfUncached((number << 8) | low);
    pages[number] = page;
  }
  return page[codePoint & 0xff]!;
}

/** True where every character is printable ASCII: one cell each. */
export function isPlainAscii(text: string): boolean {
  return plainAscii.test(text);
}

function isRegional(codePoint: number): boolean {
  return codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff;
}

/**
 * The cells `text` takes at most, in any of the terminals we know. The rule: the sum over code points, where East Asian wide and
 * emoji are 2, combining and joining characters 0, spacing marks 1; U+FE0F and U+20E3 raise a narrow base to 2; regional indicators
 * count 2 a pair and 2 alone. Terminals that draw a joined emoji as one take fewer cells, never more. Linear; printable ASCII costs a scan.
 */
export function cellsOf(text: string): number {
  if (plainAscii.test(text)) return text.length;
  let total = 0;
  let isNarrowBase = false;
  let isHalfFlag = false;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x20 && unit < 0x7f) {
      total += 1;
      isNarrowBase = true;
      isHalfFlag = false;
      continue;
    }
    const codePoint = unit >= 0xd800 && unit < 0xdc00 ? text.codePointAt(index)! : unit;
    if (codePoint > 0xffff) index += 1;
    if (codePoint === 0xfe0f || codePoint === 0x20e3) {
      if (isNarrowBase) total += 1;
      isNarrowBase = false;
    } else if (isRegional(codePoint)) {
      if (!isHalfFlag) total += 2;
      isHalfFlag = !isHalfFlag;
      isNarrowBase = false;
    } else {
      const width = widthOf(codePoint);
      total += width;
      if (width > 0) isNarrowBase = width === 1;
      isHalfFlag = false;
    }
  }
  return total;
}

/** The user-perceived characters of `text`, lazily; joined together they are `text` again. */
export function graphemes(text: string): Iterable<string> {
  return plainAscii.test(text) ? text : splitGraphemes(text);
}

/** The first user-perceived character of `text`, "" for none. Costs what it is long. */
export function firstGrapheme(text: string): string {
  for (const grapheme of splitGraphemes(text)) return grapheme;
  return "";
}

/** What `takeCells` gives: `head` and `rest` are `text`, and `cells` is the width of `head`. */
export interface Cut {
  readonly head: string;
  readonly rest: string;
  readonly cells: number;
}

/** Splits `text` after as many whole graphemes as fit into `max` cells. Costs what the head costs, however long the text is. */
export function takeCells(text: string, max: number): Cut {
  const reach = Math.max(0, Math.min(text.length, max + 1));
  let ascii = 0;
  while (ascii < reach) {
    const unit = text.charCodeAt(ascii);
    if (unit < 0x20 || unit > 0x7e) break;
    ascii += 1;
  }
  if (ascii === text.length && ascii <= max) return { head: text, rest: "", cells: ascii };
  if (ascii > max) return { head: text.slice(0, max), rest: text.slice(max), cells: Math.max(0, max) };
  // The last ASCII character may carry combining marks: leave it to the segmenter.
  let end = Math.max(0, ascii - 1);
  let used = end;
  for (const grapheme of splitGraphemes(end === 0 ? text : text.slice(end))) {
    const width = cellsOf(grapheme);
    if (used + width > max) break;
    used += width;
    end += grapheme.length;
  }
  return { head: text.slice(0, end), rest: text.slice(end), cells: used };
}

/** `text` cut to at most `max` cells with an ellipsis at its end where something is missing. */
export function cutCells(text: string, max: number): string {
  if (max <= 0) return "";
  const whole = takeCells(text, max);
  if (whole.rest === "") return text;
  return `${takeCells(text, max - 1).head}…`;
}

/** `text` cut to at most `max` cells with an ellipsis at its start: for paths, whose end tells most. Linear in `text`. */
export function cutStart(text: string, max: number): string {
  if (max <= 0) return "";
  if (cellsOf(text) <= max) return text;
  const parts = [...graphemes(text)];
  let from = parts.length;
  let used = 1;
  while (from > 0) {
    const width = cellsOf(parts[from - 1]!);
    if (used + width > max) break;
    used += width;
    from -= 1;
  }
  return `…${parts.slice(from).join("")}`;
}

/** A grapheme that is wider than `max` cells, taken apart so that each part fits; what cannot fit becomes a one-cell `▯`. */
export function breakGrapheme(grapheme: string, max: number): readonly string[] {
  const parts: string[] = [];
  for (const char of grapheme) {
    const width = cellsOf(char);
    if (width === 0) continue;
    parts.push(width <= max ? char : "▯");
  }
  return parts.length > 0 ? parts : ["▯"];
}

const certain = new RegExp(
  `^[${[
    "\\x20-\\x7e\\xa0-\\xac\\xae-\\u034e\\u0350-\\u0482\\u048a-\\u0587", // Latin, Greek, Cyrillic, Armenian, their marks
    "\\u05d0-\\u05ea\\u0621-\\u064a\\u0660-\\u0669\\u1e00-\\u1fff", // Hebrew and Arabic letters, more Latin and Greek
    "\\u2010-\\u2027\\u2030-\\u205e\\u2070-\\u209c\\u20a0-\\u20b5\\u2100-\\u214f\\u2190-\\u2300", // punctuation, symbols
    "\\u2400-\\u2426\\u2500-\\u25fc\\u2713-\\u2718\\u2800-\\u28ff", // control pictures, drawing, check marks, braille
    "\\u3000-\\u3029\\u3041-\\u3096\\u30a1-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fa5\\uac00-\\ud7a3", // Chinese, Japanese, Korean
    "\\uf900-\\ufa2d\\uff01-\\uff60\\uff61-\\uff9f\\ufffd",
  ].join("")}]*$`,
);

/**
 * True where terminals disagree on the width of some character of `text` (emoji, joined sequences, marks of Indic scripts): then only
 * rows laid out by us are sure not to overflow, and where the terminal itself would wrap cannot be told.
 */
export function hasUncertainWidth(text: string): boolean {
  return !certain.test(text);
}
