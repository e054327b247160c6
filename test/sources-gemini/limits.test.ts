/** Each bound of reading chats, at its limit. */
import { afterEach, expect, test } from "vitest";
import { DAMAGE_NOTES_MAX } from "../../src/sources/gemini/chat.ts";
import { MESSAGE_ID_MAX } from "../../src/sources/gemini/rows.ts";
import { geminiSource } from "../../src/sources/gemini/source.ts";
import { PAGE_ENTRIES_MAX } from "../../src/sources/limits.ts";
import type { Log } from "../../src/sources/types.ts";
import { type Home, makeHome } from "../support/home.ts";
import { chatLines, user } from "./support.ts";

let home: Home | undefined;
let log: Log | undefined;
afterEach(async () => {
  await log?.close();
  home?.remove();
});

async function open(content: string): Promise<Log> {
  home = makeHome();
  log = await geminiSource.open(home.write("session-x.jsonl", content));
  return log;
}

test("an id at its longest names its message; a longer one is named by its place", async () => {
  const chat = await open(
    chatLines(user("a".repeat(MESSAGE_ID_MAX), "1"), user("b".repeat(MESSAGE_ID_MAX + 1), "2")),
  );
  const [first, second] = (await chat.tail(2)).entries.map((e) => e.name);
  expect(first).toBe(`m:${"a".repeat(MESSAGE_ID_MAX)}`);
  expect(second).toMatch(/^@\d+$/);
});

test("ids with dots and percent signs name their messages, and their positions are found again", async () => {
  const chat = await open(chatLines(user("a.1", "1"), user("a%2E1", "2"), user("a", "3")));
  const { positions, entries } = await chat.tail(3);
  expect(new Set(entries.map((e) => e.name)).size).toBe(3);
  for (const [at, position] of positions.entries())
    expect((await chat.newer(position, 1)).entries[0]?.name).toBe(entries[at]?.name);
});

test("more damage than is noted is still in its place", async () => {
  const chat = await open(chatLines() + "x\n".repeat(DAMAGE_NOTES_MAX + 1));
  const report = await chat.check();
  expect(report.damaged).toHaveLength(DAMAGE_NOTES_MAX);
  expect((await chat.tail(1)).entries[0]).toMatchObject({ kind: "raw", damaged: true });
});

test("a page holds no more than pages may", async () => {
  const chat = await open(
    chatLines(...Array.from({ length: PAGE_ENTRIES_MAX + 1 }, (_, n) => user(`m${n}`, "x"))),
  );
  expect((await chat.tail(Number.MAX_SAFE_INTEGER)).entries).toHaveLength(PAGE_ENTRIES_MAX);
});
