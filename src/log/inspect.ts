/** The end of a log as a writer finds it: clean, torn, damaged or newer. Reads line 1 and what follows the newest snapshot, no more. */
import type { ByteSource } from "../lines/index.ts";
import { linesBackward, linesForward, type RawLine } from "./bytes.ts";
import { type DecodedLine, decodeLine, type LineFault } from "./codec.ts";
import { emptyState, observe, type TailState } from "./fold.ts";
import { damageListMax } from "./limits.ts";
import type { SessionRecord, UnknownRecord } from "./records.ts";
import { recordProblem } from "./validate.ts";

/**
 * Why a range of a log is damage. `hole`: NULs where records were, as a power loss leaves them. `seq`: a number is missing or doubled
 * there. `moved`: a snapshot lies at another offset than it says. `chain`: a snapshot or a compaction tells of other records before it
 * than there are.
 */
export type LogFault =
  | Exclude<LineFault, "newer">
  | "incomplete"
  | "hole"
  | "seq"
  | "moved"
  | "chain"
  | "no-session"
  | "empty";

export interface LogDamage {
  readonly start: number;
  readonly end: number;
  readonly fault: LogFault;
}

/** What a log's end is. `start`/`end` of a torn one: the bytes that are to go. */
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

/** A line as a record, or the fault of its bytes. */
export type JudgedLine =
  | { readonly ok: true; readonly record: UnknownRecord }
  | { readonly ok: false; readonly fault: "newer"; readonly version: number }
  | {
      readonly ok: false;
      readonly fault: Exclude<LogFault, "seq" | "moved" | "chain" | "no-session" | "empty">;
    };

/** Judges one line by itself. A last line whole but for its line feed is a record: its checksum says that nothing else is missing. */
export function judgeLine(line: RawLine): JudgedLine {
  const decoded: DecodedLine =
    line.bytes === undefined ? { ok: false, fault: "too-large" } : decodeLine(line.bytes);
  if (decoded.ok) return decoded;
  if (decoded.fault === "newer") return { ok: false, fault: "newer", version: decoded.version ?? 0 };
  if (line.bytes?.includes(0) ?? line.hasNul === true) return { ok: false, fault: "hole" };
  return { ok: false, fault: line.whole ? decoded.fault : "incomplete" };
}

/** Line 1: the session record, or what is wrong with it. */
export async function inspectHead(source: ByteSource, size: number): Promise<Head> {
  const damaged = (start: number, end: number, fault: LogFault): Head => ({
    ok: false,
    verdict: { state: "damaged", damage: [{ start, end, fault }] },
  });
  for await (const line of linesForward(source, 0, size)) {
    const judged = judgeLine(line);
    if (!judged.ok && judged.fault === "newer")
      return { ok: false, verdict: { state: "newer", version: judged.version } };
    const isSession =
      judged.ok && judged.record.kind === "session" && recordProblem(judged.record) === undefined;
    if (!isSession || judged.record.seq !== 1) return damaged(line.start, line.end, "no-session");
    return { ok: true, session: judged.record as unknown as SessionRecord };
  }
  return damaged(0, 0, "empty");
}

/** The stamps stand first on a line: only a line that shows one of these there needs to be decoded. */
function isCandidate(line: RawLine): boolean {
  const head = line.bytes?.subarray(0, 128);
  return head?.includes('"kind":"snapshot"') === true || head?.includes('"synced":') === true;
}

/**
 * Where judging the end has to begin: at the newest snapshot with nothing before it but what was on stable storage, as a later mark says;
 * 0 where there is none. What was not synced is bounded, so this looks at the same count of bytes at any age.
 */
async function judgingStart(source: ByteSource, size: number): Promise<number> {
  let synced = 0;
  for await (const line of linesBackward(source, size)) {
    if (!line.whole || !isCandidate(line)) continue;
    const judged = judgeLine(line);
    if (!judged.ok) continue;
    synced = Math.max(synced, judged.record.synced ?? 0);
    if (judged.record.kind === "snapshot" && line.start <= synced) return line.start;
  }
  return 0;
}

