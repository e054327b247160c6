/** What each kind of event of a Copilot CLI session means. */
import { describe, expect, test } from "vitest";
import { copilotClassifier } from "../../src/sources/copilot/classifier.ts";
import { saidLines } from "../support/entry-notation.ts";

const at = "2026-06-01T00:00:00.000Z";
function said(type: string, data: object, more: object = {}): string[] {
  const value = { type, data, id: "e1", timestamp: at, parentId: "e0", ...more };
  return saidLines(copilotClassifier.classify({ type: "record", start: 100, end: 101, value }));
}
const context = { cwd: "/w", gitRoot: "/w", branch: "main" };

describe("events of the session", () => {
  test.each<[string, string, object, string[]]>([
    [
      "the start",
      "session.start",
      { sessionId: "s", copilotVersion: "1.0.12", startTime: at, selectedModel: "m", context },
      [
        'session.start {"startedAt":1780272000000,"agentVersion":"1.0.12","model":"m","cwd":"/w","gitBranch":"main"}',
      ],
    ],
    [
      "a session taken up again: what was at work is over",
      "session.resume",
      { sessionId: "s", context },
      ['session.resume [end] {"cwd":"/w","gitBranch":"main"}'],
    ],
    ["the end", "session.shutdown", { currentModel: "m" }, ['session.shutdown [end] {"model":"m"}']],
    [
      "a change of model",
      "session.model_change",
      { newModel: "m2" },
      ['session.model_change {"model":"m2"}'],
    ],
    [
      "a title",
      "session.title_changed",
      { title: "T" },
      ['session.title_changed {"title":"T","titled":true}'],
    ],
    ["another folder", "session.context_changed", { cwd: "/x" }, ['session.context_changed {"cwd":"/x"}']],
    ["a notice", "session.info", { infoType: "mcp", message: "up" }, ["session.info", "  system/notice: up"]],
    ["a warning", "session.warning", { message: "so" }, ["session.warning", "  system/warning: so"]],
    ["an error", "session.error", { message: "bad" }, ["session.error [end]", "  wounded spoke: bad"]],
    [
      "a refusal",
      "session.error",
      { errorType: "authentication", message: "no" },
      ["session.error [end]", "  wounded refused: no"],
    ],
    ["an error without a word", "session.error", {}, ["session.error [end]", "  wounded mute"]],
    ["an interruption", "abort", { reason: "user" }, ["abort [end]", "  wounded interrupted: user"]],
    [
      "a compaction",
      "session.compaction_complete",
      { success: true, summaryContent: "so far", preCompactionTokens: 900, postCompactionTokens: 90 },
      ["session.compaction_complete [compacted]", "  compacted from 900 tokens: so far"],
    ],
    [
      "a compaction that failed",
      "session.compaction_complete",
      { success: false, error: "bad" },
      ["session.compaction_complete", "  system/warning: bad"],
    ],
    [
      "a rewind",
      "session.snapshot_rewind",
      { upToEventId: "x", eventsRemoved: 3 },
      ["session.snapshot_rewind", '  system/rewind: {"eventsRemoved":3,"upToEventId":"x"}'],
    ],
    [
      "the system's prompt",
      "system.message",
      { content: "you are" },
      ["system.message", "  system/context: you are"],
    ],
    [
      "a notification",
      "system.notification",
      { content: "up" },
      ["system.notification", "  system/notification: up"],
    ],
    ["a skill", "skill.invoked", { name: "n", content: "do so" }, ["skill.invoked", "  system/skill: do so"]],
    ["a hook", "hook.start", { hookType: "preToolUse" }, ["hook.start"]],
    ["a permission", "permission.requested", { requestId: "r" }, ["permission.requested"]],
    [
      "a step of the turn",
      "assistant.turn_start",
      { turnId: "0" },
      ["assistant.turn_start [start automatic]"],
    ],
    ["its end, which is not the turn's", "assistant.turn_end", { turnId: "0" }, ["assistant.turn_end"]],
    [
      "an unknown event",
      "session.dream",
      { a: 1 },
      [
        "session.dream?",
        expect.stringMatching(/^ {2}raw \(unknown record kind session\.dream\): /) as unknown as string,
      ],
    ],
  ])("%s", (_, type, data, lines) => {
    expect(said(type, data)).toEqual(lines);
  });

  test.each([7, null, [], {}, { type: 1 }])("no event: %j", (value) => {
    const told = copilotClassifier.classify({ type: "record", start: 0, end: 1, value });
    expect([told.kind, told.known, told.entries.length]).toEqual(["no type", false, 1]);
  });
});

