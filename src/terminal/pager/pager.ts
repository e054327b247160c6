/** The pager: moves and searches over the blocks of the window, and what it must wait for. */
import type { Entry } from "../../transcript/index.ts";
import { type Key, keyName } from "../input/index.ts";
import { createClock, type TimeFormat } from "../render/index.ts";
import type { Line } from "../text/index.ts";
import type { BlockLayouts } from "./block-layout.ts";
import { type Command, commandOf, helpRows } from "./commands.ts";
import { bodyRows, percentOf, rowsSeenOf } from "./drawing.ts";
import { entryText } from "./entry-text.ts";
import { Finder, type Spot } from "./finder.ts";
import { fruitlessAsksMax, needleUnitsMax, waitingRowsMax, wheelRows } from "./limits.ts";
import { statusLine } from "./status.ts";
import type { Pager, PagerOptions, PagerRequest, PagerView, WindowReach } from "./types.ts";
import { type Direction, isPast, Viewport } from "./viewport.ts";

/** The pager; `layouts` tells what was laid out. */
export function createPager(options: PagerOptions): Pager & { readonly layouts: BlockLayouts } {
  return new HistoryPager(options);
}

/** Rows to move, of which `moved` are done. */
interface RowMove {
  readonly type: "rows";
  readonly direction: Direction;
  readonly count: number;
  readonly moved: number;
  readonly isPage: boolean;
}

/** What is still to be done when further blocks come. */
type Goal =
  | RowMove
  | { readonly type: "prompt"; readonly direction: Direction }
  | { readonly type: "start" | "end" }
  | { readonly type: "find"; readonly direction: Direction; readonly from: Spot; readonly so: SearchSoFar };

interface SearchSoFar {
  /** Blocks looked at. */
  readonly searched: number;
  /** Where a new search began: where nothing is found before it, and it is near still, what comes after it is looked at. */
  readonly origin?: Spot;
  /** Everything before the origin was looked at. */
  readonly isSecondHalf?: true;
}

type EdgeRequest = "older" | "newer" | "start" | "end";

const emptyView: PagerView = { blocks: [], atStart: true, atEnd: true, loading: false, newBlocks: 0 };

class HistoryPager implements Pager {
  readonly layouts: BlockLayouts;
  readonly #viewport: Viewport;
  readonly #finder: Finder;
  readonly #time: TimeFormat;
  readonly #windowReach: WindowReach;
  #view: PagerView = emptyView;
  #isFollowing = true;
  /** The newest block when the end was on the screen last. */
  #newestSeen: string | undefined;
  #goal: Goal | undefined;
  #isAsking = false;
  /** What was asked for last, and the edge of the window it was asked at. */
  #asked: { readonly type: EdgeRequest; readonly edge: string | undefined } | undefined;
  #fruitlessAsks = 0;
  /** A page that met the end of the session: how far it got, so that the page back undoes it. */
  #shortPage: { readonly direction: Direction; readonly count: number } | undefined;
  /** The block that was folded or unfolded last: it stays the current one until something else is done. */
  #held: string | undefined;
  #typed: string | undefined;
  #message: string | undefined;
  #isHelpUp = false;

  constructor(options: PagerOptions) {
    this.#viewport = new Viewport(options.layout);
    this.layouts = this.#viewport.layouts;
    this.#finder = new Finder(this.#viewport);
    this.#windowReach = options.reach ?? { blocksMax: Number.POSITIVE_INFINITY, stepMax: 0 };
    this.#time = options.layout.time ?? createClock();
  }

  // The window

  reset(): void {
    this.#viewport.clear();
    this.#finder.forget();
    this.#view = emptyView;
    this.#isFollowing = true;
    this.#newestSeen = undefined;
    this.#goal = undefined;
    this.#isAsking = false;
    this.#asked = undefined;
    this.#fruitlessAsks = 0;
    this.#shortPage = undefined;
    this.#held = undefined;
    this.#typed = undefined;
    this.#message = undefined;
    this.#isHelpUp = false;
  }

