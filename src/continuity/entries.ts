/**
 * The records of a session log that continuity reads, as it needs them. A log may have more kinds and more fields; an unknown field
 * is tolerated, but takes part in the comparison of copies, so a log hands over its records without what differs from copy to copy
 * (line number, checksum).
 */
import type {
  ContinuityCheckpointPayload,
  HANDOFF_SCHEMA_VERSION,
  HandoffEvent,
  HandoffIdentity,
  HandoffResumeAction,
  TransitionLink,
} from "./contract.ts";

export interface EntryEnvelope {
  readonly turnId: string;
  /** The entry it follows in the conversation; null at the root and on sidecars written beside no turn. */
  readonly parentTurnId: string | null;
  /** ISO 8601 with an offset. */
  readonly timestamp: string;
}

export type MessageRole = "user" | "assistant" | "tool_call" | "tool_result" | "system" | "checkpoint";

export interface MessageEntry extends EntryEnvelope {
  readonly kind: "message";
  readonly role: MessageRole;
  readonly payload: unknown;
}

export interface CompactionSummaryEntry extends EntryEnvelope {
  readonly kind: "compactionSummary";
  readonly summary: string;
  readonly tokensBefore: number;
  readonly tokensAfter?: number;
  /** The first turn kept behind the summary; may be empty. */
  readonly firstKeptTurnId: string;
  /** The carry: the transaction as it stood when the summary was written. */
  readonly continuity?: ContinuityCheckpointPayload;
}

export interface ContextEvictionEntry extends EntryEnvelope {
  readonly kind: "contextEviction";
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export interface CustomEntry extends EntryEnvelope {
  readonly kind: "custom";
  readonly customType: string;
  readonly data?: unknown;
  readonly display?: boolean;
}

export interface HandoffTransactionEntry extends EntryEnvelope {
  readonly kind: "handoffTransaction";
  readonly schemaVersion: typeof HANDOFF_SCHEMA_VERSION;
  readonly identity: HandoffIdentity;
  readonly transition: TransitionLink;
  readonly event: HandoffEvent;
}

export interface ContinuityCommitEntry extends EntryEnvelope {
  readonly kind: "continuityCommit";
  readonly continuity: ContinuityCheckpointPayload;
}

/** A summary whose carry passed the checks. */
export interface CarryingSummaryEntry extends EntryEnvelope {
  readonly kind: "compactionSummary";
  readonly continuity: ContinuityCheckpointPayload;
}

export interface HandoffRecoveryRequestData {
  readonly version: 1;
  readonly requestKind: "handoff_recovery";
  readonly handoffId: string;
  readonly action: HandoffResumeAction;
  readonly sessionId: string;
  readonly branchAnchorTurnId: string | null;
  readonly selectedLeafTurnId: string | null;
  readonly pausedOrFailedEntryId: string;
}

export interface HandoffRecoveryRequestEntry extends EntryEnvelope {
  readonly kind: "custom";
  readonly customType: "contextHandoffRecoveryRequest";
  readonly display: false;
  readonly data: HandoffRecoveryRequestData;
}
