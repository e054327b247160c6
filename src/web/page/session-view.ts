/** A session: what is there is shown already; this keeps it up, and takes answers and prompts to its agent. */
import type { DriverState } from "../../session/types.ts";
import type { Entry } from "../../transcript/index.ts";
import { appendToBlock, type LaneFrame } from "../frames.ts";
import { NOTICE_MS, QUIET_MS, RETRY_FIRST_MS, RETRY_MAX_MS } from "../limits.ts";
import { byId, fragmentValue, wordsOf } from "./api.ts";
import { Blocks } from "./blocks.ts";
import { LaneClient, type LanePorts, type Standing } from "./lane.ts";
import { startPrompt } from "./prompt-form.ts";
import { Questions } from "./questions.ts";
import { isPassing, Reading, type TailTold } from "./reading.ts";
import { SearchView } from "./search.ts";
import { standingWords } from "./standing.ts";
import { turnClocks } from "./times.ts";

const ports: LanePorts = {
  fetch: (path, { signal, accept }) => fetch(path, { signal, cache: "no-store", headers: { accept } }),
  now: () => Date.now(),
  after: (ms, act) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};

export function startSession(): void {
  new SessionView().start();
}

class SessionView {
  readonly #turns = byId("turns");
  readonly #said = byId("said");
  readonly #line = byId("standing");
  readonly #path: string;
  readonly #mayAnswer: boolean;
  readonly #blocks: Blocks;
  readonly #reading: Reading;
  readonly #questions: Questions;
  readonly #position: string;
  #lane: LaneClient | undefined;
  #standing: Standing = "connecting";
  #standingWords = "";
  #heardAt = Date.now();
  #driver: DriverState | undefined;
  #isTurnOpen: boolean;
  /** Resets since the lane said anything else. */
  #resets = 0;
  #wake: (() => void) | undefined;
  #quiet: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    const { id = "", start = "", lane = "", mayAnswer, turnOpen } = byId("log").dataset;
    this.#path = `/api/sessions/${id}`;
    this.#position = lane;
    this.#mayAnswer = mayAnswer === "true";
    this.#isTurnOpen = turnOpen === "true";
    const say = (words: string): void => this.#say(words);
    const pending = JSON.parse(byId("pending").textContent ?? "[]") as readonly Entry[];
    this.#blocks = new Blocks(this.#turns, pending, () => this.#reading.settle());
    this.#reading = new Reading({
      blocks: this.#blocks,
      path: this.#path,
      start,
      say,
      onTail: (told) => this.#takeTail(told),
    });
    this.#questions = new Questions({
      place: byId("asked"),
      path: this.#path,
      mayAnswer: this.#mayAnswer,
      callOf: (callId) => this.#blocks.call(callId),
      say,
    });
    startPrompt({ path: this.#path, say, onSent: () => this.#reading.follow() });
    this.#startSearch(id);
  }

  start(): void {
    const wake = (): void => {
      if (document.visibilityState !== "visible") return;
      this.#lane?.wake();
      this.#wake?.();
    };
    document.addEventListener("visibilitychange", wake);
    addEventListener("pageshow", wake);
    // Another network: what was open on the old one is dead, whenever it was last heard.
    addEventListener("online", () => {
      this.#lane?.wake(true);
      this.#wake?.();
    });
    // No network: whether the server is still there (it may be on this computer) shows at once when it is asked again.
    addEventListener("offline", () => this.#lane?.wake(true));
    addEventListener("hashchange", () => this.#goToFragment());
    setInterval(() => this.#tick(), 1_000);
    this.#tick();
    this.#openLane(this.#position);
    if (!this.#goToFragment()) this.#reading.settle();
  }

  #goToFragment(): boolean {
    const at = fragmentValue("at");
    if (at !== undefined) void this.#reading.goTo(at);
    return at !== undefined;
  }

  #startSearch(id: string): void {
    const form = byId("search");
    const toggle = byId("find");
    const show = (isShown: boolean): void => {
      form.hidden = !isShown;
      toggle.setAttribute("aria-expanded", String(isShown));
      if (isShown) byId("words").focus();
      else byId("hits").hidden = true;
    };
    toggle.addEventListener("click", () => show(form.hidden !== false));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || form.hidden) return;
      show(false);
      toggle.focus();
    });
    new SearchView({
      session: id,
      onChosen: (at) => {
        show(false);
        void this.#reading.goTo(at);
      },
    });
  }

  // The lane

  #openLane(position: string): void {
    this.#lane?.stop();
    const lane: LaneClient = new LaneClient({
      path: `${this.#path}/changes`,
      position,
      ports,
      onFrame: (frame) => {
        if (lane === this.#lane) this.#take(frame);
      },
      onStanding: (standing, words) => {
        if (lane === this.#lane) this.#stand(standing, words);
      },
    });
    this.#lane = lane;
    void lane.run();
  }

  #stand(standing: Standing, words = ""): void {
    this.#standing = standing;
    this.#standingWords = words;
    this.#tick();
  }

  #takeTail(told: TailTold): void {
    const live = new Set(told.live);
    this.#isTurnOpen = told.turnOpen;
    this.#blocks.stand(told.entries.filter(({ name }) => live.has(name)));
    this.#openLane(told.lane);
  }

  /** Positions are void: what is shown is read anew, as often as it takes. What was typed stays. */
  async #begin(): Promise<void> {
    this.#heardAt = this.#lane?.heardAt ?? this.#heardAt;
    this.#lane?.stop();
    this.#lane = undefined;
    this.#stand("connecting");
    this.#resets += 1;
    for (let failures = this.#resets - 1; ; failures += 1) {
      if (failures > 0) await this.#pause(Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** failures));
      try {
        await this.#reading.begin();
        return;
      } catch (error) {
        const words = wordsOf(error);
        if (!isPassing(error)) {
          this.#stand("over", words);
          return;
        }
        this.#stand("away");
      }
    }
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  #take(frame: LaneFrame): void {
    if (frame.type === "reset") {
      void this.#begin();
      return;
    }
    this.#resets = 0;
    if (this.#reading.isBack) this.#takeBack(frame);
    else this.#takeBlock(frame);
    switch (frame.type) {
      case "standing":
        this.#isTurnOpen = frame.turnOpen;
        this.#setDriver(frame.driver);
        break;
      case "turnStarted":
        this.#isTurnOpen = true;
        break;
      case "turnEnded":
        this.#isTurnOpen = false;
        break;
      case "blockRevised":
        this.#blocks.show(frame.entry);
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
    }
    this.#questions.refresh();
    this.#reading.changed();
  }

  /** The newest blocks are not shown: they are read when they are wanted, and counted until then. */
  #takeBack(frame: LaneFrame): void {
    if (frame.type === "blockFinished" || frame.type === "blockSettled") this.#reading.came();
  }

  #takeBlock(frame: LaneFrame): void {
    switch (frame.type) {
      case "standing":
        this.#blocks.stand(frame.pending);
        break;
      case "blockOpened":
        if (this.#blocks.open(frame.entry)) this.#reading.came();
        break;
      case "blockAppended": {
        const entry = this.#blocks.pending(frame.name);
        if (entry !== undefined) this.#blocks.open(appendToBlock(entry, frame));
        break;
      }
      case "blockChanged":
        if (this.#blocks.change(frame.entry, frame.was)) this.#reading.came();
        break;
      case "blockFinished":
        this.#finish(frame.entry, frame.start);
        break;
      case "blockSettled": {
        const entry = this.#blocks.pending(frame.name);
        if (entry !== undefined) this.#finish(entry, frame.start);
        break;
      }
      case "turnEnded":
        this.#blocks.roll();
        break;
    }
  }

  #finish(entry: Entry, at: string): void {
    if (this.#blocks.finish(entry, at)) this.#reading.came();
    this.#announce(entry);
  }

  /** Tells who does not see the page what the agent said. */
  #announce(entry: Entry): void {
    if (entry.kind !== "model" || entry.subagent !== undefined) return;
    const text = entry.blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join(" ");
    if (text !== "") byId("live").textContent = text.slice(0, 300);
  }

  #setDriver(driver: DriverState | undefined): void {
    this.#driver = driver;
    this.#questions.show(driver?.approvals ?? []);
    const isTaking = this.#mayAnswer && driver !== undefined && driver.phase !== "ended";
    byId("prompt").hidden = !isTaking;
    byId("cancel").hidden = !isTaking || (driver.phase !== "working" && driver.phase !== "cancelling");
    this.#showPlan(driver);
    this.#tick();
  }

  #showPlan(driver: DriverState | undefined): void {
    const plan = byId("plan");
    const steps = driver?.plan ?? [];
    const open = steps.filter(({ state }) => state !== "done").length;
    plan.hidden = open === 0;
    if (open === 0) return;
    const summary = plan.querySelector("summary") as HTMLElement;
    const now = steps.find(({ state }) => state === "at-work");
    summary.textContent = `Plan: ${steps.length - open} of ${steps.length}${now === undefined ? "" : ` · ${now.text}`}`;
    plan.querySelector("ol")?.replaceChildren(
      ...steps.map(({ text, state }) => {
        const row = document.createElement("li");
        row.className = state;
        row.textContent = text;
        return row;
      }),
    );
  }

  #say(words: string): void {
    this.#said.textContent = words;
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      this.#said.textContent = "";
    }, NOTICE_MS);
    this.#reading.changed();
  }

  /** Each second: what runs, and how old what is shown is. */
  #tick(): void {
    turnClocks(this.#turns);
    const now = Date.now();
    const silentMs = now - (this.#lane?.heardAt ?? this.#heardAt);
    const isQuiet = this.#standing === "live" && silentMs > QUIET_MS;
    this.#line.dataset["is"] = isQuiet ? "quiet" : this.#standing;
    const words = standingWords({
      standing: this.#standing,
      words: this.#standingWords,
      silentMs,
      isQuiet,
      isTurnOpen: this.#isTurnOpen,
      now,
      driver: this.#driver,
    });
    if (this.#line.textContent !== words) this.#line.textContent = words;
  }
}
