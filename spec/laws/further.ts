/** The further laws: what the document's laws let through. X13 speaks of runs (liveness.ts). */
import type { AbstractState, WindowEffect, WindowEvent } from "../../src/window/index.ts";
import { accepts } from "../model.ts";
import { covers, isRange } from "../ranges.ts";
import type { Step, World } from "../world.ts";
import { absoluteWindow, foundBy } from "../world.ts";
import { isSameArray, isSamePager } from "./equal.ts";
import type { Law } from "./law.ts";
import { all, first, hasRead } from "./law.ts";

const isAccepted = (step: Step): boolean => step.result.rejected === undefined;

function isTold(step: Step): boolean {
  const { before, event, after } = step;
  let known = before.memory;
  if (event.type === "resumed") known = [event.cycleFirst, event.nextSeq];
  if (!all(step, "drop", ({ from, to }) => covers(known, from, to))) return false;
  return isRange(after.memory, after.abs.held_first, after.abs.next_seq);
}

function isWindowReadable(world: World): boolean {
  const { abs: t, logFirst, truthful } = world;
  if (!t.ctrlo.open) return true;
  const window = absoluteWindow(world);
  if (t.ctrlo.anchor === "start") {
    if (t.save === "unsaved") return false;
    return window === undefined || !truthful || window.hi <= t.held_first;
  }
  if (window === undefined || window.lo >= t.held_first) return true;
  if (t.save === "unsaved" || Math.min(window.hi, t.held_first) > t.saved_through) return false;
  return logFirst === undefined || !truthful || window.lo >= logFirst;
}

/** X4: what is shown comes from memory, from what was shown before, or from the reply just accepted. */
function hasText(step: Step): boolean {
  const { before, event, after } = step;
  const show = first(step, "ctrlo_show");
  if (show === undefined || !after.truthful) return true;
  const now = absoluteWindow(after);
  if (now === undefined) return true;
  const sources: { readonly lo: number; readonly hi: number }[] = [];
  const old = before.abs.ctrlo.open ? absoluteWindow(before) : undefined;
  if (old !== undefined && event.type !== "ctrlo_opened") sources.push(old);
  if (event.type === "log_read_done") {
    const found = foundBy(before, event);
    if (found === undefined) return true;
    sources.push({ lo: found.from, hi: found.to });
  }
  // A window beside an edge that a meeting reply has just taught has no old numbers to compare with.
  if (old === undefined && before.abs.ctrlo.open) return true;
  let { lo } = now;
  for (let progress = true; progress && lo < now.hi; ) {
    progress = false;
    if (covers(after.memory, lo, lo + 1)) {
      lo += 1;
      progress = true;
    }
    for (const source of sources) {
      if (source.lo <= lo && lo < source.hi) {
        lo = source.hi;
        progress = true;
      }
    }
  }
  return lo >= now.hi;
}

function hasNoGap({ before, event, after }: Step): boolean {
  const isMove =
    event.type === "ctrlo_scrolled" ||
    (event.type === "log_read_done" && before.abs.ctrlo.pending.dir !== "first");
  if (!isMove) return true;
  if (before.abs.ctrlo.anchor !== after.abs.ctrlo.anchor && !after.truthful) return true;
  const from = absoluteWindow(before);
  const to = absoluteWindow(after);
  return from === undefined || to === undefined || (to.lo <= from.hi && from.lo <= to.hi);
}

function replyFits({ before, event, after }: Step): boolean {
  if (event.type !== "log_read_done") return true;
  const { pending, lo, hi } = before.abs.ctrlo;
  const isMoved = !isSamePager({ ...before.abs.ctrlo, pending: after.abs.ctrlo.pending }, after.abs.ctrlo);
  if (!isMoved || pending.dir === "first") return true;
  return pending.from === (pending.dir === "older" ? lo : hi);
}

