// How a window begins, what can be asked of it, and its abstract value.
import { describe, expect, test } from "vitest";
import type { SaveMode, WindowConfig, WindowEvent } from "../../src/window/index.ts";
import {
  abstract,
  createWindow,
  formatState,
  heldCount,
  heldFirst,
  isAtTail,
  isHeld,
  newerCount,
  parseConfig,
  parseState,
  step,
} from "../../src/window/index.ts";

const config = parseConfig("window=4 step=2 slice=2 live=2 held=3 jump");
const state = (text: string) => parseState(text, config);

describe("createWindow", () => {
  test("begins with nothing", () => {
    const begun = createWindow(config, "saved");
    expect(formatState(begun)).toBe("saved cycle=0 first=0 next=0 through=0 epoch=0 painted=0 token=0");
    expect(begun.config).toBe(config);
    expect(begun.heldFloor).toBe(0);
    expect(formatState(createWindow(config, "unsaved"))).toMatch(/^unsaved /);
  });

  const max = Number.MAX_SAFE_INTEGER;
  test.each<readonly [Partial<WindowConfig>, string]>([
    [{ window: 0 }, "window config: window must be a whole number at least 1, got 0"],
    [{ window: 1.5 }, "window config: window must be a whole number at least 1, got 1.5"],
    [{ window: max + 1 }, "window config: window must be a whole number at least 1, got 9007199254740992"],
    [{ step: 0 }, "window config: step must be a whole number between 1 and 4, got 0"],
    [{ step: 5 }, "window config: step must be a whole number between 1 and 4, got 5"],
    [{ slice: Number.NaN }, "window config: slice must be a whole number at least 1, got NaN"],
    [{ maxLive: -1 }, "window config: maxLive must be a whole number at least 1, got -1"],
    [{ maxHeld: 0 }, "window config: maxHeld must be a whole number at least 1, got 0"],
  ])("refuses %j", (bad, message) => {
    expect(() => createWindow({ ...config, ...bad }, "saved")).toThrow(new RangeError(message));
  });

  test.each<Partial<WindowConfig>>([
    { window: 1, step: 1 },
    { step: 4 },
    { slice: 1, maxLive: 1, maxHeld: 1 },
    { window: max, step: max, slice: max, maxLive: max, maxHeld: max },
  ])("takes %j", (good) => {
    expect(createWindow({ ...config, ...good }, "saved").config).toMatchObject(good);
  });

  test("a cap is not needed", () => {
    const { maxHeld: _, ...uncapped } = config;
    expect(createWindow(uncapped, "saved").config).toBe(uncapped);
  });

  test("refuses an unknown way of saving", () => {
    expect(() => createWindow(config, "maybe" as SaveMode)).toThrow(
      new RangeError('window: save must be "saved" or "unsaved", got maybe'),
    );
  });
});

describe("what can be asked", () => {
  const held = state("saved cycle=1 first=3 floor=4 next=6 through=5 epoch=0 painted=6 token=0");

  test("which blocks are held", () => {
    expect(heldFirst(held)).toBe(4);
    expect(heldCount(held)).toBe(2);
    expect([3, 4, 5, 6].map((seq) => isHeld(held, seq))).toEqual([false, true, true, false]);
  });

  test.each([
    ["", false, undefined],
    ["ctrlo=tail[4,6) ", true, 0],
    ["ctrlo=tail[4,5) ", false, 1],
    ["ctrlo=tail[0,2) ", false, 4],
    ["ctrlo=start[0,2) ", false, undefined],
    // A window that counts from the start is not at the tail, whatever its numbers.
    ["ctrlo=start[4,6) ", false, undefined],
  ])("where the pager %jstands", (pager, atTail, newer) => {
    const at = state(`saved cycle=1 first=3 floor=4 next=6 through=5 epoch=0 painted=6 ${pager}token=0`);
    expect(isAtTail(at)).toBe(atTail);
    expect(newerCount(at)).toBe(newer);
  });

  test("a closed pager is nowhere, even in a new window", () => {
    const begun = createWindow(config, "saved");
    expect(isAtTail(begun)).toBe(false);
    expect(newerCount(begun)).toBeUndefined();
  });
});

