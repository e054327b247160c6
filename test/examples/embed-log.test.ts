/** The example of an agent that records its sessions: it runs, and what it wrote is a session like any other. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLog } from "../../src/sources/index.ts";
import { entryLine } from "../support/entry-notation.ts";

function example(...args: readonly string[]): string {
  const run = spawnSync(process.execPath, ["examples/embed-log.js", ...args], {
    encoding: "utf8",
  });
  expect(run.stderr).toBe("");
  return run.stdout;
}

test("it is 20 lines, records a session, and goes on with it", async () => {
  const lines = readFileSync("examples/embed-log.js", "utf8").split("\n");
  expect(lines.filter((line) => line !== "" && !/^\/[/*]/.test(line)).length).toBeLessThanOrEqual(20);
  const sessions = mkdtempSync(join(tmpdir(), "hansard-example-"));
  try {
    expect(example(sessions)).toMatch(
      /^Session [\w-]+ is saved\.\n\{"type":"record","start":0,.*"kind":"session"/,
    );
    const [id = ""] = readdirSync(sessions);
    const last = example(sessions, id).trimEnd().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({ record: { seq: 15, kind: "closed" } });
    const log = await openLog(join(sessions, id, "log.jsonl"));
    const told = (await log.tail(100)).entries.map(entryLine);
    expect(told[0]).toBe("user: What time is it?");
    expect(told[1]).toMatch(/^model: call\(clock 1 → done\)$/);
    expect(told[3]).toBe('model: "Late."');
    expect(told).toHaveLength(8);
    expect((await log.check()).damaged).toEqual([]);
    await log.close();
  } finally {
    rmSync(sessions, { recursive: true, force: true });
  }
});
