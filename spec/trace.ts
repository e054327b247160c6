/** Checking a trace: the NDJSON that a running shell wrote (src/window/trace.ts), asked the same laws as the explorer asks. */
import type { AbstractState, StepResult, TraceLine, WindowConfig, WindowState } from "../src/window/index.ts";
import { createWindow, formatEvent, step } from "../src/window/index.ts";
import type { Law } from "./laws.ts";
import { isSameState, LawBook, laws } from "./laws.ts";
import { next } from "./model.ts";
import { parseTraceLine } from "./trace-line.ts";
import type { World } from "./world.ts";
import { advance, worldAt } from "./world.ts";

/** What is wrong with a trace, with the line it is on, counted from 1. */
export interface TraceFault {
  readonly line: number;
  readonly what: string;
  /** Whether the text is no trace, or a trace of something that the laws forbid. */
  readonly kind: "input" | "law";
}

export interface TraceCheck {
  readonly windows: number;
  readonly steps: number;
  readonly rejected: number;
  /** How many laws had something to judge. */
  readonly asked: number;
  /** The laws of the explorer's that this trace says nothing about. */
  readonly unjudged: readonly string[];
  readonly fault?: TraceFault;
}

/** Configurations are the same where their members are, in whatever order. */
function isSameConfig(a: WindowConfig, b: WindowConfig): boolean {
  const left = Object.entries(a);
  const right = new Map(Object.entries(b) as [string, unknown][]);
  return left.length === right.size && left.every(([name, value]) => right.get(name) === value);
}

/** A step result as the laws see it: they look at its effects and at whether it was rejected, never at its state. */
function resultOf({ effects, rejected }: TraceLine): StepResult {
  const state = {} as WindowState;
  return rejected === undefined
    ? { state, effects }
    : { state, effects, rejected: rejected as NonNullable<StepResult["rejected"]> };
}

/** The state whose abstract value this is. */
function concrete(config: WindowConfig, abs: AbstractState): WindowState {
  const { open, anchor, lo, hi, at_start, pending } = abs.ctrlo;
  const { token, dir, from } = pending;
  return {
    config,
    save: abs.save,
    cycle: abs.cycle,
    cycleFirst: abs.cycle_first,
    prevFirst: abs.prev_first < 0 ? undefined : abs.prev_first,
    heldFloor: abs.held_first,
    nextSeq: abs.next_seq,
    savedThrough: abs.saved_through,
    live: abs.live,
    turnOpen: abs.turn_open,
    epoch: abs.epoch,
    paintedThrough: abs.painted_through,
    reprinting: abs.reprinting,
    ctrlo: {
      open,
      anchor,
      lo,
      hi,
      atStart: at_start,
      pending: dir === "none" ? undefined : { token, dir, from },
    },
    nextToken: abs.next_token,
  };
}

/** What can only be judged where the trace has told where the log begins. */
const lawsOfTheStart: ReadonlySet<string> = new Set(["X11", "E3b"]);

/** Checks traces line by line; memory does not grow with the trace. */
export class TraceChecker {
  private readonly book: LawBook;
  private readonly laws: readonly Law[];
  private readonly accepted = new Set<string>();
  private readonly refused = new Set<string>();
  private isStartKnown = false;
  private world: World | undefined;
  private line = 0;
  private windows = 0;
  private steps = 0;
  private rejected = 0;
  private fault: TraceFault | undefined;
  private isOutOfRange = false;

  constructor(among: readonly Law[] = laws) {
    this.book = new LawBook(among);
    this.laws = among;
  }

  /** Takes the next line, without its line feed. False once a fault was found: the rest says nothing. */
  take(text: string): boolean {
    this.line += 1;
    if (this.fault !== undefined) return false;
    if (text === "") return true;
    const parsed = parseTraceLine(text);
    if (typeof parsed === "string") return this.refuse(parsed, "input");
    if (this.world !== undefined && parsed.event !== undefined) {
      if (!isSameConfig(this.world.config, parsed.config)) {
        return this.refuse("another configuration than the line before", "input");
      }
    }
    const what = this.check(parsed);
    return what === undefined || this.refuse(what, this.isOutOfRange ? "input" : "law");
  }

