/** Checking a trace: the NDJSON that a running shell wrote (src/window/trace.ts), asked the same laws as the explorer asks. */
import type { AbstractState, StepResult, TraceLine, WindowConfig, WindowState } from "../src/window/index.ts";
import { createWindow, formatEvent } from "../src/window/index.ts";
import type { Law } from "./laws.ts";
import { isSameState, LawBook, laws } from "./laws.ts";
import { next } from "./model.ts";
import type { World } from "./world.ts";
import { advance, worldAt } from "./world.ts";

/** What is wrong with a trace, with the line it is on, counted from 1. */
export interface TraceFault {
  readonly line: number;
  readonly what: string;
}

export interface TraceCheck {
  readonly windows: number;
  readonly steps: number;
  readonly rejected: number;
  /** How often each law was asked about. */
  readonly asked: number;
  readonly fault?: TraceFault;
}

interface Shape {
  readonly [name: string]: "number" | "boolean" | "string" | "array" | Shape;
}

const shape: Shape = {
  save: "string",
  cycle: "number",
  cycle_first: "number",
  prev_first: "number",
  held_first: "number",
  next_seq: "number",
  saved_through: "number",
  live: "array",
  turn_open: "boolean",
  epoch: "number",
  painted_through: "number",
  reprinting: "boolean",
  ctrlo: {
    open: "boolean",
    anchor: "string",
    lo: "number",
    hi: "number",
    at_start: "boolean",
    pending: { token: "number", dir: "string", from: "number" },
  },
  next_token: "number",
};

function hasShape(value: unknown, members: Shape): boolean {
  if (typeof value !== "object" || value === null) return false;
  const object = value as Readonly<Record<string, unknown>>;
  if (Object.keys(object).length !== Object.keys(members).length) return false;
  return Object.entries(members).every(([name, member]) => {
    const inner = object[name];
    if (typeof member === "object") return hasShape(inner, member);
    return member === "array" ? Array.isArray(inner) : typeof inner === member;
  });
}

function parseLine(text: string): TraceLine | string {
  let line: Partial<TraceLine>;
  try {
    line = JSON.parse(text) as Partial<TraceLine>;
  } catch (error) {
    return `no JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (typeof line !== "object" || line === null) return "no object";
  if (typeof line.config !== "object" || !Array.isArray(line.effects)) return "no config or effects";
  if (!hasShape(line.state, shape)) return "no abstract state";
  if (line.event !== undefined && typeof line.event?.type !== "string") return "an event without a type";
  return line as TraceLine;
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

/** Checks traces line by line; memory does not grow with the trace. */
export class TraceChecker {
  private readonly book: LawBook;
  private readonly lawCount: number;
  private world: World | undefined;
  private line = 0;
  private windows = 0;
  private steps = 0;
  private rejected = 0;
  private fault: TraceFault | undefined;

  constructor(among: readonly Law[] = laws) {
    this.book = new LawBook(among);
    this.lawCount = among.length;
  }

  /** Takes the next line, without its line feed. False once a fault was found: the rest says nothing. */
  take(text: string): boolean {
    this.line += 1;
    if (this.fault !== undefined) return false;
    if (text === "") return true;
    const parsed = parseLine(text);
    const what = typeof parsed === "string" ? parsed : this.check(parsed);
    if (what === undefined) return true;
    this.fault = { line: this.line, what };
    return false;
  }

  finish(): TraceCheck {
    const { windows, steps, rejected, fault } = this;
    const check = { windows, steps, rejected, asked: this.lawCount };
    if (fault !== undefined) return { ...check, fault };
    if (steps === 0) return { ...check, fault: { line: this.line, what: "a trace without a step" } };
    return check;
  }

  private begin(config: WindowConfig, state: AbstractState, isFirst: boolean): string | undefined {
    let begun: World;
    try {
      // The log's first block is learned from its replies: a trace does not say it.
      begun = worldAt(config, state);
      createWindow(config, state.save);
    } catch (error) {
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
    if (!isSameConfig(before.config, config)) return "another configuration than the line before";
    this.steps += 1;
    if (line.rejected !== undefined) this.rejected += 1;
    const result = resultOf(line);
    const after = advance(before, event, result, undefined, state);
    const broken = [
      ...this.book.brokenByStep({ before, event, result, after }),
      ...this.book.brokenByState(after),
    ];
    this.world = after;
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
