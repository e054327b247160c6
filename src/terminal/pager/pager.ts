/** The pager: a view of rows over the blocks of the window. */
import type { Entry } from "../../transcript/index.ts";
import { type Key, keyName } from "../input/index.ts";
import type { Detail } from "../render/index.ts";
import { roomOf } from "../screen/index.ts";
import type { Line } from "../text/index.ts";
import { BlockLayouts, type BlockRow } from "./block-layout.ts";
import { entryText } from "./entry-text.ts";
import { helpRows } from "./help.ts";
import { choicesMax, needleUnitsMax, rawRecordsMax, wheelRows } from "./limits.ts";
import { highlighted, type Match, matchesIn, mayHold, type Needle, needleOf } from "./search.ts";
import { statusLine } from "./status.ts";
import type { Pager, PagerOptions, PagerRequest, PagerView } from "./types.ts";

export function createPager(options: PagerOptions): Pager & { readonly layouts: BlockLayouts } {
  return new HistoryPager(options);
}

type Direction = "older" | "newer";

/** What is still to be done when further blocks come. */
type Goal =
  | { readonly type: "rows"; readonly direction: Direction; readonly count: number }
  | { readonly type: "prompt"; readonly direction: Direction }
  | { readonly type: "start" }
  | { readonly type: "end" }
  | { readonly type: "find"; readonly direction: Direction; readonly from: Spot; readonly searched: number };

/** A row of a block, by the block's name: it stays the same when the window moves. */
interface Spot {
  readonly name: string;
  readonly row: number;
}

/** A row of a block, by the block's index in the window. */
interface Cursor {
  readonly index: number;
  readonly row: number;
}

const emptyView: PagerView = { blocks: [], atStart: true, atEnd: true, loading: false, newBlocks: 0 };

class HistoryPager implements Pager {
  readonly layouts: BlockLayouts;
  #view: PagerView = emptyView;
  #indices = new Map<string, number>();
  #columns = 80;
  #height = 24;
  #top: Cursor = { index: 0, row: 0 };
  #isFollowing = true;
  #goal: Goal | undefined;
  #isAsking = false;
  #defaultDetail: Detail = "full";
  readonly #choices = new Map<string, Detail>();
  readonly #raw = new Map<string, { readonly bytes: Uint8Array; readonly isCut: boolean }>();
  #needle: Needle | undefined;
  #match: { readonly name: string; readonly ordinal: number } | undefined;
  #typed: string | undefined;
  #message: string | undefined;
  #isHelpUp = false;

  constructor(options: PagerOptions) {
    this.layouts = new BlockLayouts(options.layout);
  }

  // The window

  reset(): void {
    this.#view = emptyView;
    this.#indices.clear();
    this.#top = { index: 0, row: 0 };
    this.#isFollowing = true;
    this.#goal = undefined;
    this.#isAsking = false;
    this.#needle = undefined;
    this.#match = undefined;
    this.#typed = undefined;
    this.#message = undefined;
    this.#isHelpUp = false;
  }

