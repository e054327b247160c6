/** The field's faults of the built program in tmux, each by its name. docs/faults.md lists them all. */
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { claudeLines } from "../cli/support.ts";
import { startTraced, type TracedTmux } from "../support/traces.ts";

let folder = "";
let path = "";
let terminal: TracedTmux | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hansard-faults-"));
  path = join(folder, "session.jsonl");
});

afterEach(async () => {
  const ended = terminal;
  terminal = undefined;
  try {
    await ended?.end();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

async function open(): Promise<TracedTmux> {
  const command = `${process.execPath} bin/hansard.js open ${path}; echo CODE $?; cat`;
  terminal = await startTraced(folder, { columns: 80, rows: 24, command });
  return terminal;
}

test("field faults case 3, cc#42180: 20 long turns that come while it is open are whole in tmux's own history", async () => {
  const sentences = (turn: number): readonly string[] =>
    Array.from({ length: 40 }, (_, index) => `Sentence ${turn}.${index} of a long answer.`);
  const lines = claudeLines(20, (turn) => sentences(turn).join("\n\n"));
  await writeFile(path, `${lines.slice(0, 2).join("\n")}\n`);
  const t = await open();
  await t.until((text) => text.includes("Sentence 1.39 "));
  for (let turn = 2; turn <= 20; turn++) {
    await appendFile(path, `${lines.slice(2 * turn - 2, 2 * turn).join("\n")}\n`);
    await t.until((text) => text.includes(`Sentence ${turn}.39 `));
  }
  const said = [...(await t.lines()).join("\n").matchAll(/› prompt \d+|Sentence \d+\.\d+/g)].map(
    ([word]) => word,
  );
  expect(said).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 1).flatMap((turn) => [
      `› prompt ${turn}`,
      ...sentences(turn).map((sentence) => sentence.split(" ").slice(0, 2).join(" ")),
    ]),
  );
});

test("cc#84029: SIGTERM in the history leaves the main screen with the transcript, and the terminal in order", async () => {
  await writeFile(path, `${claudeLines(3).join("\n")}\n`);
  const t = await open();
  await t.until((text) => text.includes("answer 3"));
  await t.keys("C-o");
  await t.until((text) => text.includes("history"));
  const shell = await t.pid();
  const children = await readFile(`/proc/${shell}/task/${shell}/children`, "utf8");
  process.kill(Number(children.trim().split(" ")[0]), "SIGTERM");
  const text = await t.until((shown) => shown.includes("CODE 143"));
  expect(text).toContain("answer 3");
  await t.keys("-l", "typed words");
  await t.keys("Enter");
  // Echoed by the terminal, and once more by the program that reads it.
  await t.until((shown) => shown.split("typed words").length === 3);
});
