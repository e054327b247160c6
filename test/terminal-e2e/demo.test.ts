/** The built program's demo in a real terminal: it grows while it is resized, paged and followed, and its trace is lawful. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startTraced } from "../support/traces.ts";

test("the demo plays to its end through resizes and the history", async () => {
  const folder = await mkdtemp(join(tmpdir(), "hansard-demo-e2e-"));
  try {
    const command = `${process.execPath} bin/hansard.js demo --speed 40; echo CODE $?; cat`;
    const t = await startTraced(folder, { columns: 80, rows: 24, command });
    try {
      await t.until((text) => text.includes("Ctrl+O history"));
      await t.resize(60, 20);
      await t.keys("C-o");
      await t.until((text) => /live|start|end/.test(text));
      await t.keys("Home");
      await t.keys("End");
      await t.keys("q");
      await t.resize(90, 24);
      await t.until((text) => text.includes("idle"));
      await t.keys("q");
      expect(await t.until((text) => text.includes("CODE"))).toContain("CODE 0");
    } finally {
      await t.end();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
