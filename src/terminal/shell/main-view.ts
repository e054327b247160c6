/** The main screen's content: finished blocks printed once, live ones below them, a message and the status row. */
import type { Entry } from "../../transcript/index.ts";
import { type Notice, renderEntry, renderNotice, renderStatus, type Status } from "../render/index.ts";
import { type LiveCursor, roomOf, type Screen } from "../screen/index.ts";
import { type Line, splitRows } from "../text/index.ts";
import { GrowingBlock, growthOf, type LayoutOptions, type Printing } from "./growing-block.ts";
import { waitingBlocksMax } from "./limits.ts";

export interface ViewSize {
  readonly columns: number;
  readonly rows: number;
}

export interface MainViewOptions {
  readonly size: () => ViewSize;
  readonly status: () => Status;
  /** What all blocks are laid out with. */
  readonly layout: Pick<LayoutOptions, "time" | "highlighter" | "moreKey">;
  readonly now: () => number;
  /** What stands below the live blocks, in at most `rowsMax` rows of `width` cells. Absent: the message and the status row. */
  readonly foot?: (notice: Notice | undefined, status: Status, width: number, rowsMax: number) => ViewFoot;
  /** Whether the agent is at work: else nothing counts or spins. */
  readonly isRunning: () => boolean;
}

/** The rows below the live blocks, and where the person's cursor stands in them. */
export interface ViewFoot {
  readonly lines: readonly Line[];
  readonly cursor?: LiveCursor;
}

interface LiveBlock {
  entry: Entry;
  growing: GrowingBlock | undefined;
}

interface Finished {
  readonly entry: Entry;
  readonly growing: GrowingBlock | undefined;
}

/** Words of ours among the blocks. */
interface Aside {
  readonly words: (width: number) => readonly Line[];
}

const hint = (count: number): Line => ({
  spans: [{ text: `   … ${count} rows above`, tone: "dim" }],
  wrap: "fit",
});

/**
 * Draws through a screen. Blocks are printed in the order in which they finish; of the oldest live block, the lines that are settled are
 * printed while it grows. Nothing is printed twice: what is printed stays as it was.
 */
export class MainView {
  readonly #options: MainViewOptions;
  #screen: Screen;
  readonly #live = new Map<number, LiveBlock>();
  #last: Entry | undefined;
  #waiting: (Finished | Aside)[] = [];
  #skipped = 0;
  #isHeldBack = false;
  #notice: Notice | undefined;
  #spinnerFrame = 0;

  constructor(screen: Screen, options: MainViewOptions) {
    this.#screen = screen;
    this.#options = options;
  }

  /** Whether anything on the main screen changes by time alone. */
  get isSpinning(): boolean {
    for (const { entry } of this.#live.values()) {
      if (entry.kind === "streaming") return true;
      if (entry.kind !== "model") continue;
      for (const block of entry.blocks) {
        if (block.kind === "tool-use" && block.outcome?.state === "running") return true;
      }
    }
    return false;
  }

