/**
 * Decodes a zstd archive as a stream (RFC 8878): frames and blocks are walked here, the blocks themselves are decoded by fzstd. Walking
 * them ourselves is what bounds memory (a frame's window is checked before it is allocated), verifies checksums, and says where an
 * archive is cut or damaged; what could be decoded is given all the same.
 */
import { Decompress } from "fzstd";
import { createXxh64 } from "./xxh64.ts";

/** Widest window a frame may ask for: what the reference decoder allows unasked. */
export const ZSTD_WINDOW_MAX = 128 * 1024 * 1024;
/** Most bytes one archive may decode to. */
const ZSTD_OUTPUT_MAX = 16 * 1024 ** 3;

const BLOCK_MAX = 128 * 1024;

type ArchiveFault =
  /** The archive ends inside a frame. */
  | "truncated"
  /** Bytes that are no frame, or a block that cannot be decoded. */
  | "corrupt"
  /** A frame decoded, but its checksum says otherwise. */
  | "checksum"
  /** A frame needs what this reader does not have: a dictionary, or a window above the limit. */
  | "unsupported"
  /** The output limit was reached. */
  | "limit";

export interface ArchiveDamage {
  readonly fault: ArchiveFault;
  /** Where in the archive. */
  readonly archiveOffset: number;
  /** Where in the decoded bytes: what is missing would come here. */
  readonly offset: number;
}

/** Hands out bytes in exact amounts. */
export interface ByteFeed {
  /** Exactly `length` bytes, or fewer only at the end. The result is valid until the next call. */
  take(length: number): Promise<Uint8Array>;
  /** Moves on by `length` bytes; false where the input ends before. */
  skip(length: number): Promise<boolean>;
  readonly position: number;
}

export interface DecodeLimits {
  readonly windowMax?: number;
  readonly outputMax?: number;
}

interface FrameHeader {
  readonly bytes: Uint8Array;
  readonly hasChecksum: boolean;
}

/** Decodes all frames in order and gives every decoded piece to `sink`. Returns the damage found; it never throws for bad input. */
export async function decodeFrames(
  feed: ByteFeed,
  sink: (piece: Uint8Array) => Promise<void>,
  limits: DecodeLimits = {},
): Promise<readonly ArchiveDamage[]> {
  const windowMax = limits.windowMax ?? ZSTD_WINDOW_MAX;
  const outputMax = limits.outputMax ?? ZSTD_OUTPUT_MAX;
  const damage: ArchiveDamage[] = [];
  let produced = 0;
  const report = (fault: ArchiveFault, archiveOffset: number): void => {
    damage.push({ fault, archiveOffset, offset: produced });
  };
  for (;;) {
    const frameStart = feed.position;
    const magic = (await feed.take(4)).slice();
    if (magic.length === 0) return damage;
    if (magic.length < 4) {
      report("truncated", frameStart);
      return damage;
    }
    const number = word(magic, 0);
    if (number >>> 4 === 0x184d2a5) {
      const size = await feed.take(4);
      if (size.length < 4 || !(await feed.skip(word(size, 0)))) {
        report("truncated", frameStart);
        return damage;
      }
      continue;
    }
    if (number !== 0xfd2fb528) {
      report("corrupt", frameStart);
      return damage;
    }
    const header = await readHeader(feed, magic, windowMax);
    if (typeof header === "string") {
      report(header, frameStart);
      return damage;
    }
    const ending = await decodeBlocks(feed, header, async (piece) => {
      if (produced + piece.length > outputMax) return false;
      await sink(piece);
      produced += piece.length;
      return true;
    });
    for (const { fault, at } of ending.faults) report(fault, at);
    if (!ending.goesOn) return damage;
  }
}

function word(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** A little-endian number of up to 8 bytes, as exact as a double is. */
function bigWord(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let i = length - 1; i >= 0; i--) value = value * 256 + bytes[at + i]!;
  return value;
}

