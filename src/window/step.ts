/**
 * The transition function of the window: one event in, the next state and its effects out. Constant time in the session's age
 * (the set of live blocks is bounded by `maxLive`), and nothing of the input is changed.
 */
import { closedPager, isNatural } from "./state.ts";
import type {
  PagerState,
  ReadDirection,
  Rejection,
  StepResult,
  WindowEffect,
  WindowEvent,
  WindowState,
} from "./types.ts";

type EventOf<Type extends WindowEvent["type"]> = Extract<WindowEvent, { readonly type: Type }>;

function accept(state: WindowState, ...effects: readonly WindowEffect[]): StepResult {
  return { state, effects };
}

function reject(state: WindowState, rejected: Rejection): StepResult {
  return { state, effects: [], rejected };
}

function show(ctrlo: PagerState): WindowEffect {
  return { type: "ctrlo_show", lo: ctrlo.lo, hi: ctrlo.hi, anchor: ctrlo.anchor };
}

/** The state with another pager, which is shown. */
function showing(state: WindowState, ctrlo: PagerState): StepResult {
  return accept({ ...state, ctrlo }, show(ctrlo));
}

/** Counters never leave the safe integers: one that stands at the last is spent. */
function isSpent(counter: number): boolean {
  return counter >= Number.MAX_SAFE_INTEGER;
}

// Dropping

/** Where the held blocks could begin if everything droppable went: what cycles allow (D2, D6) and what the held cap allows (E2). */
function dropEnd(state: WindowState): number {
  const { config, cycleFirst, nextSeq, savedThrough } = state;
  const isSaved = state.save === "saved";
  const byCycles = isSaved && savedThrough < cycleFirst ? 0 : cycleFirst;
  const byCap =
    isSaved && config.maxHeld !== undefined ? Math.min(savedThrough, nextSeq - config.maxHeld) : 0;
  return Math.max(byCycles, byCap);
}

/** Drops what need not be held any more, between turns; the state itself where there is nothing to drop. */
function tryDrop(state: WindowState): StepResult {
  const from = state.heldFloor;
  const to = state.turnOpen ? from : dropEnd(state);
  if (to <= from) return accept(state);
  const next: WindowState = {
    ...state,
    heldFloor: to,
    prevFirst: to < state.cycleFirst ? to : undefined,
    // During a reprint, dropped blocks count as painted: the next slice may not ask for text that is gone.
    paintedThrough: Math.max(state.paintedThrough, to),
  };
  const drop: WindowEffect = { type: "drop", from, to };
  const { ctrlo } = state;
  // A saved session's pager keeps its window: the log has what was dropped. Without a log it slides up to what is left.
  if (state.save === "saved" || !ctrlo.open || ctrlo.lo >= to) return accept(next, drop);
  const slid: PagerState = { ...ctrlo, lo: to, hi: Math.min(state.nextSeq, to + ctrlo.hi - ctrlo.lo) };
  return accept({ ...next, ctrlo: slid }, drop, show(slid));
}

// Turns and blocks

function turnStarted(state: WindowState): StepResult {
  return state.turnOpen ? reject(state, "turn is open") : accept({ ...state, turnOpen: true });
}

function turnEnded(state: WindowState): StepResult {
  if (!state.turnOpen) return reject(state, "no turn is open");
  if (state.live.length > 0) return reject(state, "blocks are live");
  return tryDrop({ ...state, turnOpen: false });
}

function blockOpened(state: WindowState, { id }: EventOf<"block_opened">): StepResult {
  if (!isNatural(id)) return reject(state, "malformed event");
  if (state.live.includes(id)) return reject(state, "block is live");
  if (state.live.length >= state.config.maxLive) return reject(state, "too many live blocks");
  return accept({ ...state, live: [...state.live, id] }, { type: "repaint_block", id });
}

function blockChanged(state: WindowState, { id }: EventOf<"block_changed">): StepResult {
  if (!isNatural(id)) return reject(state, "malformed event");
  if (!state.live.includes(id)) return reject(state, "block is not live");
  return accept(state, { type: "repaint_block", id });
}

