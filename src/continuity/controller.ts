/**
 * The live half of the protocol: one transaction of one session, led from the request to the acknowledged response. Every step is read
 * from the ledger, written with a barrier, and read again; what cannot be proven stops it. It drives no agent itself: the session's driver
 * tells it what happened, and lends it the ports by which the context is reduced and replayed. A restarted process has no live handoff;
 * only the operator's `recover` goes on with one.
 */
import {
  type AcceptedNote,
  HANDOFF_MAX_WINDOW_MS,
  HANDOFF_POLICY_LIMITS,
  type HandoffCommit,
  type HandoffFailureReason,
  type HandoffIdentity,
  type HandoffPauseReason,
  type HandoffResumeAction,
} from "./contract.ts";
import {
  citation,
  commitRecord,
  firstRecord,
  isStanding,
  recoveryRequest,
  reservedCommit,
  summaryRecord,
} from "./controller-records.ts";
import type {
  HandoffAdmission,
  HandoffAsker,
  HandoffAttempt,
  HandoffOutcome,
  HandoffPorts,
  HandoffRefusal,
  HandoffRequested,
  HandoffStopped,
  LiveHandoff,
  Reduction,
} from "./controller-types.ts";
import { Halted, HandoffJournal, isSameHead, type Reading, type StandingReading } from "./journal.ts";
import { validateContinuityNote } from "./note.ts";
import { reconcileContinuityEntry, type WritableEntry } from "./persistence.ts";
import { continuityReplayBlocks, continuityReplayText, inheritedContinuityReplayText } from "./replay.ts";
import { newestEviction, receiptOf } from "./witness.ts";

/** What this process knows of the transaction it leads. */
interface Live {
  readonly handoffId: string;
  readonly asker: HandoffAsker | undefined;
  stage: LiveHandoff["stage"];
  deliveryId: string | undefined;
  isCancelled: boolean;
  readonly onCancel: (() => void)[];
}

const receipt =
  "The note is kept. The context is reduced once this turn is over, and the note comes back word for word afterwards.";

function refused(reason: HandoffRefusal): { readonly state: "refused"; readonly reason: HandoffRefusal } {
  return { state: "refused", reason };
}

