/** The laws of the extensions E1-E3, and the refinement: the core does what the reference model does. */
import { accepts, next } from "../model.ts";
import type { Step, World } from "../world.ts";
import { absoluteWindow } from "../world.ts";
import { isSameEffects, isSameObject, isSamePager, isSameState } from "./equal.ts";
import type { Law } from "./law.ts";
import { all, first, hasRead } from "./law.ts";

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

export const extensionLaws: readonly Law[] = [
  { id: "E1", name: "TailStaysTail", kind: "step", on: ["block_finished"], holds: staysAtTail },
  { id: "E2", name: "HeldIsCapped", kind: "state", holds: isCapped },
  { id: "E2b", name: "DropsNoMore", kind: "step", holds: dropsNoMore },
  { id: "E3", name: "Jumps", kind: "step", on: ["ctrlo_jumped"], holds: jumps },
  { id: "E3b", name: "NeighboursInLog", kind: "step", holds: areNeighbours },
];

/** That the reference model takes exactly the same steps. */
export const modelLaws: readonly Law[] = [
  {
    id: "R1",
    name: "RejectionIsNothing",
    kind: "step",
    rejections: true,
    holds: ({ before, result, after }) =>
      result.rejected === undefined || (result.effects.length === 0 && isSameState(before.abs, after.abs)),
  },
  {
    id: "R2",
    name: "ModelAgrees",
    kind: "step",
    holds: ({ before, event, result, after }) => {
      if (!accepts(before.config, before.abs, event)) return false;
      const expected = next(before.config, before.abs, event);
      return isSameState(expected.state, after.abs) && isSameEffects(expected.effects, result.effects);
    },
  },
];
