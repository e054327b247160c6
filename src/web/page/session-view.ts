/** A session: what is there is shown already; this keeps it up, goes further back, answers and asks. */
import type { DriverState } from "../../session/types.ts";
import type { Entry } from "../../transcript/index.ts";
import { appendToBlock, type LaneFrame } from "../frames.ts";
import { NOTICE_MS, OLDER_ENTRIES, OLDER_TEXT_MAX } from "../limits.ts";
import { type Placed, turnsHtml } from "../turns.ts";
import { ask, byId, wordsOf } from "./api.ts";
import { Blocks } from "./blocks.ts";
import { LaneClient, type LanePorts, type Standing } from "./lane.ts";
import { Questions } from "./questions.ts";

interface PageTold {
  readonly entries: readonly (Entry & { readonly cut?: number })[];
  readonly positions: readonly string[];
  readonly start: string;
  readonly end: string;
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

const ports: LanePorts = {
  fetch: (path, { signal, accept }) => fetch(path, { signal, cache: "no-store", headers: { accept } }),
  now: () => Date.now(),
  after: (ms, act) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};

/** How near to the end counts as being there. */
const endPixels = 60;
/** Pages that a jump to an earlier prompt reads at most. */
const jumpPagesMax = 20;

export function startSession(): void {
  new SessionView().start();
}

class SessionView {
  readonly #log = byId("log");
  readonly #turns = byId("turns");
  readonly #older = byId<HTMLButtonElement>("older");
  readonly #newest = byId<HTMLButtonElement>("newest");
  readonly #said = byId("said");
  readonly #line = byId("standing");
  readonly #path: string;
  readonly #mayAnswer: boolean;
  readonly #blocks: Blocks;
  readonly #questions: Questions;
  #lane: LaneClient | undefined;
  #standing: Standing = "connecting";
  #standingWords = "";
  #driver: DriverState | undefined;
  #isTurnOpen: boolean;
  #start: string;
  /** Blocks that came while something earlier was read. */
  #unseen = 0;
  /** The newest blocks are not on the page: it shows a place further back. */
  #isBack = false;
  #isAtEnd = true;
  #isReadingOlder = false;
  #quiet: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    const { id = "", start = "", mayAnswer, turnOpen } = this.#log.dataset;
    this.#path = `/api/sessions/${id}`;
    this.#start = start;
    this.#mayAnswer = mayAnswer === "true";
    this.#isTurnOpen = turnOpen === "true";
    const pending = JSON.parse(byId("pending").textContent ?? "[]") as readonly Entry[];
    this.#blocks = new Blocks(this.#turns, pending, () => this.#keepPlace());
    this.#questions = new Questions({
      place: byId("asked"),
      path: this.#path,
      mayAnswer: this.#mayAnswer,
      say: (words) => this.#say(words),
    });
  }

  start(): void {
    const at = /^#at=(.+)$/.exec(location.hash)?.[1];
    this.#listen();
    setInterval(() => this.#tick(), 1_000);
    this.#tick();
    if (at !== undefined) void this.#goTo(decodeURIComponent(at));
    else scrollTo(0, document.documentElement.scrollHeight);
    this.#openLane(this.#log.dataset["lane"] ?? "");
  }

  // The lane

  #openLane(position: string): void {
    const lane = new LaneClient({
      path: `${this.#path}/changes`,
      position,
      ports,
      onFrame: (frame) => this.#take(frame),
      onStanding: (standing, words) => {
        this.#standing = standing;
        this.#standingWords = words;
        this.#tick();
      },
    });
    this.#lane = lane;
    void lane.run();
  }

  #take(frame: LaneFrame): void {
    switch (frame.type) {
      case "standing":
        this.#isTurnOpen = frame.turnOpen;
        if (!this.#isBack) this.#blocks.stand(frame.pending);
        this.#setDriver(frame.driver);
        break;
      case "blockOpened":
        if (!this.#isBack) this.#count(this.#blocks.open(frame.entry));
        break;
      case "blockAppended": {
        const entry = this.#blocks.pending(frame.name);
        if (entry !== undefined) this.#blocks.open(appendToBlock(entry, frame));
        break;
      }
      case "blockChanged":
        if (!this.#isBack) this.#count(this.#blocks.change(frame.entry, frame.was));
        break;
      case "blockFinished":
        this.#finish(frame.entry, frame.start);
        break;
      case "blockSettled": {
        const entry = this.#blocks.pending(frame.name);
        if (entry !== undefined) this.#finish(entry, frame.start);
        break;
      }
      case "blockRevised":
        this.#blocks.show({ entry: frame.entry });
        break;
      case "turnStarted":
        this.#isTurnOpen = true;
        break;
      case "turnEnded":
        this.#isTurnOpen = false;
        if (!this.#isBack) this.#blocks.roll();
        break;
      case "branchLeft":
        this.#blocks.leave(frame.from, frame.to);
        break;
      case "info":
        if (frame.info.title !== undefined) {
          document.title = `${frame.info.title} · Hansard`;
          const title = document.querySelector(".bar h1");
          if (title !== null) title.textContent = frame.info.title;
        }
        break;
      case "driver":
        this.#setDriver(frame.driver);
        break;
      case "notice":
        this.#say(frame.text);
        break;
      case "reset":
        // Positions are void: what is shown is read anew.
        location.reload();
        return;
      case "compacted":
      case "lagged":
      case "closed":
        break;
    }
    this.#keepPlace();
  }

  #finish(entry: Entry, at: string): void {
    if (this.#isBack) {
      this.#unseen += 1;
      this.#showNewest();
      return;
    }
    this.#count(this.#blocks.finish(entry, at));
    this.#announce(entry);
    const start = this.#isAtEnd ? this.#blocks.trimAbove() : undefined;
    if (start !== undefined) this.#setStart(start, false);
  }

  /** A block came; where it cannot be seen it is counted. */
  #count(isNew: boolean): void {
    if (isNew && !this.#isAtEnd) this.#unseen += 1;
  }

  /** Tells who does not see the page what the agent said. */
  #announce(entry: Entry): void {
    if (entry.kind !== "model" || entry.subagent !== undefined) return;
    const text = entry.blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join(" ");
    if (text !== "") byId("live").textContent = text.slice(0, 300);
  }

  // Where the reader is

  /** After a change: at the end it is followed, elsewhere nothing moves. */
  #keepPlace(): void {
    if (this.#isAtEnd && !this.#isBack) scrollTo(0, document.documentElement.scrollHeight);
    this.#showNewest();
  }

  #showNewest(): void {
    const isHidden = this.#isAtEnd && !this.#isBack;
    if (isHidden) this.#unseen = 0;
    this.#newest.hidden = isHidden;
    this.#newest.textContent = this.#unseen === 0 ? "Newest ↓" : `${this.#unseen} new ↓`;
  }

  #setStart(start: string, atStart: boolean): void {
    this.#start = start;
    this.#older.hidden = atStart;
    const beginning = this.#log.querySelector<HTMLElement>(".start");
    if (beginning !== null) beginning.hidden = !atStart;
  }

  /** Reads what stands before; false where there is nothing, or it could not be read. */
  async #readOlder(): Promise<boolean> {
    if (this.#isReadingOlder || this.#older.hidden) return false;
    this.#isReadingOlder = true;
    this.#older.disabled = true;
    this.#older.textContent = "Reading …";
    try {
      const from = encodeURIComponent(this.#start);
      const page = await ask<PageTold>(
        `${this.#path}/older?from=${from}&limit=${OLDER_ENTRIES}&text=${OLDER_TEXT_MAX}`,
      );
      const before = document.documentElement.scrollHeight;
      const top = scrollY;
      this.#blocks.prepend(turnsHtml(placedOf(page), false));
      // The place that was read stays where it was, with or without the browser's own anchoring.
      scrollTo(0, top + document.documentElement.scrollHeight - before);
      this.#setStart(page.start, page.atStart);
      if (this.#blocks.trimBelow()) this.#isBack = true;
      this.#older.textContent = "Earlier";
      return page.entries.length > 0;
    } catch (error) {
      this.#older.textContent = `${wordsOf(error)} Try again.`;
      return false;
    } finally {
      this.#isReadingOlder = false;
      this.#older.disabled = false;
    }
  }

  /** Shows the place of a search's hit. */
  async #goTo(at: string): Promise<void> {
    try {
      const page = await ask<PageTold>(
        `${this.#path}/newer?from=${encodeURIComponent(at)}&limit=${OLDER_ENTRIES}&text=${OLDER_TEXT_MAX}`,
      );
      this.#isBack = !page.atEnd;
      this.#isAtEnd = false;
      this.#turns.innerHTML = turnsHtml(placedOf(page), page.atEnd && this.#isTurnOpen);
      this.#blocks.index();
      this.#setStart(page.start, page.atStart);
      const found = this.#turns.querySelector("article");
      found?.classList.add("found");
      found?.closest("details")?.setAttribute("open", "");
      found?.scrollIntoView({ block: "center" });
      this.#showNewest();
    } catch (error) {
      this.#say(wordsOf(error));
    }
  }

  #goToNewest(): void {
    if (this.#isBack) {
      history.replaceState(null, "", location.pathname);
      location.reload();
      return;
    }
    this.#isAtEnd = true;
    this.#keepPlace();
  }

  async #goToPrompt(way: -1 | 1): Promise<void> {
    const edge = 70;
    for (let pages = 0; pages <= jumpPagesMax; pages += 1) {
      const prompts = [...this.#turns.querySelectorAll<HTMLElement>("section[data-prompt]")];
      const tops = prompts.map((prompt) => prompt.getBoundingClientRect().top);
      const index =
        way < 0 ? tops.findLastIndex((top) => top < edge - 5) : tops.findIndex((top) => top > edge + 5);
      const found = prompts[index];
      if (found !== undefined) {
        this.#isAtEnd = false;
        scrollBy(0, found.getBoundingClientRect().top - edge);
        found.querySelector<HTMLElement>("h2")?.focus({ preventScroll: true });
        return;
      }
      if (way > 0) return this.#goToNewest();
      if (!(await this.#readOlder())) return;
    }
  }

  // What the person does

  #listen(): void {
    addEventListener(
      "scroll",
      () => {
        const left = document.documentElement.scrollHeight - innerHeight - scrollY;
        this.#isAtEnd = left < endPixels;
        this.#showNewest();
        if (scrollY < innerHeight) void this.#readOlder();
      },
      { passive: true },
    );
    this.#older.addEventListener("click", () => void this.#readOlder());
    this.#newest.addEventListener("click", () => this.#goToNewest());
    byId("previous").addEventListener("click", () => void this.#goToPrompt(-1));
    byId("next").addEventListener("click", () => void this.#goToPrompt(1));
    this.#turns.addEventListener("click", (event) => {
      const button = (event.target as Element).closest<HTMLButtonElement>("button.whole");
      if (button !== null) void this.#showWhole(button);
    });
    const wake = (): void => {
      if (document.visibilityState === "visible") this.#lane?.wake();
    };
    document.addEventListener("visibilitychange", wake);
    addEventListener("online", wake);
    addEventListener("pageshow", wake);
    this.#listenToPrompt();
  }

  async #showWhole(button: HTMLButtonElement): Promise<void> {
    const { at = "" } = button.dataset;
    button.disabled = true;
    try {
      const told = await ask<{ readonly entry: Entry }>(`${this.#path}/entry?at=${encodeURIComponent(at)}`);
      this.#blocks.show({ entry: told.entry, at });
    } catch (error) {
      button.disabled = false;
      this.#say(wordsOf(error));
    }
  }

  #listenToPrompt(): void {
    const form = byId<HTMLFormElement>("prompt");
    const text = byId<HTMLTextAreaElement>("text");
    const send = async (): Promise<void> => {
      const words = text.value;
      if (words.trim() === "") return;
      const button = form.querySelector<HTMLButtonElement>("button[type=submit]");
      if (button !== null) button.disabled = true;
      try {
        await ask(`${this.#path}/prompts`, { text: words });
        text.value = "";
        this.#isAtEnd = true;
        this.#keepPlace();
      } catch (error) {
        // What was typed stays.
        this.#say(wordsOf(error));
      } finally {
        if (button !== null) button.disabled = false;
      }
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void send();
    });
    text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
      event.preventDefault();
      void send();
    });
    byId("cancel").addEventListener("click", () => {
      ask(`${this.#path}/cancel`, {}).then(
        () => this.#say("The agent is asked to stop."),
        (error: unknown) => this.#say(wordsOf(error)),
      );
    });
  }

  #setDriver(driver: DriverState | undefined): void {
    this.#driver = driver;
    this.#questions.show(driver?.approvals ?? []);
    const isTaking = this.#mayAnswer && driver !== undefined && driver.phase !== "ended";
    byId("prompt").hidden = !isTaking;
    byId("cancel").hidden = !isTaking || (driver.phase !== "working" && driver.phase !== "cancelling");
    this.#tick();
  }

  #say(words: string): void {
    this.#said.textContent = words;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      this.#said.textContent = "";
    }, NOTICE_MS);
  }

  // Time

  #tick(): void {
    const now = Date.now();
    for (const clock of this.#turns.querySelectorAll<HTMLElement>(".clock"))
      clock.textContent = `running ${clockWords(now - Number(clock.dataset["since"]))}`;
    this.#line.dataset["is"] = this.#standing;
    const words = this.#standingText(now);
    if (this.#line.textContent !== words) this.#line.textContent = words;
  }

  #standingText(now: number): string {
    switch (this.#standing) {
      case "live": {
        const phase = this.#driver?.phase;
        const since = this.#driver?.turnStartedAt;
        if (phase === "working" && since !== undefined) return `Live · working ${clockWords(now - since)}`;
        return phase === undefined ? "Live" : `Live · ${phase}`;
      }
      case "connecting":
        return "Connecting …";
      case "away":
        return `No connection: as it was ${clockWords(now - (this.#lane?.heardAt ?? now))} ago. It is tried again.`;
      case "over":
        return this.#standingWords === "" ? "Ended." : this.#standingWords;
    }
  }
}

function placedOf(page: PageTold): readonly Placed[] {
  return page.entries.map(({ cut, ...entry }, index) => {
    const at = page.positions[index];
    return {
      entry: entry as Entry,
      ...(at === undefined ? {} : { at }),
      ...(cut === undefined ? {} : { cut }),
    };
  });
}

function clockWords(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${minutes}:${String(seconds % 60).padStart(2, "0")}`;
}
