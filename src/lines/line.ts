/** One physical line: what it is by itself, and what can be saved from it without its neighbours. */
import { resyncPassesMax } from "./limits.ts";
import { type Parsed, parseJson } from "./parse.ts";
import { ObjectScanner, objectEnd } from "./scan.ts";
import type { DamageItem, DamageReason, LineItem, RecordItem } from "./types.ts";

const space = 0x20;
const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;
const openBrace = 0x7b;
export const closeBrace = 0x7d;

/** The bytes between two line feeds. `end` is before the line feed; a CR before it belongs to `bytes`. */
export interface Line {
  readonly start: number;
  readonly end: number;
  /** Empty where the line is too large. */
  readonly bytes: Buffer;
  /** Set on a line above the limit: its first bytes. */
  readonly head?: Uint8Array;
}

/**
 * What a line is to its neighbours. A border never takes part in a join: its items stand. An opener may begin an object that goes on
 * in the next lines; `lone` is an opener only where what is above it ended. The rest go on with what an opener began, or stand alone.
 */
export type Shape =
  | { readonly kind: "blank" }
  | { readonly kind: "border"; readonly items: readonly LineItem[]; readonly isRecord: boolean }
  | { readonly kind: "opener" | "lone" | "other" };

function isSpace(byte: number | undefined): boolean {
  return byte === space || byte === carriageReturn || byte === tab || byte === lineFeed;
}

/** The index of the first byte from `start` that is no white space. */
export function skipSpace(bytes: Uint8Array, start: number, end: number): number {
  let index = start;
  while (index < end && isSpace(bytes[index])) index += 1;
  return index;
}

/** The index after the last byte before `end` that is no white space. */
export function trimSpace(bytes: Uint8Array, start: number, end: number): number {
  let index = end;
  while (index > start && isSpace(bytes[index - 1])) index -= 1;
  return index;
}

function isPadding(byte: number | undefined): boolean {
  return byte === 0 || isSpace(byte);
}

function damage(start: number, end: number, reason: DamageReason): DamageItem {
  return { type: "damage", start, end, reason };
}

function record(start: number, end: number, value: unknown, recovered: DamageReason | undefined): RecordItem {
  return recovered === undefined
    ? { type: "record", start, end, value }
    : { type: "record", start, end, value, recovered };
}

/** The record of a parsed range; `recovered` is how it was found, where the parse itself needed no repair. */
export function recordOf(
  start: number,
  end: number,
  parsed: Parsed & { ok: true },
  recovered?: DamageReason,
): RecordItem {
  return record(start, end, parsed.value, parsed.repaired ?? recovered);
}

