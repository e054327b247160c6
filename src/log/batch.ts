/** Records that go to the disk together. */
import { decodeLine } from "./codec.ts";
import type { Prepared } from "./prepare.ts";
import type { LogRecord } from "./records.ts";
import type { StampedLine } from "./stamper.ts";

/** Records that go to the disk in one write. */
export interface Batch {
  readonly bytes: Buffer;
  readonly records: number;
  /** Number and offset after its last record. */
  readonly seqEnd: number;
  readonly end: number;
  readonly needsSync: boolean;
  readonly blobs: Prepared["blobs"];
}

/** One who waits for a batch to be written or synced. */
export interface Waiter {
  readonly seqEnd: number;
  readonly isForSync: boolean;
  readonly settle: (state: "saved" | "written" | "held") => void;
  readonly fail: (error: unknown) => void;
}

/** The batch of one append. `needsSync`: it counts only once it is on stable storage. */
export function batchOf(lines: readonly StampedLine[], needsSync: boolean, blobs: Prepared["blobs"]): Batch {
  const last = lines.at(-1);
  if (last === undefined) throw new Error("a batch without records");
  const first = lines[0];
  return {
    bytes: lines.length === 1 && first !== undefined ? first.bytes : Buffer.concat(lines.map((l) => l.bytes)),
    records: lines.length,
    seqEnd: last.record.seq + 1,
    end: last.end,
    needsSync,
    blobs,
  };
}

/** Bytes that a batch holds in memory. */
export function sizeOf(batch: Batch): number {
  return batch.blobs.reduce((sum, blob) => sum + blob.bytes.length, batch.bytes.length);
}

/** The records of bytes that this writer made itself. */
export function recordsIn(bytes: Buffer): LogRecord[] {
  const records: LogRecord[] = [];
  for (let from = 0; from < bytes.length; ) {
    const feed = bytes.indexOf(0x0a, from);
    const decoded = decodeLine(bytes.subarray(from, feed));
    if (!decoded.ok) throw new Error("a line of our own cannot be read");
    records.push(decoded.record as unknown as LogRecord);
    from = feed + 1;
  }
  return records;
}
