/** Runs a program and measures it from outside: wall time to a moment and to the end, greatest memory. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";

export interface Measured {
  readonly wallMs: number;
  readonly maxRssMB: number;
  readonly stdout: string;
  readonly exitCode: number | null;
}

const reporter = new URL("./report-rss.js", import.meta.url).href;

/** Runs `node <args>` once, with nothing loaded into it: its wall time alone. */
export async function timeNode(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly wallMs: number; readonly stdout: string }> {
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => child.on("close", resolve));
  return { wallMs: performance.now() - started, stdout: Buffer.concat(chunks).toString("utf8") };
}

/** Runs `node <args>` once. Memory is the process's own greatest resident set, told at its exit by a module that is loaded first. */
export async function runNode(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-bench-"));
  const report = join(folder, "rss");
  try {
    const started = performance.now();
    const child = spawn(process.execPath, ["--import", reporter, ...args], {
      env: { ...process.env, ...env, HANSARD_BENCH_RSS: report },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    const exitCode = await new Promise<number | null>((resolve) => child.on("close", resolve));
    const wallMs = performance.now() - started;
    const maxRssMB = Number(await readFile(report, "utf8")) / 1024;
    return { wallMs, maxRssMB, stdout: Buffer.concat(chunks).toString("utf8"), exitCode };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The run of median wall time of each, after one of each that is not counted. They take turns, so that what else the machine does falls on
 * all of them alike.
 */
export async function mediansOf<K extends string, M extends { readonly wallMs: number }>(
  runs: number,
  once: Readonly<Record<K, () => Promise<M>>>,
): Promise<Record<K, M>> {
  const names = Object.keys(once) as K[];
  const all = new Map<K, M[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= runs; round += 1) {
    for (const name of names) {
      const run = await once[name]();
      if (round > 0) all.get(name)?.push(run);
    }
  }
  const median = ([name, measured]: [K, M[]]): [K, M] => {
    const sorted = measured.sort((a, b) => a.wallMs - b.wallMs);
    return [name, sorted[Math.floor(sorted.length / 2)] as M];
  };
  return Object.fromEntries([...all].map(median)) as Record<K, M>;
}

/** A line of a bench's table. */
export function row(label: string, ...cells: readonly string[]): void {
  process.stdout.write(`${label.padEnd(44)}${cells.map((c) => c.padStart(14)).join("")}\n`);
}

export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}
