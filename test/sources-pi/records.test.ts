/** What each kind of record of a pi session means. */
import { describe, expect, test } from "vitest";
import { idOfPath, piClassifier } from "../../src/sources/pi/classifier.ts";
import { saidLines } from "../support/entry-notation.ts";

function said(value: unknown): string[] {
  return saidLines(piClassifier.classify({ type: "record", start: 100, end: 101, value }));
}
const message = (role: string, more: object): unknown => ({
  type: "message",
  id: "m1",
  parentId: "m0",
  message: { role, ...more },
});
const text = (words: string): object => ({ type: "text", text: words });
const usage = { input: 3, output: 7, cacheRead: 0, cacheWrite: 0, totalTokens: 10, cost: { total: 0.5 } };
const counters = '{"input":3,"output":7,"cacheRead":0,"cacheWrite":0,"totalTokens":10}';

describe("records", () => {
  test.each<[string, unknown, string[]]>([
    [
      "a header",
      {
        type: "session",
        version: 3,
        id: "s",
        timestamp: "2026-06-01T00:00:00.000Z",
        cwd: "/w",
        parentSession: "/x/2026_p1.jsonl",
      },
      ['session {"startedAt":1780272000000,"cwd":"/w","forkedFromId":"p1"}'],
    ],
    [
      "a header of version 1, with its model",
      {
        type: "session",
        id: "s",
        timestamp: "2025-06-01T00:00:00.000Z",
        cwd: "/w",
        modelId: "m",
        branchedFrom: "/x/2025_p0.jsonl",
      },
      ['session {"startedAt":1748736000000,"cwd":"/w","model":"m","forkedFromId":"p0"}'],
    ],
    [
      "the session's name",
      { type: "session_info", id: "a", parentId: null, name: "Fix it" },
      ['session_info {"title":"Fix it","titled":true}'],
    ],
    [
      "a title before the header",
      { type: "title", title: "Fix it" },
      ['title {"title":"Fix it","titled":true}'],
    ],
    ["a change of model", { type: "model_change", id: "a", modelId: "m2" }, ['model_change {"model":"m2"}']],
    [
      "a change of thinking",
      { type: "thinking_level_change", id: "a", thinkingLevel: "high" },
      ["thinking_level_change"],
    ],
    ["a label", { type: "label", id: "a", targetId: "b", label: "x" }, ["label"]],
    ["an extension's own state", { type: "custom", customType: "x", data: { a: 1 } }, ["custom"]],
    [
      "an extension's message",
      { type: "custom_message", customType: "todo", content: [text("a"), text("b")], display: true },
      ["custom_message", "  system/todo: a\nb"],
    ],
    [
      "a summary of a branch",
      { type: "branch_summary", id: "a", fromId: "b", summary: "tried x" },
      ["branch_summary", "  system/branch: tried x"],
    ],
    [
      "a compaction",
      {
        type: "compaction",
        id: "a",
        summary: "so far",
        firstKeptEntryId: "b",
        tokensBefore: 900,
        fromHook: true,
      },
      ["compaction [compacted]", "  compacted from 900 tokens by hook: so far"],
    ],
    [
      "a compaction of version 1",
      { type: "compaction", summary: "so far", firstKeptEntryIndex: 4, tokensBefore: 9 },
      ["compaction [compacted]", "  compacted from 9 tokens: so far"],
    ],
    [
      "an unknown kind",
      { type: "dream", a: 1 },
      ["dream?", '  raw (unknown record kind dream): {"a":1,"type":"dream"}'],
    ],
    ["no kind at all", { a: 1 }, ["no type?", '  raw (a record without a type): {"a":1}']],
    ["no object", 7, ["no type?", "  raw (a record without a type): 7"]],
  ])("%s", (_, value, lines) => {
    expect(said(value)).toEqual(lines);
  });
});

