/** Pages of a line log: bounded windows whose entries are paired, and marked where their branch was left. */
import { readForward } from "../lines/index.ts";
import { createPairer, type Entry, pairCalls } from "../transcript/index.ts";
import type { Branches } from "./branches.ts";
import { type Course, courseOf, hasBorderAfter, standingOf, turnBefore } from "./course.ts";
import { BRANCH_BYTES_MAX, BRANCH_RECORDS_MAX, PAIR_BYTES_MAX, PAIR_RECORDS_MAX } from "./limits.ts";
import { compareSpots, formatSpot, type Spot } from "./position.ts";
import { type LogReader, lookAhead, lookBack } from "./reader.ts";
import type { TurnState } from "./turns.ts";
import type { DamageNote, Page, Position, TailPage } from "./types.ts";
import {
  endOf,
  entryOf,
  joinRuns,
  type Run,
  runOf,
  type Seat,
  type Slot,
  seatOf,
  slotsOf,
  startOf,
} from "./unit.ts";
import { joinNotes, type LogWindow, pageLimit, windowAfter, windowBefore } from "./window.ts";

const origin: Spot = { offset: 0, ordinal: 0 };
/** A page's neighbours are looked for this far to tell whether it is the first or the last. */
const EDGE_REACH = { records: 1024, bytes: 256 * 1024 };
/** An unfinished end longer than this is told without being looked into. */
const TORN_BYTES_MAX = 1024 * 1024;

/** The newest page, and how the conversation stands. */
export async function readTail(reader: LogReader, branches: Branches, limit: number): Promise<TailPage> {
  const size = await reader.source.size();
  const window = await windowBefore(reader, { offset: size, ordinal: 0 }, pageLimit(limit), true);
  const before = await turnBefore(reader, window.from);
  await learnWindow(reader, branches, window);
  const course = courseOf(window.seats, before);
  const entries = await pairWindow(reader, window, course);
  const turnOpen = course.state !== "closed";
  const live = window.runs.flatMap((run, i) => {
    const entry = entries[i];
    const isNewest = i === window.runs.length - 1;
    return turnOpen && entry !== undefined && mayChange(entry, run, course, isNewest) ? [entry.name] : [];
  });
  // What is held back at the end may be written on, or is all that a crash left of a record: it is told, not shown.
  const settled = window.seats.length === 0 ? 0 : window.to;
  const damage = joinNotes([...window.damage, ...(await tornNotes(reader, settled, size))]);
  const end = formatSpot({ offset: settled, ordinal: 0 });
  return { ...pageOf(window, entries, branches), end, damage, turnOpen, live };
}

function mayChange(entry: Entry, run: Run, course: Course, isNewest: boolean): boolean {
  // What another entry follows is not told again.
  if (run.draft.unfinished === true && isNewest && !hasBorderAfter(course, run.last.spot.offset)) return true;
  return (
    entry.kind === "model" &&
    entry.blocks.some((b) => b.kind === "tool-use" && b.outcome?.state === "running")
  );
}

async function tornNotes(reader: LogReader, from: number, size: number): Promise<readonly DamageNote[]> {
  if (size - from > TORN_BYTES_MAX) return [{ start: from, end: size, reason: "torn" }];
  const notes: DamageNote[] = [];
  for await (const item of readForward(reader.source, { start: from, end: size })) {
    if (item.type === "damage") notes.push({ start: item.start, end: item.end, reason: item.reason });
  }
  return notes;
}

/** The page of at most `limit` entries just before a spot. */
export async function readOlder(
  reader: LogReader,
  branches: Branches,
  from: Spot,
  limit: number,
): Promise<Page> {
  const isEnd = !(await hasEntryAfter(reader, from));
  const window = await windowBefore(reader, from, pageLimit(limit), isEnd);
  await learnWindow(reader, branches, window);
  const entries = await pairWindow(reader, window, undefined);
  return { ...pageOf(window, entries, branches), end: formatSpot(from) };
}

/** The page of at most `limit` entries from a spot on. */
export async function readNewer(
  reader: LogReader,
  branches: Branches,
  from: Spot,
  limit: number,
): Promise<Page> {
  const window = await windowAfter(reader, from, pageLimit(limit));
  await learnWindow(reader, branches, window);
  const entries = await pairWindow(reader, window, undefined);
  const atStart = window.atStart || !(await hasEntryBefore(reader, from));
  const last = window.runs.at(-1);
  const end: Position = window.atEnd
    ? formatSpot({ offset: window.to, ordinal: 0 })
    : last === undefined
      ? formatSpot(from)
      : endOf(last);
  return { ...pageOf(window, entries, branches), start: formatSpot(from), end, atStart };
}

function pageOf(window: LogWindow, entries: readonly Entry[], branches: Branches): Page {
  const first = window.runs[0];
  const last = window.runs.at(-1);
  const edge = formatSpot({ offset: window.from, ordinal: 0 });
  return {
    entries: entries.map((entry) =>
      branches.isOff(entry.place?.start ?? 0) ? { ...entry, offPath: true } : entry,
    ),
    positions: window.runs.map(startOf),
    start: first === undefined ? edge : startOf(first),
    end: last === undefined ? edge : endOf(last),
    atStart: window.atStart,
    atEnd: window.atEnd,
    damage: window.damage,
  };
}

/** Whether any entry stands before a spot; "yes" where that cannot be told within reach. */
async function hasEntryBefore(reader: LogReader, spot: Spot): Promise<boolean> {
  if (compareSpots(spot, origin) === 0) return false;
  if (spot.ordinal > 0) return true;
  const { isStart } = await lookBack(reader, spot.offset, EDGE_REACH, (unit) => unit.drafts.length === 0);
  return !isStart;
}

