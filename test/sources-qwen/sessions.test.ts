/** Chats of Qwen Code, read in every way, found and described. */
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { qwenClassifier } from "../../src/sources/qwen/classifier.ts";
import { qwenSource } from "../../src/sources/qwen/source.ts";
import { entryLine } from "../support/entry-notation.ts";
import { fixture } from "../support/fixtures.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";
import { expectLineLaws } from "../support/line-agents.ts";
import { logOf } from "../support/log-laws.ts";

let home: Home | undefined;
afterEach(() => home?.remove());

let clock = 0;
function row(
  uuid: string,
  parentUuid: string | null,
  type: string,
  parts: unknown,
  more: object = {},
): object {
  clock += 1000;
  const timestamp = new Date(1_780_000_000_000 + clock).toISOString();
  return {
    uuid,
    parentUuid,
    sessionId: "s",
    timestamp,
    type,
    cwd: "/w",
    version: "0.5",
    message: { parts },
    ...more,
  };
}
const prompt = (id: string, parent: string | null, words: string): object =>
  row(id, parent, "user", [{ text: words }]);
const says = (id: string, parent: string, words: string): object =>
  row(id, parent, "assistant", [{ text: words }], { model: "m", usageMetadata: { candidatesTokenCount: 5 } });
const call = (id: string, parent: string, ...calls: string[]): object =>
  row(
    id,
    parent,
    "assistant",
    calls.map((c) => ({ functionCall: { id: c, name: "run_shell_command", args: { command: c } } })),
  );
const result = (id: string, parent: string, callId: string): object =>
  row(id, parent, "tool_result", [{ functionResponse: { id: callId, response: { output: "ok" } } }]);
const system = (id: string, parent: string, subtype: string, systemPayload: object): object => ({
  uuid: id,
  parentUuid: parent,
  sessionId: "s",
  type: "system",
  subtype,
  systemPayload,
});

const whole = lines(
  prompt("a", null, "one"),
  system("t", "a", "ui_telemetry", {}),
  call("b", "t", "x", "y"),
  result("c", "b", "x"),
  result("d", "c", "y"),
  says("e", "d", "1"),
  system("f", "e", "custom_title", { customTitle: "A title" }),
  prompt("g", "f", "two"),
  call("h", "g", "z"),
);
const sessions: Record<string, string> = {
  "a chat": whole,
  "a message in two fragments": lines(
    prompt("a", null, "one"),
    call("b", "a", "x"),
    call("b", "a", "y"),
    result("c", "b", "x"),
  ),
  "a rewind": lines(
    prompt("a", null, "one"),
    says("b", "a", "1"),
    prompt("c", "b", "two"),
    says("d", "c", "2"),
    system("r", "b", "rewind", { truncatedCount: 2 }),
    prompt("e", "r", "three"),
    says("f", "e", "3"),
  ),
  "two rows glued": `${lines(prompt("a", null, "one")).trim()}${lines(says("b", "a", "1"))}`,
};
expectLineLaws({
  kinds: {
    shown: ["assistant", "system/rewind", "tool_result", "user"],
    silent: ["system/custom_title", "system/ui_telemetry"],
    unknown: [],
  },
  classifier: qwenClassifier,
  sessions,
  promptOf: (words) => prompt("p", null, words),
});

async function told(name: string): Promise<string[]> {
  const log = await logOf("qwen", qwenClassifier, Buffer.from(sessions[name] ?? ""));
  return (await log.tail(1000)).entries.map(entryLine);
}

test("entries, pairs and branches", async () => {
  expect(await told("a chat")).toEqual([
    "user: one",
    "model: call(run_shell_command x x → done) call(run_shell_command y y → done)",
    "result x done 1000ms: ok",
    "result y done 2000ms: ok",
    'model m: "1" {"candidatesTokenCount":5}',
    "user: two",
    "model: call(run_shell_command z z → running)",
  ]);
  expect(await told("a message in two fragments")).toEqual([
    "user: one",
    "model: call(run_shell_command x x → done)",
    "model: call(run_shell_command y y → running)",
    "result x done 2000ms: ok",
  ]);
  expect(await told("a rewind")).toEqual([
    "user: one",
    'model m: "1" {"candidatesTokenCount":5}',
    "(left) user: two",
    '(left) model m: "2" {"candidatesTokenCount":5}',
    'system/rewind: {"truncatedCount":2}',
    "user: three",
    'model m: "3" {"candidatesTokenCount":5}',
  ]);
});

test("what is in a chat is counted", async () => {
  const log = await logOf("qwen", qwenClassifier, Buffer.from(whole));
  expect(await log.check()).toMatchObject({
    records: 9,
    toolCalls: 3,
    toolResults: 2,
    unansweredCalls: 1,
    modelMessages: 3,
    outputTokens: 5,
    turns: 2,
    openTurn: true,
    unknownKinds: [],
  });
});

test("chats are found per project, archived ones and subagents' too", async () => {
  home = makeHome();
  home.write(".qwen/projects/-w/chats/one.jsonl", whole);
  home.write(".qwen/projects/-w/chats/archive/two.jsonl", whole);
  home.write(".qwen/projects/-w/subagents/one/agent-x.jsonl", whole);
  home.write(".qwen/projects/-w/other.jsonl", whole);
  const { found, problems } = await discoverAll(qwenSource, home.around);
  expect(problems).toEqual([]);
  expect(found.map((f) => [f.id, f.archived, f.parentId])).toEqual([
    ["one", undefined, undefined],
    ["two", true, undefined],
    ["agent-x", undefined, "one"],
  ]);
  expect(found[0] && (await qwenSource.describe(found[0]))).toMatchObject({
    title: "A title",
    titled: true,
    cwd: "/w",
    model: "m",
    agentVersion: "0.5",
  });
});

test("QWEN_HOME and QWEN_RUNTIME_DIR move them", () => {
  const env = { QWEN_HOME: "/q", QWEN_RUNTIME_DIR: "~/r" };
  expect(qwenSource.roots({ env, home: "/h", platform: "linux" })).toEqual([
    join("/h", "r", "projects"),
    join("/q", "projects"),
  ]);
});

test.each<[string, string | Uint8Array, boolean]>([
  ["a chat", whole, true],
  ["a row of the system first", lines(system("a", "b", "custom_title", {})), true],
  ["a transcript of Claude Code", fixture("sources/claude-code/tiny.jsonl"), false],
  ["a chat of Gemini CLI", fixture("sources/gemini/legacy-2.json"), false],
  ["an empty file", "", false],
])("a chat is told from other files: %s", async (_, content, expected) => {
  expect(await qwenSource.detects("x", Buffer.from(content as string))).toBe(expected);
});
