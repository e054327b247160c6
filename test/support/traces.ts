/** Traces that a run of the program wrote: every law, on every step. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { checkTrace } from "../../spec/trace.ts";
import { startTmux, type Tmux, type TmuxOptions } from "./terminal/tmux.ts";

/** Where one run of the program writes its trace, and what must be so of it at the end. */
export interface TraceFile {
  /** For the program's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Fails where there is no trace, where it has no step, or where a law is broken; returns how many steps it holds. */
  expectLawful(): Promise<number>;
}

/** Checks the trace at a path, and says how many steps it holds. A program that ended in mid-write leaves a torn last line. */
export async function expectLawfulTrace(path: string): Promise<number> {
  expect(existsSync(path), `no trace was written to ${path}`).toBe(true);
  const text = await readFile(path, "utf8");
  const { fault, steps } = checkTrace(text.slice(0, text.lastIndexOf("\n") + 1));
  expect(fault, `${path}:${fault?.line}: ${fault?.what}`).toBeUndefined();
  expect(steps).toBeGreaterThan(0);
  return steps;
}

/** The trace of one run whose files lie in `folder`. */
export function traceIn(folder: string): TraceFile {
  const path = join(folder, "trace.ndjson");
  return { env: { HANSARD_TRACE: path }, expectLawful: () => expectLawfulTrace(path) };
}

/** A program in tmux that shows a session: ending it checks what it did. */
export interface TracedTmux extends Tmux {
  /** Ends the terminal; fails where its session left no lawful trace. */
  end(): Promise<void>;
}

/** Starts a terminal in which a session is opened; its trace lies in `folder`. */
export async function startTraced(folder: string, options: TmuxOptions): Promise<TracedTmux> {
  const trace = traceIn(folder);
  const terminal = await startTmux({ ...options, env: { ...options.env, ...trace.env } });
  return {
    ...terminal,
    async end() {
      await terminal.kill();
      await trace.expectLawful();
    },
  };
}
