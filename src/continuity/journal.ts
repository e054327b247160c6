/** A session's ledger under a live controller: read whole before each step, written one confirmed group at a time. */
import { areEqual } from "./chain.ts";
import { HANDOFF_MAX_FLUSH_RETRIES, type HandoffEvent } from "./contract.ts";
import { isStanding, nextRecord, type StandingFold } from "./controller-records.ts";
import type { HandoffPorts, HandoffRefusal } from "./controller-types.ts";
import type { EntryEnvelope } from "./entries.ts";
import type { ContinuityFoldResult } from "./fold-result.ts";
import { messageTurnIds } from "./ledger.ts";
import { handoffStopWindowMs } from "./limits.ts";
import { type ContinuityBarrier, persistContinuityGroup, type WritableEntry } from "./persistence.ts";
import { type ContinuityProjection, resolveContinuityProjection } from "./projection.ts";
import { type Fields, fieldsOf } from "./values.ts";

/** Why a step ends. `stop`: what is on the disk is known, the transaction is to be paused. `uncertain`: it is not known. */
export class Halted extends Error {
  readonly kind: "stop" | "uncertain";
  readonly reason: HandoffRefusal;
  constructor(kind: "stop" | "uncertain", reason: HandoffRefusal) {
    super(`the handoff halts: ${reason}`);
    this.name = "Halted";
    this.kind = kind;
    this.reason = reason;
  }
}

/** The ledger as it stood at one moment. */
export interface Reading {
  readonly entries: readonly unknown[];
  readonly projection: ContinuityProjection;
  readonly fold: ContinuityFoldResult | null;
  /** The newest message of the path, and the newest one of a person. */
  readonly leafTurnId: string | null;
  readonly operatorTurnId: string | null;
  readonly unreadableRecords: number;
}

export interface StandingReading extends Reading {
  readonly fold: StandingFold;
}

/** A group to be written: by `deadlineAtMs`, and leading to a head of `phase`. */
export interface Step {
  readonly entries: readonly WritableEntry[];
  readonly barrier: ContinuityBarrier;
  readonly deadlineAtMs: number;
  readonly phase: ContinuityFoldResult["phase"];
}

export class HandoffJournal {
  readonly #ports: HandoffPorts;

  constructor(ports: HandoffPorts) {
    this.#ports = ports;
  }

  async read(): Promise<Reading> {
    const { entries, unreadableRecords, pathTurnIds, fork } = await this.#ports.readLedger();
    const projection = resolveContinuityProjection({
      entries,
      unreadableRecords,
      pathTurnIds,
      fork,
      sessionId: this.#ports.sessionId,
      nowMs: this.#ports.now(),
    });
    const path = new Set(pathTurnIds ?? messageTurnIds(entries));
    const newest = (isWanted: (message: Fields) => boolean): string | null => {
      const found = entries.findLast((value) => {
        const entry = fieldsOf(value);
        return entry?.["kind"] === "message" && path.has(entry["turnId"] as string) && isWanted(entry);
      });
      return (fieldsOf(found)?.["turnId"] as string | undefined) ?? null;
    };
    return {
      entries,
      projection,
      fold: projection.current,
      leafTurnId: newest(() => true),
      operatorTurnId: newest((message) => message["role"] === "user"),
      unreadableRecords,
    };
  }

  /** The same, where the transaction stands. */
  async readStanding(handoffId: string): Promise<StandingReading> {
    const reading = await this.read();
    return demandStanding(reading, handoffId);
  }

  envelope(parentTurnId: string | null, turnId: string = this.#ports.randomId()): EntryEnvelope {
    return { turnId, parentTurnId, timestamp: new Date(this.#ports.now()).toISOString() };
  }

  /** The deadline of what only ends something. */
  stopDeadline(): number {
    return this.#ports.now() + handoffStopWindowMs;
  }

  /** Writes a group and its barrier, and reads what the ledger says then. */
  async write(handoffId: string, step: Step): Promise<StandingReading> {
    await this.persist(step);
    const reading = await this.readStanding(handoffId);
    if (reading.fold.phase !== step.phase) throw new Halted("uncertain", "disputed_ledger");
    return reading;
  }

  /** Writes a group and its barrier. Halts where that is not proven, and where what it permits was over by then. */
  async persist({ entries, barrier, deadlineAtMs }: Omit<Step, "phase">): Promise<void> {
    const { persistence, now, wait } = this.#ports;
    const retry = { limit: HANDOFF_MAX_FLUSH_RETRIES, deadlineAtMs, now, wait };
    const result = await persistContinuityGroup({ entries, barrier }, persistence, retry);
    if (result.state === "durable") {
      if (!result.confirmedWithinDeadline) throw new Halted("stop", "deadline_expired");
      return;
    }
    const { reason, accepted, anomalies } = result;
    const isUntouched = accepted.length + anomalies.length === 0;
    const isWindow = reason === "deadline_expired" || reason === "clock_ambiguous";
    throw new Halted(isUntouched && isWindow ? "stop" : "uncertain", reason);
  }

  /** Writes the next record of the chain. */
  async advance(
    reading: StandingReading,
    event: HandoffEvent,
    deadlineAtMs: number,
  ): Promise<StandingReading> {
    const { fold, leafTurnId } = reading;
    const entry = nextRecord(fold, event, this.envelope(leafTurnId));
    const step = { entries: [entry], barrier: { kind: "flush" }, deadlineAtMs, phase: event.phase } as const;
    return await this.write(fold.identity.handoffId, step);
  }
}

/** Halts unless the reading's own transaction is this one and undisputed. */
export function demandStanding(reading: Reading, handoffId: string): StandingReading {
  const { fold } = reading;
  if (!isStanding(fold) || fold.identity.handoffId !== handoffId)
    throw new Halted("uncertain", "disputed_ledger");
  return { ...reading, fold };
}

/** Whether the head is still where it was: nobody else wrote a transition meanwhile. */
export function isSameHead(a: StandingReading, b: StandingReading): boolean {
  return areEqual(a.fold.state.transition, b.fold.state.transition);
}
