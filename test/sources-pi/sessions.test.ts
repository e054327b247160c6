/** Sessions of pi in every version, read in every way, and counted apart from the program. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { piClassifier } from "../../src/sources/pi/classifier.ts";
import { entryLine } from "../support/entry-notation.ts";
import { fixture } from "../support/fixtures.ts";
import { lines } from "../support/home.ts";
import { cutPlaces, expectFollowed, expectOneReading, logOf } from "../support/log-laws.ts";

const text = (words: string): object => ({ type: "text", text: words });
const header = { type: "session", version: 3, id: "s", timestamp: "2026-06-01T00:00:00.000Z", cwd: "/w" };
let clock = 0;
function row(id: string, parentId: string | null, more: object): object {
  clock += 1000;
  return { id, parentId, timestamp: new Date(1_780_000_000_000 + clock).toISOString(), ...more };
}
const said = (id: string, parentId: string | null, role: string, more: object): object =>
  row(id, parentId, { type: "message", message: { role, ...more } });
const prompt = (id: string, parentId: string | null, words: string): object =>
  said(id, parentId, "user", { content: [text(words)] });
const answer = (id: string, parentId: string | null, words: string): object =>
  said(id, parentId, "assistant", { content: [text(words)], stopReason: "stop" });
const call = (id: string, parentId: string | null, ...calls: string[]): object =>
  said(id, parentId, "assistant", {
    content: calls.map((c) => ({ type: "toolCall", id: c, name: "bash", arguments: { command: c } })),
    stopReason: "toolUse",
  });
const result = (id: string, parentId: string | null, callId: string): object =>
  said(id, parentId, "toolResult", { toolCallId: callId, content: [text("ok")], isError: false });

const made: Record<string, string> = {
  "a branch taken up again": lines(
    header,
    prompt("a", null, "one"),
    answer("b", "a", "1"),
    prompt("c", "b", "two"),
    call("d", "c", "x"),
    result("e", "d", "x"),
    answer("f", "e", "2"),
    row("g", "b", { type: "branch_summary", fromId: "f", summary: "tried two" }),
    prompt("h", "g", "three"),
    answer("i", "h", "3"),
  ),
  "parallel calls with state between": lines(
    header,
    row("m", null, { type: "model_change", modelId: "m1" }),
    prompt("a", "m", "one"),
    call("b", "a", "x", "y"),
    result("c", "b", "x"),
    row("k", "c", { type: "custom", customType: "todo", data: {} }),
    result("d", "k", "y"),
    row("l", "d", { type: "label", targetId: "a", label: "here" }),
    answer("e", "l", "1"),
  ),
  "results that hang on one call": lines(
    header,
    prompt("a", null, "one"),
    call("b", "a", "x", "y"),
    result("c", "b", "x"),
    result("d", "b", "y"),
    answer("e", "d", "1"),
  ),
  "a compaction in the middle": lines(
    header,
    prompt("a", null, "one"),
    call("b", "a", "x"),
    row("c", "b", { type: "compaction", summary: "so far", firstKeptEntryId: "a", tokensBefore: 9 }),
    result("d", "c", "x"),
    answer("e", "d", "1"),
  ),
  "an error, and another try": lines(
    header,
    prompt("a", null, "one"),
    said("b", "a", "assistant", { content: [], stopReason: "error", errorMessage: "overloaded" }),
    call("c", "b", "x"),
  ),
  "a parent that was never written": lines(
    header,
    prompt("a", null, "one"),
    answer("b", "a", "1"),
    prompt("c", "zz", "two"),
    answer("d", "c", "2"),
  ),
  "version 1": lines(
    { type: "session", id: "s", timestamp: "2025-06-01T00:00:00.000Z", cwd: "/w" },
    { type: "message", timestamp: "2025-06-01T00:00:01.000Z", message: { role: "user", content: "one" } },
    {
      type: "message",
      timestamp: "2025-06-01T00:00:02.000Z",
      message: { role: "assistant", content: [text("1")], stopReason: "stop" },
    },
    {
      type: "compaction",
      timestamp: "2025-06-01T00:00:03.000Z",
      summary: "so far",
      firstKeptEntryIndex: 1,
      tokensBefore: 5,
    },
    { type: "message", timestamp: "2025-06-01T00:00:04.000Z", message: { role: "user", content: "two" } },
  ),
  "version 1 (a real one)": fixture("sources/pi/session-v1.jsonl.gz").toString(),
  "version 3 (a real one)": fixture("sources/pi/session-v3.jsonl").toString(),
};

async function told(name: string): Promise<string[]> {
  const log = await logOf("pi", piClassifier, Buffer.from(made[name] ?? ""));
  return (await log.tail(1000)).entries.map(entryLine);
}

describe.each(Object.entries(made))("%s", (name, content) => {
  const bytes = Buffer.from(content);
  const isReal = name.includes("real");
  test("reads the same in every way", () => expectOneReading("pi", piClassifier, bytes));
  test("is followed to the same", async () => {
    await fc.assert(
      fc.asyncProperty(cutPlaces, (places) => expectFollowed("pi", piClassifier, bytes, [0, ...places])),
      { numRuns: isReal ? 6 : 40 },
    );
  });
});

interface Row {
  readonly type: string;
  readonly message?: {
    readonly role: string;
    readonly toolCallId?: string;
    readonly stopReason?: string;
    readonly usage?: { readonly output: number };
    readonly content: string | readonly { readonly type: string; readonly id?: string }[];
  };
}

/** The figures of a session without damage, from its lines alone. */
function count(bytes: Buffer): Record<string, unknown> {
  const rows = bytes
    .toString()
    .split("\n")
    .filter((l) => l !== "")
    .map((l) => JSON.parse(l) as Row);
  const messages = rows.flatMap((r) => r.message ?? []);
  const answers = messages.filter((m) => m.role === "assistant");
  const calls = new Set(
    answers
      .flatMap((m) => (typeof m.content === "string" ? [] : m.content))
      .filter((b) => b.type === "toolCall")
      .map((b) => b.id),
  );
  const results = new Set(messages.filter((m) => m.role === "toolResult").map((m) => m.toolCallId));
  const last = messages.filter((m) => m.role === "user" || m.role === "assistant").at(-1);
  return {
    records: rows.length,
    toolCalls: calls.size,
    toolResults: results.size,
    unansweredCalls: [...calls].filter((id) => !results.has(id)).length,
    orphanResults: 0,
    modelMessages: answers.length,
    outputTokens: answers.reduce((sum, m) => sum + (m.usage?.output ?? 0), 0),
    turns: messages.filter((m) => m.role === "user").length,
    openTurn: last?.role === "user" || last?.stopReason === "toolUse",
    damaged: [],
    unknownKinds: [],
  };
}