/** Leads the handoffs of one session. Calls are run one after the other, but for `admission` and the cancelling itself. */
export class HandoffController {
  readonly #ports: HandoffPorts;
  readonly #journal: HandoffJournal;
  #live: Live | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(ports: HandoffPorts) {
    this.#ports = ports;
    this.#journal = new HandoffJournal(ports);
  }

  /** The transaction this process leads; undefined where it leads none. */
  get live(): LiveHandoff | undefined {
    if (this.#live === undefined) return undefined;
    const { handoffId, stage, deliveryId } = this.#live;
    return { handoffId, stage, ...(deliveryId === undefined ? {} : { deliveryId }) };
  }

  /**
   * Accepts a note and makes it durable. Refuses a note that is none or does not fit, while another handoff is not over, and where the
   * ledger is disputed or has no prompt of a person; then nothing is written.
   */
  request(note: unknown, asker: HandoffAsker): Promise<HandoffRequested> {
    return this.#exclusive(async () => {
      const admitted = validateContinuityNote(note);
      if (!admitted.ok) return refused(admitted.reason);
      if (asker.by === "agent" && asker.toolCallId === "") return refused("missing_tool_call");
      if (this.#live !== undefined) return refused("active_handoff");
      const reading = await this.#journal.read();
      const refusal = refusalOf(reading, this.#ports, admitted.accepted);
      if (refusal !== undefined) return refused(refusal);
      return await this.#prepare(reading, admitted.accepted, asker);
    });
  }

  async #prepare(reading: Reading, accepted: AcceptedNote, asker: HandoffAsker): Promise<HandoffRequested> {
    const { randomId, now, sessionId } = this.#ports;
    const handoffId = randomId();
    const identity: HandoffIdentity = {
      handoffId,
      preparedEntryId: randomId(),
      commitId: randomId(),
      commitEntryId: randomId(),
      originSessionId: sessionId,
      branchAnchorTurnId: reading.leafTurnId,
      initiatingTurnId: reading.operatorTurnId as string,
      toolCallId: asker.by === "agent" ? asker.toolCallId : `operator-${randomId()}`,
      sourceRevision: "",
    };
    const preparedAtMs = now();
    const automaticDeadlineAtMs = preparedAtMs + HANDOFF_MAX_WINDOW_MS;
    const policy = { preparedAtMs, automaticDeadlineAtMs, ...HANDOFF_POLICY_LIMITS };
    const envelope = this.#journal.envelope(reading.leafTurnId, identity.preparedEntryId);
    const entry = firstRecord(identity, { phase: "prepared", accepted, policy }, envelope);
    this.#live = createLive(handoffId, asker, "requested");
    const outcome = await this.#guarded(handoffId, async () => {
      await this.#journal.write(handoffId, {
        entries: [entry],
        barrier: { kind: "flush" },
        deadlineAtMs: automaticDeadlineAtMs,
        phase: "prepared",
      });
      return undefined;
    });
    if (outcome === undefined) return { state: "accepted", handoffId, receipt };
    return refused("reason" in outcome ? (outcome.reason as HandoffRefusal) : "disputed_ledger");
  }

  /**
   * Goes on once the turn that asked is over and its records are written: reduces, commits and delivers. An agent's call must have got its
   * receipt by then, or the transaction is paused.
   */
  settle(): Promise<HandoffOutcome> {
    return this.#exclusive(async () => {
      const live = this.#live;
      if (live?.stage !== "requested") return refused("no_live_handoff");
      live.stage = "settling";
      return await this.#guarded(live.handoffId, async () => {
        const { asker, handoffId } = live;
        const prepared = await this.#journal.readStanding(handoffId);
        await this.#journal.persist({
          entries: [],
          barrier: { kind: "flush" },
          deadlineAtMs: deadlineOf(prepared),
        });
        const reading = await this.#journal.readStanding(handoffId);
        if (asker?.by === "agent" && !receiptOf(reading.entries, reading.fold.identity, asker.toolName))
          throw new Halted("stop", "missing_receipt");
        return await this.#attempt(live, reading);
      });
    });
  }

  /** One attempt: journalled before the summariser is called, since a call that was made is spent. */
  async #attempt(live: Live, before: StandingReading): Promise<HandoffOutcome> {
    this.#demandPermission(live, before);
    const event = { phase: "reducing", ...citation(before.fold) } as const;
    const reducing = await this.#journal.advance(before, event, deadlineOf(before));
    await this.#demandOrigin(live);
    const { maxSummaryCallsPerAttempt } = reducing.fold.policy;
    let reduction: Reduction;
    try {
      reduction = await this.#ports.reduce(attemptOf(live, reducing, maxSummaryCallsPerAttempt));
    } catch {
      // Whatever the provider or the budget of calls failed with, the attempt is spent.
      reduction = { kind: "refused", reason: "provider_failed" };
    }
    this.#demandLive(live);
    const after = await this.#journal.readStanding(live.handoffId);
    if (!isSameHead(reducing, after)) throw new Halted("uncertain", "disputed_ledger");
    if (reduction.kind === "refused") return await this.#fail(after, reduction.reason);
    return await this.#commit(live, after, reduction);
  }

  async #commit(
    live: Live,
    reading: StandingReading,
    reduction: Exclude<Reduction, { kind: "refused" }>,
  ): Promise<HandoffOutcome> {
    const { fold, leafTurnId, projection, entries } = reading;
    const at = this.#journal.envelope(leafTurnId);
    const records: WritableEntry[] = [];
    let commit: HandoffCommit;
    if (reduction.kind === "summarized") {
      const { tokensBefore, tokensAfter } = reduction.summary;
      const bound = { outcome: "summarized", summaryRef: at.turnId, tokensBefore, tokensAfter } as const;
      commit = reservedCommit(fold, bound, at);
      records.push(summaryRecord(fold, commit, reduction.summary, at));
    } else {
      const blocks = continuityReplayBlocks(projection);
      await this.#ports.replay(blocks);
      this.#demandLive(live);
      if (!this.#ports.fits(blocks)) return await this.#fail(reading, "note_exceeds_replay_budget");
      const { tokensBefore, tokensAfter } = reduction;
      const evictionRef = newestEviction(entries, fold.state.transition.entryId);
      const bound =
        evictionRef === undefined
          ? ({ outcome: "continuity_only", tokensBefore, tokensAfter } as const)
          : ({ outcome: "evicted", evictionRef, tokensBefore, tokensAfter } as const);
      commit = reservedCommit(fold, bound, at);
    }
    const ready = await this.#journal.write(live.handoffId, {
      entries: [...records, commitRecord(fold, commit)],
      barrier: { kind: "checkpoint", reason: "context-handoff" },
      deadlineAtMs: deadlineOf(reading),
      phase: "ready",
    });
    this.#ports.notify?.(live.handoffId);
    return await this.#deliver(live, ready);
  }

  async #deliver(live: Live, reading: StandingReading): Promise<HandoffOutcome> {
    this.#demandPermission(live, reading);
    await this.#demandOrigin(live);
    const blocks = continuityReplayBlocks(reading.projection);
    await this.#ports.replay(blocks);
    this.#demandLive(live);
    if (!this.#ports.fits(blocks)) throw new Halted("stop", "note_exceeds_replay_budget");
    const deliveryId = this.#ports.randomId();
    const continuationTurnId = reading.leafTurnId ?? reading.fold.identity.initiatingTurnId;
    const event = { phase: "delivered", deliveryId, continuationTurnId, ...citation(reading.fold) } as const;
    await this.#journal.advance(reading, event, deadlineOf(reading));
    live.stage = "delivered";
    live.deliveryId = deliveryId;
    return { state: "delivered", handoffId: live.handoffId, deliveryId };
  }

  /**
   * The last gate before a request to the model. A delivered handoff lends the request its id, which the response must bear. Answers at
   * once.
   */
  admission(): HandoffAdmission {
    const live = this.#live;
    if (live === undefined) return { kind: "allow" };
    if (live.stage === "delivered" && live.deliveryId !== undefined && !live.isCancelled)
      return { kind: "allow", correlationId: live.deliveryId };
    return { kind: "block", reason: live.stage === "uncertain" ? "uncertain" : "handing_off" };
  }

  /**
   * Tells that a response of the model is in the ledger. It is acknowledged where it bears the delivery's id and the evidence says that it
   * finished; a response that is not one of this delivery is `refused` and changes nothing.
   */
  response(correlationId: string | undefined): Promise<HandoffOutcome> {
    return this.#exclusive(async () => {
      const live = this.#live;
      if (live?.stage !== "delivered" || live.isCancelled || correlationId !== live.deliveryId)
        return refused("no_live_handoff");
      if (!(await this.#ports.persistence.isOriginCurrent())) return refused("origin_changed");
      return await this.#guarded(live.handoffId, async () => {
        const reading = await this.#journal.readStanding(live.handoffId);
        return (
          (await this.#acknowledge(reading)) ?? {
            state: "delivered",
            handoffId: live.handoffId,
            deliveryId: correlationId as string,
          }
        );
      });
    });
  }

  /** Names the finished response that the ledger holds; undefined where there is none. */
  async #acknowledge(reading: StandingReading): Promise<HandoffOutcome | undefined> {
    const { unacknowledgedResponseEntryId: response, state, identity } = reading.fold;
    if (response === null || state.delivery === null) return undefined;
    const { deliveryId } = state.delivery;
    const event = { phase: "acknowledged", deliveryId, terminalResponseEntryId: response } as const;
    await this.#journal.advance(reading, event, this.#journal.stopDeadline());
    this.#live = undefined;
    return { state: "acknowledged", handoffId: identity.handoffId };
  }

  /** Ends what runs, at once, and pauses the transaction. An uncertain one is only let go: nothing more is written of it. */
  cancel(): Promise<HandoffStopped> {
    const live = this.#live;
    if (live !== undefined && !live.isCancelled) {
      live.isCancelled = true;
      for (const run of live.onCancel.splice(0)) run();
    }
    return this.pause("operator_cancelled");
  }

  /** Pauses the transaction that this process leads: a delivered one as uncertain, another one for the reason given. */
  pause(reason: HandoffPauseReason = "operator_cancelled"): Promise<HandoffStopped> {
    return this.#exclusive(async () => {
      const live = this.#live;
      if (live === undefined) return { state: "unchanged" };
      this.#live = undefined;
      if (live.stage === "uncertain") return { state: "unchanged" };
      const written = await this.#journalStop(live.handoffId, reason);
      return written === undefined ? { state: "unchanged" } : { state: "paused", reason: written };
    });
  }

  /** Writes `paused`, where the transaction stands and is not stopped already; answers the reason written. */
  async #journalStop(handoffId: string, reason: HandoffPauseReason): Promise<HandoffPauseReason | undefined> {
    const reading = await this.#journal.read();
    const { fold } = reading;
    if (!isStanding(fold) || fold.identity.handoffId !== handoffId || isOver(fold.phase)) return undefined;
    const why = fold.phase === "delivered" ? "delivery_uncertain" : reason;
    try {
      const event = { phase: "paused", reason: why } as const;
      await this.#journal.advance({ ...reading, fold }, event, this.#journal.stopDeadline());
      return why;
    } catch (error) {
      if (error instanceof Halted) return undefined;
      throw error;
    }
  }

  async #fail(reading: StandingReading, reason: HandoffFailureReason): Promise<HandoffOutcome> {
    await this.#journal.advance(reading, { phase: "failed", reason }, this.#journal.stopDeadline());
    this.#live = undefined;
    return { state: "failed", handoffId: reading.fold.identity.handoffId, reason };
  }

  /**
   * Goes on with a stopped transaction, by the operator's order. A response that finished is acknowledged, never delivered again; a commit
   * that was lost is written again under its own name. Attempts are not given back; the window is a new one.
   */
  recover(handoffId: string, action: HandoffResumeAction): Promise<HandoffOutcome> {
    return this.#exclusive(async () => {
      if (this.#live !== undefined) return refused("active_handoff");
      const { fold, ...rest } = await this.#journal.read();
      if (fold?.identity?.handoffId !== handoffId) return refused("no_such_handoff");
      if (!isStanding(fold)) return refused("disputed_ledger");
      if (fold.phase === "acknowledged") return refused("acknowledged");
      const reading = { ...rest, fold };
      const refusal = fold.unacknowledgedResponseEntryId === null ? barTo(action, reading) : undefined;
      if (refusal !== undefined) return refused(refusal);
      this.#live = createLive(handoffId, undefined, "settling");
      return await this.#guarded(handoffId, () => this.#resume(this.#live as Live, reading, action));
    });
  }

  async #resume(live: Live, from: StandingReading, action: HandoffResumeAction): Promise<HandoffOutcome> {
    const done = await this.#acknowledge(from);
    if (done !== undefined) return done;
    let reading = await this.#rebuildCommit(live, from);
    if (!isStopped(reading.fold.phase)) {
      const reason = reading.fold.phase === "delivered" ? "delivery_uncertain" : "operator_cancelled";
      reading = await this.#journal.advance(
        reading,
        { phase: "paused", reason },
        this.#journal.stopDeadline(),
      );
    }
    this.#demandLive(live);
    const { phase } = reading.fold;
    const request = recoveryRequest(
      reading.fold,
      action,
      this.#ports.sessionId,
      this.#journal.envelope(reading.leafTurnId),
    );
    const deadlineAtMs = Date.parse(request.timestamp) + HANDOFF_MAX_WINDOW_MS;
    const flush = { kind: "flush" } as const;
    const asked = await this.#journal.write(live.handoffId, {
      entries: [request],
      barrier: flush,
      deadlineAtMs,
      phase,
    });
    const authority = {
      operatorRequestEntryId: request.turnId,
      pausedOrFailedEntryId: request.data.pausedOrFailedEntryId,
      action,
      automaticDeadlineAtMs: deadlineAtMs,
    };
    const resumed = await this.#journal.advance(asked, { phase: "resumed", authority }, deadlineAtMs);
    return action === "reduce" ? await this.#attempt(live, resumed) : await this.#deliver(live, resumed);
  }

  /** Writes a lost commit again, whatever the head is by now. */
  async #rebuildCommit(live: Live, reading: StandingReading): Promise<StandingReading> {
    const { missingCommit } = reading.fold;
    if (missingCommit === null) return reading;
    const { entry } = missingCommit;
    const found = await reconcileContinuityEntry(entry, this.#ports.persistence);
    if (found !== "absent" && found !== "matching") throw new Halted("uncertain", "commit_unresolved");
    return await this.#journal.write(live.handoffId, {
      entries: found === "absent" ? [entry] : [],
      barrier: { kind: "checkpoint", reason: "context-handoff" },
      deadlineAtMs: this.#journal.stopDeadline(),
      phase: reading.fold.phase,
    });
  }

  #demandLive(live: Live): void {
    if (live.isCancelled) throw new Halted("stop", "cancelled");
  }

  #demandPermission(live: Live, { fold }: StandingReading): void {
    this.#demandLive(live);
    if (fold.authority !== "execution") throw new Halted("stop", "no_permission");
  }

  async #demandOrigin(live: Live): Promise<void> {
    const isCurrent = await this.#ports.persistence.isOriginCurrent();
    if (!isCurrent) throw new Halted("uncertain", "origin_changed");
    this.#demandLive(live);
  }

  /** Runs a piece of a transaction; one that halts is paused or left uncertain, one that breaks is paused and breaks on. */
  async #guarded<T>(handoffId: string, run: () => Promise<T>): Promise<T | HandoffOutcome> {
    try {
      return await run();
    } catch (error) {
      const live = this.#live;
      if (error instanceof Halted && error.kind === "uncertain") {
        if (live !== undefined) live.stage = "uncertain";
        return { state: "uncertain", handoffId, reason: error.reason };
      }
      this.#live = undefined;
      await this.#journalStop(handoffId, "operator_cancelled");
      if (!(error instanceof Halted)) throw error;
      return { state: "paused", handoffId, reason: error.reason };
    }
  }

  #exclusive<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(run);
    // The next call waits for this one, however it ends; its own caller sees the error.
    this.#queue = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }
}

