/** The terminal shell: feeds what happens to the window core and runs its effects on the screen. */
import { type Change, type DriverState, type TailPage, tornEnd } from "../../session/index.ts";
import type { WindowEffect, WindowState } from "../../window/index.ts";
import { type Key, keyName } from "../input/index.ts";
import { createScreen, roomOf, type Screen } from "../screen/index.ts";
import { Talk, turnLine } from "../talk/index.ts";
import { BlockStore } from "./block-store.ts";
import { ChangeFeed } from "./change-feed.ts";
import { Epochs } from "./epochs.ts";
import { tailBlocks, windowConfig } from "./limits.ts";
import { MainView } from "./main-view.ts";
import { PagerHost } from "./pager-host.ts";
import { Repaints } from "./repaints.ts";
import { Sizes } from "./sizes.ts";
import { StatusFacts } from "./status.ts";
import { TerminalAccess } from "./terminal-access.ts";
import type { Shell, ShellEnd, ShellOptions, TalkSpec } from "./types.ts";
import { WindowRunner } from "./window-runner.ts";

const mainKeys = ["Ctrl+O history", "q quit"] as const;

export function createShell(options: ShellOptions): Shell {
  return new TerminalShell(options);
}

class TerminalShell implements Shell {
  readonly #options: ShellOptions;
  readonly #terminal: TerminalAccess;
  readonly #runner: WindowRunner;
  readonly #store = new BlockStore();
  readonly #facts: StatusFacts;
  readonly #view: MainView;
  readonly #pager: PagerHost;
  readonly #epochs: Epochs;
  readonly #feed: ChangeFeed;
  readonly #repaints: Repaints;
  readonly #sizes: Sizes;
  readonly #talk: Talk | undefined;
  /** The end of a turn that is to be told once its blocks are printed. */
  #turnToTell: DriverState["lastTurn"];
  readonly #abort = new AbortController();
  #screen: Screen;
  #isStopped = false;
  #why: ShellEnd | undefined;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(options: ShellOptions) {
    const { port, clock, now, layout } = options;
    const isRunning = (): boolean => this.#talk?.isAtWork ?? this.#facts.isRunning(now());
    this.#options = options;
    this.#facts = new StatusFacts(options.session.info, now());
    this.#terminal = new TerminalAccess({
      port,
      clock,
      hasStrings: options.hasStrings === true,
      tellsKeys: options.hasStrings === true && options.talk !== undefined,
      onKey: (key) => this.#guard(() => this.#onKey(key)),
      onResize: () => this.#guard(() => this.#onResize()),
      onGone: () => this.end("hung-up"),
    });
    this.#repaints = new Repaints({
      clock,
      guard: (call) => this.#guard(call),
      paint: () => this.#paint(),
      setNotice: (notice) => this.#view.setNotice(notice),
      isRunning,
      isSpinning: () => this.#view.isSpinning,
      spin: () => this.#view.spin(),
    });
    this.#epochs = new Epochs({
      runner: () => this.#runner,
      store: this.#store,
      view: () => this.#view,
      screen: () => this.#screen,
      ...(options.head === undefined ? {} : { head: options.head }),
      isOver: () => this.#isOver,
      changed: () => this.#repaints.schedule(),
      fail: (error) => this.#fail(error),
    });
    this.#runner = new WindowRunner({
      config: windowConfig,
      save: "saved",
      run: (effect, state) => this.#run(effect, state),
      ...(options.trace === undefined ? {} : { trace: options.trace }),
    });
    this.#screen = this.#createScreen();
    this.#talk = options.talk === undefined ? undefined : this.#createTalk(options.talk);
    this.#view = new MainView(this.#screen, {
      size: () => port.size(),
      status: () => this.#facts.status(now(), mainKeys),
      layout,
      now,
      isRunning,
      ...(this.#talk === undefined ? {} : { foot: this.#talk.foot.bind(this.#talk) }),
    });
    this.#pager = new PagerHost({
      shell: options,
      terminal: this.#terminal,
      runner: this.#runner,
      store: this.#store,
      view: this.#view,
      liveEntries: () => [...this.#view.liveEntries(), ...(this.#talk?.entries() ?? [])],
      changed: () => this.#repaints.schedule(),
      settleSize: () => this.#onSettledSize(),
    });
    this.#sizes = new Sizes(clock, port.size(), () => this.#guard(() => this.#onSettledSize()));
    this.#feed = new ChangeFeed({
      runner: this.#runner,
      store: this.#store,
      facts: this.#facts,
      view: this.#view,
      epochs: this.#epochs,
      now,
      say: (notice) => this.#repaints.say(notice),
      infoChanged: () => this.#showTitle(),
    });
  }

  async run(): Promise<ShellEnd> {
    this.#terminal.enter();
    this.#showTitle();
    if (this.#options.greeting !== undefined) this.#repaints.say(this.#options.greeting);
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
    this.#terminal.rescue();
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

  // The terminal

  #createScreen(): Screen {
    return createScreen(this.#options.port, this.#options.clock, {
      theme: this.#options.theme,
      isSynchronized: this.#options.isSynchronized,
      hasMarks: this.#options.hasStrings === true,
      askCursor: () => this.#terminal.askCursor(),
    });
  }

  /** The window's title: the session's. */
  #showTitle(): void {
    const { title, id } = this.#facts.info;
    const sign = this.#talk?.isAsking === true ? "? " : "";
    this.#terminal.showTitle(`${sign}${title ?? id} · hansard`);
  }

  #createTalk({ session, by, editText }: TalkSpec): Talk {
    const { port, clock, now, layout } = this.#options;
    return new Talk({
      session,
      clock,
      now,
      by,
      layout,
      liveEntries: () => this.#view.liveEntries(),
      width: () => roomOf(port.size().columns),
      say: (notice) => this.#repaints.say(notice),
      changed: () => this.#repaints.schedule(),
      quit: () => this.end("quit"),
      fail: (error) => this.#fail(error),
      ...(editText === undefined ? {} : { openEditor: (text: string) => this.#editText(editText, text) }),
    });
  }

  /** Lends the terminal to the person's editor. */
  async #editText(editText: NonNullable<TalkSpec["editText"]>, text: string): Promise<string | undefined> {
    let edited: string | undefined;
    await this.#lend(async () => {
      edited = await editText(text);
    });
    return edited;
  }

  async #leave(): Promise<void> {
    this.#repaints.stop();
    this.#talk?.stop();
    this.#sizes.stop();
    this.#abort.abort();
    if (this.#why !== "hung-up") {
      this.#pager.abandon();
      // A size that has not settled yet, or changed under the pager, is adopted: at the end nothing is cleared.
      this.#screen.resume();
      await this.#screen.resized("adopt");
      this.#view.rebase();
      this.#view.release();
      if (this.#failure === undefined) this.#epochs.finish();
      this.#screen.end(this.#options.foot?.(this.#terminal.size.columns) ?? []);
      await this.#terminal.finish();
    }
    this.#terminal.release();
  }

  /** Ctrl+Z: the terminal is given back until the process goes on. */
  async #stop(): Promise<void> {
    const { stopProcess } = this.#options;
    if (stopProcess !== undefined) await this.#lend(stopProcess);
  }

  /** Gives the terminal to `user` until that is done. */
  async #lend(user: () => Promise<void>): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    if (this.#pager.isUp) this.#pager.close();
    this.#repaints.stopSpinning();
    this.#screen.end();
    await this.#terminal.giveBack();
    await user();
    this.#isStopped = false;
    if (this.#isOver) return;
    this.#terminal.takeBack();
    this.#showTitle();
    this.#screen = this.#createScreen();
    this.#view.useScreen(this.#screen);
    this.#onSettledSize();
    this.#repaints.schedule();
  }

  // The session

  async #openTail(): Promise<TailPage> {
    const page = await this.#options.session.tail(tailBlocks);
    this.#pager.leave();
    this.#pager.history.forget();
    this.#feed.begin(page);
    this.#talk?.begin(page);
    await this.#epochs.pump();
    const torn = tornEnd(page);
    if (torn !== undefined) {
      const text = `The last ${torn.end - torn.start} bytes of the log are no whole record (yet): they are not shown.`;
      this.#repaints.say({ tone: "warning", text });
    }
    return page;
  }

  async #follow(page: TailPage): Promise<void> {
    const changes = this.#options.session.changes(page, this.#abort.signal);
    try {
      for await (const change of changes) {
        if (this.#isOver) return;
        this.#feed.apply(change);
        this.#hear(change);
        if (change.type === "reset") return;
        this.#pager.outdate();
        this.#repaints.schedule();
        await this.#epochs.keepUp();
      }
      if (!this.#isOver) await this.#untilOver();
    } catch (error) {
      if (!this.#isOver) throw error;
    }
  }

  /** What the talk and the turn's own line have of a change. */
  #hear(change: Change): void {
    if (change.type === "driver" && this.#talk !== undefined) {
      const { lastTurn } = this.#talk.driver;
      this.#talk.apply(change.driver);
      if (change.driver.lastTurn !== lastTurn) this.#turnToTell = change.driver.lastTurn;
      this.#showTitle();
    }
    const turn = this.#turnToTell;
    if (turn === undefined || this.#runner.state.turnOpen) return;
    this.#turnToTell = undefined;
    this.#epochs.addWords((width) => turnLine(turn, width));
  }

  /** The log will say no more; what is shown stays until the person quits. */
  #untilOver(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#isOver) resolve();
    });
  }

  // The effects of the window

  #run(effect: WindowEffect, state: WindowState): void {
    switch (effect.type) {
      case "drop":
        this.#store.prune(state);
        return;
      case "ctrlo_show":
        // The history shows it once the step is through.
        return;
      case "read_log":
        void this.#pager.history.read(effect, state).catch((error: unknown) => this.#fail(error));
        return;
      default:
        this.#epochs.run(effect, state);
    }
  }

  #paint(): void {
    if (this.#isStopped) return;
    if (this.#pager.isUp) {
      this.#pager.paint();
      return;
    }
    if (this.#runner.state.reprinting) return;
    this.#view.paint();
    this.#repaints.keepSpinning();
  }

  // Keys and sizes

  #onKey(key: Key): void {
    const name = keyName(key);
    if (name === "ctrl+z") {
      void this.#stop().catch((error: unknown) => this.#fail(error));
      return;
    }
    if (this.#pager.isUp) {
      this.#pager.key(key);
      return;
    }
    if (this.#talk?.key(key) === true) return;
    this.#onCommand(name);
  }

  #onCommand(name: string): void {
    switch (name) {
      case "ctrl+o":
        this.#pager.open();
        return;
      case "ctrl+l":
        this.#epochs.start("reprint");
        return;
    }
    // What follows is text where there is a prompt.
    if (this.#talk !== undefined) return;
    switch (name) {
      case "q":
      case "ctrl+d":
        this.end("quit");
        return;
      case "ctrl+c":
        this.end("interrupted");
        return;
      case "?":
        this.#repaints.say({
          tone: "information",
          text: "Ctrl+O history · Ctrl+L redraw · Ctrl+Z stop · q quit",
        });
        return;
    }
  }

  #onResize(): void {
    this.#screen.sizeHeard();
    this.#sizes.stop();
    if (this.#pager.isUp) this.#pager.resize();
    else this.#sizes.heard();
  }

  #onSettledSize(): void {
    if (this.#pager.isUp || this.#isStopped) return;
    const changed = this.#sizes.take(this.#terminal.size);
    if (changed === "width") {
      this.#epochs.start(this.#options.resizeWay);
      return;
    }
    this.#epochs.resizeScreen("adopt");
    if (changed === "height") this.#repaints.schedule();
  }
}
