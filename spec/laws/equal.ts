/** Equality by value of what the laws compare. */
import type { AbstractState, WindowEffect } from "../../src/window/index.ts";

/** Equality of arrays, element by element. */
export function isSameArray(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((value, i) => value === b[i]));
}

/** Equality of flat objects, member by member. */
export function isSameObject(a: object, b: object): boolean {
  if (a === b) return true;
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  for (const key in left) if (left[key] !== right[key]) return false;
  for (const key in right) if (!(key in left)) return false;
  return true;
}

export function isSamePager(a: AbstractState["ctrlo"], b: AbstractState["ctrlo"]): boolean {
  if (a === b) return true;
  const sameFields =
    a.open === b.open && a.anchor === b.anchor && a.lo === b.lo && a.hi === b.hi && a.at_start === b.at_start;
  return sameFields && isSameObject(a.pending, b.pending);
}

/** Equality of abstract states by value. */
export function isSameState(a: AbstractState, b: AbstractState): boolean {
  return (
    a === b ||
    (a.cycle_first === b.cycle_first &&
      a.prev_first === b.prev_first &&
      a.held_first === b.held_first &&
      a.next_seq === b.next_seq &&
      a.saved_through === b.saved_through &&
      a.turn_open === b.turn_open &&
      a.painted_through === b.painted_through &&
      a.reprinting === b.reprinting &&
      a.next_token === b.next_token &&
      a.cycle === b.cycle &&
      a.epoch === b.epoch &&
      a.save === b.save &&
      isSameArray(a.live, b.live) &&
      isSamePager(a.ctrlo, b.ctrlo))
  );
}

export function isSameEffects(a: readonly WindowEffect[], b: readonly WindowEffect[]): boolean {
  return a.length === b.length && a.every((effect, i) => isSameObject(effect, b[i]!));
}