  /** The live blocks in order of opening. */
  liveEntries(): readonly Entry[] {
    return [...this.#live.values()].map((block) => block.entry);
  }

  /** A live block's newest version; it is drawn with the next `paint`. */
  setLive(id: number, entry: Entry): void {
    const block = this.#live.get(id);
    if (block === undefined) this.#live.set(id, { entry, growing: undefined });
    else block.entry = entry;
  }

  liveEntry(id: number): Entry | undefined {
    return this.#live.get(id)?.entry;
  }

  /** A block that was finished while the screen is painted again: it is printed with its slice. */
  dropLive(id: number): void {
    this.#live.delete(id);
  }

  /** Forgets the live blocks: a new tail is read. */
  clearLive(): void {
    this.#live.clear();
  }

  /** The block is finished: its lines, or the rest of them, are printed above the live ones. */
  finish(id: number | undefined, entry: Entry): void {
    const growing = id === undefined ? undefined : this.#live.get(id)?.growing;
    if (id !== undefined) this.#live.delete(id);
    this.print(entry, growing);
  }

  print(entry: Entry, growing?: GrowingBlock): void {
    if (!this.#isHeldBack) {
      this.#printNow({ entry, growing });
      return;
    }
    this.#wait({ entry, growing });
  }

  /** Prints our own words in their place among the blocks, also where these wait. */
  printAside(words: (width: number) => readonly Line[]): void {
    if (this.#isHeldBack) this.#wait({ words });
    else this.printWords(words);
  }

  /** Prints our own words among the blocks. */
  printWords(lines: (width: number) => readonly Line[]): void {
    this.#screen.commit({ lines: lines(this.#columns), relayout: lines });
  }

  setNotice(notice: Notice | undefined): void {
    this.#notice = notice;
  }

  spin(): void {
    this.#spinnerFrame += 1;
  }

  #wait(printing: Finished | Aside): void {
    this.#waiting.push(printing);
    if (this.#waiting.length <= waitingBlocksMax) return;
    if ("entry" in this.#waiting.shift()!) this.#skipped += 1;
  }

  /** Another has the terminal: finished blocks wait, to a limit. */
  holdBack(): void {
    this.#isHeldBack = true;
    this.#screen.suspend();
  }

  /** The terminal is ours again: what waited is printed, after `first`, which puts the screen right for a new size. */
  release(first?: () => void): void {
    if (!this.#isHeldBack) return;
    this.#isHeldBack = false;
    this.#screen.resume();
    first?.();
    if (this.#skipped > 0) {
      const skipped = this.#skipped;
      this.#skipped = 0;
      this.printWords((width) =>
        renderNotice(
          { tone: "information", text: `${skipped} blocks are in the history only (Ctrl+O)` },
          width,
        ),
      );
      this.#last = undefined;
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const printing of waiting) {
      if ("entry" in printing) this.#printNow(printing);
      else this.printWords(printing.words);
    }
    this.paint();
  }

  /** A new screen takes over (after a stop by Ctrl+Z): it knows nothing of what the old one printed. */
  useScreen(screen: Screen): void {
    this.#screen = screen;
  }

  /** The width is another one; printed lines are the screen's matter. */
  rebase(): void {
    for (const block of this.#live.values()) block.growing?.rebase(this.#columns);
  }

  /** Everything printed is gone from the terminal: live blocks start again. */
  restart(): void {
    this.#last = undefined;
    this.#waiting = [];
    this.#skipped = 0;
    for (const block of this.#live.values()) block.growing = undefined;
  }

  /** Draws the live region as it stands now. */
  paint(): void {
    if (this.#isHeldBack) return;
    const columns = this.#columns;
    const { rows } = this.#options.size();
    const lines = this.#liveLines(columns);
    const rowsMax = Math.max(1, rows - 1);
    const { lines: foot, cursor } = this.#foot(columns, rowsMax);
    const above = fitted(lines, columns, Math.max(0, rowsMax - foot.length));
    this.#screen.setLive(
      [...above, ...foot.slice(-rowsMax)],
      cursor === undefined ? undefined : { ...cursor, line: above.length + cursor.line },
    );
  }

  #foot(columns: number, rowsMax: number): ViewFoot {
    const status = this.#options.status();
    if (this.#options.foot !== undefined) return this.#options.foot(this.#notice, status, columns, rowsMax);
    const notice = this.#notice === undefined ? [] : renderNotice(this.#notice, columns);
    return { lines: [...notice, { spans: [], wrap: "fit" }, renderStatus(status, columns)] };
  }

  /** Cells that blocks are laid out for. */
  get #columns(): number {
    return roomOf(this.#options.size().columns);
  }

  #layout(previous: Entry | undefined): LayoutOptions {
    return { ...this.#options.layout, detail: "compact", ...(previous === undefined ? {} : { previous }) };
  }

  #commit(printing: Printing, entry: Entry): void {
    const isPrompt = entry.kind === "delivered" && entry.sender === "user";
    if (printing.lines.length > 0) this.#screen.commit(isPrompt ? { ...printing, isPrompt } : printing);
  }

  #printNow({ entry, growing }: Finished): void {
    const columns = this.#columns;
    const block = growing ?? new GrowingBlock(this.#layout(this.#last), columns);
    block.rebase(columns);
    this.#commit(block.finish(entry), entry);
    this.#last = entry;
  }

  /** The lines of the live blocks; those of the oldest that are settled go out. */
  #liveLines(columns: number): readonly Line[] {
    const lines: Line[] = [];
    let previous = this.#last;
    let isOldest = true;
    for (const block of this.#live.values()) {
      lines.push(...this.#linesOf(block, previous, columns, isOldest));
      previous = block.entry;
      isOldest = false;
    }
    return lines;
  }

  #linesOf(
    block: LiveBlock,
    previous: Entry | undefined,
    columns: number,
    isOldest: boolean,
  ): readonly Line[] {
    if (isOldest && growthOf(block.entry) !== undefined) {
      block.growing ??= new GrowingBlock(this.#layout(previous), columns);
      const printing = block.growing.grow(block.entry);
      if (printing !== "rewritten") {
        if (printing !== undefined) this.#commit(printing, block.entry);
        return block.growing.open;
      }
    }
    if (block.growing?.isStarted === true) return block.growing.finish(block.entry).lines;
    return renderEntry(block.entry, {
      ...this.#layout(previous),
      width: columns,
      ...(this.#options.isRunning() ? { now: this.#options.now(), spinnerFrame: this.#spinnerFrame } : {}),
    });
  }
}

/** At most `room` rows, the newest; a row on top says what is not shown. */
function fitted(lines: readonly Line[], columns: number, room: number): readonly Line[] {
  const rows: Line[] = [];
  let count = 0;
  for (let index = lines.length - 1; index >= 0; index--) {
    const split = splitRows(lines[index]!, columns);
    count += split.length;
    if (rows.length < room) rows.unshift(...split.slice(-(room - rows.length)));
  }
  if (count <= room) return rows;
  return room === 0 ? [] : [hint(count - room + 1), ...rows.slice(1)];
}