function readsBelowMemory(step: Step): boolean {
  const { abs: t, config } = step.after;
  return all(step, "read_log", ({ dir, from, count }) => {
    if (dir === "first") return from === 0 && count === config.window;
    const isEdge = from === (dir === "older" ? t.ctrlo.lo : t.ctrlo.hi);
    if (!isEdge || count !== config.step) return false;
    if (t.ctrlo.anchor === "start") return true;
    return dir === "older" ? from <= t.held_first : from < t.held_first;
  });
}

function isOrdered({ abs: t, config }: World): boolean {
  const hasCap = config.maxHeld !== undefined;
  const cycles =
    t.prev_first === -1
      ? t.held_first >= t.cycle_first && (hasCap || t.held_first === t.cycle_first)
      : t.held_first === t.prev_first && t.prev_first < t.cycle_first;
  const numbers =
    0 <= t.held_first &&
    t.held_first <= t.painted_through &&
    t.painted_through <= t.next_seq &&
    t.cycle_first <= t.next_seq &&
    t.saved_through <= t.next_seq;
  const saved = t.save === "saved" ? t.held_first <= t.saved_through : t.saved_through === 0;
  const live = t.live.length <= config.maxLive && new Set(t.live).size === t.live.length;
  const { open, anchor, lo, hi, at_start } = t.ctrlo;
  const closed = open || (anchor === "tail" && lo === 0 && hi === 0 && !at_start && !hasRead(t));
  return cycles && numbers && saved && live && closed;
}

function isAtStartTrue({ abs: t, logFirst, truthful }: World): boolean {
  const { anchor, lo, at_start } = t.ctrlo;
  if (anchor === "start" && at_start !== (lo === 0)) return false;
  if (!at_start || !truthful || anchor === "start") return true;
  return logFirst === undefined || lo === logFirst;
}

type Field = keyof AbstractState;
const cycleFields: readonly Field[] = ["prev_first", "held_first", "painted_through", "ctrlo"];
/** X12: which event may change which field. */
const mayChange: Readonly<Record<WindowEvent["type"], readonly Field[]>> = {
  turn_started: ["turn_open"],
  turn_ended: ["turn_open", ...cycleFields],
  block_opened: ["live"],
  block_changed: [],
  block_finished: ["live", "next_seq", "painted_through", "ctrlo"],
  saved_through: ["saved_through", ...cycleFields],
  compacted: ["cycle", "cycle_first", ...cycleFields],
  resized: ["epoch", "painted_through", "reprinting"],
  reprint_tick: ["painted_through", "reprinting"],
  ctrlo_opened: ["ctrlo"],
  ctrlo_scrolled: ["ctrlo", "next_token"],
  ctrlo_jumped: ["ctrlo", "next_token"],
  ctrlo_closed: ["ctrlo"],
  log_read_done: ["ctrlo"],
  log_read_failed: ["ctrlo"],
  resumed: [
    "cycle",
    "cycle_first",
    "prev_first",
    "held_first",
    "next_seq",
    "saved_through",
    "live",
    "turn_open",
    "epoch",
    "painted_through",
    "reprinting",
    "ctrlo",
    "next_token",
  ],
};

const allFields: readonly Field[] = ["save", ...mayChange.resumed];
const frames = new Map<WindowEvent["type"], readonly Field[]>();

function mayNotChange(type: WindowEvent["type"]): readonly Field[] {
  let frame = frames.get(type);
  if (frame === undefined) {
    frame = allFields.filter((field) => !mayChange[type].includes(field));
    frames.set(type, frame);
  }
  return frame;
}

function isSameField(field: Field, s: AbstractState, t: AbstractState): boolean {
  if (field === "live") return isSameArray(s.live, t.live);
  if (field === "ctrlo") return isSamePager(s.ctrlo, t.ctrlo);
  return s[field] === t[field];
}

