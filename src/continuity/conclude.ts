/** The end of a fold: what the evidence says of the selected chain, and what follows from it. */
import { areEqual, type Chain, type FoldContext, phaseOf } from "./chain.ts";
import {
  type ContinuityAnomaly,
  type ContinuityAnomalyKind,
  type ContinuityAuthority,
  HANDOFF_MAX_WINDOW_MS,
  HANDOFF_SCHEMA_VERSION,
  type HandoffCommit,
  type HandoffIdentity,
  type HandoffPolicy,
} from "./contract.ts";
import type {
  ContinuityAction,
  ContinuityEvidence,
  ContinuityFoldResult,
  MissingCommitReconstruction,
  OutcomeEvidence,
  TerminalResponse,
} from "./fold-result.ts";
import { isContinuityCommitEntry } from "./validate.ts";

/** Evidence by what it is asked for. */
export interface EvidenceIndex {
  readonly responses: ReadonlyMap<string, readonly TerminalResponse[]>;
  /** Successes by the turn they answer, in file order. */
  readonly successes: ReadonlyMap<string, readonly TerminalResponse[]>;
  readonly outcomes: ReadonlyMap<string, readonly OutcomeEvidence[]>;
  readonly unreadableRecords: number;
}

export function groupBy<T>(rows: readonly T[], key: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group === undefined) groups.set(key(row), [row]);
    else group.push(row);
  }
  return groups;
}

export function indexEvidence(evidence: ContinuityEvidence): EvidenceIndex {
  const successes = evidence.terminalResponses.filter((row) => row.status === "success");
  return {
    responses: groupBy(evidence.terminalResponses, (row) => row.entryId),
    successes: groupBy(successes, (row) => row.continuationTurnId),
    outcomes: groupBy(evidence.outcomes, (row) => row.entryId),
    unreadableRecords: evidence.unreadableRecords,
  };
}

export type ChainConclusion = Omit<ContinuityFoldResult, "priorHandoffs" | "skipped">;

/** Concludes the selected chain. `ledgerAnomalies` are those that belong to no chain; any of them disputes this one. */
export function concludeChain(
  chain: Chain,
  ledgerAnomalies: readonly ContinuityAnomaly[],
  evidence: EvidenceIndex,
  context: FoldContext,
  clock: { readonly nowMs: number; readonly historical: boolean },
): ChainConclusion {
  const anomalies = [...ledgerAnomalies, ...chain.anomalies];
  const found = (kind: ContinuityAnomalyKind, entryId: string | null, detail: string): void => {
    anomalies.push({ kind, entryId, detail });
  };
  const { head, identity, policy, commit } = chain;
  if (identity !== null) {
    if (evidence.unreadableRecords > 0) {
      found("malformed_record", null, `${evidence.unreadableRecords} unreadable lines in the ledger`);
    }
    if (commit !== null && !isOutcomeBound(commit, identity, evidence)) {
      const kind = evidence.unreadableRecords > 0 ? "missing_commit_ref" : "unbound_outcome_ref";
      found(kind, commit.entry.turnId, `nothing proves the commit's outcome (${commit.outcome})`);
    }
    if (head?.event.phase === "acknowledged" && !isAcknowledged(chain, evidence, context)) {
      found(
        "acknowledgement_unsupported",
        head.transition.entryId,
        "no finished response of the acknowledged delivery stands between its record and the acknowledgement",
      );
    }
  }
  const isPoisoned = anomalies.length > 0;
  const missingCommit = isPoisoned ? null : rebuildCommit(chain);
  const response = finishedResponse(chain, evidence);
  const window = policy === null ? undefined : windowOf(policy, chain);
  const action = isPoisoned
    ? recallOnly("conflicting_evidence")
    : nextAction(chain, clock, window, missingCommit, response);
  return {
    phase: phaseOf(chain),
    authority: authorityOf(chain, action),
    identity,
    accepted: chain.accepted,
    policy,
    commit,
    state: head,
    attemptsSpent: head?.transition.attempt ?? 0,
    effectiveDeadlineAtMs: window?.deadlineAtMs ?? null,
    missingCommit,
    unacknowledgedResponseEntryId: isPoisoned || clock.historical ? null : (response?.entryId ?? null),
    validated: !isPoisoned,
    anomalies,
    action,
  };
}

function isOutcomeBound(commit: HandoffCommit, identity: HandoffIdentity, evidence: EvidenceIndex): boolean {
  const ref = commit.summaryRef ?? commit.evictionRef;
  if (ref === undefined) return true;
  const rows = evidence.outcomes.get(ref) ?? [];
  return rows.some(
    (row) =>
      row.outcome === commit.outcome &&
      row.handoffId === identity.handoffId &&
      row.commitId === identity.commitId,
  );
}

