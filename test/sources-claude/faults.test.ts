/** The field's faults of finding and ordering Claude Code's sessions, each by its name. docs/faults.md lists them all. */
import { afterEach, expect, test } from "vitest";
import { SESSIONS_MAX } from "../../src/sources/check.ts";
import { createClaudeClassifier } from "../../src/sources/claude-code/classifier.ts";
import { claudeCodeSource } from "../../src/sources/claude-code/source.ts";
import { entryLine } from "../support/entry-notation.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";
import { expectOneReading, logOf } from "../support/log-laws.ts";

const classifier = createClaudeClassifier(false);
let home: Home | undefined;

afterEach(() => {
  home?.remove();
  home = undefined;
});

function row(uuid: string, parentUuid: string | null, type: string, more: object): object {
  const timestamp = new Date(1_780_000_000_000 + Number(uuid) * 1000).toISOString();
  return { parentUuid, isSidechain: false, type, uuid, timestamp, sessionId: "s", ...more };
}
const prompt = (uuid: string, parent: string | null, content: string, more: object = {}): object =>
  row(uuid, parent, "user", { message: { role: "user", content }, ...more });
const say = (uuid: string, parent: string, block: object): object =>
  row(uuid, parent, "assistant", {
    message: { id: `m${uuid}`, model: "m", content: [block], stop_reason: "end_turn" },
  });
const text = (uuid: string, parent: string, words: string): object =>
  say(uuid, parent, { type: "text", text: words });

test("cc#89820: what goes on from an old row is the path by its place in the file; the hours in between stay, marked", async () => {
  const log = lines(
    prompt("1", null, "go"),
    text("2", "1", "begun"),
    prompt("3", "2", "six hours"),
    text("4", "3", "of work"),
    prompt("5", "4", "and more"),
    text("6", "5", "of it"),
    prompt("7", "2", "continue"),
    text("8", "7", "going on"),
  );
  const page = await (await logOf("claude-code", classifier, Buffer.from(log))).tail(100);
  const told = page.entries.map((entry) => [entry.offPath === true, entryLine(entry)] as const);
  expect(told.map(([, words]) => words.replace(/^left /, "").replace(/^.*?: "?|"$/g, ""))).toHaveLength(8);
  expect(told.map(([isLeft]) => isLeft)).toEqual([false, false, true, true, true, true, false, false]);
  expect(told.at(-1)?.[1]).toContain("going on");
  await expectOneReading("claude-code", classifier, Buffer.from(log));
});

test("claux#40, Roo-Code#9248: two calls without an id are two calls", async () => {
  const call = (command: string): object => ({ type: "tool_use", id: "", name: "Bash", input: { command } });
  const log = lines(prompt("1", null, "go"), say("2", "1", call("ls")), say("3", "2", call("pwd")));
  const page = await (await logOf("claude-code", classifier, Buffer.from(log))).tail(100);
  const told = page.entries.map(entryLine).join("\n");
  expect(told).toContain("ls");
  expect(told).toContain("pwd");
  expect(page.entries).toHaveLength(3);
  await expectOneReading("claude-code", classifier, Buffer.from(log));
});

test("cc#21085, cc#40946, cc#69245: folders whose names collide are told apart by what the records say", async () => {
  home = makeHome();
  // The agent writes every one of these as the same folder name.
  const folders = ["/a/b-c", "/a/b/c", "/a/b.c", "/a/b_c", "/a/b\u4e2dc"];
  for (const [index, cwd] of folders.entries()) {
    const id = `${index}9b5c000-0000-4000-8000-000000000000`;
    home.write(`.claude/projects/-a-b-c/${id}.jsonl`, lines(prompt("1", null, "hi", { cwd })));
  }
  const { found } = await discoverAll(claudeCodeSource, home.around);
  const told = await Promise.all(
    found.map(async (session) => (await claudeCodeSource.describe(session)).cwd),
  );
  expect(told.sort()).toEqual(folders.sort());
});

test("cc#26964, cc#30802: records of another session in a file are shown in their place, and the check names both sessions", async () => {
  const bytes = lines(
    prompt("1", null, "go"),
    prompt("2", "1", "a stranger's", { sessionId: "other" }),
    text("3", "2", "done"),
  );
  const log = await logOf("claude-code", classifier, Buffer.from(bytes));
  expect((await log.tail(10)).entries).toHaveLength(3);
  expect((await log.check()).sessions).toEqual(["s", "other"]);
  const own = await logOf("claude-code", classifier, Buffer.from(lines(prompt("1", null, "go"))));
  expect("sessions" in (await own.check())).toBe(false);
});

test("the check names as many sessions as its limit", async () => {
  const rows = Array.from({ length: SESSIONS_MAX + 1 }, (_, at) =>
    prompt(String(at + 1), null, "go", { sessionId: `s${at}` }),
  );
  const log = await logOf("claude-code", classifier, Buffer.from(lines(...rows)));
  expect((await log.check()).sessions).toHaveLength(SESSIONS_MAX);
});
