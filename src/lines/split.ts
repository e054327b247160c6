/** Bytes to physical lines, forward and backward. Only byte 0x0A ends a line. */
import { headBytesMax, type ResolvedLimits } from "./limits.ts";
import { asBuffer, type Line } from "./line.ts";
import type { ByteSource } from "./types.ts";

const lineFeed = 0x0a;
const empty: Buffer = Buffer.alloc(0);

/** Cuts bytes that come in any pieces into lines. It holds at most `lineBytesMax` bytes of one unfinished line and one chunk. */
export class Splitter {
  readonly #lineBytesMax: number;
  #lineStart: number;
  #parts: Buffer[] = [];
  #length = 0;
  #head: Buffer | undefined;

  constructor(lineBytesMax: number, start: number) {
    this.#lineBytesMax = lineBytesMax;
    this.#lineStart = start;
  }

  /** The offset of the first byte that is in no finished line. */
  get lineStart(): number {
    return this.#lineStart;
  }

  /** Bytes of the unfinished line. */
  get partialBytes(): number {
    return this.#length;
  }

  /** The lines that `chunk`, which follows what was pushed before, finishes. The lines share the chunk's memory. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let from = 0;
    let feed = chunk.indexOf(lineFeed);
    while (feed >= 0) {
      const bytes = chunk.subarray(from, feed);
      lines.push(this.#length === 0 ? this.#whole(bytes) : this.#finish(bytes));
      from = feed + 1;
      this.#lineStart += this.#length + bytes.length + 1;
      this.#length = 0;
      feed = chunk.indexOf(lineFeed, from);
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
    return lines;
  }

  /** The unfinished line as it is, or undefined where it has no byte. */
  partial(): Line | undefined {
    if (this.#length === 0) return undefined;
    if (this.#head === undefined && this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#line(this.#parts[0] ?? empty);
  }

  /** The pieces of the unfinished line; none where it is too large. */
  partialParts(): readonly Buffer[] {
    return this.#parts;
  }

  #whole(bytes: Buffer): Line {
    if (bytes.length > this.#lineBytesMax) return this.#finish(bytes);
    return { start: this.#lineStart, end: this.#lineStart + bytes.length, bytes };
  }

  #finish(bytes: Buffer): Line {
    const length = this.#length;
    this.#hold(bytes);
    const line = this.#line(this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts));
    this.#parts = [];
    this.#head = undefined;
    this.#length = length;
    return line;
  }

  #line(bytes: Buffer): Line {
    const start = this.#lineStart;
    const end = start + this.#length;
    return this.#head === undefined ? { start, end, bytes } : { start, end, bytes: empty, head: this.#head };
  }

  #hold(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#head !== undefined) {
      if (this.#head.length < headBytesMax) this.#head = firstBytes([this.#head, bytes]);
      return;
    }
    this.#parts.push(bytes);
    if (this.#length <= this.#lineBytesMax) return;
    this.#head = firstBytes(this.#parts);
    this.#parts = [];
  }
}

/** A copy of the first bytes of `parts`, so that a placeholder does not keep the line's memory. */
function firstBytes(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(
    parts,
    Math.min(
      headBytesMax,
      parts.reduce((sum, part) => sum + part.length, 0),
    ),
  );
}

/** Reads the whole range, over short reads; shorter only where the source ends before it. */
export async function readRange(source: ByteSource, offset: number, length: number): Promise<Buffer> {
  const first = asBuffer(await source.read(offset, length));
  if (first.length === length || first.length === 0) return first;
  const parts = [first];
  let got = first.length;
  while (got < length) {
    const part = asBuffer(await source.read(offset + got, length - got));
    if (part.length === 0) break;
    parts.push(part);
    got += part.length;
  }
  return Buffer.concat(parts, got);
}

/** The lines of `[start, end)` in batches of one read each. A line that `end` cuts is given as it is cut. */
export class ForwardLines {
  readonly #source: ByteSource;
  readonly #limits: ResolvedLimits;
  readonly #splitter: Splitter;
  readonly #end: number;
  #at: number;
  #chunkBytes: number;

  constructor(source: ByteSource, start: number, end: number, limits: ResolvedLimits) {
    this.#source = source;
    this.#limits = limits;
    this.#splitter = new Splitter(limits.lineBytesMax, start);
    this.#at = start;
    this.#end = end;
    this.#chunkBytes = limits.chunkBytes;
  }

