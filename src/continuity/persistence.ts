/**
 * Writing a group of records so that their writer knows what became of them: every append is confirmed, read back where it was not, and
 * one barrier stands behind the whole group. Nothing is written twice, and nothing is called written that was not proven to be.
 */
import { canonicalJson } from "./canonical.ts";
import { HANDOFF_MAX_FLUSH_RETRIES } from "./contract.ts";
import type { EntryEnvelope } from "./entries.ts";
import { sha256Hex, utf8Bytes } from "./sha256.ts";
import { isInteger } from "./values.ts";

/** A record to be written: its id and time are minted by whoever prepared it, never here. */
export interface WritableEntry extends EntryEnvelope {
  readonly kind: string;
}

/**
 * What a whole reading of the ledger says of one record. `matching`: it is there, and nothing else under its id. `absent`: proven not to
 * be there. `conflicting`: something else is there under its id. `unresolved`: the ledger cannot tell.
 */
export type ContinuityReadback = "matching" | "absent" | "conflicting" | "unresolved";

export interface ContinuityPersistencePorts {
  /** Resolves once the record is in the ledger; a rejection says nothing about whether it is. */
  append(entry: WritableEntry): Promise<void>;
  /** Only reads, and reads everything: a match does not hide a conflict behind it. */
  readExact(entry: WritableEntry): Promise<ContinuityReadback>;
  /** Resolves once everything appended is on stable storage. */
  readonly flushAppends?: () => Promise<void>;
  /** The same for the session's whole state. */
  readonly checkpoint?: (reason: string) => Promise<void>;
  /** True where the session's files were taken away: nothing may bring them back. A guard that throws forbids. */
  isStateRemoved(): boolean | Promise<boolean>;
  /** False once this process drives another session, or another process writes this one. */
  isOriginCurrent(): boolean | Promise<boolean>;
}

/** A record that is known to be in the ledger; handed back so that the rest of its group can be written later. */
export interface AcceptedRecord {
  readonly entryId: string;
  readonly digest: string;
}

export type ContinuityBarrier =
  | { readonly kind: "flush" }
  | { readonly kind: "checkpoint"; readonly reason: string };

export interface ContinuityGroup {
  readonly entries: readonly WritableEntry[];
  readonly barrier: ContinuityBarrier;
  /** What an earlier call accepted of this very group. */
  readonly alreadyAccepted?: readonly AcceptedRecord[];
}

export interface ContinuityRetry {
  /** Barriers tried again after the first: 0 to 3. */
  readonly limit: number;
  readonly deadlineAtMs: number;
  readonly now: () => number;
  /** Waits before a barrier is tried again; `attempt` is the number of barriers that failed. */
  readonly wait: (attempt: number) => Promise<void>;
}

export type UncertainReason =
  | "duplicate_group_entry"
  | "progress_mismatch"
  | "invalid_retry_schedule"
  | "clock_ambiguous"
  | "deadline_expired"
  | "state_removed"
  | "origin_changed"
  | "append_conflicting"
  | "append_unresolved"
  | "append_absent_after_retry"
  | "unsupported_barrier_port"
  | "barrier_failed";

export interface UncertainGroup {
  readonly state: "uncertain";
  readonly reason: UncertainReason;
  /** Records of the group that are proven to be in the ledger; give them back as `alreadyAccepted`. */
  readonly accepted: readonly AcceptedRecord[];
  readonly barrierAttempts: number;
  /** What failed, oldest first, in the words of what failed. */
  readonly anomalies: readonly string[];
}

export type PersistedGroup =
  | {
      readonly state: "durable";
      readonly accepted: readonly AcceptedRecord[];
      readonly barrierAttempts: number;
      /** False: the records are there, but what they permit was over by then, or the clock cannot say. */
      readonly confirmedWithinDeadline: boolean;
    }
  | UncertainGroup;

/** Names a record's whole value. */
export function continuityRecordDigest(entry: WritableEntry): string {
  return sha256Hex(utf8Bytes(canonicalJson(entry)));
}