describe("the conversation", () => {
  test.each<[string, string, object, string[]]>([
    [
      "a prompt",
      "user.message",
      { content: "do", transformedContent: "<x>do" },
      ["user.message [start]", "  user: do"],
    ],
    [
      "a prompt with files",
      "user.message",
      { content: "see", attachments: [{ type: "file", path: "/w/a.ts", displayName: "a.ts" }] },
      ["user.message [start]", "  user: see [file a.ts]"],
    ],
    [
      "a prompt into the turn that is open",
      "user.message",
      { content: "wait", delivery: "steering" },
      ["user.message [start implied]", "  user: wait"],
    ],
    [
      "what a skill put in",
      "user.message",
      { content: "do so", source: "skill-x" },
      ["user.message [start automatic]", "  system/skill-x: do so"],
    ],
    [
      "a call",
      "assistant.message",
      {
        messageId: "m1",
        content: "I look",
        reasoningText: "hm",
        outputTokens: 7,
        toolRequests: [
          { toolCallId: "c1", name: "bash", arguments: { command: "ls" } },
          { toolCallId: "c2", name: "create", arguments: { path: "a.md", file_text: "x" } },
          { toolCallId: "c3", name: "edit", arguments: '{"path":"b.md","old_str":"x","new_str":"y"}' },
        ],
      },
      [
        "assistant.message [start automatic] message=7",
        '  model: think(hm) "I look" call(bash c1 ls) call(create c2 a.md +a.md) call(edit c3 b.md ±b.md) {"outputTokens":7}',
      ],
    ],
    [
      "the last word",
      "assistant.message",
      { messageId: "m1", content: "Done.", toolRequests: [], model: "m" },
      ['assistant.message [start automatic] [end] {"model":"m"}', '  model m: "Done."'],
    ],
    [
      "a piece of a long message that more follow",
      "assistant.message",
      { messageId: "m1", content: "Do", chunkIndex: 0, chunkCount: 2 },
      ["assistant.message [start automatic]", '  model: "Do"'],
    ],
    ["a thought", "assistant.reasoning", { content: "hm" }, ["assistant.reasoning", "  model: think(hm)"]],
    [
      "a result",
      "tool.execution_complete",
      { toolCallId: "c1", success: true, model: "m", result: { content: "a\nb", detailedContent: "a" } },
      ['tool.execution_complete {"model":"m"}', "  result c1 done: a\nb"],
    ],
    [
      "a bad exit",
      "tool.execution_complete",
      { toolCallId: "c1", success: true, result: { content: "no\n<exited with exit code 2>" } },
      ["tool.execution_complete", "  result c1 failed 2: no\n<exited with exit code 2>"],
    ],
    [
      "a tool that failed",
      "tool.execution_complete",
      { toolCallId: "c1", success: false, error: { message: "bad", code: "failure" } },
      ["tool.execution_complete", "  result c1 failed: bad"],
    ],
    [
      "a tool that was not allowed",
      "tool.execution_complete",
      { toolCallId: "c1", success: false, error: { message: "not allowed", code: "denied" } },
      ["tool.execution_complete", "  result c1 denied: not allowed"],
    ],
    [
      "a result in pieces",
      "tool.execution_complete",
      { toolCallId: "c1", success: true, result: { contents: [{ type: "text", text: "a" }, { type: "b" }] } },
      ["tool.execution_complete", '  result c1 done: a\n{"type":"b"}'],
    ],
  ])("%s", (_, type, data, lines) => {
    expect(said(type, data)).toEqual(lines);
  });

  test("a change of a file is told with its patch", () => {
    const patch = "\ndiff --git a/w/a.md b/w/a.md\n--- a/dev/null\n+++ b/w/a.md\n@@ -1,0 +1,1 @@\n+x\n";
    const value = {
      type: "tool.execution_complete",
      data: { toolCallId: "c", success: true, result: { content: "ok", detailedContent: patch } },
    };
    const { entries } = copilotClassifier.classify({ type: "record", start: 0, end: 1, value });
    expect(entries[0]).toMatchObject({ changes: [{ path: "w/a.md", patch: patch.slice(1) }] });
  });

  test("a subagent's events are its own and have no say in the turns", () => {
    const value = {
      type: "assistant.message",
      agentId: "a1",
      data: { messageId: "m", content: "Done.", toolRequests: [] },
    };
    const told = copilotClassifier.classify({ type: "record", start: 0, end: 1, value });
    expect(told.marks).toBeUndefined();
    expect(told.entries[0]).toMatchObject({ subagent: "a1" });
  });
});
