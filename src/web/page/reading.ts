/** Where the reader is in a session: followed at its end, or held at a place further back; and the pages around that place. */
import type { Entry } from "../../transcript/index.ts";
import {
  FIRST_ENTRIES_MAX,
  FIRST_TEXT_MAX,
  HAND_MS,
  JUMP_PAGES_MAX,
  OLDER_ENTRIES,
  OLDER_TEXT_MAX,
  SCROLL_PAGES_MAX,
} from "../limits.ts";
import { type Placed, placedOf, turnsHtml } from "../turns.ts";
import { ApiError, ask, byId, wordsOf } from "./api.ts";
import { type Blocks, onFrame } from "./blocks.ts";
import { localWords, tellTimes, turnClocks } from "./times.ts";

interface PageTold {
  readonly entries: readonly (Entry & { readonly cut?: number })[];
  readonly positions: readonly string[];
  readonly start: string;
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

/** The end of a session as the server tells it. */
export interface TailTold extends PageTold {
  readonly turnOpen: boolean;
  /** Names of the entries that may still change. */
  readonly live: readonly string[];
  /** Where the lane goes on. */
  readonly lane: string;
}

export interface ReadingOptions {
  readonly blocks: Blocks;
  /** The session's route. */
  readonly path: string;
  readonly start: string;
  readonly say: (words: string) => void;
  /** The newest blocks are on the page again: the lane goes on from there. */
  readonly onTail: (told: TailTold) => void;
}

/** How near to the end counts as being there. */
const endPixels = 60;
/** What stands at the top covers so much. */
const barPixels = 76;

const root = (): HTMLElement => document.documentElement;
const placedIn = (page: PageTold): readonly Placed[] =>
  page.entries.map((entry, index) => placedOf(entry, page.positions[index]));

export class Reading {
  readonly #options: ReadingOptions;
  readonly #log = byId("log");
  readonly #turns = byId("turns");
  readonly #older = byId<HTMLButtonElement>("older");
  readonly #newest = byId<HTMLButtonElement>("newest");
  #start: string;
  /** Blocks that came while something earlier was read. */
  #unseen = 0;
  #isBack = false;
  #isAtEnd = true;
  #top = 0;
  #height = 0;
  /** When the reader's hand was last at it. */
  #handAt = Number.NEGATIVE_INFINITY;
  #isSettleDue = false;
  #readingOlder: Promise<boolean> | undefined;
  #isReadingNewer = false;

  constructor(options: ReadingOptions) {
    this.#options = options;
    this.#start = options.start;
    this.#older.addEventListener("click", () => void this.readOlder());
    this.#newest.addEventListener("click", () => void this.goToNewest());
    byId("previous").addEventListener("click", () => void this.goToPrompt(-1));
    byId("next").addEventListener("click", () => void this.goToPrompt(1));
    this.#turns.addEventListener("click", (event) => {
      const button = (event.target as Element).closest<HTMLButtonElement>("button.whole");
      if (button !== null) void this.#showWhole(button);
    });
    addEventListener("scroll", () => this.#scrolled(), { passive: true });
    addEventListener("resize", () => this.changed());
    const byHand = (): void => {
      this.#handAt = performance.now();
    };
    for (const type of ["wheel", "touchmove", "keydown", "pointerdown"])
      addEventListener(type, byHand, { passive: true });
  }

  /** The newest blocks are not on the page: it shows a place further back. */
  get isBack(): boolean {
    return this.#isBack;
  }

