/** What a ledger proves: responses, requests, outcomes. A row that is missing leads to recall; none is invented. */
import { describe, expect, test } from "vitest";
import { type ContinuityEvidence, resolveContinuityEvidence } from "../../src/continuity/index.ts";
import { createLedger, fold, type Handoff, type Ledger, type Row } from "../support/handoffs.ts";

function begin(): { ledger: Ledger; h: Handoff } {
  const ledger = createLedger();
  ledger.user();
  ledger.assistant();
  return { ledger, h: ledger.handoff() };
}

function evidenceOf(rows: readonly unknown[], pathTurnIds?: readonly string[]): ContinuityEvidence {
  return resolveContinuityEvidence({ entries: rows, pathTurnIds, unreadableRecords: 0 });
}

function delivered(): { ledger: Ledger; h: Handoff; turn: string } {
  const { ledger, h } = begin();
  h.toReady("continuity_only");
  const turn = ledger.leaf as string;
  h.deliver();
  return { ledger, h, turn };
}

describe("I120 positions index the given array", () => {
  test("of responses, requests and outcomes, at the first copy", () => {
    const { ledger, h } = begin();
    h.toReady("evicted");
    h.pause();
    h.ask("deliver");
    const rows = [...ledger.rows, ...structuredClone(ledger.rows)];
    const evidence = evidenceOf(rows);
    for (const { entryId, position } of [...evidence.terminalResponses, ...evidence.outcomes])
      expect(rows.findIndex((row) => row["turnId"] === entryId)).toBe(position);
    const [request] = evidence.resumeAuthorities;
    expect(rows.findIndex((row) => row["turnId"] === request?.operatorRequestEntryId)).toBe(
      request?.position,
    );
    expect(evidence.terminalResponses).toHaveLength(1);
    expect(evidence.outcomes).toHaveLength(1);
    expect(evidence.resumeAuthorities).toHaveLength(1);
    const shifted = evidenceOf([{ kind: "label" }, ...ledger.rows]);
    expect(shifted.outcomes[0]?.position).toBe((evidence.outcomes[0]?.position ?? 0) + 1);
  });
});

describe("I121 authority comes from the typed record alone", () => {
  function asked(change: (row: Row) => Row, path?: readonly string[]): ContinuityEvidence {
    const { ledger, h } = begin();
    h.prepare();
    h.pause();
    h.ask("reduce");
    return evidenceOf([...ledger.rows.slice(0, -1), change(ledger.rows.at(-1) as Row)], path);
  }
  const data = (change: Row) => (row: Row) => ({ ...row, data: { ...(row["data"] as Row), ...change } });

  test("as written, with its own time", () => {
    const { resumeAuthorities } = asked((row) => ({ ...row, timestamp: "2026-05-01T12:00:00+02:00" }));
    expect(resumeAuthorities).toEqual([
      {
        operatorRequestEntryId: expect.any(String),
        handoffId: expect.any(String),
        action: "reduce",
        pausedOrFailedEntryId: expect.any(String),
        originSessionId: "s1",
        position: 4,
        acceptedAtMs: Date.UTC(2026, 4, 1, 10),
      },
    ]);
  });

  test.each<[string, (row: Row) => Row]>([
    ["a turn that quotes it", (row) => ({ ...row, kind: "message", role: "user", payload: row["data"] })],
    ["another custom type", (row) => ({ ...row, customType: "other" })],
    ["one that is displayed", (row) => ({ ...row, display: true })],
    ["a time that is none", (row) => ({ ...row, timestamp: "yesterday" })],
    ["a time without an offset", (row) => ({ ...row, timestamp: "2026-05-01T12:00:00" })],
    ["a handoff that no record defines", data({ handoffId: "other" })],
    ["another anchor", data({ branchAnchorTurnId: "other" })],
    ["an anchor left out as null", data({ branchAnchorTurnId: null })],
    ["a leaf that is not its parent", data({ selectedLeafTurnId: "other" })],
    ["a leaf off the path", (row) => ({ ...data({ selectedLeafTurnId: "off" })(row), parentTurnId: "off" })],
  ])("not from %s", (_name, change) => {
    expect(asked(change).resumeAuthorities).toEqual([]);
  });

  test("the selected path counts, not every message of the array", () => {
    const same = (row: Row): Row => row;
    expect(asked(same).resumeAuthorities).toHaveLength(1);
    expect(asked(same, []).resumeAuthorities).toEqual([]);
    const rootless = (row: Row): Row => ({ ...data({ selectedLeafTurnId: null })(row), parentTurnId: null });
    expect(asked(rootless, []).resumeAuthorities).toHaveLength(1);
  });

  test("two different requests under one id name nothing", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.pause();
    const row = h.ask("reduce") as unknown as Row;
    expect(evidenceOf([...ledger.rows, structuredClone(row)]).resumeAuthorities).toHaveLength(1);
    expect(
      evidenceOf([...ledger.rows, { ...row, timestamp: "2026-05-01T12:00:00Z" }]).resumeAuthorities,
    ).toEqual([]);
  });

  test("the anchor is that of the handoff's first record", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.pause();
    h.ask("reduce");
    const other = structuredClone(
      ledger.rows.find((row) => row["turnId"] === h.identity.preparedEntryId),
    ) as Row;
    Object.assign(other["identity"] as Row, { branchAnchorTurnId: null });
    Object.assign(other, { turnId: "copy" });
    Object.assign(other["identity"] as Row, { preparedEntryId: "copy" });
    Object.assign(other["transition"] as Row, { entryId: "copy" });
    expect(evidenceOf([...ledger.rows, other]).resumeAuthorities).toHaveLength(1);
    expect(evidenceOf([other, ...ledger.rows]).resumeAuthorities).toEqual([]);
  });
});

