/** Which rows of which blocks are on the screen. Lays out blocks near the screen, no others. */
import type { Entry } from "../../transcript/index.ts";
import type { Detail } from "../render/index.ts";
import { roomOf } from "../screen/index.ts";
import { type BlockLayoutOptions, BlockLayouts, type BlockRow } from "./block-layout.ts";
import { Details } from "./details.ts";
import { rowOfWord, type WordPlace, wordPlaceOf } from "./row-words.ts";
import type { PagerBlock } from "./types.ts";

/** A row of a block, by the block's index in the window. */
export interface Place {
  readonly index: number;
  readonly row: number;
}

export type Direction = "older" | "newer";

/** What stays at the top through any number of resizes. */
interface Anchor {
  readonly name: string;
  readonly place: WordPlace;
}

const start: Place = { index: 0, row: 0 };

export function isPast(a: Place, b: Place): boolean {
  return a.index > b.index || (a.index === b.index && a.row > b.row);
}

export class Viewport {
  readonly details = new Details();
  readonly layouts: BlockLayouts;
  #blocks: readonly PagerBlock[] = [];
  #indices = new Map<string, number>();
  #columns = 80;
  #height = 24;
  #top: Place = start;
  #anchor: Anchor | undefined;

  constructor(options: BlockLayoutOptions) {
    this.layouts = new BlockLayouts(options);
  }

  get blocks(): readonly PagerBlock[] {
    return this.#blocks;
  }

  get top(): Place {
    return this.#top;
  }

  get height(): number {
    return this.#height;
  }

