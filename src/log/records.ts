/**
 * The records of a session log: one JSON object a line. Types and the few constants that go with them; this file imports nothing, so
 * that other parts can name records without reaching the disk.
 */

/** The version this build writes. A log with a newer one is read, never written. */
export const logVersion = 1;

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** What the writer puts on every record. The checksum (`crc`) is on the line only. */
export interface Stamp {
  readonly v: number;
  /** The line's number, from 1, without gaps. */
  readonly seq: number;
  /** Milliseconds since the epoch at which it was appended; a clock may jump, so this orders nothing. */
  readonly ts: number;
  /**
   * Bytes of this log known to be on stable storage when the record was made; only where that grew since the last mark. It tells a hole
   * that a power loss left among unsynced records from damage to what was safe.
   */
  readonly synced?: number;
}

/** A text that lies in a blob: in its place the record has the text's first characters. */
export interface BlobPlace {
  /** JSON pointer (RFC 6901) from the record's root. */
  readonly at: string;
  readonly sha256: string;
  /** Bytes of the whole text. */
  readonly bytes: number;
}

// ---- conversation records: named as the continuity documents name them ----

export interface ConversationEnvelope {
  readonly turnId: string;
  /** The entry it follows in the conversation; null at the root and on sidecars written beside no turn. */
  readonly parentTurnId: string | null;
  /** ISO 8601 with an offset. */
  readonly timestamp: string;
  /** Texts of this record that lie in blobs. */
  readonly blobs?: readonly BlobPlace[];
}

export const messageRoles = [
  "user",
  "assistant",
  "tool_call",
  "tool_result",
  "system",
  "checkpoint",
] as const;
export type MessageRole = (typeof messageRoles)[number];

export interface MessageEntry extends ConversationEnvelope {
  readonly kind: "message";
  readonly role: MessageRole;
  readonly payload: unknown;
}

/** Where a compaction stands in the chain of compactions. Offsets are bytes of this very log. */
export interface CompactionChain {
  /** The cycle it opens: 1 for the first compaction of a log. */
  readonly cycle: number;
  /** The compaction before it; absent at the first. */
  readonly previous?: number;
  /** The start of the turn it splits; absent between turns. */
  readonly turn?: number;
}

export interface CompactionSummaryEntry extends ConversationEnvelope {
  readonly kind: "compactionSummary";
  readonly summary: string;
  readonly tokensBefore: number;
  readonly tokensAfter?: number;
  /** The first turn kept behind the summary; may be empty. */
  readonly firstKeptTurnId: string;
  readonly messagesSummarized?: number;
  readonly isSplitTurn?: boolean;
  readonly trigger?: "auto" | "force" | "overflow";
  readonly usage?: unknown;
  readonly userContext?: unknown;
  readonly skillContext?: unknown;
  /** The carry: checked by the continuity part. */
  readonly continuity?: unknown;
}

