/** What the rows of a Cursor transcript mean. */
import { expect, test } from "vitest";
import { cursorClassifier } from "../../src/sources/cursor/classifier.ts";
import { cursorSource } from "../../src/sources/cursor/source.ts";
import { saidLines } from "../support/entry-notation.ts";
import { fixture } from "../support/fixtures.ts";
import { discoverAll, makeHome } from "../support/home.ts";
import { expectFollowed, expectOneReading } from "../support/log-laws.ts";

const row = (role: string, ...content: unknown[]): object => ({ role, message: { content } });
const text = (words: string): object => ({ type: "text", text: words });

test.each<[string, unknown, string[]]>([
  [
    "a prompt with what the program put around it",
    row("user", text("<open_files>\na\n</open_files>\n<user_query>\ndo it\n</user_query>")),
    ["user [start]", "  system/context: <open_files>\na\n</open_files>", "  user: do it"],
  ],
  ["a prompt without a tag", row("user", text("do it")), ["user [start]", "  user: do it"]],
  [
    "a call",
    row("assistant", text("I look"), { type: "tool_use", name: "Shell", input: { command: "ls" } }),
    ["assistant [start automatic]", '  model: "I look" call(Shell ls)'],
  ],
  [
    "the last word",
    row("assistant", text("Done.")),
    ["assistant [start automatic] [end]", '  model: "Done."'],
  ],
  [
    "an unknown role",
    row("oracle"),
    ["oracle?", expect.stringContaining("unknown record kind oracle") as unknown as string],
  ],
])("%s", (_, value, lines) => {
  expect(saidLines(cursorClassifier.classify({ type: "record", start: 0, end: 1, value }))).toEqual(lines);
});

test("a kept transcript reads the same in every way, and followed in pieces", async () => {
  const bytes = fixture("sources/cursor/transcript.jsonl");
  await expectOneReading("cursor", cursorClassifier, bytes);
  await expectFollowed("cursor", cursorClassifier, bytes, [0.1, 0.35, 0.8]);
});

test("transcripts are found, with those of subagents under their session; other files are not", async () => {
  const home = makeHome();
  const base = ".cursor/projects/w/agent-transcripts/a";
  for (const name of [`${base}/a.jsonl`, `${base}/subagents/b.jsonl`, ".cursor/projects/w/other.jsonl"])
    home.write(name, "{}\n");
  const { found } = await discoverAll(cursorSource, home.around);
  expect(found.map(({ id, parentId }) => [id, parentId])).toEqual([
    ["a", undefined],
    ["b", "a"],
  ]);
  home.remove();
});
