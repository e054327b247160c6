/** What a transcript's own facts look like where people read them. */
import { expect, test } from "vitest";
import { entryText, searchedText } from "../../src/terminal/pager/entry-text.ts";
import { renderEntry } from "../../src/terminal/render/index.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { result } from "./entries.ts";

function shown(entry: Entry): string {
  return renderEntry(entry, { width: 80, detail: "full" })
    .map((line) => line.spans.map((span) => span.text).join(""))
    .join("\n");
}

test("each of several results of a file is shown, copied and found", () => {
  const entry: Entry = {
    ...result("003-tool.json", "c1", "first words"),
    further: [{ toolUseId: "c2", content: "second words", isError: true }],
  };
  expect(shown(entry)).toMatch(/first words[\s\S]*second words/);
  expect(entryText(entry)).toBe("first words\n\nsecond words");
  expect(searchedText(entry)).toContain("second words");
});

test("the mark of a compaction and its record reach the glass", () => {
  const text = shown({
    kind: "compacted",
    name: "«001–012»",
    first: 1,
    last: 12,
    summary: "they met\nand spoke",
  });
  expect(text).toMatch(/12/);
  expect(text).toMatch(/and spoke/);
});

test("each wound reaches the glass in words", () => {
  for (const wound of [
    { kind: "mute" },
    { kind: "spoke", words: "no route", source: "stderr.log" },
    { kind: "output-limit" },
    { kind: "refused", authRow: "anthropic" },
    { kind: "interrupted" },
  ] as const)
    expect(shown({ kind: "wounded", name: "«wound»", wound }).trim()).not.toBe("");
});
