/** Runs the window's painting effects: which blocks are on the terminal, and how an epoch gets them there. */
import type { Entry } from "../../transcript/index.ts";
import type { WindowEffect, WindowState } from "../../window/index.ts";
import type { Screen } from "../screen/index.ts";
import type { Line } from "../text/index.ts";
import type { BlockStore } from "./block-store.ts";
import { unflushedBlocksMax } from "./limits.ts";
import type { MainView } from "./main-view.ts";
import type { ResizeWay } from "./types.ts";
import type { WindowRunner } from "./window-runner.ts";

type PaintEffect = Extract<
  WindowEffect,
  { readonly type: "paint_final" | "reprint_begin" | "reprint_slice" | "repaint_block" | "repaint_live" }
>;

export interface EpochsOptions {
  readonly runner: () => WindowRunner;
  readonly store: BlockStore;
  readonly view: () => MainView;
  readonly screen: () => Screen;
  /** Lines that head the transcript. */
  readonly head?: (width: number) => readonly Line[];
  readonly isOver: () => boolean;
  readonly changed: () => void;
  readonly fail: (error: unknown) => void;
}

interface Finishing {
  readonly id: number | undefined;
  readonly entry: Entry;
}

export class Epochs {
  readonly #options: EpochsOptions;
  #way: "first" | ResizeWay = "first";
  /** Blocks below this number are on the terminal, or wait for it. */
  #printedThrough = 0;
  #finishing: Finishing | undefined;
  /** Our own words, by the number of the block they stand under. */
  readonly #words = new Map<number, (width: number) => Line>();
  #isPumping = false;
  #unflushed = 0;

  constructor(options: EpochsOptions) {
    this.#options = options;
  }

  /** The next epoch is that of a new tail: it clears nothing. */
  restart(): void {
    this.#way = "first";
    this.#words.clear();
  }

  /** A block is finished by `feed`; tells whether it was printed at once. */
  finishing(block: Finishing, feed: () => void): boolean {
    this.#unflushed += 1;
    this.#finishing = block;
    feed();
    const isPrinted = this.#finishing === undefined;
    this.#finishing = undefined;
    return isPrinted;
  }

  /** Prints a line of ours under the newest block; it is printed again wherever that block is. */
  addWords(line: (width: number) => Line): void {
    const { state } = this.#options.runner();
    const number = state.nextSeq - 1;
    for (const known of this.#words.keys()) if (known < state.heldFloor) this.#words.delete(known);
    this.#words.set(number, line);
    if (number < this.#printedThrough) this.#options.view().printAside((width) => [line(width)]);
  }

  run(effect: PaintEffect, state: WindowState): void {
    const { store } = this.#options;
    switch (effect.type) {
      case "paint_final": {
        const finishing = this.#finishing;
        this.#finishing = undefined;
        if (finishing !== undefined) this.#options.view().finish(finishing.id, finishing.entry);
        this.#printedThrough = effect.seq + 1;
        return;
      }
      case "repaint_block":
      case "repaint_live":
        this.#options.changed();
        return;
      case "reprint_begin":
        this.#begin(state);
        return;
      case "reprint_slice":
        for (let number = effect.from; number < effect.to; number++) {
          if (number < this.#printedThrough) continue;
          const block = store.get("tail", number);
          if (block !== undefined) this.#options.view().print(block.entry);
          const words = this.#words.get(number);
          if (words !== undefined) this.#options.view().printAside((width) => [words(width)]);
        }
        this.#printedThrough = Math.max(this.#printedThrough, effect.to);
        return;
    }
  }

  start(way: ResizeWay): void {
    this.#way = way;
    this.#options.runner().feed({ type: "resized" });
    void this.pump().catch(this.#options.fail);
  }

  /** Prints what is left of the epoch, a slice at a time; input and changes come in between. */
  async pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    const runner = this.#options.runner();
    try {
      while (runner.state.reprinting && !this.#options.isOver()) {
        runner.feed({ type: "reprint_tick" });
        if (this.#way !== "adopt") await this.#flush();
      }
    } finally {
      this.#isPumping = false;
    }
    this.#options.changed();
  }

  /** Prints the rest of the epoch at once, for the end: what stays on the terminal is whole. At most what is held. */
  finish(): void {
    const runner = this.#options.runner();
    while (runner.state.reprinting) runner.feed({ type: "reprint_tick" });
  }

  /** Waits for the terminal where much was handed to the screen. */
  async keepUp(): Promise<void> {
    if (this.#unflushed > unflushedBlocksMax) await this.#flush();
  }

  resizeScreen(way: ResizeWay): void {
    void this.#options.screen().resized(way).catch(this.#options.fail);
  }

  #begin(state: WindowState): void {
    const { head } = this.#options;
    const view = this.#options.view();
    if (this.#way === "adopt") {
      // What is printed counts as painted; blocks that an epoch before had not come to yet are printed by this one.
      view.rebase();
      this.resizeScreen("adopt");
      return;
    }
    this.#printedThrough = state.heldFloor;
    if (this.#way === "reprint") {
      view.restart();
      this.resizeScreen("reprint");
      this.#options.screen().clear();
    }
    if (head !== undefined) view.printWords(head);
  }

  async #flush(): Promise<void> {
    this.#unflushed = 0;
    await this.#options.screen().flush();
  }
}
