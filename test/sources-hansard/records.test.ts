/** What each kind of record of our own log means. */
import { expect, test } from "vitest";
import { conversationKinds, lifecycleKinds } from "../../src/log/records.ts";
import { hansardClassifier } from "../../src/sources/hansard/classifier.ts";
import { saidLines } from "../support/entry-notation.ts";

const stamp = { v: 1, seq: 2, ts: 1_790_000_000_000 };
const envelope = { turnId: "t2", parentTurnId: "t1", timestamp: "2026-09-21T14:13:20.000Z" };
const message = (role: string, payload: unknown): object => ({
  ...stamp,
  kind: "message",
  ...envelope,
  role,
  payload,
});

function said(value: unknown): string[] {
  return saidLines(hansardClassifier.classify({ type: "record", start: 100, end: 101, value }));
}

const table: readonly (readonly [string, object, readonly string[]])[] = [
  [
    "the session",
    {
      ...stamp,
      kind: "session",
      id: "s",
      cwd: "/w",
      agent: "codex",
      agentVersion: "1.2",
      link: "fork",
      parentSession: "/x/p/log.jsonl",
      parentSessionId: "p",
    },
    ['session {"startedAt":1790000000000,"cwd":"/w","agentVersion":"1.2","forkedFromId":"p"}'],
  ],
  ["a turn's start", { ...stamp, kind: "turnStarted", turn: 1 }, ["turnStarted [start]"]],
  ["a turn's end", { ...stamp, kind: "turnCommitted", turn: 1, data: { ms: 3 } }, ["turnCommitted [end]"]],
  [
    "a turn that a crash ended",
    { ...stamp, kind: "turnInterrupted", turn: 1, reason: "crash" },
    [
      "turnInterrupted [end]",
      "  wounded interrupted: Hansard ended in the middle of the turn; a tool that ran may have partly run",
    ],
  ],
  [
    "a turn that the driver ended, in its own word",
    { ...stamp, kind: "turnInterrupted", turn: 1, reason: "cancel" },
    ["turnInterrupted [end]", "  wounded interrupted: cancel"],
  ],
  [
    "a title",
    { ...stamp, kind: "set", key: "title", value: "Fix it" },
    ['set {"title":"Fix it","titled":true}'],
  ],
  ["a setting of no concern", { ...stamp, kind: "set", key: "mode", value: { a: 1 } }, ["set {}"]],
  [
    "a snapshot",
    { ...stamp, kind: "snapshot", offset: 9, turns: 1, cycle: 0, settings: { model: "m" } },
    ['snapshot {"model":"m"}'],
  ],
  ["the end", { ...stamp, kind: "closed" }, ["closed"]],
  [
    "what the disk refused",
    { ...stamp, kind: "missed", reason: "held-limit", records: 3 },
    [
      "missed",
      "  system/missed: 3 records could not be written and are missing here: the disk refused for too long",
    ],
  ],
  [
    "what a repair left out",
    { ...stamp, kind: "missed", reason: "damage", bytes: 40, start: 7 },
    ["missed", "  system/missed: 40 bytes are missing here: they were damaged"],
  ],
  ["a prompt", message("user", { text: "hello" }), ["message/user", "  user: hello"]],
  ["a prompt that is a mere text", message("user", "hello"), ["message/user", "  user: hello"]],
  [
    "another sender, with a picture",
    message("user", { text: "look", sender: "helper", attachments: [{ mediaType: "image/png", bytes: 9 }] }),
    ["message/user", "  helper: look [image/png 9]"],
  ],
  [
    "what the model said",
    message("assistant", {
      content: [
        { type: "thinking", text: "hm" },
        { type: "text", text: "hi" },
        { type: "chart", rows: 2 },
      ],
      model: "m",
      messageId: "x",
      stopReason: "stop",
      usage: { input: 3, output: 7, cost: 0.5 },
    }),
    [
      'message/assistant {"model":"m"} message=7',
      '  model m: think(hm) "hi" other chart({"rows":2,"type":"chart"}) {"input":3,"output":7}',
    ],
  ],
  [
    "a model that was stopped",
    message("assistant", { content: [{ type: "text", text: "half" }], stopReason: "aborted" }),
    ["message/assistant", '  model: "half"', "  wounded interrupted"],
  ],
  [
    "a model that failed",
    message("assistant", { content: [], stopReason: "error", errorMessage: "overloaded" }),
    ["message/assistant", "  wounded spoke: overloaded"],
  ],
  [
    "a call",
    message("tool_call", {
      toolCallId: "c",
      toolName: "edit",
      input: { path: "a.ts" },
      changes: [{ path: "a.ts", oldText: "1", newText: "2" }],
    }),
    ["message/tool_call", "  model: call(edit c a.ts ±a.ts)"],
  ],
  [
    "a result",
    message("tool_result", { toolCallId: "c", text: "ok\n", exitCode: 0, durationMs: 12 }),
    ["message/tool_result", "  result c done 0 12ms: ok\n"],
  ],
  [
    "a call that was not allowed",
    message("tool_result", { toolCallId: "c", text: "no", state: "denied" }),
    ["message/tool_result", "  result c denied: no"],
  ],
  [
    "a note of the program",
    message("system", { topic: "context", text: "be kind" }),
    ["message/system", "  system/context: be kind"],
  ],
  ["a checkpoint", message("checkpoint", { text: "cp" }), ["message/checkpoint", "  system/checkpoint: cp"]],
  [
    "a payload of a shape that is not known",
    message("user", { words: ["a"] }),
    ["message/user", '  user: {"words":["a"]}'],
  ],
  [
    "a compaction",
    {
      ...stamp,
      kind: "compactionSummary",
      ...envelope,
      summary: "so far",
      tokensBefore: 900,
      firstKeptTurnId: "",
      trigger: "auto",
    },
    ["compactionSummary [compacted]", "  compacted from 900 tokens by auto: so far"],
  ],
  [
    "an eviction",
    {
      ...stamp,
      kind: "contextEviction",
      ...envelope,
      policyId: "p",
      trigger: "t",
      evicted: [{}, {}],
      tokensBefore: 9,
      tokensAfter: 3,
      pressureBefore: null,
      snapshotIdBefore: null,
    },
    ["contextEviction", "  system/eviction: 2 items left the context (9 to 3 tokens)"],
  ],
  [
    "what an embedder shows",
    { ...stamp, kind: "custom", ...envelope, customType: "todo", data: { text: "one" }, display: true },
    ["custom", "  system/todo: one"],
  ],
  [
    "what an embedder keeps to itself",
    { ...stamp, kind: "custom", ...envelope, customType: "todo", data: { text: "one" } },
    ["custom"],
  ],
  ["a label", { ...stamp, kind: "label", ...envelope, targetTurnId: "t1", label: "here" }, ["label"]],
  [
    "a step of a handoff",
    {
      ...stamp,
      kind: "handoffTransaction",
      ...envelope,
      schemaVersion: 1,
      identity: {},
      transition: {},
      event: { phase: "reducing" },
    },
    ["handoffTransaction"],
  ],
  [
    "a handoff's note, which is no prompt of the person",
    {
      ...stamp,
      kind: "handoffTransaction",
      ...envelope,
      schemaVersion: 1,
      identity: {},
      transition: {},
      event: { phase: "prepared", accepted: { note: "step 4 is next" }, policy: {} },
    },
    ["handoffTransaction", "  system/handoff note: step 4 is next"],
  ],
  [
    "a handoff that stopped",
    {
      ...stamp,
      kind: "handoffTransaction",
      ...envelope,
      schemaVersion: 1,
      identity: {},
      transition: {},
      event: { phase: "failed", reason: "provider_failed" },
    },
    ["handoffTransaction", "  system/handoff: failed: provider failed"],
  ],
  [
    "a handoff's commit",
    { ...stamp, kind: "continuityCommit", ...envelope, continuity: {} },
    ["continuityCommit"],
  ],
];

test.each(table)("%s", (_, value, expected) => {
  expect(said(value)).toEqual(expected);
});

test("every kind that the log writes has a row", () => {
  const kinds = new Set(table.map(([, value]) => (value as { readonly kind: string }).kind));
  expect([...kinds].sort()).toEqual([...conversationKinds, ...lifecycleKinds].sort());
});

test.each([
  [{ ...stamp, kind: "later", x: 1 }, "later?", "unknown record kind later"],
  [{ ...stamp, v: 2, kind: "message" }, "message/v2?", "a message record of a newer version"],
  [[1], "?", "no record of a session log"],
  [null, "?", "no record of a session log"],
])("%j is shown raw", (value, kind, reason) => {
  const [head, entry] = said(value);
  expect(head).toBe(kind);
  expect(entry).toContain(`raw (${reason})`);
});

test("a message's seat in the conversation is its id and its parent's", () => {
  const seat = (role: string): unknown =>
    hansardClassifier.classify({ type: "record", start: 0, end: 1, value: message(role, "x") }).node;
  expect(seat("user")).toEqual({ id: "t2", parentId: "t1", heads: true });
  expect(seat("tool_result")).toEqual({ id: "t2", parentId: "t1", heads: false });
});
