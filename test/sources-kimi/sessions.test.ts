/** Sessions of Kimi CLI and Kimi Code, read in every way, found and described. */
import { createHash } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { kimiClassifier } from "../../src/sources/kimi/classifier.ts";
import { kimiSource } from "../../src/sources/kimi/source.ts";
import { entryLine } from "../support/entry-notation.ts";
import { fixture } from "../support/fixtures.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";
import { expectLineLaws } from "../support/line-agents.ts";
import { logOf } from "../support/log-laws.ts";

let home: Home | undefined;
afterEach(() => home?.remove());

let clock = 1_780_000_000;
function event(type: string, payload: object): object {
  clock += 1;
  return { timestamp: clock, message: { type, payload } };
}
function record(type: string, more: object): object {
  clock += 1;
  return { type, time: clock * 1000, ...more };
}
const head = (version: string): object => ({
  type: "metadata",
  protocol_version: version,
  created_at: clock * 1000,
});
const text = (words: string): object => ({ type: "text", text: words });
const call = (id: string): object =>
  event("ToolCall", {
    type: "function",
    id,
    function: { name: "Shell", arguments: JSON.stringify({ command: id }) },
  });
const result = (id: string): object =>
  event("ToolResult", { tool_call_id: id, return_value: { is_error: false, output: "ok" } });
const loop = (type: string, more: object): object =>
  record("context.append_loop_event", { event: { type, ...more } });

const sessions: Record<string, string> = {
  "a wire": lines(
    head("1.1"),
    event("TurnBegin", { user_input: "one" }),
    event("StepBegin", { n: 1 }),
    event("ContentPart", { type: "think", think: "hm" }),
    event("ContentPart", text("I look")),
    call("x"),
    call("y"),
    event("StatusUpdate", { token_usage: { output: 7 }, message_id: "m" }),
    result("x"),
    result("y"),
    event("StepBegin", { n: 2 }),
    event("ContentPart", text("Done.")),
    event("TurnEnd", {}),
    event("TurnBegin", { user_input: [text("two")] }),
    event("StepBegin", { n: 1 }),
    call("z"),
  ),
  "records of Kimi Code": lines(
    head("1.4"),
    record("config.update", { modelAlias: "m" }),
    record("turn.prompt", { input: [text("one")], origin: { kind: "user" } }),
    record("context.append_message", {
      message: { role: "user", content: [text("one")], toolCalls: [], origin: { kind: "user" } },
    }),
    loop("step.begin", { uuid: "s1" }),
    loop("content.part", { stepUuid: "s1", part: text("I look") }),
    loop("tool.call", { stepUuid: "s1", toolCallId: "x", name: "Bash", args: { command: "x" } }),
    loop("step.end", { uuid: "s1" }),
    loop("tool.result", { toolCallId: "x", result: { output: "ok" } }),
    loop("step.begin", { uuid: "s2" }),
    loop("content.part", { stepUuid: "s2", part: text("Done.") }),
    loop("step.end", { uuid: "s2", finishReason: "end_turn" }),
    record("usage.record", { model: "m", usage: { inputOther: 3, output: 7 } }),
    record("turn.ended", {}),
  ),
};
expectLineLaws({
  kinds: {
    shown: [
      "ContentPart",
      "StatusUpdate",
      "ToolCall",
      "ToolResult",
      "TurnBegin",
      "context.append_loop_event/content.part",
      "context.append_loop_event/tool.call",
      "context.append_loop_event/tool.result",
      "context.append_message/user",
      "usage.record",
    ],
    silent: [
      "StepBegin",
      "TurnEnd",
      "config.update",
      "context.append_loop_event/step.begin",
      "context.append_loop_event/step.end",
      "metadata",
      "turn.ended",
      "turn.prompt",
    ],
    unknown: [],
  },
  classifier: kimiClassifier,
  sessions,
  promptOf: (words) => event("TurnBegin", { user_input: words }),
});

