/** The reading side of following: one file, from one offset on, as far as it goes. */
import { findBegin } from "./context.ts";
import type { Joiner } from "./joiner.ts";
import {
  followReadBytesMin,
  headPrintBytes,
  nowReadBytesMax,
  type ResolvedLimits,
  tailPrintBytes,
} from "./limits.ts";
import { asBuffer, closeBrace, skipSpace, trimSpace } from "./line.ts";
import { ObjectScanner } from "./scan.ts";
import type { FileSource, FileState } from "./source.ts";
import { readRange, Splitter } from "./split.ts";
import type { LineItem } from "./types.ts";

const empty = Buffer.alloc(0);

/** The bytes by which a file is known to be what was read, though it changed: its first ones, and those before the read offset. */
class Prints {
  #head: Buffer = Buffer.alloc(0);
  #tail: Buffer = Buffer.alloc(0);

  static async at(source: FileSource, offset: number): Promise<Prints> {
    const prints = new Prints();
    prints.#head = Buffer.from(await readRange(source, 0, Math.min(headPrintBytes, offset)));
    const start = Math.max(0, offset - tailPrintBytes);
    prints.#tail = Buffer.from(await readRange(source, start, offset - start));
    return prints;
  }

  add(chunk: Buffer): void {
    if (this.#head.length < headPrintBytes)
      this.#head = Buffer.concat([this.#head, chunk]).subarray(0, headPrintBytes);
    const tail = chunk.length >= tailPrintBytes ? chunk : Buffer.concat([this.#tail, chunk]);
    // A copy, so that a print does not keep a whole chunk.
    this.#tail = Buffer.from(tail.subarray(-tailPrintBytes));
  }

  /** What follows the prints, up to `length` bytes of it; undefined where they do not match. */
  async match(source: FileSource, offset: number, length: number): Promise<Buffer | undefined> {
    const tailBytes = this.#tail.length;
    // One read: the file's end within what comes behind the print is no short read.
    let got = asBuffer(await source.read(offset - tailBytes, tailBytes + length));
    if (got.length < tailBytes) got = await readRange(source, offset - tailBytes, tailBytes);
    if (!got.subarray(0, tailBytes).equals(this.#tail)) return undefined;
    const head = await readRange(source, 0, this.#head.length);
    return head.equals(this.#head) ? got.subarray(tailBytes) : undefined;
  }
}

/** The source with its short reads done at once: three ways through other threads cost more than all else of an append. */
function atOnce(source: FileSource): FileSource {
  const { readNow } = source;
  if (readNow === undefined) return source;
  return {
    ...source,
    read: async (offset, length) =>
      length <= nowReadBytesMax ? readNow(offset, length) : source.read(offset, length),
  };
}

/** Whether the unfinished line is a whole object, told from each byte once however slowly the line grows. */
class PartialWatch {
  #lineStart = -1;
  #scanner = new ObjectScanner();
  #scanned = 0;
  #isWhole = false;
  #isDead = false;

  /** Looks at what was added to the line; true where it is one object and white space. */
  look(lineStart: number, parts: readonly Buffer[]): boolean {
    if (lineStart !== this.#lineStart) {
      this.#lineStart = lineStart;
      this.#scanner = new ObjectScanner();
      this.#scanned = 0;
      this.#isWhole = false;
      this.#isDead = false;
    }
    let at = 0;
    for (const part of parts) {
      if (at + part.length > this.#scanned) this.#scan(part, this.#scanned - at);
      at += part.length;
    }
    this.#scanned = at;
    return this.#isWhole && !this.#isDead;
  }

  #scan(part: Buffer, start: number): void {
    let from = start;
    if (!this.#isWhole) {
      const after = this.#scanner.feed(part, from);
      if (after < 0) return;
      this.#isWhole = true;
      from = after;
    }
    if (skipSpace(part, from, part.length) < part.length) this.#isDead = true;
  }
}

/** Bytes that were read at the offset, and how many were asked for. */
interface Ahead {
  readonly bytes: Uint8Array;
  readonly length: number;
}

export interface Step {
  readonly items: readonly LineItem[];
  /** Set where an item began before the offset that was asked for: the item's start. */
  readonly resyncedAt?: number;
}

/** One file being read on. `step` gives what is new, piece by piece; the file's end is no end. */
export class Tail {
  readonly source: FileSource;
  readonly identity: string;
  /** The offset that was asked for. */
  readonly asked: number;
  readonly #limits: ResolvedLimits;
  readonly #joiner: Joiner;
  readonly #splitter: Splitter;
  readonly #prints: Prints;
  readonly #partial = new PartialWatch();
  #offset: number;
  /** Items that end here or before were given. */
  #givenEnd: number;
  #chunkBytes: number;
  /** The last read gave less than it asked for. */
  #isAtEnd = false;
  #ahead: Ahead | undefined;

  private constructor(
    source: FileSource,
    identity: string,
    limits: ResolvedLimits,
    begin: { readonly offset: number; readonly joiner: Joiner },
    prints: Prints,
    from: number,
  ) {
    this.source = source;
    this.identity = identity;
    this.asked = from;
    this.#limits = limits;
    this.#joiner = begin.joiner;
    this.#splitter = new Splitter(limits.lineBytesMax, begin.offset);
    this.#prints = prints;
    this.#offset = begin.offset;
    this.#givenEnd = from;
    this.#chunkBytes = limits.chunkBytes;
  }

  /** A tail that gives the items after `from`; `from` is at most the file's size. */
  static async at(source: FileSource, state: FileState, from: number, limits: ResolvedLimits): Promise<Tail> {
    const begin = await findBegin(source, from, state.size, limits, true);
    return new Tail(source, state.identity, limits, begin, await Prints.at(source, begin.offset), from);
  }

  /** The end of what was read. */
  get offset(): number {
    return this.#offset;
  }

  /** The end of what is settled: nothing before it will be given, nothing after it was. */
  get end(): number {
    return Math.max(this.#joiner.heldFrom ?? this.#splitter.lineStart, this.#givenEnd);
  }

  /**
   * Whether the file still holds what was read from it, as far as its prints tell. What follows is read along with them, for the next step.
   * `size` is what is known of the file's; with `isInMemory` what is new was written on this computer just now.
   */
  async isSame(size: number, isInMemory = false): Promise<boolean> {
    const length = this.#lengthOf(size);
    const source = isInMemory ? atOnce(this.source) : this.source;
    const bytes = await this.#prints.match(source, this.#offset, length);
    this.#ahead = bytes === undefined ? undefined : { bytes, length };
    return bytes !== undefined;
  }

  /** Bytes of the next read: no more than may be there. */
  #lengthOf(size: number): number {
    return Math.min(this.#chunkBytes, Math.max(0, size - this.#offset) + followReadBytesMin);
  }

  /** Reads one chunk; undefined where the file has no more now. A read that came to the file's end is not followed by another one. */
  async step(size: number): Promise<Step | undefined> {
    const { bytes, length } = this.#ahead ?? (await this.#read(size));
    const chunk = asBuffer(bytes);
    this.#ahead = undefined;
    this.#isAtEnd = chunk.length > 0 && chunk.length < length;
    if (chunk.length === 0) {
      this.#chunkBytes = this.#limits.chunkBytes;
      return undefined;
    }
    this.#chunkBytes = Math.min(this.#chunkBytes * 2, this.#limits.chunkBytesMax);
    this.#offset += chunk.length;
    this.#prints.add(chunk);
    const items: LineItem[] = [];
    for (const line of this.#splitter.push(chunk))
      for (const item of this.#joiner.push(line)) items.push(item);
    return this.#give(items);
  }

  async #read(size: number): Promise<Ahead> {
    const length = this.#lengthOf(size);
    if (this.#isAtEnd && size <= this.#offset) return { bytes: empty, length };
    return { bytes: await this.source.read(this.#offset, length), length };
  }

  /** What the unfinished last line is sure to give: to be asked at the file's end, after new bytes. */
  early(): Step {
    const parts = this.#splitter.partialParts();
    const last = parts.at(-1);
    if (last === undefined) return { items: [] };
    const isWhole = this.#partial.look(this.#splitter.lineStart, parts);
    const isLikely =
      isWhole ||
      (this.#joiner.heldFrom !== undefined && last[trimSpace(last, 0, last.length) - 1] === closeBrace);
    const line = isLikely ? this.#splitter.partial() : undefined;
    if (line === undefined) return { items: [] };
    return this.#give(this.#joiner.peek(line));
  }

  #give(items: readonly LineItem[]): Step {
    const fresh = items.filter((item) => item.end > this.#givenEnd);
    const first = fresh[0];
    const last = fresh.at(-1);
    if (first === undefined || last === undefined) return { items: [] };
    const isInside = first.start < this.#givenEnd;
    const isFirst = this.#givenEnd === this.asked;
    // A record given early can become part of a line too large to read: then only what came after it is told as that.
    if (isInside && !isFirst) fresh[0] = { ...first, start: this.#givenEnd };
    this.#givenEnd = last.end;
    return isInside && isFirst ? { items: fresh, resyncedAt: first.start } : { items: fresh };
  }
}