  show(view: PagerView): readonly PagerRequest[] {
    const spot = this.#spotOf(this.#top);
    this.#view = view;
    this.#indices = new Map(view.blocks.map((block, index) => [block.entry.name, index]));
    this.#isAsking = view.loading;
    const index = spot === undefined ? undefined : this.#indices.get(spot.name);
    if (this.#isFollowing && view.atEnd && this.#goal === undefined) {
      this.#toEnd();
    } else if (index !== undefined && spot !== undefined) {
      this.#top = { index, row: Math.min(spot.row, Math.max(0, this.#rowsOf(index).length - 1)) };
    } else if (
      this.#goal?.type === "start" ||
      (this.#goal !== undefined && "direction" in this.#goal && this.#goal.direction === "newer")
    ) {
      this.#top = { index: 0, row: 0 };
    } else {
      this.#toEnd();
    }
    return this.#goOn();
  }

  giveRaw(name: string, bytes: Uint8Array, isCut: boolean): void {
    this.#raw.delete(name);
    this.#raw.set(name, { bytes, isCut });
    for (const old of this.#raw.keys()) {
      if (this.#raw.size <= rawRecordsMax) break;
      this.#raw.delete(old);
    }
  }

  failed(message: string): void {
    this.#goal = undefined;
    this.#isAsking = false;
    this.#message = message;
  }

  resize(columns: number, rows: number): void {
    if (columns === this.#columns && rows === this.#height) return;
    const isFollowing = this.#isFollowing;
    const fraction = this.#fractionOf(this.#top);
    this.#columns = columns;
    this.#height = rows;
    if (isFollowing && this.#view.atEnd) {
      this.#toEnd();
      return;
    }
    const count = this.#rowsOf(this.#top.index).length;
    this.#top = {
      index: this.#top.index,
      row: Math.min(Math.max(0, count - 1), Math.round(fraction * count)),
    };
    this.#clamp();
  }

  // Rows

  get #body(): number {
    return Math.max(1, this.#height - 1);
  }

  get #room(): number {
    return roomOf(this.#columns);
  }

  #detailOf(entry: Entry): Detail {
    return this.#choices.get(entry.name) ?? this.#defaultDetail;
  }

  #rowsOf(index: number): readonly BlockRow[] {
    const block = this.#view.blocks[index];
    if (block === undefined) return [];
    const { entry } = block;
    const detail = this.#detailOf(entry);
    const raw = detail === "raw" ? this.#raw.get(entry.name) : undefined;
    return this.layouts.rowsOf({
      entry,
      previous: this.#view.blocks[index - 1]?.entry,
      detail,
      width: this.#room,
      ...(raw === undefined ? {} : raw),
    });
  }

