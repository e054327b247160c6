/** The records a controller writes: each follows from a fold, and takes its id and time from its caller. */
import type {
  ContinuityCheckpointPayload,
  HandoffCommit,
  HandoffEvent,
  HandoffIdentity,
  HandoffResumeAction,
  HandoffState,
  TransitionLink,
} from "./contract.ts";
import { HANDOFF_SCHEMA_VERSION } from "./contract.ts";
import type { ReducedSummary } from "./controller-types.ts";
import type {
  CompactionSummaryEntry,
  ContinuityCommitEntry,
  EntryEnvelope,
  HandoffRecoveryRequestEntry,
  HandoffTransactionEntry,
} from "./entries.ts";
import type { ContinuityFoldResult } from "./fold-result.ts";
import { HANDOFF_RECOVERY_REQUEST_TYPE } from "./operator-request.ts";

/** A fold with a transaction that holds: what every next record is made from. */
export type StandingFold = ContinuityFoldResult &
  Readonly<{
    identity: NonNullable<ContinuityFoldResult["identity"]>;
    accepted: NonNullable<ContinuityFoldResult["accepted"]>;
    policy: NonNullable<ContinuityFoldResult["policy"]>;
    state: HandoffState;
  }>;

/** Whether a fold is one to go on from: undisputed, and with a transaction. */
export function isStanding(fold: ContinuityFoldResult | null): fold is StandingFold {
  return (
    fold?.validated === true &&
    fold.identity !== null &&
    fold.accepted !== null &&
    fold.policy !== null &&
    fold.state !== null
  );
}

/** The next record of a chain. */
export function nextRecord(
  fold: StandingFold,
  event: HandoffEvent,
  envelope: EntryEnvelope,
): HandoffTransactionEntry {
  const last = fold.state.transition;
  return transactionRecord(fold.identity, event, envelope, {
    entryId: envelope.turnId,
    prevEntryId: last.entryId,
    sequence: last.sequence + 1,
    attempt: last.attempt + (event.phase === "reducing" ? 1 : 0),
  });
}

/** The first record of a chain. */
export function firstRecord(
  identity: HandoffIdentity,
  event: Extract<HandoffEvent, { phase: "prepared" }>,
  envelope: EntryEnvelope,
): HandoffTransactionEntry {
  const link = { entryId: envelope.turnId, prevEntryId: null, sequence: 0, attempt: 0 };
  return transactionRecord(identity, event, envelope, link);
}

function transactionRecord(
  identity: HandoffIdentity,
  event: HandoffEvent,
  envelope: EntryEnvelope,
  transition: TransitionLink,
): HandoffTransactionEntry {
  return {
    kind: "handoffTransaction",
    ...envelope,
    schemaVersion: HANDOFF_SCHEMA_VERSION,
    identity,
    transition,
    event,
  };
}

/** The permission a chain's head gives its next step, as that step must cite it. */
export function citation(fold: StandingFold): { readonly resumeRef?: string } {
  return fold.phase === "resumed" ? { resumeRef: fold.state.transition.entryId } : {};
}

/** The commit of a reduction, under the id that the identity reserves for it. */
export function reservedCommit(
  fold: StandingFold,
  outcome: Pick<HandoffCommit, "outcome" | "summaryRef" | "evictionRef" | "tokensBefore" | "tokensAfter">,
  at: { readonly parentTurnId: string | null; readonly timestamp: string },
): HandoffCommit {
  const last = fold.state.transition;
  const turnId = fold.identity.commitEntryId;
  return {
    ...outcome,
    entry: { turnId, parentTurnId: at.parentTurnId, timestamp: at.timestamp },
    transition: {
      entryId: turnId,
      prevEntryId: last.entryId,
      sequence: last.sequence + 1,
      attempt: last.attempt,
    },
  };
}

function payload(
  fold: StandingFold,
  commit: HandoffCommit,
  kept: Pick<HandoffState, "activeResume" | "delivery">,
): ContinuityCheckpointPayload {
  const { identity, accepted, policy } = fold;
  const state = { transition: commit.transition, event: { phase: "ready" } as const, ...kept };
  return { schemaVersion: HANDOFF_SCHEMA_VERSION, identity, accepted, policy, commit, state };
}

/** The record of a commit. It never says what was permitted or delivered: that is a carry's. */
export function commitRecord(fold: StandingFold, commit: HandoffCommit): ContinuityCommitEntry {
  return {
    kind: "continuityCommit",
    ...commit.entry,
    continuity: payload(fold, commit, { activeResume: null, delivery: null }),
  };
}

/** The record of a summary that carries the commit it belongs to, so that the commit can be rebuilt where its own record is lost. */
export function summaryRecord(
  fold: StandingFold,
  commit: HandoffCommit,
  summary: ReducedSummary,
  envelope: EntryEnvelope,
): CompactionSummaryEntry {
  const { activeResume, delivery } = fold.state;
  return {
    kind: "compactionSummary",
    ...envelope,
    ...summary,
    continuity: payload(fold, commit, { activeResume, delivery }),
  };
}

/** The operator's request to go on with a stopped transaction. */
export function recoveryRequest(
  fold: StandingFold,
  action: HandoffResumeAction,
  sessionId: string,
  envelope: EntryEnvelope,
): HandoffRecoveryRequestEntry {
  return {
    kind: "custom",
    ...envelope,
    customType: HANDOFF_RECOVERY_REQUEST_TYPE,
    display: false,
    data: {
      version: 1,
      requestKind: "handoff_recovery",
      handoffId: fold.identity.handoffId,
      action,
      sessionId,
      branchAnchorTurnId: fold.identity.branchAnchorTurnId,
      selectedLeafTurnId: envelope.parentTurnId,
      pausedOrFailedEntryId: fold.state.transition.entryId,
    },
  };
}
