/** Positions of a line log: `<byte offset>`, or `<byte offset>.<ordinal>` before a further entry of one record. */
import { SourceError } from "./errors.ts";
import type { Position } from "./types.ts";

export interface Spot {
  readonly offset: number;
  /** 0 is just before the record, k just before its entry k. */
  readonly ordinal: number;
}

export function formatSpot(spot: Spot): Position {
  return spot.ordinal === 0 ? String(spot.offset) : `${spot.offset}.${spot.ordinal}`;
}

/** The name of the entry that begins at a spot. */
export function nameAt(spot: Spot): string {
  return `@${formatSpot(spot)}`;
}

/** Negative, zero or positive as `a` lies before, at or after `b`. */
export function compareSpots(a: Spot, b: Spot): number {
  return a.offset - b.offset || a.ordinal - b.ordinal;
}

/** The spot that a position names. Throws `bad-position` for any other text. */
export function parsePosition(position: Position): Spot {
  const match = /^(0|[1-9]\d{0,14})(?:\.([1-9]\d{0,8}))?$/.exec(position);
  if (!match) throw badPosition(position, "it is no place in a log");
  return { offset: Number(match[1]), ordinal: match[2] === undefined ? 0 : Number(match[2]) };
}

export function badPosition(position: Position, why: string): SourceError {
  return new SourceError("bad-position", `Position "${position.slice(0, 40)}" cannot be used: ${why}.`, {
    next: "Positions come from a page that was read before; read the last page again and go on from there.",
  });
}