  #spotOf({ index, row }: Cursor): Spot | undefined {
    const block = this.#view.blocks[index];
    return block === undefined ? undefined : { name: block.entry.name, row };
  }

  #fractionOf({ index, row }: Cursor): number {
    const count = this.#rowsOf(index).length;
    return count === 0 ? 0 : row / count;
  }

  /** The place `count` rows further on, and how many rows were missing. Lays out what it passes. */
  #walk(
    from: Cursor,
    direction: Direction,
    count: number,
  ): { readonly to: Cursor; readonly missing: number } {
    let { index, row } = from;
    let left = count;
    if (direction === "older") {
      while (left > row) {
        if (index <= 0) return { to: { index: 0, row: 0 }, missing: left - row };
        left -= row;
        index -= 1;
        row = this.#rowsOf(index).length;
      }
      return { to: { index, row: row - left }, missing: 0 };
    }
    const last = this.#view.blocks.length - 1;
    for (;;) {
      const rest = this.#rowsOf(index).length - row;
      if (left < rest) return { to: { index, row: row + left }, missing: 0 };
      if (index >= last)
        return { to: { index, row: row + Math.max(0, rest - 1) }, missing: left - Math.max(0, rest - 1) };
      left -= rest;
      index += 1;
      row = 0;
    }
  }

  /** The top of the last full screen of the window. */
  #endTop(): Cursor {
    const last = this.#view.blocks.length - 1;
    if (last < 0) return { index: 0, row: 0 };
    const end = { index: last, row: this.#rowsOf(last).length };
    return this.#walk(end, "older", this.#body).to;
  }

  #isPast(a: Cursor, b: Cursor): boolean {
    return a.index > b.index || (a.index === b.index && a.row > b.row);
  }

  #toEnd(): void {
    this.#top = this.#endTop();
  }

  /** The last row is never above the end of the view. */
  #clamp(): void {
    const end = this.#endTop();
    if (this.#isPast(this.#top, end)) this.#top = end;
  }

  // Moves

  #isEdge(direction: Direction): boolean {
    return direction === "older" ? this.#view.atStart : this.#view.atEnd;
  }

  /** Asks for blocks that way, unless it is the end of the log or an answer is awaited. */
  #ask(direction: Direction): readonly PagerRequest[] {
    if (this.#isAsking || this.#isEdge(direction)) return [];
    this.#isAsking = true;
    return [{ type: direction }];
  }

  #move(direction: Direction, count: number): readonly PagerRequest[] {
    this.#message = undefined;
    let missing: number;
    if (direction === "older") {
      const walked = this.#walk(this.#top, "older", count);
      this.#top = walked.to;
      missing = walked.missing;
    } else {
      const end = this.#endTop();
      const walked = this.#walk(this.#top, "newer", count);
      const isBeyond = this.#isPast(walked.to, end) || walked.missing > 0;
      missing = isBeyond ? count - this.#rowsBetween(this.#top, end) : 0;
      if (isBeyond && !this.#isPast(this.#top, end)) this.#top = end;
    }
    this.#isFollowing = direction === "newer" && this.#view.atEnd && !this.#isPast(this.#endTop(), this.#top);
    if (missing > 0 && !this.#isEdge(direction)) {
      this.#goal = { type: "rows", direction, count: missing };
      return this.#ask(direction);
    }
    this.#goal = undefined;
    return this.#prefetch(direction);
  }

  #rowsBetween(from: Cursor, to: Cursor): number {
    if (from.index === to.index) return Math.max(0, to.row - from.row);
    let count = this.#rowsOf(from.index).length - from.row;
    for (let index = from.index + 1; index < to.index; index++) count += this.#rowsOf(index).length;
    return from.index > to.index ? 0 : count + to.row;
  }

  /** Blocks are asked for before they are needed: when less than a screen is left that way. */
  #prefetch(direction: Direction): readonly PagerRequest[] {
    if (this.#isEdge(direction) || this.#view.blocks.length === 0)
      return this.#view.blocks.length === 0 ? this.#ask(direction) : [];
    const rows = direction === "older" ? this.#body : 2 * this.#body;
    return this.#walk(this.#top, direction, rows).missing > 0 ? this.#ask(direction) : [];
  }

  /** Carries on what waited for blocks. */
  #goOn(): readonly PagerRequest[] {
    const goal = this.#goal;
    if (this.#isAsking) return [];
    if (goal === undefined) {
      // An empty or short window at the end fills up from the log.
      if (!this.#view.atStart && this.#walk(this.#endTop(), "older", 1).missing > 0 && this.#isShort())
        return this.#ask("older");
      return [];
    }
    this.#goal = undefined;
    switch (goal.type) {
      case "rows":
        return this.#move(goal.direction, goal.count);
      case "prompt":
        return this.#toPrompt(goal.direction);
      case "start":
        return this.#toStart();
      case "end":
        return this.#toNewest();
      case "find":
        return this.#find(goal.direction, goal.from, goal.searched);
    }
  }

  /** Whether all blocks together do not fill the screen. */
  #isShort(): boolean {
    let rows = 0;
    for (let index = this.#view.blocks.length - 1; index >= 0; index--) {
      rows += this.#rowsOf(index).length;
      if (rows >= this.#body) return false;
    }
    return true;
  }

  #toStart(): readonly PagerRequest[] {
    this.#isFollowing = false;
    this.#top = { index: 0, row: 0 };
    if (this.#view.atStart) return [];
    this.#goal = { type: "start" };
    if (this.#isAsking) return [{ type: "start" }];
    this.#isAsking = true;
    return [{ type: "start" }];
  }

  #toNewest(): readonly PagerRequest[] {
    this.#isFollowing = true;
    if (this.#view.atEnd) {
      this.#toEnd();
      return [];
    }
    this.#goal = { type: "end" };
    return [{ type: "end" }];
  }

  #toPrompt(direction: Direction): readonly PagerRequest[] {
    const { blocks } = this.#view;
    const step = direction === "older" ? -1 : 1;
    const isOnTop = this.#top.row === 0 || this.#headRow(this.#top.index) >= this.#top.row;
    const first = direction === "older" && !isOnTop ? this.#top.index : this.#top.index + step;
    for (let index = first; index >= 0 && index < blocks.length; index += step) {
      const { entry } = blocks[index]!;
      if (entry.kind !== "delivered" || entry.sender !== "user") continue;
      this.#isFollowing = false;
      this.#top = { index, row: this.#headRow(index) };
      if (direction === "newer") this.#clamp();
      return [];
    }
    if (this.#isEdge(direction)) {
      this.#message = direction === "older" ? "no prompt before this one" : "no prompt after this one";
      return [];
    }
    this.#isFollowing = false;
    this.#goal = { type: "prompt", direction };
    return this.#ask(direction);
  }

  /** The first row of a block that has something on it. */
  #headRow(index: number): number {
    const rows = this.#rowsOf(index);
    return rows.length > 1 && rows[0]!.line.spans.length === 0 ? 1 : 0;
  }

  // Search

  #startSearch(text: string): readonly PagerRequest[] {
    this.#needle = needleOf(text);
    this.#match = undefined;
    if (this.#needle === undefined) return [];
    const { index } = this.#bottom();
    const block = this.#view.blocks[index];
    if (block === undefined) return [];
    return this.#find("older", { name: block.entry.name, row: Number.POSITIVE_INFINITY }, 0);
  }

  /** The last row that is seen. */
  #bottom(): Cursor {
    return this.#walk(this.#top, "newer", this.#body - 1).to;
  }

  #again(direction: Direction): readonly PagerRequest[] {
    if (this.#needle === undefined) {
      this.#message = "nothing searched yet: /";
      return [];
    }
    const { index } = this.#top;
    const at = this.#match;
    const known = at === undefined ? undefined : this.#indices.get(at.name);
    const isSeen = known !== undefined && at !== undefined && this.#isSeen(known, at.ordinal);
    if (isSeen && at !== undefined) {
      const next = at.ordinal + (direction === "older" ? -1 : 1);
      if (this.#matchesOf(known)[next] !== undefined) return this.#reach(known, next);
      return this.#find(
        direction,
        { name: at.name, row: direction === "older" ? -1 : Number.POSITIVE_INFINITY },
        0,
      );
    }
    const from = direction === "older" ? this.#bottom() : this.#top;
    const block = this.#view.blocks[from.index] ?? this.#view.blocks[index];
    if (block === undefined) return [];
    return this.#find(direction, { name: block.entry.name, row: from.row }, 0);
  }

  #isSeen(index: number, ordinal: number): boolean {
    const row = this.#matchesOf(index)[ordinal]?.[0]?.row;
    if (row === undefined) return false;
    const place = { index, row };
    return !this.#isPast(this.#top, place) && !this.#isPast(place, this.#bottom());
  }

  #matchesOf(index: number): readonly Match[] {
    const block = this.#view.blocks[index];
    if (block === undefined || this.#needle === undefined || !mayHold(block.entry, this.#needle)) return [];
    return matchesIn(this.#rowsOf(index), this.#needle);
  }

  /** Looks from `from` on, its row excluded; goes on reading where the window holds no match. */
  #find(direction: Direction, from: Spot, searchedBefore: number): readonly PagerRequest[] {
    const step = direction === "older" ? -1 : 1;
    const { blocks } = this.#view;
    const start = this.#indices.get(from.name) ?? (direction === "older" ? blocks.length - 1 : 0);
    let searched = searchedBefore;
    for (let index = start; index >= 0 && index < blocks.length; index += step) {
      searched += 1;
      const matches = this.#matchesOf(index);
      const ordinals = [...matches.keys()];
      if (direction === "older") ordinals.reverse();
      const isStart = index === start && blocks[index]!.entry.name === from.name;
      const ordinal = ordinals.find((candidate) => {
        const { row } = matches[candidate]![0]!;
        return !isStart || (direction === "older" ? row < from.row : row > from.row);
      });
      if (ordinal !== undefined) return this.#reach(index, ordinal);
    }
    if (this.#isEdge(direction)) {
      this.#message = `not found ${direction === "older" ? "before" : "after"} this`;
      return [];
    }
    const edge = direction === "older" ? blocks[0] : blocks.at(-1);
    // The edge block itself is done: the next one is looked at whole.
    const next =
      edge === undefined
        ? from
        : { name: edge.entry.name, row: direction === "older" ? -1 : Number.POSITIVE_INFINITY };
    this.#goal = { type: "find", direction, from: next, searched };
    this.#isFollowing = false;
    return this.#ask(direction);
  }

  /** Brings a match into view, a third of the screen down where there is room. */
  #reach(index: number, ordinal: number): readonly PagerRequest[] {
    const match = this.#matchesOf(index)[ordinal];
    const name = this.#view.blocks[index]?.entry.name;
    if (match === undefined || name === undefined) return [];
    this.#match = { name, ordinal };
    this.#message = undefined;
    this.#isFollowing = false;
    if (!this.#isSeen(index, ordinal)) {
      this.#top = this.#walk({ index, row: match[0]!.row }, "older", Math.floor(this.#body / 3)).to;
      this.#clamp();
    }
    return [];
  }

  // Keys

  key(key: Key): readonly PagerRequest[] {
    if (this.#isHelpUp) {
      this.#isHelpUp = false;
      return [];
    }
    if (this.#typed !== undefined) return this.#typeNeedle(key);
    const name = keyName(key);
    if (this.#goal?.type === "find" && (name === "escape" || name === "ctrl+c")) {
      this.#goal = undefined;
      this.#message = "search stopped";
      return [];
    }
    return this.#command(name);
  }

  #command(name: string): readonly PagerRequest[] {
    const page = this.#body;
    switch (name) {
      case "up":
      case "k":
      case "ctrl+p":
        return this.#move("older", 1);
      case "down":
      case "j":
      case "enter":
      case "ctrl+n":
        return this.#move("newer", 1);
      case "wheelup":
        return this.#move("older", wheelRows);
      case "wheeldown":
        return this.#move("newer", wheelRows);
      case "pageup":
      case "b":
      case "ctrl+b":
        return this.#move("older", page);
      case "pagedown":
      case "space":
      case "f":
      case "ctrl+f":
        return this.#move("newer", page);
      case "ctrl+u":
        return this.#move("older", Math.max(1, Math.floor(page / 2)));
      case "ctrl+d":
        return this.#move("newer", Math.max(1, Math.floor(page / 2)));
      case "home":
      case "g":
        this.#message = undefined;
        return this.#toStart();
      case "end":
      case "G":
        this.#message = undefined;
        return this.#toNewest();
      case "{":
      case "alt+up":
        this.#message = undefined;
        return this.#toPrompt("older");
      case "}":
      case "alt+down":
        this.#message = undefined;
        return this.#toPrompt("newer");
      case "/":
      case "ctrl+s":
        this.#typed = "";
        return [];
      case "n":
        return this.#again("older");
      case "N":
        return this.#again("newer");
      case "d":
        return this.#choose(this.#currentEntry(), "compact");
      case "D":
        return this.#chooseAll();
      case "r":
        return this.#choose(this.#currentEntry(), "raw");
      case "y":
        return this.#copy();
      case "?":
        this.#isHelpUp = true;
        return [];
      case "q":
      case "escape":
      case "ctrl+o":
      case "ctrl+c":
        return [{ type: "close" }];
      default:
        return [];
    }
  }

  #typeNeedle(key: Key): readonly PagerRequest[] {
    const typed = this.#typed ?? "";
    const name = keyName(key);
    if (name === "escape" || name === "ctrl+c" || (name === "backspace" && typed === "")) {
      this.#typed = undefined;
    } else if (name === "enter") {
      this.#typed = undefined;
      return this.#startSearch(typed);
    } else if (name === "backspace") {
      this.#typed = Array.from(typed).slice(0, -1).join("");
    } else if (name === "ctrl+u") {
      this.#typed = "";
    } else if (key.text !== undefined && key.ctrl === undefined && key.alt === undefined) {
      this.#typed = (typed + key.text.replace(/\s+/g, " ")).slice(0, needleUnitsMax);
    }
    return [];
  }

  /** The block that keys act on: the first whose head is seen, else the one that fills the top. */
  #currentIndex(): number {
    const { index, row } = this.#top;
    if (row <= this.#headRow(index)) return index;
    const next = index + 1;
    const head = { index: next, row: this.#headRow(next) };
    return next < this.#view.blocks.length && !this.#isPast(head, this.#bottom()) ? next : index;
  }

  #currentEntry(): Entry | undefined {
    return this.#view.blocks[this.#currentIndex()]?.entry;
  }

  /** Turns a block to `detail`, or back. Its first row stays where it is. */
  #choose(entry: Entry | undefined, detail: Detail): readonly PagerRequest[] {
    if (entry === undefined) return [];
    const isOn = this.#detailOf(entry) === detail;
    const other =
      detail === "compact" ? "full" : this.#defaultDetail === "raw" ? "full" : this.#defaultDetail;
    this.#choices.delete(entry.name);
    const wanted = isOn ? other : detail;
    if (wanted !== this.#defaultDetail) this.#choices.set(entry.name, wanted);
    for (const old of this.#choices.keys()) {
      if (this.#choices.size <= choicesMax) break;
      this.#choices.delete(old);
    }
    const index = this.#currentIndex();
    if (index === this.#top.index) this.#top = { index, row: Math.min(this.#top.row, this.#headRow(index)) };
    this.#clamp();
    this.#match = undefined;
    if (wanted !== "raw" || this.#raw.has(entry.name)) return [];
    if (entry.place !== undefined) return [{ type: "raw", entry }];
    this.#message = "not in the log: made from what surrounds it";
    return [];
  }

  #chooseAll(): readonly PagerRequest[] {
    const spot = this.#top;
    this.#defaultDetail = this.#defaultDetail === "full" ? "compact" : "full";
    this.#choices.clear();
    this.#match = undefined;
    this.#top = {
      index: spot.index,
      row: Math.min(spot.row, Math.max(0, this.#rowsOf(spot.index).length - 1)),
    };
    this.#clamp();
    return this.#goOn();
  }

  #copy(): readonly PagerRequest[] {
    const entry = this.#currentEntry();
    if (entry === undefined) return [];
    const text = entryText(entry);
    this.#message = text === "" ? "nothing to copy" : `copied ${text.length.toLocaleString("en")} characters`;
    return text === "" ? [] : [{ type: "copy", text }];
  }

  // Drawing

  rows(): readonly Line[] {
    const body = this.#isHelpUp ? helpRows(this.#room, this.#body) : this.#bodyRows();
    if (this.#height <= 1) return body.slice(0, 1);
    return [...body, this.#status()];
  }

  #bodyRows(): readonly Line[] {
    const lines: Line[] = [];
    const current = this.#currentIndex();
    let { index, row } = this.#top;
    while (lines.length < this.#body && index < this.#view.blocks.length) {
      const rows = this.#rowsOf(index);
      const matches = this.#needle === undefined ? [] : this.#matchesOf(index);
      for (; row < rows.length && lines.length < this.#body; row++) {
        const pieces = matches.flat().filter((piece) => piece.row === row);
        const line = highlighted(rows[row]!.line, pieces);
        lines.push(index === current ? marked(line) : line);
      }
      index += 1;
      row = 0;
    }
    while (lines.length < this.#body) lines.push({ spans: [], wrap: "fit" });
    return lines;
  }

  #status(): Line {
    const goal = this.#goal;
    const entry = this.#view.blocks[this.#currentIndex()]?.entry;
    return statusLine(
      {
        typed: this.#typed,
        searching: goal?.type === "find" ? goal.searched : undefined,
        isLoading: this.#view.loading || this.#isAsking,
        message: this.#message,
        newBlocks: this.#view.newBlocks,
        isAtStart: this.#view.atStart && this.#top.index === 0 && this.#top.row === 0,
        isAtEnd: this.#view.atEnd && !this.#isPast(this.#endTop(), this.#top),
        entry,
        detail: entry === undefined ? "full" : this.#detailOf(entry),
      },
      this.#room,
    );
  }
}

/** The first blank of a row of the current block becomes a quiet mark. */
function marked(line: Line): Line {
  const [first, ...others] = line.spans;
  if (first === undefined || !first.text.startsWith(" ")) return line;
  const rest = first.text.slice(1);
  return {
    ...line,
    spans: [{ text: "▏", tone: "rule" }, ...(rest === "" ? [] : [{ ...first, text: rest }]), ...others],
  };
}
