/**
 * The reference model: what the document asks of one step, written from the document on the abstract variables, in another way than
 * `step` is. `accepts` is the whole list of guards; `next` gives the one state and the effects that an accepted event may lead to.
 */
import type { AbstractState, WindowConfig, WindowEffect, WindowEvent } from "../src/window/index.ts";

type Pager = AbstractState["ctrlo"];
type Pending = Pager["pending"];

export interface Outcome {
  readonly state: AbstractState;
  readonly effects: readonly WindowEffect[];
}

const noRead: Pending = { token: -1, dir: "none", from: 0 };
const closed: Pager = { open: false, anchor: "tail", lo: 0, hi: 0, at_start: false, pending: noRead };

/** A half-open span of block numbers, and its oldest and newest blocks. */
interface Span {
  readonly lo: number;
  readonly hi: number;
}
const oldestOf = ({ lo, hi }: Span, count: number): Span => ({ lo, hi: Math.min(hi, lo + count) });
const newestOf = ({ lo, hi }: Span, count: number): Span => ({ lo: Math.max(lo, hi - count), hi });

const held = (s: AbstractState): Span => ({ lo: s.held_first, hi: s.next_seq });
const isReading = (s: AbstractState): boolean => s.ctrlo.pending.dir !== "none";

// Arguments

function isCount(n: number): boolean {
  return Number.isInteger(n) && n <= 2 ** 53 - 1 && (n > 0 || Object.is(n, 0));
}

/** Whether every argument of the event is what the vocabulary allows. */
export function isWellFormed(e: WindowEvent): boolean {
  switch (e.type) {
    case "block_opened":
    case "block_changed":
    case "block_finished":
      return isCount(e.id);
    case "saved_through":
      return isCount(e.seq);
    case "log_read_done":
      return isCount(e.token) && isCount(e.count) && [undefined, true, false].includes(e.met);
    case "log_read_failed":
      return isCount(e.token);
    case "resumed":
      return isCount(e.cycle) && isCount(e.cycleFirst) && isCount(e.nextSeq);
    case "ctrlo_scrolled":
      return e.dir === "older" || e.dir === "newer";
    case "ctrlo_jumped":
      return e.to === "start" || e.to === "end";
    case "turn_started":
    case "turn_ended":
    case "compacted":
    case "resized":
    case "reprint_tick":
    case "ctrlo_opened":
    case "ctrlo_closed":
      return true;
    default:
      return false;
  }
}

/** A counter at the last safe integer cannot count on. */
const canCount = (counter: number): boolean => isCount(counter + 1);

// Guards

const canRead = (s: AbstractState): boolean => s.save === "saved" && !isReading(s) && canCount(s.next_token);

function canScroll(s: AbstractState, dir: "older" | "newer"): boolean {
  const { open, anchor, lo, hi, at_start } = s.ctrlo;
  if (!open) return false;
  const mayRead = canRead(s);
  if (anchor === "start") return mayRead && !(dir === "older" && at_start);
  if (dir === "older") return lo > s.held_first || (mayRead && !at_start);
  return hi < s.next_seq && (hi >= s.held_first || mayRead);
}

function canJump(config: WindowConfig, s: AbstractState, to: "start" | "end"): boolean {
  const { open, anchor, lo, hi, at_start } = s.ctrlo;
  if (!open || !config.jump) return false;
  if (to === "end") return anchor === "start" || hi !== s.next_seq || isReading(s);
  if (s.save === "saved") return !at_start && canRead(s);
  const there = oldestOf(held(s), config.window);
  return lo !== there.lo || hi !== there.hi;
}

/** X17: exactly the events that a state accepts. */
export function accepts(config: WindowConfig, s: AbstractState, e: WindowEvent): boolean {
  if (!isWellFormed(e)) return false;
  const isPending = (token: number): boolean => isReading(s) && s.ctrlo.pending.token === token;
  switch (e.type) {
    case "turn_started":
      return !s.turn_open;
    case "turn_ended":
      return s.turn_open && s.live.length === 0;
    case "block_opened":
      return !s.live.includes(e.id) && s.live.length < config.maxLive;
    case "block_changed":
      return s.live.includes(e.id);
    case "saved_through":
      return s.save === "saved" && s.saved_through <= e.seq && e.seq <= s.next_seq;
    case "reprint_tick":
      return s.reprinting;
    case "ctrlo_opened":
      return !s.ctrlo.open;
    case "ctrlo_closed":
      return s.ctrlo.open;
    case "ctrlo_scrolled":
      return canScroll(s, e.dir);
    case "ctrlo_jumped":
      return canJump(config, s, e.to);
    case "log_read_done":
    case "log_read_failed":
      return isPending(e.token);
    case "resumed":
      return s.save === "saved" && e.cycleFirst <= e.nextSeq && canCount(s.epoch);
    case "block_finished":
      return canCount(s.next_seq);
    case "compacted":
      return canCount(s.cycle);
    case "resized":
      return canCount(s.epoch);
  }
}

