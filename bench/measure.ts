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

/** Runs `node <args>` once. Memory is the process's own greatest resident set, told at its exit. */
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

/** The run of median wall time among `runs`, after one that is not counted. */
export async function medianOf<M extends { readonly wallMs: number }>(
  runs: number,
  once: () => Promise<M>,
): Promise<M> {
  await once();
  const all: M[] = [];
  for (let i = 0; i < runs; i += 1) all.push(await once());
  all.sort((a, b) => a.wallMs - b.wallMs);
  return all[Math.floor(all.length / 2)] as M;
}

/** A line of a bench's table. */
export function row(label: string, ...cells: readonly string[]): void {
  process.stdout.write(`${label.padEnd(44)}${cells.map((c) => c.padStart(14)).join("")}\n`);
}

export function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}
