/**
 * The laws of the window: L1-L21 of the document that speak of states and steps, the further laws X1-X18, those of the extensions
 * (E1-E3), and that the reference model agrees. A law is a predicate on one step: an `inv` looks at where it led, a `prop` at the
 * whole. Laws that speak of runs (L14-L16, X13) are in liveness.ts, purity (L17) in purity.ts.
 */
import type { AbstractState, WindowEffect, WindowEvent } from "../src/window/index.ts";
import { accepts, next } from "./model.ts";
import { covers, isRange, meets } from "./ranges.ts";
import type { Step, World } from "./world.ts";
import { absoluteWindow, foundBy } from "./world.ts";

export interface Law {
  readonly id: string;
  readonly name: string;
  readonly kind: "inv" | "prop";
  /** Whether it speaks of rejected steps too; the others are not asked about those. */
  readonly rejections?: true;
  readonly holds: (step: Step) => boolean;
}

type EffectOf<Type extends WindowEffect["type"]> = Extract<WindowEffect, { type: Type }>;

function first<Type extends WindowEffect["type"]>(step: Step, type: Type): EffectOf<Type> | undefined {
  for (const effect of step.result.effects) if (effect.type === type) return effect as EffectOf<Type>;
  return undefined;
}

/** Whether every effect of a type satisfies a predicate. */
function all<Type extends WindowEffect["type"]>(
  step: Step,
  type: Type,
  predicate: (effect: EffectOf<Type>) => boolean,
): boolean {
  for (const effect of step.result.effects) {
    if (effect.type === type && !predicate(effect as EffectOf<Type>)) return false;
  }
  return true;
}

function isSameArray(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((value, i) => value === b[i]));
}

function isSameObject(a: object, b: object): boolean {
  if (a === b) return true;
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  for (const key in left) if (left[key] !== right[key]) return false;
  for (const key in right) if (!(key in left)) return false;
  return true;
}

function isSamePager(a: AbstractState["ctrlo"], b: AbstractState["ctrlo"]): boolean {
  if (a === b) return true;
  const sameFields =
    a.open === b.open && a.anchor === b.anchor && a.lo === b.lo && a.hi === b.hi && a.at_start === b.at_start;
  return sameFields && isSameObject(a.pending, b.pending);
}

/** Equality of abstract states by value. */
export function isSameState(a: AbstractState, b: AbstractState): boolean {
  return (
    a === b ||
    (a.cycle_first === b.cycle_first &&
      a.prev_first === b.prev_first &&
      a.held_first === b.held_first &&
      a.next_seq === b.next_seq &&
      a.saved_through === b.saved_through &&
      a.turn_open === b.turn_open &&
      a.painted_through === b.painted_through &&
      a.reprinting === b.reprinting &&
      a.next_token === b.next_token &&
      a.cycle === b.cycle &&
      a.epoch === b.epoch &&
      a.save === b.save &&
      isSameArray(a.live, b.live) &&
      isSamePager(a.ctrlo, b.ctrlo))
  );
}

function isSameEffects(a: readonly WindowEffect[], b: readonly WindowEffect[]): boolean {
  return a.length === b.length && a.every((effect, i) => isSameObject(effect, b[i]!));
}

const isAccepted = (step: Step): boolean => step.result.rejected === undefined;
const hasRead = (s: AbstractState): boolean => s.ctrlo.pending.dir !== "none";

// Kept in the order of the document.