// Memory

/** Whether held block `b` may be forgotten: between turns only, by its cycle (told whole) or by the cap (saved blocks only). */
function isForgettable(config: WindowConfig, s: AbstractState, b: number): boolean {
  if (s.turn_open) return false;
  const isSaved = s.save === "saved";
  if (b < s.cycle_first && (!isSaved || s.saved_through >= s.cycle_first)) return true;
  return isSaved && config.maxHeld !== undefined && b < s.saved_through && b + config.maxHeld < s.next_seq;
}

/** What must be forgotten at once is; the drop starts at the oldest held block. */
function forget(config: WindowConfig, s: AbstractState): Outcome {
  let first = s.held_first;
  while (first < s.next_seq && isForgettable(config, s, first)) first += 1;
  if (first === s.held_first) return { state: s, effects: [] };
  const effects: WindowEffect[] = [{ type: "drop", from: s.held_first, to: first }];
  let { ctrlo } = s;
  if (s.save === "unsaved" && ctrlo.open && ctrlo.lo < first) {
    const slid = oldestOf({ lo: first, hi: s.next_seq }, ctrlo.hi - ctrlo.lo);
    ctrlo = { ...ctrlo, ...slid };
    effects.push({ type: "ctrlo_show", ...slid, anchor: ctrlo.anchor });
  }
  const painted = Math.max(first, s.painted_through);
  const prev = first < s.cycle_first ? first : -1;
  return {
    state: { ...s, held_first: first, prev_first: prev, painted_through: painted, ctrlo },
    effects,
  };
}

function finish(config: WindowConfig, s: AbstractState, id: number): Outcome {
  const seq = s.next_seq;
  const effects: WindowEffect[] = s.reprinting ? [] : [{ type: "paint_final", seq }];
  let { ctrlo } = s;
  if (config.followWhileOpen && ctrlo.open && ctrlo.anchor === "tail" && ctrlo.hi === seq) {
    const window = newestOf({ lo: ctrlo.lo, hi: seq + 1 }, config.window);
    ctrlo = { ...ctrlo, ...window, at_start: ctrlo.at_start && window.lo === ctrlo.lo };
    effects.push({ type: "ctrlo_show", ...window, anchor: "tail" });
  }
  return {
    state: {
      ...s,
      live: s.live.filter((other) => other !== id),
      next_seq: seq + 1,
      painted_through: s.reprinting ? s.painted_through : seq + 1,
      ctrlo,
    },
    effects,
  };
}

function compact(config: WindowConfig, s: AbstractState): Outcome {
  const isHolding = s.held_first < s.next_seq;
  const prev = isHolding ? s.held_first : -1;
  return forget(config, { ...s, cycle: s.cycle + 1, cycle_first: s.next_seq, prev_first: prev });
}

// Screen

function beginEpoch(s: AbstractState): AbstractState {
  return { ...s, epoch: s.epoch + 1, painted_through: s.held_first, reprinting: true };
}

function tick(config: WindowConfig, s: AbstractState): Outcome {
  const slice = oldestOf({ lo: s.painted_through, hi: s.next_seq }, config.slice);
  const isOver = slice.hi === s.next_seq;
  const effects: WindowEffect[] = [];
  if (slice.lo < slice.hi) effects.push({ type: "reprint_slice", from: slice.lo, to: slice.hi });
  if (isOver) effects.push({ type: "repaint_live" });
  return { state: { ...s, painted_through: slice.hi, reprinting: !isOver }, effects };
}

function resume(
  config: WindowConfig,
  s: AbstractState,
  e: Extract<WindowEvent, { type: "resumed" }>,
): Outcome {
  const blank: AbstractState = {
    save: s.save,
    cycle: e.cycle,
    cycle_first: e.cycleFirst,
    prev_first: -1,
    held_first: e.cycleFirst,
    next_seq: e.nextSeq,
    saved_through: e.nextSeq,
    live: [],
    turn_open: false,
    epoch: s.epoch,
    painted_through: e.cycleFirst,
    reprinting: false,
    ctrlo: closed,
    next_token: 0,
  };
  const kept = forget(config, blank);
  return { state: beginEpoch(kept.state), effects: [...kept.effects, { type: "reprint_begin" }] };
}

// Pager

function shown(s: AbstractState, ctrlo: Pager): Outcome {
  const { lo, hi, anchor } = ctrlo;
  return { state: { ...s, ctrlo }, effects: [{ type: "ctrlo_show", lo, hi, anchor }] };
}

function opened(config: WindowConfig, s: AbstractState): Outcome {
  return shown(s, { ...closed, open: true, ...newestOf(held(s), config.window) });
}