test.each(["session-v1.jsonl.gz", "session-v3.jsonl"])("%s is counted as its lines are", async (name) => {
  const bytes = fixture(`sources/pi/${name}`);
  expect(await (await logOf("pi", piClassifier, bytes)).check()).toMatchObject(count(bytes));
});

test("figures of the real sessions, by hand", async () => {
  const figures = [];
  for (const name of ["session-v1.jsonl.gz", "session-v3.jsonl"]) {
    const report = await (await logOf("pi", piClassifier, fixture(`sources/pi/${name}`))).check();
    figures.push([
      report.records,
      report.toolCalls,
      report.toolResults,
      report.unansweredCalls,
      report.modelMessages,
      report.outputTokens,
      report.turns,
    ]);
  }
  expect(figures).toEqual([
    [1019, 391, 373, 18, 453, 83156, 88],
    [13, 4, 4, 0, 4, 446, 1],
  ]);
});

test("what a branch left stays in its place and is marked", async () => {
  expect(await told("a branch taken up again")).toEqual([
    "user: one",
    'model: "1"',
    "(left) user: two",
    "(left) model: call(bash x x → done)",
    "(left) result x done 1000ms: ok",
    '(left) model: "2"',
    "system/branch: tried two",
    "user: three",
    'model: "3"',
  ]);
});

test("cc#35024: state, labels and results between two calls are no branches", async () => {
  expect((await told("parallel calls with state between")).filter((l) => l.startsWith("(left)"))).toEqual([]);
});

test("cc#88597: of two results under one call neither is left", async () => {
  expect(await told("results that hang on one call")).toEqual([
    "user: one",
    "model: call(bash x x → done) call(bash y y → done)",
    "result x done 1000ms: ok",
    "result y done 2000ms: ok",
    'model: "1"',
  ]);
});

test("cc#46603: a parent that was never written joins to the record before it", async () => {
  expect(await told("a parent that was never written")).toEqual([
    "user: one",
    'model: "1"',
    "user: two",
    'model: "2"',
  ]);
});

test("pi#9555: a compaction leaves the rows above it where they are", async () => {
  expect(await told("a compaction in the middle")).toEqual([
    "user: one",
    "model: call(bash x x → done)",
    "compacted from 9 tokens: so far",
    "result x done 2000ms: ok",
    'model: "1"',
  ]);
});

test("a try after an error goes on with the turn, and its calls run", async () => {
  const log = await logOf("pi", piClassifier, Buffer.from(made["an error, and another try"] ?? ""));
  const page = await log.tail(10);
  expect(page.entries.map(entryLine)).toEqual([
    "user: one",
    "wounded spoke: overloaded",
    "model: call(bash x x → running)",
  ]);
  expect(page.turnOpen).toBe(true);
  expect(page.live).toHaveLength(1);
  expect(await log.check()).toMatchObject({ turns: 1, openTurn: true });
});
