/** The built program talks to the scripted agent in a real terminal: prompts, an approval, a cancel, a resize, an end, and a resume. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Scenario } from "../../src/agent/fake/scenario.ts";
import { emptyHomeEnv } from "../support/agents-home.ts";
import { startTraced, type TracedTmux } from "../support/traces.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hansard-run-e2e-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const scenario: Scenario = {
  name: "scripted",
  load: true,
  prompts: [
    [
      { type: "text", text: "I write it.\n\n" },
      {
        type: "ask",
        id: "w1",
        title: "Write notes.txt",
        kind: "edit",
        diff: { path: "notes.txt", newText: "one\n" },
        answers: {
          allow: [{ type: "update", id: "w1", status: "completed" }],
          reject: [{ type: "update", id: "w1", status: "failed" }],
        },
      },
      { type: "text", text: "Written as asked." },
    ],
    [
      { type: "text", text: "I begin something long." },
      { type: "wait", for: "cancel" },
      { type: "text", text: "Not said." },
    ],
    [{ type: "text", text: "Said after the resume." }],
  ],
};

async function start(command: readonly string[], script: string, traces = folder): Promise<TracedTmux> {
  const agent = `-- ${process.execPath} dist/agent/fake/main.js ${script}`;
  return startTraced(traces, {
    columns: 80,
    rows: 24,
    command: `${process.execPath} bin/hansard.js ${command.join(" ")} ${agent}; echo CODE $?; cat`,
    env: emptyHomeEnv(folder),
  });
}

/** How often `words` stand in the terminal, its scrollback too. */
async function countOf(t: TracedTmux, words: string): Promise<number> {
  return (await t.lines()).join("\n").split(words).length - 1;
}

test("a prompt, an approval, a cancel, a resize, an end; and the session is carried on", async () => {
  const script = join(folder, "scenario.json");
  await writeFile(script, JSON.stringify(scenario));
  const first = await start(["run"], script);
  try {
    await first.until((text) => text.includes("ready"));
    await first.keys("write it", "Enter");
    // A question takes no key for half a second, so that what is being typed does not answer it: its clock tells when it has.
    await first.until((text) => text.includes("1 y  Allow") && /asking 0:0[2-9]/.test(text));
    await first.keys("1");
    await first.until((text) => text.includes("Written as asked.") && text.includes("ready"));
    await first.keys("go on", "Enter");
    await first.until((text) => text.includes("I begin something long."));
    await first.keys("Escape");
    await first.until((text) => /cancelled/.test(text) && text.includes("ready"));
    await first.resize(60, 20);
    await first.keys("C-d");
    const end = await first.until((text) => text.includes("CODE"));
    expect(end).toContain("CODE 0");
    expect(await countOf(first, "Written as asked.")).toBe(1);
    expect(await countOf(first, "Not said.")).toBe(0);
  } finally {
    await first.end();
  }
  await writeFile(script, JSON.stringify({ ...scenario, prompts: scenario.prompts.slice(2) }));
  await rm(join(folder, "trace.ndjson"));
  const second = await start(["resume", "last"], script);
  try {
    await second.until((text) => text.includes("ready"));
    expect(await countOf(second, "Written as asked.")).toBe(1);
    await second.keys("and now", "Enter");
    await second.until((text) => text.includes("Said after the resume.") && text.includes("ready"));
    await second.keys("C-d");
    expect(await second.until((text) => text.includes("CODE"))).toContain("CODE 0");
  } finally {
    await second.end();
  }
}, 60_000);

test("a second resume follows, says who writes, and is told when nobody does any more", async () => {
  const script = join(folder, "scenario.json");
  await writeFile(script, JSON.stringify({ prompts: [[{ type: "echo" }]] } satisfies Scenario));
  const first = await start(["run"], script);
  let second: TracedTmux | undefined;
  try {
    await first.until((text) => text.includes("ready"));
    await first.keys("one", "Enter");
    await first.until((text) => text.includes("› one") && text.includes("ready"));
    second = await start(["resume", "last"], script, await mkdtemp(join(folder, "second-")));
    await second.until((text) => /is being written by\s+process\s+\d+/.test(text));
    await first.keys("two", "Enter");
    await second.until((text) => text.includes("› two"));
    // Both turns have their closing line.
    await first.until((text) => (text.match(/─ [\d.]+ m?s ─/g) ?? []).length === 2 && text.includes("ready"));
    await first.keys("C-d");
    await first.until((text) => text.includes("CODE 0"));
    await second.until((text) => /Nobody writes\s+this session/.test(text));
    await second.keys("q");
    await second.until((text) => text.includes("CODE 0"));
    expect(await countOf(second, "› one")).toBe(1);
    expect(await countOf(second, "› two")).toBe(1);
  } finally {
    await first.end();
    await second?.end();
  }
});
