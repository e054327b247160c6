/** Which transaction is the current one, what proves its outcome and its end, and what is set aside. */
import { describe, expect, test } from "vitest";
import {
  type ContinuityEvidence,
  continuityPayloadFromFold,
  resolveContinuityEvidence,
  type TerminalResponse,
} from "../../src/continuity/index.ts";
import {
  changed,
  createLedger,
  fold,
  foldRows,
  type Handoff,
  kindsOf,
  type Ledger,
  type Row,
} from "../support/handoffs.ts";

function begin(): { ledger: Ledger; h: Handoff } {
  const ledger = createLedger();
  ledger.user();
  ledger.assistant();
  return { ledger, h: ledger.handoff() };
}

const disputed = { validated: false, authority: "recall_only", action: { reason: "conflicting_evidence" } };

describe("I35 an acknowledgement without its success is unsupported", () => {
  type Spoil = (row: TerminalResponse, h: Handoff) => readonly TerminalResponse[];
  function acknowledged(spoil: Spoil): ReturnType<typeof fold> {
    const { ledger, h } = begin();
    h.complete("continuity_only");
    const evidence = resolveContinuityEvidence({ entries: ledger.rows, unreadableRecords: 0 });
    const terminalResponses = evidence.terminalResponses.flatMap((row) =>
      row.entryId === ledger.leaf ? spoil(row, h) : [row],
    );
    return fold(ledger, { evidence: { terminalResponses } });
  }

  test("as it is, it holds", () => {
    expect(acknowledged((row) => [row])).toMatchObject({ validated: true, phase: "acknowledged" });
  });

  test.each<[string, Spoil]>([
    ["none", () => []],
    ["an empty one", (row) => [{ ...row, status: "empty" }]],
    ["an error", (row) => [{ ...row, status: "error" }]],
    ["an aborted one", (row) => [{ ...row, status: "aborted" }]],
    ["an interrupted one", (row) => [{ ...row, status: "interrupted" }]],
    ["one of another turn", (row) => [{ ...row, continuationTurnId: "other" }]],
    ["another entry", (row) => [{ ...row, entryId: "other" }]],
    ["one at the delivery's own place", (row) => [{ ...row, position: row.position - 1 }]],
    ["one at the acknowledgement's own place", (row) => [{ ...row, position: row.position + 1 }]],
  ])("%s", (_name, spoil) => {
    expect(acknowledged(spoil)).toMatchObject({
      ...disputed,
      phase: "acknowledged",
      anomalies: [{ kind: "acknowledgement_unsupported" }],
    });
  });

  test("an acknowledgement of another delivery id", () => {
    const { ledger, h } = begin();
    h.toReady("continuity_only");
    h.deliver();
    const { turnId } = h.respond();
    h.write({ phase: "acknowledged", deliveryId: "other", terminalResponseEntryId: turnId });
    expect(kindsOf(fold(ledger))).toEqual(["acknowledgement_unsupported"]);
  });
});

describe("I36 an outcome's reference must be bound to this very commit", () => {
  type Outcomes = ContinuityEvidence["outcomes"];
  test.each<["summarized" | "evicted", string, (rows: Outcomes) => Outcomes]>([
    ["summarized", "no row", () => []],
    ["summarized", "another handoff", (rows) => rows.map((row) => ({ ...row, handoffId: "other" }))],
    ["summarized", "another commit", (rows) => rows.map((row) => ({ ...row, commitId: "other" }))],
    ["summarized", "another outcome", (rows) => rows.map((row) => ({ ...row, outcome: "evicted" as const }))],
    ["evicted", "no row", () => []],
    ["evicted", "another entry", (rows) => rows.map((row) => ({ ...row, entryId: "other" }))],
  ])("%s: %s", (outcome, _name, spoil) => {
    const { ledger, h } = begin();
    h.toReady(outcome);
    const { outcomes } = resolveContinuityEvidence({ entries: ledger.rows, unreadableRecords: 0 });
    expect(fold(ledger, { evidence: { outcomes } }).validated).toBe(true);
    const result = fold(ledger, { evidence: { outcomes: spoil(outcomes) } });
    expect(result).toMatchObject({
      ...disputed,
      phase: "ready",
      anomalies: [{ kind: "unbound_outcome_ref" }],
    });
  });

  test("with unreadable records the reference counts as missing, not as unbound", () => {
    const { ledger, h } = begin();
    h.toReady("evicted");
    const result = fold(ledger, { unreadableRecords: 1, evidence: { outcomes: [] } });
    // The count is the evidence's own.
    expect(kindsOf(result)).toEqual(["malformed_record", "missing_commit_ref"]);
  });

  test("a commit of continuity alone needs none", () => {
    const { ledger, h } = begin();
    h.toReady("continuity_only");
    expect(fold(ledger, { evidence: { outcomes: [] } }).validated).toBe(true);
  });
});