function request(s: AbstractState, dir: "older" | "newer" | "first", from: number, count: number): Outcome {
  const token = s.next_token;
  return {
    state: { ...s, next_token: token + 1, ctrlo: { ...s.ctrlo, pending: { token, dir, from } } },
    effects: [{ type: "read_log", token, dir, from, count }],
  };
}

function older(config: WindowConfig, c: Pager, count: number): Pager {
  return { ...c, ...oldestOf({ lo: c.lo - count, hi: c.hi }, config.window) };
}

function newer(config: WindowConfig, c: Pager, count: number): Pager {
  const window = newestOf({ lo: c.lo, hi: c.hi + count }, config.window);
  return { ...c, ...window, at_start: c.at_start && window.lo === c.lo };
}

function scroll(config: WindowConfig, s: AbstractState, dir: "older" | "newer"): Outcome {
  const { anchor, lo, hi } = s.ctrlo;
  const isInMemory = anchor === "tail" && (dir === "older" ? lo > s.held_first : hi >= s.held_first);
  if (!isInMemory) return request(s, dir, dir === "older" ? lo : hi, config.step);
  if (dir === "older") return shown(s, older(config, s.ctrlo, Math.min(config.step, lo - s.held_first)));
  return shown(s, newer(config, s.ctrlo, Math.min(config.step, s.next_seq - hi)));
}

function jump(config: WindowConfig, s: AbstractState, to: "start" | "end"): Outcome {
  if (to === "end") return opened(config, s);
  if (s.save === "saved") return request(s, "first", 0, config.window);
  return shown(s, { ...s.ctrlo, ...oldestOf(held(s), config.window) });
}

/** A window anchored at the start whose end is the oldest held block, in the window's own numbers. */
function rebase(s: AbstractState, c: Pager): Pager {
  return { ...c, anchor: "tail", lo: s.held_first - (c.hi - c.lo), hi: s.held_first };
}

function reply(config: WindowConfig, before: AbstractState, count: number, met: boolean): Outcome {
  const { dir, from } = before.ctrlo.pending;
  const c: Pager = { ...before.ctrlo, pending: noRead };
  const s: AbstractState = { ...before, ctrlo: c };
  const still: Outcome = { state: s, effects: [] };
  const isFromStart = c.anchor === "start";
  if (dir === "older") {
    if (from !== c.lo) return still;
    const n = Math.min(count, config.step, c.lo);
    const at_start = isFromStart ? c.lo - n === 0 : n === 0;
    return shown(s, { ...older(config, c, n), at_start });
  }
  if (dir === "newer") {
    if (from !== c.hi) return still;
    const room = (isFromStart ? s.held_first : s.next_seq) - c.hi;
    const moved = newer(config, c, Math.min(count, config.step, room));
    return shown(s, isFromStart && met ? rebase(s, moved) : moved);
  }
  const n = Math.min(count, config.window, s.held_first);
  if (met) {
    const whole = oldestOf({ lo: s.held_first - n, hi: s.next_seq }, config.window);
    return shown(s, { ...c, ...whole, anchor: "tail", at_start: true });
  }
  return n === 0 ? still : shown(s, { ...c, anchor: "start", lo: 0, hi: n, at_start: true });
}

/** The outcome of an event that `accepts` allows. */
export function next(config: WindowConfig, s: AbstractState, e: WindowEvent): Outcome {
  switch (e.type) {
    case "turn_started":
      return { state: { ...s, turn_open: true }, effects: [] };
    case "turn_ended":
      return forget(config, { ...s, turn_open: false });
    case "block_opened":
      return {
        state: { ...s, live: [...s.live, e.id].sort((a, b) => a - b) },
        effects: [{ type: "repaint_block", id: e.id }],
      };
    case "block_changed":
      return { state: s, effects: [{ type: "repaint_block", id: e.id }] };
    case "block_finished":
      return finish(config, s, e.id);
    case "saved_through":
      return forget(config, { ...s, saved_through: e.seq });
    case "compacted":
      return compact(config, s);
    case "resized":
      return { state: beginEpoch(s), effects: [{ type: "reprint_begin" }] };
    case "reprint_tick":
      return tick(config, s);
    case "ctrlo_opened":
      return opened(config, s);
    case "ctrlo_closed":
      return { state: { ...s, ctrlo: closed }, effects: [] };
    case "ctrlo_scrolled":
      return scroll(config, s, e.dir);
    case "ctrlo_jumped":
      return jump(config, s, e.to);
    case "log_read_done":
      return reply(config, s, e.count, e.met === true);
    case "log_read_failed":
      return { state: { ...s, ctrlo: { ...s.ctrlo, pending: noRead } }, effects: [] };
    case "resumed":
      return resume(config, s, e);
  }
}
