/** What goes into a fold and what comes out of it. */
import type {
  AcceptedNote,
  CommitOutcome,
  ContinuityAnomaly,
  ContinuityAuthority,
  ContinuityPhase,
  ContinuityRecallReason,
  HandoffCommit,
  HandoffFailureReason,
  HandoffIdentity,
  HandoffPauseReason,
  HandoffPolicy,
  HandoffResumeAction,
  HandoffState,
} from "./contract.ts";
import type { ContinuityCommitEntry } from "./entries.ts";

export type TerminalStatus = "success" | "empty" | "error" | "aborted" | "interrupted";

/** How one assistant message ended, and which delivery or turn it answers. */
export interface TerminalResponse {
  readonly entryId: string;
  readonly continuationTurnId: string;
  readonly status: TerminalStatus;
  readonly position: number;
}

/** One accepted operator request. */
export interface OperatorResumeAuthority {
  readonly operatorRequestEntryId: string;
  readonly handoffId: string;
  readonly action: HandoffResumeAction;
  readonly pausedOrFailedEntryId: string;
  readonly originSessionId: string;
  readonly position: number;
  /** The request's own time: the only base from which a deadline is renewed. */
  readonly acceptedAtMs: number;
}

/** A summary or eviction that is bound to one commit. */
export interface OutcomeEvidence {
  readonly entryId: string;
  readonly outcome: Exclude<CommitOutcome, "continuity_only">;
  readonly handoffId: string;
  readonly commitId: string;
  readonly position: number;
}

/** Positions are indices of the array the evidence was resolved from; a fold must be given that same array. */
export interface ContinuityEvidence {
  readonly terminalResponses: readonly TerminalResponse[];
  readonly resumeAuthorities: readonly OperatorResumeAuthority[];
  readonly outcomes: readonly OutcomeEvidence[];
  /** Lines that could not be read as entries. Any at all makes the transaction recall-only. */
  readonly unreadableRecords: number;
}

/** Whose transactions are folded, and from where in the tree they are looked at. */
export interface ContinuitySelection {
  readonly sessionId: string;
  readonly pathTurnIds: readonly string[];
  /** True for another branch's or an earlier moment's view: readable, never executable. */
  readonly historical: boolean;
}

export interface ContinuityFoldInput {
  /** The whole applicable ledger before any replay cut, parsed JSON in file order. */
  readonly entries: readonly unknown[];
  readonly selection: ContinuitySelection;
  readonly evidence: ContinuityEvidence;
  readonly nowMs: number;
}

/** A commit record that was lost, rebuilt byte for byte in meaning, with the head as it stands by now. */
export interface MissingCommitReconstruction {
  readonly entry: ContinuityCommitEntry;
  readonly carriedState: HandoffState;
}

export type ContinuityAction =
  | { readonly kind: "none" }
  | { readonly kind: "recall_only"; readonly reason: ContinuityRecallReason }
  | { readonly kind: "reconstruct_commit"; readonly reconstruction: MissingCommitReconstruction }
  | { readonly kind: "pause"; readonly reason: HandoffPauseReason }
  | { readonly kind: "fail"; readonly reason: HandoffFailureReason };

/** An earlier transaction of the same origin: readable, not judged. */
export interface PriorHandoff {
  readonly handoffId: string;
  /** Empty where no record of it could be applied. */
  readonly commitId: string;
  readonly phase: ContinuityPhase;
  readonly accepted: AcceptedNote | null;
  readonly outcome: CommitOutcome | null;
}

export interface ContinuityFoldResult {
  readonly phase: ContinuityPhase;
  readonly authority: ContinuityAuthority;
  readonly identity: HandoffIdentity | null;
  readonly accepted: AcceptedNote | null;
  readonly policy: HandoffPolicy | null;
  readonly commit: HandoffCommit | null;
  readonly state: HandoffState | null;
  /** Reductions begun; never refunded. */
  readonly attemptsSpent: number;
  readonly effectiveDeadlineAtMs: number | null;
  readonly missingCommit: MissingCommitReconstruction | null;
  /** While delivered: the finished response that no acknowledgement names yet. Acknowledge it; never deliver again. */
  readonly unacknowledgedResponseEntryId: string | null;
  /** True where every record and reference of the selected transaction holds; says nothing of deadline, pause or history. */
  readonly validated: boolean;
  readonly anomalies: readonly ContinuityAnomaly[];
  /** What should happen next. The fold itself does none of it. */
  readonly action: ContinuityAction;
  /** Oldest first. */
  readonly priorHandoffs: readonly PriorHandoff[];
  readonly skipped: {
    /** Distinct continuity records of another origin or off the selected path. */
    readonly inapplicable: number;
    readonly unreadable: number;
  };
}