function blockFinished(state: WindowState, { id }: EventOf<"block_finished">): StepResult {
  if (!isNatural(id)) return reject(state, "malformed event");
  const seq = state.nextSeq;
  if (isSpent(seq)) return reject(state, "counter is spent");
  const next: WindowState = {
    ...state,
    live: state.live.filter((other) => other !== id),
    nextSeq: seq + 1,
    paintedThrough: state.reprinting ? state.paintedThrough : seq + 1,
  };
  const effects: readonly WindowEffect[] = state.reprinting ? [] : [{ type: "paint_final", seq }];
  const { ctrlo } = state;
  const follows = state.config.followWhileOpen && ctrlo.open && ctrlo.anchor === "tail" && ctrlo.hi === seq;
  if (!follows) return accept(next, ...effects);
  const followed = movedNewer(state, 1);
  return accept({ ...next, ctrlo: followed }, ...effects, show(followed));
}

function savedThrough(state: WindowState, { seq }: EventOf<"saved_through">): StepResult {
  if (!isNatural(seq)) return reject(state, "malformed event");
  if (state.save !== "saved") return reject(state, "session is unsaved");
  if (seq < state.savedThrough) return reject(state, "watermark goes back");
  if (seq > state.nextSeq) return reject(state, "watermark past the newest block");
  return tryDrop({ ...state, savedThrough: seq });
}

function compacted(state: WindowState): StepResult {
  if (isSpent(state.cycle)) return reject(state, "counter is spent");
  const first = state.heldFloor;
  return tryDrop({
    ...state,
    cycle: state.cycle + 1,
    // The oldest held start is kept over several compactions; where nothing is held there is no previous cycle to drop.
    prevFirst: first < state.nextSeq ? first : undefined,
    cycleFirst: state.nextSeq,
  });
}

// The screen

function resized(state: WindowState): StepResult {
  if (isSpent(state.epoch)) return reject(state, "counter is spent");
  const next: WindowState = {
    ...state,
    epoch: state.epoch + 1,
    paintedThrough: state.heldFloor,
    reprinting: true,
  };
  return accept(next, { type: "reprint_begin" });
}

function reprintTick(state: WindowState): StepResult {
  if (!state.reprinting) return reject(state, "no reprint");
  const from = state.paintedThrough;
  const to = Math.min(from + state.config.slice, state.nextSeq);
  const isLast = to === state.nextSeq;
  const effects: WindowEffect[] = [];
  if (to > from) effects.push({ type: "reprint_slice", from, to });
  if (isLast) effects.push({ type: "repaint_live" });
  return accept({ ...state, paintedThrough: to, reprinting: !isLast }, ...effects);
}

function resumed(state: WindowState, event: EventOf<"resumed">): StepResult {
  const { cycle, cycleFirst, nextSeq } = event;
  if (!isNatural(cycle) || !isNatural(cycleFirst) || !isNatural(nextSeq)) {
    return reject(state, "malformed event");
  }
  if (state.save !== "saved") return reject(state, "session is unsaved");
  if (cycleFirst > nextSeq) return reject(state, "cycle starts past the newest block");
  if (isSpent(state.epoch)) return reject(state, "counter is spent");
  const fresh: WindowState = {
    ...state,
    cycle,
    cycleFirst,
    prevFirst: undefined,
    heldFloor: cycleFirst,
    nextSeq,
    savedThrough: nextSeq,
    live: [],
    turnOpen: false,
    // Never back to 0: what an earlier epoch painted is not on the new screen.
    epoch: state.epoch + 1,
    paintedThrough: cycleFirst,
    reprinting: true,
    ctrlo: closedPager,
    nextToken: 0,
  };
  // A cycle above the held cap is cut at once, and told: everything of it is in the log.
  const kept = tryDrop(fresh);
  return accept(kept.state, ...kept.effects, { type: "reprint_begin" });
}

// The pager

/** The newest held blocks, at most `window` of them: what opening shows, and End. */
function newest(state: WindowState): PagerState {
  const lo = Math.max(state.heldFloor, state.nextSeq - state.config.window);
  return { open: true, anchor: "tail", lo, hi: state.nextSeq, atStart: false, pending: undefined };
}

function movedOlder(state: WindowState, count: number): PagerState {
  const { ctrlo } = state;
  const lo = ctrlo.lo - count;
  return { ...ctrlo, lo, hi: Math.min(ctrlo.hi, lo + state.config.window) };
}

