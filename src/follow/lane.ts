/**
 * The lane of one read: what one look at the world owes a seat. Pure: the state so far and a look give the next state and the outcome; the
 * clock and the files are the shell's. The subject is the step, not the model call in it.
 */
import type { Frame, ToolEvent } from "./frame.ts";
import { isEmptyStream } from "./frame.ts";
import { FRAME_EVENTS_MAX } from "./limits.ts";
import { type Growth, type ReaderState, readGrowth, startReader } from "./reader.ts";
import { type CallLook, emptyWindow, isParked, lookAtCalls, type ToolWindow } from "./tool-window.ts";

/** What one look at the world saw, all of it at one moment as near as files allow. */
export interface Look {
  /** Somebody works on the conversation: what makes its newest step worth following. */
  readonly isDriven: boolean;
  /** A model call is under way in the newest step: what opens the prose. Between the calls the transcript has it already. */
  readonly isCalling: boolean;
  /** Absent where there is no step (any more). */
  readonly step?: StepLook;
}

export interface StepLook {
  /** Tells the step from every other. */
  readonly id: string;
  /** What was read of the response behind the reader's offset; absent where it was not looked at or is not there. */
  readonly response?: Growth;
  readonly calls: readonly CallLook[];
}

/** A read so far. A value: polling makes a new one. */
export interface LaneState {
  /** The step that is followed; absent until this read has settled on one. */
  readonly step?: string;
  /** Absent until a call was seen under way. Never closed within a step. */
  readonly reader?: ReaderState;
  readonly window: ToolWindow;
  /** Events found and not told yet. */
  readonly owed: readonly ToolEvent[];
  /** The step that the read before ended with: it is followed again only while a call is under way in it. */
  readonly past?: string;
}

export type Outcome =
  | { readonly type: "ready"; readonly frame: Frame }
  /** Nothing to tell now. `isBehind`: there is more to read at once, so waiting would be idle. */
  | { readonly type: "waiting"; readonly isBehind: boolean }
  | { readonly type: "over" };

export interface Polled {
  readonly state: LaneState;
  readonly outcome: Outcome;
}

/** What the next look should bring: how far the response is read, which calls are told. */
export interface Want {
  readonly step?: string;
  /** How far the response was read; absent where it is not open. */
  readonly reader?: ReaderState;
  readonly window: ToolWindow;
}

/** A read that has seen nothing. `past`: the step that the read before ended with. */
export function startLane(past?: string): LaneState {
  return { window: emptyWindow, owed: [], ...(past === undefined ? {} : { past }) };
}

/**
 * How far the response of a step is to be read in a look, or undefined where it is not to be read: it is opened by a call under way, and
 * read to its end whatever becomes of the call.
 */
export function readerFor(want: Want, step: string, isCalling: boolean): ReaderState | undefined {
  if (want.step !== undefined && want.step !== step) return undefined;
  return want.reader ?? (isCalling ? startReader : undefined);
}

/** What one look owes. At most one frame; prose and events of one look share it. */
export function poll(state: LaneState, look: Look): Polled {
  const { step } = look;
  // The step went on, or away: this read has ended; the next one is of another step.
  if (state.step !== undefined && state.step !== step?.id) return { state, outcome: { type: "over" } };
  if (step === undefined) return quiet(state);
  // A park is not rest: what the step waits for is the person who watches.
  const isLive = look.isDriven || step.calls.some(isParked);
  if (state.step === undefined && (!isLive || (state.past === step.id && !look.isCalling)))
    return quiet(state);
  return pollStep(state, look, step, isLive);
}

function quiet(state: LaneState): Polled {
  return { state, outcome: { type: "waiting", isBehind: false } };
}

function pollStep(state: LaneState, look: Look, step: StepLook, isLive: boolean): Polled {
  const reader = readerFor(state, step.id, look.isCalling);
  const reading =
    reader !== undefined && step.response !== undefined ? readGrowth(reader, step.response) : undefined;
  const nextReader = reading?.state ?? reader;
  const { window, events } = lookAtCalls(state.window, step.calls);
  const owed = [...state.owed, ...events];
  const next: LaneState = {
    step: step.id,
    ...(nextReader === undefined ? {} : { reader: nextReader }),
    window,
    owed: owed.slice(FRAME_EVENTS_MAX),
  };
  const stream = reading?.stream ?? {};
  const again = reading?.again ?? false;
  if (again || owed.length > 0 || !isEmptyStream(stream)) {
    const tools = owed.slice(0, FRAME_EVENTS_MAX);
    return {
      state: next,
      outcome: { type: "ready", frame: { stream, tools, ...(again ? { again } : {}) } },
    };
  }
  // The last bytes come out before the end, also where one look cannot take them all.
  const isBehind = reading !== undefined && step.response?.isEnd === false;
  const outcome: Outcome = isLive || isBehind ? { type: "waiting", isBehind } : { type: "over" };
  return { state: next, outcome };
}
