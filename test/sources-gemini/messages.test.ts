/** What each kind of message of a chat means. */
import { describe, expect, test } from "vitest";
import { readMessage } from "../../src/sources/gemini/message.ts";
import { entryLine } from "../support/entry-notation.ts";
import { call, info, model, tokens, user } from "./support.ts";

function said(value: unknown): string[] {
  const { kind, known, standing, isPrompt, entries } = readMessage(value);
  return [`${kind}${known ? "" : "?"} ${standing}${isPrompt ? " prompt" : ""}`, ...entries.map(entryLine)];
}
const usage = (output: number): string =>
  `{"input":1,"output":${output},"cached":0,"thoughts":0,"tool":0,"total":${1 + output}}`;
const at = { timestamp: "2026-06-01T00:00:00.000Z" };

describe("messages", () => {
  test.each<[string, unknown, string[]]>([
    ["a prompt in parts", user("a", "do it"), ["user open prompt", "user: do it"]],
    [
      "a prompt as a text",
      { ...at, id: "a", type: "user", content: "do it" },
      ["user open prompt", "user: do it"],
    ],
    [
      "a prompt as one part",
      { ...at, id: "a", type: "user", content: { text: "do it" } },
      ["user open prompt", "user: do it"],
    ],
    [
      "a prompt with files is shown as it was typed",
      {
        ...at,
        id: "a",
        type: "user",
        content: [{ text: "see @a" }, { text: "--- a ---\nlong" }],
        displayContent: [{ text: "see @a" }],
      },
      ["user open prompt", "user: see @a"],
    ],
    [
      "a prompt with an image and a file",
      {
        ...at,
        id: "a",
        type: "user",
        content: [
          { text: "see" },
          { inlineData: { mimeType: "image/png", data: "AAAA" } },
          { fileData: { mimeType: "application/pdf", fileUri: "gs://x/y.pdf" } },
        ],
      },
      ["user open prompt", "user: see [image/png 3] [application/pdf gs://x/y.pdf]"],
    ],
    [
      "ai-terminal-manager#27: context that the program put in is no prompt",
      {
        ...at,
        id: "a",
        type: "user",
        content: [{ text: "<session_context>\nToday is\n</session_context>" }],
      },
      ["user same", "system/context: <session_context>\nToday is\n</session_context>"],
    ],
    [
      "results given back by the program are results",
      {
        ...at,
        id: "a",
        type: "user",
        content: [{ functionResponse: { id: "t", name: "x", response: { output: "ok" } } }],
      },
      ["user open", "result t done: ok"],
    ],
    ["an answer", model("a", "Done."), ["gemini closed", `model g: "Done." ${usage(5)}`]],
    ["an answer that is still written", model("a", "Do", {}), ["gemini open", 'model g: "Do"']],
    [
      "an answer whose tokens are null as yet",
      model("a", "Do", { tokens: null }),
      ["gemini open", 'model g: "Do"'],
    ],
    [
      "thoughts",
      model("a", "", {
        thoughts: [{ subject: "Plan", description: "go", timestamp: "x" }, { description: "on" }, {}],
        ...tokens(5),
      }),
      ["gemini closed", `model g: think(**Plan**\n\ngo) think(on) ${usage(5)}`],
    ],
    [
      "calls with their results",
      model("a", "I look", {
        toolCalls: [call("t", "success", "fine\nExit Code: 0\n"), call("u", "error", "bad")],
        ...tokens(5),
      }),
      [
        "gemini open",
        `model g: "I look" call(run_shell_command t t → done 0) call(run_shell_command u u → failed) ${usage(5)}`,
        "result t done 0: fine\nExit Code: 0\n",
        "result u failed: bad",
      ],
    ],
    [
      "a call that runs",
      model("a", "", { toolCalls: [call("t", "executing")] }),
      ["gemini open", "model g: call(run_shell_command t t)"],
    ],
    [
      "a call that was cancelled ends the turn",
      model("a", "", { toolCalls: [call("t", "cancelled")], ...tokens(5) }),
      [
        "gemini closed",
        `model g: call(run_shell_command t t → interrupted) ${usage(5)}`,
        "result t interrupted: ",
      ],
    ],
    [
      "a shell that says its bad exit in its text",
      model("a", "", { toolCalls: [call("t", "success", "Output: x\nExit Code: 2\n")], ...tokens(5) }),
      [
        "gemini open",
        `model g: call(run_shell_command t t → failed 2) ${usage(5)}`,
        "result t failed 2: Output: x\nExit Code: 2\n",
      ],
    ],
    [
      "an error that the tool answers with",
      model("a", "", {
        toolCalls: [
          {
            id: "t",
            name: "read_file",
            args: { absolute_path: "/x" },
            status: "error",
            result: [{ functionResponse: { id: "t", response: { error: "no such file" } } }],
          },
        ],
      }),
      ["gemini open", "model g: call(read_file t /x → failed)", "result t failed: no such file"],
    ],
    [
      "a change of a file",
      model("a", "", {
        toolCalls: [
          {
            id: "t",
            name: "replace",
            args: { file_path: "a.ts", old_string: "x", new_string: "y" },
            status: "executing",
          },
          {
            id: "u",
            name: "write_file",
            args: { file_path: "b.ts", content: "n" },
            resultDisplay: { fileDiff: "@@", fileName: "b.ts" },
            status: "executing",
          },
        ],
      }),
      ["gemini open", "model g: call(replace t a.ts ±a.ts) call(write_file u b.ts ~b.ts)"],
    ],
    ["a notice", info("a", "Update available"), ["info same", "system/notice: Update available"]],
    [
      "a cancelled request ends the turn",
      info("a", "Request cancelled."),
      ["info closed", "system/notice: Request cancelled."],
    ],
    [
      "a warning",
      { ...at, id: "a", type: "warning", content: "slow" },
      ["warning same", "system/warning: slow"],
    ],
    [
      "an error ends the turn",
      { ...at, id: "a", type: "error", content: "quota" },
      ["error closed", "wounded spoke: quota"],
    ],
    [
      "an unknown kind",
      { id: "a", type: "dream" },
      ["dream? same", 'raw (unknown record kind dream): {"id":"a","type":"dream"}'],
    ],
    ["no kind", { id: "a" }, ["no type? same", 'raw (unknown record kind no type): {"id":"a"}']],
    ["no object", 3, ["no type? same", "raw (unknown record kind no type): 3"]],
  ])("%s", (_, value, lines) => {
    expect(said(value)).toEqual(lines);
  });
});