/** What the ledger says of one record; a reading that fails says nothing. Writes nothing. */
export async function reconcileContinuityEntry(
  entry: WritableEntry,
  ports: Pick<ContinuityPersistencePorts, "readExact">,
): Promise<ContinuityReadback> {
  try {
    return await ports.readExact(entry);
  } catch {
    // Any failure of a reading is the same answer: unknown.
    return "unresolved";
  }
}

/** Why a group stops where it is. */
class Stopped {
  readonly reason: UncertainReason;
  constructor(reason: UncertainReason) {
    this.reason = reason;
  }
}

/** A clock that stays broken once it went backwards or said nothing. */
class ClockGuard {
  readonly #now: () => number;
  #last = Number.NEGATIVE_INFINITY;
  #isBroken = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The time, or undefined for good after the first unusable reading. */
  read(): number | undefined {
    const at = this.#now();
    if (!Number.isFinite(at) || at < this.#last) this.#isBroken = true;
    else this.#last = at;
    return this.#isBroken ? undefined : at;
  }
}

/** One call's run over a group. */
class GroupRun {
  readonly #group: ContinuityGroup;
  readonly #ports: ContinuityPersistencePorts;
  readonly #retry: ContinuityRetry;
  readonly #clock: ClockGuard;
  readonly #accepted = new Map<string, AcceptedRecord>();
  readonly #anomalies: string[] = [];
  #barrierAttempts = 0;

  constructor(group: ContinuityGroup, ports: ContinuityPersistencePorts, retry: ContinuityRetry) {
    this.#group = group;
    this.#ports = ports;
    this.#retry = retry;
    this.#clock = new ClockGuard(retry.now);
  }

  async run(): Promise<PersistedGroup> {
    const stopped = (await this.#start()) ?? (await this.#appendAll()) ?? (await this.#barrier());
    if (stopped !== undefined) return this.#uncertain(stopped.reason);
    const at = this.#clock.read();
    return {
      state: "durable",
      accepted: [...this.#accepted.values()],
      barrierAttempts: this.#barrierAttempts,
      confirmedWithinDeadline: at !== undefined && at < this.#retry.deadlineAtMs,
    };
  }

  #uncertain(reason: UncertainReason): UncertainGroup {
    return {
      state: "uncertain",
      reason,
      accepted: [...this.#accepted.values()],
      barrierAttempts: this.#barrierAttempts,
      anomalies: this.#anomalies,
    };
  }

  /** Everything that can be known before anything is written. */
  async #start(): Promise<Stopped | undefined> {
    const { entries, alreadyAccepted = [] } = this.#group;
    const digests = new Map<string, string>();
    for (const entry of entries) {
      const digest = continuityRecordDigest(entry);
      if ((digests.get(entry.turnId) ?? digest) !== digest) return new Stopped("duplicate_group_entry");
      digests.set(entry.turnId, digest);
    }
    if (alreadyAccepted.some(({ entryId, digest }) => digests.get(entryId) !== digest)) {
      return new Stopped("progress_mismatch");
    }
    for (const token of alreadyAccepted) this.#accepted.set(token.entryId, token);
    const { limit, deadlineAtMs } = this.#retry;
    const at = this.#clock.read();
    if (!isInteger(limit, 0, HANDOFF_MAX_FLUSH_RETRIES) || !Number.isFinite(deadlineAtMs) || at === undefined)
      return new Stopped("invalid_retry_schedule");
    const hasWork = entries.some((entry) => !this.#accepted.has(entry.turnId));
    if (hasWork && at >= deadlineAtMs) return new Stopped("deadline_expired");
    return await this.#placeChanged();
  }

  async #placeChanged(): Promise<Stopped | undefined> {
    if (await this.#answer(() => this.#ports.isStateRemoved(), true)) return new Stopped("state_removed");
    const isCurrent = await this.#answer(() => this.#ports.isOriginCurrent(), false);
    return isCurrent ? undefined : new Stopped("origin_changed");
  }

  /** A guard's answer; one that cannot answer forbids. */
  async #answer(ask: () => boolean | Promise<boolean>, otherwise: boolean): Promise<boolean> {
    try {
      return await ask();
    } catch (error) {
      this.#anomalies.push(`guard: ${wordsOf(error)}`);
      return otherwise;
    }
  }

  /** What must hold at the moment of a write: the clock, the window, the place. */
  async #mayWrite(): Promise<Stopped | undefined> {
    const changed = await this.#placeChanged();
    if (changed !== undefined) return changed;
    const at = this.#clock.read();
    if (at === undefined) return new Stopped("clock_ambiguous");
    return at >= this.#retry.deadlineAtMs ? new Stopped("deadline_expired") : undefined;
  }

