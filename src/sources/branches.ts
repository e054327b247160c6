/**
 * Branches that the conversation left. File order is the backbone: a record follows the one before it unless its parent says that an
 * earlier turn was taken up again. What lies between is then off the path; nothing is ever dropped for it.
 */
import type { TreeNode } from "./classifier.ts";
import {
  BRANCH_BYTES_MAX,
  BRANCH_RECORDS_MAX,
  BRANCHES_MAX,
  PARENT_CHUNK_BYTES,
  PARENT_SEARCH_BYTES_MAX,
  ROLLBACK_BYTES_MAX,
  ROLLBACK_RECORDS_MAX,
} from "./limits.ts";
import { type LogReader, lookAhead, lookBack, unitsBefore } from "./reader.ts";
import { BackwardTurns } from "./turns.ts";
import { type Seat, seatOf } from "./unit.ts";

/** The bytes `[from, to)` that the record at `to` left. */
export interface Branch {
  readonly from: number;
  readonly to: number;
}

/** Parents that were searched for in vain and are not searched again. */
const MISSING_MAX = 256;
/** Lines looked at for one parent: more of them only mention its id. */
const CANDIDATES_MAX = 32;

/** The branches of one open log, as far as they have been met. */
export class Branches {
  readonly #reader: LogReader;
  readonly #found = new Map<number, Branch>();
  readonly #missing = new Set<string>();
  #active: readonly Branch[] | undefined;
  /** The stretch of the log whose records have all been looked at; `toEnd` where it reached the end of the log at the time. */
  #known = { from: 0, to: 0, toEnd: false };

  constructor(reader: LogReader) {
    this.#reader = reader;
  }

  /** Whether the record at an offset lies on a branch that was left. */
  isOff(offset: number): boolean {
    this.#active ??= activeOf([...this.#found.values()]);
    return this.#active.some((b) => offset >= b.from && offset < b.to);
  }

  /** Whether what follows an offset has been looked at, so that branches that reach back over it are known. */
  knowsAfter(offset: number): boolean {
    const { from, to, toEnd } = this.#known;
    return offset >= from && (offset < to || (offset === to && toEnd));
  }

  /** Looks at neighbouring records in file order; `from` and `to` are the bytes they cover. */
  async learn(seats: readonly Seat[], from: number, to: number, toEnd: boolean): Promise<void> {
    for (let i = 0; i < seats.length; i++) {
      const seat = seats[i];
      if (seat !== undefined && seat.start >= from) await this.leave(seats, i);
    }
    const known = this.#known;
    const touches = from <= known.to && to >= known.from;
    this.#known = touches
      ? {
          from: Math.min(from, known.from),
          to: Math.max(to, known.to),
          toEnd: toEnd || (known.toEnd && known.to >= to),
        }
      : { from, to, toEnd };
  }

  /**
   * What the record at `index` left, given the records before it; remembered. `regained` where it goes on from a branch that had been
   * left: some of that lies on the path again.
   */
  async leave(
    seats: readonly Seat[],
    index: number,
  ): Promise<(Branch & { readonly regained: boolean }) | undefined> {
    const seat = seats[index];
    if (seat === undefined) return undefined;
    const rollback = seat.marks.find((m) => m.type === "rolledBack");
    const from =
      rollback?.type === "rolledBack"
        ? await this.#rolledBackTo(seats, index, rollback.turns)
        : await this.#leftFrom(seats, index);
    if (from === undefined || from >= seat.start) return undefined;
    const branch = { from, to: seat.start };
    const before = activeOf([...this.#found.values()]);
    this.#found.set(seat.start, branch);
    for (const oldest of this.#found.keys()) {
      if (this.#found.size <= BRANCHES_MAX) break;
      this.#found.delete(oldest);
    }
    const active = activeOf([...this.#found.values()]);
    this.#active = active;
    const isLeft = ({ from, to }: Branch): boolean => active.some((b) => b.from <= from && to <= b.to);
    return { ...branch, regained: !before.every(isLeft) };
  }

  async #leftFrom(seats: readonly Seat[], index: number): Promise<number | undefined> {
    const node = seats[index]?.node;
    if (node?.heads !== true || node.parentId === undefined) return undefined;
    // Each step goes up the file, so that ids written twice make no circle.
    let wanted = node.parentId;
    /** The index of the highest record of the path that was met. */
    let top: number | undefined;
    for (let i = index - 1; i >= 0; i--) {
      const above = seats[i]?.node;
      if (above?.id !== wanted) continue;
      top = i;
      if (above.heads || above.parentId === undefined)
        return firstOther(seats.slice(i + 1, index), above, node);
      wanted = above.parentId;
    }
    const found = await this.#find(wanted, seats[0]?.start ?? 0);
    if (found !== undefined) return this.#leftAbove(seats, index, found, node);
    // A parent that was never written: the path begins below it.
    const highest = top === undefined ? undefined : seats[top]?.node;
    return top === undefined || highest === undefined
      ? undefined
      : firstOther(seats.slice(top + 1, index), highest, node);
  }

  /** The same where the path goes on at a record above the ones given. */
  async #leftAbove(
    seats: readonly Seat[],
    index: number,
    parent: Seat,
    node: TreeNode,
  ): Promise<number | undefined> {
    const top = seats[0]?.start ?? 0;
    const anchor = await this.#anchorOf(parent);
    const anchorNode = anchor.node;
    if (anchorNode === undefined) return undefined;
    let found: number | undefined;
    const reach = { records: BRANCH_RECORDS_MAX, bytes: BRANCH_BYTES_MAX };
    await lookAhead(this.#reader, anchor.end, reach, (unit) => {
      if (unit.start >= top) return false;
      found = firstOther([seatOf(unit)], anchorNode, node);
      return found === undefined;
    });
    return found ?? firstOther(seats.slice(0, index), anchorNode, node);
  }

  /** The nearest head at or above a record; where none is within reach, the highest record of its path. */
  async #anchorOf(parent: Seat): Promise<Seat> {
    let wanted = parent.node?.parentId;
    let anchor = parent;
    if (parent.node?.heads === true || wanted === undefined) return parent;
    const reach = { records: BRANCH_RECORDS_MAX, bytes: BRANCH_BYTES_MAX };
    await lookBack(this.#reader, parent.start, reach, (unit) => {
      const node = unit.said?.node;
      if (node === undefined || node.id !== wanted) return true;
      anchor = seatOf(unit);
      wanted = node.parentId;
      return !node.heads && wanted !== undefined;
    });
    return anchor;
  }

