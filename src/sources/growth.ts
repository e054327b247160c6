/**
 * Growth of a line log: each new record becomes items in order, with the state carried over from what was there. The same entries
 * result as from reading the whole, however the growth was cut.
 */
import {
  type CallState,
  callsOf,
  createPairer,
  type Entry,
  type ModelEntry,
  outcomeOf,
  type Pairer,
  type ToolResultEntry,
  withCall,
  withOutcome,
} from "../transcript/index.ts";
import type { Branches } from "./branches.ts";
import type { EntryDraft, Mark } from "./classifier.ts";
import { settlesCallsOf, turnBefore } from "./course.ts";
import { FOLLOW_BYTES_MAX, FOLLOW_CALLS_MAX, FOLLOW_RECORDS_MAX, FOLLOW_SEATS_MAX } from "./limits.ts";
import { badPosition, compareSpots, formatSpot, parsePosition, type Spot } from "./position.ts";
import { type LogReader, lookBack, unitsAfter } from "./reader.ts";
import { stepTurn, type TurnState } from "./turns.ts";
import type { LogItem, SessionInfo } from "./types.ts";
import {
  endOf,
  entryOf,
  joinRuns,
  type Run,
  runOf,
  type Seat,
  seatOf,
  slotsOf,
  startOf,
  type Unit,
} from "./unit.ts";

export class Growth {
  readonly #reader: LogReader;
  readonly #branches: Branches;
  readonly #pairer: Pairer = createPairer(FOLLOW_CALLS_MAX);
  /** Entries with calls, and results above their call, as they were given last. */
  readonly #shown = new Map<string, ModelEntry | ToolResultEntry>();
  /** Names of the entries that have running calls. */
  readonly #running = new Set<string>();
  /** The newest entry, where more of it may be told. */
  readonly #unfinished = new Map<string, Entry>();
  readonly #seats: Seat[] = [];
  #turn: TurnState = "closed";
  /** The newest run that was given; what comes next may continue it. */
  #last: Run | undefined;
  /** A run not given yet: the batch may hold more of it. */
  #held: Run | undefined;
  #info: Partial<SessionInfo> = {};
  #hasRegained = false;

  constructor(reader: LogReader, branches: Branches) {
    this.#reader = reader;
    this.#branches = branches;
  }

  /** Whether a record took up a branch again whose entries had been told as left: no item says that of them. */
  get hasRegained(): boolean {
    return this.#hasRegained;
  }

  /**
   * Takes over the state at a spot from the records before it. Answers what the record at the spot still has to give, and the offset to
   * follow from.
   */
  async begin(spot: Spot): Promise<{ readonly items: readonly LogItem[]; readonly from: number }> {
    const units: Unit[] = [];
    const reach = { records: FOLLOW_RECORDS_MAX, bytes: FOLLOW_BYTES_MAX };
    await lookBack(this.#reader, spot.offset, reach, (unit) => {
      units.push(unit);
      return true;
    });
    this.#turn = await turnBefore(this.#reader, units.at(-1)?.start ?? spot.offset);
    await this.add(units.reverse());
    this.#hasRegained = false;
    if (spot.ordinal === 0) return { items: [], from: spot.offset };
    for await (const unit of unitsAfter(this.#reader, spot.offset)) {
      if (unit.start !== spot.offset || spot.ordinal >= unit.drafts.length) break;
      const items = await this.add([unit]);
      return { items: items.filter((item) => !isBefore(item, spot)), from: unit.end };
    }
    throw badPosition(formatSpot(spot), "no record with so many entries begins there");
  }

  /** The items of the next records. */
  async add(units: readonly Unit[]): Promise<readonly LogItem[]> {
    const out: LogItem[] = [];
    for (const unit of units) await this.#addUnit(unit, out);
    this.#flush(out);
    return out;
  }

  async #addUnit(unit: Unit, out: LogItem[]): Promise<void> {
    const seat = seatOf(unit);
    this.#seats.push(seat);
    if (this.#seats.length > FOLLOW_SEATS_MAX) this.#seats.splice(0, FOLLOW_SEATS_MAX / 2);
    if (unit.damage) {
      this.#flush(out);
      out.push({ type: "damage", note: unit.damage });
    }
    this.#tellInfo(unit, out);
    const branch = await this.#branches.leave(this.#seats, this.#seats.length - 1);
    if (branch !== undefined) {
      this.#flush(out);
      if (branch.regained) this.#hasRegained = true;
      const [from, to] = [branch.from, branch.to].map((offset) => formatSpot({ offset, ordinal: 0 })) as [
        string,
        string,
      ];
      out.push({ type: "branchLeft", from, to });
    }
    const time = unit.drafts.find((d) => d.time !== undefined)?.time;
    for (const mark of unit.marks) if (mark.type !== "turnEnded") this.#mark(mark, time, out);
    for (const slot of slotsOf(unit)) this.#addRun(runOf(slot), out);
    for (const mark of unit.marks) if (mark.type === "turnEnded") this.#mark(mark, time, out);
  }

  #mark(mark: Mark, time: number | undefined, out: LogItem[]): void {
    const timed = time === undefined ? {} : { time };
    if (mark.type === "compacted") {
      this.#flush(out);
      out.push({ type: "compacted" });
      return;
    }
    const step = stepTurn(this.#turn, mark);
    if (step.hasStarted || step.hasEnded) {
      this.#flush(out);
      this.#settleAll(out);
    }
    this.#turn = step.state;
    if (step.hasStarted) out.push({ type: "turnStarted", ...timed });
    if (step.hasEnded) out.push({ type: "turnEnded", ...timed });
  }