  /** The next finished lines, maybe none; undefined at the end. */
  async next(): Promise<Line[] | undefined> {
    if (this.#at >= this.#end) return undefined;
    const wanted = Math.min(this.#chunkBytes, this.#end - this.#at);
    const chunk = asBuffer(await this.#source.read(this.#at, wanted));
    if (chunk.length === 0) {
      // The source became shorter than it was.
      this.#at = this.#end;
      return undefined;
    }
    this.#at += chunk.length;
    this.#chunkBytes = Math.min(this.#chunkBytes * 2, this.#limits.chunkBytesMax);
    return this.#splitter.push(chunk);
  }

  /** The last line, which no line feed ends; after the end. */
  partial(): Line | undefined {
    return this.#splitter.partial();
  }
}

/** The lines below `end`, newest first, in batches of one read each. `end` is the end of a line: the log's, or at a line feed, or after one. */
export class BackwardLines {
  readonly #source: ByteSource;
  readonly #limits: ResolvedLimits;
  #parts: Buffer[] = [];
  #length = 0;
  #isLarge = false;
  #lineEnd: number;
  #at: number;
  #chunkBytes: number;
  #isAtEnd = false;

  constructor(source: ByteSource, end: number, limits: ResolvedLimits) {
    this.#source = source;
    this.#limits = limits;
    this.#lineEnd = end;
    this.#at = end;
    this.#chunkBytes = limits.chunkBytes;
  }

  /** The next lines, newest first, maybe none; undefined when the head of the log has been given. */
  async next(): Promise<Line[] | undefined> {
    if (this.#isAtEnd) return undefined;
    const lines: Line[] = [];
    if (this.#at > 0) {
      const low = Math.max(0, this.#at - this.#chunkBytes);
      const chunk = await readRange(this.#source, low, this.#at - low);
      if (chunk.length < this.#at - low) {
        // The source became shorter than it was: nothing here is what the lines above were read from.
        this.#isAtEnd = true;
        return undefined;
      }
      this.#chunkBytes = Math.min(this.#chunkBytes * 2, this.#limits.chunkBytesMax);
      this.#at = low;
      let until = chunk.length;
      let feed = chunk.lastIndexOf(lineFeed);
      while (feed >= 0) {
        await this.#finish(lines, chunk.subarray(feed + 1, until), low + feed + 1);
        this.#lineEnd = low + feed;
        until = feed;
        feed = feed === 0 ? -1 : chunk.lastIndexOf(lineFeed, feed - 1);
      }
      this.#hold(chunk.subarray(0, until));
    }
    if (this.#at === 0) {
      await this.#finish(lines, empty, 0);
      this.#isAtEnd = true;
    }
    return lines;
  }

  #hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#length += bytes.length;
    if (!this.#isLarge) this.#parts.push(bytes);
    if (this.#length <= this.#limits.lineBytesMax) return;
    this.#isLarge = true;
    this.#parts = [];
  }

  async #finish(lines: Line[], bytes: Buffer, start: number): Promise<void> {
    this.#hold(bytes);
    const end = this.#lineEnd;
    if (this.#isLarge) {
      const head = await readRange(this.#source, start, Math.min(headBytesMax, end - start));
      lines.push({ start, end, bytes: empty, head: Buffer.from(head) });
    } else {
      const parts = this.#parts;
      lines.push({ start, end, bytes: parts.length === 1 ? parts[0]! : Buffer.concat(parts.reverse()) });
    }
    this.#parts = [];
    this.#length = 0;
    this.#isLarge = false;
  }
}

/** The offset of the first byte of the line that `offset` lies in. Memory: one chunk. */
export async function lineStartAt(
  source: ByteSource,
  offset: number,
  limits: ResolvedLimits,
): Promise<number> {
  let at = offset;
  let wanted = limits.chunkBytes;
  while (at > 0) {
    const low = Math.max(0, at - wanted);
    const chunk = await readRange(source, low, at - low);
    const feed = chunk.lastIndexOf(lineFeed);
    if (feed >= 0) return low + feed + 1;
    at = low;
    wanted = Math.min(wanted * 2, limits.chunkBytesMax);
  }
  return 0;
}

/** The offset of the line feed at or after `offset`, or `size`. Memory: one chunk. */
export async function lineEndAt(
  source: ByteSource,
  offset: number,
  size: number,
  limits: ResolvedLimits,
): Promise<number> {
  let at = offset;
  let wanted = limits.chunkBytes;
  while (at < size) {
    const chunk = asBuffer(await source.read(at, Math.min(wanted, size - at)));
    if (chunk.length === 0) return at;
    const feed = chunk.indexOf(lineFeed);
    if (feed >= 0) return at + feed;
    at += chunk.length;
    wanted = Math.min(wanted * 2, limits.chunkBytesMax);
  }
  return size;
}
