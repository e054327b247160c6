/** Windows: runs of neighbouring entries of a line log, gathered from either direction within the page's bound. */
import { PAGE_ENTRIES_MAX, SILENT_RECORDS_MAX } from "./limits.ts";
import { badPosition, compareSpots, formatSpot, type Spot } from "./position.ts";
import { type LogReader, unitsAfter, unitsBefore } from "./reader.ts";
import type { DamageNote } from "./types.ts";
import { joinRuns, type Run, runOf, type Seat, type Slot, seatOf, slotsOf, type Unit } from "./unit.ts";

export interface LogWindow {
  /** In log order. */
  readonly runs: readonly Run[];
  /** Records of the window's bytes, in order; where there are many without entries, the newest (oldest, forward) of them only. */
  readonly seats: readonly Seat[];
  readonly damage: readonly DamageNote[];
  /** Bytes that were looked at. */
  readonly from: number;
  readonly to: number;
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

/** The limit of a page: at least one entry. */
export function pageLimit(limit: number): number {
  if (Number.isNaN(limit)) return 1;
  return Math.min(PAGE_ENTRIES_MAX, Math.max(1, Math.floor(limit)));
}

/** The newest `limit` entries before a spot. Reads on until it knows whether there is one more. */
export async function windowBefore(
  reader: LogReader,
  spot: Spot,
  limit: number,
  isEnd: boolean,
): Promise<LogWindow> {
  const runs: Run[] = [];
  const seats: Seat[] = [];
  const damage: DamageNote[] = [];
  let from = spot.offset;
  let to = spot.offset;
  /** Adds what stands above; false once there is one entry more than asked for. */
  const add = (slots: readonly Slot[]): boolean => {
    for (const slot of slots.toReversed()) {
      const oldest = runs.at(-1);
      const joined = oldest && joinRuns(runOf(slot), oldest);
      if (joined) runs[runs.length - 1] = joined;
      else if (runs.length === limit) return false;
      else runs.push(runOf(slot));
    }
    return true;
  };
  const note = (unit: Unit): void => {
    if (unit.drafts.length === 0 && unit.marks.length === 0 && seats.length >= SILENT_RECORDS_MAX) return;
    seats.push(seatOf(unit));
    if (unit.damage) damage.push(unit.damage);
  };
  const finish = (atStart: boolean): LogWindow => ({
    runs: runs.toReversed(),
    seats: seats.toReversed(),
    damage: joinNotes(damage.toReversed()),
    from,
    to,
    atStart,
    atEnd: isEnd,
  });
  if (spot.ordinal > 0) {
    const unit = await unitAt(reader, spot);
    to = unit.end;
    note(unit);
    if (!add(slotsOf(unit).slice(0, spot.ordinal))) return finish(false);
  }
  let isNewest = spot.ordinal === 0;
  for await (const unit of unitsBefore(reader, spot.offset)) {
    // The bytes looked at end with the newest record: nothing but white space may follow it.
    if (isNewest) to = unit.end;
    isNewest = false;
    const hasRoom = add(slotsOf(unit));
    if (hasRoom || runs.at(-1)?.first.spot.offset === unit.start) {
      from = unit.start;
      note(unit);
    }
    if (!hasRoom) return finish(false);
  }
  from = 0;
  return finish(true);
}

/** The first `limit` entries from a spot on. */
export async function windowAfter(reader: LogReader, spot: Spot, limit: number): Promise<LogWindow> {
  const runs: Run[] = [];
  const seats: Seat[] = [];
  const damage: DamageNote[] = [];
  let to = spot.offset;
  const from = spot.offset;
  const add = (slots: readonly Slot[]): boolean => {
    for (const slot of slots) {
      const newest = runs.at(-1);
      const joined = newest && joinRuns(newest, runOf(slot));
      if (joined) runs[runs.length - 1] = joined;
      else if (runs.length === limit) return false;
      else runs.push(runOf(slot));
    }
    return true;
  };
  const note = (unit: Unit): void => {
    to = unit.end;
    if (unit.drafts.length === 0 && unit.marks.length === 0 && seats.length >= SILENT_RECORDS_MAX) return;
    seats.push(seatOf(unit));
    if (unit.damage) damage.push(unit.damage);
  };
  const finish = (atEnd: boolean): LogWindow => ({
    runs,
    seats,
    damage: joinNotes(damage),
    from,
    to,
    // Records without entries may stand above: the caller looks.
    atStart: compareSpots(spot, { offset: 0, ordinal: 0 }) === 0,
    atEnd,
  });
  if (spot.ordinal > 0) {
    const unit = await unitAt(reader, spot);
    note(unit);
    if (!add(slotsOf(unit).slice(spot.ordinal))) return finish(false);
  }
  for await (const unit of unitsAfter(reader, to)) {
    const hasRoom = add(slotsOf(unit));
    if (hasRoom || runs.at(-1)?.last.spot.offset === unit.start) note(unit);
    if (!hasRoom) return finish(false);
  }
  return finish(true);
}

/** The record that a spot before a further entry lies in. */
async function unitAt(reader: LogReader, spot: Spot): Promise<Unit> {
  for await (const unit of unitsAfter(reader, spot.offset)) {
    if (unit.start === spot.offset && spot.ordinal < unit.drafts.length) return unit;
    break;
  }
  throw badPosition(formatSpot(spot), "no record with so many entries begins there");
}

/** The notes with the records of one glued line told as one stretch. */
export function joinNotes(notes: readonly DamageNote[]): readonly DamageNote[] {
  const joined: DamageNote[] = [];
  for (const note of notes) {
    const last = joined.at(-1);
    if (last?.reason === "glued" && note.reason === "glued" && note.start - last.end <= GLUE_GAP_BYTES) {
      joined[joined.length - 1] = { ...last, end: note.end };
    } else joined.push(note);
  }
  return joined;
}

/** Nothing but a separator stands between two records of one line; a line feed and more stands between lines. */
const GLUE_GAP_BYTES = 0;
