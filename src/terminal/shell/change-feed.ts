/** What happens in the session, told to the window, the status row and the main screen. */
import type { Change, TailPage } from "../../session/index.ts";
import type { Entry } from "../../transcript/index.ts";
import type { Notice } from "../render/index.ts";
import { type BlockStore, blocksOf } from "./block-store.ts";
import type { Epochs } from "./epochs.ts";
import { originNumber } from "./limits.ts";
import type { MainView } from "./main-view.ts";
import type { StatusFacts } from "./status.ts";
import type { WindowRunner } from "./window-runner.ts";

export interface ChangeFeedOptions {
  readonly runner: WindowRunner;
  readonly store: BlockStore;
  readonly facts: StatusFacts;
  readonly view: MainView;
  readonly epochs: Epochs;
  readonly now: () => number;
  readonly say: (notice: Notice) => void;
  /** What is known of the session is other than before. */
  readonly infoChanged: () => void;
}

export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #ids = new Map<string, number>();
  #nextId = 0;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  /** A tail was read: nothing of before counts any more. */
  begin(page: TailPage): void {
    const { runner, store, facts, view, epochs } = this.#options;
    store.clear();
    view.clearLive();
    this.#ids.clear();
    const blocks = blocksOf(page);
    const live = new Set(page.live);
    const firstLive = blocks.findIndex((block) => live.has(block.entry.name));
    const finished = firstLive < 0 ? blocks : blocks.slice(0, firstLive);
    const first = originNumber - finished.length;
    for (const [index, block] of finished.entries()) store.set("tail", first + index, block);
    for (const { entry } of blocks) facts.saw(entry);
    const lastPrompt = page.entries.findLast((e) => e.kind === "delivered" && e.sender === "user");
    facts.setTurn(page.turnOpen, lastPrompt?.time);
    const newest = page.entries.findLast((e) => e.time !== undefined)?.time;
    if (newest !== undefined) facts.found(newest);
    epochs.restart();
    runner.feed({ type: "resumed", cycle: 0, cycleFirst: first, nextSeq: originNumber });
    if (page.turnOpen) runner.feed({ type: "turn_started" });
    for (const { entry } of firstLive < 0 ? [] : blocks.slice(firstLive)) this.#open(entry);
  }

  apply(change: Change): void {
    const { runner, store, facts, say } = this.#options;
    const now = this.#options.now();
    if (change.type !== "caughtUp" && change.type !== "notice") facts.heard(now);
    switch (change.type) {
      case "turnStarted":
        facts.setTurn(true, change.time ?? now);
        runner.feed({ type: "turn_started" });
        return;
      case "turnEnded":
        facts.setTurn(false, undefined);
        runner.feed({ type: "turn_ended" });
        return;
      case "blockOpened":
        this.#open(change.entry);
        return;
      case "blockChanged":
        this.#change(change.entry, change.was);
        return;
      case "blockFinished":
        this.#finish(change);
        return;
      case "blockRevised":
        store.revise(change.entry);
        return;
      case "saved":
        runner.feed({ type: "saved_through", seq: runner.state.nextSeq });
        return;
      case "compacted":
        runner.feed({ type: "compacted" });
        return;
      case "branchLeft":
        if (store.leaveBranch(change.from, change.to) > 0)
          say({
            tone: "information",
            text: "The conversation went back and took another path from an earlier prompt.",
          });
        return;
      case "info":
        facts.setInfo(change.info);
        this.#options.infoChanged();
        return;
      case "notice":
        if (change.tone === "warning") facts.lost();
        say({ tone: change.tone, text: change.text });
        return;
      case "reset":
        say({
          tone: "warning",
          text: `The session was rewritten (${change.reason}); it is told again from here.`,
        });
        return;
      case "caughtUp":
      case "driver":
        return;
    }
  }

  #open(entry: Entry): void {
    const id = this.#nextId++;
    this.#ids.set(entry.name, id);
    this.#options.view.setLive(id, entry);
    this.#options.runner.feed({ type: "block_opened", id });
  }

  #change(entry: Entry, was: string | undefined): void {
    const id = this.#ids.get(was ?? entry.name);
    if (id === undefined) return;
    if (was !== undefined) {
      this.#ids.delete(was);
      this.#ids.set(entry.name, id);
    }
    this.#options.view.setLive(id, entry);
    this.#options.runner.feed({ type: "block_changed", id });
  }

  #finish(change: Change & { readonly type: "blockFinished" }): void {
    const { runner, store, facts, view, epochs } = this.#options;
    const id = this.#ids.get(change.entry.name);
    this.#ids.delete(change.entry.name);
    store.set("tail", runner.state.nextSeq, change);
    facts.saw(change.entry);
    const isPrinted = epochs.finishing({ id, entry: change.entry }, () =>
      runner.feed({ type: "block_finished", id: id ?? this.#nextId++ }),
    );
    // In a reprint it is printed with its slice.
    if (!isPrinted && id !== undefined) view.dropLive(id);
  }
}
