/** The price of a context and of the notes in it. */
import { describe, expect, test } from "vitest";
import {
  calculateContextTokens,
  continuityCharges,
  continuityProjectionTokens,
  type EstimatedMessage,
  estimateAgentMessageTokens,
  estimateEntryTokens,
  tokensAfterCompaction,
} from "../../src/continuity/index.ts";
import { createLedger, forkLedger, type Ledger, project, type Row } from "../support/handoffs.ts";

describe("a message", () => {
  const text = (words: string): EstimatedMessage => ({ role: "user", payload: { text: words } });
  test.each<[string, EstimatedMessage, number]>([
    ["an empty text", text(""), 20],
    ["one letter", text("a"), 20],
    ["a line feed counts as it is escaped", text("\n"), 21],
    ["a mere text", { role: "user", content: "abcd" }, 18],
    ["content only where there is no payload", { role: "user", payload: "", content: "abcdefgh" }, 17],
    ["nothing", { role: "user" }, 17],
    ["null", { role: "user", payload: null }, 18],
    ["labels", { role: "user", content: "", toolCallId: "1234", toolName: "5678", errorMessage: "9012" }, 20],
    [
      "text and thinking",
      {
        role: "user",
        content: [
          { type: "text", text: "abcd" },
          { type: "thinking", thinking: "efgh" },
        ],
      },
      19,
    ],
    [
      "thinking by its text",
      { role: "user", content: [{ type: "thinking", text: "abcd", thinking: "x".repeat(99) }] },
      18,
    ],
    ["an image", { role: "user", content: [{ type: "image", data: "x".repeat(99_999) }] }, 1217],
    [
      "a call",
      { role: "user", content: [{ type: "toolCall", id: "12", name: "34", arguments: { a: 1 } }] },
      20,
    ],
    ["a call without arguments", { role: "user", content: [{ type: "toolCall", id: "12", name: "34" }] }, 18],
    ["nested content", { role: "user", content: [{ type: "tool", content: "abcd" }] }, 18],
    [
      "nested blocks",
      {
        role: "user",
        content: [
          { content: [{ type: "text", text: "abcd" }, { content: [{ type: "text", text: "efgh" }] }] },
        ],
      },
      19,
    ],
    [
      "a text's own nested list does not count",
      { role: "user", content: [{ type: "text", text: "", content: ["x".repeat(99)] }] },
      17,
    ],
    ["another block's text", { role: "user", content: [{ type: "other", text: "abcd" }] }, 18],
    ["another block", { role: "user", content: [{ type: "x" }] }, 20],
    ["texts and numbers in a list", { role: "user", content: ["abcd", 1234] }, 19],
  ])("%s", (_name, message, tokens) => {
    expect(estimateAgentMessageTokens(message)).toBe(tokens);
  });

  test("the blocks of the protocol's sample", () => {
    const note = "resume the migration at step 4; the rollback script is untested";
    const ledger = createLedger("A");
    ledger.user();
    const h = ledger.handoff({ note });
    h.complete();
    expect(continuityProjectionTokens(project(ledger))).toBe(85);
    const child = forkLedger(ledger, ledger.leaf as string, "B");
    const fork = { parentSessionId: "A", parentTurnId: ledger.leaf as string };
    expect(continuityProjectionTokens(project(child, { fork }))).toBe(110);
    const long = createLedger();
    long.user();
    long.handoff({ note: "x".repeat(8192) }).prepare();
    expect(continuityProjectionTokens(project(long))).toBe(2117);
  });
});

function usage(totalTokens: number): Row {
  return { text: "ok", usage: { totalTokens } };
}

