/**
 * What the laws are stated on: the abstract state, and what only history tells (ghosts): what the screen shows, what memory holds as
 * the effects told it, what the pager shows, and where the log begins. Ghosts are computed from events and effects, never from the
 * state after the step, so that a state and the effects that led to it check each other.
 */
import type { AbstractState, StepResult, WindowConfig, WindowEvent } from "../src/window/index.ts";
import { abstract } from "../src/window/index.ts";
import type { Ranges } from "./ranges.ts";
import { add, nothing, range, remove } from "./ranges.ts";

export type Shown = { readonly lo: number; readonly hi: number; readonly anchor: "tail" | "start" };

export interface World {
  readonly config: WindowConfig;
  readonly abs: AbstractState;
  /** Finished blocks on the screen in this epoch that were not dropped since. */
  readonly screen: Ranges;
  /** Numbers of the finished blocks whose text the shell has: given by finishes and resumes, taken by told drops. */
  readonly memory: Ranges;
  /** Live blocks that are drawn. */
  readonly drawn: readonly number[];
  /** The last `ctrlo_show` since the pager was opened. */
  readonly shown: Shown | undefined;
  /** The window's number of the log's first block; undefined where it is not known (yet). The log holds `[logFirst, saved_through)`. */
  readonly logFirst: number | undefined;
  /** Whether each reply since the pager was opened told the truth about the log. */
  readonly truthful: boolean;
}

/** One step, as the laws see it. */
export interface Step {
  readonly before: World;
  readonly event: WindowEvent;
  readonly result: StepResult;
  readonly after: World;
}

/**
 * The world of a window met in some state: the ghosts are what they must be in it. In a session that begins, `logFirst` is 0; of one
 * met later it is not known.
 */
export function worldAt(config: WindowConfig, abs: AbstractState, logFirst?: number): World {
  const { open, lo, hi, anchor } = abs.ctrlo;
  return {
    config,
    abs,
    screen: range(abs.held_first, abs.painted_through),
    memory: range(abs.held_first, abs.next_seq),
    drawn: abs.reprinting ? [] : abs.live,
    shown: open ? { lo, hi, anchor } : undefined,
    logFirst,
    truthful: true,
  };
}

/** The pager's window in window numbers; undefined where it counts from a start whose number is not known. */
export function absoluteWindow(world: World): { readonly lo: number; readonly hi: number } | undefined {
  const { ctrlo } = world.abs;
  if (ctrlo.anchor === "tail") return ctrlo;
  return world.logFirst === undefined
    ? undefined
    : { lo: world.logFirst + ctrlo.lo, hi: world.logFirst + ctrlo.hi };
}

/** What a reply found: the blocks `[from, to)`, in window numbers (clamped to what was asked for). */
export interface Found {
  readonly from: number;
  readonly to: number;
}

/** How many blocks of a reply are taken: never more than were asked for, nor than there can be on that side. */
function takenOf({ config, abs }: World, count: number): number {
  const { anchor, pending } = abs.ctrlo;
  switch (pending.dir) {
    case "first":
      return Math.min(count, config.window, abs.held_first);
    case "older":
      return Math.min(count, config.step, pending.from);
    default:
      return Math.min(
        count,
        config.step,
        Math.max(0, (anchor === "tail" ? abs.next_seq : abs.held_first) - pending.from),
      );
  }
}

/** The blocks an accepted reply brought, where they can be numbered. */
export function foundBy(
  world: World,
  event: Extract<WindowEvent, { type: "log_read_done" }>,
): Found | undefined {
  const { abs, logFirst } = world;
  const { anchor, pending } = abs.ctrlo;
  const n = takenOf(world, event.count);
  if (pending.dir === "first") {
    if (event.met === true) return { from: abs.held_first - n, to: abs.held_first };
    return logFirst === undefined ? undefined : { from: logFirst, to: logFirst + n };
  }
  if (anchor === "start" && logFirst === undefined) return undefined;
  const from = anchor === "start" ? pending.from + logFirst! : pending.from;
  return pending.dir === "older" ? { from: from - n, to: from } : { from, to: from + n };
}

