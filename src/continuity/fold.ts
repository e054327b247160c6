/**
 * The fold of a ledger: which transaction of a session is the current one, how it stands, and what should happen next. Pure and single
 * origin: records of another session, and records off the selected path, are set aside. Presence is no proof: a record counts only where
 * it follows from the records before it.
 */
import {
  applyCommit,
  applyTransaction,
  areEqual,
  type Chain,
  createChain,
  type FoldContext,
  type Objection,
  objection,
  phaseOf,
} from "./chain.ts";
import { applyCarry } from "./chain-carry.ts";
import { concludeChain, type EvidenceIndex, groupBy, indexEvidence } from "./conclude.ts";
import type { ContinuityAnomaly, ContinuityCheckpointPayload, HandoffIdentity } from "./contract.ts";
import type {
  ContinuityEvidence,
  ContinuityFoldInput,
  ContinuityFoldResult,
  OperatorResumeAuthority,
  PriorHandoff,
} from "./fold-result.ts";
import {
  type ContinuityClaim,
  type ContinuityRecord,
  type IndexedRecord,
  indexRecords,
  readContinuityClaims,
} from "./ledger.ts";

/** Folds a ledger for one session. Reads no clock and does nothing of what it proposes; cost linear in the entries. */
export function foldContinuity(input: ContinuityFoldInput): ContinuityFoldResult {
  const { sessionId, pathTurnIds, historical } = input.selection;
  const ledger = prepareLedger(readContinuityClaims(input.entries), input.evidence);
  return foldOrigin(ledger, { sessionId, path: new Set(pathTurnIds), historical, nowMs: input.nowMs });
}

/** A ledger read once, to be folded for any number of origins. */
export interface PreparedLedger {
  readonly claimsTotal: number;
  /** Well-formed records, and malformed ones that name an origin. */
  readonly claimsByOrigin: ReadonlyMap<string, readonly ContinuityClaim[]>;
  /** Malformed ones that name none: they could be anyone's. */
  readonly unowned: readonly ContinuityClaim[];
  readonly index: ReadonlyMap<string, IndexedRecord>;
  readonly authorities: ReadonlyMap<string, readonly OperatorResumeAuthority[]>;
  readonly evidence: EvidenceIndex;
}

export function prepareLedger(
  claims: readonly ContinuityClaim[],
  evidence: ContinuityEvidence,
): PreparedLedger {
  const owned = claims.filter((claim) => claim.originSessionId !== null);
  return {
    claimsTotal: claims.length,
    claimsByOrigin: groupBy(owned, (claim) => claim.originSessionId as string),
    unowned: claims.filter((claim) => claim.originSessionId === null),
    index: indexRecords(claims),
    authorities: groupBy(evidence.resumeAuthorities, (row) => row.operatorRequestEntryId),
    evidence: indexEvidence(evidence),
  };
}

export interface OriginSelection {
  readonly sessionId: string;
  readonly path: ReadonlySet<string>;
  readonly historical: boolean;
  readonly nowMs: number;
}

/** Folds one origin of a prepared ledger; cost linear in that origin's records. */
export function foldOrigin(ledger: PreparedLedger, selection: OriginSelection): ContinuityFoldResult {
  const { sessionId } = selection;
  const own = ledger.claimsByOrigin.get(sessionId) ?? [];
  const context: FoldContext = { sessionId, index: ledger.index, authorities: ledger.authorities };
  const chains = new Map<string, Chain>();
  const owners = new Map<string, Chain>();
  const malformed = [...ledger.unowned];
  let applicable = 0;
  for (const claim of own) {
    const { record, position } = claim;
    if (record === undefined) {
      malformed.push(claim);
      continue;
    }
    const identity = identityOf(record);
    if (!isOnPath(identity, selection.path)) continue;
    applicable += 1;
    let chain = chains.get(identity.handoffId);
    if (chain === undefined) {
      chain = createChain(identity.handoffId, position);
      chains.set(identity.handoffId, chain);
    }
    applyRecord(chain, owners, record, position, context);
  }
  malformed.sort((a, b) => a.position - b.position);
  const skipped = {
    inapplicable: ledger.claimsTotal - malformed.length - applicable,
    unreadable: ledger.evidence.unreadableRecords,
  };
  return concludeLedger(
    [...chains.values()],
    malformed.map(malformedAnomaly),
    ledger,
    context,
    selection,
    skipped,
  );
}

function identityOf(record: ContinuityRecord): HandoffIdentity {
  return record.kind === "handoffTransaction" ? record.identity : record.continuity.identity;
}

