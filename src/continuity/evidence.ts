/**
 * What a ledger proves about its transactions: which responses ended which delivery, which operator requests were accepted, which
 * summaries and evictions belong to which commit. Only what is proven becomes a row: a missing row leads to recall, an invented one would
 * permit execution.
 */
import { canonicalJson } from "./canonical.ts";
import type { HandoffDelivery } from "./contract.ts";
import type { HandoffRecoveryRequestEntry } from "./entries.ts";
import type {
  ContinuityEvidence,
  OperatorResumeAuthority,
  OutcomeEvidence,
  TerminalResponse,
  TerminalStatus,
} from "./fold-result.ts";
import { type ContinuityClaim, messageTurnIds, readContinuityClaims } from "./ledger.ts";
import { isHandoffRecoveryRequestEntry } from "./operator-request.ts";
import { type Fields, fieldsOf, isId, parseInstant } from "./values.ts";

export interface ContinuityEvidenceInput {
  /** Parsed JSON in file order; every position of the answer indexes this array. */
  readonly entries: readonly unknown[];
  /** The selected path. Absent: all messages of `entries`. */
  readonly pathTurnIds?: readonly string[] | undefined;
  /** Lines of the ledger that its reader could not read as entries. */
  readonly unreadableRecords: number;
}

/** Resolves the evidence of one ledger; cost linear in its entries. */
export function resolveContinuityEvidence(input: ContinuityEvidenceInput): ContinuityEvidence {
  const { entries } = input;
  const path = new Set(input.pathTurnIds ?? messageTurnIds(entries));
  return resolveEvidence(entries, readContinuityClaims(entries), path, input.unreadableRecords);
}

/** The same over claims and a path that were read already. */
export function resolveEvidence(
  entries: readonly unknown[],
  claims: readonly ContinuityClaim[],
  path: ReadonlySet<string>,
  unreadableRecords: number,
): ContinuityEvidence {
  const named = indexByKind(entries);
  return {
    terminalResponses: terminalResponses(named.get("message") ?? new Map(), claims),
    resumeAuthorities: resumeAuthorities(named.get("custom") ?? new Map(), claims, path),
    outcomes: outcomes(named.get("contextEviction") ?? new Map(), claims),
    unreadableRecords,
  };
}

interface Placed {
  readonly entry: Fields;
  readonly position: number;
}

/** Entries of one kind by id, at their first position, in file order; an id with different entries names nothing and is left out. */
type Named = ReadonlyMap<string, Placed>;

function indexByKind(entries: readonly unknown[]): Map<string, Named> {
  const kinds = new Map<string, Map<string, Placed>>();
  const ambiguous: { readonly kind: string; readonly id: string }[] = [];
  entries.forEach((value, position) => {
    const entry = fieldsOf(value);
    const kind = entry?.["kind"];
    if (entry === undefined || (kind !== "message" && kind !== "custom" && kind !== "contextEviction"))
      return;
    const id = entry["turnId"];
    if (!isId(id)) return;
    let named = kinds.get(kind);
    if (named === undefined) {
      named = new Map();
      kinds.set(kind, named);
    }
    const known = named.get(id);
    if (known === undefined) named.set(id, { entry, position });
    else if (canonicalJson(known.entry) !== canonicalJson(entry)) ambiguous.push({ kind, id });
  });
  for (const { kind, id } of ambiguous) kinds.get(kind)?.delete(id);
  return kinds;
}

// Terminal responses

/** A delivery record by its delivery id; `secondPosition` is where a second record claimed the same id. */
interface DeliveryIntent {
  readonly position: number;
  readonly delivery: HandoffDelivery;
  secondPosition: number;
}

function deliveryIntents(claims: readonly ContinuityClaim[]): Map<string, DeliveryIntent> {
  const intents = new Map<string, DeliveryIntent>();
  for (const { record, position } of claims) {
    if (record?.kind !== "handoffTransaction" || record.event.phase !== "delivered") continue;
    const known = intents.get(record.event.deliveryId);
    if (known === undefined) {
      const { deliveryId, continuationTurnId } = record.event;
      const delivery = { deliveryId, continuationTurnId };
      intents.set(deliveryId, { position, delivery, secondPosition: Number.POSITIVE_INFINITY });
    } else known.secondPosition = Math.min(known.secondPosition, position);
  }
  return intents;
}

function terminalResponses(messages: Named, claims: readonly ContinuityClaim[]): TerminalResponse[] {
  const intents = deliveryIntents(claims);
  const reaches = ancestryOf(messages);
  const rows: TerminalResponse[] = [];
  for (const [entryId, { entry, position }] of messages) {
    const parentTurnId = entry["parentTurnId"];
    if (entry["role"] !== "assistant" || !isId(parentTurnId)) continue;
    const payload = fieldsOf(entry["payload"]);
    const deliveryId = payload?.["continuityDeliveryId"];
    let continuationTurnId = parentTurnId;
    if (typeof deliveryId === "string") {
      const intent = intents.get(deliveryId);
      const isOnlyOne =
        intent !== undefined && intent.position < position && intent.secondPosition > position;
      if (!isOnlyOne || !reaches(intent.delivery, parentTurnId)) continue;
      continuationTurnId = intent.delivery.continuationTurnId;
    }
    rows.push({ entryId, continuationTurnId, status: terminalStatus(payload), position });
  }
  return rows;
}

/**
 * Whether a message stands behind a delivery's continuation turn with no new prompt of a person in between. Every message of a walk
 * keeps the walk's answer, so that a delivery of many tool rounds is walked once.
 */