/** An acknowledgement holds with its own record, the delivery's record before it, and that delivery's success in between. */
function isAcknowledged(chain: Chain, evidence: EvidenceIndex, context: FoldContext): boolean {
  const head = chain.head;
  if (head?.event.phase !== "acknowledged") return false;
  const { transition, event, delivery } = head;
  const acknowledgement = context.index.get(transition.entryId);
  const delivered = context.index.get(transition.prevEntryId ?? "");
  if (acknowledgement?.record.kind !== "handoffTransaction") return false;
  if (delivered?.record.kind !== "handoffTransaction" || delivered.record.event.phase !== "delivered") {
    return false;
  }
  const { deliveryId, continuationTurnId } = delivered.record.event;
  const isOwn =
    areEqual(acknowledgement.record.transition, transition) &&
    areEqual(acknowledgement.record.event, event) &&
    acknowledgement.record.identity.handoffId === chain.handoffId &&
    delivered.record.identity.handoffId === chain.handoffId &&
    areEqual({ deliveryId, continuationTurnId }, delivery) &&
    event.deliveryId === deliveryId;
  if (!isOwn) return false;
  const rows = evidence.responses.get(event.terminalResponseEntryId) ?? [];
  return rows.some(
    (row) =>
      row.status === "success" &&
      row.continuationTurnId === continuationTurnId &&
      row.position > delivered.position &&
      row.position < acknowledgement.position,
  );
}

/** The first success that answers the standing delivery, behind the delivery's own record. */
function finishedResponse(chain: Chain, evidence: EvidenceIndex): TerminalResponse | undefined {
  const { head, deliveryPosition } = chain;
  if (head?.event.phase !== "delivered" || deliveryPosition === undefined) return undefined;
  const rows = evidence.successes.get(head.event.continuationTurnId) ?? [];
  return rows.find((row) => row.position > deliveryPosition);
}

/** The commit record that only carries tell of, as it was or would have been written. */
function rebuildCommit(chain: Chain): MissingCommitReconstruction | null {
  const { carry, head } = chain;
  if (chain.hasCommitRecord || carry === null || head === null) return null;
  const { turnId, parentTurnId, timestamp } = carry.commit.entry;
  const entry: MissingCommitReconstruction["entry"] = {
    kind: "continuityCommit",
    turnId,
    parentTurnId,
    timestamp,
    continuity: {
      schemaVersion: HANDOFF_SCHEMA_VERSION,
      identity: carry.identity,
      accepted: carry.accepted,
      policy: carry.policy,
      commit: carry.commit,
      state: {
        transition: carry.commit.transition,
        event: { phase: "ready" },
        activeResume: null,
        delivery: null,
      },
    },
  };
  return isContinuityCommitEntry(entry) ? { entry, carriedState: head } : null;
}

interface PermissionWindow {
  /** No reading of the clock before this one can be right. */
  readonly notBeforeMs: number;
  readonly deadlineAtMs: number;
}

/** A permission lasts to its own deadline, and never longer than the longest window from when it was given. */
function windowOf(policy: HandoffPolicy, chain: Chain): PermissionWindow {
  const resume = chain.head?.activeResume;
  const acceptedAtMs = chain.resumeAcceptedAtMs;
  if (resume === null || resume === undefined || acceptedAtMs === undefined) {
    const { preparedAtMs, automaticDeadlineAtMs } = policy;
    const longest = preparedAtMs + HANDOFF_MAX_WINDOW_MS;
    return { notBeforeMs: preparedAtMs, deadlineAtMs: Math.min(automaticDeadlineAtMs, longest) };
  }
  return {
    notBeforeMs: Math.max(policy.preparedAtMs, acceptedAtMs),
    deadlineAtMs: Math.min(resume.authority.automaticDeadlineAtMs, acceptedAtMs + HANDOFF_MAX_WINDOW_MS),
  };
}

function recallOnly(
  reason: Extract<ContinuityAction, { kind: "recall_only" }>["reason"],
): Extract<ContinuityAction, { kind: "recall_only" }> {
  return { kind: "recall_only", reason };
}

/** What an undisputed chain should do next; the first line that fits decides. */
function nextAction(
  chain: Chain,
  { nowMs, historical }: { readonly nowMs: number; readonly historical: boolean },
  window: PermissionWindow | undefined,
  missingCommit: MissingCommitReconstruction | null,
  response: TerminalResponse | undefined,
): ContinuityAction {
  const { head, policy, commit } = chain;
  if (head === null || policy === null || window === undefined) return { kind: "none" };
  const { event, transition } = head;
  if (event.phase === "acknowledged") return { kind: "none" };
  if (historical) return recallOnly("historical_fork");
  if (event.phase === "paused" || event.phase === "failed") return recallOnly(event.phase);
  if (!Number.isFinite(nowMs) || nowMs < window.notBeforeMs) return recallOnly("clock_ambiguous");
  if (nowMs >= window.deadlineAtMs) return { kind: "fail", reason: "deadline_exceeded" };
  if (event.phase === "delivered") {
    return response === undefined ? { kind: "pause", reason: "delivery_uncertain" } : { kind: "none" };
  }
  if (missingCommit !== null) return { kind: "reconstruct_commit", reconstruction: missingCommit };
  const mayDeliver =
    event.phase === "ready" ||
    (event.phase === "resumed" && event.authority.action === "deliver" && commit !== null);
  if (!mayDeliver && transition.attempt >= policy.maxAttempts) return recallOnly("attempts_exhausted");
  return { kind: "none" };
}

function authorityOf(chain: Chain, action: ContinuityAction): ContinuityAuthority {
  if (chain.identity === null) return "none";
  const phase = phaseOf(chain);
  return action.kind === "none" && phase !== "absent" && phase !== "acknowledged"
    ? "execution"
    : "recall_only";
}