/** Whether a record bears the number that comes next. Behind bytes that are no record numbers may be missing: those are told already. */
export function isNext(record: UnknownRecord, tail: TailState, isAfterBad: boolean): boolean {
  return record.seq === tail.seqNext || (isAfterBad && record.seq > tail.seqNext);
}

/** Follows the lines from a snapshot (or from line 1) to the end, judging each. */
class Walk {
  tail: TailState = emptyState;
  #damage: LogDamage[] = [];
  #newer: number | undefined;
  #missesFeed = false;
  /** The newest line, where it is bad. */
  #badLast: LogDamage | undefined;
  /** The first hole, with all as it was before. */
  #hole:
    | { readonly start: number; readonly tail: TailState; readonly damage: readonly LogDamage[] }
    | undefined;
  /** A later record says that the bytes of the hole had been safe. */
  #isHoleDamage = false;
  #end = 0;

  line(line: RawLine): void {
    const isAfterBad = this.#badLast !== undefined;
    // A bad line with another one after it is no torn end.
    if (this.#badLast !== undefined) this.#add(this.#badLast);
    this.#badLast = undefined;
    this.#end = line.end;
    const judged = judgeLine(line);
    if (judged.ok) {
      this.#record(line, judged.record, isAfterBad);
      return;
    }
    if (judged.fault === "newer") {
      this.#newer ??= judged.version;
      return;
    }
    if (judged.fault === "hole")
      this.#hole ??= { start: line.start, tail: this.tail, damage: [...this.#damage] };
    this.#badLast = { start: line.start, end: line.end, fault: judged.fault };
  }

  #record(line: RawLine, record: UnknownRecord, isAfterBad: boolean): void {
    if (this.#hole !== undefined && (record.synced ?? 0) > this.#hole.start) this.#isHoleDamage = true;
    const isFirst = this.tail.end === 0 && line.start > 0;
    if (!isFirst && !isNext(record, this.tail, isAfterBad))
      this.#add({ start: line.start, end: line.end, fault: "seq" });
    if (record.kind === "snapshot") {
      if (recordProblem(record) !== undefined) {
        this.#add({ start: line.start, end: line.end, fault: "not-a-record" });
        return;
      }
      if (record["offset"] !== line.start) this.#add({ start: line.start, end: line.end, fault: "moved" });
    }
    this.#missesFeed = !line.whole;
    this.tail = observe(this.tail, record, line.start, line.end + (line.whole ? 0 : 1));
  }

  #add(damage: LogDamage): void {
    if (this.#damage.length < damageListMax) this.#damage.push(damage);
  }

  verdict(): Verdict {
    if (this.#newer !== undefined) return { state: "newer", version: this.#newer };
    if (this.#hole !== undefined && !this.#isHoleDamage) {
      this.tail = this.#hole.tail;
      this.#damage = [...this.#hole.damage];
      this.#badLast = { start: this.#hole.start, end: this.#end, fault: "hole" };
    }
    if (this.#damage.length > 0) {
      const all = this.#badLast === undefined ? this.#damage : [...this.#damage, this.#badLast];
      return { state: "damaged", damage: all };
    }
    if (this.#badLast !== undefined)
      return { state: "torn", start: this.#badLast.start, end: this.#badLast.end };
    return this.#missesFeed ? { state: "clean", missesFeed: true } : { state: "clean" };
  }
}

/**
 * Inspects the end of a log. Costs what lies behind the newest snapshot that is known to be safe, whatever the log's length.
 *
 * Torn is a last line that is no record, and a hole of NULs with whatever follows it, as long as nothing behind it says that it was on
 * stable storage before: a power loss may keep a later block of what was not synced and lose an earlier one. Everything else that is bad
 * and not the last line is damage.
 */
export async function inspectEnd(source: ByteSource): Promise<Inspection> {
  const size = await source.size();
  const head = await inspectHead(source, size);
  if (!head.ok) return { verdict: head.verdict, tail: emptyState, session: undefined };
  const walk = new Walk();
  for await (const line of linesForward(source, await judgingStart(source, size), size)) walk.line(line);
  const verdict = walk.verdict();
  return { verdict, tail: walk.tail, session: head.session };
}
