/** One transaction's chain while it is folded: what its records established so far, and which record may come next. */
import { canonicalJson } from "./canonical.ts";
import type {
  AcceptedNote,
  ContinuityAnomaly,
  ContinuityAnomalyKind,
  ContinuityCheckpointPayload,
  ContinuityPhase,
  HandoffCommit,
  HandoffEvent,
  HandoffIdentity,
  HandoffPolicy,
  HandoffState,
  ResumeAuthority,
  TransitionLink,
} from "./contract.ts";
import type { ContinuityCommitEntry, HandoffTransactionEntry } from "./entries.ts";
import type { OperatorResumeAuthority } from "./fold-result.ts";
import type { IndexedRecord } from "./ledger.ts";
import { verifyAcceptedNote } from "./note.ts";

/** What a record is judged against besides its chain. */
export interface FoldContext {
  readonly sessionId: string;
  readonly index: ReadonlyMap<string, IndexedRecord>;
  readonly authorities: ReadonlyMap<string, readonly OperatorResumeAuthority[]>;
}

export interface Chain {
  readonly handoffId: string;
  /** Where any record first named it. */
  readonly firstPosition: number;
  /** Where the first record that could be applied stands; undefined while there is none. */
  rootPosition: number | undefined;
  identity: HandoffIdentity | null;
  accepted: AcceptedNote | null;
  policy: HandoffPolicy | null;
  commit: HandoffCommit | null;
  head: HandoffState | null;
  /** True once the commit record itself was seen, not only a carry of it. */
  hasCommitRecord: boolean;
  /** The carry with the highest sequence. */
  carry: ContinuityCheckpointPayload | null;
  /** Canonical states of all carries by sequence. */
  readonly carriedStates: Map<number, string>;
  /** Where the record of the current delivery stands; undefined where only a carry tells of it. */
  deliveryPosition: number | undefined;
  /** When the request behind the active resume was made. */
  resumeAcceptedAtMs: number | undefined;
  /** Ids of this chain's records; a carry's with its payload, since only that of a summary belongs to the chain. */
  readonly seen: Map<string, ContinuityCheckpointPayload | undefined>;
  /** Any anomaly makes the chain recall-only. */
  readonly anomalies: ContinuityAnomaly[];
}

/** Why a record was not applied. */
export interface Objection {
  readonly kind: ContinuityAnomalyKind;
  readonly detail: string;
}

export function createChain(handoffId: string, firstPosition: number): Chain {
  return {
    handoffId,
    firstPosition,
    rootPosition: undefined,
    identity: null,
    accepted: null,
    policy: null,
    commit: null,
    head: null,
    hasCommitRecord: false,
    carry: null,
    carriedStates: new Map(),
    deliveryPosition: undefined,
    resumeAcceptedAtMs: undefined,
    seen: new Map(),
    anomalies: [],
  };
}

export function objection(kind: ContinuityAnomalyKind, detail: string): Objection {
  return { kind, detail };
}

export function phaseOf(chain: Chain): ContinuityPhase {
  return chain.head?.event.phase ?? "absent";
}

