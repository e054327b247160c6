/** What each kind of record of a Kimi session means, in both forms. */
import { describe, expect, test } from "vitest";
import { kimiClassifier } from "../../src/sources/kimi/classifier.ts";
import { saidLines } from "../support/entry-notation.ts";

function said(value: unknown): string[] {
  return saidLines(kimiClassifier.classify({ type: "record", start: 100, end: 101, value }));
}
const event = (type: string, payload: object): object => ({
  timestamp: 1_780_000_000.5,
  message: { type, payload },
});
const part = (words: string): object => ({ type: "text", text: words });
const fn = (id: string, name: string, args: string): object => ({
  type: "function",
  id,
  function: { name, arguments: args },
});

describe("events of the wire", () => {
  test.each<[string, unknown, string[]]>([
    [
      "the head of a file",
      { type: "metadata", protocol_version: "1.1", created_at: 1_780_000_000_000 },
      ['metadata {"startedAt":1780000000000}'],
    ],
    ["a prompt", event("TurnBegin", { user_input: "do it" }), ["TurnBegin [start]", "  user: do it"]],
    [
      "a prompt with an image",
      event("TurnBegin", {
        user_input: [part("see"), { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }],
      }),
      ["TurnBegin [start]", "  user: see [image/png 3]"],
    ],
    [
      "words into the turn",
      event("SteerInput", { user_input: "so" }),
      ["SteerInput [start implied]", "  user: so"],
    ],
    ["the end", event("TurnEnd", {}), ["TurnEnd [end]"]],
    ["a step", event("StepBegin", { n: 1 }), ["StepBegin [start automatic]"]],
    ["an interruption", event("StepInterrupted", {}), ["StepInterrupted [end]", "  wounded interrupted"]],
    ["words", event("ContentPart", part("I look")), ["ContentPart", '  model: "I look"']],
    [
      "a thought",
      event("ContentPart", { type: "think", think: "hm", encrypted: null }),
      ["ContentPart", "  model: think(hm)"],
    ],
    [
      "a part of an unknown kind",
      event("ContentPart", { type: "song", a: 1 }),
      ["ContentPart", '  model: other song({"a":1,"type":"song"})'],
    ],
    [
      "a call",
      event("ToolCall", fn("c1", "Shell", '{"command":"ls"}')),
      ["ToolCall", "  model: call(Shell c1 ls)"],
    ],
    [
      "a call that writes a file",
      event("ToolCall", fn("c1", "WriteFile", '{"path":"a.ts","content":"x"}')),
      ["ToolCall", "  model: call(WriteFile c1 a.ts +a.ts)"],
    ],
    [
      "a result",
      event("ToolResult", {
        tool_call_id: "c1",
        return_value: { is_error: false, output: "a\nb", message: "ok" },
      }),
      ["ToolResult", "  result c1 done: a\nb"],
    ],
    [
      "a result that failed, in words alone",
      event("ToolResult", {
        tool_call_id: "c1",
        return_value: { is_error: true, output: "", message: "bad" },
      }),
      ["ToolResult", "  result c1 failed: bad"],
    ],
    [
      "a call that was not allowed",
      event("ToolResult", {
        tool_call_id: "c1",
        return_value: { is_error: true, output: "", message: "The tool call is rejected by the user." },
      }),
      ["ToolResult", "  result c1 denied: The tool call is rejected by the user."],
    ],
    [
      "the counts of a step",
      event("StatusUpdate", {
        context_usage: 0.5,
        token_usage: { input_other: 3, output: 7 },
        message_id: "m",
      }),
      ["StatusUpdate message=7", '  model: {"input_other":3,"output":7}'],
    ],
    ["a status without counts", event("StatusUpdate", { context_usage: 0.5 }), ["StatusUpdate"]],
    ["a compaction", event("CompactionEnd", {}), ["CompactionEnd [compacted]", "  compacted: "]],
    [
      "a notification",
      event("Notification", { title: "T", body: "b" }),
      ["Notification", "  system/notification: T\nb"],
    ],
    ["a plan", event("PlanDisplay", { content: "1. x" }), ["PlanDisplay", "  system/plan: 1. x"]],
    ["a hook", event("HookTriggered", { event: "Stop" }), ["HookTriggered"]],
    [
      "an unknown event",
      event("Dream", {}),
      ["Dream?", expect.stringMatching(/^ {2}raw \(unknown record kind Dream\)/) as unknown as string],
    ],
    ["no kind at all", { a: 1 }, ["no type?", '  raw (a record without a type): {"a":1}']],
  ])("%s", (_, value, lines) => {
    expect(said(value)).toEqual(lines);
  });

  test("what a subagent did carries its name, and has no say in the turns", () => {
    const inner = (type: string, payload: object): object =>
      event("SubagentEvent", { parent_tool_call_id: "c1", agent_id: "a1", event: { type, payload } });
    const told = (type: string, payload: object): unknown => {
      const { kind, entries, marks } = kimiClassifier.classify({
        type: "record",
        start: 0,
        end: 1,
        value: inner(type, payload),
      });
      expect(marks).toBeUndefined();
      return [kind, entries];
    };
    const time = 1_780_000_000_500;
    expect(told("TurnBegin", { user_input: "look" })).toEqual([
      "SubagentEvent/TurnBegin",
      [{ kind: "delivered", sender: "system", topic: "subagent", body: "look", subagent: "a1", time }],
    ]);
    expect(told("ContentPart", part("I look"))).toMatchObject([
      "SubagentEvent/ContentPart",
      [{ kind: "model", subagent: "a1" }],
    ]);
    expect(told("SubagentEvent", {})).toMatchObject(["SubagentEvent/SubagentEvent", [{ kind: "raw" }]]);
  });

  test("a change of a file is told by the result", () => {
    const display = [
      { type: "diff", path: "a.ts", old_text: "x", new_text: "y" },
      { type: "brief", text: "b" },
    ];
    const value = event("ToolResult", { tool_call_id: "c", return_value: { output: "ok", display } });
    const { entries } = kimiClassifier.classify({ type: "record", start: 0, end: 1, value });
    expect(entries[0]).toMatchObject({ changes: [{ path: "a.ts", oldText: "x", newText: "y" }] });
  });
});

