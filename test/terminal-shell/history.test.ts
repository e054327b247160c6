import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Pager } from "../../src/terminal/pager/index.ts";
import { BlockStore } from "../../src/terminal/shell/block-store.ts";
import { History } from "../../src/terminal/shell/history.ts";
import { WindowRunner } from "../../src/terminal/shell/window-runner.ts";
import type { WindowConfig } from "../../src/window/index.ts";
import { createFakeSession, entryOf, type FakeSession } from "./fake-session.ts";

type View = Parameters<Pager["show"]>[0];

const config: WindowConfig = {
  window: 6,
  step: 3,
  slice: 2,
  maxLive: 2,
  maxHeld: 5,
  followWhileOpen: true,
  jump: true,
};
const origin = 1000;

interface Rig {
  readonly session: FakeSession;
  readonly history: History;
  readonly runner: WindowRunner;
  readonly store: BlockStore;
  readonly view: () => View;
  readonly failures: string[];
  readonly isClosed: () => boolean;
  /** Lets reads through and everything that follows from them happen. */
  settle(): Promise<void>;
  append(): void;
}

function rig(count: number, held: number): Rig {
  const session = createFakeSession(Array.from({ length: count }, (_, index) => entryOf(index)));
  const store = new BlockStore();
  let view: View | undefined;
  let isClosed = false;
  const failures: string[] = [];
  const pager = {
    show: (shown: View) => {
      view = shown;
      return [];
    },
    failed: (message: string) => failures.push(message),
    giveRaw: () => undefined,
  } as unknown as Pager;
  const runner: WindowRunner = new WindowRunner({
    config,
    save: "saved",
    run: (effect, state) => {
      if (effect.type === "read_log") void history.read(effect, state);
      if (effect.type === "drop") store.prune(state);
    },
  });
  const history = new History({
    session,
    runner,
    store,
    pager,
    liveEntries: () => [],
    changed: () => undefined,
    copy: () => undefined,
    closed: () => {
      isClosed = true;
      runner.offer({ type: "ctrlo_closed" });
      store.prune(runner.state);
    },
  });
  const first = Math.max(0, count - held);
  if (held === 0 && count > 0) {
    // Everything is dropped: a compaction was the last thing that happened.
    store.set("tail", origin - 1, {
      entry: session.log[count - 1]!,
      start: String(count - 1),
      end: String(count),
    });
  }
  for (let index = first; index < count; index++) {
    store.set("tail", origin - count + index, {
      entry: session.log[index]!,
      start: String(index),
      end: String(index + 1),
    });
  }
  runner.feed({ type: "resumed", cycle: 0, cycleFirst: origin - (count - first), nextSeq: origin });
  while (runner.state.reprinting) runner.feed({ type: "reprint_tick" });
  return {
    session,
    history,
    runner,
    store,
    view: () => view as View,
    failures,
    isClosed: () => isClosed,
    async settle() {
      await session.letThrough();
      for (let turn = 0; turn < 40; turn++) await Promise.resolve();
    },
    append() {
      const index = session.log.length;
      session.log.push(entryOf(index));
      const { nextSeq } = runner.state;
      store.set("tail", nextSeq, {
        entry: session.log[index]!,
        start: String(index),
        end: String(index + 1),
      });
      runner.feed({ type: "block_finished", id: index });
      runner.feed({ type: "saved_through", seq: nextSeq + 1 });
      history.refresh();
    },
  };
}

function indices(view: View): readonly number[] {
  return view.blocks.map(({ entry }) => Number(entry.name.slice(1)));
}

async function press(r: Rig, type: "older" | "newer" | "start" | "end"): Promise<void> {
  r.history.request({ type });
  await r.settle();
}

