/**
 * Positions of logs whose entries have names of their own: `<name>` is just before an entry, `><name>` just after it, `^` the start of an
 * empty log. A position after an entry may carry which state of the log it was read from: `#<state>`.
 */
import { badPosition } from "./position.ts";
import type { Position } from "./types.ts";

export type NamedPosition =
  | { readonly type: "start"; readonly state?: string }
  | { readonly type: "before"; readonly name: string }
  | { readonly type: "after"; readonly name: string; readonly state?: string };

/** Longest position that is looked at. */
const POSITION_MAX = 1000;

export function beforeName(name: string): Position {
  return name;
}

/** Just after the named entry, or at the start of a log that has none. */
export function afterName(name: string | undefined, state?: string): Position {
  const place = name === undefined ? "^" : `>${name}`;
  return state === undefined ? place : `${place}#${state}`;
}

/** What a position says. Throws `bad-position` for a text that cannot be one. */
export function parseNamedPosition(position: Position): NamedPosition {
  if (position === "" || position.length > POSITION_MAX)
    throw badPosition(position, "it is no place in a log");
  if (position[0] !== ">" && position[0] !== "^") return { type: "before", name: position };
  const match = /^(.*)#([0-9a-z]+\.\d+)$/s.exec(position);
  const place = match?.[1] ?? position;
  const state = match?.[2] === undefined ? {} : { state: match[2] };
  if (place === "^") return { type: "start", ...state };
  if (place[0] !== ">" || place.length === 1) throw badPosition(position, "it is no place in a log");
  return { type: "after", name: place.slice(1), ...state };
}
