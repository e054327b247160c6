/** What each kind of row of a Factory Droid session means. */
import { describe, expect, test } from "vitest";
import { droidClassifier } from "../../src/sources/droid/classifier.ts";
import { saidLines } from "../support/entry-notation.ts";

function said(value: unknown): string[] {
  return saidLines(droidClassifier.classify({ type: "record", start: 100, end: 101, value }));
}
const row = (role: string, content: unknown, more: object = {}): object => ({
  type: "message",
  id: "m1",
  timestamp: "2026-06-01T00:00:00.000Z",
  message: { role, content, ...more },
});
const text = (words: string): object => ({ type: "text", text: words });

test.each<[string, unknown, string[]]>([
  [
    "a start",
    { type: "session_start", id: "s", title: "do it now", sessionTitle: "It", version: 2, cwd: "/w" },
    ['session_start {"title":"It","titled":true,"cwd":"/w"}'],
  ],
  [
    "a start of an older version, whose title is the prompt",
    { type: "session_start", id: "s", title: "do it", version: "2", cwd: "/w" },
    ['session_start {"title":"do it","cwd":"/w"}'],
  ],
  ["settings", { type: "session_settings", id: "x", model: "m" }, ['session_settings {"model":"m"}']],
  ["how a turn ended", { type: "agent_turn_outcome", id: "x" }, ["agent_turn_outcome [end]"]],
  ["a list of things to do", { type: "todo_state", id: "x", todos: [] }, ["todo_state"]],
  [
    "a compaction",
    { type: "compaction_state", id: "x", summaryText: "so far", summaryTokens: 9 },
    ["compaction_state [compacted]", "  compacted: so far"],
  ],
  [
    "an unknown kind",
    { type: "dream", a: 1 },
    ["dream?", '  raw (unknown record kind dream): {"a":1,"type":"dream"}'],
  ],
  ["no kind at all", { a: 1 }, ["no type?", '  raw (a record without a type): {"a":1}']],
  ["no object", 7, ["no type?", "  raw (a record without a type): 7"]],
  [
    "a message of an unknown role",
    row("oracle", "x"),
    [
      "message/oracle?",
      expect.stringMatching(/^ {2}raw \(unknown record kind message\/oracle\)/) as unknown as string,
    ],
  ],
])("%s", (_, value, lines) => {
  expect(said(value)).toEqual(lines);
});

describe("messages", () => {
  test.each<[string, unknown, string[]]>([
    [
      "a prompt behind what the program put in",
      row("user", [text("<system-reminder>be good</system-reminder>"), text("do it")]),
      [
        "message/user [start]",
        "  system/context: <system-reminder>be good</system-reminder>",
        "  user: do it",
      ],
    ],
    ["a prompt as a text", row("user", "do it"), ["message/user [start]", "  user: do it"]],
    [
      "a prompt with an image",
      row("user", [
        text("see"),
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
      ]),
      ["message/user [start]", "  user: see [image/png 3]"],
    ],
    [
      "what only the person sees",
      row("user", [text("limit reached")], { visibility: "user_only" }),
      ["message/user", "  system/notice: limit reached"],
    ],
    [
      "what only the model sees",
      row("user", [text("hm")], { visibility: "llm_only" }),
      ["message/user", "  system/context: hm"],
    ],
    [
      "results",
      row("user", [
        { type: "tool_result", tool_use_id: "c1", content: "a\nb" },
        { type: "tool_result", tool_use_id: "c2", content: [text("bad")], is_error: true },
      ]),
      ["message/user", "  result c1 done: a\nb", "  result c2 failed: bad"],
    ],
    [
      "a call",
      row("assistant", [
        { type: "thinking", thinking: "hm", signature: "s" },
        text("I look"),
        { type: "tool_use", id: "c1", name: "Execute", input: { command: "ls" } },
        {
          type: "tool_use",
          id: "c2",
          name: "Edit",
          input: { file_path: "a", old_string: "x", new_string: "y" },
        },
        { type: "tool_use", id: "c3", name: "Create", input: { file_path: "b", content: "y" } },
      ]),
      [
        "message/assistant [start automatic]",
        '  model: think(hm) "I look" call(Execute c1 ls) call(Edit c2 a ±a) call(Create c3 b +b)',
      ],
    ],
    [
      "the last word, with its counts",
      row("assistant", [text("Done.")], { model: "m", usage: { output_tokens: 7 } }),
      [
        'message/assistant [start automatic] [end] {"model":"m"} message=7',
        '  model m: "Done." {"output_tokens":7}',
      ],
    ],
    [
      "thinking that is kept sealed says nothing, an unknown block is shown",
      row("assistant", [
        { type: "redacted_thinking", data: "x" },
        { type: "song", a: 1 },
      ]),
      ["message/assistant [start automatic] [end]", '  model: other song({"a":1,"type":"song"})'],
    ],
  ])("%s", (_, value, lines) => {
    expect(said(value)).toEqual(lines);
  });
});
