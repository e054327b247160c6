/** The counts of spec/README.md: what the explorer finds must be what is written there. */
import { readFileSync } from "node:fs";
import type { Exploration } from "./explore.ts";

export interface Counts {
  readonly states: number;
  readonly depth: number;
}

/** The table of counts in a text, by the name of the set of constants: the last two cells of each row that begins with a name. */
export function countsIn(text: string): ReadonlyMap<string, Counts> {
  const counts = new Map<string, Counts>();
  for (const line of text.split("\n")) {
    const name = /^\| `([a-z]+)` \|/.exec(line)?.[1];
    const [, states, depth] = /\| ([\d,]+) \| (\d+) \|$/.exec(line) ?? [];
    if (name === undefined || states === undefined || depth === undefined) continue;
    counts.set(name, { states: Number(states.replaceAll(",", "")), depth: Number(depth) });
  }
  return counts;
}

/** The counts that are committed. */
export function committedCounts(): ReadonlyMap<string, Counts> {
  return countsIn(readFileSync(new URL("README.md", import.meta.url), "utf8"));
}

/** In a sentence how an exploration that broke nothing differs from what is written; undefined where it does not. */
export function countsFault(
  name: string,
  { states, depth, violation }: Pick<Exploration, "states" | "depth" | "violation">,
  counts: ReadonlyMap<string, Counts>,
): string | undefined {
  if (violation !== undefined) return undefined;
  const written = counts.get(name);
  if (written === undefined)
    return `spec/README.md has no counts of ${name}: ${states} states, depth ${depth}`;
  if (written.states === states && written.depth === depth) return undefined;
  return `${name} has ${states} states at depth ${depth}; spec/README.md says ${written.states} at ${written.depth}`;
}
