/**
 * The text of a prompt in the pieces that a cursor moves over: user-perceived characters, line ends, and chips, each of which stands for a
 * pasted text.
 */
import { graphemes } from "../text/index.ts";
import { chipsMax } from "./limits.ts";

/** Code points for chips: the end of the last private plane, which no font and no text is known to use. */
const chipFirst = 0x10ff00;
const chipPattern = /[\u{10ff00}-\u{10fffd}]/gu;
const chipUnits = 2;

const controls = /(?![\n\t])\p{Cc}/gu;
const loneSurrogates = /\p{Cs}/gu;

/** `text` as it may enter a prompt: line ends are line feeds, other controls are left out, nothing in it can be taken for a chip. */
export function cleanText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(controls, "")
    .replaceAll(loneSurrogates, "\ufffd")
    .replaceAll(chipPattern, "\ufffd");
}

/** The character that stands for chip `index`, below `chipsMax`. */
export function chipCharacter(index: number): string {
  return String.fromCodePoint(chipFirst + index);
}

/** The chip that an atom stands for; undefined for one that is text. */
export function chipIndexOf(atom: string): number | undefined {
  if (atom.length !== chipUnits) return undefined;
  const index = atom.codePointAt(0)! - chipFirst;
  return index >= 0 && index < chipsMax ? index : undefined;
}

/** The chips in `text`, in order. */
export function chipsIn(text: string): readonly number[] {
  return [...text.matchAll(chipPattern)].map(([character]) => character.codePointAt(0)! - chipFirst);
}

/** `text` with every chip replaced by what it stands for. */
export function expandChips(text: string, chips: ReadonlyMap<number, string>): string {
  return text.replaceAll(chipPattern, (character) => chips.get(character.codePointAt(0)! - chipFirst) ?? "");
}

/** The atoms of `text`; joined together they are `text` again. */
export function* atomsOf(text: string): Generator<string> {
  for (const grapheme of graphemes(text)) {
    // A mark behind a chip would be one grapheme with it.
    const isMarked = grapheme.length > chipUnits && chipIndexOf(grapheme.slice(0, chipUnits)) !== undefined;
    if (isMarked) {
      yield grapheme.slice(0, chipUnits);
      yield grapheme.slice(chipUnits);
    } else {
      yield grapheme;
    }
  }
}

function isAscii(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 10 || (unit >= 0x20 && unit < 0x7f);
}

/** Where the line begins that `at` is in. */
export function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

/** Where the line ends that `at` is in: before its line feed. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Where the atom begins that ends at `at`, a border; 0 at the start. Costs the line at most. */
export function borderBefore(text: string, at: number): number {
  if (at <= 0) return 0;
  if (isAscii(text, at - 1) && (at === 1 || isAscii(text, at - 2))) return at - 1;
  if (text.charCodeAt(at - 1) === 10) return at - 1;
  let border = lineStart(text, at);
  for (const atom of atomsOf(text.slice(border, at))) {
    if (border + atom.length >= at) break;
    border += atom.length;
  }
  return border;
}

/** Where the atom ends that begins at `at`, a border; the end of `text` there. */
export function borderAfter(text: string, at: number): number {
  if (at >= text.length) return text.length;
  if (text.charCodeAt(at) === 10) return at + 1;
  if (isAscii(text, at) && (at + 1 === text.length || isAscii(text, at + 1))) return at + 1;
  for (const atom of atomsOf(text.slice(at, lineEnd(text, at)))) return at + atom.length;
  return text.length;
}

/** The first border at or after `at`. Costs the line at most. */
export function borderFrom(text: string, at: number): number {
  if (at <= 0) return 0;
  if (at >= text.length) return text.length;
  let border = lineStart(text, at);
  for (const atom of atomsOf(text.slice(border, lineEnd(text, at)))) {
    if (border >= at) break;
    border += atom.length;
  }
  return border;
}

type Sort = "space" | "word" | "sign";

function sortOf(atom: string): Sort {
  if (/^\s/u.test(atom)) return "space";
  return /^[\p{L}\p{N}\p{M}_]/u.test(atom) || chipIndexOf(atom) !== undefined ? "word" : "sign";
}

/** What a word is: `letters` for moves and Alt keys, `blanks` where only blanks part words. */
export type WordKind = "letters" | "blanks";

function isWord(atom: string, kind: WordKind): boolean {
  const sort = sortOf(atom);
  return kind === "letters" ? sort === "word" : sort !== "space";
}

/** Where the word begins that `at` is in or behind. */
export function wordStart(text: string, at: number, kind: WordKind): number {
  let border = at;
  let isInside = false;
  while (border > 0) {
    const before = borderBefore(text, border);
    const isPart = isWord(text.slice(before, border), kind);
    if (isInside && !isPart) break;
    isInside ||= isPart;
    border = before;
  }
  return border;
}

/** Where the word ends that `at` is in or in front of. */
export function wordEnd(text: string, at: number, kind: WordKind): number {
  let border = at;
  let isInside = false;
  while (border < text.length) {
    const after = borderAfter(text, border);
    const isPart = isWord(text.slice(border, after), kind);
    if (isInside && !isPart) break;
    isInside ||= isPart;
    border = after;
  }
  return border;
}
