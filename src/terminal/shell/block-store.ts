/** The blocks that the window holds or pages, by number: the only place where the shell keeps them. */
import type { Page, Position } from "../../session/index.ts";
import type { Entry } from "../../transcript/index.ts";
import type { WindowState } from "../../window/index.ts";

export interface Block {
  readonly entry: Entry;
  /** The positions around it in the log. */
  readonly start: Position;
  readonly end: Position;
}

/** The blocks of a page, in order. */
export function blocksOf(page: Page): readonly Block[] {
  return page.entries.map((entry, index) => ({
    entry,
    start: page.positions[index] ?? page.start,
    end: page.positions[index + 1] ?? page.end,
  }));
}

/** What stays known of the newest finished block when it is dropped. */
export interface NewestBlock {
  readonly number: number;
  readonly name: string;
  readonly end: Position;
}

type Anchor = "tail" | "start";

/**
 * Two runs of numbers, as the pager's anchor has them: the window's own, and (after a jump to the first block of the log) those that count
 * from there. Holds what the window holds and what the pager shows, no more: `prune` after each step.
 */
export class BlockStore {
  readonly #runs: Record<Anchor, Map<number, Block>> = { tail: new Map(), start: new Map() };

  #newest: NewestBlock | undefined;

  /** The newest finished block, held or not; undefined where there was none. */
  get newest(): NewestBlock | undefined {
    return this.#newest;
  }

  /** The position just before block `number`; also of the one that will come next. */
  startOf(anchor: Anchor, number: number): Position | undefined {
    const start = this.get(anchor, number)?.start;
    if (start !== undefined || anchor !== "tail") return start;
    return this.#newest?.number === number - 1 ? this.#newest.end : undefined;
  }

  get size(): number {
    return this.#runs.tail.size + this.#runs.start.size;
  }

  get(anchor: Anchor, number: number): Block | undefined {
    return this.#runs[anchor].get(number);
  }

  set(anchor: Anchor, number: number, block: Block): void {
    this.#runs[anchor].set(number, block);
    if (anchor === "tail" && number >= (this.#newest?.number ?? 0))
      this.#newest = { number, name: block.entry.name, end: block.end };
  }

  /** The blocks `[from, to)` that are here; all of them where the window holds or shows that range. */
  range(anchor: Anchor, from: number, to: number): readonly Block[] {
    const blocks: Block[] = [];
    for (let number = from; number < to; number++) {
      const block = this.#runs[anchor].get(number);
      if (block !== undefined) blocks.push(block);
    }
    return blocks;
  }

  /** Another version of a block's entry, wherever it is held; false where it is not. */
  revise(entry: Entry): boolean {
    let isFound = false;
    for (const run of Object.values(this.#runs)) {
      for (const [number, block] of run) {
        if (block.entry.name !== entry.name) continue;
        run.set(number, { ...block, entry });
        isFound = true;
      }
    }
    return isFound;
  }

  /** Marks the held blocks between two positions as off the path; tells how many. */
  leaveBranch(from: Position, to: Position): number {
    const numbers = [...this.#runs.tail.keys()].sort((a, b) => a - b);
    const first = numbers.find((number) => this.#runs.tail.get(number)?.start === from);
    if (first === undefined) return 0;
    let count = 0;
    for (const number of numbers) {
      if (number < first) continue;
      const block = this.#runs.tail.get(number);
      if (block === undefined || block.start === to) break;
      this.#runs.tail.set(number, { ...block, entry: { ...block.entry, offPath: true } });
      count += 1;
    }
    return count;
  }

  /** Numbers that count from the log's start become the window's own: `edge` is the start's number of the oldest held block. */
  reanchor(edge: number, heldFloor: number): void {
    for (const [number, block] of this.#runs.start) {
      const own = heldFloor - edge + number;
      if (!this.#runs.tail.has(own)) this.#runs.tail.set(own, block);
    }
    this.#runs.start.clear();
  }

  /** Forgets what the window neither holds nor shows. Costs what is stored, which the window's bounds limit. */
  prune(state: WindowState): void {
    const { ctrlo } = state;
    const isShown = (anchor: Anchor, number: number): boolean =>
      ctrlo.open && ctrlo.anchor === anchor && number >= ctrlo.lo && number < ctrlo.hi;
    for (const number of this.#runs.tail.keys()) {
      if (number < state.heldFloor && !isShown("tail", number)) this.#runs.tail.delete(number);
    }
    for (const number of this.#runs.start.keys()) {
      if (!isShown("start", number)) this.#runs.start.delete(number);
    }
  }

  clear(): void {
    this.#newest = undefined;
    this.#runs.tail.clear();
    this.#runs.start.clear();
  }
}