describe("I59 a delivery without a success is paused", () => {
  test("nothing, and what is no success, behind it", () => {
    const { ledger, h } = begin();
    h.toReady("continuity_only");
    h.deliver();
    const paused = {
      action: { kind: "pause", reason: "delivery_uncertain" },
      authority: "recall_only",
      validated: true,
    };
    expect(fold(ledger)).toMatchObject(paused);
    for (const payload of [{ stopReason: "aborted" }, { text: " " }, { stopReason: "toolUse" }]) {
      h.respond(payload);
      expect(fold(ledger)).toMatchObject(paused);
    }
    h.respond();
    expect(fold(ledger)).toMatchObject({ action: { kind: "none" }, authority: "execution" });
  });

  test("an older success of the same turn does not count", () => {
    const { ledger, h } = begin();
    h.toReady("continuity_only");
    const turn = ledger.leaf as string;
    ledger.assistant({ text: "earlier" });
    h.write({ phase: "delivered", deliveryId: "d", continuationTurnId: turn });
    expect(fold(ledger)).toMatchObject({ action: { kind: "pause", reason: "delivery_uncertain" } });
  });

  test("a delivery that only a carry tells of has no place, so no success can stand behind it", () => {
    const { ledger, h } = begin();
    h.toReady("continuity_only");
    h.deliver();
    h.carry();
    h.respond({ continuityDeliveryId: undefined, stopReason: undefined });
    const rows = ledger.rows.filter((row) => (row["event"] as Row | undefined)?.["phase"] !== "delivered");
    const result = foldRows(rows, { sessionId: "s1", nowMs: ledger.nowMs });
    expect(result).toMatchObject({ phase: "delivered", unacknowledgedResponseEntryId: null });
    expect(result.action).toEqual({ kind: "pause", reason: "delivery_uncertain" });
  });
});

test("I60 in history every phase is recall-only, and is carried all the same", () => {
  const { ledger, h } = begin();
  const steps: [string, () => void][] = [
    ["prepared", () => h.prepare()],
    ["reducing", () => h.reduce()],
    ["ready", () => h.commit("continuity_only")],
    ["delivered", () => h.deliver()],
    ["acknowledged", () => [h.respond(), h.acknowledge()]],
  ];
  for (const [phase, step] of steps) {
    step();
    const result = fold(ledger, { historical: true });
    expect(result).toMatchObject({ phase, validated: true, authority: "recall_only" });
    expect(result.action).toEqual(
      phase === "acknowledged" ? { kind: "none" } : { kind: "recall_only", reason: "historical_fork" },
    );
    expect(continuityPayloadFromFold(result) === null).toBe(phase === "prepared" || phase === "reducing");
  }
});

describe("I61 what is not of this session and path is set aside", () => {
  test("another session, a sibling's anchor, a stray initiating turn", () => {
    const { ledger, h } = begin();
    h.prepare();
    ledger.handoff({ identity: { originSessionId: "other" } }).prepare();
    ledger.handoff({ identity: { branchAnchorTurnId: "sibling" } }).prepare();
    ledger.handoff({ identity: { initiatingTurnId: "stray" } }).prepare();
    expect(fold(ledger)).toMatchObject({
      identity: { handoffId: h.identity.handoffId },
      validated: true,
      priorHandoffs: [],
      skipped: { inapplicable: 3, unreadable: 0 },
    });
  });

  test("an anchor of null belongs to every path", () => {
    const { ledger } = begin();
    ledger.handoff({ identity: { branchAnchorTurnId: null } }).prepare();
    expect(fold(ledger)).toMatchObject({ phase: "prepared", skipped: { inapplicable: 0 } });
  });
});

