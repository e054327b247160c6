/** What a message of OpenCode means, and exports of sessions. */
import { expect, test } from "vitest";
import { openCodeFormat } from "../../src/sources/opencode/format.ts";
import { classifyMessage } from "../../src/sources/opencode/message.ts";
import { expectDocumentLaws, told } from "../support/document-agents.ts";
import { saidLines } from "../support/entry-notation.ts";
import { fixture } from "../support/fixtures.ts";

const text = (words: string, more: object = {}): object => ({ type: "text", text: words, ...more });
const user = (id: string, ...parts: object[]): object => ({ info: { role: "user", id }, parts });
const model = (id: string, more: object, ...parts: object[]): object => ({
  info: { role: "assistant", id, ...more },
  parts,
});
const tool = (id: string, state: object, name = "bash"): object => ({
  type: "tool",
  callID: id,
  tool: name,
  state,
});
const step: object = { type: "step-start" };
const over = { time: { created: 1_700_000_000_000, completed: 1_700_000_001_000 } };
const session = (messages: readonly object[]): string =>
  JSON.stringify({ info: { id: "ses_1", title: "It", directory: "/w" }, messages });

const said = (value: unknown): string[] => saidLines(classifyMessage({ value, index: 3, start: 0, end: 1 }));

/** Everything that a message of OpenCode may hold; what says nothing that a reader misses is named. */
test.each([
  ["text", true],
  ["reasoning", true],
  ["tool", true],
  ["file", true],
  ["agent", true],
  ["subtask", true],
  ["retry", true],
  ["compaction", true],
  ["step-start", false],
  ["step-finish", false],
  ["snapshot", false],
  ["patch", false],
])("a part %s is known; it is shown: %s", (type, isShown) => {
  const value = model("m", over, { type });
  const { known, entries } = classifyMessage({ value, index: 0, start: 0, end: 1 });
  const hasBlock = entries.some((entry) => entry.kind === "model" && entry.blocks.length > 0);
  expect([known, hasBlock]).toEqual([true, isShown]);
});

test("a prompt, with what the program put in and files", () => {
  const value = user("m", text("see"), text("be good", { synthetic: true }), {
    type: "file",
    mime: "image/png",
    url: "data:image/png;base64,AAAA",
  });
  expect(said(value)).toEqual(["user [start]", "  user: see [image/png 3]", "  system/context: be good"]);
});

test("steps of a message are entries of their own, each with its results behind it", () => {
  const value = model(
    "m",
    { ...over, finish: "stop", tokens: { output: 7 } },
    step,
    text("I look"),
    tool("a", { status: "completed", input: {}, output: "x" }),
    step,
    text("Done."),
  );
  expect(said(value)).toEqual([
    "assistant [start automatic] [end] {} message=7",
    '  model: "I look" call(bash a) {"output":7}',
    "  result a done: x",
    '  model: "Done."',
  ]);
});

test("an edit names its file and tells its change", () => {
  const input = { filePath: "a.ts", oldString: "x", newString: "y" };
  const value = model("m", over, tool("a", { status: "completed", input, output: "" }, "edit"));
  expect(said(value)[1]).toBe("  model: call(edit a a.ts ±a.ts)");
});

test("failed, aborted and invalid calls, and exit codes", () => {
  const states = [
    tool("a", { status: "error", error: "no such file" }),
    tool("b", { status: "error", error: "Tool execution aborted" }),
    tool("c", { status: "completed", output: "", metadata: { exit: 2 } }),
    tool("d", { status: "completed", output: "unknown tool" }, "invalid"),
  ];
  const results = classifyMessage({
    value: model("m", over, ...states),
    index: 0,
    start: 0,
    end: 1,
  }).entries.slice(1);
  expect(results.map((entry) => (entry.kind === "tool-result" ? entry.outcome?.state : entry.kind))).toEqual([
    "failed",
    "interrupted",
    "failed",
    "failed",
  ]);
});

test.each([
  ["MessageAbortedError", { kind: "interrupted" }],
  ["MessageOutputLengthError", { kind: "output-limit" }],
  ["ProviderAuthError", { kind: "refused", words: "why" }],
  ["UnknownError", { kind: "spoke", words: "why" }],
])("a message that ended with %s", (name, wound) => {
  const value = model("m", { error: { name, data: { message: "why" } } });
  expect(classifyMessage({ value, index: 0, start: 0, end: 1 }).entries.at(-1)).toMatchObject({
    kind: "wounded",
    wound,
  });
});

test("a part of an unknown kind is shown, and named by the check", () => {
  const value = model("m", over, { type: "dream", a: 1 });
  expect(classifyMessage({ value, index: 0, start: 0, end: 1 })).toMatchObject({
    kind: "assistant part/dream",
    known: false,
    entries: [{ blocks: [{ kind: "other", type: "dream" }] }],
  });
});

const states = [
  session([user("1", text("one"))]),
  session([user("1", text("one")), model("2", {}, step)]),
  session([user("1", text("one")), model("2", {}, step, text("I"))]),
  session([
    user("1", text("one")),
    model("2", {}, step, text("I look"), tool("a", { status: "running", input: {} })),
  ]),
  session([
    user("1", text("one")),
    model(
      "2",
      { ...over, finish: "tool-calls" },
      step,
      text("I look"),
      tool("a", { status: "completed", input: {}, output: "é😀" }),
    ),
  ]),
  session([
    user("1", text("one")),
    model(
      "2",
      { ...over, finish: "tool-calls" },
      step,
      text("I look"),
      tool("a", { status: "completed", input: {}, output: "é😀" }),
    ),
    model("3", { ...over, finish: "stop" }, text("Done.")),
  ]),
];

expectDocumentLaws({
  kinds: { shown: ["assistant", "user"], silent: [], unknown: [] },
  format: openCodeFormat,
  sessions: {
    "an export": states.at(-1) ?? "",
    "a kept export": fixture("sources/opencode/export-1.json").toString(),
    empty: session([]),
  },
  states,
  promptOf: (words) => session([user("1", text(words))]),
  largeOf: (count) => session(Array.from({ length: count }, (_, i) => user(`${i}`, text("x".repeat(1000))))),
});

test("no kind of a kept export is unknown", async () => {
  const lines = await told(openCodeFormat, fixture("sources/opencode/export-1.json").toString());
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => line.includes("other("))).toEqual([]);
});