describe("I122 a summary is bound to the commit it carries", () => {
  test("under its own id; each later carry under its own", () => {
    const { ledger, h } = begin();
    h.toReady("summarized");
    const later = h.carry();
    const { handoffId, commitId } = h.identity;
    expect(evidenceOf(ledger.rows).outcomes).toEqual(
      [h.commitData?.summaryRef, later["turnId"]].map((entryId) => ({
        entryId,
        outcome: "summarized",
        handoffId,
        commitId,
        position: ledger.rows.findIndex((row) => row["turnId"] === entryId),
      })),
    );
    expect(fold(ledger).validated).toBe(true);
  });

  test("a summary without a carry is bound to nothing", () => {
    const { ledger, h } = begin();
    h.toReady("continuity_only");
    ledger.put({ kind: "compactionSummary", summary: "", tokensBefore: 1, firstKeptTurnId: "" });
    expect(evidenceOf(ledger.rows).outcomes).toEqual([]);
  });
});

describe("I123 how a response ended", () => {
  const correlated = { continuityDeliveryId: "d", stopReason: "stop" };
  test.each<[string, unknown, string]>([
    ["a text", { text: "done" }, "success"],
    ["a text block", { content: [{ type: "text", text: "done" }] }, "success"],
    ["a stop", { text: "done", stopReason: "stop" }, "success"],
    ["a text beside blank blocks", { text: "done", content: [{ type: "text", text: " " }] }, "success"],
    ["no object", "done", "empty"],
    ["a list", [{ type: "text", text: "done" }], "empty"],
    ["nothing", null, "empty"],
    ["blank words", { text: " \n", content: [{ type: "text", text: "\t" }] }, "empty"],
    ["words of another block", { content: [{ type: "thinking", text: "done" }] }, "empty"],
    ["text that is none", { text: 7, content: [{ type: "text", text: 7 }, null, "x"] }, "empty"],
    ["content that is no list", { content: { type: "text", text: "done" } }, "empty"],
    ["a tool call", { text: "done", content: [{ type: "toolCall" }] }, "empty"],
    ["a stop for a tool", { text: "done", stopReason: "toolUse" }, "empty"],
    ["a stop for its length", { text: "done", stopReason: "length" }, "empty"],
    ["a stop of null", { text: "done", stopReason: null }, "empty"],
    ["an error", { text: "done", stopReason: "error" }, "error"],
    ["an abort", { text: "done", stopReason: "aborted" }, "aborted"],
    ["an interruption", { text: "done", stopReason: "interrupted" }, "interrupted"],
    ["an error's message", { text: "done", errorMessage: "overloaded" }, "error"],
    ["an error's message that is no text", { text: "done", errorMessage: { code: 1 } }, "error"],
    ["an empty error message", { text: "done", errorMessage: "" }, "success"],
    ["no error message", { text: "done", errorMessage: null }, "success"],
    ["an abort with an error's message", { stopReason: "aborted", errorMessage: "x" }, "aborted"],
  ])("%s", (_name, payload, status) => {
    const { ledger } = begin();
    ledger.message("assistant", payload);
    expect(evidenceOf(ledger.rows).terminalResponses.at(-1)).toMatchObject({ status });
  });

  test("one of a delivery must say that it stopped", () => {
    const { ledger, h, turn } = delivered();
    const deliveryId = h.state?.delivery?.deliveryId;
    const statuses = [undefined, "stop", "toolUse", "error"].map((stopReason) => {
      ledger.message("assistant", {
        ...correlated,
        continuityDeliveryId: deliveryId,
        stopReason,
        text: "done",
      });
      return evidenceOf(ledger.rows).terminalResponses.at(-1)?.status;
    });
    expect(statuses).toEqual(["empty", "success", "empty", "error"]);
    expect(evidenceOf(ledger.rows).terminalResponses.at(-1)?.continuationTurnId).toBe(turn);
  });

  test("an id of a delivery that is no text correlates nothing, and still asks for the stop", () => {
    const { ledger } = begin();
    ledger.message("assistant", { text: "done", continuityDeliveryId: 7 });
    expect(evidenceOf(ledger.rows).terminalResponses.at(-1)).toMatchObject({ status: "empty" });
  });

  test("only an assistant's message with a parent is one", () => {
    const rows = ["user", "tool_result", "system"].map((role, i) => ({
      kind: "message",
      role,
      turnId: `m${i}`,
      parentTurnId: "p",
      payload: { text: "done" },
    }));
    const root = {
      kind: "message",
      role: "assistant",
      turnId: "root",
      parentTurnId: null,
      payload: { text: "x" },
    };
    expect(
      evidenceOf([...rows, root, { ...root, parentTurnId: "", turnId: "r2" }]).terminalResponses,
    ).toEqual([]);
  });

  test("two different messages under one id name nothing, a copy is the first", () => {
    const { ledger } = begin();
    const answer = ledger.assistant({ text: "done" }) as unknown as Row;
    expect(evidenceOf([...ledger.rows, structuredClone(answer)]).terminalResponses).toHaveLength(2);
    const rows = evidenceOf([...ledger.rows, { ...answer, payload: { text: "else" } }]).terminalResponses;
    expect(rows.map((row) => row.entryId)).not.toContain(answer["turnId"]);
  });

  test("the answer to a delivery after tool rounds is bound to its continuation turn", () => {
    const { ledger, h, turn } = delivered();
    h.respond({ stopReason: "toolUse" });
    ledger.message("tool_result", { text: "found" });
    const { turnId } = h.respond();
    expect(evidenceOf(ledger.rows).terminalResponses.at(-1)).toMatchObject({
      entryId: turnId,
      continuationTurnId: turn,
      status: "success",
    });
  });

  test("the continuation turn may be the person's own", () => {
    const { ledger, h } = begin();
    h.toReady("continuity_only");
    const { turnId } = ledger.user("go on");
    h.deliver();
    h.respond();
    expect(evidenceOf(ledger.rows).terminalResponses.at(-1)).toMatchObject({ continuationTurnId: turnId });
  });

  test.each<[string, (ledger: Ledger, h: Handoff) => void]>([
    ["a new prompt in between", (ledger, h) => [ledger.user("else"), h.respond()]],
    ["a parent that is missing", (ledger, h) => [Object.assign(ledger, { leaf: "nowhere" }), h.respond()]],
    ["another delivery's id", (_ledger, h) => h.respond({ continuityDeliveryId: "other" })],
    [
      "a circle",
      (ledger, h) => {
        const first = ledger.assistant({ stopReason: "toolUse" }) as unknown as Row;
        const second = ledger.assistant({ stopReason: "toolUse" });
        ledger.rows.find((row) => row["turnId"] === first["turnId"])!["parentTurnId"] = second.turnId;
        h.respond();
      },
    ],
  ])("not bound: %s", (_name, write) => {
    const { ledger, h } = delivered();
    const before = evidenceOf(ledger.rows).terminalResponses.length;
    write(ledger, h);
    const deliveryId = h.state?.delivery?.deliveryId;
    const bound = evidenceOf(ledger.rows)
      .terminalResponses.slice(before)
      .filter((row) => row.status === "success");
    expect(deliveryId).toBeDefined();
    expect(bound).toEqual([]);
  });

  test("a delivery that two records claim, before and behind the response", () => {
    const { ledger, h } = delivered();
    h.respond();
    const count = evidenceOf(ledger.rows).terminalResponses.length;
    const other = ledger.handoff();
    other.prepare();
    other.write({
      phase: "delivered",
      deliveryId: h.state?.delivery?.deliveryId as string,
      continuationTurnId: "c",
    });
    expect(evidenceOf(ledger.rows).terminalResponses).toHaveLength(count);
    h.respond();
    expect(evidenceOf(ledger.rows).terminalResponses).toHaveLength(count);
  });

  test("a response before its delivery's record is none", () => {
    const { ledger, h } = delivered();
    h.respond();
    const record = ledger.rows.find(
      (row) => (row["event"] as Row | undefined)?.["phase"] === "delivered",
    ) as Row;
    const rows = [...ledger.rows.filter((row) => row !== record), record];
    expect(evidenceOf(rows).terminalResponses).toHaveLength(1);
  });
});

