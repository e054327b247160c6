/** Sets of block numbers as sorted, disjoint, non-touching half-open ranges: `[a0, b0, a1, b1, …]`. */
export type Ranges = readonly number[];

export const nothing: Ranges = [];

export function range(from: number, to: number): Ranges {
  return from < to ? [from, to] : nothing;
}

export function add(set: Ranges, from: number, to: number): Ranges {
  if (from >= to) return set;
  const result: number[] = [];
  let start = from;
  let end = to;
  let isPlaced = false;
  for (let i = 0; i < set.length; i += 2) {
    const a = set[i]!;
    const b = set[i + 1]!;
    if (b < start) result.push(a, b);
    else if (a > end) {
      if (!isPlaced) result.push(start, end);
      isPlaced = true;
      result.push(a, b);
    } else {
      start = Math.min(start, a);
      end = Math.max(end, b);
    }
  }
  if (!isPlaced) result.push(start, end);
  return result;
}

export function remove(set: Ranges, from: number, to: number): Ranges {
  if (from >= to || set.length === 0) return set;
  const result: number[] = [];
  for (let i = 0; i < set.length; i += 2) {
    const a = set[i]!;
    const b = set[i + 1]!;
    if (a < Math.min(b, from)) result.push(a, Math.min(b, from));
    if (Math.max(a, to) < b) result.push(Math.max(a, to), b);
  }
  return result;
}

/** Whether the set is exactly `[from, to)`. */
export function isRange(set: Ranges, from: number, to: number): boolean {
  return from < to ? set.length === 2 && set[0] === from && set[1] === to : set.length === 0;
}

/** Whether all of `[from, to)` is in the set. */
export function covers(set: Ranges, from: number, to: number): boolean {
  if (from >= to) return true;
  for (let i = 0; i < set.length; i += 2) if (set[i]! <= from && to <= set[i + 1]!) return true;
  return false;
}

/** Whether some number of `[from, to)` is in the set. */
export function meets(set: Ranges, from: number, to: number): boolean {
  for (let i = 0; i < set.length; i += 2)
    if (Math.max(set[i]!, from) < Math.min(set[i + 1]!, to)) return true;
  return false;
}
