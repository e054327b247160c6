/**
 * The one filter between the text of a conversation and the terminal. What comes out holds no control character but the line feed, no
 * escape, no C1, no character that changes direction or hides; each of those is shown by a visible stand-in.
 */
import { cellsOf } from "./cells.ts";
import { combiningMarksMax, payloadShownMax, repeatsShownMax } from "./limits.ts";
import { applySgr, type TextStyle } from "./sgr-style.ts";
import { standIn } from "./stand-ins.ts";
import type { Span } from "./types.ts";

export interface SanitizeOptions {
  /** `keep` turns colours into our own tones; `show` (the default) shows their sequences like any other. */
  readonly sgr?: "keep" | "show";
  /**
   * `all` (the default) shows what a carriage return would overwrite, and the mark of each; `last` what it leaves standing, as programs
   * that tell their progress mean it: for their output alone, since elsewhere it would hide words.
   */
  readonly overwritten?: "last" | "all";
  /** Show every character of escape strings; else a long payload is counted. */
  readonly whole?: boolean;
  /** Cells between tab stops, 8 where absent. */
  readonly tab?: number;
  /** The text came from `decodeBytes`: lone low surrogates are stray bytes. */
  readonly bytes?: boolean;
}

/** A finished line: safe spans, stand-ins in the tone `danger`. */
export type SafeLine = readonly Span[];

/** A filter for a text that comes in pieces. However it is cut, the lines are the same. */
export interface Sanitizer {
  /** The lines that `chunk` completed. */
  push(chunk: string): readonly SafeLine[];
  /** The unfinished last line as it stands; undefined where nothing follows the last line feed. Changes nothing. */
  peek(): SafeLine | undefined;
  /** The unfinished last line, if any; then the filter starts afresh. */
  end(): readonly SafeLine[];
}

/**
 * Everything that may not pass as it is: controls, C1, format and filler characters, variation selectors, lone surrogates, tags,
 * noncharacters. Some of them are let through where they belong (joiners within a script or an emoji, one selector after its base).
 */
const special = [
  "\\x00-\\x1f\\x7f-\\x9f", // controls
  "\\xad\\u034f\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff0-\\ufffb", // format, direction
  "\\u115f\\u1160\\u17b4\\u17b5\\u3164\\uffa0", // fillers that look like nothing
  "\\u180b-\\u180d\\u180f\\ufe00-\\ufe0f", // variation selectors
  "\\p{Cs}\\p{Noncharacter_Code_Point}",
  "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}", // format beyond the first plane, tags
].join("");
const specialFrom = new RegExp(`[${special}]`, "gu");
const markRun = new RegExp(`(\\p{M}{${combiningMarksMax}})(\\p{M}+)`, "gu");
const tooManyMarks = new RegExp(`\\p{M}{${combiningMarksMax + 1}}`, "u");
const beyondLatin = /[\u0300-\uffff]/;
const joiningScript =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const emojiBase = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]/u;
const selectorBase = /[\p{Emoji}\p{Script=Han}\p{Script=Mongolian}\p{Script=Myanmar}]/u;

/** True where `text` holds nothing that the filter would change, apart from line feeds. */
export function isSafe(text: string): boolean {
  specialFrom.lastIndex = 0;
  for (let match = specialFrom.exec(text); match !== null; match = specialFrom.exec(text)) {
    if (match[0] !== "\n") return false;
  }
  return !beyondLatin.test(text) || !hasMarkRun(text);
}

function hasMarkRun(text: string): boolean {
  return tooManyMarks.test(text);
}

/** A piece of a line under work. A stand-in that may repeat (`␇`) has its `count`. */
interface Piece {
  text: string;
  style: TextStyle;
  glyph?: string;
  count?: number;
}

const dangerStyle: TextStyle = { tone: "danger" };

/** Reads a line, or what stands between two carriage returns of it, run by run and character by character where it must. */
class LineMachine {
  private readonly options: SanitizeOptions;
  private readonly text: string;
  private at = 0;
  private readonly pieces: Piece[] = [];
  style: TextStyle;

  constructor(text: string, style: TextStyle, options: SanitizeOptions) {
    this.text = text;
    this.style = style;
    this.options = options;
  }