export interface ContextEvictionEntry extends ConversationEnvelope {
  readonly kind: "contextEviction";
  readonly policyId: string;
  readonly trigger: string;
  readonly evicted: readonly unknown[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly pressureBefore: number | null;
  readonly snapshotIdBefore: string | null;
}

export interface CustomEntry extends ConversationEnvelope {
  readonly kind: "custom";
  readonly customType: string;
  readonly data?: unknown;
  readonly display?: boolean;
}

export interface LabelEntry extends ConversationEnvelope {
  readonly kind: "label";
  readonly targetTurnId: string;
  /** Absent takes the label off. */
  readonly label?: string;
}

/** Its fields are the continuity part's; the log only sees that they are there. */
export interface HandoffTransactionEntry extends ConversationEnvelope {
  readonly kind: "handoffTransaction";
  readonly schemaVersion: number;
  readonly identity: unknown;
  readonly transition: unknown;
  readonly event: unknown;
}

export interface ContinuityCommitEntry extends ConversationEnvelope {
  readonly kind: "continuityCommit";
  readonly continuity: unknown;
}

export type ConversationEntry =
  | MessageEntry
  | CompactionSummaryEntry
  | ContextEvictionEntry
  | CustomEntry
  | LabelEntry
  | HandoffTransactionEntry
  | ContinuityCommitEntry;

// ---- life-cycle records ----

/** The first line of every log. */
export interface SessionBody {
  readonly kind: "session";
  readonly id: string;
  readonly cwd?: string;
  /** The agent that drives it, as people name it. */
  readonly agent?: string;
  readonly agentVersion?: string;
  /** The agent's own id of the session, where it has one to load again. */
  readonly agentSessionId?: string;
  /** What the link to the parent is; with the three fields below. */
  readonly link?: "fork" | "continuation";
  /** Path of the parent's log. Never an id. */
  readonly parentSession?: string;
  readonly parentSessionId?: string;
  /** The message it was forked at. */
  readonly parentTurnId?: string;
}

export interface TurnStartedBody {
  readonly kind: "turnStarted";
  /** 1 for the first turn of a log. */
  readonly turn: number;
}

export interface TurnCommittedBody {
  readonly kind: "turnCommitted";
  readonly turn: number;
  /** Counters and times of the turn, as the agent reported them. */
  readonly data?: unknown;
}

/** `crash`: found open at the next opening. `taken-over`: open when another process took the session from its owner. `closed`: open when the log was closed. `fork`: cut by a fork. `missed`: its rest was not
 * recorded. Else the driver's own word (`cancel`, `failed` …). */
export interface TurnInterruptedBody {
  readonly kind: "turnInterrupted";
  readonly turn: number;
  readonly reason: string;
  readonly data?: unknown;
}

/** A setting: title, model, mode … The newest value of a key counts; null takes it away. */
export interface SetBody {
  readonly kind: "set";
  readonly key: string;
  readonly value: unknown;
}

export interface ClosedBody {
  readonly kind: "closed";
}

/** The state of the fold up to here, so that opening costs the same at any age. */
export interface SnapshotBody {
  readonly kind: "snapshot";
  /** Its own byte offset: a log in which bytes moved is noticed. */
  readonly offset: number;
  readonly turns: number;
  readonly openTurn?: { readonly turn: number; readonly offset: number };
  readonly cycle: number;
  readonly compaction?: number;
  readonly compactionTurn?: number;
  readonly leafTurnId?: string;
  readonly settings: { readonly [key: string]: Json | undefined };
}

/** Records or bytes that should be here and are not. */
export interface MissedBody {
  readonly kind: "missed";
  /** `held-limit`: the disk refused for too long. `truncated`: another program cut the log. `damage`: left out by a repair. */
  readonly reason: "held-limit" | "truncated" | "damage";
  /** How many records, where that is known. */
  readonly records?: number;
  /** How many bytes, and where they lay in the log as it was. */
  readonly bytes?: number;
  readonly start?: number;
}

export type LifecycleBody =
  | SessionBody
  | TurnStartedBody
  | TurnCommittedBody
  | TurnInterruptedBody
  | SetBody
  | ClosedBody
  | SnapshotBody
  | MissedBody;

export type RecordBody = (ConversationEntry & { readonly chain?: CompactionChain }) | LifecycleBody;
export type RecordKind = RecordBody["kind"];
/** A record of a known kind, as a log holds it. */
export type LogRecord = Stamp & RecordBody;
export type SessionRecord = Stamp & SessionBody;
/** A record of a kind or a version that this build does not know: kept and shown raw. */
export type UnknownRecord = Stamp & { readonly kind: string; readonly [field: string]: unknown };

export const conversationKinds = [
  "message",
  "compactionSummary",
  "contextEviction",
  "custom",
  "label",
  "handoffTransaction",
  "continuityCommit",
] as const satisfies readonly ConversationEntry["kind"][];

export const lifecycleKinds = [
  "session",
  "turnStarted",
  "turnCommitted",
  "turnInterrupted",
  "set",
  "closed",
  "snapshot",
  "missed",
] as const satisfies readonly LifecycleBody["kind"][];

// ---- what a caller appends ----

type Unstamped<T extends ConversationEntry> = Omit<
  T,
  "turnId" | "parentTurnId" | "timestamp" | "blobs" | "chain"
> & {
  /** Default: a new random id. */
  readonly turnId?: string;
  /** Default: the newest message; null at the start. */
  readonly parentTurnId?: string | null;
  /** Default: now. */
  readonly timestamp?: string;
};

/** A record before it is stamped. Snapshots, `missed`, `session` and `closed` are the writer's own. */
export type RecordSpec =
  | Unstamped<MessageEntry>
  | Unstamped<CompactionSummaryEntry>
  | Unstamped<ContextEvictionEntry>
  | Unstamped<CustomEntry>
  | Unstamped<LabelEntry>
  | Unstamped<HandoffTransactionEntry>
  | Unstamped<ContinuityCommitEntry>
  | { readonly kind: "turnStarted" }
  | { readonly kind: "turnCommitted"; readonly data?: unknown }
  | { readonly kind: "turnInterrupted"; readonly reason: string; readonly data?: unknown }
  | SetBody;

const conversationKindSet: ReadonlySet<string> = new Set(conversationKinds);

export function isConversation(record: {
  readonly kind: string;
}): record is Stamp & ConversationEntry & { readonly chain?: CompactionChain } {
  return conversationKindSet.has(record.kind);
}

/**
 * The conversation entry of a record, as it was appended: without what the log adds (`v`, `seq`, `ts`, `synced`, `chain`, `blobs`), which differ
 * from copy to copy of one entry. A text that lies in a blob is its first characters only, unless the record was inflated before.
 */
export function toEntry(record: Stamp & ConversationEntry): ConversationEntry {
  const { v: _v, seq: _seq, ts: _ts, synced: _synced, ...rest } = record;
  const { chain: _chain, blobs: _blobs, ...entry } = rest as ConversationEntry & { chain?: unknown };
  return entry as ConversationEntry;
}