/** The length of a BOM at the head of the line: editors and tools put one before a file, and so between joined files. */
function bomLength(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** The runs of NULs in a range that holds but NULs and white space. */
function nulItems(bytes: Buffer, base: number, start: number, end: number): DamageItem[] {
  const items: DamageItem[] = [];
  for (let from = skipSpace(bytes, start, end); from < end; ) {
    const after = skipNuls(bytes, from, end);
    items.push(damage(base + from, base + after, "nul-run"));
    from = skipSpace(bytes, after, end);
  }
  return items;
}

/** The items of a BOM and of the NULs around `[start, end)`, with `inner` between them. */
function wrapItems(
  line: Line,
  origin: number,
  start: number,
  end: number,
  inner: readonly LineItem[],
): LineItem[] {
  const items: LineItem[] = [];
  if (origin > 0) items.push(damage(line.start, line.start + origin, "bom"));
  items.push(...nulItems(line.bytes, line.start, origin, start), ...inner);
  items.push(...nulItems(line.bytes, line.start, end, line.bytes.length));
  return items;
}

const blank: Shape = { kind: "blank" };
const opener: Shape = { kind: "opener" };
const lone: Shape = { kind: "lone" };
const other: Shape = { kind: "other" };

/**
 * The shape of a line, from its bytes alone. With `parse` false a line that starts with `{"` and ends with `}` is taken for a whole
 * record. Cost: one parse of the line, none where it cannot be an object.
 */
export function shapeOf(line: Line, parse: boolean): Shape {
  const { bytes, start: base } = line;
  if (line.head !== undefined) {
    const item: DamageItem = {
      type: "damage",
      start: base,
      end: line.end,
      reason: "too-large",
      head: line.head,
    };
    return { kind: "border", items: [item], isRecord: false };
  }
  const end = trimSpace(bytes, 0, bytes.length);
  if (!parse && bytes[0] === openBrace && bytes[1] === quote && bytes[end - 1] === closeBrace) {
    const item: RecordItem = {
      type: "record",
      start: base,
      end: base + end,
      value: undefined,
      bytes: bytes.subarray(0, end),
    };
    return { kind: "border", items: [item], isRecord: true };
  }
  if (end === 0) return blank;
  if (bytes[0] === openBrace && bytes[end - 1] === closeBrace) {
    const parsed = parseJson(bytes.subarray(0, end));
    if (parsed.ok) return { kind: "border", items: [recordOf(base, base + end, parsed)], isRecord: true };
  }
  return badShape(line, end);
}

/** The shape of a line that is no plain record: `end` is its trimmed end. */
function badShape(line: Line, end: number): Shape {
  const { bytes } = line;
  const origin = bomLength(bytes);
  let first = origin;
  while (first < end && isPadding(bytes[first])) first += 1;
  let last = end;
  while (last > first && isPadding(bytes[last - 1])) last -= 1;
  const hasNuls = nulItems(bytes, 0, origin, first).length > 0;
  const isAtMargin = first === origin || hasNuls;
  if (first === last) {
    // A BOM alone is no border: it is told wherever the line stands.
    if (!hasNuls) return origin > 0 ? other : blank;
    return { kind: "border", items: wrapItems(line, origin, first, first, []), isRecord: false };
  }
  if (isAtMargin && bytes[first] === openBrace && (origin > 0 || hasNuls || last < end)) {
    const parsed = parseJson(bytes.subarray(first, last));
    if (parsed.ok) {
      const item = recordOf(
        line.start + first,
        line.start + last,
        parsed,
        hasNuls || last < end ? "nul-run" : undefined,
      );
      return { kind: "border", items: wrapItems(line, origin, first, last, [item]), isRecord: true };
    }
  }
  // A line that starts with NULs is where a write was lost: nothing is joined over it.
  if (hasNuls) return { kind: "border", items: judgeLine(line), isRecord: false };
  if (!isAtMargin || bytes[first] !== openBrace) return other;
  const next = skipSpace(bytes, first + 1, end);
  if (next === end) return lone;
  return bytes[next] === quote || bytes[next] === closeBrace ? opener : other;
}

/** The last byte of a line that is no white space; 0 where nothing goes on behind it (NULs, a too large line). */
export function tailByte(line: Line): number {
  if (line.head !== undefined) return 0;
  return line.bytes[trimSpace(line.bytes, 0, line.bytes.length) - 1] ?? 0;
}

/** Where the last object of an opener starts that goes on beyond the line, and the scanner at the line's end; undefined: none does. */
export function openObjectStart(
  line: Line,
): { readonly start: number; readonly scanner: ObjectScanner } | undefined {
  const { bytes } = line;
  const end = bytes.length;
  let start = skipSpace(bytes, bomLength(bytes), end);
  while (start < end && bytes[start] === openBrace) {
    const scanner = new ObjectScanner();
    const after = scanner.feed(bytes, start, end);
    if (after < 0) return { start, scanner };
    start = skipSpace(bytes, after, end);
  }
  return undefined;
}

/** All that a line gives by itself, whatever is wrong with it. Every byte that is no white space is in one item. */
export function judgeLine(line: Line): LineItem[] {
  const origin = bomLength(line.bytes);
  const items: LineItem[] = [];
  if (origin > 0) items.push(damage(line.start, line.start + origin, "bom"));
  items.push(...judgeRange(line.bytes, line.start, origin, line.bytes.length));
  return items;
}

/** The items of a part of a line. `base` is the log's offset of `bytes[0]`. */
export function judgeRange(bytes: Buffer, base: number, from: number, to: number): LineItem[] {
  const end = trimSpace(bytes, from, to);
  let start = skipSpace(bytes, from, end);
  const items: LineItem[] = [];
  if (start < end && bytes[start] !== openBrace) {
    const parsed = bytes[start] === 0 ? undefined : parseJson(bytes.subarray(start, end));
    if (parsed?.ok) return [recordOf(base + start, base + end, parsed)];
  }
  while (start < end) {
    const nulEnd = skipNuls(bytes, start, end);
    if (nulEnd > start) {
      items.push(damage(base + start, base + nulEnd, "nul-run"));
      start = skipSpace(bytes, nulEnd, end);
      continue;
    }
    const after = bytes[start] === openBrace ? objectEnd(bytes, start, end) : -1;
    const parsed = after < 0 ? undefined : parseJson(bytes.subarray(start, after));
    if (parsed?.ok) {
      items.push(recordOf(base + start, base + after, parsed));
      start = skipSpace(bytes, after, end);
      continue;
    }
    // No record begins here: one may stand behind, but not across NULs, where bytes are lost.
    const nul = bytes.indexOf(0, start);
    const segmentEnd = nul < 0 || nul > end ? end : nul;
    const found = findRecord(bytes, start, segmentEnd);
    const stubEnd = trimSpace(bytes, start, found < 0 ? segmentEnd : found);
    const isTorn = bytes[start] === openBrace && (after < 0 || after > segmentEnd);
    items.push(damage(base + start, base + stubEnd, found >= 0 ? "resync" : isTorn ? "torn" : "not-json"));
    start = found < 0 ? skipSpace(bytes, segmentEnd, end) : found;
  }
  return markRecovered(items);
}

function skipNuls(bytes: Uint8Array, start: number, end: number): number {
  let index = start;
  while (index < end && bytes[index] === 0) index += 1;
  return index;
}

/** Names how each record of one line was saved, where its own parse does not say. */
function markRecovered(items: readonly LineItem[]): LineItem[] {
  const parts = items.filter((item) => item.type === "record" || item.reason !== "nul-run");
  let above: LineItem | undefined;
  return items.map((item) => {
    if (item.type === "damage") {
      if (item.reason !== "nul-run") above = item;
      return item;
    }
    const alone: DamageReason | undefined = items.length > 1 ? "nul-run" : undefined;
    const how = parts.length === 1 ? alone : above?.type === "damage" ? "resync" : "glued";
    above = item;
    return item.recovered !== undefined || how === undefined ? item : { ...item, recovered: how };
  });
}

const recordKeys = ["timestamp", "parentUuid", "leafUuid", "sessionId", "payload"];

/**
 * The start of a whole record behind a stub, or -1. An object inside the stub must not pass for one: a record is followed by the
 * end of the line or by another object, and where the stub could hold it as a member or an element it must have a key that agents
 * give to records only.
 */
function findRecord(bytes: Buffer, stub: number, end: number): number {
  const scanner = new ObjectScanner();
  let scanned = stub;
  let left = (end - stub) * resyncPassesMax;
  let candidate = bytes.indexOf('{"', stub + 1, "latin1");
  while (candidate >= 0 && candidate < end && left > 0) {
    // Beyond its own closing bracket the stub has no state: the scanner starts anew there, outside any string.
    while (scanned < candidate) {
      const closed = scanner.feed(bytes, scanned, candidate);
      scanned = closed < 0 ? candidate : closed;
    }
    const after = objectEnd(bytes, candidate, end);
    left -= (after < 0 ? end : after) - candidate;
    if (after > 0) {
      const rest = skipSpace(bytes, after, end);
      if (rest === end || bytes[rest] === openBrace) {
        const parsed = parseJson(bytes.subarray(candidate, after));
        if (
          parsed.ok &&
          (scanner.inString || !couldHold(bytes, stub, candidate) || hasRecordKey(parsed.value))
        )
          return candidate;
      }
    }
    candidate = bytes.indexOf('{"', candidate + 1, "latin1");
  }
  return -1;
}

/** Whether what stands before `candidate` lets an object follow as a member's value or an element. */
function couldHold(bytes: Uint8Array, stub: number, candidate: number): boolean {
  const before = bytes[trimSpace(bytes, stub, candidate) - 1];
  return before === 0x3a || before === 0x5b || before === 0x2c;
}

function hasRecordKey(value: unknown): boolean {
  return typeof value === "object" && value !== null && recordKeys.some((key) => Object.hasOwn(value, key));
}

/**
 * What is in one line, as a read of the log would give it, but for a record that goes on in other lines. `start` is the line's offset
 * in the log. For the items that `parse: false` left unparsed.
 */
export function parseRecord(bytes: Uint8Array, start = 0): readonly LineItem[] {
  const line: Line = { start, end: start + bytes.length, bytes: asBuffer(bytes) };
  const shape = shapeOf(line, true);
  if (shape.kind === "blank") return [];
  return shape.kind === "border" ? shape.items : judgeLine(line);
}

/** The same bytes as a Buffer, not copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
