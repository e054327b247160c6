/** The field's faults against the history, each by its name. docs/faults.md lists them all. */
import { expect, test } from "vitest";
import type { Entry } from "../../src/transcript/index.ts";
import { answerEntry, createRig, outputEntry, promptEntry } from "./support.ts";

test("cc#46261, cc#8214, cc#59633, cc#71749: what is said to be hidden is what is not drawn, and unfolding draws it", () => {
  const lines = (block: number): string =>
    Array.from({ length: 20 + block }, (_, line) => `b${block}l${line}`).join("\n");
  const log = [0, 1, 2].map((block) => outputEntry(block, lines(block)));
  const rig = createRig(log, { rows: 90, columns: 60 });
  const drawn = (block: number): number =>
    (
      rig
        .body()
        .join("\n")
        .match(new RegExp(`b${block}l\\d+`, "g")) ?? []
    ).length;
  const hidden = (): readonly number[] =>
    [
      ...rig
        .body()
        .join("\n")
        .matchAll(/… (\d+) lines? more/g),
    ].map((match) => Number(match[1]));
  const all = [20, 21, 22];
  expect(hidden()).toEqual([]);
  expect([0, 1, 2].map(drawn)).toEqual(all);
  rig.press("D");
  expect(hidden()).toEqual([0, 1, 2].map((block) => all[block]! - drawn(block)));
  expect(hidden()).toHaveLength(3);
  rig.press("home d");
  expect(drawn(0)).toBe(20);
  expect(hidden()).toHaveLength(2);
  rig.press("D");
  if (hidden().length > 0) rig.press("D");
  expect(hidden()).toEqual([]);
  expect([0, 1, 2].map(drawn)).toEqual(all);
});

test("codex#3935, cc#55564, codex#23344: prompts are found by who spoke, not by words like theirs", () => {
  const log = Array.from(
    { length: 40 },
    (_, index): Entry =>
      index % 10 === 0
        ? promptEntry(index, `ask ${index}`)
        : answerEntry(index, `user: this is no prompt ${index}.\n\n› nor is this`),
  );
  const rig = createRig(log, { rows: 8 });
  for (const index of [30, 20, 10, 0]) {
    rig.press("{");
    expect(rig.body()[0]).toContain(`ask ${index}`);
  }
});

test("field faults case 7, cc#79517, codex#24136: a word of record 3 of 40,000 is found", () => {
  const log = Array.from({ length: 40_000 }, (_, index) =>
    answerEntry(index, index === 2 ? "the needle is here." : `number ${index}.`),
  );
  const rig = createRig(log, { columns: 80, window: 240, step: 60, isSlow: true });
  rig.press("/");
  rig.type("needle");
  rig.press("enter");
  let reads = 0;
  while (rig.answer()) reads += 1;
  expect(rig.body().join("\n")).toContain("the needle is here.");
  // Every block is read once, and no more of them is kept than the window holds.
  expect(reads).toBeLessThanOrEqual(40_000 / 60);
  expect(rig.shown.hi - rig.shown.lo).toBeLessThanOrEqual(240);
});

test("codex#36017, codex#3279: what is copied keeps its tabs", () => {
  const code = "```go\nfunc f() {\n\tif x {\n\t\ty()\n\t}\n}\n```";
  const rig = createRig([answerEntry(0, code)], { columns: 70 });
  expect(rig.body().join("\n")).not.toContain("\t");
  rig.press("y");
  expect(rig.requests.at(-1)).toEqual({ type: "copy", text: code });
});
