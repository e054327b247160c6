/** One reading of a ledger for fold, evidence and projection: which entries speak of continuity, each distinct one once. */
import { canonicalJson } from "./canonical.ts";
import type { CarryingSummaryEntry, ContinuityCommitEntry, HandoffTransactionEntry } from "./entries.ts";
import { HANDOFF_RECOVERY_REQUEST_TYPE, isHandoffRecoveryRequestEntry } from "./operator-request.ts";
import {
  isContinuityCarryingSummary,
  isContinuityCommitEntry,
  isHandoffTransactionEntry,
} from "./validate.ts";
import { type Fields, fieldsOf, isId } from "./values.ts";

export type ContinuityRecord = HandoffTransactionEntry | ContinuityCommitEntry | CarryingSummaryEntry;

/** An entry that claims to be a continuity record. What it says is read field by field, so that no malformed one hides what it names. */
export interface ContinuityClaim {
  readonly position: number;
  readonly entry: Fields;
  /** The record, where it is well-formed. */
  readonly record: ContinuityRecord | undefined;
  readonly entryId: string | null;
  readonly handoffId: string | null;
  readonly originSessionId: string | null;
  /** Whatever stands where the identity should; undefined where nothing does. */
  readonly identity: unknown;
  /** Whatever stands where the accepted note should; undefined where the record has none. */
  readonly accepted: unknown;
}

/** The claims of a ledger in file order. An exact copy of an earlier claim is left out, so that copies change nothing anywhere. */
export function readContinuityClaims(entries: readonly unknown[]): ContinuityClaim[] {
  const claims: ContinuityClaim[] = [];
  const isRepeat = repeatFinder();
  entries.forEach((value, position) => {
    const claim = readClaim(value, position);
    if (claim !== undefined && !isRepeat(claim.entryId, claim.entry)) claims.push(claim);
  });
  return claims;
}

function readClaim(value: unknown, position: number): ContinuityClaim | undefined {
  const entry = fieldsOf(value);
  if (entry === undefined) return undefined;
  let facts: Fields;
  let record: ContinuityRecord | undefined;
  let accepted: unknown;
  if (entry["kind"] === "handoffTransaction") {
    facts = entry;
    record = isHandoffTransactionEntry(value) ? value : undefined;
    const event = fieldsOf(entry["event"]);
    accepted = event?.["phase"] === "prepared" ? event["accepted"] : undefined;
  } else if (
    entry["kind"] === "continuityCommit" ||
    (entry["kind"] === "compactionSummary" && entry["continuity"] !== undefined)
  ) {
    facts = fieldsOf(entry["continuity"]) ?? {};
    record = isContinuityCommitEntry(value) || isContinuityCarryingSummary(value) ? value : undefined;
    accepted = facts["accepted"];
  } else return undefined;
  const identity = facts["identity"];
  const named = fieldsOf(identity);
  return {
    position,
    entry,
    record,
    entryId: idOrNull(entry["turnId"]),
    handoffId: idOrNull(named?.["handoffId"]),
    originSessionId: idOrNull(named?.["originSessionId"]),
    identity,
    accepted,
  };
}

function idOrNull(value: unknown): string | null {
  return isId(value) ? value : null;
}

/**
 * Tells for each entry, named by its id, whether an equal one was asked of before. Canonical texts are made only where an id comes up
 * twice, so that a ledger without copies costs one map.
 */
export function repeatFinder(): (entryId: string | null, entry: Fields) => boolean {
  const known = new Map<string | null, { readonly first: Fields; texts: Set<string> | undefined }>();
  return (entryId, entry) => {
    const same = known.get(entryId);
    if (same === undefined) {
      known.set(entryId, { first: entry, texts: undefined });
      return false;
    }
    same.texts ??= new Set([canonicalJson(same.first)]);
    const text = canonicalJson(entry);
    if (same.texts.has(text)) return true;
    same.texts.add(text);
    return false;
  };
}

/** A well-formed transaction or commit at its first position in the ledger. */
export interface IndexedRecord {
  readonly position: number;
  readonly record: HandoffTransactionEntry | ContinuityCommitEntry;
}

/** First positions by entry id, whoever's records they are: a copy further down never moves a record in time. */
export function indexRecords(claims: readonly ContinuityClaim[]): Map<string, IndexedRecord> {
  const index = new Map<string, IndexedRecord>();
  for (const { record, position } of claims) {
    if (record === undefined || record.kind === "compactionSummary" || index.has(record.turnId)) continue;
    index.set(record.turnId, { position, record });
  }
  return index;
}

/** The turn ids of all messages, in file order: the path of a ledger that is one path. */
export function messageTurnIds(entries: readonly unknown[]): string[] {
  const ids: string[] = [];
  for (const value of entries) {
    const entry = fieldsOf(value);
    if (entry?.["kind"] === "message" && isId(entry["turnId"])) ids.push(entry["turnId"]);
  }
  return ids;
}

/**
 * What continuity has against an entry of a ledger, or undefined: it judges its own two kinds, the carry of a summary and custom
 * entries of the reserved type, and has nothing to say of any other. A log refuses to append an entry with a problem, and counts one it
 * meets as unreadable.
 */
export function continuityProblem(value: unknown): string | undefined {
  const entry = fieldsOf(value);
  if (entry?.["kind"] === "custom") {
    const isReserved = entry["customType"] === HANDOFF_RECOVERY_REQUEST_TYPE;
    return !isReserved || isHandoffRecoveryRequestEntry(value)
      ? undefined
      : "is not a whole handoff recovery request";
  }
  const claim = readClaim(value, 0);
  if (claim === undefined || claim.record !== undefined) return undefined;
  return entry?.["kind"] === "compactionSummary"
    ? "carries a malformed handoff"
    : "is a malformed handoff record";
}
