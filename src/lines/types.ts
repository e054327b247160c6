/** What a byte range of a log turned out to be. Offsets are bytes; ranges are half open. */

export type DamageReason =
  | "not-json" // a line that is no JSON, nothing of it recovered
  | "torn" // an incomplete record, the tail of the file included
  | "nul-run"
  | "glued" // two or more objects on one line, all recovered
  | "split" // one object over several lines, recovered by joining
  | "resync" // a stub in front of a recovered record
  | "control-characters" // a record recovered by escaping raw control characters in its strings
  | "invalid-utf8" // a record recovered with replacement characters
  | "bom"
  | "too-large" // a line above the limit: kept as a placeholder
  | "checksum" // only in logs whose records carry one: not the bytes that were written
  | "sequence"; // only in logs whose records are numbered: records missing, doubled or moved there

/** One record: a JSON value of one line, or of a part of a repaired line. Its range starts and ends with a byte of the value. */
export interface RecordItem {
  readonly type: "record";
  readonly start: number;
  readonly end: number;
  /** Any JSON value; `undefined` where `bytes` is set. */
  readonly value: unknown;
  /** Set where the record was saved from a bad line. */
  readonly recovered?: DamageReason;
  /** Only with `parse: false`: the line's bytes, not looked into; `parseRecord(bytes, start)` gives what is in them. */
  readonly bytes?: Uint8Array;
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
  /** At most `length` bytes from `offset`; none only at or past the end. The bytes belong to the caller. */
  read(offset: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface LineLimits {
  /** A line above this many bytes is not parsed; it becomes a `too-large` damage item. Default 64 MiB. */
  readonly lineBytesMax?: number;
  /** Most bytes from the start of the first line of a record split over lines to the start of its last. Default 4 MiB. */
  readonly joinBytesMax?: number;
  /** Bytes of the first read of a run; later reads double up to 16 times that. Default 64 KiB. */
  readonly chunkBytes?: number;
}

/**
 * What to read. The answer is always a part of the items that the whole log holds: those with `start <= item.start` and
 * `item.end <= end`, wherever the two lie.
 */
export interface LineReadOptions {
  /** Default 0. */
  readonly start?: number;
  /** Default: the size at the time of the call. */
  readonly end?: number;
  readonly limits?: LineLimits;
  /** Stops the reading: the iteration rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** False leaves lines that look whole (`{"` first, `}` last) unparsed: their items carry `bytes`. Default true. */
  readonly parse?: boolean;
  /**
   * True where the log may still grow: what its end does not settle yet (half a line, an object whose other lines may follow) is left
   * out instead of being reported as damage. `followFile` from the last item's end then misses and repeats nothing. Default false.
   */
  readonly growing?: boolean;
}

export type FollowEvent =
  /** New whole records and damage, in order. Following from `end` (or from the last item's end) misses and repeats nothing. */
  | { readonly type: "items"; readonly items: readonly LineItem[]; readonly end: number }
  /** What was known is void: the file shrank, was replaced, or came back. The reader starts again at byte 0. */
  | { readonly type: "reset"; readonly reason: "truncated" | "replaced" | "returned" }
  /** `from` lay inside an item: that item is given whole, from `start`. Said once at most, before the item. */
  | { readonly type: "resynced"; readonly from: number; readonly start: number }
  /** The file is not there (any more). */
  | { readonly type: "gone" }
  /**
   * All that the file holds has been given; said once each time it becomes true. `partialBytes` are held back after `end`: half a
   * line, or lines of an object that is not whole.
   */
  | { readonly type: "caughtUp"; readonly end: number; readonly partialBytes: number }
  /** The watcher failed and polling goes on alone; said once. */
  | { readonly type: "watcherFailed"; readonly message: string };