describe("I118 continuity records cost nothing, the note is priced once", () => {
  test("every record of a handoff but its messages and summaries", () => {
    const ledger = createLedger();
    ledger.user();
    const h = ledger.handoff();
    h.toReady("evicted");
    h.pause();
    h.ask("deliver");
    h.resume("deliver");
    for (const row of ledger.rows) expect(estimateEntryTokens(row) > 0).toBe(row["kind"] === "message");
    expect(estimateEntryTokens({ kind: "unheard-of", payload: "xxxx" })).toBe(0);
    expect(estimateEntryTokens(null)).toBe(0);
  });

  test("a carry copy is free: a summary costs its own words and what it keeps of the person's", () => {
    const ledger = createLedger();
    ledger.user();
    const h = ledger.handoff({ note: "x".repeat(8000) });
    h.toReady();
    const carrying = h.carry();
    const { continuity: _none, ...plain } = carrying;
    expect(estimateEntryTokens(carrying)).toBe(estimateEntryTokens(plain));
    expect(estimateEntryTokens({ ...plain, summary: "abcd" })).toBe(17);
    expect(
      estimateEntryTokens({ ...plain, summary: "abcd", userContext: "efgh", skillContext: "ijkl" }),
    ).toBe(19);
  });

  test("a stamp of the price is not part of what is priced", () => {
    const payload = { text: "ok" };
    const entry = { kind: "message", role: "assistant", payload };
    const stamped = { ...entry, payload: { ...payload, contextUsageInvalidated: true } };
    expect(estimateEntryTokens(stamped)).toBe(estimateEntryTokens(entry));
  });

  test("once through the caller, and not again once it is measured, over three cycles", () => {
    const ledger = createLedger();
    ledger.user();
    ledger.assistant(usage(1000));
    for (let cycle = 0; cycle < 3; cycle += 1) {
      const h = ledger.handoff();
      h.toReady();
      const charges = continuityCharges(project(ledger));
      const without = calculateContextTokens(ledger.rows);
      const [charge] = charges;
      expect(charges).toHaveLength(1);
      expect(calculateContextTokens(ledger.rows, undefined, charges)).toBe(without + (charge?.tokens ?? 0));
      h.deliver();
      h.respond(usage(2000 + cycle));
      h.acknowledge();
      const after = continuityCharges(project(ledger));
      expect(calculateContextTokens(ledger.rows, undefined, after)).toBe(2000 + cycle);
    }
  });

  test("an inherited note is charged until the child's own first measurement, the parent's counts for nothing", () => {
    const parent = createLedger("A");
    parent.user();
    parent.handoff().complete("continuity_only");
    const at = parent.assistant(usage(500)).turnId;
    const child: Ledger = forkLedger(parent, at, "B");
    const fork = { parentSessionId: "A", parentTurnId: at };
    const charges = continuityCharges(project(child, { fork }));
    const [charge] = charges;
    expect(charge).toMatchObject({ anchorTurnId: at, isMeasuredAtAnchor: false });
    expect(calculateContextTokens(child.rows, undefined, charges)).toBe(500 + (charge?.tokens ?? 0));
    child.user();
    child.assistant(usage(900));
    expect(calculateContextTokens(child.rows, undefined, charges)).toBe(900);
  });
});

describe("the measured context", () => {
  const message = (payload: unknown, role = "assistant", turnId = "m"): Row => ({
    kind: "message",
    role,
    turnId,
    payload,
  });

  test.each<[string, unknown, number]>([
    ["a total", { totalTokens: 7, input: 1 }, 7],
    ["its parts", { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }, 10],
    ["some of its parts", { output: 2, cacheRead: Number.NaN, cacheWrite: -1 }, 2],
    ["a total that is none", { totalTokens: "7", input: 1 }, 1],
  ])("%s", (_name, given, tokens) => {
    expect(calculateContextTokens([message("x")], given)).toBe(tokens);
    expect(calculateContextTokens([message({ usage: given })])).toBe(tokens);
  });

  test("no measurement: the sum of everything", () => {
    const rows = [message("abcd"), message({ text: "x", usage: {} })];
    const sum = estimateEntryTokens(rows[0]) + estimateEntryTokens(rows[1]);
    for (const none of [undefined, {}, null, 4, { input: "x" }])
      expect(calculateContextTokens(rows, none)).toBe(sum);
  });

  test("one that was taken back, aborted, failed, or is of another role is none", () => {
    for (const row of [
      message({ usage: { totalTokens: 7 }, contextUsageInvalidated: true }),
      message({ usage: { totalTokens: 7 }, stopReason: "aborted" }),
      message({ usage: { totalTokens: 7 }, stopReason: "error" }),
      message({ usage: { totalTokens: 7 } }, "user"),
      { kind: "label", role: "assistant", payload: { usage: { totalTokens: 7 } } },
    ]) {
      const rows = [message({ usage: { totalTokens: 5 } }), row];
      expect(calculateContextTokens(rows)).toBe(5 + estimateEntryTokens(row));
    }
  });

  test("the newest counts, with what stands behind it", () => {
    const rows = [
      message({ usage: { totalTokens: 5 } }),
      message({ usage: { totalTokens: 6 } }),
      message("abcd", "user"),
    ];
    expect(calculateContextTokens(rows)).toBe(6 + estimateEntryTokens(rows[2]));
  });

  test("a charge whose anchor is not there is counted; one at or before the measurement is not", () => {
    const rows = [
      message({}, "user", "a"),
      message({ usage: { totalTokens: 5 } }, "assistant", "b"),
      message("", "user", "c"),
    ];
    const behind = estimateEntryTokens(rows[2]);
    const at = (anchorTurnId: string | null, isMeasuredAtAnchor: boolean): number =>
      calculateContextTokens(rows, undefined, [{ tokens: 100, anchorTurnId, isMeasuredAtAnchor }]) -
      5 -
      behind;
    expect([at("a", true), at("b", true), at("c", true), at("x", true), at(null, true)]).toEqual([
      0, 0, 100, 100, 100,
    ]);
    expect([at("a", false), at("b", false), at("c", false)]).toEqual([0, 100, 100]);
  });

  test("after a compaction: never less than the summary with the notes", () => {
    const sizes = { tokensBefore: 1000, droppedTokens: 900, summaryTokens: 50, noteTokens: 30 };
    expect(tokensAfterCompaction(sizes)).toBe(150);
    expect(tokensAfterCompaction({ ...sizes, droppedTokens: 999 })).toBe(80);
  });
});