function isFramed(step: Step): boolean {
  const { before, event, after } = step;
  const s = before.abs;
  const t = after.abs;
  for (const field of mayNotChange(event.type)) if (!isSameField(field, s, t)) return false;
  if (event.type === "block_finished" && t.next_seq !== s.next_seq + 1) return false;
  const isCycle = event.type === "turn_ended" || event.type === "saved_through" || event.type === "compacted";
  if (isCycle && s.save === "saved" && !isSamePager(s.ctrlo, t.ctrlo)) return false;
  const isRead = all(step, "read_log", ({ token }) => token === s.next_token && t.next_token === token + 1);
  if (
    !isRead ||
    (event.type !== "resumed" && t.next_token !== s.next_token && first(step, "read_log") === undefined)
  ) {
    return false;
  }
  const heldBefore = event.type === "resumed" ? event.cycleFirst : s.held_first;
  const drop = first(step, "drop");
  const isDropTold =
    drop === undefined ? t.held_first === heldBefore : drop.from === heldBefore && drop.to === t.held_first;
  return (
    isDropTold &&
    all(step, "reprint_slice", ({ from, to }) => from === s.painted_through && to === t.painted_through)
  );
}

function isRepaintLast(step: Step): boolean {
  const { before, event, result, after } = step;
  const { effects } = result;
  const endsReprint = event.type === "reprint_tick" && before.abs.reprinting && !after.abs.reprinting;
  const begins = event.type === "resized" || event.type === "resumed";
  const last = effects.at(-1)?.type;
  const counts = (type: WindowEffect["type"]): number => effects.filter((e) => e.type === type).length;
  return (
    effects.length <= 2 &&
    counts("repaint_live") === (endsReprint ? 1 : 0) &&
    (!endsReprint || last === "repaint_live") &&
    counts("reprint_begin") === (begins ? 1 : 0) &&
    (!begins || last === "reprint_begin")
  );
}

function readsOnlyOnScroll(step: Step): boolean {
  const { before, event } = step;
  return all(step, "read_log", ({ dir }) => {
    if (!before.abs.ctrlo.open || (dir !== "newer" && before.abs.ctrlo.at_start)) return false;
    return dir === "first"
      ? event.type === "ctrlo_jumped" && event.to === "start"
      : event.type === "ctrlo_scrolled" && event.dir === dir;
  });
}

/** X16: what an accepted event must have done. */
function does(step: Step): boolean {
  const { before, event, after } = step;
  const s = before.abs;
  const t = after.abs;
  const show = first(step, "ctrlo_show");
  const read = first(step, "read_log");
  switch (event.type) {
    case "turn_started":
      return t.turn_open;
    case "turn_ended":
      return !t.turn_open;
    case "block_opened": {
      const drawn = first(step, "repaint_block");
      return t.live.includes(event.id) && t.live.length === s.live.length + 1 && drawn?.id === event.id;
    }
    case "block_changed":
      return true;
    case "block_finished": {
      const rest = s.live.filter((id) => id !== event.id);
      const isPainted = (first(step, "paint_final") !== undefined) === !s.reprinting;
      return isSameArray(t.live, rest) && isPainted;
    }
    case "saved_through":
      return t.saved_through === event.seq;
    case "compacted":
      return t.cycle === s.cycle + 1 && t.cycle_first === s.next_seq;
    case "resized":
      return t.epoch === s.epoch + 1 && t.reprinting && t.painted_through === t.held_first;
    case "reprint_tick": {
      const to = Math.min(s.painted_through + after.config.slice, s.next_seq);
      const isTold = to === s.painted_through || first(step, "reprint_slice")?.to === to;
      return t.painted_through === to && t.reprinting === to < s.next_seq && isTold;
    }
    case "ctrlo_opened": {
      const isFull = t.ctrlo.lo === Math.max(t.held_first, t.next_seq - after.config.window);
      return t.ctrlo.open && isFull && show !== undefined;
    }
    case "ctrlo_scrolled":
      if (read !== undefined) return isSamePager({ ...t.ctrlo, pending: s.ctrlo.pending }, s.ctrlo);
      return (
        show !== undefined && (event.dir === "older" ? t.ctrlo.lo < s.ctrlo.lo : t.ctrlo.hi > s.ctrlo.hi)
      );
    case "ctrlo_jumped":
      return event.to === "end" || t.save === "unsaved" ? show !== undefined : read !== undefined;
    case "ctrlo_closed":
      return !t.ctrlo.open;
    case "log_read_done":
      return !hasRead(t) && t.ctrlo.open;
    case "log_read_failed":
      return !hasRead(t) && isSamePager({ ...t.ctrlo, pending: s.ctrlo.pending }, s.ctrlo);
    case "resumed":
      return (
        t.cycle === event.cycle &&
        t.cycle_first === event.cycleFirst &&
        t.next_seq === event.nextSeq &&
        t.reprinting &&
        t.painted_through === t.held_first
      );
  }
}

