/** The field's faults against the commands, each by its name. docs/faults.md lists them all. */
import { open, rename, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { claudeLines, jsonLines, run, tempFolder } from "./support.ts";

test("cc#3178, codex#28866, resume-skills#257: the end of a log of 3 GB costs what its page costs", async () => {
  const folder = await tempFolder();
  const path = join(folder, "sparse.jsonl");
  const lines = claudeLines(4);
  await writeFile(path, `${lines.slice(0, 4).join("\n")}\n`);
  // A hole: a run of NUL bytes that takes no room on the disk.
  const hole = 3 * 1024 ** 3;
  await truncate(path, hole);
  const file = await open(path, "r+");
  const end = Buffer.from(`\n${lines.slice(4).join("\n")}\n`);
  await file.write(end, 0, end.length, hole);
  await file.close();
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  const before = process.cpuUsage();
  const { code, out } = await run(home, ["show", path, "--json", "--limit", "2"]);
  const { user, system } = process.cpuUsage(before);
  expect(code).toBe(0);
  expect(jsonLines(out)).toHaveLength(2);
  expect(out).toContain("answer 4");
  expect(user + system).toBeLessThan(3_000_000);
});

test("gem#28036, gem#18593: an id whose session cannot be read is an error, not a new session", async () => {
  const folder = await tempFolder();
  const id = "0b5c0000-0000-4000-8000-000000000000";
  const home = { around: { env: {}, home: folder, platform: "linux" } };
  const path = join(folder, `${id}.jsonl`);
  await writeFile(path, Buffer.alloc(5_000));
  for (const command of ["show", "open", "check"]) {
    const { code, out, err } = await run(home, [command, path]);
    expect({ command, code, out }).toEqual({ command, code: 6, out: "" });
    expect(err).toMatch(/^hansard: .+\n.+/);
  }
  await rename(path, `${path}.gone`);
  const missing = await run(home, ["open", id]);
  expect(missing.code).not.toBe(0);
  expect(missing.err).toContain(id);
});