/** Whether a reply to the pending read says of the log what is so. Reads may be short, but only the beginning (or what meets) gives nothing. */
export function isTrueReply(world: World, event: Extract<WindowEvent, { type: "log_read_done" }>): boolean {
  const { config, abs, logFirst } = world;
  if (logFirst === undefined) return true;
  const { anchor, pending } = abs.ctrlo;
  const { count } = event;
  const met = event.met === true;
  if (pending.dir === "first") {
    const before = abs.held_first - logFirst;
    if (count > Math.min(config.window, before)) return false;
    return met ? count === before : count > 0;
  }
  const from = anchor === "start" ? logFirst + pending.from : pending.from;
  if (pending.dir === "older") {
    return count <= Math.min(config.step, from - logFirst) && (count > 0 || from === logFirst);
  }
  if (anchor === "tail") return count > 0 && count <= Math.min(config.step, abs.saved_through - from);
  if (count > Math.min(config.step, abs.held_first - from)) return false;
  return met ? from + count === abs.held_first : count > 0;
}

/** What a reply teaches of the log's first block, where that was not known. */
function learnFirst(
  world: World,
  event: Extract<WindowEvent, { type: "log_read_done" }>,
): number | undefined {
  const { abs } = world;
  const { anchor, pending, lo, hi } = abs.ctrlo;
  const n = takenOf(world, event.count);
  if (pending.dir === "first") return event.met === true ? abs.held_first - n : undefined;
  if (pending.dir === "older") {
    return anchor === "tail" && pending.from === lo && event.count === 0 ? lo : undefined;
  }
  if (anchor !== "start" || pending.from !== hi || event.met !== true) return undefined;
  return abs.held_first - (hi + n);
}

function withoutId(ids: readonly number[], id: number): readonly number[] {
  return ids.includes(id) ? ids.filter((other) => other !== id) : ids;
}

function withId(ids: readonly number[], id: number): readonly number[] {
  return ids.includes(id) ? ids : [...ids, id].sort((a, b) => a - b);
}

/**
 * The world after a step. A rejected step leaves it as it is. `logFirst` of a `resumed` event is the caller's to say: where it is
 * undefined, it is learned from the replies.
 */
export function advance(
  before: World,
  event: WindowEvent,
  result: StepResult,
  logFirst?: number,
  abs: AbstractState = abstract(result.state),
): World {
  // Whatever a refused event left behind is for the laws to see.
  if (result.rejected !== undefined) return abs === before.abs ? before : { ...before, abs };
  let { screen, memory, drawn, shown, truthful } = before;
  let first = before.logFirst;
  if (event.type === "block_finished") {
    memory = add(memory, before.abs.next_seq, before.abs.next_seq + 1);
    drawn = withoutId(drawn, event.id);
  } else if (event.type === "resumed") {
    memory = range(event.cycleFirst, event.nextSeq);
    drawn = [];
    shown = undefined;
    first = logFirst;
    truthful = true;
  } else if (event.type === "ctrlo_closed") {
    shown = undefined;
    truthful = true;
  } else if (event.type === "ctrlo_jumped" && event.to === "end") {
    truthful = true;
  } else if (event.type === "log_read_done") {
    truthful = truthful && isTrueReply(before, event);
    first ??= learnFirst(before, event);
  }
  for (const effect of result.effects) {
    switch (effect.type) {
      case "paint_final":
        screen = add(screen, effect.seq, effect.seq + 1);
        break;
      case "reprint_slice":
        screen = add(screen, effect.from, effect.to);
        break;
      case "reprint_begin":
        screen = nothing;
        drawn = [];
        break;
      case "repaint_live":
        drawn = before.abs.live;
        break;
      case "repaint_block":
        if (!before.abs.reprinting) drawn = withId(drawn, effect.id);
        break;
      case "drop":
        screen = remove(screen, effect.from, effect.to);
        memory = remove(memory, effect.from, effect.to);
        break;
      case "ctrlo_show":
        shown = { lo: effect.lo, hi: effect.hi, anchor: effect.anchor };
        break;
      case "read_log":
        break;
    }
  }
  return { config: before.config, abs, screen, memory, drawn, shown, logFirst: first, truthful };
}
