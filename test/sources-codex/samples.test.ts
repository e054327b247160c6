/** Real rollouts, read in every way, and counted apart from the program. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codexClassifier } from "../../src/sources/codex/classifier.ts";
import { fixture } from "../support/fixtures.ts";
import { cutPlaces, expectFollowed, expectOneReading, logOf } from "../support/log-laws.ts";

const samples = ["rollout-1.jsonl", "rollout-2.jsonl.gz", "rollout-3.jsonl.gz", "two-compactions.jsonl.gz"];

interface Row {
  readonly type: string;
  readonly payload: {
    readonly type?: string;
    readonly role?: string;
    readonly call_id?: string;
    readonly info?: { readonly total_token_usage: { readonly output_tokens: number } } | null;
  };
}

/** The figures of a rollout without damage, counted from its lines alone. */
function count(bytes: Buffer): Record<string, unknown> {
  const rows = bytes
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
  const payloads = (type: string, subtype: string): Row["payload"][] =>
    rows
      .filter((r) => r.type === type && (r.payload.type ?? "").match(`^(${subtype})$`))
      .map((r) => r.payload);
  const ids = (subtype: string): Set<string | undefined> =>
    new Set(payloads("response_item", subtype).flatMap((p) => (p.call_id === undefined ? [] : [p.call_id])));
  const calls = ids(".*_call");
  const results = ids(".*_output");
  const totals = payloads("event_msg", "token_count").flatMap(
    (p) => p.info?.total_token_usage.output_tokens ?? [],
  );
  const starts = payloads("event_msg", "task_started").length;
  return {
    bytes: bytes.length,
    records: rows.length,
    recovered: 0,
    damaged: [],
    unknownKinds: [],
    toolCalls: calls.size,
    toolResults: results.size,
    unansweredCalls: [...calls].filter((id) => !results.has(id)).length,
    orphanResults: [...results].filter((id) => !calls.has(id)).length,
    compactions: rows.filter((r) => r.type === "compacted").length,
    modelMessages: payloads("response_item", "message").filter((p) => p.role === "assistant").length,
    // No total of these files ever falls, so the last one is the sum of what was added.
    outputTokens: totals.at(-1),
    turns: starts,
    openTurn: starts > payloads("event_msg", "task_complete|turn_aborted").length,
  };
}

describe.each(samples)("%s", (name) => {
  const bytes = fixture(`sources/codex/${name}`);

  test("reads the same whole, by pages and from either end", () =>
    expectOneReading("codex", codexClassifier, bytes));

  test("followed in any pieces it says what reading it whole says", async () => {
    await fc.assert(
      fc.asyncProperty(cutPlaces, (places) =>
        expectFollowed("codex", codexClassifier, bytes, [0, ...places]),
      ),
      { numRuns: 8 },
    );
  });

  test("is counted as its lines are", async () => {
    const log = await logOf("codex", codexClassifier, bytes);
    expect(await log.check()).toMatchObject(count(bytes));
  });

  test("reaches the first prompt", async () => {
    const log = await logOf("codex", codexClassifier, bytes);
    const page = await log.first(20);
    expect(page.atStart).toBe(true);
    expect(page.entries.some((e) => e.kind === "delivered" && e.sender === "user")).toBe(true);
  });
});

test("figures of the rollouts, by hand", async () => {
  const figures = [];
  for (const name of samples) {
    const report = await (await logOf("codex", codexClassifier, fixture(`sources/codex/${name}`))).check();
    const {
      records,
      toolCalls,
      toolResults,
      unansweredCalls,
      compactions,
      modelMessages,
      outputTokens,
      turns,
    } = report;
    figures.push([
      records,
      toolCalls,
      toolResults,
      unansweredCalls,
      compactions,
      modelMessages,
      outputTokens,
      turns,
    ]);
  }
  expect(figures).toEqual([
    [92, 23, 21, 2, 0, 8, 2958, 2],
    [459, 101, 101, 0, 0, 52, 22838, 5],
    [356, 83, 83, 0, 0, 38, 19131, 4],
    [861, 177, 177, 0, 2, 39, 71829, 9],
  ]);
});
