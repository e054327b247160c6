/** The incremental reading of a growing response: each byte is folded once, whatever the cuts of the reads. Pure: bytes in, stream out. */
import { foldStream, type Stream } from "../transcript/index.ts";
import { GUARD_BYTES, LINE_BYTES_MAX } from "./limits.ts";

/** The part of the platform's decoder that is used; Node and browsers have it alike. */
declare const TextDecoder: new (
  label: string,
  options: { readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

/** How far a response has been read. */
export interface ReaderState {
  /** The file that is read; absent before the first read. */
  readonly identity?: string;
  /** Bytes taken so far: advanced by what was really read, never by what a file's size promised. */
  readonly offset: number;
  /** The last bytes before the offset, at most `GUARD_BYTES`: they tell a file that was rewritten. */
  readonly guard: Uint8Array;
  /** The line that has no end yet. */
  readonly partial: Uint8Array;
  /** The line that has no end yet is over the limit and is stepped over. */
  readonly isSkipping: boolean;
  /** Whether anything that was read said something. */
  readonly hasSpoken: boolean;
}

/** Bytes that a look read. */
export interface Growth {
  readonly identity: string;
  /** Where the bytes begin: the reader's offset, or 0 where the file is not the one that was read, or was cut or rewritten. */
  readonly start: number;
  readonly bytes: Uint8Array;
  /** The read reached the end of the file as it was then. */
  readonly isEnd: boolean;
}

export interface Reading {
  readonly state: ReaderState;
  /** What the whole lines among the new bytes say; empty where they say nothing. */
  readonly stream: Stream;
  /** The bytes begin anew, and what was read before said something. */
  readonly again: boolean;
}

const nothing = new Uint8Array(0);
const newline = 0x0a;

/** A reader at the first byte. */
export const startReader: ReaderState = {
  offset: 0,
  guard: nothing,
  partial: nothing,
  isSkipping: false,
  hasSpoken: false,
};

/**
 * Whether a file goes on from where it was read: it is the same one, and the bytes before the offset are still there. `before` is what
 * stands there now; it is shorter than the guard where the file was cut.
 */
export function isContinued(
  reader: Pick<ReaderState, "identity" | "guard">,
  identity: string,
  before: Uint8Array,
): boolean {
  if (reader.identity === undefined) return true;
  const { guard } = reader;
  return (
    reader.identity === identity &&
    before.length >= guard.length &&
    guard.every((byte, at) => byte === before[at])
  );
}

/** Takes what a look read. Growth that begins neither at the offset nor at 0 is a caller's bug and throws a RangeError. */
export function readGrowth(
  reader: ReaderState,
  growth: Growth,
  lineBytesMax: number = LINE_BYTES_MAX,
): Reading {
  const isAnew = growth.start !== reader.offset || (reader.identity ?? growth.identity) !== growth.identity;
  if (isAnew && growth.start !== 0)
    throw new RangeError(`bytes from ${growth.start} do not follow ${reader.offset}`);
  const from = isAnew ? startReader : reader;
  const again = isAnew && reader.hasSpoken;
  const { bytes } = growth;
  const end = bytes.lastIndexOf(newline) + 1;
  const rest = bytes.subarray(end);
  let stream: Stream = {};
  let partial = from.partial;
  let isSkipping = from.isSkipping;
  if (end > 0) {
    stream = foldStream(wholeLines(partial, bytes.subarray(0, end), isSkipping, lineBytesMax));
    partial = nothing;
    isSkipping = false;
  }
  if (!isSkipping && partial.length + rest.length > lineBytesMax) {
    partial = nothing;
    isSkipping = true;
  } else if (!isSkipping) {
    partial = concat(partial, rest);
  }
  const hasSpoken = from.hasSpoken || stream.lastDelta !== undefined;
  const state: ReaderState = {
    identity: growth.identity,
    offset: from.offset + bytes.length,
    guard: concat(from.guard, bytes).slice(-GUARD_BYTES),
    partial,
    isSkipping,
    hasSpoken,
  };
  return { state, stream, again };
}

/** The lines as text, without those over the limit; `bytes` ends with a newline. The first line continues `partial`. */
function wholeLines(
  partial: Uint8Array,
  bytes: Uint8Array,
  isSkipping: boolean,
  lineBytesMax: number,
): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const firstEnd = bytes.indexOf(newline) + 1;
  const whole = isSkipping ? bytes.subarray(firstEnd) : concat(partial, bytes);
  if (whole.length <= lineBytesMax) return decoder.decode(whole);
  let text = "";
  for (let at = 0; at < whole.length; ) {
    const end = whole.indexOf(newline, at);
    if (end - at <= lineBytesMax) text += `${decoder.decode(whole.subarray(at, end))}\n`;
    at = end + 1;
  }
  return text;
}

/** Always bytes of its own where it is kept, so that a small rest does not hold a large read. */
function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