  private refuse(what: string, kind: TraceFault["kind"]): false {
    this.fault = { line: this.line, what, kind };
    return false;
  }

  /** Whether a trace like this one gives a law anything to judge. */
  private isJudged(law: Law): boolean {
    if (law.kind === "shift") return false;
    if (lawsOfTheStart.has(law.id) && !this.isStartKnown) return false;
    if (law.kind === "state") return this.windows > 0;
    const seen = law.rejections === true ? [...this.accepted, ...this.refused] : [...this.accepted];
    return seen.some((type) => law.on === undefined || law.on.some((one) => one === type));
  }

  finish(): TraceCheck {
    const { windows, steps, rejected, fault } = this;
    const judged = this.laws.filter((law) => this.isJudged(law));
    const unjudged = this.laws.filter((law) => !judged.includes(law)).map(({ id }) => id);
    const check = { windows, steps, rejected, asked: judged.length, unjudged };
    if (fault !== undefined) return { ...check, fault };
    if (steps > 0) return check;
    const line = Math.max(1, this.line);
    return { ...check, fault: { line, what: "a trace without a step", kind: "input" } };
  }

  private begin(config: WindowConfig, state: AbstractState, isFirst: boolean): string | undefined {
    let begun: World;
    try {
      // The log's first block is learned from its replies: a trace does not say it.
      begun = worldAt(config, state);
      createWindow(config, state.save);
    } catch (error) {
      this.isOutOfRange = true;
      return error instanceof Error ? error.message : String(error);
    }
    const isFresh = state.next_seq === 0 && state.epoch === 0 && state.next_token === 0 && !state.turn_open;
    if (isFirst && (!isFresh || state.live.length > 0 || state.ctrlo.open)) return "no new window";
    this.windows += 1;
    this.world = begun;
    return this.broken(this.book.brokenByState(begun));
  }

  private check(line: TraceLine): string | undefined {
    const { config, event, state } = line;
    if (event === undefined) return this.begin(config, state, true);
    if (this.world === undefined) {
      const start = this.begin(config, initial(state.save), true);
      if (start !== undefined) return start;
    }
    const before = this.world;
    if (before === undefined) return "no window";
    this.steps += 1;
    if (line.rejected !== undefined) this.rejected += 1;
    (line.rejected === undefined ? this.accepted : this.refused).add(event.type);
    const result = resultOf(line);
    const after = advance(before, event, result, undefined, state);
    const broken = [
      ...this.book.brokenByStep({ before, event, result, after }),
      ...this.book.brokenByState(after),
    ];
    this.world = after;
    if (after.logFirst !== undefined && after.abs.ctrlo.open) this.isStartKnown = true;
    const { rejected } = step(concrete(config, before.abs), event);
    if (broken.length === 0 && rejected !== line.rejected) {
      return `${formatEvent(event)} is called rejected as "${line.rejected}"; the core says "${rejected}"`;
    }
    return this.broken(broken, `${formatEvent(event)} `, before, line);
  }

  private broken(among: readonly Law[], at = "", before?: World, line?: TraceLine): string | undefined {
    if (among.length === 0) return undefined;
    const names = among.map(({ id, name }) => `${id} ${name}`).join(", ");
    let expected = "";
    if (before !== undefined && line?.event !== undefined && line.rejected === undefined) {
      const outcome = next(before.config, before.abs, line.event);
      if (!isSameState(outcome.state, line.state)) expected = `; expected ${JSON.stringify(outcome.state)}`;
    }
    return `${at}breaks ${names}${expected}`;
  }
}

function initial(save: AbstractState["save"]): AbstractState {
  const pending = { token: -1, dir: "none", from: 0 } as const;
  return {
    save,
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
    ctrlo: { open: false, anchor: "tail", lo: 0, hi: 0, at_start: false, pending },
    next_token: 0,
  };
}

/** Checks a whole trace that is in memory. */
export function checkTrace(text: string, among: readonly Law[] = laws): TraceCheck {
  const checker = new TraceChecker(among);
  for (const line of text.split("\n")) if (!checker.take(line)) break;
  return checker.finish();
}