function ancestryOf(messages: Named): (delivery: HandoffDelivery, fromTurnId: string) => boolean {
  const answers = new Map<string, Map<string, boolean>>();
  return ({ deliveryId, continuationTurnId }, fromTurnId) => {
    let known = answers.get(deliveryId);
    if (known === undefined) {
      known = new Map([[continuationTurnId, true]]);
      answers.set(deliveryId, known);
    }
    const walked: string[] = [];
    let turnId: unknown = fromTurnId;
    let answer: boolean | undefined;
    while (isId(turnId)) {
      answer = known.get(turnId);
      if (answer !== undefined) break;
      // Until the walk is over, a message on it answers no: a cycle ends there.
      known.set(turnId, false);
      walked.push(turnId);
      const message = messages.get(turnId)?.entry;
      if (message === undefined || message["role"] === "user") break;
      turnId = message["parentTurnId"];
    }
    for (const id of walked) known.set(id, answer ?? false);
    return answer ?? false;
  };
}

function terminalStatus(payload: Fields | undefined): TerminalStatus {
  if (payload === undefined) return "empty";
  const { stopReason, errorMessage, content } = payload;
  if (stopReason === "error" || stopReason === "aborted" || stopReason === "interrupted") return stopReason;
  if (errorMessage !== undefined && errorMessage !== null && errorMessage !== "") return "error";
  const isCorrelated = payload["continuityDeliveryId"] !== undefined;
  if (stopReason !== "stop" && (stopReason !== undefined || isCorrelated)) return "empty";
  const blocks = Array.isArray(content) ? content.map(fieldsOf) : [];
  if (blocks.some((block) => block?.["type"] === "toolCall")) return "empty";
  const spoke =
    hasWords(payload["text"]) ||
    blocks.some((block) => block?.["type"] === "text" && hasWords(block["text"]));
  return spoke ? "success" : "empty";
}

function hasWords(text: unknown): boolean {
  return typeof text === "string" && text.trim() !== "";
}

// Operator requests

function resumeAuthorities(
  customs: Named,
  claims: readonly ContinuityClaim[],
  path: ReadonlySet<string>,
): OperatorResumeAuthority[] {
  const anchors = new Map<string, string | null>();
  for (const { record } of claims) {
    if (record === undefined) continue;
    const { identity } = record.kind === "handoffTransaction" ? record : record.continuity;
    if (!anchors.has(identity.handoffId)) anchors.set(identity.handoffId, identity.branchAnchorTurnId);
  }
  const rows: OperatorResumeAuthority[] = [];
  for (const { entry, position } of customs.values()) {
    if (!isHandoffRecoveryRequestEntry(entry)) continue;
    const acceptedAtMs = acceptedTime(entry, anchors, path);
    if (acceptedAtMs === undefined) continue;
    const { handoffId, action, pausedOrFailedEntryId, sessionId } = entry.data;
    rows.push({
      operatorRequestEntryId: entry.turnId,
      handoffId,
      action,
      pausedOrFailedEntryId,
      originSessionId: sessionId,
      position,
      acceptedAtMs,
    });
  }
  return rows;
}

function acceptedTime(
  request: HandoffRecoveryRequestEntry,
  anchors: ReadonlyMap<string, string | null>,
  path: ReadonlySet<string>,
): number | undefined {
  const { handoffId, branchAnchorTurnId, selectedLeafTurnId } = request.data;
  if (!anchors.has(handoffId) || anchors.get(handoffId) !== branchAnchorTurnId) return undefined;
  if (request.parentTurnId !== selectedLeafTurnId) return undefined;
  if (selectedLeafTurnId !== null && !path.has(selectedLeafTurnId)) return undefined;
  return parseInstant(request.timestamp);
}

// Outcomes

function outcomes(evictions: Named, claims: readonly ContinuityClaim[]): OutcomeEvidence[] {
  const rows: OutcomeEvidence[] = [];
  for (const { record, position } of claims) {
    if (record?.kind !== "compactionSummary") continue;
    const { handoffId, commitId } = record.continuity.identity;
    rows.push({ entryId: record.turnId, outcome: "summarized", handoffId, commitId, position });
  }
  for (const [entryId, claim] of evictionClaims(claims)) {
    const eviction = evictions.get(entryId);
    if (claim === "disputed" || eviction === undefined || eviction.position >= claim.position) continue;
    const { handoffId, commitId } = claim;
    rows.push({ entryId, outcome: "evicted", handoffId, commitId, position: eviction.position });
  }
  return rows;
}

interface EvictionClaim {
  readonly handoffId: string;
  readonly commitId: string;
  /** Of the commit record; of the first carry while no commit record is known. */
  position: number;
  fromCommit: boolean;
}

/** Which transaction claims which eviction. A carry claims too: it is what proves a commit that was lost. */
function evictionClaims(claims: readonly ContinuityClaim[]): Map<string, EvictionClaim | "disputed"> {
  const byEviction = new Map<string, EvictionClaim | "disputed">();
  for (const { record, position } of claims) {
    if (record === undefined || record.kind === "handoffTransaction") continue;
    const { commit, identity } = record.continuity;
    if (commit.evictionRef === undefined) continue;
    const { handoffId, commitId } = identity;
    const fromCommit = record.kind === "continuityCommit";
    const known = byEviction.get(commit.evictionRef);
    if (known === undefined) {
      byEviction.set(commit.evictionRef, { handoffId, commitId, position, fromCommit });
    } else if (known !== "disputed") {
      if (known.handoffId !== handoffId || known.commitId !== commitId) {
        byEviction.set(commit.evictionRef, "disputed");
      } else if (fromCommit && !known.fromCommit) {
        known.position = position;
        known.fromCommit = true;
      }
    }
  }
  return byEviction;
}