export function areEqual(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

const predecessors: Readonly<Record<Exclude<ContinuityPhase, "absent">, readonly ContinuityPhase[]>> = {
  prepared: ["absent"],
  reducing: ["prepared", "resumed", "failed"],
  ready: ["reducing"],
  delivered: ["ready", "resumed"],
  acknowledged: ["delivered"],
  paused: ["prepared", "reducing", "ready", "delivered", "resumed"],
  failed: ["prepared", "reducing", "resumed"],
  resumed: ["paused", "failed"],
};

type HeadEvent = HandoffState["event"];

/** A failed reduction may be tried again without an operator only where the provider failed. */
export function mayRetry(head: HeadEvent): boolean {
  return head.phase !== "failed" || head.reason === "provider_failed";
}

/** The objection to `event` at `link` as the very next record of the chain, or undefined. A higher sequence alone permits nothing. */
export function objectToSuccessor(
  chain: Chain,
  event: HeadEvent,
  link: TransitionLink,
): Objection | undefined {
  const head = chain.head;
  const from = phaseOf(chain);
  const isLegal =
    predecessors[event.phase].includes(from) &&
    (event.phase !== "reducing" || head === null || mayRetry(head.event));
  if (!isLegal) return objection("illegal_transition", `${event.phase} cannot follow ${from}`);
  if (head === null) return undefined;
  const last = head.transition;
  if (link.prevEntryId !== last.entryId || link.sequence !== last.sequence + 1) {
    return objection(
      "broken_chain",
      `${event.phase} at sequence ${link.sequence} follows ${link.prevEntryId ?? "nothing"}, the head is ${last.entryId} at ${last.sequence}`,
    );
  }
  const attempt = event.phase === "reducing" ? last.attempt + 1 : last.attempt;
  const attemptsMax = chain.policy?.maxAttempts ?? 0;
  if (link.attempt !== attempt || (event.phase === "reducing" && attempt > attemptsMax)) {
    return objection(
      "invalid_attempt",
      `${event.phase} says attempt ${link.attempt} of ${attemptsMax}, the head stands at ${last.attempt}`,
    );
  }
  return objectToResumeRef(head, event);
}

/** A resumed chain moves on only under the permission it cites, and only that chain cites one. */
function objectToResumeRef(head: HandoffState, event: HeadEvent): Objection | undefined {
  if (event.phase !== "reducing" && event.phase !== "delivered") return undefined;
  const granted = head.event.phase === "resumed" ? head.event.authority.action : undefined;
  const expected = granted === undefined ? undefined : head.transition.entryId;
  if (event.resumeRef !== expected) {
    return objection(
      "missing_resume_ref",
      `${event.phase} cites ${event.resumeRef ?? "no resume"}, expected ${expected ?? "none"}`,
    );
  }
  const needed = event.phase === "reducing" ? "reduce" : "deliver";
  if (granted !== undefined && granted !== needed) {
    return objection("illegal_transition", `${event.phase} under a permission to ${granted}`);
  }
  return undefined;
}

/** The objection to facts that no later record may change, or undefined. Nothing is adopted here. */
export function objectToFacts(
  chain: Chain,
  identity: HandoffIdentity,
  accepted?: AcceptedNote,
  policy?: HandoffPolicy,
): Objection | undefined {
  if (chain.identity !== null && !areEqual(chain.identity, identity)) {
    return objection("duplicate_conflict", "the immutable identity differs from the one on record");
  }
  if (accepted !== undefined && chain.accepted === null) {
    const verified = verifyAcceptedNote(accepted);
    if (!verified.ok) return objection("unverified_note", `the note does not verify: ${verified.reason}`);
  } else if (accepted !== undefined && !areEqual(chain.accepted, accepted)) {
    const verified = verifyAcceptedNote(accepted, chain.accepted as AcceptedNote);
    const reason = verified.ok ? "extra fields differ" : verified.reason;
    return objection("conflicting_carry", `the note differs from the one on record: ${reason}`);
  }
  if (policy !== undefined && chain.policy !== null && !areEqual(chain.policy, policy)) {
    return objection("policy_conflict", "the policy differs from the one on record");
  }
  return undefined;
}

/** The accepted request behind a resume, standing strictly between the head it answers and the resume; undefined where there is none. */
export function findAuthority(
  context: FoldContext,
  handoffId: string,
  authority: ResumeAuthority,
  answeredPosition: number,
  resumePosition: number,
): OperatorResumeAuthority | undefined {
  return context.authorities
    .get(authority.operatorRequestEntryId)
    ?.find(
      (row) =>
        row.handoffId === handoffId &&
        row.action === authority.action &&
        row.pausedOrFailedEntryId === authority.pausedOrFailedEntryId &&
        row.originSessionId === context.sessionId &&
        row.position > answeredPosition &&
        row.position < resumePosition &&
        Number.isSafeInteger(row.acceptedAtMs) &&
        row.acceptedAtMs >= 0,
    );
}

/** The position of the paused or failed record that a resume answers; undefined where no such record of this handoff is there. */
export function answeredPosition(
  context: FoldContext,
  handoffId: string,
  entryId: string,
): number | undefined {
  const answered = context.index.get(entryId);
  if (answered?.record.kind !== "handoffTransaction") return undefined;
  const { identity, event } = answered.record;
  const isStop = event.phase === "paused" || event.phase === "failed";
  return isStop && identity.handoffId === handoffId ? answered.position : undefined;
}

/** Moves the head. Called only with what was checked. */
function advance(chain: Chain, transition: TransitionLink, event: HeadEvent, position: number): void {
  const active = chain.head?.activeResume ?? null;
  const delivery = chain.head?.delivery ?? null;
  chain.rootPosition ??= position;
  chain.head = {
    transition,
    event,
    activeResume:
      event.phase === "resumed" ? { entryId: transition.entryId, authority: event.authority } : active,
    delivery:
      event.phase === "delivered"
        ? { deliveryId: event.deliveryId, continuationTurnId: event.continuationTurnId }
        : delivery,
  };
  if (event.phase === "delivered") chain.deliveryPosition = position;
}

/** Applies a transaction record, or says why not. */
export function applyTransaction(
  chain: Chain,
  record: HandoffTransactionEntry,
  position: number,
  context: FoldContext,
): Objection | undefined {
  const { identity, transition, event } = record;
  const objected =
    event.phase === "prepared"
      ? objectToFacts(chain, identity, event.accepted, event.policy)
      : objectToFacts(chain, identity);
  const refused = objected ?? objectToSuccessor(chain, event, transition);
  if (refused !== undefined) return refused;
  if (event.phase === "prepared") {
    chain.identity = identity;
    chain.accepted = event.accepted;
    chain.policy = event.policy;
  }
  if (event.phase === "resumed") {
    const permission = permitResume(chain, transition, event, position, context);
    if ("kind" in permission) return permission;
    chain.resumeAcceptedAtMs = permission.acceptedAtMs;
  }
  advance(chain, transition, event, position);
  return undefined;
}

function permitResume(
  chain: Chain,
  link: TransitionLink,
  { authority }: Extract<HandoffEvent, { phase: "resumed" }>,
  position: number,
  context: FoldContext,
): Objection | OperatorResumeAuthority {
  if (link.prevEntryId !== authority.pausedOrFailedEntryId) {
    return objection("unmatched_resume", "the resume answers another record than the one it follows");
  }
  if ((authority.action === "deliver") !== (chain.commit !== null)) {
    const state = chain.commit === null ? "without a commit" : "behind a commit";
    return objection("illegal_transition", `a permission to ${authority.action} ${state}`);
  }
  const answeredAt = answeredPosition(context, chain.handoffId, authority.pausedOrFailedEntryId);
  if (answeredAt === undefined) {
    return objection("unmatched_resume", "the stopped record that the resume answers is not in the ledger");
  }
  return (
    findAuthority(context, chain.handoffId, authority, answeredAt, position) ??
    objection("unvalidated_resume_authority", "no accepted operator request stands behind the resume")
  );
}

/** Applies a commit record, or says why not. One that a carry told of already is only ticked off: the head stays where it is. */
export function applyCommit(
  chain: Chain,
  record: ContinuityCommitEntry,
  position: number,
): Objection | undefined {
  const { identity, accepted, policy, commit, state } = record.continuity;
  const objected = objectToFacts(chain, identity, accepted, policy);
  if (objected !== undefined) return objected;
  if (chain.commit !== null) {
    if (!areEqual(chain.commit, commit)) {
      return objection("conflicting_carry", "the commit differs from the one on record");
    }
    chain.hasCommitRecord = true;
    return undefined;
  }
  const refused = objectToSuccessor(chain, state.event, state.transition);
  if (refused !== undefined) return refused;
  chain.commit = commit;
  chain.hasCommitRecord = true;
  advance(chain, state.transition, state.event, position);
  return undefined;
}
