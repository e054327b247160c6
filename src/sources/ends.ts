/** The head and the tail of a file, for describing a session without reading it. */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { type ByteSource, openFile } from "../lines/index.ts";
import { isFileError } from "./file-errors.ts";

export interface FileEnds {
  readonly bytes: number;
  readonly head: Uint8Array;
  /** The last bytes, where the head does not hold the whole file. */
  readonly tail: Uint8Array;
  /** Offset of the tail's first byte. */
  readonly tailStart: number;
}

/** Bytes of both ends together that are read at once: through the thread pool each step would cost more than the reading. */
const AT_ONCE_BYTES_MAX = 128 * 1024;

/** Waits for no writer of a pipe, and changes not even the access time: refused for files of others, which are read the other way then. */
const quietRead: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOATIME ?? 0);

/** The ends of a regular file, read at once; undefined where it is none, or anything goes wrong. */
function readEndsAtOnce(path: string, headBytes: number, tailBytes: number): FileEnds | undefined {
  if (headBytes + tailBytes > AT_ONCE_BYTES_MAX) return undefined;
  let file: number | undefined;
  try {
    // Devices can act when they are opened.
    if (!statSync(path).isFile()) return undefined;
    file = openSync(path, quietRead);
    const bytes = fstatSync(file).size;
    const head = new Uint8Array(Math.min(headBytes, bytes));
    const tailStart = Math.max(head.length, bytes - tailBytes);
    const tail = new Uint8Array(Math.max(0, bytes - tailStart));
    const isRead =
      readSync(file, head, 0, head.length, 0) === head.length &&
      readSync(file, tail, 0, tail.length, tailStart) === tail.length;
    return isRead ? { bytes, head, tail, tailStart } : undefined;
  } catch (error) {
    // The other way of reading says what is wrong, in the readers' words.
    if (isFileError(error)) return undefined;
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Reads the ends of a file: one open, at most two reads. Throws the file system's error where it cannot be read. */
export async function readEnds(path: string, headBytes: number, tailBytes: number): Promise<FileEnds> {
  const ends = readEndsAtOnce(path, headBytes, tailBytes);
  if (ends !== undefined) return ends;
  const source = await openFile(path);
  try {
    const bytes = await source.size();
    const head = await readFully(source, 0, Math.min(headBytes, bytes));
    const tailStart = Math.max(head.length, bytes - tailBytes);
    const tail = await readFully(source, tailStart, Math.max(0, bytes - tailStart));
    return { bytes, head, tail, tailStart };
  } finally {
    await source.close();
  }
}

/** `length` bytes from `start`, fewer only where the source ends. */
export async function readFully(source: ByteSource, start: number, length: number): Promise<Uint8Array> {
  if (length <= 0) return new Uint8Array(0);
  const first = await source.read(start, length);
  if (first.length === length || first.length === 0) return first;
  const bytes = new Uint8Array(length);
  bytes.set(first);
  let filled = first.length;
  while (filled < length) {
    const piece = await source.read(start + filled, length - filled);
    if (piece.length === 0) break;
    bytes.set(piece, filled);
    filled += piece.length;
  }
  return bytes.subarray(0, filled);
}

const byteOrderMark = Buffer.of(0xef, 0xbb, 0xbf);

/** Whole lines of a piece of a file as text, in order. The last one counts only where `isWhole` says that the piece ends there. */
export function* textLines(bytes: Uint8Array, isWhole: boolean): Iterable<string> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline === -1 && !isWhole) return;
    const end = newline === -1 ? bytes.length : newline;
    if (bytes[start] === 0xef && all.subarray(start, start + 3).equals(byteOrderMark)) start += 3;
    if (end > start) yield all.toString("utf8", start, end);
    start = end + 1;
  }
}

/** The lines of a piece that ends where its file does, the last one first; what stands before the first line feed may be half a line. */
export function* textLinesBackward(bytes: Uint8Array): Iterable<string> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = bytes.length;
  while (end > 0) {
    const newline = bytes.lastIndexOf(0x0a, end - 1);
    if (newline + 1 < end) yield all.toString("utf8", newline + 1, end);
    end = newline;
  }
}

/** The line as a JSON object; absent where it is none. */
export function parseLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