  run(): readonly Piece[] {
    const { text } = this;
    while (this.at < text.length) {
      specialFrom.lastIndex = this.at;
      const match = specialFrom.exec(text);
      const next = match === null ? text.length : match.index;
      if (next > this.at) this.pieces.push({ text: text.slice(this.at, next), style: this.style });
      this.at = next;
      if (match !== null) this.special(text.codePointAt(next)!);
    }
    return this.pieces;
  }

  private special(codePoint: number): void {
    if (codePoint === 0x1b) this.escape(this.at + 1, "␛");
    else if (codePoint === 0x09) this.push("\t", this.style, 1);
    else if (codePoint === 0x9b) this.sequence(this.at + 1, standIn(codePoint, false));
    else if (isStringStart(codePoint)) this.string(this.at + 1, standIn(codePoint, false));
    else if (codePoint === 0x200c || codePoint === 0x200d) this.joiner(codePoint);
    else if (isSelector(codePoint)) this.selector(codePoint);
    else if (codePoint >= 0xe0020 && codePoint <= 0xe007f) this.tags();
    else this.control(codePoint);
  }

  private push(text: string, style: TextStyle, used: number): void {
    this.pieces.push({ text, style });
    this.at += used;
  }

  private danger(text: string, end: number): void {
    this.pieces.push({ text, style: dangerStyle });
    this.at = end;
  }

  /** A character shown by its stand-in; equal ones in a row are counted. */
  private control(codePoint: number): void {
    const glyph = standIn(codePoint, this.options.bytes === true);
    const last = this.pieces.at(-1);
    if (last?.glyph === glyph) last.count! += 1;
    else this.pieces.push({ text: "", style: dangerStyle, glyph, count: 1 });
    this.at += codePoint > 0xffff ? 2 : 1;
  }

  private escape(at: number, shown: string): void {
    const unit = this.text.charCodeAt(at);
    if (unit === 0x5b) this.sequence(at + 1, `${shown}[`);
    else if (isStringStart(unit + 0x40)) this.string(at + 1, shown + this.text[at]!);
    else this.shortEscape(at, shown);
  }

  /** An escape with one final character, perhaps after others: `ESC c`, `ESC ( 0`. */
  private shortEscape(at: number, shown: string): void {
    let end = at;
    while (isBetween(this.text.charCodeAt(end), 0x20, 0x2f) && end - at < 8) end += 1;
    if (isBetween(this.text.charCodeAt(end), 0x30, 0x7e)) end += 1;
    this.danger(shown + this.text.slice(at, end), end);
  }

  /** A control sequence from its parameters on: shown as it stands, or taken as a colour. */
  private sequence(at: number, shown: string): void {
    let end = at;
    while (isBetween(this.text.charCodeAt(end), 0x30, 0x3f) && end - at < payloadShownMax) end += 1;
    const parameters = this.text.slice(at, end);
    while (isBetween(this.text.charCodeAt(end), 0x20, 0x2f) && end - at < payloadShownMax) end += 1;
    const hasFinal = isBetween(this.text.charCodeAt(end), 0x40, 0x7e);
    if (hasFinal) end += 1;
    if (this.options.sgr === "keep" && /^[\d;:]*m$/.test(this.text.slice(at, end))) {
      this.style = applySgr(this.style, parameters);
      this.at = end;
      return;
    }
    this.danger(shown + this.text.slice(at, end), end);
  }

  /**
   * An escape string (OSC, DCS, APC, PM, SOS). It ends at BEL, ST, any other control, or the line's end; its payload is shown up to a
   * length where its end is there, and left to be read as text where it is not: a lost terminator must not swallow the line.
   */
  private string(at: number, shown: string): void {
    stringEnd.lastIndex = at;
    const match = stringEnd.exec(this.text);
    const end = match === null ? this.text.length : match.index;
    const isTerminated =
      match !== null && (match[0].length > 1 || match[0] === "\x07" || match[0] === "\x9c");
    if (!isTerminated) {
      this.danger(shown, at);
      return;
    }
    const terminator = match[0] === "\x1b\\" ? "␛\\" : standIn(match[0].charCodeAt(0), false);
    this.danger(shown, at);
    this.payload(this.text.slice(at, end));
    this.danger(terminator, end + match[0].length);
  }