async function hasEntryAfter(reader: LogReader, spot: Spot): Promise<boolean> {
  if (spot.ordinal > 0) return true;
  const { isEnd } = await lookAhead(reader, spot.offset, EDGE_REACH, (unit) => unit.drafts.length === 0);
  return !isEnd;
}

/** Finds the branches that the window's records left, and those that records just after it left. */
async function learnWindow(reader: LogReader, branches: Branches, window: LogWindow): Promise<void> {
  if (!window.atEnd && !branches.knowsAfter(window.to)) {
    const ahead: Seat[] = [];
    const reach = { records: BRANCH_RECORDS_MAX, bytes: BRANCH_BYTES_MAX };
    const { isEnd } = await lookAhead(reader, window.to, reach, (unit) => {
      ahead.push(seatOf(unit));
      return true;
    });
    const to = ahead.at(-1)?.end ?? window.to;
    await branches.learn([...window.seats, ...ahead], window.from, to, isEnd);
    return;
  }
  await branches.learn(window.seats, window.from, window.to, window.atEnd);
}

/** The window's entries, paired with what stands around it. `course` is the window's, where it is known and the log ends there. */
async function pairWindow(
  reader: LogReader,
  window: LogWindow,
  course: Course | undefined,
): Promise<readonly Entry[]> {
  const entries = window.runs.map(entryOf);
  const lost = callsAbove(entries);
  const before = lost.size === 0 ? [] : await callsBefore(reader, window, lost);
  const pairer = createPairer();
  for (const entry of [...before, ...entries]) pairer.add(entry);
  const own = new Set<Entry>(entries);
  const open = pairer.unanswered().filter((call) => own.has(call.entry));
  if (open.length === 0) return pairCalls(entries, { before });
  const ahead = window.atEnd
    ? { entries: [], seats: [], isEnd: true }
    : await answersAfter(reader, window, new Set(open.map((c) => c.id)));
  const turn: TurnState | undefined =
    course === undefined ? await turnBefore(reader, window.from) : undefined;
  const whole = course ?? courseOf([...window.seats, ...ahead.seats], turn ?? "closed");
  const standing = standingOf({ entries: [...entries, ...ahead.entries], course: whole, isEnd: ahead.isEnd });
  return pairCalls(entries, { before, after: ahead.entries, standing });
}

/** Ids of results whose calls do not stand above them among the entries. A call below may have an id that was used before. */
function callsAbove(entries: readonly Entry[]): ReadonlySet<string> {
  const pairer = createPairer();
  const lost = new Set<string>();
  for (const entry of entries) {
    const { call } = pairer.add(entry);
    if (entry.kind === "tool-result" && call === undefined && entry.toolUseId !== "")
      lost.add(entry.toolUseId);
  }
  return lost;
}

/** Entries above the window down from the first one that calls one of the wanted ids still looked for. */
async function callsBefore(
  reader: LogReader,
  window: LogWindow,
  wanted: ReadonlySet<string>,
): Promise<readonly Entry[]> {
  const runs: Run[] = [];
  const left = new Set(wanted);
  const reach = { records: PAIR_RECORDS_MAX, bytes: PAIR_BYTES_MAX };
  const add = (slots: readonly Slot[]): boolean => {
    for (const slot of slots.toReversed()) {
      const oldest = runs.at(-1);
      const joined = oldest && joinRuns(runOf(slot), oldest);
      if (joined) runs[runs.length - 1] = joined;
      else if (left.size === 0) return false;
      else runs.push(runOf(slot));
      if (slot.draft.kind !== "model") continue;
      for (const block of slot.draft.blocks) if (block.kind === "tool-use") left.delete(block.id);
    }
    return true;
  };
  const first = window.runs[0]?.first.spot;
  // A record of many entries may hold the call of a result that the window begins with.
  if (first !== undefined && first.ordinal > 0)
    await lookAhead(reader, first.offset, { ...reach, records: 1 }, (unit) =>
      add(slotsOf(unit).slice(0, first.ordinal)),
    );
  // One more record is looked at after the last call: it may be the same entry, told before.
  await lookBack(reader, window.from, reach, (unit) => add(slotsOf(unit)));
  const above = createPairer();
  // A result whose call was not reached is not an early one of a later call with its id.
  return runs
    .toReversed()
    .map(entryOf)
    .filter((entry) => above.add(entry).call !== undefined || entry.kind !== "tool-result");
}

interface Ahead {
  readonly entries: readonly Entry[];
  readonly seats: readonly Seat[];
  readonly isEnd: boolean;
}

/** Entries after the window up to the last result of the calls wanted, or as far as is looked. */
async function answersAfter(
  reader: LogReader,
  window: LogWindow,
  wanted: ReadonlySet<string>,
): Promise<Ahead> {
  const left = new Set(wanted);
  const entries: Entry[] = [];
  const seats: Seat[] = [];
  const reach = { records: PAIR_RECORDS_MAX, bytes: PAIR_BYTES_MAX };
  const after = window.runs.at(-1)?.last.after ?? { offset: window.to, ordinal: 0 };
  const { isEnd } = await lookAhead(reader, after.ordinal > 0 ? after.offset : window.to, reach, (unit) => {
    seats.push(seatOf(unit));
    for (const slot of slotsOf(unit)) {
      if (compareSpots(slot.spot, after) < 0) continue;
      if (slot.draft.kind === "tool-result") left.delete(slot.draft.toolUseId);
      entries.push(entryOf(runOf(slot)));
    }
    return left.size > 0;
  });
  return { entries, seats, isEnd };
}
