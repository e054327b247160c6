/** Sessions of fx: what each frame means in both forms, read in every way, found and described. */
import { afterEach, describe, expect, test } from "vitest";
import { fxClassifier } from "../../src/sources/fx/classifier.ts";
import { fxSource } from "../../src/sources/fx/source.ts";
import { entryLine, saidLines } from "../support/entry-notation.ts";
import { fixture } from "../support/fixtures.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";
import { expectLineLaws } from "../support/line-agents.ts";
import { logOf } from "../support/log-laws.ts";

let home: Home | undefined;
afterEach(() => home?.remove());

let seq = 0;
function frame(kind: string, payload: object): object {
  seq += 1;
  return {
    schema_version: 1,
    log_generation: "aa",
    seq,
    event_id: `${seq}`,
    timestamp_ms: 1_780_000_000_000 + seq * 1000,
    kind,
    payload,
  };
}
function event(kind: string, payload: object): object {
  seq += 1;
  return { schema_version: 1, seq, timestamp_ms: 1_780_000_000_000 + seq * 1000, event: { [kind]: payload } };
}
function said(value: unknown): string[] {
  return saidLines(fxClassifier.classify({ type: "record", start: 100, end: 101, value }));
}
const started = frame("session_started", {
  id: "s",
  created_at_ms: 1_780_000_000_000,
  origin_workspace_root: "/o",
  workspace_root: "/w",
  conversation_language: "en",
  preferences: { model: "p/m", effort: "high", fast_mode: false },
});
const call = (id: string): object => ({ id, name: "run_command", arguments_json: `{"command":"${id}"}` });
const result = (id: string, more: object = {}): object => ({
  tool_call_id: id,
  tool_name: "run_command",
  status: "success",
  output: "ok",
  ...more,
});
const turn = (kind: string, words: string, more: object = {}): object =>
  frame("history_turn_committed", {
    conversation_language: "en",
    total_input_tokens: 30,
    total_output_tokens: 7,
    turn: { kind, user: { text: words, images: [] }, ...more },
  });

describe("frames", () => {
  test.each<[string, unknown, string[]]>([
    ["the start", started, ['session_started {"startedAt":1780000000000,"cwd":"/w","model":"p/m"}']],
    ["a model", frame("preferences_changed", { model: "n" }), ['preferences_changed {"model":"n"}']],
    ["a folder", frame("workspace_rebound", { workspace_root: "/x" }), ['workspace_rebound {"cwd":"/x"}']],
    [
      "a turn, from its prompt to its last word",
      turn("assistant", "one", {
        assistant: "Done.",
        execution: {
          tool_steps: [
            {
              assistant: "I look",
              tool_calls: [call("x"), call("y")],
              tool_results: [result("x"), result("y", { status: "failure" })],
            },
            {
              assistant: null,
              tool_calls: [call("z")],
              tool_results: [result("z", { output: { encoding: "base64", data: "aGk=" } })],
            },
          ],
          steering: [{ text: "so", after_tool_step_count: 1, assistant_prefix: "hm" }],
        },
      }),
      [
        expect.stringMatching(/^history_turn_committed\/assistant \[start\] \[end\]/) as unknown as string,
        "  user: one",
        '  model: "I look" call(run_command x x) call(run_command y y)',
        "  result x done: ok",
        "  result y failed: ok",
        '  model: "hm"',
        "  user: so",
        "  model: call(run_command z z)",
        "  result z done: hi",
        '  model: "Done."',
      ],
    ],
    [
      "a turn that was stopped",
      turn("interrupted", "one", { assistant: "I l", tool_call: call("x"), terminal_reason: "cancelled" }),
      [
        expect.stringMatching(/^history_turn_committed\/interrupted/) as unknown as string,
        "  user: one",
        "  model: call(run_command x x)",
        '  model: "I l"',
        "  wounded interrupted",
      ],
    ],
    [
      "a turn that failed",
      turn("interrupted", "one", { assistant: null, tool_call: null, terminal_reason: "failed" }),
      [
        expect.stringMatching(/^history_turn_committed\/interrupted/) as unknown as string,
        "  user: one",
        "  wounded mute",
      ],
    ],
    [
      "a command in the background",
      turn("background_command", "serve", { log_path: "/l", url: "http://localhost:1" }),
      [
        expect.stringMatching(/^history_turn_committed\/background_command/) as unknown as string,
        "  user: serve",
        "  system/background: http://localhost:1",
      ],
    ],
    [
      "a summary",
      frame("history_turn_committed", { turn: { kind: "compacted_summary", summary: "so far" } }),
      ["history_turn_committed/compacted_summary [compacted]", "  compacted: so far"],
    ],
    [
      "a turn under way",
      frame("recovery_checkpoint_set", { checkpoint: {} }),
      ["recovery_checkpoint_set [start automatic]"],
    ],
    ["usage", frame("usage_checkpointed", {}), ["usage_checkpointed"]],
    [
      "a replaced state",
      frame("state_replacement_committed", { reason: "migration" }),
      ["state_replacement_committed", '  system/replacement: {"reason":"migration"}'],
    ],
    [
      "an unknown kind",
      frame("dream", {}),
      ["dream?", expect.stringMatching(/^ {2}raw \(unknown record kind dream\)/) as unknown as string],
    ],
    ["no kind at all", { a: 1 }, ["no kind?", '  raw (a record without a kind): {"a":1}']],
  ])("%s", (_, value, told) => {
    expect(said(value)).toEqual(told);
  });
});

