/** What each kind of row of a Qwen Code chat means. */
import { describe, expect, test } from "vitest";
import { qwenClassifier } from "../../src/sources/qwen/classifier.ts";
import { saidLines } from "../support/entry-notation.ts";

function said(value: unknown): string[] {
  return saidLines(qwenClassifier.classify({ type: "record", start: 100, end: 101, value }));
}
const at = "2026-06-01T00:00:00.000Z";
const row = (type: string, parts: unknown, more: object = {}): object => ({
  uuid: "u1",
  parentUuid: "u0",
  sessionId: "s",
  timestamp: at,
  type,
  message: { role: type === "assistant" ? "model" : "user", parts },
  ...more,
});
const system = (subtype: string, systemPayload: unknown): object => ({
  uuid: "u1",
  parentUuid: "u0",
  sessionId: "s",
  timestamp: at,
  type: "system",
  subtype,
  systemPayload,
});
const text = (words: string): object => ({ text: words });
const answer = (id: string, response: object): object => ({ functionResponse: { id, name: "x", response } });

describe("messages", () => {
  test.each<[string, unknown, string[]]>([
    ["a prompt", row("user", [text("do"), text("it")]), ["user [start]", "  user: do\nit"]],
    [
      "the first row says where and when",
      row("user", [text("do")], { parentUuid: null, cwd: "/w", gitBranch: "b", version: "0.5" }),
      [
        'user [start] {"cwd":"/w","gitBranch":"b","agentVersion":"0.5","startedAt":1780272000000}',
        "  user: do",
      ],
    ],
    [
      "a prompt as it was shown, with an image",
      row("user", [text("<expanded>"), { inlineData: { mimeType: "image/png", data: "AAAA" } }], {
        systemPayload: { displayText: "see", hookContext: "" },
      }),
      ["user [start]", "  user: see [image/png 3]"],
    ],
    [
      "a prompt typed while the agent was at work",
      row("user", [text("wait")], { subtype: "mid_turn_user_message" }),
      ["user/mid_turn_user_message [start implied]", "  user: wait"],
    ],
    [
      "what a timer put in",
      row("user", [text("tick")], { subtype: "cron" }),
      ["user/cron [start automatic]", "  system/cron: tick"],
    ],
    [
      "what the pursuit of a goal put in",
      row("user", [text("go on")], { provenance: "goal_control" }),
      ["user [start automatic]", "  system/context: go on"],
    ],
    [
      "a call",
      row(
        "assistant",
        [
          { text: "hm", thought: true },
          text("I look"),
          text(""),
          { functionCall: { id: "c1", name: "run_shell_command", args: { command: "ls" } } },
          { functionCall: { id: "c2", name: "write_file", args: { file_path: "a", content: "x" } } },
          { song: 1 },
        ],
        { model: "m", usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 7, x: [] } },
      ),
      [
        'assistant [start automatic] {"model":"m"} message=7',
        '  model m: think(hm) "I look" call(run_shell_command c1 ls) call(write_file c2 a +a) other song({"song":1}) {"promptTokenCount":3,"candidatesTokenCount":7}',
      ],
    ],
    [
      "the last word",
      row("assistant", [text("Done.")]),
      ["assistant [start automatic] [end]", '  model: "Done."'],
    ],
    [
      "a result",
      row("tool_result", [answer("c1", { output: "Exit Code: 2\na" })], {
        toolCallResult: { callId: "c1", status: "success", resultDisplay: "a" },
      }),
      ["tool_result", "  result c1 done 2: Exit Code: 2\na"],
    ],
    [
      "a result that failed",
      row("tool_result", [answer("c1", { error: "bad" })]),
      ["tool_result", "  result c1 failed: bad"],
    ],
    [
      "a call that was cancelled, told beside the message alone",
      row("tool_result", [], {
        toolCallResult: { callId: "c1", status: "cancelled", resultDisplay: "stopped" },
      }),
      ["tool_result", "  result c1 interrupted: stopped"],
    ],
    [
      "two results in one row",
      row("tool_result", [answer("c1", { output: "a" }), answer("c2", { output: "", lines: 3 })]),
      ["tool_result", "  result c1 done: a", "  result c2 done: "],
    ],
    [
      "an unknown kind",
      row("dream", []),
      ["dream?", expect.stringMatching(/^ {2}raw \(unknown record kind dream\)/) as unknown as string],
    ],
    ["no kind at all", { a: 1 }, ["no type?", '  raw (a record without a type): {"a":1}']],
  ])("%s", (_, value, lines) => {
    expect(said(value)).toEqual(lines);
  });

  test("a change of a file is told with its patch", () => {
    const value = row("tool_result", [answer("c1", { output: "ok" })], {
      toolCallResult: {
        callId: "c1",
        status: "success",
        resultDisplay: { fileName: "a.ts", fileDiff: "@@" },
      },
    });
    const { entries } = qwenClassifier.classify({ type: "record", start: 0, end: 1, value });
    expect(entries[0]).toMatchObject({ changes: [{ path: "a.ts", patch: "@@" }] });
  });
});

describe("rows of the system", () => {
  test.each<[string, unknown, string[]]>([
    [
      "a compression",
      system("chat_compression", {
        info: { originalTokenCount: 900, newTokenCount: 90 },
        compressedHistory: [{ role: "user", parts: [text("so far")] }],
      }),
      ["system/chat_compression [compacted]", "  compacted from 900 tokens: so far"],
    ],
    [
      "a title",
      system("custom_title", { customTitle: "T" }),
      ['system/custom_title {"title":"T","titled":true}'],
    ],
    [
      "the session that began this one",
      system("parent_session", { parentSessionId: "p" }),
      ['system/parent_session {"parentId":"p"}'],
    ],
    ["a model", system("session_model", { modelId: "m" }), ['system/session_model {"model":"m"}']],
    [
      "a command",
      system("slash_command", { phase: "invocation", rawCommand: "/about" }),
      ["system/slash_command", "  system/command: /about"],
    ],
    [
      "what a command showed",
      system("slash_command", {
        phase: "result",
        rawCommand: "/about",
        outputHistoryItems: [{ type: "info", text: "hi" }],
      }),
      ["system/slash_command", "  system/command: /about\nhi"],
    ],
    [
      "files read",
      system("at_command", { filesRead: ["a", "b"] }),
      ["system/at_command", "  system/files: a\nb"],
    ],
    [
      "a notification",
      system("notification", { displayText: "done" }),
      ["system/notification", "  system/notification: done"],
    ],
    [
      "a rewind",
      system("rewind", { truncatedCount: 2 }),
      ["system/rewind", '  system/rewind: {"truncatedCount":2}'],
    ],
    [
      "a turn that failed",
      system("turn_result", { error: { message: "bad" } }),
      ["system/turn_result [end]", "  wounded spoke: bad"],
    ],
    ["a turn that ended", system("turn_result", {}), ["system/turn_result [end]"]],
    ["telemetry", system("ui_telemetry", { uiEvent: {} }), ["system/ui_telemetry"]],
    [
      "an unknown subtype",
      system("dream", {}),
      [
        "system/dream?",
        expect.stringMatching(/^ {2}raw \(unknown record kind system\/dream\)/) as unknown as string,
      ],
    ],
  ])("%s", (_, value, lines) => {
    expect(said(value)).toEqual(lines);
  });
});