const documentLaws: readonly Law[] = [
  {
    id: "L1",
    name: "HeldIsRecentCycles",
    kind: "inv",
    holds: ({ after: { abs: t } }) =>
      t.turn_open || (t.save === "saved" && t.saved_through < t.cycle_first) || t.held_first >= t.cycle_first,
  },
  {
    id: "L2",
    name: "LiveNeverDropped",
    kind: "inv",
    holds: (step) => {
      const { before, after, event } = step;
      // Live blocks have no number yet: a range of finished numbers cannot hold one, and the set must stand.
      return all(step, "drop", ({ to }) =>
        event.type === "resumed"
          ? to <= event.nextSeq
          : to <= before.abs.next_seq && isSameArray(before.abs.live, after.abs.live),
      );
    },
  },
  {
    id: "L3",
    name: "DropOnlySaved",
    kind: "inv",
    holds: (step) =>
      step.after.abs.save === "unsaved" || all(step, "drop", ({ to }) => to <= step.after.abs.saved_through),
  },
  {
    id: "L4",
    name: "UpdateIsLocal",
    kind: "prop",
    holds: ({ before, event, result, after }) => {
      if (event.type !== "block_changed") return true;
      const only = result.effects[0];
      return (
        result.effects.length === 1 &&
        only?.type === "repaint_block" &&
        only.id === event.id &&
        isSameState(before.abs, after.abs)
      );
    },
  },
  {
    id: "L5",
    name: "PaintOnceInOrder",
    kind: "inv",
    holds: (step) => {
      const { before, after } = step;
      const isCaughtUp = after.abs.reprinting || after.abs.painted_through === after.abs.next_seq;
      return (
        isCaughtUp &&
        all(
          step,
          "paint_final",
          ({ seq }) => seq === before.abs.painted_through && after.abs.painted_through === seq + 1,
        )
      );
    },
  },
  {
    id: "L6",
    name: "ReprintInOrder",
    kind: "inv",
    holds: ({ after: { abs: t, screen } }) =>
      !t.reprinting ||
      (t.held_first <= t.painted_through && isRange(screen, t.held_first, t.painted_through)),
  },
  {
    id: "L7",
    name: "ReprintSliceBound",
    kind: "inv",
    holds: (step) => all(step, "reprint_slice", ({ from, to }) => to - from <= step.after.config.slice),
  },
  {
    id: "L8",
    name: "CtrlOWindowBound",
    kind: "inv",
    holds: ({ after: { abs: t, config } }) => {
      const { open, lo, hi } = t.ctrlo;
      return !open || (hi - lo <= config.window && 0 <= lo && lo <= hi && hi <= t.next_seq);
    },
  },
  {
    id: "L9",
    name: "OneReadInFlight",
    kind: "inv",
    holds: (step) =>
      (step.after.abs.ctrlo.open || !hasRead(step.after.abs)) &&
      all(
        step,
        "read_log",
        ({ token }) => !hasRead(step.before.abs) && step.after.abs.ctrlo.pending.token === token,
      ),
  },
  {
    id: "L10",
    name: "OpenReadsNothing",
    kind: "prop",
    holds: (step) => {
      if (step.event.type !== "ctrlo_opened") return true;
      const t = step.after.abs;
      const isNewest = t.ctrlo.hi === t.next_seq && t.ctrlo.lo >= t.held_first;
      return isNewest && first(step, "read_log") === undefined && !hasRead(t);
    },
  },
  {
    id: "L11",
    name: "StaleReadIgnored",
    kind: "prop",
    rejections: true,
    holds: ({ before, event, result, after }) => {
      if (event.type !== "log_read_done" && event.type !== "log_read_failed") return true;
      if (hasRead(before.abs) && before.abs.ctrlo.pending.token === event.token) return true;
      return result.effects.length === 0 && isSameState(before.abs, after.abs);
    },
  },
  {
    id: "L12",
    name: "NoReadWhenUnsaved",
    kind: "inv",
    holds: (step) =>
      step.after.abs.save === "saved" || (first(step, "read_log") === undefined && !hasRead(step.after.abs)),
  },
  {
    id: "L13",
    name: "RecoveredFromLog",
    kind: "inv",
    holds: ({ before, event, after: { abs: t } }) => {
      if (event.type !== "resumed") return true;
      const isBlank = t.prev_first === -1 && t.live.length === 0 && !t.turn_open;
      const isClosed = !t.ctrlo.open && !hasRead(t) && t.next_token === 0;
      const isInLog = t.save === "saved" && t.next_seq <= t.saved_through && t.held_first >= event.cycleFirst;
      return isBlank && isClosed && isInLog && t.epoch > before.abs.epoch;
    },
  },
  {
    id: "L18",
    name: "DropBetweenTurns",
    kind: "inv",
    holds: (step) => first(step, "drop") === undefined || !step.after.abs.turn_open,
  },
  {
    id: "L19",
    name: "ScreenHoldsHeld",
    kind: "inv",
    holds: ({ after: { abs: t, screen, memory } }) => {
      if (t.reprinting) return true;
      for (let i = 0; i < memory.length; i += 2)
        if (!covers(screen, memory[i]!, memory[i + 1]!)) return false;
      return covers(screen, t.held_first, t.next_seq);
    },
  },
  {
    id: "L20",
    name: "PaintedOnce",
    kind: "prop",
    holds: (step) => {
      const { before } = step;
      const isFresh = (from: number, to: number): boolean => !meets(before.screen, from, to);
      return (
        all(step, "paint_final", ({ seq }) => isFresh(seq, seq + 1)) &&
        all(step, "reprint_slice", ({ from, to }) => isFresh(from, to)) &&
        (first(step, "reprint_begin") === undefined || step.after.abs.epoch > before.abs.epoch)
      );
    },
  },
  {
    id: "L21",
    name: "ReadBounded",
    kind: "prop",
    holds: (step) => {
      const { before, event, after } = step;
      if (event.type !== "log_read_done") return true;
      // Home's reply puts the window elsewhere: it brings at most one window of blocks.
      if (before.abs.ctrlo.pending.dir === "first")
        return after.abs.ctrlo.hi - after.abs.ctrlo.lo <= after.config.window;
      if (before.abs.ctrlo.anchor !== after.abs.ctrlo.anchor && !(before.truthful && after.truthful))
        return true;
      const from = absoluteWindow(before);
      const to = absoluteWindow(after);
      if (from === undefined || to === undefined) return true;
      const most = after.config.step;
      return Math.abs(to.lo - from.lo) <= most && Math.abs(to.hi - from.hi) <= most;
    },
  },
];