function isOnPath(identity: HandoffIdentity, path: ReadonlySet<string>): boolean {
  const anchor = identity.branchAnchorTurnId;
  return path.has(identity.initiatingTurnId) && (anchor === null || path.has(anchor));
}

function malformedAnomaly({ entryId, entry }: ContinuityClaim): ContinuityAnomaly {
  return {
    kind: "malformed_continuity_record",
    entryId,
    detail: `a ${String(entry["kind"])} record does not have the form of one`,
  };
}

function applyRecord(
  chain: Chain,
  owners: Map<string, Chain>,
  record: ContinuityRecord,
  position: number,
  context: FoldContext,
): void {
  const entryId = record.turnId;
  const add = (target: Chain, { kind, detail }: Objection): void => {
    target.anomalies.push({ kind, entryId, detail });
  };
  const payload = record.kind === "compactionSummary" ? record.continuity : undefined;
  if (chain.seen.has(entryId)) {
    const conflict = objectToRepeat(chain.seen.get(entryId), payload);
    if (conflict !== undefined) add(chain, conflict);
    return;
  }
  chain.seen.set(entryId, payload);
  const owner = owners.get(entryId);
  if (owner !== undefined) {
    const reused = objection("entry_id_reused", "two transactions have a record under this id");
    add(owner, reused);
    add(chain, reused);
    return;
  }
  owners.set(entryId, chain);
  const refused = apply(chain, record, position, context);
  if (refused !== undefined) add(chain, refused);
}

function apply(
  chain: Chain,
  record: ContinuityRecord,
  position: number,
  context: FoldContext,
): Objection | undefined {
  switch (record.kind) {
    case "handoffTransaction":
      return applyTransaction(chain, record, position, context);
    case "continuityCommit":
      return applyCommit(chain, record, position);
    case "compactionSummary":
      return applyCarry(chain, record.continuity, position, context);
  }
}

/** Exact copies never come here, so a second record under one id conflicts, unless two summaries differ in their own text alone. */
function objectToRepeat(
  known: ContinuityCheckpointPayload | undefined,
  payload: ContinuityCheckpointPayload | undefined,
): Objection | undefined {
  if (payload === undefined)
    return objection("duplicate_conflict", "another record of this id says otherwise");
  if (known !== undefined && areEqual(known, payload)) return undefined;
  return objection("conflicting_carry", "another record of this id carries something else");
}

/** Selects the newest transaction and concludes it. A chain none of whose records could be applied is elected only where there is no other. */
function concludeLedger(
  chains: readonly Chain[],
  malformed: readonly ContinuityAnomaly[],
  ledger: PreparedLedger,
  context: FoldContext,
  selection: OriginSelection,
  skipped: ContinuityFoldResult["skipped"],
): ContinuityFoldResult {
  const ordered = [...chains].sort((a, b) => rootOf(a) - rootOf(b));
  const selected = ordered.findLast((chain) => chain.rootPosition !== undefined) ?? ordered.at(-1);
  if (selected === undefined) return { ...nothing(malformed), priorHandoffs: [], skipped };
  const at = ordered.indexOf(selected);
  // Newer than the selected one, and not one record of them fits: what they meant to do is unknown, so nothing is done.
  const unrooted = ordered.slice(at + 1).flatMap((chain) => chain.anomalies);
  return {
    ...concludeChain(selected, [...malformed, ...unrooted], ledger.evidence, context, selection),
    priorHandoffs: ordered.slice(0, at).map(priorOf),
    skipped,
  };
}

function rootOf(chain: Chain): number {
  return chain.rootPosition ?? chain.firstPosition;
}

function priorOf(chain: Chain): PriorHandoff {
  return {
    handoffId: chain.handoffId,
    commitId: chain.identity?.commitId ?? "",
    phase: phaseOf(chain),
    accepted: chain.accepted,
    outcome: chain.commit?.outcome ?? null,
  };
}

function nothing(
  anomalies: readonly ContinuityAnomaly[],
): Omit<ContinuityFoldResult, "priorHandoffs" | "skipped"> {
  return {
    phase: "absent",
    authority: "none",
    identity: null,
    accepted: null,
    policy: null,
    commit: null,
    state: null,
    attemptsSpent: 0,
    effectiveDeadlineAtMs: null,
    missingCommit: null,
    unacknowledgedResponseEntryId: null,
    validated: anomalies.length === 0,
    anomalies,
    action: { kind: "none" },
  };
}