  show(view: PagerView): readonly PagerRequest[] {
    this.#view = view;
    const skipped = this.#viewport.replace(view.blocks);
    const goal = this.#goal;
    if (goal?.type === "rows" && goal.direction === "newer" && skipped > 0)
      this.#goal = moveBy(goal, skipped);
    this.#isAsking = view.loading;
    if (!view.loading) this.#judgeAnswer();
    if (this.#isFollowing && view.atEnd && this.#goal === undefined) {
      const { top } = this.#viewport;
      this.#viewport.toEnd();
      if (isPast(this.#viewport.top, top)) this.#shortPage = undefined;
      this.#newestSeen = view.blocks.at(-1)?.entry.name;
    }
    return this.#goOn();
  }

  giveRaw(name: string, bytes: Uint8Array, isCut: boolean): void {
    this.#viewport.details.giveRaw(name, { bytes, isCut });
    this.#viewport.settle();
  }

  failed(message: string): void {
    this.#goal = undefined;
    this.#isAsking = false;
    this.#asked = undefined;
    this.#message = message;
  }

  resize(columns: number, rows: number): readonly PagerRequest[] {
    this.#shortPage = undefined;
    this.#viewport.resize(columns, rows);
    if (this.#isFollowing && this.#view.atEnd && this.#goal === undefined) this.#viewport.toEnd();
    return this.#goal === undefined ? this.#fill() : [];
  }

  // Further blocks

  #isEdge(direction: Direction): boolean {
    return direction === "older" ? this.#view.atStart : this.#view.atEnd;
  }

  #edgeName(type: EdgeRequest): string | undefined {
    return type === "older" ? this.#view.blocks[0]?.entry.name : this.#view.blocks.at(-1)?.entry.name;
  }

  /** Asks for blocks that way, unless it is the end of the log or an answer is awaited. */
  #ask(type: EdgeRequest): readonly PagerRequest[] {
    const isThere = type === "older" || type === "start" ? this.#view.atStart : this.#view.atEnd;
    if (isThere || this.#isAsking || this.#fruitlessAsks >= fruitlessAsksMax) return [];
    this.#isAsking = true;
    this.#asked = { type, edge: this.#edgeName(type) };
    return [{ type }];
  }

  /** A request that brings nothing is made again a few times (the window may have moved meanwhile), then no more. */
  #judgeAnswer(): void {
    const asked = this.#asked;
    this.#asked = undefined;
    if (asked === undefined) return;
    const { type, edge } = asked;
    const isThere = type === "older" || type === "start" ? this.#view.atStart : this.#view.atEnd;
    const isFurther = (type === "older" || type === "newer") && this.#edgeName(type) !== edge;
    this.#fruitlessAsks = isThere || isFurther ? 0 : this.#fruitlessAsks + 1;
    if (this.#fruitlessAsks < fruitlessAsksMax || this.#goal === undefined) return;
    this.#goal = undefined;
    this.#message = "nothing further can be read";
  }

  /** Carries on what waited for blocks. */
  #goOn(): readonly PagerRequest[] {
    const goal = this.#goal;
    if (this.#isAsking) return [];
    this.#goal = undefined;
    switch (goal?.type) {
      case "rows":
        return this.#move(goal);
      case "prompt":
        return this.#toPrompt(goal.direction);
      case "start":
      case "end":
        return this.#jump(goal.type);
      case "find":
        return this.#find(goal.direction, goal.from, goal.so);
      case undefined:
        return this.#fill();
    }
  }

  /** Fills what is empty below the last block: from the log that way, else from above. The window must not slide for it. */
  #fill(): readonly PagerRequest[] {
    const viewport = this.#viewport;
    if (!viewport.isShort()) return [];
    if (this.#view.atEnd) viewport.fillFromAbove();
    if (!viewport.isShort()) return [];
    const { blocksMax, stepMax } = this.#windowReach;
    const finished = viewport.blocks.length - viewport.blocks.filter(({ live }) => live === true).length;
    if (finished + stepMax > blocksMax) return [];
    return this.#ask(this.#view.atEnd ? "older" : "newer");
  }

  /** Blocks are asked for before they are needed: when less than a screen is left that way. */
  #prefetch(direction: Direction): readonly PagerRequest[] {
    const { top, body } = this.#viewport;
    if (this.#isEdge(direction)) return [];
    const isNear =
      direction === "older"
        ? this.#viewport.walk(top, "older", body).missing > 0
        : this.#viewport.rowsFrom(top, 2 * body + 1) <= 2 * body;
    return isNear ? this.#ask(direction) : [];
  }

  // Moves

  /** Moves on; what an earlier key that way still waits for is done as well. */
  #moveRows(direction: Direction, count: number, isPage = false): readonly PagerRequest[] {
    const goal = this.#goal;
    this.#goal = undefined;
    if (goal?.type !== "rows" || goal.direction !== direction)
      return this.#move({ type: "rows", direction, count, moved: 0, isPage });
    return this.#move({
      type: "rows",
      direction,
      count: Math.min(waitingRowsMax, goal.count + count),
      moved: 0,
      isPage: false,
    });
  }

  #move(move: RowMove): readonly PagerRequest[] {
    const { direction } = move;
    const moved = this.#viewport.move(direction, move.count);
    const rest = moveBy(move, moved);
    this.#noteFollowing();
    if (rest.count > 0 && !this.#isEdge(direction)) {
      this.#goal = rest;
      return this.#ask(direction);
    }
    if (rest.isPage && rest.count > 0 && rest.moved > 0) this.#shortPage = { direction, count: rest.moved };
    return this.#prefetch(direction);
  }

  #page(
    direction: Direction,
    short: { readonly direction: Direction; readonly count: number } | undefined,
  ): readonly PagerRequest[] {
    const isBack = short !== undefined && short.direction !== direction;
    return this.#moveRows(direction, isBack ? short.count : this.#viewport.body, true);
  }

  #noteFollowing(): void {
    this.#isFollowing = this.#view.atEnd && this.#viewport.isAtEnd();
    if (this.#isFollowing) this.#newestSeen = this.#view.blocks.at(-1)?.entry.name;
  }

  #jump(to: "start" | "end"): readonly PagerRequest[] {
    const isThere = to === "start" ? this.#view.atStart : this.#view.atEnd;
    this.#isFollowing = to === "end";
    if (to === "start") this.#viewport.put({ index: 0, row: 0 });
    else if (isThere) this.#viewport.toEnd();
    if (isThere) return this.#fill();
    this.#goal = { type: to };
    return this.#ask(to);
  }

  #toPrompt(direction: Direction): readonly PagerRequest[] {
    const viewport = this.#viewport;
    const { top, blocks } = viewport;
    const step = direction === "older" ? -1 : 1;
    const isInside = direction === "older" && top.row > viewport.headRow(top.index);
    for (let index = isInside ? top.index : top.index + step; ; index += step) {
      const entry = blocks[index]?.entry;
      if (entry === undefined) break;
      if (entry.kind !== "delivered" || entry.sender !== "user") continue;
      viewport.put({ index, row: viewport.headRow(index) });
      this.#isFollowing = false;
      const filling = this.#fill();
      return filling.length > 0 ? filling : this.#prefetch(direction);
    }
    if (this.#isEdge(direction)) {
      this.#message = direction === "older" ? "no prompt before this one" : "no prompt after this one";
      return [];
    }
    this.#isFollowing = false;
    this.#goal = { type: "prompt", direction };
    return this.#ask(direction);
  }

  // Search

  #startSearch(text: string): readonly PagerRequest[] {
    if (!this.#finder.seek(text)) return [];
    const from = this.#finder.fromBottom();
    return from === undefined ? [] : this.#find("older", from, { searched: 0, origin: from });
  }

  #findAgain(direction: Direction): readonly PagerRequest[] {
    if (!this.#finder.isSeeking) {
      this.#message = "nothing searched yet: /";
      return [];
    }
    const from = this.#finder.from(direction);
    return from === undefined ? [] : this.#find(direction, from, { searched: 0 });
  }

  /** Looks from `from` on; goes on reading where the window holds no match. */
  #find(direction: Direction, from: Spot, so: SearchSoFar): readonly PagerRequest[] {
    const { blocks } = this.#viewport;
    const step = direction === "older" ? -1 : 1;
    const known = this.#viewport.indexOf(from.name);
    const first = known ?? (direction === "older" ? blocks.length - 1 : 0);
    let { searched } = so;
    for (let index = first; index >= 0 && index < blocks.length; index += step) {
      const match = this.#finder.find(index, direction, index === known ? from.at : undefined);
      if (match !== undefined) return this.#reach(index, match);
      // The block where a read goes on was counted before it.
      if (index !== known || so.searched === 0) searched += 1;
    }
    if (this.#isEdge(direction)) {
      if (so.origin !== undefined && this.#viewport.indexOf(so.origin.name) !== undefined)
        return this.#find("newer", so.origin, { searched, isSecondHalf: true });
      this.#message =
        so.isSecondHalf === true
          ? "not found in this session"
          : direction === "older"
            ? "not found before this (N: after)"
            : "not found after this (n: before)";
      return [];
    }
    this.#isFollowing = false;
    const edge = direction === "older" ? blocks[0] : blocks.at(-1);
    this.#goal = {
      type: "find",
      direction,
      from: {
        name: edge?.entry.name ?? from.name,
        at: direction === "older" ? 0 : Number.POSITIVE_INFINITY,
      },
      so: { ...so, searched },
    };
    return this.#ask(direction);
  }

  /** Brings a match into view, a third of the screen down where there is room. */
  #reach(index: number, match: Spot): readonly PagerRequest[] {
    const viewport = this.#viewport;
    const place = this.#finder.reach(index, match);
    this.#message = undefined;
    this.#isFollowing = false;
    if (!viewport.isSeen(place))
      viewport.put(viewport.walk(place, "older", Math.floor(viewport.body / 3)).to);
    return this.#fill();
  }

  // Keys

  key(key: Key): readonly PagerRequest[] {
    if (this.#isHelpUp) {
      this.#isHelpUp = false;
      return [];
    }
    this.#fruitlessAsks = 0;
    if (this.#typed !== undefined) return this.#type(key, this.#typed);
    const name = keyName(key);
    if (this.#goal?.type === "find" && (name === "escape" || name === "ctrl+c")) {
      this.#goal = undefined;
      this.#message = "search stopped";
      return [];
    }
    const command = commandOf(name);
    return command === undefined ? [] : this.#run(command);
  }

  #run(command: Command): readonly PagerRequest[] {
    const short = this.#shortPage;
    const half = Math.max(1, Math.floor(this.#viewport.body / 2));
    this.#shortPage = undefined;
    this.#message = undefined;
    if (command !== "fold" && command !== "raw" && command !== "copy") this.#held = undefined;
    switch (command) {
      case "rowOlder":
        return this.#moveRows("older", 1);
      case "rowNewer":
        return this.#moveRows("newer", 1);
      case "wheelOlder":
        return this.#moveRows("older", wheelRows);
      case "wheelNewer":
        return this.#moveRows("newer", wheelRows);
      case "halfOlder":
        return this.#moveRows("older", half);
      case "halfNewer":
        return this.#moveRows("newer", half);
      case "pageOlder":
      case "pageNewer":
        return this.#page(command === "pageOlder" ? "older" : "newer", short);
      case "start":
      case "end":
        this.#goal = undefined;
        return this.#jump(command);
      case "promptOlder":
      case "promptNewer":
        this.#goal = undefined;
        return this.#toPrompt(command === "promptOlder" ? "older" : "newer");
      case "findOlder":
      case "findNewer":
        this.#goal = undefined;
        return this.#findAgain(command === "findOlder" ? "older" : "newer");
      case "seek":
        this.#typed = "";
        return [];
      case "fold":
        return this.#toggle("compact");
      case "raw":
        return this.#toggle("raw");
      case "foldAll":
        return this.#toggleAll();
      case "copy":
        return this.#copy();
      case "help":
        this.#isHelpUp = true;
        return [];
      case "close":
        return [{ type: "close" }];
    }
  }

  #type(key: Key, typed: string): readonly PagerRequest[] {
    const name = keyName(key);
    if (name === "escape" || name === "ctrl+c" || (name === "backspace" && typed === "")) {
      this.#typed = undefined;
    } else if (name === "enter") {
      this.#typed = undefined;
      this.#goal = undefined;
      this.#message = undefined;
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
    const { top, blocks } = this.#viewport;
    const held = this.#held === undefined ? undefined : this.#viewport.indexOf(this.#held);
    if (held !== undefined && this.#viewport.isSeen({ index: held, row: this.#viewport.headRow(held) }))
      return held;
    if (top.row <= this.#viewport.headRow(top.index)) return top.index;
    const index = top.index + 1;
    const isNextSeen =
      index < blocks.length && this.#viewport.isSeen({ index, row: this.#viewport.headRow(index) });
    return isNextSeen ? index : top.index;
  }

  #currentEntry(): Entry | undefined {
    return this.#viewport.entryAt(this.#currentIndex());
  }

  /** Turns the current block to `detail`, or back. Its head stays where it is. */
  #toggle(detail: "compact" | "raw"): readonly PagerRequest[] {
    const index = this.#currentIndex();
    const viewport = this.#viewport;
    const entry = viewport.entryAt(index);
    if (entry === undefined) return [];
    const now = viewport.details.toggle(entry.name, detail);
    this.#held = entry.name;
    const { top } = viewport;
    if (index === top.index) viewport.put({ index, row: Math.min(top.row, viewport.headRow(index)) });
    const requests = this.#relaid();
    if (now !== "raw" || viewport.details.rawOf(entry.name) !== undefined) return requests;
    return entry.place === undefined ? requests : [...requests, { type: "raw", entry }];
  }

  #toggleAll(): readonly PagerRequest[] {
    this.#viewport.details.toggleAll();
    this.#viewport.settle();
    return this.#relaid();
  }

  /** Blocks have other rows now. */
  #relaid(): readonly PagerRequest[] {
    const requests = this.#goal === undefined ? this.#fill() : [];
    this.#noteFollowing();
    return requests;
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
    const { room, body, height } = this.#viewport;
    if (height <= 1 && this.#typed !== undefined) return [this.#status()];
    const lines = this.#isHelpUp
      ? helpRows(room, body)
      : bodyRows(this.#viewport, this.#finder, this.#currentIndex());
    return height <= 1 ? lines.slice(0, 1) : [...lines, this.#status()];
  }

  /** Blocks newer than the window, or where it holds the newest, those that came since the end was on the screen. */
  #countNewer(): number {
    const { blocks, newBlocks, atEnd } = this.#view;
    const seen = this.#newestSeen === undefined ? undefined : this.#viewport.indexOf(this.#newestSeen);
    return !atEnd || seen === undefined ? newBlocks : blocks.length - 1 - seen;
  }

  #status(): Line {
    const viewport = this.#viewport;
    const { atStart, atEnd, loading } = this.#view;
    const { top } = viewport;
    const entry = this.#currentEntry();
    const isFirst = top.index === 0 && top.row === 0;
    const isAtEnd = atEnd && viewport.isAtEnd();
    return statusLine(
      {
        typed: this.#typed,
        searching: this.#goal?.type === "find" ? this.#goal.so.searched : undefined,
        isLoading: loading || this.#isAsking,
        message: this.#message,
        newBlocks: isAtEnd ? 0 : this.#countNewer(),
        isAtStart: atStart && isFirst,
        isAtEnd,
        percent: atStart && atEnd ? percentOf(viewport) : undefined,
        time: entry?.time === undefined ? undefined : this.#time(entry.time),
        detail: entry === undefined ? "full" : viewport.details.of(entry.name),
        rowsSeen: rowsSeenOf(viewport),
      },
      viewport.room,
    );
  }
}

function moveBy(move: RowMove, rows: number): RowMove {
  return { ...move, count: Math.max(0, move.count - rows), moved: move.moved + rows };
}