function createLive(handoffId: string, asker: HandoffAsker | undefined, stage: Live["stage"]): Live {
  return { handoffId, asker, stage, deliveryId: undefined, isCancelled: false, onCancel: [] };
}

function isStopped(phase: string): boolean {
  return phase === "paused" || phase === "failed";
}

function isOver(phase: string): boolean {
  return isStopped(phase) || phase === "acknowledged";
}

function deadlineOf({ fold }: StandingReading): number {
  return fold.effectiveDeadlineAtMs ?? fold.policy.automaticDeadlineAtMs;
}

/** Why no handoff can be begun in a ledger, or undefined. */
function refusalOf(
  reading: Reading,
  ports: HandoffPorts,
  accepted: AcceptedNote,
): HandoffRefusal | undefined {
  const { fold, projection, unreadableRecords, operatorTurnId } = reading;
  if (unreadableRecords > 0 || projection.authoritySuppressed || fold?.validated === false)
    return "disputed_ledger";
  if (fold !== null && fold.phase !== "absent" && fold.phase !== "acknowledged") return "unresolved_handoff";
  if (operatorTurnId === null) return "no_operator_turn";
  const own = continuityReplayText({
    note: accepted.note,
    handoffId: "",
    commitId: "",
    originSessionId: ports.sessionId,
    phase: "prepared",
    authority: "execution",
  });
  const blocks = [...projection.inherited.map(inheritedContinuityReplayText), own];
  return ports.fits(blocks) ? undefined : "note_exceeds_replay_budget";
}

/** Why an operator's action is not open to a transaction, or undefined. */
function barTo(action: HandoffResumeAction, { fold }: StandingReading): HandoffRefusal | undefined {
  if (action === "deliver") return fold.commit === null ? "commit_missing" : undefined;
  if (fold.commit !== null) return "already_committed";
  return fold.attemptsSpent >= fold.policy.maxAttempts ? "attempts_exhausted" : undefined;
}

function attemptOf(live: Live, { fold }: StandingReading, callsMax: number): HandoffAttempt {
  let calls = 0;
  return {
    handoffId: live.handoffId,
    attempt: fold.attemptsSpent,
    beginSummaryCall() {
      if (live.isCancelled) throw new Halted("stop", "cancelled");
      if (calls >= callsMax) throw new Halted("stop", "attempts_exhausted");
      calls += 1;
    },
    isCancelled: () => live.isCancelled,
    onCancel(run) {
      if (live.isCancelled) run();
      else live.onCancel.push(run);
    },
  };
}