describe("I62 the newest of three is selected, the others are priors, oldest first", () => {
  test("with what is known of them", () => {
    const { ledger, h } = begin();
    h.complete("evicted");
    const second = ledger.handoff({ note: "second" });
    second.prepare();
    second.pause();
    const third = ledger.handoff();
    third.prepare();
    expect(fold(ledger)).toMatchObject({
      identity: { handoffId: third.identity.handoffId },
      validated: true,
      priorHandoffs: [
        {
          handoffId: h.identity.handoffId,
          commitId: h.identity.commitId,
          phase: "acknowledged",
          outcome: "evicted",
          accepted: { note: `note of ${h.identity.handoffId}` },
        },
        {
          handoffId: second.identity.handoffId,
          phase: "paused",
          outcome: null,
          accepted: { note: "second" },
        },
      ],
    });
  });
});

test("I63 an old duplicate cannot elect its transaction again", () => {
  const { ledger, h } = begin();
  const prepared = h.prepare();
  const newer = ledger.handoff();
  newer.prepare();
  ledger.rows.push(structuredClone(prepared) as unknown as Row);
  expect(fold(ledger)).toMatchObject({ identity: { handoffId: newer.identity.handoffId }, validated: true });
});

describe("I64 an entry id that two handoffs use", () => {
  test("disputes both, and the older one's note stays the current one", () => {
    const { ledger, h } = begin();
    h.prepare();
    const thief = ledger.handoff({ identity: { preparedEntryId: h.identity.preparedEntryId } });
    thief.prepare();
    const result = fold(ledger);
    // A chain none of whose records could be applied is not elected (J.3, 11).
    expect(result).toMatchObject({ ...disputed, identity: { handoffId: h.identity.handoffId } });
    expect(kindsOf(result)).toEqual(["entry_id_reused", "entry_id_reused"]);
  });

  test("by a later record of the thief, the thief is elected and disputed", () => {
    const { ledger, h } = begin();
    h.prepare();
    const paused = h.pause();
    const other = ledger.handoff();
    other.prepare();
    other.write({ phase: "paused", reason: "operator_cancelled" }, { entryId: paused.turnId });
    expect(fold(ledger)).toMatchObject({
      ...disputed,
      identity: { handoffId: other.identity.handoffId },
      phase: "prepared",
      anomalies: [{ kind: "entry_id_reused", entryId: paused.turnId }],
    });
  });
});

test("I65 records of other kinds are not looked at", () => {
  const { ledger, h } = begin();
  h.prepare();
  const before = fold(ledger);
  for (const row of [
    { kind: "label", targetTurnId: "x" },
    { kind: "compactionSummary", summary: "", tokensBefore: 1, firstKeptTurnId: "" },
    { kind: "custom", customType: "other", data: { kind: "handoffTransaction" } },
    { kind: "unheard-of", identity: h.identity },
  ])
    ledger.put(row);
  ledger.rows.push(null as never, 7 as never, [] as never, "x" as never);
  expect(fold(ledger)).toEqual(before);
});

test("a chain of which no record applies is elected where there is no other, and answers with nothing", () => {
  const { ledger, h } = begin();
  h.prepare();
  h.reduce();
  const rows = ledger.rows.filter((row) => row["turnId"] !== h.identity.preparedEntryId);
  expect(foldRows(rows, { sessionId: "s1", nowMs: ledger.nowMs })).toMatchObject({
    phase: "absent",
    identity: null,
    authority: "none",
    validated: false,
    anomalies: [{ kind: "illegal_transition" }],
  });
});

test("a broken newer chain disputes the older one that is elected", () => {
  const { ledger, h } = begin();
  h.complete("continuity_only");
  const newer = ledger.handoff();
  newer.prepare();
  newer.reduce();
  const rows = ledger.rows.filter((row) => row["turnId"] !== newer.identity.preparedEntryId);
  expect(foldRows(rows, { sessionId: "s1", nowMs: ledger.nowMs })).toMatchObject({
    ...disputed,
    identity: { handoffId: h.identity.handoffId },
    anomalies: [{ kind: "illegal_transition" }],
  });
});

test("a broken older chain is a prior of which nothing is known", () => {
  const { ledger, h } = begin();
  h.prepare();
  h.reduce();
  const newer = ledger.handoff();
  newer.prepare();
  const rows = changed(ledger.rows, h.identity.preparedEntryId, (row) => {
    row["kind"] = "label";
  });
  expect(foldRows(rows, { sessionId: "s1", nowMs: ledger.nowMs })).toMatchObject({
    validated: true,
    identity: { handoffId: newer.identity.handoffId },
    priorHandoffs: [
      { handoffId: h.identity.handoffId, commitId: "", phase: "absent", accepted: null, outcome: null },
    ],
  });
});
