/** Reading a log's bytes line by line, strictly at line feeds, in bounded memory. */
import type { ByteSource } from "../lines/index.ts";
import { copyChunkBytes, lineBytesMax, readBlockBytes } from "./limits.ts";
import type { OpenFile } from "./ports.ts";

const lineFeed = 0x0a;

/** A file as random access bytes. It stays the caller's to close. */
export function sourceOf(file: OpenFile): ByteSource {
  return {
    async size() {
      return (await file.facts()).size;
    },
    async read(offset, length) {
      const bytes = Buffer.allocUnsafe(length);
      return bytes.subarray(0, await file.read(bytes, offset));
    },
    async close() {},
  };
}

/** One line without its line feed: `bytes` is absent where it is longer than a line may be. */
export interface RawLine {
  readonly start: number;
  /** After the line feed; after the last byte where there is none. */
  readonly end: number;
  readonly whole: boolean;
  readonly bytes?: Buffer;
  /** Of a line read forward that is too long: whether a NUL is in it. */
  readonly hasNul?: boolean;
}

async function take(source: ByteSource, start: number, end: number, whole: boolean): Promise<RawLine> {
  const length = end - start - (whole ? 1 : 0);
  if (length >= lineBytesMax) return { start, end, whole };
  const bytes = await readExactly(source, start, length);
  return { start, end, whole, bytes };
}

/** Exactly the bytes asked for; fewer only where the source ends. */
async function readExactly(source: ByteSource, start: number, length: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let got = 0;
  while (got < length) {
    const part = await source.read(start + got, length - got);
    if (part.length === 0) break;
    parts.push(part);
    got += part.length;
  }
  const only = parts[0];
  return parts.length === 1 && only !== undefined
    ? Buffer.from(only.buffer, only.byteOffset, only.byteLength)
    : Buffer.concat(parts);
}

/**
 * The lines of `[start, end)`, oldest first; `start` is the start of a line. A last line without its feed is not `whole`. One block is
 * held at a time, and the line that goes over its border.
 */
export async function* linesForward(source: ByteSource, start: number, end: number): AsyncGenerator<RawLine> {
  let lineStart = start;
  let block: Buffer = Buffer.alloc(0); // bytes [lineStart, at)
  let at = start;
  let hasNul = false; // in the bytes of the line that were given up
  while (at < end) {
    const isTooLong = block.length >= lineBytesMax;
    // Doubling while a line is unfinished: its bytes are not copied once a block.
    const next = await readExactly(
      source,
      at,
      Math.min(Math.max(readBlockBytes, isTooLong ? 0 : block.length), end - at),
    );
    if (next.length === 0) break;
    const searchFrom = isTooLong ? 0 : block.length;
    if (isTooLong) hasNul ||= block.includes(0);
    // Of a line that is too long only its borders matter: its bytes are not gathered.
    block = isTooLong ? next : block.length === 0 ? next : Buffer.concat([block, next]);
    const base = at + next.length - block.length;
    at += next.length;
    let from = 0;
    let feed = block.indexOf(lineFeed, searchFrom);
    while (feed !== -1) {
      const lineEnd = base + feed + 1;
      const fits = base + from === lineStart && feed - from < lineBytesMax;
      yield {
        start: lineStart,
        end: lineEnd,
        whole: true,
        ...(fits
          ? { bytes: block.subarray(from, feed) }
          : { hasNul: hasNul || block.subarray(from, feed).includes(0) }),
      };
      hasNul = false;
      lineStart = lineEnd;
      from = feed + 1;
      feed = block.indexOf(lineFeed, from);
    }
    block = block.subarray(from);
  }
  if (lineStart < at) yield await take(source, lineStart, at, false);
}

/** The lines before `end`, newest first. `end` is the end of the file or of a line. */
export async function* linesBackward(source: ByteSource, end: number): AsyncGenerator<RawLine> {
  let lineEnd = end; // the end of the line that is being looked for
  let at = end; // bytes from here on were searched
  let isWhole = end > 0 && (await source.read(end - 1, 1))[0] === lineFeed;
  while (at > 0) {
    const from = Math.max(0, at - readBlockBytes);
    const block = await readExactly(source, from, at - from);
    // The feed that ends the line sought is not the one before it.
    let before = block.lastIndexOf(lineFeed, isWhole && at === lineEnd ? block.length - 2 : block.length - 1);
    if (block.length === 1 && isWhole && at === lineEnd) before = -1;
    while (before !== -1) {
      const start = from + before + 1;
      yield await lineIn(source, block, from, start, lineEnd, isWhole);
      lineEnd = start;
      isWhole = true;
      before = before === 0 ? -1 : block.lastIndexOf(lineFeed, before - 1);
    }
    at = from;
  }
  if (lineEnd > 0) yield await take(source, 0, lineEnd, isWhole);
}

/** A line out of the block that holds it, or read where it reaches past the block. */
async function lineIn(
  source: ByteSource,
  block: Buffer,
  from: number,
  start: number,
  end: number,
  whole: boolean,
): Promise<RawLine> {
  if (end > from + block.length) return await take(source, start, end, whole);
  return { start, end, whole, bytes: block.subarray(start - from, end - from - (whole ? 1 : 0)) };
}

/** Copies `[start, end)` of one file to the end of another; false where the source ended before. */
export async function copyRange(from: OpenFile, to: OpenFile, start: number, end: number): Promise<boolean> {
  const chunk = Buffer.allocUnsafe(Math.min(copyChunkBytes, Math.max(1, end - start)));
  for (let at = start; at < end; ) {
    const got = await from.read(chunk.subarray(0, Math.min(chunk.length, end - at)), at);
    if (got === 0) return false;
    await writeWhole(to, chunk.subarray(0, got));
    at += got;
  }
  return true;
}

/** Writes all of `bytes`: at the end of the file, or from `position` on. */
export async function writeWhole(file: OpenFile, bytes: Uint8Array, position?: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const rest = done === 0 ? bytes : bytes.subarray(done);
    const taken = await file.write(rest, position === undefined ? undefined : position + done);
    // A file system that takes nothing and says nothing would otherwise be asked for ever.
    if (taken === 0) throw Object.assign(new Error("write took nothing"), { code: "EIO" });
    done += taken;
  }
}
