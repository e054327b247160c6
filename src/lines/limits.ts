/** The limits of this part. Each has a test at the limit. */
import type { LineLimits } from "./types.ts";

/** A line longer than this many bytes is never held or parsed. */
export const lineBytesMax: number = 64 * 1024 * 1024;

/** Most bytes from the start of the first line of a record split over lines to the start of its last. */
export const joinBytesMax: number = 4 * 1024 * 1024;

/** Bytes of the first read of a run. */
export const chunkBytes: number = 64 * 1024;

/** Reads double up to this many times the first one. */
export const chunkGrowthMax = 16;

/** First bytes of a too large line that its placeholder carries. */
export const headBytesMax: number = 4096;

/** The search for a record behind a stub looks at no more than this many times the line's bytes. */
export const resyncPassesMax = 8;

/** Bytes before the read offset, and at the head of the file, that must still be there when a followed file has changed. */
export const tailPrintBytes: number = 1024;
export const headPrintBytes: number = 256;

/** A follower's read asks for this much beyond the size that it knows: what was appended since then comes along. */
export const followReadBytesMin: number = 4 * 1024;

/** Most bytes of one read that is done at once after a hint: more may not be in memory, and would hold others up. */
export const nowReadBytesMax: number = 16 * 1024;

/** The sweep's pause: it doubles from the first to the last while nothing happens. */
export const sweepFirstMs = 50;
export const sweepIdleMs = 1000;
/** The longest pause where no watcher works. */
export const sweepAloneMs = 500;

/** After a hint that meant nothing, the next ones wait, doubling from the first to the last. */
export const hintPauseFirstMs = 4;
export const hintPauseMaxMs = 250;

export interface ResolvedLimits {
  readonly lineBytesMax: number;
  readonly joinBytesMax: number;
  readonly chunkBytes: number;
  readonly chunkBytesMax: number;
}

function positive(name: string, value: number | undefined, byDefault: number): number {
  if (value === undefined) return byDefault;
  if (!Number.isSafeInteger(value) || value < 1)
    throw new RangeError(`${name} is ${value}, expected an integer of at least 1`);
  return value;
}

/** The limits with the defaults filled in. Throws a RangeError for one that is no positive integer. */
export function resolveLimits(limits: LineLimits = {}): ResolvedLimits {
  const chunk = positive("chunkBytes", limits.chunkBytes, chunkBytes);
  return {
    lineBytesMax: positive("lineBytesMax", limits.lineBytesMax, lineBytesMax),
    joinBytesMax: positive("joinBytesMax", limits.joinBytesMax, joinBytesMax),
    chunkBytes: chunk,
    chunkBytesMax: chunk * chunkGrowthMax,
  };
}