  private payload(text: string): void {
    const isCut = this.options.whole !== true && text.length > payloadShownMax;
    const shownPart = isCut ? text.slice(0, payloadShownMax).replace(/[\ud800-\udbff]$/, "") : text;
    const inner = new LineMachine(shownPart, {}, { ...this.options, sgr: "show" }).run();
    for (const piece of inner) this.pieces.push({ ...piece, style: dangerStyle });
    if (isCut) this.pieces.push({ text: `…+${text.length - shownPart.length}`, style: dangerStyle });
  }

  private lastChar(): string {
    const last = this.pieces.at(-1);
    if (last === undefined || last.style === dangerStyle) return "";
    const unit = last.text.charCodeAt(last.text.length - 1);
    return last.text.slice(unit >= 0xdc00 && unit < 0xe000 ? -2 : -1);
  }

  /** Joiners pass after a letter of a script that uses them, or within an emoji. */
  private joiner(codePoint: number): void {
    const before = this.lastChar();
    const isEmoji = codePoint === 0x200d && (emojiBase.test(before) || before === "\ufe0f");
    if (joiningScript.test(before) || (isEmoji && emojiBase.test(this.charAt(this.at + 1)))) {
      this.push(String.fromCodePoint(codePoint), this.style, 1);
    } else {
      this.control(codePoint);
    }
  }

  private charAt(index: number): string {
    return index < this.text.length ? String.fromCodePoint(this.text.codePointAt(index)!) : "";
  }

  /** A variation selector passes once after a character that has variants. */
  private selector(codePoint: number): void {
    const before = this.lastChar();
    if (selectorBase.test(before)) {
      this.push(String.fromCodePoint(codePoint), this.style, codePoint > 0xffff ? 2 : 1);
    } else {
      this.control(codePoint);
    }
  }

  /** Tag characters spell hidden ASCII: the words are shown. */
  private tags(): void {
    let end = this.at;
    let word = "";
    while (end < this.text.length) {
      const codePoint = this.text.codePointAt(end)!;
      if (codePoint < 0xe0020 || codePoint > 0xe007f) break;
      word += codePoint === 0xe007f ? "" : String.fromCharCode(codePoint - 0xe0000);
      end += 2;
    }
    const isCut = this.options.whole !== true && word.length > payloadShownMax;
    const shown = isCut ? `${word.slice(0, payloadShownMax)}…+${word.length - payloadShownMax}` : word;
    this.danger(`‹tags ${shown}›`, end);
  }
}

const stringEnd = /\x1b\\|[\x00-\x1f\x7f-\x9f]/g;

function isBetween(unit: number, low: number, high: number): boolean {
  return unit >= low && unit <= high;
}

function isStringStart(codePoint: number): boolean {
  return codePoint === 0x90 || codePoint === 0x98 || (codePoint >= 0x9d && codePoint <= 0x9f);
}

function isSelector(codePoint: number): boolean {
  return (
    isBetween(codePoint, 0xfe00, 0xfe0f) ||
    isBetween(codePoint, 0x180b, 0x180d) ||
    isBetween(codePoint, 0xe0100, 0xe01ef)
  );
}

function repeated(glyph: string, count: number): string {
  return count <= repeatsShownMax ? glyph.repeat(count) : `${glyph}×${count}`;
}

/** Pieces into spans: counts told, runs of marks cut, tabs widened to their column, equal neighbours joined. */
function expand(pieces: readonly Piece[], tab: number): SafeLine {
  const spans: Span[] = [];
  let column = 0;
  const hasTabs = pieces.some((piece) => piece.text.includes("\t"));
  const add = (text: string, style: TextStyle): void => {
    if (text === "") return;
    const last = spans.at(-1);
    if (last !== undefined && lastStyle === style)
      spans[spans.length - 1] = { ...last, text: last.text + text };
    else spans.push({ text, ...style });
    lastStyle = style;
    if (hasTabs) column += cellsOf(text);
  };
  let lastStyle: TextStyle | undefined;
  for (const piece of pieces) {
    if (piece.glyph !== undefined) add(repeated(piece.glyph, piece.count!), piece.style);
    else if (piece.text === "\t") add(" ".repeat(tab - (column % tab)), piece.style);
    else if (beyondLatin.test(piece.text) && hasMarkRun(piece.text)) addMarks(piece, add);
    else add(piece.text, piece.style);
  }
  return spans;
}

function addMarks(piece: Piece, add: (text: string, style: TextStyle) => void): void {
  let from = 0;
  for (const match of piece.text.matchAll(markRun)) {
    const keepEnd = match.index + match[1]!.length;
    add(piece.text.slice(from, keepEnd), piece.style);
    add(`‹+${[...match[2]!].length} marks›`, dangerStyle);
    from = match.index + match[0].length;
  }
  add(piece.text.slice(from), piece.style);
}

