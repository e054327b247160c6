/**
 * X19: counters are only compared and counted. The explorer takes states that differ only in `cycle`, `epoch` and `next_token` for one;
 * that is sound where the same question about shifted counters has the shifted answer, which is asked here of the real `step`. The
 * numbers of blocks are shifted too: a log opened newest first does not begin at 0.
 */
import type { StepResult, WindowEffect, WindowEvent, WindowState } from "../src/window/index.ts";
import { isSameArray, isSameEffects, isSameObject } from "./laws/equal.ts";

type StepFunction = (state: WindowState, event: WindowEvent) => StepResult;

/** What is added to each counter, and to the number of every block. */
export interface Shift {
  readonly cycle: number;
  readonly epoch: number;
  readonly token: number;
  readonly seq: number;
}

const SWEEP = 64;
const far = [2 ** 31 - 2, 2 ** 32 - 1, 2 ** 40, 2 ** 40 + 3, 2 ** 52] as const;

/** Every counter far away, each by another distance, so that a comparison of two of them shows. */
export const farShifts: readonly Shift[] = far.map((offset, i) => ({
  cycle: offset,
  epoch: far[(i + 1) % far.length]!,
  token: far[(i + 2) % far.length]!,
  seq: far[(i + 3) % far.length]!,
}));

/** Every counter by every offset below 64, each in another order, and far away. */
export const everyShift: readonly Shift[] = [
  ...Array.from({ length: SWEEP }, (_, i) => ({
    cycle: i,
    epoch: SWEEP - 1 - i,
    token: (i * 5 + 1) % SWEEP,
    seq: (i * 11 + 7) % SWEEP,
  })),
  ...farShifts,
];

/** A number moved; what is no natural number stays what it is. */
function moved(value: number, by: number): number {
  return Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0) ? value + by : value;
}

function shiftedPager(ctrlo: WindowState["ctrlo"], { token, seq }: Shift): WindowState["ctrlo"] {
  if (!ctrlo.open) return ctrlo;
  // Anchored at the start, numbers count from the log's first block; so does the read of it.
  const by = ctrlo.anchor === "tail" ? seq : 0;
  const { pending } = ctrlo;
  return {
    ...ctrlo,
    lo: ctrlo.lo + by,
    hi: ctrlo.hi + by,
    pending: pending && {
      ...pending,
      token: pending.token + token,
      from: pending.from + (pending.dir === "first" ? 0 : by),
    },
  };
}

function shiftedState(state: WindowState, shift: Shift): WindowState {
  const { seq } = shift;
  return {
    ...state,
    cycle: state.cycle + shift.cycle,
    epoch: state.epoch + shift.epoch,
    nextToken: state.nextToken + shift.token,
    cycleFirst: state.cycleFirst + seq,
    prevFirst: state.prevFirst === undefined ? undefined : state.prevFirst + seq,
    heldFloor: state.heldFloor + seq,
    nextSeq: state.nextSeq + seq,
    savedThrough: state.savedThrough + seq,
    paintedThrough: state.paintedThrough + seq,
    ctrlo: shiftedPager(state.ctrlo, shift),
  };
}

function shiftedEvent(event: WindowEvent, shift: Shift): WindowEvent {
  switch (event.type) {
    case "saved_through":
      return { ...event, seq: moved(event.seq, shift.seq) };
    case "log_read_done":
    case "log_read_failed":
      return { ...event, token: moved(event.token, shift.token) };
    case "resumed":
      return {
        type: event.type,
        cycle: moved(event.cycle, shift.cycle),
        cycleFirst: moved(event.cycleFirst, shift.seq),
        nextSeq: moved(event.nextSeq, shift.seq),
      };
    default:
      return event;
  }
}

function shiftedEffect(effect: WindowEffect, shift: Shift, anchor: "tail" | "start"): WindowEffect {
  const { seq } = shift;
  switch (effect.type) {
    case "paint_final":
      return { ...effect, seq: effect.seq + seq };
    case "reprint_slice":
    case "drop":
      return { ...effect, from: effect.from + seq, to: effect.to + seq };
    case "ctrlo_show":
      return effect.anchor === "start" ? effect : { ...effect, lo: effect.lo + seq, hi: effect.hi + seq };
    case "read_log": {
      const by = effect.dir === "first" || anchor === "start" ? 0 : seq;
      return { ...effect, token: effect.token + shift.token, from: effect.from + by };
    }
    default:
      return effect;
  }
}

