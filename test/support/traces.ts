/** Traces that a run of the program wrote: every law, on every step. */
import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { checkTrace } from "../../spec/trace.ts";

/** Checks the trace at a path, and says how many steps it holds. A program that ended in mid-write leaves a torn last line. */
export async function expectLawfulTrace(path: string): Promise<number> {
  const text = await readFile(path, "utf8");
  const { fault, steps } = checkTrace(text.slice(0, text.lastIndexOf("\n") + 1));
  expect(fault, `${path}:${fault?.line}: ${fault?.what}`).toBeUndefined();
  return steps;
}
