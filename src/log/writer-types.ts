/** What one who writes a log sees of it. */
import type { BlobRef } from "./blobs.ts";
import type { TailState } from "./fold.ts";
import type { RecordSpec, SessionBody } from "./records.ts";

/** `turn`: a sync at the end of each turn and at each `flush`. `record`: a sync for each group of appends. */
export type Durability = "turn" | "record";

/** The place of an appended record: `[start, end)` are bytes of the log, the line feed included. */
export interface RecordPlace {
  readonly seq: number;
  readonly start: number;
  readonly end: number;
  /** Of a conversation record: its id, given or made. */
  readonly turnId?: string;
}

/**
 * What became of an append.
 * `saved`: on stable storage. `written`: in the log, survives the end of this process. `held`: in memory until the disk takes it again;
 * places may still move. `missed`: above the bound of what is held; it will not be in the log, which will say so. `unsaved`: the session
 * keeps no log.
 */
export interface Appended {
  readonly state: "saved" | "written" | "held" | "missed" | "unsaved";
  readonly places: readonly RecordPlace[];
}

/** Why the log cannot be written now. */
export interface WriteProblem {
  /** The system's code: ENOSPC, EIO … */
  readonly code: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export interface Flushed {
  readonly saved: boolean;
  /** Records below this number are on stable storage. */
  readonly savedSeqEnd: number;
  readonly problem?: WriteProblem;
}

export interface WriterStatus {
  /** Records below this number are on stable storage. */
  readonly savedSeqEnd: number;
  /** Number of the next record. */
  readonly seqNext: number;
  readonly heldRecords: number;
  readonly heldBytes: number;
  readonly missedRecords: number;
  readonly problem?: WriteProblem;
  /** Set once another process has taken the lease: this writer writes no more. */
  readonly isLost: boolean;
}

/** How it ended, for the last message that a person reads. */
export interface Closed {
  readonly saved: boolean;
  /** Records that are not in the log, because they were held to the end or missed. */
  readonly unsavedRecords: number;
  readonly problem?: WriteProblem;
  /** One sentence that tells the truth about the log. */
  readonly message: string;
}

/** What a person should be told at once. Nothing of it is in the log. */
export interface LogNotice {
  readonly code:
    | "write-failed"
    | "write-recovered"
    | "records-missed"
    | "log-removed"
    | "log-replaced"
    | "log-truncated"
    | "foreign-bytes"
    | "lease-lost";
  readonly tone: "information" | "warning" | "error";
  readonly text: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface LogListener {
  notice?(notice: LogNotice): void;
  /** Records below this number are on stable storage. Falls only after a `log-truncated` notice, which renumbers. */
  saved?(seqEnd: number): void;
}

/** How a log is to be written. */
export interface WriterOptions {
  readonly durability?: Durability;
  readonly listener?: LogListener;
}

/** What was found, and put right, when a log was opened for writing. */
export interface OpenedState {
  readonly state: "new" | "clean" | "torn";
  /** Of a torn one: the bytes that were cut, and the file that keeps them. */
  readonly cut?: { readonly start: number; readonly end: number; readonly keptAs: string };
  /** The turn that stood open and was closed as interrupted by a crash. */
  readonly interruptedTurn?: number;
  /** The fold as it was before this writer's first append. */
  readonly tail: TailState;
}

export interface LogWriter {
  readonly mode: "saved" | "unsaved";
  readonly id: string;
  /** The log's path; absent where none is kept. */
  readonly path?: string;
  readonly session: SessionBody;
  readonly opened: OpenedState;
  /** The fold with all that was appended. */
  readonly tail: TailState;
  /**
   * Appends records, all or none, behind all that were appended before: call order is log order. The records are taken as they are at
   * the call. Resolves once they are written, or synced where that is due (a turn's end, `durability: "record"`), or held.
   * Rejects with a `LogError` (`invalid-record`, `too-large`, `closed`, `lease-lost`); then nothing of it is in the log.
   */
  append(records: RecordSpec | readonly RecordSpec[]): Promise<Appended>;
  /** A barrier: resolves once everything appended before is on stable storage, or with the problem that keeps it from that. */
  flush(): Promise<Flushed>;
  /** Stores a payload beside the log, durable once resolved. Throws `too-large` above 512 MiB, and the system's error. */
  putBlob(payload: Uint8Array | AsyncIterable<Uint8Array>): Promise<BlobRef>;
  status(): WriterStatus;
  /** Ends an open turn as interrupted, writes `closed`, syncs, gives the lease back. Always resolves; a second call gives the first's answer. */
  close(): Promise<Closed>;
}