  /** Rows for blocks: all but the status row. */
  get body(): number {
    return Math.max(1, this.#height - 1);
  }

  /** Cells of a row. */
  get room(): number {
    return roomOf(this.#columns);
  }

  entryAt(index: number): Entry | undefined {
    return this.#blocks[index]?.entry;
  }

  indexOf(name: string): number | undefined {
    return this.#indices.get(name);
  }

  /** The rows of a block in its own detail, or in `detail`. */
  rowsOf(index: number, detail?: Detail): readonly BlockRow[] {
    const entry = this.entryAt(index);
    if (entry === undefined) return [];
    const wanted = detail ?? this.details.of(entry.name);
    const record = wanted === "raw" ? this.details.rawOf(entry.name) : undefined;
    return this.layouts.rowsOf({
      entry,
      previous: this.entryAt(index - 1),
      detail: wanted,
      width: this.room,
      ...record,
    });
  }

  /** The first row of a block that has something on it. */
  headRow(index: number): number {
    const rows = this.rowsOf(index);
    return rows.length > 1 && rows[0]!.line.spans.length === 0 ? 1 : 0;
  }

  /** The place `count` rows further on, and how many rows were missing. */
  walk(from: Place, direction: Direction, count: number): { readonly to: Place; readonly missing: number } {
    let { index, row } = from;
    let left = count;
    if (direction === "older") {
      while (left > row) {
        if (index <= 0) return { to: start, missing: left - row };
        left -= row;
        index -= 1;
        row = this.rowsOf(index).length;
      }
      return { to: { index, row: row - left }, missing: 0 };
    }
    const last = this.#blocks.length - 1;
    for (;;) {
      const rest = this.rowsOf(index).length - row;
      if (left < rest) return { to: { index, row: row + left }, missing: 0 };
      const toLast = Math.max(0, rest - 1);
      if (index >= last) return { to: { index, row: row + toLast }, missing: left - toLast };
      left -= rest;
      index += 1;
      row = 0;
    }
  }

  /** Rows from `from` on, it included; counts no further than `max`. */
  rowsFrom(from: Place, max: number): number {
    let count = this.rowsOf(from.index).length - from.row;
    for (let index = from.index + 1; count < max && index < this.#blocks.length; index++)
      count += this.rowsOf(index).length;
    return Math.min(count, max);
  }

  /** The last row that is seen. */
  bottom(): Place {
    return this.walk(this.#top, "newer", this.body - 1).to;
  }

  isSeen(place: Place): boolean {
    return !isPast(this.#top, place) && !isPast(place, this.bottom());
  }

  /** Whether the last row of the window is on the screen. */
  isAtEnd(): boolean {
    return this.rowsFrom(this.#top, this.body + 1) <= this.body;
  }

  /** Whether rows of the screen stay empty below the last block. */
  isShort(): boolean {
    return this.rowsFrom(this.#top, this.body) < this.body;
  }

  put(top: Place): void {
    this.#anchor = undefined;
    this.#top = top;
  }

  toEnd(): void {
    const last = this.#blocks.length - 1;
    this.put(
      last < 0 ? start : this.walk({ index: last, row: this.rowsOf(last).length }, "older", this.body).to,
    );
  }

  /** Moves by at most `count` rows, and as far as the screen stays full; answers by how many. */
  move(direction: Direction, count: number): number {
    if (direction === "older") {
      const { to, missing } = this.walk(this.#top, "older", count);
      this.put(to);
      return count - missing;
    }
    const moved = Math.min(count, Math.max(0, this.rowsFrom(this.#top, this.body + count) - this.body));
    if (moved > 0) this.put(this.walk(this.#top, "newer", moved).to);
    return moved;
  }

  /** Up until no row below the last block is empty, as far as there are blocks. Only for where nothing further can come. */
  fillFromAbove(): void {
    const anchor = this.#anchor;
    if (this.isShort()) this.toEnd();
    this.#anchor = anchor;
  }

  /** The top is a row that its block has. */
  settle(): void {
    const { index, row } = this.#top;
    const last = Math.max(0, this.rowsOf(index).length - 1);
    if (row > last) this.#top = { index, row: last };
  }

  clear(): void {
    this.#blocks = [];
    this.#indices.clear();
    this.put(start);
  }

  /**
   * Other blocks, or other versions of them. The row at the top stays; where its block is gone the nearest that is left takes its place.
   * Answers how many rows further down the top is then; 0 where it stays, or is further up.
   */
  replace(blocks: readonly PagerBlock[]): number {
    const indices = new Map(blocks.map(({ entry }, index) => [entry.name, index]));
    const { index: oldIndex, row } = this.#top;
    const old = this.entryAt(oldIndex);
    const kept = old === undefined ? undefined : indices.get(old.name);
    let skipped = 0;
    let next: { readonly index: number; readonly rowOf: (count: number) => number } | undefined;
    if (old !== undefined && kept !== undefined) {
      // What a block gains when the one above it becomes known stands at its head; what it gains as it grows, at its end.
      const below = this.rowsOf(oldIndex).length - row;
      const isSame = blocks[kept]?.entry === old;
      next = { index: kept, rowOf: (count) => (isSame ? Math.max(0, count - below) : row) };
    } else if (old !== undefined) {
      const isLeft = ({ entry }: PagerBlock): boolean => indices.has(entry.name);
      const after = this.#blocks.findIndex((block, index) => index > oldIndex && isLeft(block));
      const before = this.#blocks.findLastIndex((block, index) => index < oldIndex && isLeft(block));
      const nearest = indices.get(this.entryAt(after < 0 ? before : after)?.name ?? "");
      if (after >= 0) skipped = this.#rowsUntil(after);
      if (nearest !== undefined)
        next = { index: nearest, rowOf: (count) => (after < 0 ? Math.max(0, count - 1) : 0) };
    }
    this.#blocks = blocks;
    this.#indices = indices;
    if (next === undefined) this.put(start);
    else this.#top = { index: next.index, row: next.rowOf(this.rowsOf(next.index).length) };
    this.settle();
    return skipped;
  }

  /** Rows from the top to the first of block `end`. */
  #rowsUntil(end: number): number {
    let rows = -this.#top.row;
    for (let index = this.#top.index; index < end; index++) rows += this.rowsOf(index).length;
    return rows;
  }

  /** Another size. The word at the top stays there. */
  resize(columns: number, rows: number): void {
    const anchor = this.#takeAnchor();
    this.#columns = columns;
    this.#height = rows;
    const index = anchor === undefined ? undefined : this.#indices.get(anchor.name);
    if (anchor === undefined || index === undefined) return;
    this.#top = { index, row: rowOfWord(this.rowsOf(index), anchor.place) };
    this.#anchor = anchor;
  }

  #takeAnchor(): Anchor | undefined {
    if (this.#anchor !== undefined && this.#indices.has(this.#anchor.name)) return this.#anchor;
    const entry = this.entryAt(this.#top.index);
    if (entry === undefined) return undefined;
    return { name: entry.name, place: wordPlaceOf(this.rowsOf(this.#top.index), this.#top.row) };
  }
}
