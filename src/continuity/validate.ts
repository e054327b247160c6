/**
 * The shape of continuity records. A record that fails here is malformed; what a well-formed record claims is judged by the fold. Numbers
 * are safe integers, ids non-empty strings; unknown fields are tolerated everywhere but in a `ready` event.
 */
import { canonicalJson } from "./canonical.ts";
import {
  type ContinuityCheckpointPayload,
  HANDOFF_NOTE_MAX_BYTES,
  HANDOFF_POLICY_LIMITS,
  HANDOFF_SCHEMA_VERSION,
  type HandoffEvent,
  type HandoffIdentity,
  type HandoffPolicy,
  type HandoffState,
  type ResumeAuthority,
  type TransitionLink,
} from "./contract.ts";
import type { CarryingSummaryEntry, ContinuityCommitEntry, HandoffTransactionEntry } from "./entries.ts";
import { type Fields, fieldsOf, isId, isInteger, isNullableId } from "./values.ts";

const pauseReasons = new Set<unknown>(["operator_cancelled", "origin_changed", "delivery_uncertain"]);
const failureReasons = new Set<unknown>([
  "invalid_note",
  "note_exceeds_replay_budget",
  "budget_unsafe_no_material",
  "durability_unresolved",
  "state_root_removed",
  "origin_changed",
  "provider_failed",
  "attempts_exhausted",
  "deadline_exceeded",
]);
const sha256Form = /^[0-9a-f]{64}$/;

/** True for the envelope that every entry of a ledger has. */
export function hasEntryEnvelope(entry: Fields): boolean {
  return isId(entry["turnId"]) && isNullableId(entry["parentTurnId"]) && isId(entry["timestamp"]);
}

function isIdentity(value: unknown): value is HandoffIdentity {
  const identity = fieldsOf(value);
  return (
    identity !== undefined &&
    isId(identity["handoffId"]) &&
    isId(identity["preparedEntryId"]) &&
    isId(identity["commitId"]) &&
    isId(identity["commitEntryId"]) &&
    isId(identity["originSessionId"]) &&
    isNullableId(identity["branchAnchorTurnId"]) &&
    isId(identity["initiatingTurnId"]) &&
    isId(identity["toolCallId"]) &&
    typeof identity["sourceRevision"] === "string"
  );
}

/** The shape only; whether size and digest are the text's own is the fold's to check. */
function isAcceptedNote(value: unknown): boolean {
  const accepted = fieldsOf(value);
  if (accepted === undefined) return false;
  const digest = accepted["noteSha256"];
  return (
    isId(accepted["note"]) &&
    isInteger(accepted["noteBytes"], 1, HANDOFF_NOTE_MAX_BYTES) &&
    typeof digest === "string" &&
    sha256Form.test(digest)
  );
}

/** A deadline beyond the longest window is legal here: the fold cuts it. */
function isPolicy(value: unknown): value is HandoffPolicy {
  const policy = fieldsOf(value);
  if (policy === undefined) return false;
  const limits = HANDOFF_POLICY_LIMITS;
  const preparedAtMs = policy["preparedAtMs"];
  return (
    isInteger(preparedAtMs) &&
    isInteger(policy["automaticDeadlineAtMs"], preparedAtMs + 1) &&
    isInteger(policy["maxAttempts"], 1, limits.maxAttempts) &&
    isInteger(policy["maxSummaryCallsPerAttempt"], 1, limits.maxSummaryCallsPerAttempt) &&
    isInteger(policy["additionalSummaryRetriesPerCall"], 0, limits.additionalSummaryRetriesPerCall) &&
    isInteger(policy["maxSummaryStreamInvocations"], 1, limits.maxSummaryStreamInvocations) &&
    isInteger(policy["flushRetryLimit"], 0, limits.flushRetryLimit)
  );
}

function isTransitionLink(value: unknown): value is TransitionLink {
  const link = fieldsOf(value);
  return (
    link !== undefined &&
    isId(link["entryId"]) &&
    isNullableId(link["prevEntryId"]) &&
    isInteger(link["sequence"]) &&
    isInteger(link["attempt"])
  );
}

/** Every record but the first of a chain names the one before it. */
function isFollowingLink(link: TransitionLink): boolean {
  return link.prevEntryId !== null && link.sequence > 0;
}

function isResumeAuthority(value: unknown): value is ResumeAuthority {
  const authority = fieldsOf(value);
  return (
    authority !== undefined &&
    isId(authority["operatorRequestEntryId"]) &&
    isId(authority["pausedOrFailedEntryId"]) &&
    isResumeAction(authority["action"]) &&
    isInteger(authority["automaticDeadlineAtMs"])
  );
}

/** The two things an operator may ask of a stopped transaction. */
export function isResumeAction(value: unknown): value is "reduce" | "deliver" {
  return value === "reduce" || value === "deliver";
}

function isOptionalRef(value: unknown): boolean {
  return value === undefined || isId(value);
}

/** True for an event as a transaction records it. `ready` is a commit's state, not an event. */
export function isHandoffEvent(value: unknown): value is HandoffEvent {
  const event = fieldsOf(value);
  switch (event?.["phase"]) {
    case "prepared":
      return isAcceptedNote(event["accepted"]) && isPolicy(event["policy"]);
    case "reducing":
      return isOptionalRef(event["resumeRef"]);
    case "delivered":
      return (
        isId(event["deliveryId"]) && isId(event["continuationTurnId"]) && isOptionalRef(event["resumeRef"])
      );
    case "acknowledged":
      return isId(event["deliveryId"]) && isId(event["terminalResponseEntryId"]);
    case "paused":
      return pauseReasons.has(event["reason"]);
    case "failed":
      return failureReasons.has(event["reason"]);
    case "resumed":
      return isResumeAuthority(event["authority"]);
    default:
      return false;
  }
}

