/** What a chat that changed says, as items of a growing log. Pure but for reading the rows' entries. */
import type { Entry } from "../../transcript/index.ts";
import { entryName } from "../named-log.ts";
import { afterName, beforeName } from "../named-position.ts";
import type { DamageNote, LogItem } from "../types.ts";
import { type Row, standingOf } from "./rows.ts";

/** How the chat stood when something was last told of it. */
export interface Snapshot {
  readonly rows: readonly Row[];
  readonly isOpen: boolean;
  readonly liveRow: Row | undefined;
}

export function snapshotOf(rows: readonly Row[]): Snapshot {
  return { rows: rows.slice(), ...standingOf(rows) };
}

/** Reads a row's entries as they stand now; `isLive` where the row may still change. */
export type ReadRow = (row: Row, isLive: boolean) => Promise<readonly Entry[]>;

/**
 * The items that lead from one state to the next, or why nothing but a new start does: rows that vanished or changed places, entries that
 * came into being between others.
 */
export async function diffSnapshots(
  before: Snapshot,
  after: Snapshot,
  read: ReadRow,
  damageOf: (row: Row) => readonly DamageNote[],
): Promise<readonly LogItem[] | string> {
  const items: LogItem[] = [];
  const shrunk = findMismatch(before.rows, after.rows);
  if (shrunk !== undefined) return shrunk;
  const turn = { isOpen: before.isOpen };
  items.push(...leftRanges(before.rows, after.rows));
  for (const [at, old] of before.rows.entries()) {
    const row = after.rows[at]!;
    const wasLive = old.name === before.liveRow?.name;
    const isLive = row.name === after.liveRow?.name;
    const isSame = old === row || hasSameBytes(old, row);
    if (isSame && wasLive === isLive) continue;
    if (row.isLeft && old.end === row.end && !wasLive) continue;
    if (row.entryCount < old.entryCount) return "entries of a message are gone";
    const isLast = at === after.rows.length - 1 || before.rows.length === after.rows.length;
    if (row.entryCount > old.entryCount && at !== before.rows.length - 1)
      return "a message in the middle grew";
    if (isLive && isLast) openTurn(turn, items, undefined);
    const entries = await read(row, isLive);
    for (const [ordinal, entry] of entries.entries()) {
      const live = isLive && ordinal === 0;
      if (ordinal < old.entryCount) items.push({ type: "changed", entry, live });
      else items.push(entryItem(row, ordinal, entry, live));
    }
  }
  for (let at = before.rows.length; at < after.rows.length; at++) {
    const row = after.rows[at]!;
    const isLive = row.name === after.liveRow?.name;
    const entries = await read(row, isLive);
    if (row.isPrompt && !row.isLeft) {
      closeTurn(turn, items);
      openTurn(turn, items, entries[0]?.time);
    } else if (isLive) openTurn(turn, items, undefined);
    for (const [ordinal, entry] of entries.entries())
      items.push(entryItem(row, ordinal, entry, isLive && ordinal === 0));
    for (const note of damageOf(row)) items.push({ type: "damage", note });
    if (!row.isLeft && row.standing === "closed") closeTurn(turn, items);
  }
  if (turn.isOpen && !after.isOpen) closeTurn(turn, items);
  return items;
}

/** Whether two versions of a row are the same message; rows of lines have no print and keep their place instead. */
function hasSameBytes(old: Row, row: Row): boolean {
  if (old.isLeft !== row.isLeft || old.print !== row.print || old.end - old.start !== row.end - row.start)
    return false;
  return row.print !== 0 || old.start === row.start;
}

function openTurn(turn: { isOpen: boolean }, items: LogItem[], time: number | undefined): void {
  if (turn.isOpen) return;
  turn.isOpen = true;
  items.push({ type: "turnStarted", ...(time === undefined ? {} : { time }) });
}

function closeTurn(turn: { isOpen: boolean }, items: LogItem[]): void {
  if (!turn.isOpen) return;
  turn.isOpen = false;
  items.push({ type: "turnEnded" });
}

function entryItem(row: Row, ordinal: number, entry: Entry, live: boolean): LogItem {
  const name = entryName(row, ordinal);
  return { type: "entry", entry, start: beforeName(name), end: afterName(name), live };
}

/** Why the newer rows do not continue the older ones; absent where they do. */
function findMismatch(before: readonly Row[], after: readonly Row[]): string | undefined {
  if (after.length < before.length) return "messages were taken out of the file";
  for (const [at, row] of before.entries()) {
    const now = after[at]!;
    if (now.name !== row.name) return "the messages came in another order";
    if (row.isLeft && !now.isLeft) return "messages that were left came back";
  }
  return undefined;
}

function leftRanges(before: readonly Row[], after: readonly Row[]): readonly LogItem[] {
  const items: LogItem[] = [];
  let first: Row | undefined;
  let last: Row | undefined;
  const close = (): void => {
    if (first && last)
      items.push({
        type: "branchLeft",
        from: beforeName(first.name),
        to: afterName(entryName(last, Math.max(0, last.entryCount - 1))),
      });
    first = undefined;
    last = undefined;
  };
  for (const [at, row] of before.entries()) {
    const now = after[at]!;
    if (!row.isLeft && now.isLeft) {
      first ??= now;
      last = now;
    } else if (!now.isLeft) close();
  }
  close();
  return items;
}