class LineSanitizer implements Sanitizer {
  private held = "";
  private style: TextStyle = {};
  private readonly options: SanitizeOptions;

  constructor(options: SanitizeOptions) {
    this.options = options;
  }

  push(chunk: string): readonly SafeLine[] {
    const lines: SafeLine[] = [];
    let from = 0;
    for (let to = chunk.indexOf("\n"); to !== -1; to = chunk.indexOf("\n", from)) {
      lines.push(this.line(this.held + chunk.slice(from, to)));
      this.held = "";
      from = to + 1;
    }
    this.held += chunk.slice(from);
    return lines;
  }

  peek(): SafeLine | undefined {
    const { style } = this;
    const line = this.held === "" ? undefined : this.line(this.held);
    this.style = style;
    return line;
  }

  end(): readonly SafeLine[] {
    const lines = this.held === "" ? [] : [this.line(this.held)];
    this.held = "";
    this.style = {};
    return lines;
  }

  private line(text: string): SafeLine {
    if (isSafe(text)) return text === "" ? [] : [{ text, ...this.style }];
    return expand(this.pieces(text), this.options.tab ?? 8);
  }

  private read(text: string): readonly Piece[] {
    const machine = new LineMachine(text, this.style, this.options);
    const pieces = machine.run();
    this.style = machine.style;
    return pieces;
  }

  /** A line, with what its carriage returns left standing. Those at its end are half of a line break. */
  private pieces(text: string): readonly Piece[] {
    let end = text.length;
    while (text.charCodeAt(end - 1) === 0x0d) end -= 1;
    const line = text.slice(0, end);
    if (!line.includes("\r")) return this.read(line);
    const all: Piece[] = [];
    let standing: readonly Piece[] = [];
    let overwrites = -1;
    for (const [index, state] of line.split("\r").entries()) {
      // Programs erase the line before they write it anew.
      const pieces = this.read(index === 0 ? state : state.replace(/^(?:\x1b\[[0-2]?K)+/, ""));
      if (pieces.length === 0) continue;
      standing = pieces;
      overwrites += 1;
      if (this.options.overwritten !== "last") {
        if (overwrites > 0) all.push({ text: "␍", style: dangerStyle });
        all.push(...pieces);
      }
    }
    if (overwrites <= 0 || all.length > 0) return overwrites <= 0 ? standing : all;
    const mark = overwrites === 1 ? " ␍" : ` ␍×${overwrites}`;
    return [...standing, { text: mark, style: dangerStyle }];
  }
}

/** A filter for text that comes in pieces. */
export function createSanitizer(options: SanitizeOptions = {}): Sanitizer {
  return new LineSanitizer(options);
}

/** All lines of `text`, safe. A final line feed ends the last line and begins none. Linear. */
export function sanitizeLines(text: string, options: SanitizeOptions = {}): readonly SafeLine[] {
  const sanitizer = createSanitizer(options);
  return [...sanitizer.push(text), ...sanitizer.end()];
}

/** `text` as safe plain text: line feeds stay, everything else that is dangerous is replaced by its stand-in. Idempotent. */
export function sanitize(text: string, options: SanitizeOptions = {}): string {
  if (isSafe(text)) return text;
  return text
    .split("\n")
    .map((line) => sanitizeLines(line, options).map(plainOf).join(""))
    .join("\n");
}

function plainOf(line: SafeLine): string {
  return line.map((span) => span.text).join("");
}

/** A field that must stay on one line (a name, a path, a title) as safe spans in `style`; a line feed is shown as `␊`. */
export function safeSpans(
  text: string,
  style: TextStyle = {},
  options: SanitizeOptions = {},
): readonly Span[] {
  const lines = text.split("\n");
  const spans: Span[] = [];
  for (const [index, line] of lines.entries()) {
    if (index > 0) spans.push({ text: "␊", ...dangerStyle });
    for (const safe of sanitizeLines(line, options).flat()) {
      spans.push(safe.tone === "danger" ? safe : { ...safe, ...style });
    }
  }
  return spans;
}

/** Such a field as plain text. */
export function sanitizeLine(text: string): string {
  return plainOf(safeSpans(text));
}
