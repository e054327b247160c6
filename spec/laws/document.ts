/** The laws of the document that speak of states and steps. L14-L16 speak of runs (liveness.ts); L17 is about the source (purity). */
import { covers, isRange, meets } from "../ranges.ts";
import { absoluteWindow } from "../world.ts";
import { isSameArray, isSameState } from "./equal.ts";
import type { Law } from "./law.ts";
import { all, first, hasRead } from "./law.ts";

/** In the order of the document. */
export const documentLaws: readonly Law[] = [
  {
    id: "L1",
    name: "HeldIsRecentCycles",
    kind: "state",
    holds: ({ abs: t }) =>
      t.turn_open || (t.save === "saved" && t.saved_through < t.cycle_first) || t.held_first >= t.cycle_first,
  },
  {
    id: "L2",
    name: "LiveNeverDropped",
    kind: "step",
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
    kind: "step",
    holds: (step) =>
      step.after.abs.save === "unsaved" || all(step, "drop", ({ to }) => to <= step.after.abs.saved_through),
  },
  {
    id: "L4",
    name: "UpdateIsLocal",
    kind: "step",
    on: ["block_changed"],
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
    kind: "step",
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
    kind: "state",
    holds: ({ abs: t, screen }) =>
      !t.reprinting ||
      (t.held_first <= t.painted_through && isRange(screen, t.held_first, t.painted_through)),
  },
  {
    id: "L7",
    name: "ReprintSliceBound",
    kind: "step",
    holds: (step) => all(step, "reprint_slice", ({ from, to }) => to - from <= step.after.config.slice),
  },
  {
    id: "L8",
    name: "CtrlOWindowBound",
    kind: "state",
    holds: ({ abs: t, config }) => {
      const { open, lo, hi } = t.ctrlo;
      return !open || (hi - lo <= config.window && 0 <= lo && lo <= hi && hi <= t.next_seq);
    },
  },
  {
    id: "L9",
    name: "OneReadInFlight",
    kind: "step",
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
    kind: "step",
    on: ["ctrlo_opened"],
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
    kind: "step",
    on: ["log_read_done", "log_read_failed"],
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
    kind: "step",
    holds: (step) =>
      step.after.abs.save === "saved" || (first(step, "read_log") === undefined && !hasRead(step.after.abs)),
  },
  {
    id: "L13",
    name: "RecoveredFromLog",
    kind: "step",
    on: ["resumed"],
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
    kind: "step",
    holds: (step) => first(step, "drop") === undefined || !step.after.abs.turn_open,
  },
  {
    id: "L19",
    name: "ScreenHoldsHeld",
    kind: "state",
    holds: ({ abs: t, screen, memory }) => {
      if (t.reprinting) return true;
      for (let i = 0; i < memory.length; i += 2)
        if (!covers(screen, memory[i]!, memory[i + 1]!)) return false;
      return covers(screen, t.held_first, t.next_seq);
    },
  },
  {
    id: "L20",
    name: "PaintedOnce",
    kind: "step",
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
    kind: "step",
    on: ["log_read_done"],
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