/** True for a well-formed transaction record: envelope, identity, link and event agree with each other. */
export function isHandoffTransactionEntry(value: unknown): value is HandoffTransactionEntry {
  const entry = fieldsOf(value);
  if (entry?.["kind"] !== "handoffTransaction" || !hasEntryEnvelope(entry)) return false;
  if (entry["schemaVersion"] !== HANDOFF_SCHEMA_VERSION) return false;
  const { identity, transition, event } = entry;
  if (!isIdentity(identity) || !isTransitionLink(transition) || !isHandoffEvent(event)) return false;
  if (transition.entryId !== entry["turnId"]) return false;
  if (event.phase !== "prepared") return isFollowingLink(transition);
  return (
    transition.entryId === identity.preparedEntryId &&
    transition.prevEntryId === null &&
    transition.sequence === 0 &&
    transition.attempt === 0
  );
}

function isCommitData(value: unknown): boolean {
  const commit = fieldsOf(value);
  const entry = fieldsOf(commit?.["entry"]);
  if (commit === undefined || entry === undefined || !hasEntryEnvelope(entry)) return false;
  const { transition, summaryRef, evictionRef } = commit;
  if (!isTransitionLink(transition) || !isFollowingLink(transition)) return false;
  if (transition.entryId !== entry["turnId"]) return false;
  if (!isInteger(commit["tokensBefore"]) || !isInteger(commit["tokensAfter"])) return false;
  switch (commit["outcome"]) {
    case "summarized":
      return isId(summaryRef) && evictionRef === undefined;
    case "evicted":
      return isId(evictionRef) && summaryRef === undefined;
    case "continuity_only":
      return summaryRef === undefined && evictionRef === undefined;
    default:
      return false;
  }
}

/** A head as it is carried: an event, or exactly `{phase:"ready"}`; both nullable fields present. */
function isCarriedState(value: unknown): value is HandoffState {
  const state = fieldsOf(value);
  const event = fieldsOf(state?.["event"]);
  if (state === undefined || event === undefined || !isTransitionLink(state["transition"])) return false;
  const isReady = event["phase"] === "ready" && Object.keys(event).length === 1;
  // What is carried stands at or behind a commit; a chain's first record cannot.
  if (!isReady && (!isHandoffEvent(event) || event.phase === "prepared")) return false;
  const { activeResume, delivery } = state;
  if (activeResume !== null && !isActiveResume(activeResume)) return false;
  if (delivery !== null && !isDelivery(delivery)) return false;
  if (event["phase"] === "resumed") {
    const active = fieldsOf(activeResume);
    return (
      active?.["entryId"] === state["transition"].entryId &&
      canonicalJson(active["authority"]) === canonicalJson(event["authority"])
    );
  }
  if (event["phase"] === "delivered") {
    const kept = fieldsOf(delivery);
    return (
      kept?.["deliveryId"] === event["deliveryId"] &&
      kept?.["continuationTurnId"] === event["continuationTurnId"]
    );
  }
  return true;
}

function isActiveResume(value: unknown): boolean {
  const active = fieldsOf(value);
  return active !== undefined && isId(active["entryId"]) && isResumeAuthority(active["authority"]);
}

function isDelivery(value: unknown): boolean {
  const delivery = fieldsOf(value);
  return delivery !== undefined && isId(delivery["deliveryId"]) && isId(delivery["continuationTurnId"]);
}

/** True for a whole transaction as commits and carries hold it, its parts agreeing with each other. */
export function isContinuityCheckpointPayload(value: unknown): value is ContinuityCheckpointPayload {
  const fields = fieldsOf(value);
  if (fields?.["schemaVersion"] !== HANDOFF_SCHEMA_VERSION) return false;
  if (!isIdentity(fields["identity"]) || !isAcceptedNote(fields["accepted"])) return false;
  if (!isPolicy(fields["policy"]) || !isCommitData(fields["commit"])) return false;
  if (!isCarriedState(fields["state"])) return false;
  const { identity, policy, commit, state } = fields as unknown as ContinuityCheckpointPayload;
  const made = commit.transition;
  const head = state.transition;
  if (commit.entry.turnId !== identity.commitEntryId) return false;
  if (made.attempt < 1 || made.attempt > policy.maxAttempts || head.attempt > policy.maxAttempts)
    return false;
  if (head.sequence < made.sequence) return false;
  if (state.event.phase === "ready") return canonicalJson(head) === canonicalJson(made);
  return head.attempt >= made.attempt;
}

/** True for a commit record: the reserved envelope, and `ready` with nothing behind it. A later head belongs on a carry. */
export function isContinuityCommitEntry(value: unknown): value is ContinuityCommitEntry {
  const entry = fieldsOf(value);
  if (entry?.["kind"] !== "continuityCommit" || !hasEntryEnvelope(entry)) return false;
  const payload = entry["continuity"];
  if (!isContinuityCheckpointPayload(payload)) return false;
  const reserved = payload.commit.entry;
  return (
    entry["turnId"] === reserved.turnId &&
    entry["parentTurnId"] === reserved.parentTurnId &&
    entry["timestamp"] === reserved.timestamp &&
    payload.state.event.phase === "ready" &&
    payload.state.activeResume === null &&
    payload.state.delivery === null
  );
}

/** True for a compaction summary with a well-formed carry. The summary's own fields are its writer's to check. */
export function isContinuityCarryingSummary(value: unknown): value is CarryingSummaryEntry {
  const entry = fieldsOf(value);
  if (entry?.["kind"] !== "compactionSummary" || !hasEntryEnvelope(entry)) return false;
  return isContinuityCheckpointPayload(entry["continuity"]);
}
