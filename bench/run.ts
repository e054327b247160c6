/** Driving an agent: what a thousand streamed turns leave in memory, and what a chunk costs from the agent to whoever shows it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Scenario } from "../src/agent/fake/scenario.ts";
import { createDriven, type Driven, demoAgent } from "../src/agent/index.ts";
import { openLog } from "../src/sources/index.ts";
import { ms, row } from "./measure.ts";

const turns = 1_000;
const budgetMB = 40;

const text =
  "The quick brown fox jumps over the lazy dog, and what it saw there it told to everybody. ".repeat(40);
const scenario: Scenario = {
  prompts: [
    [
      { type: "thinking", text, chunk: 40 },
      { type: "text", text, chunk: 12 },
      { type: "call", id: "t", title: "cat file", status: "in_progress", input: { path: "file" } },
      { type: "update", id: "t", status: "completed", bytes: 20_000 },
      { type: "text", text, chunk: 12 },
    ],
  ],
};

function collect(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

function memoryMB(): { readonly rss: number; readonly heap: number } {
  collect();
  const { rss, heapUsed } = process.memoryUsage();
  return { rss: rss / 1024 / 1024, heap: heapUsed / 1024 / 1024 };
}

/** Reads the changes as a front end does, and keeps none of them. */
class Reader {
  changes = 0;
  #turnEnds = 0;
  #wake: (() => void) | undefined;

  async read(driven: Driven, signal: AbortSignal): Promise<void> {
    const page = await driven.tail(50);
    for await (const change of driven.changes(page, signal)) {
      this.changes += 1;
      if (change.type === "reset") throw new Error(`the reader fell behind: ${change.reason}`);
      if (change.type !== "turnEnded") continue;
      this.#turnEnds += 1;
      this.#wake?.();
    }
  }

  async turnEnd(count: number): Promise<void> {
    while (this.#turnEnds < count)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}

async function runTurns(folder: string, isSaved: boolean): Promise<void> {
  const path = join(folder, "scenario.json");
  await writeFile(path, JSON.stringify(scenario));
  const { program, args } = demoAgent(process.execPath, path);
  const hook = args[0]?.endsWith(".ts") === true ? ["--import", "./scripts/ts-hook.js"] : [];
  const driven = await createDriven({
    command: { program, args: [...hook, ...args] },
    agent: "fake",
    cwd: process.cwd(),
    env: process.env,
    client: { name: "hansard-bench", version: "0" },
    ...(isSaved ? { sessions: join(folder, "sessions") } : {}),
    openHistory: (log) => openLog(log),
  });
  const abort = new AbortController();
  const reader = new Reader();
  const reading = reader.read(driven, abort.signal);
  const label = isSaved ? "saved" : "not saved";
  let atTen = { rss: 0, heap: 0 };
  const started = performance.now();
  for (let turn = 1; turn <= turns; turn += 1) {
    await driven.prompt("go on");
    await reader.turnEnd(turn);
    if (turn === 10) atTen = memoryMB();
    if (turn !== 10 && turn !== 100 && turn !== turns) continue;
    const now = memoryMB();
    row(
      `${label}: after turn ${turn}`,
      `rss ${now.rss.toFixed(0)} MB`,
      `heap ${now.heap.toFixed(1)} MB`,
      turn === 10 ? "" : `rss +${(now.rss - atTen.rss).toFixed(0)} MB over turn 10 (budget ${budgetMB})`,
    );
  }
  const tookMs = performance.now() - started;
  row(`${label}: a turn`, ms(tookMs / turns), `${Math.round(reader.changes / turns)} changes`);
  await driven.close();
  abort.abort();
  await reading;
}

export async function benchRun(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-bench-run-"));
  try {
    await runTurns(folder, true);
    await runTurns(folder, false);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
