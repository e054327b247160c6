/** Opening a huge session, beside a small one: `show --limit 50`, `open` to its last line, and Home in the pager. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstPromptEnd, generate, lastLine } from "./generate.ts";
import { mediansOf, ms, row, runNode } from "./measure.ts";
import { watchNode } from "./pty.ts";

const smallMB = 1;
const runs = 5;
const ctrlO = "\u000f";
const home = "\u001b[H";

interface Cost {
  readonly wallMs: number;
  readonly maxRssMB: number;
}

async function show(path: string): Promise<Cost> {
  const run = await runNode(["bin/hansard.js", "show", path, "--limit", "50"]);
  if (run.exitCode !== 0 || !run.stdout.includes(lastLine))
    throw new Error(
      `show ended with ${run.exitCode}, the last line ${run.stdout.includes(lastLine) ? "shown" : "not shown"}`,
    );
  return run;
}

async function open(path: string): Promise<Cost> {
  const watched = await watchNode(["bin/hansard.js", "open", path]);
  const wallMs = await watched.until(lastLine);
  return { wallMs, ...(await watched.end()) };
}

async function goHome(path: string): Promise<Cost> {
  const watched = await watchNode(["bin/hansard.js", "open", path]);
  await watched.until(lastLine);
  watched.type(ctrlO + home);
  const wallMs = await watched.until(firstPromptEnd);
  return { wallMs, ...(await watched.end()) };
}

async function tell(label: string, once: (path: string) => Promise<Cost>, paths: Paths): Promise<void> {
  const { small, big } = await mediansOf(runs, {
    small: () => once(paths.small),
    big: () => once(paths.big),
  });
  row(
    label,
    ms(small.wallMs),
    ms(big.wallMs),
    `${(big.wallMs / small.wallMs).toFixed(2)}x`,
    `${small.maxRssMB.toFixed(0)} MB`,
    `${big.maxRssMB.toFixed(0)} MB`,
    `${(big.maxRssMB - small.maxRssMB).toFixed(0)} MB`,
  );
}

interface Paths {
  readonly small: string;
  readonly big: string;
}

/**
 * Prints wall time and greatest memory beside each other. Wanted: `show` and `open` within 1.5x and 40 MB of the small one, Home within
 * 2 s. Two files of `sizeMB` are made on the way, one at a time.
 */
export async function benchOpen(sizeMB: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-bench-open-"));
  try {
    for (const agent of ["claude-code", "codex"] as const) {
      const paths = { small: join(folder, `${agent}-small.jsonl`), big: join(folder, `${agent}-big.jsonl`) };
      await generate(agent, paths.small, smallMB * 1e6);
      await generate(agent, paths.big, sizeMB * 1e6);
      row(agent, `${smallMB} MB`, `${sizeMB} MB`, "ratio", `${smallMB} MB`, `${sizeMB} MB`, "difference");
      await tell("  show --limit 50 (1.5x, 40 MB)", show, paths);
      await tell("  open, to the last line (1.5x, 40 MB)", open, paths);
      await tell("  Ctrl+O, Home, to the first prompt (2 s)", goHome, paths);
      await rm(paths.big);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