// Further laws

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

function isSameField(field: Field, s: AbstractState, t: AbstractState): boolean {
  if (field === "live") return isSameArray(s.live, t.live);
  if (field === "ctrlo") return isSamePager(s.ctrlo, t.ctrlo);
  return s[field] === t[field];
}

function isFramed(step: Step): boolean {
  const { before, event, after } = step;
  const s = before.abs;
  const t = after.abs;
  const allowed = mayChange[event.type];
  for (const field in t) {
    if (!allowed.includes(field as Field) && !isSameField(field as Field, s, t)) return false;
  }
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

const furtherLaws: readonly Law[] = [
  { id: "X1", name: "MemoryIsHeld", kind: "inv", holds: isTold },
  {
    id: "X2",
    name: "ShownIsWindow",
    kind: "inv",
    holds: ({ after: { abs: t, shown } }) =>
      t.ctrlo.open
        ? shown !== undefined &&
          shown.lo === t.ctrlo.lo &&
          shown.hi === t.ctrlo.hi &&
          shown.anchor === t.ctrlo.anchor
        : shown === undefined,
  },
  { id: "X3", name: "WindowReadable", kind: "inv", holds: ({ after }) => isWindowReadable(after) },
  { id: "X4", name: "WindowHasText", kind: "inv", holds: hasText },
  { id: "X5", name: "NoGap", kind: "prop", holds: hasNoGap },
  { id: "X6", name: "ReplyFits", kind: "prop", holds: replyFits },
  { id: "X7", name: "ReadsBelowMemory", kind: "inv", holds: readsBelowMemory },
  { id: "X8", name: "Ordered", kind: "inv", holds: ({ after }) => isOrdered(after) },
  {
    id: "X9",
    name: "NoEmptyRange",
    kind: "inv",
    holds: (step) =>
      all(step, "drop", ({ from, to }) => from < to) &&
      all(step, "reprint_slice", ({ from, to }) => from < to),
  },
  {
    id: "X10",
    name: "LiveDrawn",
    kind: "inv",
    holds: ({ after: { abs: t, drawn } }) => t.reprinting || isSameArray(t.live, drawn),
  },
  { id: "X11", name: "AtStartIsStart", kind: "inv", holds: ({ after }) => isAtStartTrue(after) },
  { id: "X12", name: "Frame", kind: "prop", holds: isFramed },
  { id: "X14", name: "RepaintLiveLast", kind: "prop", holds: isRepaintLast },
  { id: "X15", name: "ReadOnlyOnScroll", kind: "prop", holds: readsOnlyOnScroll },
  { id: "X16", name: "Does", kind: "prop", holds: does },
  {
    id: "X17",
    name: "Accepts",
    kind: "inv",
    rejections: true,
    holds: (step) => isAccepted(step) === accepts(step.before.config, step.before.abs, step.event),
  },
  { id: "X18", name: "ScrollBounded", kind: "prop", holds: isScrollBounded },
];

// The extensions

function staysAtTail(step: Step): boolean {
  const { before, event, after } = step;
  if (event.type !== "block_finished" || !before.abs.ctrlo.open) return true;
  const s = before.abs.ctrlo;
  const t = after.abs.ctrlo;
  const wasAtTail = s.anchor === "tail" && s.hi === before.abs.next_seq;
  if (!after.config.followWhileOpen || !wasAtTail) return isSamePager(s, t);
  const lo = Math.max(s.lo, after.abs.next_seq - after.config.window);
  const isKept = t.at_start === (s.at_start && lo === s.lo) && isSameObject(s.pending, t.pending);
  return (
    t.hi === after.abs.next_seq && t.lo === lo && isKept && step.result.effects.at(-1)?.type === "ctrlo_show"
  );
}

function isCapped({ abs: t, config }: World): boolean {
  const isSettled = t.save === "saved" && !t.turn_open && t.saved_through === t.next_seq;
  return config.maxHeld === undefined || !isSettled || t.next_seq - t.held_first <= config.maxHeld;
}

function dropsNoMore(step: Step): boolean {
  const { abs: t, config } = step.after;
  const byCap =
    config.maxHeld === undefined || t.save === "unsaved"
      ? 0
      : Math.min(t.next_seq - config.maxHeld, t.saved_through);
  return all(step, "drop", ({ to }) => to <= Math.max(t.cycle_first, byCap));
}

function jumps(step: Step): boolean {
  const { before, event, after } = step;
  if (event.type !== "ctrlo_jumped") return true;
  const t = after.abs;
  const { window } = after.config;
  if (event.to === "end") {
    const lo = Math.max(t.held_first, t.next_seq - window);
    const isNewest = t.ctrlo.anchor === "tail" && t.ctrlo.lo === lo && t.ctrlo.hi === t.next_seq;
    return isNewest && !t.ctrlo.at_start && !hasRead(t) && first(step, "read_log") === undefined;
  }
  if (t.save === "saved") return first(step, "read_log")?.dir === "first" && before.shown === after.shown;
  return t.ctrlo.lo === t.held_first && t.ctrlo.hi === Math.min(t.held_first + window, t.next_seq);
}

/** E3: with a truthful log, what `first` and meeting replies show lies where the log has it. */
function areNeighbours(step: Step): boolean {
  const { before, event, after } = step;
  const { abs: t, logFirst, truthful } = after;
  if (!truthful || logFirst === undefined || !t.ctrlo.open) return true;
  const window = absoluteWindow(after)!;
  if (t.save === "saved" && window.lo < logFirst) return false;
  if (event.type !== "log_read_done" || before.abs.ctrlo.pending.dir !== "first") return true;
  const isEmptyLog = event.met !== true && event.count === 0;
  return isEmptyLog || (window.lo === logFirst && t.ctrlo.at_start);
}

const extensionLaws: readonly Law[] = [
  { id: "E1", name: "TailStaysTail", kind: "prop", holds: staysAtTail },
  { id: "E2", name: "HeldIsCapped", kind: "inv", holds: ({ after }) => isCapped(after) },
  { id: "E2b", name: "DropsNoMore", kind: "inv", holds: dropsNoMore },
  { id: "E3", name: "Jumps", kind: "prop", holds: jumps },
  { id: "E3b", name: "NeighboursInLog", kind: "prop", holds: areNeighbours },
];

const modelLaws: readonly Law[] = [
  {
    id: "R1",
    name: "RejectionIsNothing",
    kind: "prop",
    rejections: true,
    holds: ({ before, result, after }) =>
      result.rejected === undefined || (result.effects.length === 0 && isSameState(before.abs, after.abs)),
  },
  {
    id: "R2",
    name: "ModelAgrees",
    kind: "prop",
    holds: ({ before, event, result, after }) => {
      if (!accepts(before.config, before.abs, event)) return false;
      const expected = next(before.config, before.abs, event);
      return isSameState(expected.state, after.abs) && isSameEffects(expected.effects, result.effects);
    },
  },
];

/** Every law of states and steps, in the documents' order. */
export const laws: readonly Law[] = [...documentLaws, ...furtherLaws, ...extensionLaws, ...modelLaws];

const lawsOfRejections: readonly Law[] = laws.filter((law) => law.rejections === true);

/** The laws that a step breaks; empty when all hold. */
export function brokenLaws(step: Step, among: readonly Law[] = laws): readonly Law[] {
  let broken: Law[] | undefined;
  const asked = isAccepted(step) || among !== laws ? among : lawsOfRejections;
  for (const law of asked) {
    if (!isAccepted(step) && law.rejections !== true) continue;
    if (!law.holds(step)) {
      broken ??= [];
      broken.push(law);
    }
  }
  return broken ?? none;
}
const none: readonly Law[] = [];