/** Whether a reply claims blocks before number 0: there, and only there, where the numbers begin makes a difference. */
function isCutAtZero({ ctrlo, heldFloor }: WindowState, event: WindowEvent): boolean {
  if (event.type !== "log_read_done" || ctrlo.pending === undefined) return false;
  switch (ctrlo.pending.dir) {
    case "first":
      return event.count > heldFloor;
    case "older":
      return ctrlo.anchor === "tail" && event.count > ctrlo.lo;
    case "newer":
      return ctrlo.anchor === "start" && event.count > heldFloor - ctrlo.hi;
  }
}

function isSameWindow(a: WindowState, b: WindowState): boolean {
  if (a === b) return true;
  const { live, ctrlo, ...rest } = a;
  const { live: otherLive, ctrlo: otherPager, ...otherRest } = b;
  const { pending, ...pager } = ctrlo;
  const { pending: otherPending, ...other } = otherPager;
  return (
    isSameObject(rest, otherRest) &&
    isSameArray(live, otherLive) &&
    isSameObject(pager, other) &&
    isSameObject(pending ?? {}, otherPending ?? {})
  );
}

function isShiftedAnswer(before: WindowState, answer: StepResult, other: StepResult, shift: Shift): boolean {
  if (answer.rejected !== other.rejected) return false;
  if (answer.rejected !== undefined) return answer.effects.length === 0 && other.effects.length === 0;
  const { anchor } = before.ctrlo;
  const effects = answer.effects.map((effect) => shiftedEffect(effect, shift, anchor));
  return (
    isSameEffects(effects, other.effects) && isSameWindow(shiftedState(answer.state, shift), other.state)
  );
}

/** Every token that was given out before the pending one must be refused, however long ago. */
function staleFault(step: StepFunction, state: WindowState, event: WindowEvent): string | undefined {
  if (event.type !== "log_read_done" && event.type !== "log_read_failed") return undefined;
  const pending = state.ctrlo.pending?.token;
  if (pending === undefined || event.token !== pending) return undefined;
  if (event.type === "log_read_done" && event.count !== state.config.step) return undefined;
  for (let token = Math.max(0, pending - 2 * SWEEP); token <= state.nextToken; token += 1) {
    if (token === pending) continue;
    const answer = step(state, { ...event, token });
    if (answer.rejected !== "not the pending read" || answer.state !== state) {
      return `took token ${token} for ${pending}`;
    }
  }
  return undefined;
}

/** How an answer differs once the counters are shifted; undefined where it is the shifted answer for each shift. */
export function shiftFault(
  step: StepFunction,
  shifts: readonly Shift[],
  state: WindowState,
  event: WindowEvent,
  answer: StepResult,
): string | undefined {
  // A session without a log begins at 0 and never elsewhere.
  const isAtOrigin = state.save === "unsaved" || isCutAtZero(state, event);
  for (const wanted of shifts) {
    const shift = isAtOrigin ? { ...wanted, seq: 0 } : wanted;
    const other = shiftedState(state, shift);
    const asked = shiftedEvent(event, shift);
    const result = step(other, asked);
    // A resume says its own cycle, and tokens begin anew.
    const isResumed = event.type === "resumed" && answer.rejected === undefined;
    const expected = isResumed ? { ...shift, token: 0 } : shift;
    const where = `with cycle+${shift.cycle} epoch+${shift.epoch} token+${shift.token} seq+${shift.seq}`;
    if (result.rejected !== undefined && result.state !== other)
      return `${where} a refusal changes the state`;
    if (!isShiftedAnswer(state, answer, result, expected)) return `${where} another answer`;
    const stale = staleFault(step, other, asked);
    if (stale !== undefined) return `${where} ${stale}`;
  }
  return undefined;
}
