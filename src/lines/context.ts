/** Where to begin so that what a place of a log gives does not depend on where the reading started. */
import { beginsObject, Joiner } from "./joiner.ts";
import type { ResolvedLimits } from "./limits.ts";
import { type Line, type Shape, shapeOf, skipSpace, tailByte } from "./line.ts";
import { BackwardLines, ForwardLines, lineStartAt, readRange } from "./split.ts";
import type { ByteSource } from "./types.ts";

const lineFeed = 0x0a;
const peekBytes = 16;

export interface Begin {
  /** The start of a line. */
  readonly offset: number;
  readonly joiner: Joiner;
}

/** The start of the first line that can hold an item starting at or after `start`. */
async function firstLineStart(source: ByteSource, start: number, limits: ResolvedLimits): Promise<number> {
  const around = await readRange(source, start - 1, peekBytes);
  if (around[0] === lineFeed) return start;
  // The end of an item is followed by its line's end: the line need not be read again.
  const next = skipSpace(around, 1, around.length);
  const feed = around.lastIndexOf(lineFeed, next - 1);
  if (feed > 0) return start + feed;
  return lineStartAt(source, start, limits);
}

/** The first line from `offset` on that is not blank. */
async function firstLine(
  source: ByteSource,
  offset: number,
  size: number,
  limits: ResolvedLimits,
): Promise<Line | undefined> {
  const lines = new ForwardLines(source, offset, size, limits);
  const isContent = (line: Line): boolean =>
    line.head !== undefined || skipSpace(line.bytes, 0, line.bytes.length) < line.bytes.length;
  for (let batch = await lines.next(); batch !== undefined; batch = await lines.next()) {
    const line = batch.find(isContent);
    if (line !== undefined) return line;
  }
  const line = lines.partial();
  return line !== undefined && isContent(line) ? line : undefined;
}

/**
 * The line and the joiner to begin with, so that all items from `start` on come out as in a reading of the whole log. Cost: one line;
 * in damage also the lines above it, up to `joinBytesMax` bytes and one line.
 */
export async function findBegin(
  source: ByteSource,
  start: number,
  size: number,
  limits: ResolvedLimits,
  parse: boolean,
): Promise<Begin> {
  const at = (offset: number, tailAbove: number | undefined): Begin => ({
    offset,
    joiner: new Joiner(limits, parse, tailAbove),
  });
  if (start <= 0) return at(0, undefined);
  const offset = await firstLineStart(source, start, limits);
  const first = await firstLine(source, offset, size, limits);
  if (offset === 0) return at(0, undefined);
  const line: Line = first ?? { start: offset, end: offset, bytes: Buffer.alloc(0) };
  const shape: Shape = first === undefined ? { kind: "other" } : shapeOf(first, parse);
  // For a line that settles itself what is above it does not matter.
  if (shape.kind === "border" || shape.kind === "opener") return at(offset, 0);
  return lookAbove(new BackwardLines(source, offset, limits), { line, shape }, at, limits, parse);
}

/** Goes up from a line that may belong to an object that began above it. */
async function lookAbove(
  above: BackwardLines,
  first: { line: Line; shape: Shape },
  at: (offset: number, tailAbove: number | undefined) => Begin,
  limits: ResolvedLimits,
  parse: boolean,
): Promise<Begin> {
  let pending = first.shape.kind === "lone" ? first.line : undefined;
  let firstTail: number | undefined;
  for (let batch = await above.next(); batch !== undefined; batch = await above.next()) {
    for (const line of batch) {
      const shape = shapeOf(line, parse);
      if (shape.kind === "blank") continue;
      const tail = tailByte(line);
      if (pending !== undefined && beginsObject(tail)) return at(pending.start, tail);
      firstTail ??= tail;
      if (shape.kind === "border") return at(first.line.start, firstTail);
      if (shape.kind === "opener") return at(line.start, 0);
      if (first.line.start - line.start > limits.joinBytesMax) return at(first.line.start, firstTail);
      pending = shape.kind === "lone" ? line : undefined;
    }
  }
  return pending === undefined ? at(first.line.start, firstTail) : at(pending.start, undefined);
}