function isScrollBounded(step: Step): boolean {
  const { before, event, after } = step;
  if (event.type !== "ctrlo_scrolled" || first(step, "read_log") !== undefined) return true;
  const s = before.abs.ctrlo;
  const t = after.abs.ctrlo;
  if (s.anchor !== t.anchor) return false;
  const moved = event.dir === "older" ? s.lo - t.lo : t.hi - s.hi;
  return 1 <= moved && moved <= after.config.step && (event.dir !== "older" || t.lo >= after.abs.held_first);
}

export const furtherLaws: readonly Law[] = [
  { id: "X1", name: "MemoryIsHeld", kind: "step", holds: isTold },
  {
    id: "X2",
    name: "ShownIsWindow",
    kind: "state",
    holds: ({ abs: t, shown }) =>
      t.ctrlo.open
        ? shown !== undefined &&
          shown.lo === t.ctrlo.lo &&
          shown.hi === t.ctrlo.hi &&
          shown.anchor === t.ctrlo.anchor
        : shown === undefined,
  },
  { id: "X3", name: "WindowReadable", kind: "state", holds: isWindowReadable },
  { id: "X4", name: "WindowHasText", kind: "step", holds: hasText },
  { id: "X5", name: "NoGap", kind: "step", on: ["ctrlo_scrolled", "log_read_done"], holds: hasNoGap },
  { id: "X6", name: "ReplyFits", kind: "step", on: ["log_read_done"], holds: replyFits },
  { id: "X7", name: "ReadsBelowMemory", kind: "step", holds: readsBelowMemory },
  { id: "X8", name: "Ordered", kind: "state", holds: isOrdered },
  {
    id: "X9",
    name: "NoEmptyRange",
    kind: "step",
    holds: (step) =>
      all(step, "drop", ({ from, to }) => from < to) &&
      all(step, "reprint_slice", ({ from, to }) => from < to),
  },
  {
    id: "X10",
    name: "LiveDrawn",
    kind: "state",
    holds: ({ abs: t, drawn }) => t.reprinting || isSameArray(t.live, drawn),
  },
  { id: "X11", name: "AtStartIsStart", kind: "state", holds: isAtStartTrue },
  { id: "X12", name: "Frame", kind: "step", holds: isFramed },
  { id: "X14", name: "RepaintLiveLast", kind: "step", holds: isRepaintLast },
  { id: "X15", name: "ReadOnlyOnScroll", kind: "step", holds: readsOnlyOnScroll },
  { id: "X16", name: "Does", kind: "step", holds: does },
  {
    id: "X17",
    name: "Accepts",
    kind: "step",
    rejections: true,
    holds: (step) => isAccepted(step) === accepts(step.before.config, step.before.abs, step.event),
  },
  { id: "X18", name: "ScrollBounded", kind: "step", on: ["ctrlo_scrolled"], holds: isScrollBounded },
];