async function told(name: string): Promise<string[]> {
  const log = await logOf("kimi", kimiClassifier, Buffer.from(sessions[name] ?? ""));
  return (await log.tail(1000)).entries.map(entryLine);
}

test("entries of both forms, with their pairs", async () => {
  expect(await told("a wire")).toEqual([
    "user: one",
    "model: think(hm)",
    'model: "I look"',
    "model: call(Shell x x → done)",
    "model: call(Shell y y → done)",
    'model: {"output":7}',
    "result x done 3000ms: ok",
    "result y done 3000ms: ok",
    'model: "Done."',
    "user: two",
    "model: call(Shell z z → running)",
  ]);
  expect(await told("records of Kimi Code")).toEqual([
    "user: one",
    'model: "I look"',
    "model: call(Bash x x → done)",
    "result x done 2000ms: ok",
    'model: "Done."',
    'model m: {"inputOther":3,"output":7}',
  ]);
});

test("what is in them is counted", async () => {
  const report = async (name: string): Promise<unknown> =>
    (await logOf("kimi", kimiClassifier, Buffer.from(sessions[name] ?? ""))).check();
  expect(await report("a wire")).toMatchObject({
    records: 16,
    toolCalls: 3,
    toolResults: 2,
    unansweredCalls: 1,
    outputTokens: 7,
    turns: 2,
    openTurn: true,
    unknownKinds: [],
  });
  expect(await report("records of Kimi Code")).toMatchObject({
    turns: 1,
    openTurn: false,
    outputTokens: 7,
    unknownKinds: [],
  });
});

test("sessions of both homes, a subagent under its session, and the folder behind a hash", async () => {
  home = makeHome();
  const hash = createHash("md5").update("/w").digest("hex");
  home.write(".kimi/kimi.json", JSON.stringify({ work_dirs: [{ path: "/other" }, { path: "/w" }] }));
  home.write(`.kimi/sessions/${hash}/one/wire.jsonl`, sessions["a wire"] ?? "");
  home.write(`.kimi/sessions/${hash}/one/context.jsonl`, "{}");
  const session = ".kimi-code/sessions/wd_p_ab/session_two";
  home.write(
    `${session}/state.json`,
    JSON.stringify({ title: "T", workDir: "/x", createdAt: "2026-06-01T00:00:00.000Z" }),
  );
  home.write(`${session}/agents/main/wire.jsonl`, sessions["records of Kimi Code"] ?? "");
  home.write(`${session}/agents/agent-1/wire.jsonl`, sessions["records of Kimi Code"] ?? "");
  const { found, problems } = await discoverAll(kimiSource, home.around);
  expect(problems).toEqual([]);
  expect(found.map((f) => [f.id, f.parentId])).toEqual([
    ["one", undefined],
    ["session_two-agent-1", "session_two"],
    ["session_two", undefined],
  ]);
  const infos = await Promise.all(found.map((f) => kimiSource.describe(f)));
  expect(infos).toMatchObject([
    { title: "one", cwd: "/w" },
    { title: "T" },
    { title: "T", titled: true, cwd: "/x", model: "m", startedAt: 1_780_272_000_000 },
  ]);
});

test.each<[string, string | Uint8Array, boolean]>([
  ["a wire", sessions["a wire"] ?? "", true],
  ["a wire without its head", (sessions["a wire"] ?? "").split("\n").slice(1).join("\n"), true],
  ["records of Kimi Code", sessions["records of Kimi Code"] ?? "", true],
  ["a session of pi", fixture("sources/pi/session-v3.jsonl"), false],
  ["events of Copilot", fixture("sources/copilot/events-1.jsonl"), false],
  ["an empty file", "", false],
])("a session is told from other files: %s", async (_, content, expected) => {
  expect(await kimiSource.detects("x", Buffer.from(content as string))).toBe(expected);
});
