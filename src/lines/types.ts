/** What a byte range of a log turned out to be. Offsets are bytes; ranges are half open. */

export type DamageReason =
  | "not-json" // a line that is no JSON, nothing of it recovered
  | "torn" // an incomplete record, the tail of the file included
  | "nul-run"
  | "glued" // two or more objects on one line, all recovered
  | "split" // one object over several lines, recovered by joining
  | "resync" // a stub in front of a recovered record
  | "invalid-utf8" // a record recovered with replacement characters
  | "bom"
  | "too-large"; // a line above the limit: kept as a placeholder

/** One record: a JSON value of one line, or of a part of a repaired line. */
export interface RecordItem {
  readonly type: "record";
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  /** Set where the record was saved from a bad line. */
  readonly recovered?: DamageReason;
}

/** Bytes that gave no record. `too-large` carries the first bytes of the line. */
export interface DamageItem {
  readonly type: "damage";
  readonly start: number;
  readonly end: number;
  readonly reason: DamageReason;
  readonly head?: Uint8Array;
}

export type LineItem = RecordItem | DamageItem;

/** Random access to a log's bytes. A read past the end is short; it never throws for that. */
export interface ByteSource {
  size(): Promise<number>;
  /** At most `length` bytes from `offset`. */
  read(offset: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface LineLimits {
  /** A line above this many bytes is not parsed; it becomes a `too-large` damage item. Default 64 MiB. */
  readonly lineBytesMax?: number;
  /** Most bytes that may be joined to repair a record split over lines. Default 1 MiB. */
  readonly joinBytesMax?: number;
  /** Bytes a read. Default 64 KiB, doubling to 1 MiB within a long line. */
  readonly chunkBytes?: number;
}

export type FollowEvent =
  /** New whole lines, in order. */
  | { readonly type: "items"; readonly items: readonly LineItem[]; readonly end: number }
  /** What was known is void: the file shrank, was replaced, or came back. The reader starts again at byte 0. */
  | { readonly type: "reset"; readonly reason: "truncated" | "replaced" | "returned" }
  /** The file is not there (any more). */
  | { readonly type: "gone" }
  /** All that the file holds has been given; said once each time it becomes true. */
  | { readonly type: "caughtUp"; readonly end: number; readonly partialBytes: number }
  /** The watcher failed and polling goes on alone; said once. */
  | { readonly type: "watcherFailed"; readonly message: string };
