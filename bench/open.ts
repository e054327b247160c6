/** Opening a huge session, beside a small one: `show --limit 50`, `open` to its last line, and Home in the pager. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstPrompt, generate, lastLine } from "./generate.ts";
import { medianOf, ms, row, runNode } from "./measure.ts";
import { watchNode } from "./pty.ts";

const smallMB = 1;
const runs = 5;
const ctrlO = "\u000f";
const home = "\u001b[H";

interface Cost {
  readonly wallMs: number;
  readonly maxRssMB: number;
}

function tell(label: string, small: Cost, big: Cost): void {
  row(
    label,
    ms(small.wallMs),
    ms(big.wallMs),
    `${(big.wallMs / small.wallMs).toFixed(2)}x`,
    `${small.maxRssMB.toFixed(0)} MB`,
    `${big.maxRssMB.toFixed(0)} MB`,
    `+${(big.maxRssMB - small.maxRssMB).toFixed(0)} MB`,
  );
}

async function showCost(path: string): Promise<Cost> {
  return medianOf(runs, async () => {
    const run = await runNode(["bin/hansard.js", "show", path, "--limit", "50"]);
    if (run.exitCode !== 0 || !run.stdout.includes(lastLine))
      throw new Error(`show ended with ${run.exitCode} and without the last line`);
    return run;
  });
}

async function openCost(path: string): Promise<Cost> {
  return medianOf(runs, async () => {
    const watched = await watchNode(["bin/hansard.js", "open", path]);
    const wallMs = await watched.until(lastLine);
    return { wallMs, ...(await watched.end()) };
  });
}

async function homeCost(path: string): Promise<Cost> {
  return medianOf(runs, async () => {
    const watched = await watchNode(["bin/hansard.js", "open", path]);
    await watched.until(lastLine);
    watched.type(ctrlO + home);
    const wallMs = await watched.until(firstPrompt);
    return { wallMs, ...(await watched.end()) };
  });
}

/** Prints wall time and greatest memory of each beside each other. Two files of `sizeMB` are made on the way, one at a time. */
export async function benchOpen(sizeMB: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-bench-open-"));
  try {
    for (const agent of ["claude-code", "codex"] as const) {
      const small = join(folder, `${agent}-small.jsonl`);
      const big = join(folder, `${agent}-big.jsonl`);
      await generate(agent, small, smallMB * 1e6);
      await generate(agent, big, sizeMB * 1e6);
      row(agent, `${smallMB} MB`, `${sizeMB} MB`, "ratio", `${smallMB} MB`, `${sizeMB} MB`, "memory");
      tell("  hansard show --limit 50", await showCost(small), await showCost(big));
      tell("  hansard open, to the last line", await openCost(small), await openCost(big));
      tell("  Ctrl+O and Home, to the first prompt", await homeCost(small), await homeCost(big));
      await rm(big);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
