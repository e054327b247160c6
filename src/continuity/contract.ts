/** The vocabulary of the handoff protocol: what its records hold, what evidence says of them, and what a fold concludes. */

export const HANDOFF_SCHEMA_VERSION = 1;
/** Most bytes (UTF-8) of one note; a note of exactly this size is admitted. */
export const HANDOFF_NOTE_MAX_BYTES = 8192;
/** Longest automatic window of one permission: from preparation, or from an accepted operator request. */
export const HANDOFF_MAX_WINDOW_MS = 900_000;
/** Most retries of one write barrier. */
export const HANDOFF_MAX_FLUSH_RETRIES = 3;
/** Ceilings of a policy; a record may be narrower, never wider. */
export const HANDOFF_POLICY_LIMITS = {
  maxAttempts: 2,
  maxSummaryCallsPerAttempt: 2,
  additionalSummaryRetriesPerCall: 0,
  maxSummaryStreamInvocations: 4,
  flushRetryLimit: 3,
} as const;

/** Minted once, at preparation; recovery reuses it and no copy may differ. */
export interface HandoffIdentity {
  readonly handoffId: string;
  readonly preparedEntryId: string;
  readonly commitId: string;
  /** Reserved before any reduction, so that a lost commit can be rebuilt under the same name. */
  readonly commitEntryId: string;
  readonly originSessionId: string;
  /** The selected message leaf at preparation; not the live selection. */
  readonly branchAnchorTurnId: string | null;
  /** The operator's turn that started the work. */
  readonly initiatingTurnId: string;
  readonly toolCallId: string;
  /** Opaque; may be empty. */
  readonly sourceRevision: string;
}

/** A note as admitted: the exact text with its size and digest. */
export interface AcceptedNote {
  readonly note: string;
  readonly noteBytes: number;
  /** Lower-case hex of the note's UTF-8 bytes. */
  readonly noteSha256: string;
}

export interface HandoffPolicy {
  readonly preparedAtMs: number;
  readonly automaticDeadlineAtMs: number;
  readonly maxAttempts: number;
  readonly maxSummaryCallsPerAttempt: number;
  readonly additionalSummaryRetriesPerCall: number;
  readonly maxSummaryStreamInvocations: number;
  readonly flushRetryLimit: number;
}

/** The seat of one record in its transaction's chain. `prevEntryId` is the chain's link, not the conversation's. */
export interface TransitionLink {
  readonly entryId: string;
  readonly prevEntryId: string | null;
  readonly sequence: number;
  readonly attempt: number;
}

export type HandoffPauseReason = "operator_cancelled" | "origin_changed" | "delivery_uncertain";

export type HandoffFailureReason =
  | "invalid_note"
  | "note_exceeds_replay_budget"
  | "budget_unsafe_no_material"
  | "durability_unresolved"
  | "state_root_removed"
  | "origin_changed"
  | "provider_failed"
  | "attempts_exhausted"
  | "deadline_exceeded";

export type HandoffResumeAction = "reduce" | "deliver";

/** What an operator's request permits, as the `resumed` record cites it. */
export interface ResumeAuthority {
  readonly operatorRequestEntryId: string;
  readonly pausedOrFailedEntryId: string;
  readonly action: HandoffResumeAction;
  readonly automaticDeadlineAtMs: number;
}

export type HandoffEvent =
  | { readonly phase: "prepared"; readonly accepted: AcceptedNote; readonly policy: HandoffPolicy }
  | { readonly phase: "reducing"; readonly resumeRef?: string }
  | {
      readonly phase: "delivered";
      readonly deliveryId: string;
      readonly continuationTurnId: string;
      readonly resumeRef?: string;
    }
  | { readonly phase: "acknowledged"; readonly deliveryId: string; readonly terminalResponseEntryId: string }
  | { readonly phase: "paused"; readonly reason: HandoffPauseReason }
  | { readonly phase: "failed"; readonly reason: HandoffFailureReason }
  | { readonly phase: "resumed"; readonly authority: ResumeAuthority };

export type HandoffEventPhase = HandoffEvent["phase"];

/** `ready`: a valid commit is the head. `absent`: there is no transaction. Neither is ever written as an event. */
export type ContinuityPhase = HandoffEventPhase | "ready" | "absent";

export type CommitOutcome = "summarized" | "evicted" | "continuity_only";

/** The exact envelope a commit record has, or will have when it is rebuilt. */
export interface ReservedEnvelope {
  readonly turnId: string;
  readonly parentTurnId: string | null;
  readonly timestamp: string;
}

export interface HandoffCommit {
  readonly outcome: CommitOutcome;
  readonly entry: ReservedEnvelope;
  readonly transition: TransitionLink;
  readonly summaryRef?: string;
  readonly evictionRef?: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export interface ActiveResume {
  readonly entryId: string;
  readonly authority: ResumeAuthority;
}

export interface HandoffDelivery {
  readonly deliveryId: string;
  readonly continuationTurnId: string;
}

/** A chain's head with what stays known behind it. Neither `activeResume` nor `delivery` permits a second delivery. */
export interface HandoffState {
  readonly transition: TransitionLink;
  readonly event: HandoffEvent | { readonly phase: "ready" };
  readonly activeResume: ActiveResume | null;
  readonly delivery: HandoffDelivery | null;
}

/** The whole transaction as a commit records it and as later summaries carry it. */
export interface ContinuityCheckpointPayload {
  readonly schemaVersion: typeof HANDOFF_SCHEMA_VERSION;
  readonly identity: HandoffIdentity;
  readonly accepted: AcceptedNote;
  readonly policy: HandoffPolicy;
  readonly commit: HandoffCommit;
  readonly state: HandoffState;
}

export type ContinuityAuthority = "none" | "recall_only" | "execution";

/** `missing_evidence` and `deadline_expired` belong to the vocabulary; this fold reports neither. */
export type ContinuityRecallReason =
  | "historical_fork"
  | "conflicting_evidence"
  | "missing_evidence"
  | "attempts_exhausted"
  | "deadline_expired"
  | "clock_ambiguous"
  | "paused"
  | "failed";

export type ContinuityAnomalyKind =
  | "duplicate_conflict"
  | "entry_id_reused"
  | "unbound_outcome_ref"
  | "illegal_transition"
  | "broken_chain"
  | "invalid_attempt"
  | "policy_conflict"
  | "unmatched_resume"
  | "unvalidated_resume_authority"
  | "missing_resume_ref"
  | "missing_commit_ref"
  | "conflicting_carry"
  | "fabricated_carry_extension"
  | "unverified_note"
  | "acknowledgement_unsupported"
  | "malformed_continuity_record"
  | "malformed_record";

export interface ContinuityAnomaly {
  readonly kind: ContinuityAnomalyKind;
  readonly entryId: string | null;
  readonly detail: string;
}
