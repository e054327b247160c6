/** What a document that changed says, as items of a growing log. Pure but for reading the rows' entries. */
import type { Entry } from "../../transcript/index.ts";
import { entryName } from "../named-log.ts";
import { afterName, beforeName } from "../named-position.ts";
import { stepTurn, type TurnState } from "../turns.ts";
import type { DamageNote, LogItem } from "../types.ts";
import type { Row, Standing, StandingRow } from "./rows.ts";

export interface RowReading {
  /** A row's entries as they stand now. */
  entries(standing: StandingRow): Promise<readonly Entry[]>;
  damage(row: Row): readonly DamageNote[];
}

/**
 * The items that lead from one state to the next, or why nothing but a new start does: rows that vanished or changed places, entries that
 * came into being between others.
 */
export async function itemsBetween(
  before: Standing,
  after: Standing,
  reading: RowReading,
): Promise<readonly LogItem[] | string> {
  const mismatch = findMismatch(before.rows, after.rows);
  if (mismatch !== undefined) return mismatch;
  const items: LogItem[] = [];
  const lastOld = before.rows.length - 1;
  for (const [at, old] of before.rows.entries()) {
    const now = after.rows[at];
    if (now === undefined || (now.print === old.print && now.row.entryCount === old.row.entryCount)) continue;
    if (now.row.entryCount < old.row.entryCount) return "entries of a message are gone";
    if (now.row.entryCount > old.row.entryCount && hasEntriesAfter(before.rows, at))
      return "a message in the middle grew";
    for (const [ordinal, entry] of (await reading.entries(now)).entries()) {
      const live = isLive(now, entry);
      if (ordinal < old.row.entryCount) items.push({ type: "changed", entry, live });
      else items.push(entryItem(now.row, ordinal, entry, live));
    }
  }
  const turn = new Turn(before.isOpen);
  // What the old rows' newer versions say of the turn, once their entries are told.
  turn.settle(turnAfter(after.rows.slice(0, lastOld + 1)), items);
  for (const now of after.rows.slice(lastOld + 1)) {
    turn.begin(now.row, items);
    for (const [ordinal, entry] of (await reading.entries(now)).entries())
      items.push(entryItem(now.row, ordinal, entry, isLive(now, entry)));
    for (const note of reading.damage(now.row)) items.push({ type: "damage", note });
    turn.end(now.row, items);
  }
  return items;
}

/** Whether an entry of a row may still change: a text that grows, a call that runs, a result that is not there yet. */
export function isLive(standing: StandingRow, entry: Entry): boolean {
  if (!standing.isLive) return false;
  if (entry.kind === "tool-result") return entry.outcome?.state === "running";
  if (entry.kind !== "model") return false;
  if (standing.row.isUnfinished) return true;
  return entry.blocks.some((block) => block.kind === "tool-use" && block.outcome?.state === "running");
}

function findMismatch(before: readonly StandingRow[], after: readonly StandingRow[]): string | undefined {
  if (after.length < before.length) return "messages were taken out of the file";
  for (const [at, old] of before.entries())
    if (after[at]?.row.name !== old.row.name) return "the messages came in another order";
  return undefined;
}

function hasEntriesAfter(rows: readonly StandingRow[], at: number): boolean {
  return rows.slice(at + 1).some(({ row }) => row.entryCount > 0);
}

function turnAfter(rows: readonly StandingRow[]): TurnState {
  let state: TurnState = "closed";
  for (const { row } of rows) for (const mark of row.marks) state = stepTurn(state, mark).state;
  return state;
}

/** The turn as it is told. */
class Turn {
  #state: TurnState;

  constructor(isOpen: boolean) {
    this.#state = isOpen ? "named" : "closed";
  }

  settle(state: TurnState, items: LogItem[]): void {
    const wasOpen = this.#state !== "closed";
    const isOpen = state !== "closed";
    if (wasOpen !== isOpen) items.push({ type: isOpen ? "turnStarted" : "turnEnded" });
    this.#state = state;
  }

  begin(row: Row, items: LogItem[]): void {
    const timed = row.time === undefined ? {} : { time: row.time };
    for (const mark of row.marks) {
      if (mark.type === "turnEnded") continue;
      if (mark.type === "compacted") items.push({ type: "compacted" });
      const step = stepTurn(this.#state, mark);
      this.#state = step.state;
      if (step.hasStarted) items.push({ type: "turnStarted", ...timed });
    }
  }

  end(row: Row, items: LogItem[]): void {
    const timed = row.time === undefined ? {} : { time: row.time };
    for (const mark of row.marks) {
      if (mark.type !== "turnEnded") continue;
      const step = stepTurn(this.#state, mark);
      this.#state = step.state;
      if (step.hasEnded) items.push({ type: "turnEnded", ...timed });
    }
  }
}

function entryItem(row: Row, ordinal: number, entry: Entry, live: boolean): LogItem {
  const name = entryName(row, ordinal);
  return { type: "entry", entry, start: beforeName(name), end: afterName(name), live };
}
