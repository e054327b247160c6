/**
 * A carry: the transaction as a later summary repeats it. It is a projection of a chain whose middle may have been cut out, so it may
 * stand ahead of what the ledger still holds; it may not tell of a course that no chain can take, nor lend its own place to a request.
 */
import { canonicalJson } from "./canonical.ts";
import {
  answeredPosition,
  areEqual,
  type Chain,
  type FoldContext,
  findAuthority,
  mayRetry,
  type Objection,
  objection,
  objectToFacts,
  objectToSuccessor,
} from "./chain.ts";
import type { ContinuityCheckpointPayload, HandoffState, ResumeAuthority } from "./contract.ts";

/** Applies a carry, or says why not. */
export function applyCarry(
  chain: Chain,
  payload: ContinuityCheckpointPayload,
  position: number,
  context: FoldContext,
): Objection | undefined {
  const { identity, accepted, policy, commit, state } = payload;
  const objected = objectToFacts(chain, identity, accepted, policy);
  if (objected !== undefined) return objected;
  if (chain.commit !== null && !areEqual(chain.commit, commit)) {
    return objection("conflicting_carry", "the carried commit differs from the one on record");
  }
  const sequence = state.transition.sequence;
  const text = stateText(state);
  const other = chain.carriedStates.get(sequence);
  if (other !== undefined && other !== text) {
    return objection("conflicting_carry", `two carries disagree about sequence ${sequence}`);
  }
  const last = chain.head?.transition.sequence ?? -1;
  if (chain.head !== null && sequence === last && text !== stateText(chain.head)) {
    return objection("conflicting_carry", `the carried state differs from the head at sequence ${sequence}`);
  }
  let acceptedAtMs: number | undefined;
  if (sequence > last) {
    const refused = objectToAdvance(chain, state);
    if (refused !== undefined) return refused;
    const permission = permitCarriedResume(chain.handoffId, state, context);
    if (permission !== undefined && "kind" in permission) return permission;
    acceptedAtMs = permission?.acceptedAtMs;
  }
  if (chain.commit === null && commit.transition.sequence <= last) {
    // The chain's own records fill every sequence up to its head, and none of them is a commit.
    return objection("conflicting_carry", `the ledger has another record at the carried commit's sequence`);
  }
  if (sequence > last) adopt(chain, payload, position, acceptedAtMs);
  chain.commit = commit;
  chain.carriedStates.set(sequence, text);
  if (chain.carry === null || sequence > chain.carry.state.transition.sequence) chain.carry = payload;
  return undefined;
}

/** The four things a head is made of; what else a carried state may hold does not count. */
function stateText({ transition, event, activeResume, delivery }: HandoffState): string {
  return canonicalJson({ transition, event, activeResume, delivery });
}

function adopt(
  chain: Chain,
  { identity, accepted, policy, state }: ContinuityCheckpointPayload,
  position: number,
  acceptedAtMs: number | undefined,
): void {
  const delivery = state.delivery ?? chain.head?.delivery ?? null;
  // The place of a delivery's record says nothing about another delivery.
  if (delivery?.deliveryId !== chain.head?.delivery?.deliveryId) chain.deliveryPosition = undefined;
  chain.rootPosition ??= position;
  chain.identity = identity;
  chain.accepted = accepted;
  chain.policy = policy;
  chain.head = { ...state, delivery };
  chain.resumeAcceptedAtMs = acceptedAtMs;
}

function objectToAdvance(chain: Chain, state: HandoffState): Objection | undefined {
  const head = chain.head;
  if (head === null) return undefined;
  const { event, transition } = state;
  if (transition.sequence === head.transition.sequence + 1)
    return objectToSuccessor(chain, event, transition);
  if (!mayAdvance(head.event, event)) {
    return objection(
      "fabricated_carry_extension",
      `no chain leads from ${head.event.phase} to ${event.phase}`,
    );
  }
  if (transition.attempt < head.transition.attempt) {
    return objection("invalid_attempt", `the carry gives back attempt ${head.transition.attempt}`);
  }
  return undefined;
}

type HeadEvent = HandoffState["event"];

/** The straight course of a transaction. A resume puts it back to where a reduction or a delivery starts. */
const rank: Readonly<Record<string, number>> = {
  prepared: 1,
  resumed: 1,
  reducing: 2,
  ready: 3,
  delivered: 4,
  acknowledged: 5,
};

/** Whether some course of more than one step leads from a head to a carried event. */
function mayAdvance(head: HeadEvent, event: HeadEvent): boolean {
  switch (head.phase) {
    case "acknowledged":
      return false;
    case "paused":
      return event.phase === "resumed";
    case "failed":
      return event.phase === "resumed" || (event.phase === "reducing" && mayRetry(head));
    default: {
      if (event.phase === "paused" || event.phase === "failed" || event.phase === "resumed") return true;
      return (rank[event.phase] as number) > (rank[head.phase] as number);
    }
  }
}

/**
 * The request behind a carried permission. The records themselves must be there: the stopped head, the request behind it, the resume
 * behind that. Undefined where the carry has no active resume.
 */
function permitCarriedResume(
  handoffId: string,
  { activeResume, event, transition }: HandoffState,
  context: FoldContext,
): { readonly acceptedAtMs: number } | Objection | undefined {
  if (activeResume === null) return undefined;
  const { entryId, authority } = activeResume;
  const refused = (why: string): Objection => objection("unvalidated_resume_authority", why);
  const resumed = findResume(context, handoffId, entryId);
  if (resumed === undefined) return refused("the carried resume has no record of its own");
  if (!areEqual(resumed.authority, authority)) {
    return refused("the carried resume cites another permission than its record");
  }
  if (resumed.prevEntryId !== authority.pausedOrFailedEntryId) {
    return refused("the carried resume's record follows another head than the one it answers");
  }
  const answeredAt = answeredPosition(context, handoffId, authority.pausedOrFailedEntryId);
  if (answeredAt === undefined) return refused("the stopped record behind the carried resume is missing");
  const isHead = event.phase === "resumed";
  if (
    isHead &&
    (transition.prevEntryId !== authority.pausedOrFailedEntryId || authority.action === "reduce")
  ) {
    return refused("the carried head cannot follow from its own permission behind a commit");
  }
  return (
    findAuthority(context, handoffId, authority, answeredAt, resumed.position) ??
    refused("no accepted operator request stands behind the carried resume")
  );
}

function findResume(
  context: FoldContext,
  handoffId: string,
  entryId: string,
):
  | { readonly authority: ResumeAuthority; readonly prevEntryId: string | null; readonly position: number }
  | undefined {
  const found = context.index.get(entryId);
  if (found?.record.kind !== "handoffTransaction") return undefined;
  const { event, identity, transition } = found.record;
  if (event.phase !== "resumed" || identity.handoffId !== handoffId) return undefined;
  return { authority: event.authority, prevEntryId: transition.prevEntryId, position: found.position };
}