async function readHeader(
  feed: ByteFeed,
  magic: Uint8Array,
  windowMax: number,
): Promise<FrameHeader | "truncated" | "corrupt" | "unsupported"> {
  const descriptor = (await feed.take(1))[0];
  if (descriptor === undefined) return "truncated";
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!;
  const sizeBytes = sizeFlag === 0 ? (isSingle ? 1 : 0) : 1 << sizeFlag;
  const restBytes = (isSingle ? 0 : 1) + dictionaryBytes + sizeBytes;
  const rest = (await feed.take(restBytes)).slice();
  if (rest.length < restBytes) return "truncated";
  if (descriptor & 0x08) return "corrupt";
  let at = 0;
  let window = 0;
  if (!isSingle) {
    const code = rest[at++]!;
    const base = 2 ** (10 + (code >> 3));
    window = base + (base / 8) * (code & 7);
  }
  const dictionary = bigWord(rest, at, dictionaryBytes);
  at += dictionaryBytes;
  if (isSingle) window = bigWord(rest, at, sizeBytes) + (sizeFlag === 1 ? 256 : 0);
  if (dictionary !== 0 || window > windowMax) return "unsupported";
  const bytes = new Uint8Array(5 + rest.length);
  bytes.set(magic);
  bytes[4] = descriptor;
  bytes.set(rest, 5);
  return { bytes, hasChecksum: (descriptor & 0x04) !== 0 };
}

interface FrameEnding {
  readonly faults: readonly { readonly fault: ArchiveFault; readonly at: number }[];
  /** Whether the walk stands at the start of a next frame. */
  readonly goesOn: boolean;
}

async function decodeBlocks(
  feed: ByteFeed,
  header: FrameHeader,
  emit: (piece: Uint8Array) => Promise<boolean>,
): Promise<FrameEnding> {
  const pieces: Uint8Array[] = [];
  const decoder = new Decompress((piece) => {
    if (piece.length > 0) pieces.push(piece);
  });
  const hash = header.hasChecksum ? createXxh64() : undefined;
  const faults: { fault: ArchiveFault; at: number }[] = [];
  decoder.push(header.bytes);
  for (let isLast = false; !isLast; ) {
    const at = feed.position;
    const head = (await feed.take(3)).slice();
    if (head.length < 3) return { faults: [...faults, { fault: "truncated", at }], goesOn: false };
    const bits = head[0]! | (head[1]! << 8) | (head[2]! << 16);
    isLast = (bits & 1) === 1;
    const type = (bits >> 1) & 3;
    const size = bits >> 3;
    if (type === 3 || size > BLOCK_MAX)
      return { faults: [...faults, { fault: "corrupt", at }], goesOn: false };
    const body = await feed.take(type === 1 ? 1 : size);
    if (body.length < (type === 1 ? 1 : size))
      return { faults: [...faults, { fault: "truncated", at }], goesOn: false };
    // After a block that could not be decoded, the rest of its frame refers to bytes that are not there: it is only walked.
    if (faults.length > 0) continue;
    const block = new Uint8Array(3 + body.length + 4);
    block.set(head);
    block.set(body, 3);
    if (!decodeBlock(decoder, block.subarray(0, 3 + body.length), isLast, header.hasChecksum)) {
      faults.push({ fault: "corrupt", at });
      pieces.length = 0;
      continue;
    }
    for (const piece of pieces) {
      hash?.update(piece);
      if (!(await emit(piece))) return { faults: [{ fault: "limit", at }], goesOn: false };
    }
    pieces.length = 0;
  }
  if (!header.hasChecksum) return { faults, goesOn: true };
  const at = feed.position;
  const sum = await feed.take(4);
  if (sum.length < 4) return { faults: [...faults, { fault: "truncated", at }], goesOn: false };
  if (faults.length === 0 && hash && hash.low32() !== word(sum, 0)) faults.push({ fault: "checksum", at });
  return { faults, goesOn: true };
}

/** True where fzstd took the block. It is told of the frame's end so that it gives up everything; it never sees the checksum. */
function decodeBlock(decoder: Decompress, block: Uint8Array, isLast: boolean, hasChecksum: boolean): boolean {
  try {
    if (!isLast) decoder.push(block);
    else {
      const closing = new Uint8Array(block.length + (hasChecksum ? 4 : 0));
      closing.set(block);
      decoder.push(closing, true);
    }
    return true;
  } catch (error) {
    // On garbage the decoder throws its own errors and, where garbage sends it out of its tables, type and range errors too.
    if (error instanceof Error) return false;
    throw error;
  }
}
