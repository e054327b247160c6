/** The pager on the terminal: opened over the main screen, fed by the history, drawn, closed. */
import type { Entry } from "../../transcript/index.ts";
import type { Key } from "../input/index.ts";
import { createPager, createPagerPainter, type Pager, type PagerPainter } from "../pager/index.ts";
import type { BlockStore } from "./block-store.ts";
import { History } from "./history.ts";
import { copyUnitsMax, windowConfig } from "./limits.ts";
import type { MainView } from "./main-view.ts";
import type { TerminalAccess } from "./terminal-access.ts";
import type { ShellOptions } from "./types.ts";
import type { WindowRunner } from "./window-runner.ts";

export interface PagerHostOptions {
  readonly shell: ShellOptions;
  readonly terminal: TerminalAccess;
  readonly runner: WindowRunner;
  readonly store: BlockStore;
  readonly view: MainView;
  /** What is not finished, shown below the newest finished block. */
  readonly liveEntries: () => readonly Entry[];
  readonly changed: () => void;
  /** The main screen is there again; a size that changed meanwhile is settled by it. */
  readonly settleSize: () => void;
}

export class PagerHost {
  readonly history: History;
  readonly #options: PagerHostOptions;
  readonly #pager: Pager;
  readonly #painter: PagerPainter;
  #isUp = false;
  /** The session went on since the history was shown last. */
  #isStale = false;

  constructor(options: PagerHostOptions) {
    const { shell, runner, store, changed } = options;
    this.#options = options;
    this.#pager = createPager({
      layout: shell.layout,
      reach: { blocksMax: windowConfig.window, stepMax: windowConfig.step },
    });
    this.#painter = createPagerPainter(shell.port, {
      theme: shell.theme,
      isSynchronized: shell.isSynchronized,
    });
    this.history = new History({
      session: shell.session,
      runner,
      store,
      pager: this.#pager,
      liveEntries: options.liveEntries,
      changed,
      copy: (text) => this.#copy(text),
      closed: () => this.close(),
    });
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  open(): void {
    const { terminal, view, changed } = this.#options;
    this.#isUp = true;
    view.holdBack();
    const { columns, rows } = terminal.size;
    terminal.enterAlternate();
    this.#pager.reset();
    this.#pager.resize(columns, rows);
    this.#painter.reset();
    this.history.open();
    changed();
  }

  close(): void {
    const { runner, store } = this.#options;
    runner.offer({ type: "ctrlo_closed" });
    store.prune(runner.state);
    this.leave();
  }

  /** Back to the main screen; what happened to the size meanwhile is one resize. */
  leave(): void {
    if (!this.#isUp) return;
    this.abandon();
    this.#options.view.release(this.#options.settleSize);
    this.#options.changed();
  }

  /** Gives the alternate screen up; the caller puts the main screen right. */
  abandon(): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#options.terminal.leaveAlternate();
  }

  key(key: Key): void {
    for (const request of this.#pager.key(key)) this.history.request(request);
    this.#options.changed();
  }

  resize(): void {
    const { columns, rows } = this.#options.terminal.size;
    for (const request of this.#pager.resize(columns, rows)) this.history.request(request);
    this.#options.changed();
  }

  /** The session went on: the next `paint` shows it. */
  outdate(): void {
    this.#isStale = true;
  }

  paint(): void {
    if (this.#isStale) this.history.refresh();
    this.#isStale = false;
    this.#painter.draw(this.#pager.rows(), this.#options.terminal.size);
  }

  #copy(text: string): void {
    if (text.length > copyUnitsMax) {
      this.#pager.failed(`too long to copy (${text.length} characters; at most ${copyUnitsMax})`);
      return;
    }
    this.#options.terminal.write(`\x1b]52;c;${Buffer.from(text).toString("base64")}\x07`);
  }
}
