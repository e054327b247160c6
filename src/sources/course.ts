/** How the conversation stands: whether a turn is open, and which calls may still be answered. */
import type { CallSeat, CallState, Entry, ModelEntry } from "../transcript/index.ts";
import type { Mark } from "./classifier.ts";
import { TURN_BYTES_MAX, TURN_RECORDS_MAX } from "./limits.ts";
import { type LogReader, lookBack } from "./reader.ts";
import { decidesTurn, stepTurn, type TurnState } from "./turns.ts";
import type { Seat } from "./unit.ts";

/** The turn just before an offset. Looks back to the mark that decides it, within a reach. */
export async function turnBefore(reader: LogReader, offset: number): Promise<TurnState> {
  const marks: Mark[] = [];
  const reach = { records: TURN_RECORDS_MAX, bytes: TURN_BYTES_MAX };
  let isDecided = false;
  const { isStart } = await lookBack(reader, offset, reach, (unit) => {
    for (const mark of unit.marks.toReversed()) {
      marks.push(mark);
      isDecided = decidesTurn(mark);
      if (isDecided) return false;
    }
    return true;
  });
  // Where the reach ends in a stretch without any mark, the turn began above it and goes on.
  let state: TurnState = isDecided || isStart || marks.length > 0 ? "closed" : "named";
  for (const mark of marks.toReversed()) state = stepTurn(state, mark).state;
  return state;
}

/** Where turns begin and end in a stretch of records, and the turn after it. */
export interface Course {
  /** Offsets of records that a turn begins before the entries of, and that a turn ends after the entries of. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly state: TurnState;
}

export function courseOf(seats: readonly Seat[], before: TurnState): Course {
  const starts: number[] = [];
  const ends: number[] = [];
  let state = before;
  for (const seat of seats) {
    for (const mark of seat.marks) {
      const step = stepTurn(state, mark);
      if (step.hasStarted) starts.push(seat.start);
      if (step.hasEnded) ends.push(seat.start);
      state = step.state;
    }
  }
  return { starts, ends, state };
}

/** Whether a turn begins or ends after an entry of the record at `offset`. */
export function hasBorderAfter(course: Course, offset: number): boolean {
  return course.starts.some((at) => at > offset) || course.ends.some((at) => at >= offset);
}

/** Whether a message shows that an earlier one's calls get no answer any more: a model speaks again only once all are answered. */
export function settlesCallsOf(earlier: ModelEntry, later: Entry): boolean {
  return (
    later.kind === "model" &&
    earlier.messageId !== undefined &&
    later.messageId !== undefined &&
    later.messageId !== earlier.messageId &&
    later.subagent === earlier.subagent
  );
}

/** How calls without a result stand, given what follows them. */
export function standingOf(following: {
  readonly entries: readonly Entry[];
  readonly course: Course;
  readonly isEnd: boolean;
}): (call: CallSeat) => CallState | undefined {
  const models = following.entries.filter((e) => e.kind === "model");
  const indexes = new Map<string, number>(models.map((e, i) => [e.name, i]));
  return ({ entry }) => {
    const offset = entry.place?.start ?? 0;
    if (hasBorderAfter(following.course, offset)) return "unanswered";
    const index = indexes.get(entry.name) ?? -1;
    for (let i = index + 1; i < models.length; i++) {
      const later = models[i];
      if (later !== undefined && settlesCallsOf(entry, later)) return "unanswered";
    }
    if (!following.isEnd) return undefined;
    return following.course.state === "closed" ? "unanswered" : "running";
  };
}