describe("events of later versions", () => {
  test.each<[string, unknown, string[]]>([
    [
      "a prompt",
      event("user", { text: "do it", images: [{ path: "/w/a.png", media_type: "image/png" }] }),
      ["user [start]", "  user: do it [image/png /w/a.png]"],
    ],
    ["words into the turn", event("steering", { text: "so" }), ["steering [start implied]", "  user: so"]],
    [
      "a message in parts",
      event("assistant", {
        text: "I look",
        parts: [{ reasoning: { text: "hm" } }, { text: { text: "I look" } }, { tool_call_ref: { id: "x" } }],
      }),
      ["assistant [start automatic]", '  model: think(hm) "I look"'],
    ],
    [
      "a call",
      event("tool_call", { call_id: "x", tool_name: "run_command", arguments_json: '{"command":"ls"}' }),
      ["tool_call [start automatic]", "  model: call(run_command x ls)"],
    ],
    [
      "a result of which only the beginning is kept",
      event("tool_result", {
        call_id: "x",
        tool_name: "t",
        status: "success",
        preview: "ab",
        output_bytes: 9000,
      }),
      ["tool_result", "  result x done (9000 bytes, of which this is the beginning): ab"],
    ],
    ["the end", event("turn_completed", { files: [] }), ["turn_completed [end]"]],
    [
      "a stop",
      event("interrupted", { reason: "cancelled", partial_text: "I l" }),
      ["interrupted [end]", '  model: "I l"', "  wounded interrupted"],
    ],
    [
      "a checkpoint of the context",
      event("context_checkpoint", { covers_through_seq: 3, summary: "so far" }),
      ["context_checkpoint [compacted]", "  compacted: so far"],
    ],
    [
      "an unknown event",
      event("dream", {}),
      ["dream?", expect.stringMatching(/^ {2}raw \(unknown record kind dream\)/) as unknown as string],
    ],
  ])("%s", (_, value, told) => {
    expect(said(value)).toEqual(told);
  });
});

const committed = lines(
  started,
  frame("recovery_checkpoint_set", { checkpoint: {} }),
  turn("assistant", "one", {
    assistant: "Done.",
    execution: { tool_steps: [{ tool_calls: [call("x")], tool_results: [result("x")] }] },
  }),
  frame("recovery_checkpoint_cleared", {}),
  turn("assistant", "two", { assistant: "2", execution: {} }),
  frame("recovery_checkpoint_set", { checkpoint: {} }),
);
const events = lines(
  event("user", { text: "one" }),
  event("assistant", { text: "I look" }),
  event("tool_call", { call_id: "x", tool_name: "t", arguments_json: "{}" }),
  event("tool_result", { call_id: "x", tool_name: "t", status: "success", preview: "ok" }),
  event("assistant", { text: "Done." }),
  event("turn_completed", {}),
  event("user", { text: "two" }),
  event("tool_call", { call_id: "y", tool_name: "t", arguments_json: "{}" }),
);
expectLineLaws({
  kinds: {
    shown: ["assistant", "history_turn_committed/assistant", "tool_call", "tool_result", "user"],
    silent: ["recovery_checkpoint_cleared", "recovery_checkpoint_set", "session_started", "turn_completed"],
    unknown: [],
  },
  classifier: fxClassifier,
  sessions: { "committed turns": committed, events },
  promptOf: (words) => event("user", { text: words }),
});

test("entries and counts of both forms", async () => {
  const read = async (content: string): Promise<[string[], object]> => {
    const log = await logOf("fx", fxClassifier, Buffer.from(content));
    return [(await log.tail(100)).entries.map(entryLine), await log.check()];
  };
  const [turns, report] = await read(committed);
  expect(turns).toEqual([
    "user: one",
    "model: call(run_command x x → done)",
    "result x done 0ms: ok",
    'model: "Done."',
    "user: two",
    'model: "2"',
  ]);
  expect(report).toMatchObject({ turns: 2, openTurn: true, outputTokens: 7, unknownKinds: [] });
  const [rows, counted] = await read(events);
  expect(rows).toEqual([
    "user: one",
    'model: "I look"',
    "model: call(t x → done)",
    "result x done 1000ms: ok",
    'model: "Done."',
    "user: two",
    "model: call(t y → running)",
  ]);
  expect(counted).toMatchObject({ turns: 2, openTurn: true, toolCalls: 2, toolResults: 1, unknownKinds: [] });
});

test("a session is a folder, described by its start and the title beside it", async () => {
  home = makeHome();
  home.write(".fx/sessions/one/events.jsonl", committed);
  home.write(".fx/sessions/one/display.json", JSON.stringify({ title: "T" }));
  home.write(".fx/sessions/one/other.jsonl", committed);
  const { found, problems } = await discoverAll(fxSource, home.around);
  expect(problems).toEqual([]);
  expect(found.map((f) => f.id)).toEqual(["one"]);
  expect(found[0] && (await fxSource.describe(found[0]))).toMatchObject({
    title: "T",
    titled: true,
    cwd: "/w",
    model: "p/m",
    startedAt: 1_780_000_000_000,
  });
});

test.each<[string, string | Uint8Array, boolean]>([
  ["frames", committed, true],
  ["events", events, true],
  ["a rollout", fixture("sources/codex/rollout-1.jsonl").subarray(0, 4096), false],
  ["an empty file", "", false],
])("a session is told from other files: %s", async (_, content, expected) => {
  expect(await fxSource.detects("x", Buffer.from(content as string))).toBe(expected);
});