function movedNewer(state: WindowState, count: number): PagerState {
  const { ctrlo } = state;
  const hi = ctrlo.hi + count;
  const lo = Math.max(ctrlo.lo, hi - state.config.window);
  return { ...ctrlo, lo, hi, atStart: ctrlo.atStart && lo === ctrlo.lo };
}

/** Asks the log, where there is one and no answer is awaited. */
function ask(state: WindowState, dir: ReadDirection, from: number, count: number): StepResult {
  if (state.ctrlo.pending !== undefined) return reject(state, "read is pending");
  const token = state.nextToken;
  if (isSpent(token)) return reject(state, "counter is spent");
  const ctrlo: PagerState = { ...state.ctrlo, pending: { token, dir, from } };
  return accept({ ...state, ctrlo, nextToken: token + 1 }, { type: "read_log", token, dir, from, count });
}

function ctrloOpened(state: WindowState): StepResult {
  return state.ctrlo.open ? reject(state, "pager is open") : showing(state, newest(state));
}

function ctrloClosed(state: WindowState): StepResult {
  return state.ctrlo.open ? accept({ ...state, ctrlo: closedPager }) : reject(state, "pager is closed");
}

function scrolledOlder(state: WindowState): StepResult {
  const { ctrlo, config, heldFloor } = state;
  if (ctrlo.anchor === "tail" && ctrlo.lo > heldFloor) {
    return showing(state, movedOlder(state, Math.min(config.step, ctrlo.lo - heldFloor)));
  }
  if (ctrlo.atStart || state.save === "unsaved") return reject(state, "at the start");
  return ask(state, "older", ctrlo.lo, config.step);
}

function scrolledNewer(state: WindowState): StepResult {
  const { ctrlo, config, heldFloor, nextSeq } = state;
  // Numbers that count from the log's start cannot be compared with those of the held blocks: the log says where they meet.
  if (ctrlo.anchor === "start") return ask(state, "newer", ctrlo.hi, config.step);
  if (ctrlo.hi >= nextSeq) return reject(state, "at the end");
  if (ctrlo.hi >= heldFloor)
    return showing(state, movedNewer(state, Math.min(config.step, nextSeq - ctrlo.hi)));
  return ask(state, "newer", ctrlo.hi, config.step);
}

function ctrloScrolled(state: WindowState, { dir }: EventOf<"ctrlo_scrolled">): StepResult {
  if (dir !== "older" && dir !== "newer") return reject(state, "malformed event");
  if (!state.ctrlo.open) return reject(state, "pager is closed");
  return dir === "older" ? scrolledOlder(state) : scrolledNewer(state);
}

/** Home. With a log, one read of its first blocks; without, the oldest held ones are all there is. */
function jumpedToStart(state: WindowState): StepResult {
  const { ctrlo, config, heldFloor } = state;
  if (state.save === "saved") {
    return ctrlo.atStart ? reject(state, "at the start") : ask(state, "first", 0, config.window);
  }
  const hi = Math.min(heldFloor + config.window, state.nextSeq);
  if (ctrlo.lo === heldFloor && ctrlo.hi === hi) return reject(state, "at the start");
  return showing(state, { ...ctrlo, lo: heldFloor, hi });
}

/** End: as if the pager were closed and opened again, whatever read is in flight. */
function jumpedToEnd(state: WindowState): StepResult {
  const { ctrlo } = state;
  const isThere = ctrlo.anchor === "tail" && ctrlo.hi === state.nextSeq && ctrlo.pending === undefined;
  return isThere ? reject(state, "at the end") : showing(state, newest(state));
}

function ctrloJumped(state: WindowState, { to }: EventOf<"ctrlo_jumped">): StepResult {
  if (to !== "start" && to !== "end") return reject(state, "malformed event");
  if (!state.config.jump) return reject(state, "jumps are off");
  if (!state.ctrlo.open) return reject(state, "pager is closed");
  return to === "start" ? jumpedToStart(state) : jumpedToEnd(state);
}

// Replies of the log