describe("the history", () => {
  test("opens from memory, without a read", () => {
    const r = rig(20, 4);
    r.session.isHeld = true;
    r.history.open();
    expect(indices(r.view())).toEqual([16, 17, 18, 19]);
    expect(r.view()).toMatchObject({ atEnd: true, atStart: false, loading: false, newBlocks: 0 });
  });

  test("reads older blocks by the step, to the first one, and says so", async () => {
    const r = rig(8, 2);
    r.history.open();
    await press(r, "older");
    expect(indices(r.view())).toEqual([3, 4, 5, 6, 7]);
    await press(r, "older");
    expect(indices(r.view())).toEqual([0, 1, 2, 3, 4, 5]);
    await press(r, "older");
    expect(r.view().atStart).toBe(true);
  });

  test("Home shows the first blocks of the log after one read, and scrolls on from there into memory", async () => {
    const r = rig(30, 4);
    r.history.open();
    await press(r, "start");
    expect(indices(r.view())).toEqual([0, 1, 2, 3, 4, 5]);
    expect(r.view().atStart).toBe(true);
    for (let count = 0; count < 12; count++) await press(r, "newer");
    expect(indices(r.view()).at(-1)).toBe(29);
    expect(r.view().atEnd).toBe(true);
    await press(r, "older");
    expect(indices(r.view())).toEqual([21, 22, 23, 24, 25, 26]);
  });

  test("Home while a read is in flight is asked after its reply", async () => {
    const r = rig(30, 4);
    r.history.open();
    r.session.isHeld = true;
    r.history.request({ type: "older" });
    r.history.request({ type: "start" });
    expect(r.view().loading).toBe(true);
    await r.settle();
    await r.settle();
    expect(indices(r.view())).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test("a read that fails is said, and asked again by the next key", async () => {
    const r = rig(20, 4);
    r.history.open();
    r.session.failNext = "the disk is gone";
    await press(r, "older");
    expect(r.failures).toEqual(["the log cannot be read: the disk is gone"]);
    expect(r.view().loading).toBe(false);
    await press(r, "older");
    expect(indices(r.view())[0]).toBe(13);
  });

  test("a reply that comes after closing, or after a new tail, moves nothing", async () => {
    const r = rig(20, 4);
    r.history.open();
    r.session.isHeld = true;
    r.history.request({ type: "older" });
    r.history.request({ type: "close" });
    await r.settle();
    expect(r.isClosed()).toBe(true);
    r.history.open();
    expect(indices(r.view())).toEqual([16, 17, 18, 19]);
    r.history.request({ type: "older" });
    r.history.forget();
    r.runner.feed({ type: "resumed", cycle: 0, cycleFirst: origin - 4, nextSeq: origin });
    await r.settle();
    expect(r.runner.state.ctrlo.open).toBe(false);
  });

  test("cc#25926, openclaude#1857, codex#22088: 20,000 blocks on, no more is kept than the window's bounds", () => {
    const r = rig(4, 4);
    r.history.open();
    let most = 0;
    for (let count = 0; count < 20_000; count++) {
      r.append();
      most = Math.max(most, r.store.size);
    }
    expect(most).toBeLessThanOrEqual(config.maxHeld! + config.window);
    expect(indices(r.view()).at(-1)).toBe(20_003);
  });

  test("whatever is pressed and appended, the blocks shown are neighbours in the log, and all of the window", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 25 }),
        fc.integer({ min: 0, max: 5 }),
        fc.array(
          fc.constantFrom("older", "newer", "start", "end", "append", "hold", "settle", "turn", "compact"),
          { maxLength: 60 },
        ),
        async (count, held, keys) => {
          const r = rig(count, Math.min(held, count));
          r.history.open();
          const look = (): void => {
            const { ctrlo, nextSeq } = r.runner.state;
            const view = r.view();
            const shown = indices(view);
            expect(shown).toHaveLength(ctrlo.hi - ctrlo.lo);
            for (const [at, index] of shown.entries()) expect(index).toBe(shown[0]! + at);
            if (view.atEnd && shown.length > 0) expect(shown.at(-1)).toBe(r.session.log.length - 1);
            if (view.atStart && shown.length > 0) expect(shown[0]).toBe(0);
            if (ctrlo.anchor === "tail" && shown.length > 0)
              expect(nextSeq - ctrlo.hi).toBe(r.session.log.length - 1 - shown.at(-1)!);
            expect(r.store.size).toBeLessThanOrEqual(
              2 * config.window + r.session.log.length - count + config.maxHeld!,
            );
          };
          for (const key of keys) {
            if (key === "hold") r.session.isHeld = !r.session.isHeld;
            else if (key === "settle") await r.settle();
            else if (key === "append") r.append();
            else if (key === "turn") {
              if (r.runner.offer({ type: "turn_started" }) !== undefined)
                r.runner.offer({ type: "turn_ended" });
              r.history.refresh();
            } else if (key === "compact") r.runner.feed({ type: "compacted" });
            else if (r.session.isHeld) r.history.request({ type: key });
            else await press(r, key);
            look();
          }
          await r.settle();
          await r.settle();
          look();
          r.session.isHeld = false;
          // From wherever the view stands, Home and then newer again and again ends at the newest block.
          await press(r, "start");
          for (let turn = 0; turn < r.session.log.length + 3; turn++) await press(r, "newer");
          look();
          expect(r.view().atEnd).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});
