/** The head and the tail of a file, for describing a session without reading it. */
import { type ByteSource, openFile } from "../lines/index.ts";

export interface FileEnds {
  readonly bytes: number;
  readonly head: Uint8Array;
  /** The last bytes, where the head does not hold the whole file. */
  readonly tail: Uint8Array;
  /** Offset of the tail's first byte. */
  readonly tailStart: number;
}

/** Reads the ends of a file: one open, at most two reads. Throws the file system's error where it cannot be read. */
export async function readEnds(path: string, headBytes: number, tailBytes: number): Promise<FileEnds> {
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

const decoder = new TextDecoder("utf-8");

/** Whole lines of a piece of a file as text, in order. The last one counts only where `isWhole` says that the piece ends there. */
export function* textLines(bytes: Uint8Array, isWhole: boolean): Iterable<string> {
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline === -1 && !isWhole) return;
    const end = newline === -1 ? bytes.length : newline;
    if (end > start) yield decoder.decode(bytes.subarray(start, end));
    start = end + 1;
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
