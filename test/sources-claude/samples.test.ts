/** Real transcripts with their words replaced, read in every way, and counted apart from the program. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClaudeClassifier } from "../../src/sources/claude-code/classifier.ts";
import type { CheckReport } from "../../src/sources/types.ts";
import { fixture } from "../support/fixtures.ts";
import {
  cutAt,
  cutPlaces,
  expectFollowed,
  expectOneReading,
  followPieces,
  logOf,
} from "../support/log-laws.ts";

/**
 * What a script that knows no more than JSON counts: records, those saved from a bad line, distinct calls, distinct results, calls
 * without a result, compactions, distinct pairs of message and request, and the sum of the greatest output counts of each. Prompts that
 * a person typed, and whether the last one stands without an end, are counted by eye.
 */
const figures: Readonly<Record<string, readonly [...number[], boolean]>> = {
  //                                records saved calls results open compactions messages tokens turns
  "agent-sidechain.jsonl": /*       */ [2, 0, 0, 0, 0, 0, 1, 10, 1, false],
  "attachments-and-titles.jsonl.gz": [28, 0, 3, 3, 0, 0, 4, 450, 1, false],
  "compacted.jsonl.gz": /*         */ [54, 0, 10, 10, 0, 1, 12, 2038, 2, true],
  "custom-title.jsonl.gz": /*      */ [16, 0, 1, 1, 0, 0, 2, 814, 1, false],
  "glued-objects.jsonl.gz": /*    */ [242, 2, 55, 55, 0, 0, 58, 1991, 4, true],
  "growth-1.jsonl.gz": /*          */ [45, 0, 7, 7, 0, 0, 8, 30, 2, true],
  "growth-2.jsonl.gz": /*          */ [89, 0, 11, 11, 0, 0, 13, 44, 3, true],
  "microcompact.jsonl.gz": /*     */ [236, 0, 60, 60, 0, 1, 49, 111, 9, true],
  "model-fallback.jsonl.gz": /*    */ [28, 0, 2, 2, 0, 0, 3, 287, 1, false],
  "named-gemini.jsonl": /*         */ [19, 0, 3, 3, 0, 0, 4, 290, 1, false],
  "pending-call.jsonl": /*          */ [6, 0, 1, 0, 1, 0, 1, 4, 1, true],
  "progress-rows.jsonl": /*        */ [19, 0, 3, 3, 0, 0, 4, 289, 1, false],
  "queued-prompt.jsonl.gz": /*    */ [298, 0, 69, 69, 0, 0, 59, 38882, 1, false],
  "subagent-progress.jsonl.gz": /**/ [453, 0, 52, 52, 0, 0, 31, 12952, 4, false],
  "tiny.jsonl": /*                  */ [5, 0, 0, 0, 0, 0, 1, 6, 1, true],
};

const classifierOf = (name: string): ReturnType<typeof createClaudeClassifier> =>
  createClaudeClassifier(name.startsWith("agent-"));
const bytesOf = (name: string): Buffer => fixture(`sources/claude-code/${name}`);

function figuresOf(report: CheckReport): readonly unknown[] {
  const { records, recovered, toolCalls, toolResults, unansweredCalls, compactions } = report;
  const { modelMessages, outputTokens, turns, openTurn } = report;
  const counts = [records, recovered, toolCalls, toolResults, unansweredCalls, compactions];
  return [...counts, modelMessages, outputTokens, turns, openTurn];
}

describe.each(Object.keys(figures))("%s", (name) => {
  const bytes = bytesOf(name);
  const classifier = classifierOf(name);

  test("reads the same whole, by pages and from either end", () =>
    expectOneReading("claude-code", classifier, bytes));

  test("followed in any pieces it says what reading it whole says", async () => {
    await fc.assert(
      fc.asyncProperty(cutPlaces, (places) =>
        expectFollowed("claude-code", classifier, bytes, [0, ...places]),
      ),
      { numRuns: 8 },
    );
  });

  test("is counted as a script counts it", async () => {
    const report = await (await logOf("claude-code", classifier, bytes)).check();
    expect(figuresOf(report)).toEqual(figures[name]);
    expect(report).toMatchObject({ bytes: bytes.length, orphanResults: 0 });
    const kinds = Object.values(report.recordKinds).reduce((sum, n) => sum + n, 0);
    expect(kinds).toBe(report.records);
  });

  test("reaches the first prompt", async () => {
    const page = await (await logOf("claude-code", classifier, bytes)).first(20);
    expect(page.atStart).toBe(true);
    expect(page.entries.some((e) => e.kind === "delivered" && e.sender === "user")).toBe(true);
  });
});

test("a session that grew from the first sample to the second, in random cuts", async () => {
  const first = bytesOf("growth-1.jsonl.gz");
  const second = bytesOf("growth-2.jsonl.gz");
  expect(second.subarray(0, first.length).equals(first)).toBe(true);
  const classifier = createClaudeClassifier(false);
  const whole = await (await logOf("claude-code", classifier, second)).tail(1000);
  await fc.assert(
    fc.asyncProperty(cutPlaces, async (places) => {
      const pieces = [first, ...cutAt(second.subarray(first.length), places)];
      const told = await followPieces("claude-code", classifier, pieces);
      expect(told.resets).toBe(0);
      expect(told.entries).toEqual(whole.entries);
      expect([...told.live].sort()).toEqual([...whole.live].sort());
      expect(told.isOpen).toBe(whole.turnOpen);
    }),
    { numRuns: 30 },
  );
});

test("cc#52387: both objects of a glued line are read, and the line is named", async () => {
  const report = await (
    await logOf("claude-code", createClaudeClassifier(false), bytesOf("glued-objects.jsonl.gz"))
  ).check();
  expect(report.damaged).toEqual([{ start: 163135, end: 165400, reason: "glued" }]);
  expect(report.recordKinds).toMatchObject({ summary: 1, assistant: 139 });
});

test("a call without a result is running while its turn is open", async () => {
  const page = await (
    await logOf("claude-code", createClaudeClassifier(false), bytesOf("pending-call.jsonl"))
  ).tail(10);
  const last = page.entries.at(-1);
  expect(page).toMatchObject({ turnOpen: true, live: [last?.name] });
  expect(last).toMatchObject({
    kind: "model",
    blocks: [{ kind: "tool-use", outcome: { state: "running" } }],
  });
});

test("any JSON has a meaning", () => {
  const types = ["user", "assistant", "system", "attachment", "summary", "compact_boundary", "api_error"];
  const shape = fc.record(
    {
      type: fc.constantFrom(...types),
      subtype: fc.constantFrom(...types),
      uuid: fc.jsonValue(),
      message: fc.oneof(
        fc.jsonValue(),
        fc.record({ content: fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())), usage: fc.jsonValue() }),
      ),
      attachment: fc.oneof(fc.jsonValue(), fc.record({ type: fc.string(), content: fc.jsonValue() })),
      toolUseResult: fc.jsonValue(),
      error: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), shape), fc.boolean(), (value, isSubagentFile) => {
      const said = createClaudeClassifier(isSubagentFile).classify({
        type: "record",
        start: 0,
        end: 1,
        value,
      });
      if (!said.known) expect(said.entries).toHaveLength(1);
    }),
    { numRuns: 500 },
  );
});