  /** The record with an id, above an offset: a search of the bytes, bounded. */
  async #find(id: string, before: number): Promise<Seat | undefined> {
    if (this.#missing.has(id)) return undefined;
    const needle = Buffer.from(JSON.stringify(id));
    const floor = Math.max(0, before - PARENT_SEARCH_BYTES_MAX);
    let left = CANDIDATES_MAX;
    for (let end = before; end > floor; end -= PARENT_CHUNK_BYTES) {
      const start = Math.max(floor, end - PARENT_CHUNK_BYTES);
      // A chunk reaches into the one below it by what a key and an id need.
      const length = Math.min(end - start + needle.length + KEY_BYTES_MAX, before - start);
      const chunk = Buffer.from(await this.#reader.source.read(start, length));
      for (
        let at = chunk.lastIndexOf(needle);
        at >= 0;
        at = at === 0 ? -1 : chunk.lastIndexOf(needle, at - 1)
      ) {
        if (!isIdKey(chunk.subarray(Math.max(0, at - KEY_BYTES_MAX), at))) continue;
        const seat = await this.#seatAt(start + at, before);
        if (seat?.node?.id === id) return seat;
        if (--left <= 0) return this.#miss(id);
      }
    }
    return this.#miss(id);
  }

  #miss(id: string): undefined {
    if (this.#missing.size >= MISSING_MAX) this.#missing.clear();
    this.#missing.add(id);
    return undefined;
  }

  /** The record that holds a byte. */
  async #seatAt(offset: number, before: number): Promise<Seat | undefined> {
    let end = before;
    for (let at = offset; at < before; at += PARENT_CHUNK_BYTES) {
      const chunk = await this.#reader.source.read(at, Math.min(PARENT_CHUNK_BYTES, before - at));
      const newline = chunk.indexOf(0x0a);
      if (newline < 0) continue;
      end = at + newline;
      break;
    }
    for await (const unit of unitsBefore(this.#reader, end, 0)) {
      if (unit.start <= offset) return unit.end > offset ? seatOf(unit) : undefined;
    }
    return undefined;
  }

  async #rolledBackTo(seats: readonly Seat[], index: number, turns: number): Promise<number | undefined> {
    const counter = new BackwardTurns();
    let left = turns;
    let from: number | undefined;
    const count = (starts: readonly number[]): boolean => {
      for (const start of starts) {
        from = start;
        left -= 1;
        if (left <= 0) return false;
      }
      return true;
    };
    const visit = (seat: Pick<Seat, "start" | "marks">): boolean => {
      for (const mark of seat.marks.toReversed()) {
        // Turns undone before do not count again.
        if (mark.type === "rolledBack") left += mark.turns;
        else if (!count(counter.add(mark, seat.start))) return false;
      }
      return true;
    };
    if (left <= 0) return undefined;
    for (let i = index - 1; i >= 0; i--) {
      const seat = seats[i];
      if (seat !== undefined && !visit(seat)) return from;
    }
    const reach = { records: ROLLBACK_RECORDS_MAX, bytes: ROLLBACK_BYTES_MAX };
    const top = seats[0]?.start ?? 0;
    const { isStart } = await lookBack(this.#reader, top, reach, visit);
    if (isStart && left > 0) count(counter.finish());
    return from;
  }
}

/** Bytes before an id's value in which its key must stand. */
const KEY_BYTES_MAX = 16;

/** Whether bytes end with the key of a record's own id. */
function isIdKey(bytes: Buffer): boolean {
  return /"(?:uuid|id|turnId)"\s*:\s*$/.test(bytes.toString("latin1"));
}

/** The start of the first record that begins another turn than the two told; absent where none does. */
function firstOther(seats: readonly Seat[], anchor: TreeNode, head: TreeNode): number | undefined {
  for (const { node, start } of seats) {
    if (node?.heads !== true || isOne(node, anchor) || isOne(node, head)) continue;
    return start;
  }
  return undefined;
}

/** Whether two records are the same, or lines of one message. */
function isOne(a: TreeNode, b: TreeNode): boolean {
  return a.id === b.id || (a.group !== undefined && a.group === b.group);
}

/** The branches that count: one whose head lies on a branch left later says nothing. */
function activeOf(branches: readonly Branch[]): readonly Branch[] {
  const active: Branch[] = [];
  for (const branch of branches.toSorted((a, b) => b.to - a.to)) {
    if (!active.some((b) => branch.to >= b.from && branch.to < b.to)) active.push(branch);
  }
  return active;
}
