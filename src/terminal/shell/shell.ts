/** The terminal shell: feeds what happens to the window core and runs its effects on the screen. */
import { type Change, type Session, type TailPage, tornEnd } from "../../session/index.ts";
import type { Entry } from "../../transcript/index.ts";
import type { WindowEffect, WindowState } from "../../window/index.ts";
import {
  createInputDecoder,
  createQueries,
  type InputDecoder,
  type Key,
  keyName,
  type Queries,
} from "../input/index.ts";
import { createModes, type Modes } from "../modes.ts";
import { createPager, createPagerPainter, type Pager, type PagerPainter } from "../pager/index.ts";
import type { Clock, TerminalPort, TerminalSize, Unsubscribe } from "../port.ts";
import type { Notice } from "../render/index.ts";
import { type CursorPlace, createScreen, type Screen } from "../screen/index.ts";
import { cutCells, type Line, sanitizeLine, type Theme } from "../text/index.ts";
import { BlockStore, blocksOf } from "./block-store.ts";
import type { LayoutOptions } from "./growing-block.ts";
import { History } from "./history.ts";
import {
  askAgainMs,
  askCursorMs,
  askTriesMax,
  copyUnitsMax,
  noticeMs,
  originNumber,
  resizeSettleMs,
  spinnerMs,
  tailBlocks,
  titleCellsMax,
  unflushedBlocksMax,
  windowConfig,
} from "./limits.ts";
import { MainView } from "./main-view.ts";
import { StatusFacts } from "./status.ts";
import { WindowRunner } from "./window-runner.ts";

export type ResizeWay = "adopt" | "reprint";

export interface ShellOptions {
  readonly port: TerminalPort;
  readonly clock: Clock;
  /** Milliseconds since the epoch, for what is shown. */
  readonly now: () => number;
  readonly session: Session;
  readonly theme: Theme;
  /** Whether the terminal knows synchronized output. */
  readonly isSynchronized: boolean;
  readonly resizeWay: ResizeWay;
  /** Whether the terminal takes OSC strings: the window's title becomes the session's, prompts are marked. Default: neither. */
  readonly hasStrings?: boolean;
  readonly layout: Pick<LayoutOptions, "time" | "highlighter" | "moreKey">;
  /** Lines that head the transcript and that end it, at a width. */
  readonly head?: (width: number) => readonly Line[];
  readonly foot?: (width: number) => readonly Line[];
  /** Takes the lines of the window's trace. */
  readonly trace?: (line: string) => void;
  /** Stops the process as Ctrl+Z does and resolves when it goes on. Absent: Ctrl+Z does nothing. */
  readonly stopProcess?: () => Promise<void>;
}

/** Why a shell ended. */
export type ShellEnd = "quit" | "interrupted" | "terminated" | "hung-up";

export interface Shell {
  /**
   * Shows the session and follows it until it is ended. Whatever happens, the terminal's modes are undone. Rejects for what is a bug or
   * where the log cannot be read.
   */
  run(): Promise<ShellEnd>;
  end(why: ShellEnd): void;
  /** Undoes the terminal's modes at once, for a process that is about to die. */
  rescue(): void;
}

const mainKeys = ["Ctrl+O history", "q quit"] as const;

export function createShell(options: ShellOptions): Shell {
  return new TerminalShell(options);
}

type PaintWay = "first" | ResizeWay;

class TerminalShell implements Shell {
  readonly #options: ShellOptions;
  readonly #port: TerminalPort;
  readonly #clock: Clock;
  readonly #runner: WindowRunner;
  readonly #store = new BlockStore();
  readonly #facts: StatusFacts;
  readonly #decoder: InputDecoder;
  readonly #queries: Queries;
  readonly #modes: Modes;
  readonly #pager: Pager;
  readonly #painter: PagerPainter;
  readonly #history: History;
  readonly #abort = new AbortController();
  readonly #undo: Unsubscribe[] = [];
  readonly #ids = new Map<string, number>();
  #screen: Screen;
  #view: MainView;
  #nextId = 0;
  #size: TerminalSize;
  #way: PaintWay = "first";
  /** Blocks below this number are on the terminal, or wait for it. */
  #printedThrough = 0;
  #finishing: { readonly id: number | undefined; readonly entry: Entry } | undefined;
  #isPumping = false;
  #isPagerUp = false;
  /** The session went on since the history was shown last. */
  #isHistoryStale = false;
  #isStopped = false;
  #why: ShellEnd | undefined;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;
  #cancelPaint: Unsubscribe | undefined;
  #cancelSpin: Unsubscribe | undefined;
  #cancelNotice: Unsubscribe | undefined;
  #cancelResize: Unsubscribe | undefined;
  #unflushed = 0;
  #shownTitle: string | undefined;