  async #appendAll(): Promise<Stopped | undefined> {
    for (const entry of this.#group.entries) {
      if (this.#accepted.has(entry.turnId)) continue;
      const stopped = (await this.#mayWrite()) ?? (await this.#appendOne(entry));
      if (stopped !== undefined) return stopped;
      this.#accepted.set(entry.turnId, { entryId: entry.turnId, digest: continuityRecordDigest(entry) });
    }
    return undefined;
  }

  /** Appends one record. A failed append is read back; only a proven absence permits a second one, under the same id. */
  async #appendOne(entry: WritableEntry): Promise<Stopped | undefined> {
    if (await this.#tryAppend(entry)) return undefined;
    const first = await reconcileContinuityEntry(entry, this.#ports);
    if (first === "matching") return undefined;
    if (first !== "absent")
      return new Stopped(first === "conflicting" ? "append_conflicting" : "append_unresolved");
    const stopped = await this.#mayWrite();
    if (stopped !== undefined) return stopped;
    if (await this.#tryAppend(entry)) return undefined;
    const second = await reconcileContinuityEntry(entry, this.#ports);
    if (second === "matching") return undefined;
    if (second === "conflicting") return new Stopped("append_conflicting");
    return new Stopped(second === "absent" ? "append_absent_after_retry" : "append_unresolved");
  }

  async #tryAppend(entry: WritableEntry): Promise<boolean> {
    try {
      await this.#ports.append(entry);
      return true;
    } catch (error) {
      // Whatever failed, the ledger itself is asked next.
      this.#anomalies.push(`append of ${entry.turnId}: ${wordsOf(error)}`);
      return false;
    }
  }

  async #barrier(): Promise<Stopped | undefined> {
    const { barrier } = this.#group;
    const { flushAppends, checkpoint } = this.#ports;
    const port = barrier.kind === "flush" ? flushAppends : checkpoint && (() => checkpoint(barrier.reason));
    const changed = await this.#placeChanged();
    if (changed !== undefined) return changed;
    if (port === undefined) return new Stopped("unsupported_barrier_port");
    // A clock that is broken by now does not keep what is written from the disk; it only confirms nothing.
    this.#clock.read();
    for (;;) {
      this.#barrierAttempts += 1;
      try {
        await port();
        return await this.#placeChanged();
      } catch (error) {
        // Records are never appended again because a barrier failed.
        this.#anomalies.push(`${barrier.kind}: ${wordsOf(error)}`);
      }
      if (this.#barrierAttempts > this.#retry.limit) return new Stopped("barrier_failed");
      const stopped = (await this.#mayWrite()) ?? (await this.#wait()) ?? (await this.#mayWrite());
      if (stopped !== undefined) return stopped;
    }
  }

  async #wait(): Promise<Stopped | undefined> {
    try {
      await this.#retry.wait(this.#barrierAttempts);
      return undefined;
    } catch (error) {
      // A wait that was called off ends the trying.
      this.#anomalies.push(`wait: ${wordsOf(error)}`);
      return new Stopped("barrier_failed");
    }
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Writes the records of a group in order, then one barrier. Never throws for what a port does. `uncertain` says how far it came: give its
 * `accepted` back with the same group, and what is missing is written, once. A group with nothing left to write runs its barrier even
 * past its deadline, and is then durable without being confirmed.
 */
export async function persistContinuityGroup(
  group: ContinuityGroup,
  ports: ContinuityPersistencePorts,
  retry: ContinuityRetry,
): Promise<PersistedGroup> {
  return await new GroupRun(group, ports, retry).run();
}
