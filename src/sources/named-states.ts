/** Remembers what a log looked like when a position was given, so that following from there misses nothing. */
import { afterName } from "./named-position.ts";
import type { Position } from "./types.ts";

/** States remembered by one open log; the oldest is forgotten first. */
export const NAMED_STATES_MAX = 16;

export interface States<S> {
  /** Remembers a state under a name that a position can carry. */
  name(state: S): string;
  /** The position after an entry, as of a state. */
  position(entryName: string | undefined, state: S): Position;
  get(name: string | undefined): S | undefined;
}

let logs = 0;

export function createStates<S>(): States<S> {
  // Tells this log's states from those of another one.
  logs += 1;
  const log = logs.toString(36);
  const known = new Map<string, S>();
  let count = 0;
  function name(state: S): string {
    const key = `${log}.${count++}`;
    known.set(key, state);
    for (const oldest of known.keys()) {
      if (known.size <= NAMED_STATES_MAX) break;
      known.delete(oldest);
    }
    return key;
  }
  return {
    name,
    position: (entryName, state) => afterName(entryName, name(state)),
    get: (key) => (key === undefined ? undefined : known.get(key)),
  };
}
