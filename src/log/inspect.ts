/** The end of a log as a writer finds it: clean, torn, damaged or newer. Reads line 1 and what follows the newest snapshot, no more. */
import type { ByteSource } from "../lines/index.ts";
import { linesBackward, linesForward, type RawLine } from "./bytes.ts";
import { decodeLine, type LineFault } from "./codec.ts";
import { emptyState, observe, type TailState } from "./fold.ts";
import { damageListMax } from "./limits.ts";
import type { SessionRecord, UnknownRecord } from "./records.ts";
import { recordProblem } from "./validate.ts";

/** Why a range of a log is damage. `seq`: a number is missing or doubled there. `moved`: a snapshot lies at another offset than it says. */
export type LogFault = Exclude<LineFault, "newer"> | "incomplete" | "seq" | "moved" | "no-session" | "empty";

export interface LogDamage {
  readonly start: number;
  readonly end: number;
  readonly fault: LogFault;
}

/** What a log's end is. `start`/`end` of a torn one: the bytes that are no record. */
export type Verdict =
  | { readonly state: "clean"; readonly missesFeed?: true }
  | { readonly state: "torn"; readonly start: number; readonly end: number }
  | { readonly state: "damaged"; readonly damage: readonly LogDamage[] }
  | { readonly state: "newer"; readonly version: number };

export interface Inspection {
  readonly verdict: Verdict;
  /** The fold up to the last good record; of a damaged or newer log it is only what could be read. */
  readonly tail: TailState;
  readonly session: SessionRecord | undefined;
}

type Head =
  | { readonly ok: true; readonly session: SessionRecord }
  | { readonly ok: false; readonly verdict: Verdict };

/** Line 1: the session record, or what is wrong with it. */
export async function inspectHead(source: ByteSource, size: number): Promise<Head> {
  const damaged = (start: number, end: number, fault: LogFault): Head => ({
    ok: false,
    verdict: { state: "damaged", damage: [{ start, end, fault }] },
  });
  if (size === 0) return damaged(0, 0, "empty");
  for await (const line of linesForward(source, 0, size)) {
    const decoded = line.bytes === undefined ? undefined : decodeLine(line.bytes);
    if (decoded?.ok === false && decoded.fault === "newer")
      return { ok: false, verdict: { state: "newer", version: decoded.version ?? 0 } };
    if (!decoded?.ok || decoded.record.kind !== "session" || decoded.record.seq !== 1)
      return damaged(line.start, line.end, "no-session");
    if (recordProblem(decoded.record) !== undefined) return damaged(line.start, line.end, "no-session");
    return { ok: true, session: decoded.record as unknown as SessionRecord };
  }
  return damaged(0, 0, "empty");
}

function snapshotIn(line: RawLine): boolean {
  // The kind stands within the first bytes of a line; only a candidate is decoded.
  return line.bytes?.subarray(0, 96).includes('"kind":"snapshot"') === true && decodeLine(line.bytes).ok;
}

/** Where the newest snapshot starts; 0 where there is none. */
async function newestSnapshot(source: ByteSource, size: number): Promise<number> {
  for await (const line of linesBackward(source, size)) {
    if (line.whole && snapshotIn(line)) return line.start;
  }
  return 0;
}

/** Follows the lines from a snapshot (or from line 1) to the end, judging each. */
class Walk {
  tail: TailState = emptyState;
  damage: LogDamage[] = [];
  newer: number | undefined;
  missesFeed = false;
  /** The newest line, where it is bad. */
  #badLast: LogDamage | undefined;

  line(line: RawLine): void {
    // A bad line with another one after it is no torn end.
    if (this.#badLast !== undefined) this.#add(this.#badLast);
    this.#badLast = undefined;
    const decoded = line.bytes === undefined ? undefined : decodeLine(line.bytes);
    if (decoded?.ok) {
      this.#record(line, decoded.record);
      return;
    }
    if (decoded?.fault === "newer") {
      this.newer ??= decoded.version ?? 0;
      return;
    }
    const fault = !line.whole ? "incomplete" : decoded === undefined ? "too-large" : decoded.fault;
    this.#badLast = { start: line.start, end: line.end, fault };
  }

  #record(line: RawLine, record: UnknownRecord): void {
    const expected = this.tail.end === 0 && line.start > 0 ? record.seq : this.tail.seqNext;
    if (record.seq !== expected) this.#add({ start: line.start, end: line.end, fault: "seq" });
    if (record.kind === "snapshot") {
      if (recordProblem(record) !== undefined) {
        this.#add({ start: line.start, end: line.end, fault: "not-a-record" });
        return;
      }
      if (record["offset"] !== line.start) this.#add({ start: line.start, end: line.end, fault: "moved" });
    }
    // The feed is all that may be missing of a record whose checksum is right.
    this.missesFeed = !line.whole;
    this.tail = observe(this.tail, record, line.start, line.end + (line.whole ? 0 : 1));
  }

  #add(damage: LogDamage): void {
    if (this.damage.length < damageListMax) this.damage.push(damage);
  }

  verdict(): Verdict {
    if (this.newer !== undefined) return { state: "newer", version: this.newer };
    if (this.damage.length > 0) {
      const all = this.#badLast === undefined ? this.damage : [...this.damage, this.#badLast];
      return { state: "damaged", damage: all };
    }
    if (this.#badLast !== undefined)
      return { state: "torn", start: this.#badLast.start, end: this.#badLast.end };
    return this.missesFeed ? { state: "clean", missesFeed: true } : { state: "clean" };
  }
}

/**
 * Inspects the end of a log. Costs what lies behind the newest snapshot (about 64 KiB and one record), whatever the log's length.
 * A last record whole but for its line feed counts as clean, `missesFeed`: its checksum says that nothing else is missing.
 */
export async function inspectEnd(source: ByteSource): Promise<Inspection> {
  const size = await source.size();
  const head = await inspectHead(source, size);
  if (!head.ok) return { verdict: head.verdict, tail: emptyState, session: undefined };
  const walk = new Walk();
  for await (const line of linesForward(source, await newestSnapshot(source, size), size)) walk.line(line);
  return { verdict: walk.verdict(), tail: walk.tail, session: head.session };
}
