/** How rollouts go: turns, compactions, undone turns, forks, and files from before the events. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codexClassifier } from "../../src/sources/codex/classifier.ts";
import { entryLine } from "../support/entry-notation.ts";
import { lines } from "../support/home.ts";
import { cutPlaces, expectFollowed, expectOneReading, logOf } from "../support/log-laws.ts";

let clock = 0;
function record(type: string, payload: object): object {
  clock += 1000;
  return { timestamp: new Date(1_780_000_000_000 + clock).toISOString(), type, payload };
}
const event = (type: string, more: object = {}): object => record("event_msg", { type, ...more });
const prompt = (message: string): object[] => [
  record("response_item", {
    type: "message",
    role: "user",
    content: [{ type: "input_text", text: message }],
  }),
  event("user_message", { message }),
];
const answer = (text: string, phase?: string): object[] => [
  event("agent_message", { message: text }),
  record("response_item", {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text }],
    ...(phase === undefined ? {} : { phase }),
  }),
];
const call = (id: string): object =>
  record("response_item", {
    type: "function_call",
    name: "exec_command",
    call_id: id,
    arguments: '{"cmd":"ls"}',
  });
const output = (id: string): object =>
  record("response_item", { type: "function_call_output", call_id: id, output: "ok" });
const total = (tokens: number): object =>
  event("token_count", { info: { total_token_usage: { output_tokens: tokens } } });
const meta = (id: string, more: object = {}): object =>
  record("session_meta", { id, timestamp: "2026-06-01T00:00:00.000Z", cwd: "/w", ...more });
const turn = (id: string, ...rest: readonly object[]): object[] => [
  event("task_started", { turn_id: id }),
  ...rest,
  event("task_complete", { turn_id: id }),
];

async function told(text: string): Promise<string[]> {
  const log = await logOf("codex", codexClassifier, Buffer.from(text));
  return (await log.tail(1000)).entries.map(entryLine);
}

const rollouts: Record<string, string> = {
  "two turns": lines(
    meta("a"),
    ...turn("1", ...prompt("one"), call("c"), output("c"), ...answer("1", "final_answer")),
    ...turn("2", ...prompt("two"), ...answer("2", "final_answer")),
  ),
  "an open turn": lines(
    meta("a"),
    event("task_started"),
    ...prompt("one"),
    call("c"),
    call("d"),
    output("d"),
  ),
  "an undone turn": lines(
    meta("a"),
    ...turn("1", ...prompt("one"), ...answer("1")),
    ...turn("2", ...prompt("two"), ...answer("2")),
    event("thread_rolled_back", { num_turns: 1 }),
    ...turn("3", ...prompt("two again"), ...answer("2b")),
  ),
  "turns undone twice": lines(
    meta("a"),
    ...turn("1", ...prompt("one"), ...answer("1")),
    ...turn("2", ...prompt("two"), ...answer("2")),
    event("thread_rolled_back", { num_turns: 1 }),
    event("thread_rolled_back", { num_turns: 1 }),
    ...turn("3", ...prompt("new"), ...answer("n")),
  ),
  "a compaction in the middle of a turn": lines(
    meta("a"),
    event("task_started"),
    ...prompt("one"),
    call("c"),
    record("compacted", {
      message: "",
      replacement_history: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "one" }] },
      ],
    }),
    event("context_compacted"),
    record("turn_context", { cwd: "/w", model: "m2" }),
    output("c"),
    ...answer("done", "final_answer"),
    event("task_complete"),
  ),
  "two compactions with nothing between": lines(
    meta("a"),
    ...turn("1", ...prompt("one"), ...answer("1")),
    record("compacted", { message: "" }),
    event("context_compacted"),
    record("compacted", { message: "" }),
    event("context_compacted"),
  ),
  "from before the events": lines(
    { id: "a", timestamp: "2025-05-01T00:00:00.000Z", instructions: "x", git: {} },
    { record_type: "state" },
    { type: "message", role: "user", content: [{ type: "input_text", text: "one" }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look" }] },
    { type: "function_call", name: "shell", arguments: '{"command":["ls"]}', call_id: "c" },
    { record_type: "state" },
    {
      type: "function_call_output",
      call_id: "c",
      output: '{"output":"a","metadata":{"exit_code":0,"duration_seconds":0.1}}',
    },
  ),
};

describe.each(Object.entries(rollouts))("%s", (_, text) => {
  const bytes = Buffer.from(text);
  test("reads the same in every way", () => expectOneReading("codex", codexClassifier, bytes));
  test("is followed to the same", async () => {
    await fc.assert(
      fc.asyncProperty(cutPlaces, (places) =>
        expectFollowed("codex", codexClassifier, bytes, [0, ...places]),
      ),
      { numRuns: 40 },
    );
  });
});

test("undone turns stay in their place and are marked as left", async () => {
  expect(await told(rollouts["an undone turn"] ?? "")).toEqual([
    "user: one",
    'model: "1"',
    "(left) user: two",
    '(left) model: "2"',
    "system/rollback: The last turn was undone.",
    "user: two again",
    'model: "2b"',
  ]);
  expect(
    (await told(rollouts["turns undone twice"] ?? "")).filter((l) => l.startsWith("(left)")),
  ).toHaveLength(5);
});

test("earlier rows stay visible above every compaction (goose#4529: two dividers, all rows)", async () => {
  expect(await told(rollouts["two compactions with nothing between"] ?? "")).toEqual([
    "user: one",
    'model: "1"',
    "compacted: ",
    "compacted: ",
  ]);
});

test("a call answered across a compaction is answered", async () => {
  expect(await told(rollouts["a compaction in the middle of a turn"] ?? "")).toEqual([
    "user: one",
    "model: call(exec_command c ls → done)",
    "compacted: ",
    "result c done 4000ms: ok",
    'model: "done"',
  ]);
});

test("a call without an answer runs in an open turn, and is unanswered once the turn is over", async () => {
  const open = rollouts["an open turn"] ?? "";
  expect((await told(open)).slice(1, 3)).toEqual([
    "model: call(exec_command c ls → running)",
    "model: call(exec_command d ls → done)",
  ]);
  const log = await logOf("codex", codexClassifier, Buffer.from(open));
  expect(await log.tail(10)).toMatchObject({ turnOpen: true, live: [expect.stringMatching(/^@\d+$/)] });
  expect((await told(open + lines(event("turn_aborted", { reason: "interrupted" })))).slice(1)).toEqual([
    "model: call(exec_command c ls → unanswered)",
    "model: call(exec_command d ls → done)",
    "result d done 1000ms: ok",
    "wounded interrupted",
  ]);
});

test("a web search, which has no id, is done when it says so, and never runs on", async () => {
  const search = record("response_item", {
    type: "web_search_call",
    status: "completed",
    action: { type: "search", query: "cats" },
  });
  const text = lines(meta("a"), event("task_started"), ...prompt("one"), search);
  expect((await told(text)).at(-1)).toBe("model: call(web_search cats → done)");
  const log = await logOf("codex", codexClassifier, Buffer.from(text));
  expect(await log.tail(10)).toMatchObject({ turnOpen: true, live: [] });
  expect(await log.check()).toMatchObject({ toolCalls: 0, unansweredCalls: 0 });
  await expectFollowed("codex", codexClassifier, Buffer.from(text), [0, 0.5, 0.9]);
});

test("in a file without events, a call after an answer keeps the turn open; the next answer ends it", async () => {
  const text = rollouts["from before the events"] ?? "";
  const check = async (more: string): Promise<unknown> =>
    (await logOf("codex", codexClassifier, Buffer.from(text + more))).check();
  expect(await check("")).toMatchObject({ turns: 1, openTurn: true });
  const end = lines({ type: "message", role: "assistant", content: [{ type: "output_text", text: "so" }] });
  expect(await check(end)).toMatchObject({ turns: 1, openTurn: false, modelMessages: 2 });
});

test("totals that are told again count once, and one that falls is a new base", async () => {
  const text = lines(
    meta("a"),
    total(10),
    total(10),
    event("token_count", { info: null }),
    total(25),
    total(5),
    total(9),
  );
  expect((await (await logOf("codex", codexClassifier, Buffer.from(text))).check()).outputTokens).toBe(29);
});

test("codex#24425: a half-written line followed by the same line again gives the record once and names the damage", async () => {
  const line = JSON.stringify(answer("whole")[1]);
  const log = await logOf(
    "codex",
    codexClassifier,
    Buffer.from(`${lines(meta("a"))}${line.slice(0, 60)}\n${line}\n`),
  );
  const page = await log.tail(10);
  expect(page.entries.map(entryLine).filter((l) => l.startsWith("model"))).toEqual(['model: "whole"']);
  expect(page.damage).toHaveLength(1);
  expect((await log.check()).modelMessages).toBe(1);
});

test("codex#28139: a byte order mark costs nothing but a note", async () => {
  const log = await logOf("codex", codexClassifier, Buffer.from(`\ufeff${rollouts["two turns"]}`));
  expect(await log.check()).toMatchObject({
    records: 15,
    turns: 2,
    damaged: [{ start: 0, end: 3, reason: "bom" }],
  });
});

test("one file with many headers is the session of the first (29 of them were seen)", () => {
  const infoAt = (start: number): unknown =>
    codexClassifier.classify({
      type: "record",
      start,
      end: start + 1,
      value: meta("a", { cwd: `/${start}` }),
    }).info;
  expect(infoAt(0)).toMatchObject({ cwd: "/0" });
  for (let n = 1; n < 29; n++) expect(infoAt(n * 500)).toBeUndefined();
});