  constructor(options: ShellOptions) {
    this.#options = options;
    this.#port = options.port;
    this.#clock = options.clock;
    this.#size = options.port.size();
    this.#facts = new StatusFacts(options.session.info, options.now());
    this.#runner = new WindowRunner({
      config: windowConfig,
      save: "saved",
      run: (effect, state) => this.#run(effect, state),
      ...(options.trace === undefined ? {} : { trace: options.trace }),
    });
    this.#modes = createModes();
    this.#decoder = createInputDecoder({
      clock: options.clock,
      onKey: (key) => this.#guard(() => this.#onKey(key)),
      onReport: (report) => this.#queries.take(report),
    });
    this.#queries = createQueries(options.port, options.clock);
    this.#screen = this.#createScreen();
    this.#view = new MainView(this.#screen, {
      size: () => this.#port.size(),
      status: () => this.#facts.status(this.#options.now(), mainKeys),
      layout: options.layout,
      now: options.now,
      isRunning: () => this.#facts.isRunning(options.now()),
    });
    this.#pager = createPager({
      layout: options.layout,
      reach: { blocksMax: windowConfig.window, stepMax: windowConfig.step },
    });
    this.#painter = createPagerPainter(options.port, {
      theme: options.theme,
      isSynchronized: options.isSynchronized,
    });
    this.#history = new History({
      session: options.session,
      runner: this.#runner,
      store: this.#store,
      pager: this.#pager,
      liveEntries: () => this.#view.liveEntries(),
      changed: () => this.#schedulePaint(),
      copy: (text) => this.#copy(text),
      closed: () => this.#closePager(),
    });
  }

  async run(): Promise<ShellEnd> {
    this.#enter();
    try {
      while (!this.#isOver) {
        const page = await this.#openTail();
        if (this.#isOver) break;
        await this.#follow(page);
      }
    } catch (error) {
      if (!this.#isOver) this.#failure = { error };
    } finally {
      await this.#leave();
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#why ?? "quit";
  }

  end(why: ShellEnd): void {
    this.#why ??= why;
    this.#stopWaiting();
  }

  rescue(): void {
    this.#port.writeNow(`${this.#modes.undoAll()}\r\n`);
    this.#port.setRaw(false);
  }

  get #isOver(): boolean {
    return this.#why !== undefined || this.#failure !== undefined;
  }

  /** Runs what the terminal or a timer called for; an error ends the shell, with the terminal put right first. */
  #guard(call: () => void): void {
    if (this.#isOver) return;
    try {
      call();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stopWaiting();
  }

  #stopWaiting(): void {
    this.#abort.abort();
    this.#wake?.();
  }

  // The terminal's modes

  #createScreen(): Screen {
    return createScreen(this.#port, this.#clock, {
      theme: this.#options.theme,
      isSynchronized: this.#options.isSynchronized,
      hasMarks: this.#options.hasStrings === true,
      askCursor: () => this.#askCursor(),
    });
  }

  /** Where the cursor is, in a terminal that has the size we know of; undefined where it does not answer, or its size keeps changing. */
  async #askCursor(): Promise<CursorPlace | undefined> {
    for (let tries = 0; tries < askTriesMax; tries++) {
      const answer = await this.#queries.askCursor(askCursorMs);
      if (answer === undefined) return undefined;
      const { columns, rows } = this.#port.size();
      if (answer.size.columns === columns && answer.size.rows === rows) return answer;
      await new Promise<void>((resolve) => this.#clock.after(askAgainMs, resolve));
    }
    return undefined;
  }

  #enter(): void {
    this.#port.setRaw(true);
    this.#enterModes();
    this.#undo.push(
      // Answers of the terminal are taken to the end.
      this.#port.onInput((text) => this.#decoder.push(text)),
      this.#port.onResize(() => this.#guard(() => this.#onResize())),
      this.#port.onGone(() => this.end("hung-up")),
    );
  }

  #enterModes(): void {
    this.#port.write(this.#modes.enter("hiddenCursor") + this.#modes.enter("bracketedPaste"));
    this.#shownTitle = undefined;
    this.#showTitle();
  }

  /** The window's title: the session's. */
  #showTitle(): void {
    const { title, id } = this.#facts.info;
    const words = cutCells(sanitizeLine(`${title ?? id} · hansard`), titleCellsMax);
    if (this.#options.hasStrings !== true || words === this.#shownTitle) return;
    this.#shownTitle = words;
    this.#port.write(`${this.#modes.enter("title")}\x1b]2;${words}\x1b\\`);
  }

  async #leave(): Promise<void> {
    for (const cancel of [this.#cancelPaint, this.#cancelSpin, this.#cancelNotice, this.#cancelResize])
      cancel?.();
    this.#abort.abort();
    if (this.#why !== "hung-up") {
      if (this.#isPagerUp) {
        this.#port.write(this.#modes.leave("wheelArrows") + this.#modes.leave("alternateScreen"));
        this.#isPagerUp = false;
      }
      // A size that has not settled yet, or changed under the pager, is adopted: at the end nothing is cleared.
      this.#screen.resume();
      await this.#screen.resized("adopt");
      this.#view.rebase();
      this.#view.release();
      this.#screen.end(this.#options.foot?.(this.#port.size().columns) ?? []);
      this.#port.write(this.#modes.undoAll());
      // An answer that is still on its way must not end up in the next program's input.
      await this.#queries.settle();
      await this.#port.drained();
    }
    this.#port.setRaw(false);
    for (const undo of this.#undo.splice(0)) undo();
  }

  /** Ctrl+Z: the terminal is given back until the process goes on. */
  async #stop(): Promise<void> {
    const { stopProcess } = this.#options;
    if (stopProcess === undefined || this.#isStopped) return;
    this.#isStopped = true;
    if (this.#isPagerUp) this.#closePager();
    this.#cancelSpin?.();
    this.#cancelSpin = undefined;
    this.#screen.end();
    this.#port.write(this.#modes.undoAll());
    await this.#port.drained();
    this.#port.setRaw(false);
    await stopProcess();
    this.#isStopped = false;
    if (this.#isOver) return;
    this.#port.setRaw(true);
    this.#enterModes();
    this.#screen = this.#createScreen();
    this.#view.useScreen(this.#screen);
    this.#onSettledSize();
    this.#schedulePaint();
  }

  // The session

  async #openTail(): Promise<TailPage> {
    const page = await this.#options.session.tail(tailBlocks);
    if (this.#isPagerUp) this.#leavePager();
    this.#history.forget();
    this.#store.clear();
    this.#view.clearLive();
    this.#ids.clear();
    const blocks = blocksOf(page);
    const live = new Set(page.live);
    const firstLive = blocks.findIndex((block) => live.has(block.entry.name));
    const finished = firstLive < 0 ? blocks : blocks.slice(0, firstLive);
    const first = originNumber - finished.length;
    for (const [index, block] of finished.entries()) this.#store.set("tail", first + index, block);
    for (const { entry } of blocks) this.#facts.saw(entry);
    const lastPrompt = page.entries.findLast((e) => e.kind === "delivered" && e.sender === "user");
    this.#facts.setTurn(page.turnOpen, lastPrompt?.time);
    const newest = page.entries.findLast((e) => e.time !== undefined)?.time;
    if (newest !== undefined) this.#facts.found(newest);
    this.#way = "first";
    this.#runner.feed({ type: "resumed", cycle: 0, cycleFirst: first, nextSeq: originNumber });
    if (page.turnOpen) this.#runner.feed({ type: "turn_started" });
    for (const { entry } of firstLive < 0 ? [] : blocks.slice(firstLive)) this.#openBlock(entry);
    await this.#pump();
    const torn = tornEnd(page);
    if (torn !== undefined) {
      const text = `The last ${torn.end - torn.start} bytes of the log are no whole record (yet): they are not shown.`;
      this.#say({ tone: "warning", text });
    }
    return page;
  }

  async #follow(page: TailPage): Promise<void> {
    const changes = this.#options.session.changes(page, this.#abort.signal);
    try {
      for await (const change of changes) {
        if (this.#isOver) return;
        this.#apply(change);
        if (change.type === "reset") {
          this.#say({
            tone: "warning",
            text: `The session was rewritten (${change.reason}); it is told again from here.`,
          });
          return;
        }
        this.#isHistoryStale = true;
        this.#schedulePaint();
        if (this.#unflushed > unflushedBlocksMax) await this.#flush();
      }
      if (!this.#isOver) await this.#untilOver();
    } catch (error) {
      if (!this.#isOver) throw error;
    }
  }

  /** The log will say no more; what is shown stays until the person quits. */
  #untilOver(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#isOver) resolve();
    });
  }

  #openBlock(entry: Entry): void {
    const id = this.#nextId++;
    this.#ids.set(entry.name, id);
    this.#view.setLive(id, entry);
    this.#runner.feed({ type: "block_opened", id });
  }

  #apply(change: Change): void {
    const now = this.#options.now();
    if (change.type !== "caughtUp" && change.type !== "notice") this.#facts.heard(now);
    switch (change.type) {
      case "turnStarted":
        this.#facts.setTurn(true, change.time ?? now);
        this.#runner.feed({ type: "turn_started" });
        return;
      case "turnEnded":
        this.#facts.setTurn(false, undefined);
        this.#runner.feed({ type: "turn_ended" });
        return;
      case "blockOpened":
        this.#openBlock(change.entry);
        return;
      case "blockChanged":
        this.#changeBlock(change.entry, change.was);
        return;
      case "blockFinished": {
        const id = this.#ids.get(change.entry.name);
        this.#ids.delete(change.entry.name);
        this.#store.set("tail", this.#runner.state.nextSeq, change);
        this.#facts.saw(change.entry);
        this.#unflushed += 1;
        this.#finishing = { id, entry: change.entry };
        this.#runner.feed({ type: "block_finished", id: id ?? this.#nextId++ });
        // In a reprint it is printed with its slice.
        if (this.#finishing !== undefined && id !== undefined) this.#view.dropLive(id);
        this.#finishing = undefined;
        return;
      }
      case "blockRevised":
        this.#store.revise(change.entry);
        return;
      case "saved":
        this.#runner.feed({ type: "saved_through", seq: this.#runner.state.nextSeq });
        return;
      case "compacted":
        this.#runner.feed({ type: "compacted" });
        return;
      case "branchLeft":
        if (this.#store.leaveBranch(change.from, change.to) > 0)
          this.#say({
            tone: "information",
            text: "The conversation went back and took another path from an earlier prompt.",
          });
        return;
      case "info":
        this.#facts.setInfo(change.info);
        this.#showTitle();
        return;
      case "notice":
        if (change.tone === "warning") this.#facts.lost();
        this.#say({ tone: change.tone, text: change.text });
        return;
      case "reset":
      case "caughtUp":
        return;
    }
  }

  #changeBlock(entry: Entry, was: string | undefined): void {
    const id = this.#ids.get(was ?? entry.name);
    if (id === undefined) return;
    if (was !== undefined) {
      this.#ids.delete(was);
      this.#ids.set(entry.name, id);
    }
    this.#view.setLive(id, entry);
    this.#runner.feed({ type: "block_changed", id });
  }

  // The effects of the window

  #run(effect: WindowEffect, state: WindowState): void {
    switch (effect.type) {
      case "paint_final": {
        const finishing = this.#finishing;
        this.#finishing = undefined;
        if (finishing !== undefined) this.#view.finish(finishing.id, finishing.entry);
        this.#printedThrough = effect.seq + 1;
        return;
      }
      case "repaint_block":
      case "repaint_live":
        this.#schedulePaint();
        return;
      case "reprint_begin":
        this.#beginPainting(state);
        return;
      case "reprint_slice":
        for (let number = effect.from; number < effect.to; number++) {
          if (number < this.#printedThrough) continue;
          const block = this.#store.get("tail", number);
          if (block !== undefined) this.#view.print(block.entry);
        }
        this.#printedThrough = Math.max(this.#printedThrough, effect.to);
        return;
      case "drop":
        this.#store.prune(state);
        return;
      case "ctrlo_show":
        // The history shows it once the step is through.
        return;
      case "read_log":
        void this.#history.read(effect, state).catch((error: unknown) => this.#fail(error));
        return;
    }
  }

  #beginPainting(state: WindowState): void {
    const { head } = this.#options;
    if (this.#way === "adopt") {
      // What is printed counts as painted; blocks that an epoch before had not come to yet are printed by this one.
      this.#view.rebase();
      this.#resizeScreen("adopt");
      return;
    }
    this.#printedThrough = state.heldFloor;
    if (this.#way === "reprint") {
      this.#view.restart();
      this.#resizeScreen("reprint");
      this.#screen.clear();
    }
    if (head !== undefined) this.#view.printWords(head);
  }

  #resizeScreen(way: ResizeWay): void {
    void this.#screen.resized(way).catch((error: unknown) => this.#fail(error));
  }

  /** Prints what is left of the epoch, a slice at a time; input and changes come in between. */
  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      while (this.#runner.state.reprinting && !this.#isOver) {
        this.#runner.feed({ type: "reprint_tick" });
        if (this.#way !== "adopt") await this.#flush();
      }
    } finally {
      this.#isPumping = false;
    }
    this.#schedulePaint();
  }

  async #flush(): Promise<void> {
    this.#unflushed = 0;
    await this.#screen.flush();
  }

  // Painting

  #schedulePaint(): void {
    this.#cancelPaint ??= this.#clock.after(0, () => {
      this.#cancelPaint = undefined;
      this.#guard(() => this.#paint());
    });
  }

  #paint(): void {
    if (this.#isStopped) return;
    if (this.#isPagerUp) {
      if (this.#isHistoryStale) this.#history.refresh();
      this.#isHistoryStale = false;
      this.#painter.draw(this.#pager.rows(), this.#port.size());
      return;
    }
    if (this.#runner.state.reprinting) return;
    this.#view.paint();
    this.#keepSpinning();
  }

  /** Time alone changes the screen only while the agent is at work. */
  #keepSpinning(): void {
    if (this.#cancelSpin !== undefined || !this.#facts.isRunning(this.#options.now())) return;
    this.#cancelSpin = this.#clock.after(this.#view.isSpinning ? spinnerMs : 1000, () => {
      this.#cancelSpin = undefined;
      this.#guard(() => {
        this.#view.spin();
        this.#paint();
      });
    });
  }

  #say(notice: Notice): void {
    this.#view.setNotice(notice);
    this.#cancelNotice?.();
    this.#cancelNotice = this.#clock.after(noticeMs, () => {
      this.#cancelNotice = undefined;
      this.#view.setNotice(undefined);
      this.#schedulePaint();
    });
    this.#schedulePaint();
  }

  // Keys

  #onKey(key: Key): void {
    const name = keyName(key);
    if (name === "ctrl+z") {
      void this.#stop().catch((error: unknown) => this.#fail(error));
      return;
    }
    if (this.#isPagerUp) {
      for (const request of this.#pager.key(key)) this.#history.request(request);
      this.#schedulePaint();
      return;
    }
    switch (name) {
      case "ctrl+o":
        this.#openPager();
        return;
      case "ctrl+l":
        this.#startEpoch("reprint");
        return;
      case "q":
      case "ctrl+d":
        this.end("quit");
        return;
      case "ctrl+c":
        this.end("interrupted");
        return;
      case "?":
        this.#say({ tone: "information", text: "Ctrl+O history · Ctrl+L redraw · Ctrl+Z stop · q quit" });
        return;
    }
  }

  #copy(text: string): void {
    if (text.length > copyUnitsMax) {
      this.#pager.failed(`too long to copy (${text.length} characters; at most ${copyUnitsMax})`);
      return;
    }
    this.#port.write(`\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`);
  }

  // The pager

  #openPager(): void {
    this.#isPagerUp = true;
    this.#view.holdBack();
    const { columns, rows } = this.#port.size();
    this.#port.write(this.#modes.enter("alternateScreen") + this.#modes.enter("wheelArrows"));
    this.#pager.reset();
    this.#pager.resize(columns, rows);
    this.#painter.reset();
    this.#history.open();
    this.#schedulePaint();
  }

  #closePager(): void {
    this.#runner.offer({ type: "ctrlo_closed" });
    this.#store.prune(this.#runner.state);
    this.#leavePager();
  }

  /** Back to the main screen; what happened to the size meanwhile is one resize. */
  #leavePager(): void {
    this.#isPagerUp = false;
    this.#port.write(this.#modes.leave("wheelArrows") + this.#modes.leave("alternateScreen"));
    this.#view.release(() => this.#onSettledSize());
    this.#schedulePaint();
  }

  // Sizes

  #onResize(): void {
    this.#cancelResize?.();
    if (this.#isPagerUp) {
      const { columns, rows } = this.#port.size();
      for (const request of this.#pager.resize(columns, rows)) this.#history.request(request);
      this.#schedulePaint();
      return;
    }
    this.#cancelResize = this.#clock.after(resizeSettleMs, () => {
      this.#cancelResize = undefined;
      this.#guard(() => this.#onSettledSize());
    });
  }

  #onSettledSize(): void {
    if (this.#isPagerUp || this.#isStopped) return;
    const { columns, rows } = this.#port.size();
    const { columns: oldColumns, rows: oldRows } = this.#size;
    if (columns === oldColumns && rows === oldRows) {
      this.#resizeScreen("adopt");
      return;
    }
    this.#size = { columns, rows };
    if (columns !== oldColumns) {
      this.#startEpoch(this.#options.resizeWay);
      return;
    }
    this.#resizeScreen("adopt");
    this.#schedulePaint();
  }

  #startEpoch(way: ResizeWay): void {
    this.#way = way;
    this.#runner.feed({ type: "resized" });
    void this.#pump().catch((error: unknown) => this.#fail(error));
  }
}