/** The pager without its pending read, or undefined where the token is not that read's. */
function answered(state: WindowState, token: number): WindowState | undefined {
  if (state.ctrlo.pending?.token !== token) return undefined;
  return { ...state, ctrlo: { ...state.ctrlo, pending: undefined } };
}

function olderRead(state: WindowState, count: number): StepResult {
  const { anchor, lo } = state.ctrlo;
  const n = Math.min(count, state.config.step, lo);
  const moved = movedOlder(state, n);
  // From the start the numbers themselves tell; from the tail only a read that finds nothing does.
  return showing(state, { ...moved, atStart: anchor === "start" ? moved.lo === 0 : n === 0 });
}

function newerRead(state: WindowState, count: number, met: boolean): StepResult {
  const { anchor, hi } = state.ctrlo;
  const { config, heldFloor, nextSeq } = state;
  if (anchor === "tail") return showing(state, movedNewer(state, Math.min(count, config.step, nextSeq - hi)));
  const moved = movedNewer(state, Math.min(count, config.step, heldFloor - hi));
  if (!met) return showing(state, moved);
  const size = moved.hi - moved.lo;
  return showing(state, { ...moved, anchor: "tail", lo: heldFloor - size, hi: heldFloor });
}

function firstRead(state: WindowState, count: number, met: boolean): StepResult {
  const { config, heldFloor, nextSeq, ctrlo } = state;
  const n = Math.min(count, config.window, heldFloor);
  if (met) {
    const lo = heldFloor - n;
    const hi = Math.min(lo + config.window, nextSeq);
    return showing(state, { ...ctrlo, anchor: "tail", lo, hi, atStart: true });
  }
  if (n === 0) return accept(state);
  return showing(state, { ...ctrlo, anchor: "start", lo: 0, hi: n, atStart: true });
}

function logReadDone(state: WindowState, event: EventOf<"log_read_done">): StepResult {
  const { token, count, met = false } = event;
  if (!isNatural(token) || !isNatural(count) || typeof met !== "boolean")
    return reject(state, "malformed event");
  const { pending, lo, hi } = state.ctrlo;
  const next = answered(state, token);
  if (pending === undefined || next === undefined) return reject(state, "not the pending read");
  // A reply whose edge is no longer the window's answers a question nobody asks now: its blocks would get others' numbers.
  switch (pending.dir) {
    case "older":
      return pending.from === lo ? olderRead(next, count) : accept(next);
    case "newer":
      return pending.from === hi ? newerRead(next, count, met) : accept(next);
    case "first":
      return firstRead(next, count, met);
  }
}

function logReadFailed(state: WindowState, { token }: EventOf<"log_read_failed">): StepResult {
  if (!isNatural(token)) return reject(state, "malformed event");
  const next = answered(state, token);
  return next === undefined ? reject(state, "not the pending read") : accept(next);
}

/**
 * The next state and the effects of one event: at most two, to be run in order. An event that the state does not allow, or whose
 * arguments are not natural numbers, is rejected with a reason: the same state, no effects. Never throws, mutates nothing.
 */
export function step(state: WindowState, event: WindowEvent): StepResult {
  switch (event.type) {
    case "turn_started":
      return turnStarted(state);
    case "turn_ended":
      return turnEnded(state);
    case "block_opened":
      return blockOpened(state, event);
    case "block_changed":
      return blockChanged(state, event);
    case "block_finished":
      return blockFinished(state, event);
    case "saved_through":
      return savedThrough(state, event);
    case "compacted":
      return compacted(state);
    case "resized":
      return resized(state);
    case "reprint_tick":
      return reprintTick(state);
    case "ctrlo_opened":
      return ctrloOpened(state);
    case "ctrlo_scrolled":
      return ctrloScrolled(state, event);
    case "ctrlo_jumped":
      return ctrloJumped(state, event);
    case "ctrlo_closed":
      return ctrloClosed(state);
    case "log_read_done":
      return logReadDone(state, event);
    case "log_read_failed":
      return logReadFailed(state, event);
    case "resumed":
      return resumed(state, event);
    default:
      return unknownEvent(state, event);
  }
}

/** Callers without types may send anything; the compiler proves that no event of ours comes here. */
function unknownEvent(state: WindowState, _event: never): StepResult {
  return reject(state, "malformed event");
}