  #tellInfo(unit: Unit, out: LogItem[]): void {
    const info = unit.said?.info;
    if (info === undefined) return;
    const news = Object.entries(info).filter(
      ([key, value]) => this.#info[key as keyof SessionInfo] !== value,
    );
    if (news.length === 0) return;
    const changed = Object.fromEntries(news) as Partial<SessionInfo>;
    this.#info = { ...this.#info, ...changed };
    out.push({ type: "info", info: changed });
  }

  #addRun(run: Run, out: LogItem[]): void {
    const before = this.#held ?? this.#last;
    const joined = before && joinRuns(before, run);
    if (joined === undefined) this.#flush(out);
    else if (this.#held === undefined) {
      // More of an entry that was given: told again under its name.
      this.#last = joined;
      this.#tell(joined, true, out);
      return;
    }
    this.#held = joined ?? run;
  }

  #flush(out: LogItem[]): void {
    const run = this.#held;
    if (run === undefined) return;
    this.#held = undefined;
    this.#last = run;
    this.#tell(run, false, out);
  }

  #tell(run: Run, isAgain: boolean, out: LogItem[]): void {
    const entry = this.#pair(this.#marked(entryOf(run)), out);
    // What another entry follows is not told again: only the newest may be unfinished.
    if (!isAgain) this.#finishTexts(out);
    const live = this.#isLive(entry, run.draft);
    if (isAgain) out.push({ type: "changed", entry, live });
    else out.push({ type: "entry", entry, start: startOf(run), end: endOf(run), live });
  }

  #marked(entry: Entry): Entry {
    return this.#branches.isOff(entry.place?.start ?? 0) ? { ...entry, offPath: true } : entry;
  }

  #isLive(entry: Entry, draft: EntryDraft): boolean {
    this.#unfinished.delete(entry.name);
    if (this.#turn === "closed") return false;
    if (draft.unfinished === true) this.#unfinished.set(entry.name, entry);
    return draft.unfinished === true || this.#running.has(entry.name);
  }

  /** Pairs an entry; what it changes of earlier ones is told first. */
  #pair(entry: Entry, out: LogItem[]): Entry {
    if (entry.kind !== "model" && entry.kind !== "tool-result") return entry;
    if (entry.kind === "model") this.#settleBefore(entry, out);
    let given = entry;
    const { answered, call } = this.#pairer.add(entry);
    const ended = new Set<number>();
    for (const { call: seat, result } of answered) {
      if (seat.entry.name === entry.name && given.kind === "model") {
        given = withOutcome(given, seat.block, outcomeOf(result, given));
        ended.add(seat.block);
      } else this.#answer(seat.entry.name, seat.block, result, out);
      // A result that stood above its call learns now what it answered.
      if (result !== entry) this.#retell(withCall(result, seat), out);
    }
    if (given.kind === "tool-result") {
      given = withCall(given, call);
      if (call === undefined) this.#remember(given);
      return given;
    }
    const state: CallState = this.#turn === "closed" ? "unanswered" : "running";
    const known = this.#shown.get(entry.name);
    for (const seat of callsOf(given)) {
      if (ended.has(seat.block)) continue;
      const block = known?.kind === "model" ? known.blocks[seat.block] : undefined;
      const outcome = block?.kind === "tool-use" && block.outcome ? block.outcome : { state };
      given = withOutcome(given, seat.block, outcome);
    }
    if (callsOf(given).length > 0) this.#remember(given);
    return given;
  }

  #remember(entry: ModelEntry | ToolResultEntry): void {
    this.#shown.delete(entry.name);
    this.#shown.set(entry.name, entry);
    const isRunning =
      entry.kind === "model" &&
      entry.blocks.some((b) => b.kind === "tool-use" && b.outcome?.state === "running");
    if (isRunning) this.#running.add(entry.name);
    else this.#running.delete(entry.name);
    for (const oldest of this.#shown.keys()) {
      if (this.#shown.size <= FOLLOW_CALLS_MAX) break;
      this.#shown.delete(oldest);
      this.#running.delete(oldest);
    }
  }

  #retell(entry: ModelEntry | ToolResultEntry, out: LogItem[]): void {
    const marked = this.#marked(entry) as ModelEntry | ToolResultEntry;
    this.#remember(marked);
    out.push({ type: "changed", entry: marked, live: this.#running.has(marked.name) });
  }

  #answer(name: string, block: number, result: ToolResultEntry, out: LogItem[]): void {
    const shown = this.#shown.get(name);
    if (shown?.kind === "model") this.#retell(withOutcome(shown, block, outcomeOf(result, shown)), out);
  }

  /** The running calls of the entries that `settles` names get no answer any more. */
  #settle(out: LogItem[], settles: (entry: ModelEntry) => boolean): void {
    for (const name of [...this.#running]) {
      const shown = this.#shown.get(name);
      if (shown?.kind !== "model" || !settles(shown)) continue;
      const blocks = shown.blocks.map((b) =>
        b.kind === "tool-use" && b.outcome?.state === "running"
          ? { ...b, outcome: { state: "unanswered" as const } }
          : b,
      );
      this.#retell({ ...shown, blocks }, out);
    }
  }

  #settleBefore(entry: ModelEntry, out: LogItem[]): void {
    this.#settle(out, (shown) => shown.name !== entry.name && settlesCallsOf(shown, entry));
  }

  #settleAll(out: LogItem[]): void {
    this.#settle(out, () => true);
    this.#finishTexts(out);
  }

  #finishTexts(out: LogItem[]): void {
    for (const entry of this.#unfinished.values())
      out.push({ type: "changed", entry: this.#marked(entry), live: false });
    this.#unfinished.clear();
  }
}

function isBefore(item: LogItem, spot: Spot): boolean {
  if (item.type === "turnEnded") return false;
  return item.type !== "entry" || compareSpots(parsePosition(item.start), spot) < 0;
}
