/** How a window begins, and what can be asked of its state. */
import type { PagerState, SaveMode, WindowConfig, WindowState } from "./types.ts";

/** The pager's one normal form while it is closed, so that equal states compare equal. */
export const closedPager: PagerState = Object.freeze({
  open: false,
  anchor: "tail",
  lo: 0,
  hi: 0,
  atStart: false,
  pending: undefined,
});

/** True for 0, 1, 2 … up to the greatest safe integer; false for anything else, -0 included. */
export function isNatural(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0);
}

function assertBound(name: string, value: unknown, max: number): void {
  if (!isNatural(value) || value < 1 || value > max) {
    const range = max === Number.MAX_SAFE_INTEGER ? "at least 1" : `between 1 and ${max}`;
    throw new RangeError(`window config: ${name} must be a whole number ${range}, got ${String(value)}`);
  }
}

/**
 * A new window with nothing in it. A session with a log then feeds `resumed` to start from what the log holds.
 * Throws a RangeError that names the bound where the configuration is out of its range.
 */
export function createWindow(config: WindowConfig, save: SaveMode): WindowState {
  const max = Number.MAX_SAFE_INTEGER;
  assertBound("window", config.window, max);
  assertBound("step", config.step, config.window);
  assertBound("slice", config.slice, max);
  assertBound("maxLive", config.maxLive, max);
  if (config.maxHeld !== undefined) assertBound("maxHeld", config.maxHeld, max);
  if (save !== "saved" && save !== "unsaved") {
    throw new RangeError(`window: save must be "saved" or "unsaved", got ${String(save)}`);
  }
  return {
    config,
    save,
    cycle: 0,
    cycleFirst: 0,
    prevFirst: undefined,
    heldFloor: 0,
    nextSeq: 0,
    savedThrough: 0,
    live: [],
    turnOpen: false,
    epoch: 0,
    paintedThrough: 0,
    reprinting: false,
    ctrlo: closedPager,
    nextToken: 0,
  };
}

/** The oldest held block's number; equal to `nextSeq` where nothing is held. */
export function heldFirst(state: WindowState): number {
  return state.heldFloor;
}

/** How many blocks are held. */
export function heldCount(state: WindowState): number {
  return state.nextSeq - state.heldFloor;
}

/** Whether the finished block of this number is held. */
export function isHeld(state: WindowState, seq: number): boolean {
  return seq >= state.heldFloor && seq < state.nextSeq;
}

/** Whether the pager is open and ends at the newest finished block. */
export function isAtTail(state: WindowState): boolean {
  const { ctrlo } = state;
  return ctrlo.open && ctrlo.anchor === "tail" && ctrlo.hi === state.nextSeq;
}

/**
 * How many finished blocks are newer than the pager's window. Absent while the pager is closed, and while it is anchored at the
 * log's start, where the distance to the tail is not known.
 */
export function newerCount(state: WindowState): number | undefined {
  const { ctrlo } = state;
  return ctrlo.open && ctrlo.anchor === "tail" ? state.nextSeq - ctrlo.hi : undefined;
}
