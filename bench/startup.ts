/** Start-up: `hansard --version` and `hansard list` over 1,000 session files, beside `node -e 0`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generate } from "./generate.ts";
import { mediansOf, ms, row, runNode, timeNode } from "./measure.ts";

const sessions = 1000;
const runs = 11;
/** Variables that would lead out of the made home directory. */
const elsewhere = {
  CLAUDE_CONFIG_DIR: "",
  CODEX_HOME: "",
  GEMINI_CLI_HOME: "",
  PI_CODING_AGENT_DIR: "",
  HANSARD_WORKSPACES: "",
};

/** Prints wall times, and the memory of the list. Wanted: the version within 1.3x of `node -e 0`, the list within 500 ms of it. */
export async function benchStartup(): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "hansard-bench-home-"));
  try {
    for (let i = 0; i < sessions; i += 1) {
      const id = `${String(i).padStart(8, "0")}-0000-4000-8000-000000000000`;
      await generate(
        "claude-code",
        join(home, ".claude", "projects", `-home-user-project-${i % 20}`, `${id}.jsonl`),
        100_000,
        i,
      );
    }
    const env = { ...elsewhere, HOME: home };
    const { bare, version, list } = await mediansOf(runs, {
      bare: () => timeNode(["-e", "0"], env),
      version: () => timeNode(["bin/hansard.js", "--version"], env),
      list: () => timeNode(["bin/hansard.js", "list"], env),
    });
    const memory = await runNode(["bin/hansard.js", "list"], env);
    const listed = list.stdout.trim().split("\n").length;
    row("", "wall", "over node", "memory");
    row("node -e 0", ms(bare.wallMs));
    row("--version (1.3x)", ms(version.wallMs), `${(version.wallMs / bare.wallMs).toFixed(2)}x`);
    row(
      `list, ${listed} of ${sessions} sessions (+500 ms)`,
      ms(list.wallMs),
      `+${ms(list.wallMs - bare.wallMs)}`,
      `${memory.maxRssMB.toFixed(0)} MB`,
    );
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
