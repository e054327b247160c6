/** The pager's side of the shell: runs the reads that the window asks for and keeps the pager's view in step with it. */
import type { Session } from "../../session/index.ts";
import type { Entry } from "../../transcript/index.ts";
import { isAtTail, newerCount, type WindowEffect, type WindowState } from "../../window/index.ts";
import type { Pager, PagerRequest } from "../pager/index.ts";
import { type Block, type BlockStore, blocksOf } from "./block-store.ts";
import { rawBytesMax } from "./limits.ts";
import type { WindowRunner } from "./window-runner.ts";

type ReadEffect = Extract<WindowEffect, { readonly type: "read_log" }>;

export interface HistoryOptions {
  readonly session: Session;
  readonly runner: WindowRunner;
  readonly store: BlockStore;
  readonly pager: Pager;
  /** The live blocks, shown below the newest finished one. */
  readonly liveEntries: () => readonly Entry[];
  /** Something on the pager changed. */
  readonly changed: () => void;
  readonly copy: (text: string) => void;
  /** The person closed the pager. */
  readonly closed: () => void;
}

interface Reply {
  readonly blocks: readonly Block[];
  readonly met: boolean;
}

export class History {
  readonly #options: HistoryOptions;
  /** Rises with every new tail: replies to reads of before are void. */
  #generation = 0;
  /** Home was pressed while a read was in flight: it is asked after the reply. */
  #wantsStart = false;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  open(): void {
    this.#wantsStart = false;
    if (this.#options.runner.offer({ type: "ctrlo_opened" }) === undefined) this.refresh();
  }

  /** Reads in flight are forgotten. */
  forget(): void {
    this.#generation += 1;
    this.#wantsStart = false;
  }

  /** Shows what the window says, in the newest versions of its blocks. */
  refresh(): void {
    const { runner, store, pager, liveEntries, changed } = this.#options;
    const { state } = runner;
    const { ctrlo } = state;
    if (!ctrlo.open) return;
    const atEnd = isAtTail(state);
    const blocks = store.range(ctrlo.anchor, ctrlo.lo, ctrlo.hi).map(({ entry }) => ({ entry }));
    const live = atEnd ? liveEntries().map((entry) => ({ entry, live: true })) : [];
    const wanted = pager.show({
      blocks: [...blocks, ...live],
      atStart: ctrlo.atStart,
      atEnd,
      loading: ctrlo.pending !== undefined,
      newBlocks: newerCount(state) ?? 0,
    });
    changed();
    for (const request of wanted) this.request(request);
  }

  request(request: PagerRequest): void {
    switch (request.type) {
      case "older":
      case "newer":
        this.#move({ type: "ctrlo_scrolled", dir: request.type });
        return;
      case "start":
      case "end":
        this.#move({ type: "ctrlo_jumped", to: request.type });
        return;
      case "close":
        this.#options.closed();
        return;
      case "raw":
        void this.#giveRaw(request.entry);
        return;
      case "copy":
        this.#options.copy(request.text);
        return;
    }
  }

  /** Runs a read; its answer is fed to the window with its token. */
  async read(effect: ReadEffect, state: WindowState): Promise<void> {
    const generation = this.#generation;
    const { runner, store, pager } = this.#options;
    let reply: Reply | undefined;
    let problem = "";
    try {
      reply = await this.#readLog(effect, state);
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
    if (generation !== this.#generation) return;
    const { pending } = runner.state.ctrlo;
    // The pager was closed, or jumped to the end, meanwhile: nobody waits for the answer.
    if (pending?.token !== effect.token) return;
    if (reply === undefined) {
      runner.feed({ type: "log_read_failed", token: effect.token });
      pager.failed(`the log cannot be read: ${problem}`);
    } else {
      this.#place(effect, reply, runner.state);
      const { met, blocks } = reply;
      runner.feed({
        type: "log_read_done",
        token: effect.token,
        count: blocks.length,
        ...(met ? { met } : {}),
      });
    }
    store.prune(runner.state);
    if (this.#wantsStart) {
      this.#wantsStart = false;
      this.#move({ type: "ctrlo_jumped", to: "start" });
      return;
    }
    this.refresh();
  }

  #move(event: Parameters<WindowRunner["offer"]>[0]): void {
    const rejected = this.#options.runner.offer(event);
    if (rejected === "read is pending" && event.type === "ctrlo_jumped") this.#wantsStart = true;
    this.#options.store.prune(this.#options.runner.state);
    this.refresh();
  }

  /** Puts the blocks of a reply under the numbers that the window will give them. */
  #place(effect: ReadEffect, { blocks, met }: Reply, state: WindowState): void {
    const { store } = this.#options;
    const { ctrlo, heldFloor } = state;
    const edge = effect.dir === "older" ? ctrlo.lo : ctrlo.hi;
    if (effect.dir !== "first" && edge !== effect.from) return;
    const anchor = effect.dir === "first" ? "start" : ctrlo.anchor;
    const from =
      effect.dir === "older" ? effect.from - blocks.length : effect.dir === "first" ? 0 : effect.from;
    for (const [index, block] of blocks.entries()) store.set(anchor, from + index, block);
    if (met) store.reanchor(from + blocks.length, heldFloor);
  }

  async #readLog({ dir, from, count }: ReadEffect, state: WindowState): Promise<Reply> {
    const { session, store } = this.#options;
    const { anchor } = state.ctrlo;
    if (dir === "first") return this.#untilHeld(blocksOf(await session.first(count)));
    if (dir === "older") {
      const edge = store.startOf(anchor, from);
      if (edge === undefined) return { blocks: [], met: false };
      return { blocks: blocksOf(await session.older(edge, count)), met: false };
    }
    const edge = store.get(anchor, from - 1);
    if (edge === undefined) return { blocks: [], met: false };
    const blocks = blocksOf(await session.newer(edge.end, count));
    if (anchor === "start") return this.#untilHeld(blocks);
    return { blocks: blocks.slice(0, Math.max(0, this.#options.runner.state.nextSeq - from)), met: false };
  }

  /** Stops at the oldest held block, or where nothing is held behind the newest finished one; says whether it got there. */
  #untilHeld(blocks: readonly Block[]): Reply {
    const { runner, store } = this.#options;
    const { heldFloor, nextSeq } = runner.state;
    const isAnyHeld = heldFloor < nextSeq;
    const name = isAnyHeld ? store.get("tail", heldFloor)?.entry.name : store.newest?.name;
    const index = blocks.findIndex((block) => block.entry.name === name);
    if (index < 0) return { blocks, met: false };
    return { blocks: blocks.slice(0, isAnyHeld ? index : index + 1), met: true };
  }

  async #giveRaw(entry: Entry): Promise<void> {
    const { session, pager, changed } = this.#options;
    if (entry.place === undefined) return;
    const generation = this.#generation;
    try {
      const bytes = await session.raw(entry.place, rawBytesMax);
      if (generation !== this.#generation) return;
      const isCut = entry.place.end - entry.place.start > bytes.length;
      pager.giveRaw(entry.name, bytes, isCut);
    } catch (error) {
      pager.failed(error instanceof Error ? error.message : String(error));
    }
    changed();
  }
}