  /** A block came. Where it cannot be seen it is counted. */
  came(): void {
    if (!this.#isAtEnd || this.#isBack) this.#unseen += 1;
  }

  /** Something on the page changed: at the end it is followed, elsewhere nothing moves. Done once with the next frame of the screen. */
  changed(): void {
    if (this.#isSettleDue) return;
    this.#isSettleDue = true;
    onFrame(() => this.settle());
  }

  settle(): void {
    this.#isSettleDue = false;
    if (this.#isAtEnd && !this.#isBack) {
      const start = this.#options.blocks.trimAbove();
      if (start !== undefined) this.#setStart(start, false);
      this.#scrollTo(root().scrollHeight);
    } else if (this.#left < endPixels) this.#isAtEnd = true;
    tellTimes(this.#turns, localWords);
    turnClocks(this.#turns);
    this.#showNewest();
    if (this.#isBack && this.#left < innerHeight) void this.readNewer();
  }

  /** The end is followed from now on. */
  follow(): void {
    if (this.#isBack) void this.goToNewest();
    else {
      this.#isAtEnd = true;
      this.changed();
    }
  }

  #scrollTo(top: number): void {
    scrollTo(0, top);
    this.#note();
  }

  #note(): void {
    this.#top = scrollY;
    this.#height = root().scrollHeight;
  }

  get #left(): number {
    return root().scrollHeight - innerHeight - scrollY;
  }

  #scrolled(): void {
    // What comes at the end, or is laid out on the way, moves the end away; only the reader's going up leaves it.
    const isByHand = performance.now() - this.#handAt < HAND_MS || root().scrollHeight === this.#height;
    if (this.#left < endPixels) this.#isAtEnd = true;
    else if (isByHand && scrollY < this.#top - 1) this.#isAtEnd = false;
    this.#note();
    this.#showNewest();
    if (scrollY < innerHeight) void this.#readOlderToFill();
    if (this.#isBack && this.#left < innerHeight) void this.readNewer();
  }

  #showNewest(): void {
    const isHidden = this.#isAtEnd && !this.#isBack;
    if (isHidden) this.#unseen = 0;
    this.#newest.hidden = isHidden;
    const words = this.#unseen === 0 ? "Newest ↓" : `${this.#unseen} new ↓`;
    if (this.#newest.textContent !== words) this.#newest.textContent = words;
  }

  /** Changes what is above the reader, who stays at his place with or without the browser's own anchoring. */
  #above(change: () => void): void {
    const before = root().scrollHeight;
    const top = scrollY;
    change();
    this.#scrollTo(top + root().scrollHeight - before);
  }

  #setStart(start: string, atStart: boolean): void {
    this.#start = start;
    this.#older.hidden = atStart;
    const beginning = this.#log.querySelector<HTMLElement>(".start");
    if (beginning !== null) beginning.hidden = !atStart;
  }

  async #page(way: "older" | "newer", from: string): Promise<PageTold> {
    return await ask<PageTold>(
      `${this.#options.path}/${way}?from=${encodeURIComponent(from)}&limit=${OLDER_ENTRIES}&text=${OLDER_TEXT_MAX}`,
    );
  }

  async #tail(): Promise<TailTold> {
    return await ask<TailTold>(
      `${this.#options.path}/tail?limit=${FIRST_ENTRIES_MAX}&text=${FIRST_TEXT_MAX}`,
    );
  }

  async #showWhole(button: HTMLButtonElement): Promise<void> {
    const { at = "" } = button.dataset;
    button.disabled = true;
    try {
      const told = await ask<{ readonly entry: Entry }>(
        `${this.#options.path}/entry?at=${encodeURIComponent(at)}`,
      );
      this.#options.blocks.show(told.entry, at);
    } catch (error) {
      button.disabled = false;
      this.#options.say(wordsOf(error));
    }
  }

  /** Reads what stands before; false where there is nothing, or it could not be read. Asked again meanwhile, it is the same reading. */
  readOlder(): Promise<boolean> {
    this.#readingOlder ??= this.#readOlder().finally(() => {
      this.#readingOlder = undefined;
    });
    return this.#readingOlder;
  }

  async #readOlder(): Promise<boolean> {
    if (this.#older.hidden) return false;
    const { blocks } = this.#options;
    this.#older.disabled = true;
    this.#older.textContent = "Reading …";
    const from = this.#start;
    try {
      const page = await this.#page("older", from);
      this.#older.textContent = "Earlier";
      // Meanwhile the page went elsewhere.
      if (from !== this.#start) return false;
      this.#above(() => {
        blocks.prepend(turnsHtml(placedIn(page), false));
        tellTimes(this.#turns, localWords);
      });
      this.#setStart(page.start, page.atStart);
      if (!this.#isAtEnd && blocks.trimBelow()) this.#isBack = true;
      return page.entries.length > 0;
    } catch (error) {
      this.#older.textContent = `${wordsOf(error)} Try again.`;
      return false;
    } finally {
      this.#older.disabled = false;
    }
  }

  /** A page may be one line: what it brought is not always enough to scroll on. */
  async #readOlderToFill(): Promise<void> {
    if (this.#readingOlder !== undefined) return;
    for (let pages = 0; pages < SCROLL_PAGES_MAX && scrollY < innerHeight; pages += 1)
      if (!(await this.readOlder())) return;
  }

  /** Reads what comes after the place that is shown, up to the newest, where the lane goes on. */
  async readNewer(): Promise<void> {
    const { blocks } = this.#options;
    const from = blocks.lastAt;
    if (this.#isReadingNewer || !this.#isBack || from === undefined) return;
    this.#isReadingNewer = true;
    try {
      const page = await this.#page("newer", from);
      if (!this.#isBack || blocks.lastAt !== from) return;
      blocks.extend(placedIn(page));
      if (page.atEnd) await this.#join();
      this.#above(() => {
        const start = blocks.trimAbove();
        if (start !== undefined) this.#setStart(start, false);
      });
      this.settle();
    } catch (error) {
      this.#options.say(wordsOf(error));
      return;
    } finally {
      this.#isReadingNewer = false;
    }
    // A page may be one line: what it brought is not always enough to scroll on.
    if (this.#isBack && blocks.lastAt !== from && this.#left < innerHeight) this.changed();
  }

  /** The end of the session joins what is shown; where something lies between the two, that is read first. */
  async #join(): Promise<void> {
    const { blocks, onTail } = this.#options;
    const told = await this.#tail();
    const [first] = told.entries;
    if (!this.#isBack || (first !== undefined && !blocks.has(first.name))) return;
    blocks.extend(placedIn(told));
    this.#isBack = false;
    // The reader stays where he was.
    this.#isAtEnd = false;
    onTail(told);
  }

  /** Shows the place at a position, as a search found it. */
  async goTo(at: string): Promise<void> {
    try {
      const page = await this.#page("newer", at);
      this.#options.blocks.renew(turnsHtml(placedIn(page), false));
      this.#isBack = true;
      this.#isAtEnd = false;
      this.#setStart(page.start, page.atStart);
      const found = this.#turns.querySelector("article");
      found?.classList.add("found");
      found?.closest("details")?.setAttribute("open", "");
      found?.scrollIntoView({ block: "center" });
      this.#note();
      this.settle();
      if (page.atEnd) await this.#join();
    } catch (error) {
      this.#options.say(wordsOf(error));
    }
  }

  async goToNewest(): Promise<void> {
    if (!this.#isBack) {
      this.#isAtEnd = true;
      this.settle();
      return;
    }
    this.#newest.disabled = true;
    try {
      await this.begin();
    } catch (error) {
      this.#options.say(wordsOf(error));
    } finally {
      this.#newest.disabled = false;
    }
  }

  /** The page is the end of the session, read anew, and nothing else. Rejects where it cannot be read; what is shown stays then. */
  async begin(): Promise<void> {
    const { blocks, onTail } = this.#options;
    const told = await this.#tail();
    blocks.renew(turnsHtml(placedIn(told), told.turnOpen));
    this.#isBack = false;
    this.#isAtEnd = true;
    this.#setStart(told.start, told.atStart);
    onTail(told);
    this.settle();
  }

  async goToPrompt(way: -1 | 1): Promise<void> {
    for (let pages = 0; ; pages += 1) {
      const prompts = [...this.#turns.querySelectorAll<HTMLElement>("section[data-prompt]")];
      const tops = prompts.map((prompt) => prompt.getBoundingClientRect().top);
      const index =
        way < 0
          ? tops.findLastIndex((top) => top < barPixels - 5)
          : tops.findIndex((top) => top > barPixels + 5);
      const found = prompts[index];
      if (found !== undefined) {
        this.#isAtEnd = false;
        scrollBy(0, found.getBoundingClientRect().top - barPixels);
        this.#note();
        found.querySelector<HTMLElement>("h2")?.focus({ preventScroll: true });
        this.#showNewest();
        return;
      }
      if (way > 0) {
        if (this.#isBack) await this.readNewer();
        else await this.goToNewest();
        return;
      }
      this.#isAtEnd = false;
      if (pages === JUMP_PAGES_MAX) {
        this.#options.say(`No prompt within the last ${pages * OLDER_ENTRIES} entries. Again looks further.`);
        scrollTo(0, 0);
        return;
      }
      if (await this.readOlder()) continue;
      if (this.#older.hidden) scrollTo(0, 0);
      return;
    }
  }
}

/** Whether asking again has a use: the server was not reached, or cannot answer now. */
export function isPassing(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof ApiError && error.status >= 500);
}