describe("I124 evictions", () => {
  test("one that two commits claim is bound to neither", () => {
    const { ledger, h } = begin();
    h.toReady("evicted");
    expect(evidenceOf(ledger.rows).outcomes).toHaveLength(1);
    const other = ledger.handoff();
    other.prepare();
    other.reduce();
    const own = other.evict()["turnId"];
    ledger.rows.pop();
    other.commit("evicted");
    const thief = ledger.rows.at(-1) as { continuity: { commit: Row } };
    expect(thief.continuity.commit["evictionRef"]).toBe(own);
    thief.continuity.commit["evictionRef"] = h.commitData?.evictionRef;
    expect(evidenceOf(ledger.rows).outcomes).toEqual([]);
    expect(fold(ledger)).toMatchObject({ validated: false, anomalies: [{ kind: "unbound_outcome_ref" }] });
  });

  test("the same claim twice is one", () => {
    const { ledger, h } = begin();
    h.toReady("evicted");
    h.carry();
    h.carry();
    expect(evidenceOf(ledger.rows).outcomes.filter((row) => row.outcome === "evicted")).toHaveLength(1);
  });

  test("one behind its commit, and one that is of another kind or missing, proves nothing", () => {
    const { ledger, h } = begin();
    h.toReady("evicted");
    const eviction = ledger.rows.find((row) => row["kind"] === "contextEviction") as Row;
    const rest = ledger.rows.filter((row) => row !== eviction);
    for (const rows of [
      [...rest, eviction],
      rest,
      ledger.rows.map((row) => (row === eviction ? { ...row, kind: "label" } : row)),
    ])
      expect(evidenceOf(rows).outcomes).toEqual([]);
  });

  test("the claim stands at the commit's own place, also where a carry told of it before", () => {
    const { ledger, h } = begin();
    h.toReady("evicted");
    h.carry();
    const commit = ledger.rows.find((row) => row["kind"] === "continuityCommit") as Row;
    const eviction = ledger.rows.find((row) => row["kind"] === "contextEviction") as Row;
    const carry = ledger.rows.at(-1) as Row;
    const base = ledger.rows.filter((row) => ![commit, eviction, carry].includes(row));
    const bound = (rows: readonly Row[]): number =>
      evidenceOf(rows).outcomes.filter((row) => row.outcome === "evicted").length;
    expect(bound([...base, eviction, carry])).toBe(1);
    expect(bound([...base, carry, eviction])).toBe(0);
    expect(bound([...base, carry, eviction, commit])).toBe(1);
    expect(bound([...base, commit, eviction, carry])).toBe(0);
    expect(bound([...base, commit, carry, eviction])).toBe(0);
  });

  test("a lost commit is proven by its carry", () => {
    const { ledger, h } = begin();
    h.toReady("evicted");
    h.carry();
    ledger.rows.splice(
      ledger.rows.findIndex((row) => row["kind"] === "continuityCommit"),
      1,
    );
    expect(fold(ledger)).toMatchObject({ validated: true, action: { kind: "reconstruct_commit" } });
  });
});

test("unreadable records are counted through", () => {
  expect(resolveContinuityEvidence({ entries: [], unreadableRecords: 3 })).toEqual({
    terminalResponses: [],
    resumeAuthorities: [],
    outcomes: [],
    unreadableRecords: 3,
  });
});
