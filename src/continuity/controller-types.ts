/** What a live controller asks of the session that it hands on, and what it answers. */
import type { HandoffFailureReason, HandoffPauseReason } from "./contract.ts";
import type { NoteRejectionReason } from "./note.ts";
import type { ContinuityPersistencePorts, UncertainReason } from "./persistence.ts";
import type { ContinuityProjectionInput } from "./projection.ts";

/** A reading of the session's whole ledger. */
export type HandoffLedger = Pick<
  ContinuityProjectionInput,
  "entries" | "unreadableRecords" | "pathTurnIds" | "fork"
>;

/** A summary that a reduction made; the controller writes its record, with the reserved commit in it. */
export interface ReducedSummary {
  readonly summary: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly firstKeptTurnId: string;
}

/**
 * What became of a reduction. `replayed`: the context is to be rebuilt from the note and the kept tail; an eviction that the session
 * recorded meanwhile is found in the ledger. `refused`: nothing was reduced.
 */
export type Reduction =
  | { readonly kind: "summarized"; readonly summary: ReducedSummary }
  | { readonly kind: "replayed"; readonly tokensBefore: number; readonly tokensAfter: number }
  | { readonly kind: "refused"; readonly reason: HandoffFailureReason };

/** One attempt at reducing the context. */
export interface HandoffAttempt {
  readonly handoffId: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** Must be called before each call of a summariser; throws where the policy permits no more in this attempt, or it was cancelled. */
  beginSummaryCall(): void;
  isCancelled(): boolean;
  /** Runs once the attempt is cancelled; at once where it is already. */
  onCancel(run: () => void): void;
}

export interface HandoffPorts {
  readonly sessionId: string;
  readLedger(): Promise<HandoffLedger>;
  readonly persistence: ContinuityPersistencePorts;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Waits before a barrier is tried again. */
  readonly wait: (attempt: number) => Promise<void>;
  /** A new id that no other call gives. */
  readonly randomId: () => string;
  /** Whether the blocks, with what must stand beside them, fit what can be replayed. */
  fits(blocks: readonly string[]): boolean;
  reduce(attempt: HandoffAttempt): Promise<Reduction>;
  /** Installs the blocks in the context that the next request to the model is made from. */
  replay(blocks: readonly string[]): Promise<void>;
  /** Tells whoever watches that the context was reduced. */
  notify?(handoffId: string): void;
}

/** Who asks: an agent's call, which must have got its receipt before anything is reduced, or the person. */
export type HandoffAsker =
  | { readonly by: "agent"; readonly toolCallId: string; readonly toolName: string }
  | { readonly by: "operator" };

export type HandoffRefusal =
  | NoteRejectionReason
  | UncertainReason
  | "missing_tool_call"
  | "active_handoff"
  | "unresolved_handoff"
  | "disputed_ledger"
  | "no_operator_turn"
  | "note_exceeds_replay_budget"
  | "no_live_handoff"
  | "missing_receipt"
  | "no_such_handoff"
  | "acknowledged"
  | "commit_missing"
  | "already_committed"
  | "attempts_exhausted"
  | "commit_unresolved"
  | "no_permission"
  | "cancelled";

export type HandoffRequested =
  | {
      readonly state: "accepted";
      readonly handoffId: string;
      /** What the caller is told. */
      readonly receipt: string;
    }
  | { readonly state: "refused"; readonly reason: HandoffRefusal };

/** How a settled or recovered handoff stands. */
export type HandoffOutcome =
  | { readonly state: "delivered"; readonly handoffId: string; readonly deliveryId: string }
  | { readonly state: "acknowledged"; readonly handoffId: string }
  | { readonly state: "failed"; readonly handoffId: string; readonly reason: HandoffFailureReason }
  | { readonly state: "paused"; readonly handoffId: string; readonly reason: HandoffRefusal }
  /** Something was refused before anything was written. */
  | { readonly state: "refused"; readonly reason: HandoffRefusal }
  /** What is on the disk is not known, or does not fold: nothing more is written by this process. */
  | { readonly state: "uncertain"; readonly handoffId: string; readonly reason: HandoffRefusal };

export type HandoffStopped =
  | { readonly state: "paused"; readonly reason: HandoffPauseReason }
  /** Nothing was to be paused, or nothing may be written. */
  | { readonly state: "unchanged" };

/** The last gate before a request to the model. */
export type HandoffAdmission =
  | { readonly kind: "allow"; readonly correlationId?: string }
  | { readonly kind: "block"; readonly reason: "handing_off" | "uncertain" };

/** How the live handoff of this process stands; after a restart there is none, whatever the ledger says. */
export interface LiveHandoff {
  readonly handoffId: string;
  readonly stage: "requested" | "settling" | "delivered" | "uncertain";
  readonly deliveryId?: string;
}