describe("abstract", () => {
  test("of a state at rest", () => {
    expect(abstract(createWindow(config, "unsaved"))).toEqual({
      save: "unsaved",
      cycle: 0,
      cycle_first: 0,
      prev_first: -1,
      held_first: 0,
      next_seq: 0,
      saved_through: 0,
      live: [],
      turn_open: false,
      epoch: 0,
      painted_through: 0,
      reprinting: false,
      ctrlo: {
        open: false,
        anchor: "tail",
        lo: 0,
        hi: 0,
        at_start: false,
        pending: { token: -1, dir: "none", from: 0 },
      },
      next_token: 0,
    });
  });

  test("of a busy state", () => {
    const busy =
      "saved cycle=1 prev=2 first=3 next=5 through=4 live={9,7} turn epoch=6 painted=4 reprinting ctrlo=start[1,5) at_start read=8:older@1 token=10";
    expect(abstract(state(busy))).toEqual({
      save: "saved",
      cycle: 1,
      cycle_first: 3,
      prev_first: 2,
      held_first: 2,
      next_seq: 5,
      saved_through: 4,
      live: [7, 9],
      turn_open: true,
      epoch: 6,
      painted_through: 4,
      reprinting: true,
      ctrlo: {
        open: true,
        anchor: "start",
        lo: 1,
        hi: 5,
        at_start: true,
        pending: { token: 8, dir: "older", from: 1 },
      },
      next_token: 10,
    });
  });

  test("the order of the live blocks does not matter, nor does asking change it", () => {
    const [one, two] = ["{10,2}", "{2,10}"].map((live) =>
      state(`saved cycle=0 first=0 next=0 through=0 live=${live} epoch=0 painted=0 token=0`),
    );
    expect(abstract(one!)).toEqual(abstract(two!));
    expect(abstract(one!).live).toEqual([2, 10]);
    expect(one!.live).toEqual([10, 2]);
  });
});

describe("events without types", () => {
  const open = state(
    "saved cycle=0 first=0 next=1 through=0 epoch=0 painted=1 ctrlo=tail[0,1) read=0:older@0 token=1",
  );
  test.each([
    { type: "vanished" },
    { type: undefined },
    { type: "ctrlo_scrolled", dir: "up" },
    { type: "ctrlo_scrolled" },
    { type: "ctrlo_jumped", to: "middle" },
    { type: "log_read_done", token: 0, count: 0, met: "yes" },
    { type: "log_read_done", token: 0, count: 0, met: null },
    { type: "log_read_done", token: "0", count: 0 },
    { type: "log_read_done", token: 0 },
    { type: "log_read_failed" },
    { type: "block_opened", id: "1" },
    { type: "block_changed", id: null },
    { type: "block_finished", id: 1n },
    { type: "saved_through", seq: "1" },
    { type: "resumed", cycle: 0, cycleFirst: 0 },
    { type: "resumed", cycleFirst: 0, nextSeq: 0 },
  ])("%o is refused", (event) => {
    const result = step(open, event as unknown as WindowEvent);
    expect(result).toEqual({ state: open, effects: [], rejected: "malformed event" });
    expect(result.state).toBe(open);
  });

  test("what is malformed is said before anything else", () => {
    const closed = createWindow({ ...config, jump: false }, "unsaved");
    for (const event of [
      { type: "ctrlo_scrolled", dir: "up" },
      { type: "ctrlo_jumped", to: "middle" },
      { type: "saved_through", seq: -1 },
      { type: "log_read_done", token: -1, count: 0 },
      { type: "resumed", cycle: -1, cycleFirst: 1, nextSeq: 0 },
    ]) {
      expect(step(closed, event as unknown as WindowEvent).rejected).toBe("malformed event");
    }
  });
});
