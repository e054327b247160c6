/**
 * Continuity: handoff notes that survive compactions and forks. A note is a durable transaction in a session's own ledger; everything a
 * restarted process knows of it is folded from the ledger, and nothing is trusted because it is merely there. Pure: no clock, no disk, no
 * ids of its own; it runs in a browser.
 */
export { canonicalJson } from "./canonical.ts";
export { continuityPayloadFromFold, missingCommitFromCarry } from "./carry.ts";
export {
  type AcceptedNote,
  type ActiveResume,
  type CommitOutcome,
  type ContinuityAnomaly,
  type ContinuityAnomalyKind,
  type ContinuityAuthority,
  type ContinuityCheckpointPayload,
  type ContinuityPhase,
  type ContinuityRecallReason,
  HANDOFF_MAX_FLUSH_RETRIES,
  HANDOFF_MAX_WINDOW_MS,
  HANDOFF_NOTE_MAX_BYTES,
  HANDOFF_POLICY_LIMITS,
  HANDOFF_SCHEMA_VERSION,
  type HandoffCommit,
  type HandoffDelivery,
  type HandoffEvent,
  type HandoffEventPhase,
  type HandoffFailureReason,
  type HandoffIdentity,
  type HandoffPauseReason,
  type HandoffPolicy,
  type HandoffResumeAction,
  type HandoffState,
  type ReservedEnvelope,
  type ResumeAuthority,
  type TransitionLink,
} from "./contract.ts";
export { HandoffController } from "./controller.ts";
export type {
  HandoffAdmission,
  HandoffAsker,
  HandoffAttempt,
  HandoffLedger,
  HandoffOutcome,
  HandoffPorts,
  HandoffRefusal,
  HandoffRequested,
  HandoffStopped,
  LiveHandoff,
  ReducedSummary,
  Reduction,
} from "./controller-types.ts";
export type {
  CarryingSummaryEntry,
  CompactionSummaryEntry,
  ContextEvictionEntry,
  ContinuityCommitEntry,
  CustomEntry,
  EntryEnvelope,
  HandoffRecoveryRequestData,
  HandoffRecoveryRequestEntry,
  HandoffTransactionEntry,
  MessageEntry,
  MessageRole,
} from "./entries.ts";
export { type ContinuityEvidenceInput, resolveContinuityEvidence } from "./evidence.ts";
export { foldContinuity } from "./fold.ts";
export type {
  ContinuityAction,
  ContinuityEvidence,
  ContinuityFoldInput,
  ContinuityFoldResult,
  ContinuitySelection,
  MissingCommitReconstruction,
  OperatorResumeAuthority,
  OutcomeEvidence,
  PriorHandoff,
  TerminalResponse,
  TerminalStatus,
} from "./fold-result.ts";
export { continuityProblem } from "./ledger.ts";
export { handoffStopWindowMs } from "./limits.ts";
export {
  type NoteRejectionReason,
  type NoteValidation,
  type NoteVerification,
  type NoteVerificationReason,
  validateContinuityNote,
  verifyAcceptedNote,
} from "./note.ts";
export {
  HANDOFF_RECOVERY_REQUEST_TYPE,
  isHandoffRecoveryRequestData,
  isHandoffRecoveryRequestEntry,
} from "./operator-request.ts";
export {
  type AcceptedRecord,
  type ContinuityBarrier,
  type ContinuityGroup,
  type ContinuityPersistencePorts,
  type ContinuityReadback,
  type ContinuityRetry,
  continuityRecordDigest,
  type PersistedGroup,
  persistContinuityGroup,
  reconcileContinuityEntry,
  type UncertainGroup,
  type UncertainReason,
  type WritableEntry,
} from "./persistence.ts";
export {
  type ContinuityForkBinding,
  type ContinuityProjection,
  type ContinuityProjectionInput,
  type ContinuityRecallNote,
  type ContinuityRecallProvenance,
  type ProjectedContinuityNote,
  resolveContinuityProjection,
} from "./projection.ts";
export { continuityReplayBlocks, continuityReplayText, inheritedContinuityReplayText } from "./replay.ts";
export {
  type ContinuityCharge,
  calculateContextTokens,
  continuityCharges,
  continuityProjectionTokens,
  type EstimatedMessage,
  estimateAgentMessageTokens,
  estimateEntryTokens,
  tokensAfterCompaction,
} from "./tokens.ts";
export {
  isContinuityCarryingSummary,
  isContinuityCheckpointPayload,
  isContinuityCommitEntry,
  isHandoffEvent,
  isHandoffTransactionEntry,
} from "./validate.ts";
