/** Start-up: `hansard --version` and `hansard list` over 1,000 session files, beside `node -e 0`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "./generate.ts";
import { medianOf, ms, row, runNode } from "./measure.ts";

export async function benchStartup(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "hansard-bench-home-"));
  try {
    for (let i = 0; i < 1000; i += 1) {
      const id = `${String(i).padStart(8, "0")}-0000-4000-8000-000000000000`;
      await generate(
        "claude-code",
        join(home, ".claude", "projects", `-home-user-project-${i % 20}`, `${id}.jsonl`),
        100_000,
        i,
      );
    }
    const env = { HOME: home, CLAUDE_CONFIG_DIR: "", CODEX_HOME: "" };
    const bare = await medianOf(9, () => runNode(["-e", "0"], env));
    const version = await medianOf(9, () => runNode(["bin/hansard.js", "--version"], env));
    const list = await medianOf(5, () => runNode(["bin/hansard.js", "list"], env));
    row("", "wall", "over node", "memory");
    row("node -e 0", ms(bare.wallMs), "1.00x", `${bare.maxRssMB.toFixed(0)} MB`);
    row(
      "hansard --version",
      ms(version.wallMs),
      `${(version.wallMs / bare.wallMs).toFixed(2)}x`,
      `${version.maxRssMB.toFixed(0)} MB`,
    );
    row(
      `hansard list, ${list.stdout.trim().split("\n").length} of 1,000 sessions`,
      ms(list.wallMs),
      `+${ms(list.wallMs - bare.wallMs)}`,
      `${list.maxRssMB.toFixed(0)} MB`,
    );
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