const record = (type: string, more: object = {}): object => ({ type, time: 1_780_000_000_000, ...more });
const append = (role: string, content: unknown, more: object = {}): object =>
  record("context.append_message", { message: { role, content, toolCalls: [], ...more } });
const loop = (type: string, more: object = {}): object =>
  record("context.append_loop_event", { event: { type, stepUuid: "s1", ...more } });

describe("records of Kimi Code", () => {
  test.each<[string, unknown, string[]]>([
    ["a prompt begins a turn", record("turn.prompt", { input: [part("do it")] }), ["turn.prompt [start]"]],
    [
      "and is the message that follows",
      append("user", [part("do it")], { origin: { kind: "user" } }),
      ["context.append_message/user [start implied]", "  user: do it"],
    ],
    [
      "what the program put in",
      append("user", [part("<system-reminder>")], { origin: { kind: "injection", variant: "btw" } }),
      ["context.append_message/user", "  system/injection: <system-reminder>"],
    ],
    [
      "a message copied from another session",
      append("assistant", [part("I look")], { toolCalls: [fn("c1", "Bash", '{"command":"ls"}')] }),
      ["context.append_message/assistant", '  model: "I look" call(Bash c1 ls)'],
    ],
    [
      "a last answer copied from another session",
      append("assistant", [part("Done.")]),
      ["context.append_message/assistant [end implied]", '  model: "Done."'],
    ],
    [
      "a result copied from another session",
      append("tool", [part("a")], { toolCallId: "c1" }),
      ["context.append_message/tool", "  result c1 done: a"],
    ],
    [
      "an unknown role",
      append("oracle", "x"),
      [
        "context.append_message?",
        expect.stringMatching(/^ {2}raw \(unknown record kind context.append_message\)/) as unknown as string,
      ],
    ],
    ["a step", loop("step.begin"), ["context.append_loop_event/step.begin [start automatic]"]],
    [
      "words",
      loop("content.part", { part: part("I look") }),
      ["context.append_loop_event/content.part", '  model: "I look"'],
    ],
    [
      "a call",
      loop("tool.call", { toolCallId: "c1", name: "Bash", args: { command: "ls" } }),
      ["context.append_loop_event/tool.call", "  model: call(Bash c1 ls)"],
    ],
    [
      "a result",
      loop("tool.result", { toolCallId: "c1", result: { output: "a", isError: true } }),
      ["context.append_loop_event/tool.result", "  result c1 failed: a"],
    ],
    [
      "a step that goes on",
      loop("step.end", { finishReason: "tool_use" }),
      ["context.append_loop_event/step.end"],
    ],
    [
      "the last step",
      loop("step.end", { finishReason: "end_turn" }),
      ["context.append_loop_event/step.end [end]"],
    ],
    [
      "counts",
      record("usage.record", { model: "m", usage: { inputOther: 3, output: 7 } }),
      ['usage.record {"model":"m"} message=7', '  model m: {"inputOther":3,"output":7}'],
    ],
    ["the end", record("turn.ended"), ["turn.ended [end]"]],
    [
      "an end with an error",
      record("turn.ended", { error: { message: "bad" } }),
      ["turn.ended [end]", "  wounded spoke: bad"],
    ],
    ["a stop", record("turn.cancel"), ["turn.cancel [end]", "  wounded interrupted"]],
    [
      "another try",
      record("turn.step.retrying", { error: { message: "overloaded" } }),
      ["turn.step.retrying", "  system/retry: overloaded"],
    ],
    [
      "a compaction",
      record("context.apply_compaction", { summary: "so far", tokensBefore: 900, tokensAfter: 90 }),
      ["context.apply_compaction [compacted]", "  compacted from 900 tokens: so far"],
    ],
    ["a clearing", record("context.clear"), ["context.clear", "  system/clear: "]],
    ["a model", record("config.update", { modelAlias: "m" }), ['config.update {"model":"m"}']],
    ["tools", record("tools.set_active_tools"), ["tools.set_active_tools"]],
    [
      "an unknown kind",
      record("dream.begin"),
      [
        "dream.begin?",
        expect.stringMatching(/^ {2}raw \(unknown record kind dream\.begin\)/) as unknown as string,
      ],
    ],
  ])("%s", (_, value, lines) => {
    expect(said(value)).toEqual(lines);
  });

  test("turns that are taken back", () => {
    const { marks } = kimiClassifier.classify({
      type: "record",
      start: 0,
      end: 1,
      value: record("context.undo", { count: 2 }),
    });
    expect(marks).toEqual([{ type: "rolledBack", turns: 2 }]);
  });
});