describe("messages", () => {
  test.each<[string, unknown, string[]]>([
    [
      "a prompt",
      message("user", { content: [text("do"), text("it")] }),
      ["message/user [start]", "  user: do\nit"],
    ],
    [
      "a prompt as a text, with an image",
      message("user", { content: "do it" }),
      ["message/user [start]", "  user: do it"],
    ],
    [
      "a prompt with an image",
      message("user", { content: [text("see"), { type: "image", mimeType: "image/png", data: "AAAA" }] }),
      ["message/user [start]", "  user: see [image/png 3]"],
    ],
    [
      "a call, with thinking before it",
      message("assistant", {
        model: "m",
        usage,
        stopReason: "toolUse",
        content: [
          { type: "thinking", thinking: "hm", thinkingSignature: "s" },
          text("I look"),
          { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls" } },
        ],
      }),
      [
        'message/assistant [start automatic] {"model":"m"} message=7',
        `  model m: think(hm) "I look" call(bash c1 ls) ${counters}`,
      ],
    ],
    [
      "a last answer",
      message("assistant", { model: "m", usage, stopReason: "stop", content: [text("Done.")] }),
      ['message/assistant [start automatic] [end] {"model":"m"} message=7', `  model m: "Done." ${counters}`],
    ],
    [
      "thinking that is only signed says nothing",
      message("assistant", {
        stopReason: "stop",
        content: [{ type: "thinking", thinking: "", thinkingSignature: "s" }],
      }),
      ["message/assistant [start automatic] [end]", "  model:"],
    ],
    [
      "changes of files",
      message("assistant", {
        stopReason: "toolUse",
        content: [
          {
            type: "toolCall",
            id: "c1",
            name: "edit",
            arguments: { path: "a.ts", oldText: "x", newText: "y" },
          },
          { type: "toolCall", id: "c2", name: "write", arguments: { path: "b.ts", content: "new" } },
          {
            type: "toolCall",
            id: "c3",
            name: "edit",
            arguments: { path: "c.ts", edits: [{ oldText: "1", newText: "2" }, { oldText: "3" }] },
          },
        ],
      }),
      [
        "message/assistant [start automatic]",
        "  model: call(edit c1 a.ts ±a.ts) call(write c2 b.ts +b.ts) call(edit c3 c.ts ±c.ts)",
      ],
    ],
    [
      "an answer that was stopped",
      message("assistant", {
        stopReason: "aborted",
        errorMessage: "Request was aborted",
        content: [text("I w")],
      }),
      [
        "message/assistant [start automatic] [end]",
        '  model: "I w"',
        "  wounded interrupted: Request was aborted",
      ],
    ],
    [
      "an answer stopped before its first word",
      message("assistant", { stopReason: "aborted", content: [] }),
      ["message/assistant [start automatic] [end]", "  wounded interrupted"],
    ],
    [
      "an answer at the output limit",
      message("assistant", { stopReason: "length", content: [text("I w")] }),
      ["message/assistant [start automatic] [end]", '  model: "I w"', "  wounded output-limit"],
    ],
    [
      "an error",
      message("assistant", { stopReason: "error", errorMessage: "overloaded", content: [] }),
      ["message/assistant [start automatic] [end]", "  wounded spoke: overloaded"],
    ],
    [
      "a refusal",
      message("assistant", { stopReason: "error", errorMessage: "401 Unauthorized", content: [] }),
      ["message/assistant [start automatic] [end]", "  wounded refused: 401 Unauthorized"],
    ],
    [
      "an error without a word",
      message("assistant", { stopReason: "error", content: [] }),
      ["message/assistant [start automatic] [end]", "  wounded mute"],
    ],
    [
      "a block of an unknown kind",
      message("assistant", { stopReason: "stop", content: [{ type: "song", a: 1 }] }),
      ["message/assistant [start automatic] [end]", '  model: other song({"a":1,"type":"song"})'],
    ],
    [
      "a result",
      message("toolResult", {
        toolCallId: "c1",
        toolName: "bash",
        content: [text("a\nb\n")],
        isError: false,
      }),
      ["message/toolResult", "  result c1 done: a\nb\n"],
    ],
    [
      "a bad exit",
      message("toolResult", {
        toolCallId: "c1",
        content: [text("no\n\nCommand exited with code 2")],
        isError: true,
      }),
      ["message/toolResult", "  result c1 failed 2: no\n\nCommand exited with code 2"],
    ],
    [
      "a tool that was stopped",
      message("toolResult", { toolCallId: "c1", content: [text("x\n\nCommand aborted")], isError: true }),
      ["message/toolResult", "  result c1 interrupted: x\n\nCommand aborted"],
    ],
    [
      "a command of the person",
      message("bashExecution", {
        command: "ls",
        output: "a\n",
        exitCode: 1,
        cancelled: false,
        truncated: true,
      }),
      ["message/bashExecution", "  system/command: $ ls\na\n(exit 1)\n(output cut by the agent)"],
    ],
    [
      "a message of a hook, before version 3",
      message("hookMessage", { customType: "lint", content: "ok" }),
      ["message/hookMessage", "  system/lint: ok"],
    ],
    [
      "the same in version 3",
      message("custom", { customType: "lint", content: "ok" }),
      ["message/custom", "  system/lint: ok"],
    ],
    [
      "a summary of a branch",
      message("branchSummary", { summary: "tried" }),
      ["message/branchSummary", "  system/branch: tried"],
    ],
    [
      "a summary of a compaction",
      message("compactionSummary", { summary: "so far", tokensBefore: 5 }),
      ["message/compactionSummary [compacted]", "  compacted from 5 tokens: so far"],
    ],
    [
      "an unknown role",
      message("oracle", { content: "x" }),
      [
        "message/oracle?",
        expect.stringMatching(/^ {2}raw \(unknown record kind message\/oracle\)/) as unknown as string,
      ],
    ],
  ])("%s", (_, value, lines) => {
    expect(said(value)).toEqual(lines);
  });
});

test("the id of a session is in its file's name", () => {
  expect(idOfPath("/x/2026-06-01T00-00-00-000Z_1e9e2ae1-f9fb.jsonl")).toBe("1e9e2ae1-f9fb");
  expect(idOfPath("C:\\x\\2026_abc.jsonl")).toBe("abc");
  expect(idOfPath("plain.jsonl")).toBe("plain");
  expect(idOfPath("odd_.jsonl")).toBe("odd_");
});
