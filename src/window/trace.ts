/** Traces: one line of JSON a step, in the variables of the TLA+ module, so that a run of the shell can be checked against the laws. */
import type {
  ReadDirection,
  StepResult,
  WindowConfig,
  WindowEffect,
  WindowEvent,
  WindowState,
} from "./types.ts";

/** The state in the variables of `spec/TranscriptWindow.tla`. Absence is -1 (and `none`), since its JSON reader knows no null. */
export interface AbstractState {
  readonly save: "saved" | "unsaved";
  readonly cycle: number;
  readonly cycle_first: number;
  readonly prev_first: number;
  readonly held_first: number;
  readonly next_seq: number;
  readonly saved_through: number;
  /** In rising order: it is a set. */
  readonly live: readonly number[];
  readonly turn_open: boolean;
  readonly epoch: number;
  readonly painted_through: number;
  readonly reprinting: boolean;
  readonly ctrlo: {
    readonly open: boolean;
    readonly anchor: "tail" | "start";
    readonly lo: number;
    readonly hi: number;
    readonly at_start: boolean;
    readonly pending: { readonly token: number; readonly dir: ReadDirection | "none"; readonly from: number };
  };
  readonly next_token: number;
}

/** The abstract value of a state. Two states that the laws cannot tell apart have equal ones. */
export function abstract(state: WindowState): AbstractState {
  const { ctrlo } = state;
  return {
    save: state.save,
    cycle: state.cycle,
    cycle_first: state.cycleFirst,
    prev_first: state.prevFirst ?? -1,
    held_first: state.heldFloor,
    next_seq: state.nextSeq,
    saved_through: state.savedThrough,
    live: [...state.live].sort((a, b) => a - b),
    turn_open: state.turnOpen,
    epoch: state.epoch,
    painted_through: state.paintedThrough,
    reprinting: state.reprinting,
    ctrlo: {
      open: ctrlo.open,
      anchor: ctrlo.anchor,
      lo: ctrlo.lo,
      hi: ctrlo.hi,
      at_start: ctrlo.atStart,
      pending: ctrlo.pending ?? { token: -1, dir: "none", from: 0 },
    },
    next_token: state.nextToken,
  };
}

/** One line of a trace. A line without an event is the birth of a window: what was before it says nothing about what follows. */
export interface TraceLine {
  readonly config: WindowConfig;
  readonly event?: WindowEvent;
  readonly effects: readonly WindowEffect[];
  readonly rejected?: string;
  readonly state: AbstractState;
}

function encode(line: TraceLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** The line that begins a trace, or a new window within one: its state as `createWindow` made it. Ends with a line feed. */
export function formatTraceStart(state: WindowState): string {
  return encode({ config: state.config, effects: [], state: abstract(state) });
}

/** The line of one step, rejected or not. Ends with a line feed. */
export function formatTraceLine(event: WindowEvent, result: StepResult): string {
  const { state, effects, rejected } = result;
  const line = { config: state.config, event, effects };
  return encode(
    rejected === undefined
      ? { ...line, state: abstract(state) }
      : { ...line, rejected, state: abstract(state) },
  );
}
