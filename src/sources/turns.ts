/** Where turns begin and end, from what records say. */
import type { Mark } from "./classifier.ts";

/** `named`: opened by a mark that said so itself; `implied`: by a prompt alone. */
export type TurnState = "closed" | "named" | "implied";

export interface TurnStep {
  readonly state: TurnState;
  /** A turn began with this mark; an open one ended with it. */
  readonly hasStarted: boolean;
  /** Whether a prompt began it, not the agent's program. */
  readonly isPrompted: boolean;
  /** An open turn ended with this mark, and none began. */
  readonly hasEnded: boolean;
}

/** The turn after a mark. */
export function stepTurn(state: TurnState, mark: Mark): TurnStep {
  const stay = { state, hasStarted: false, isPrompted: false, hasEnded: false };
  switch (mark.type) {
    case "turnStarted":
      if (mark.automatic === true) {
        return state === "closed"
          ? { ...stay, state: mark.implied === true ? "implied" : "named", hasStarted: true }
          : stay;
      }
      if (mark.implied === true) {
        return state === "named" ? stay : { ...stay, state: "implied", hasStarted: true, isPrompted: true };
      }
      return { ...stay, state: "named", hasStarted: true, isPrompted: true };
    case "turnEnded":
      if (state === "closed" || (mark.implied === true && state === "named")) return stay;
      return { ...stay, state: "closed", hasEnded: true };
    case "compacted":
    case "rolledBack":
      return stay;
  }
}

/** Whether the state of a turn after this mark is known without the marks before it. */
export function decidesTurn(mark: Mark): boolean {
  return (
    (mark.type === "turnStarted" && mark.implied !== true && mark.automatic !== true) ||
    (mark.type === "turnEnded" && mark.implied !== true)
  );
}

/**
 * Finds where turns begin, from the newest mark backward. An implied start belongs to a turn that a mark above it opened, so it counts
 * only once what is above it is known.
 */
export class BackwardTurns {
  #pending: number | undefined;

  /** Where turns begin, newest first, that the next mark above settles; `at` is the mark's own place. */
  add(mark: Mark, at: number): readonly number[] {
    if (mark.type === "turnEnded") return this.finish();
    if (mark.type !== "turnStarted" || mark.automatic === true) return [];
    if (mark.implied === true) {
      const settled = this.finish();
      this.#pending = at;
      return settled;
    }
    this.#pending = undefined;
    return [at];
  }

  /** What the start of the log settles. */
  finish(): readonly number[] {
    const pending = this.#pending;
    this.#pending = undefined;
    return pending === undefined ? [] : [pending];
  }
}
