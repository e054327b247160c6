import { describe, expect, test } from "vitest";
import {
  continuityProblem,
  isContinuityCarryingSummary,
  isContinuityCheckpointPayload,
  isContinuityCommitEntry,
  isHandoffEvent,
  isHandoffRecoveryRequestData,
  isHandoffRecoveryRequestEntry,
  isHandoffTransactionEntry,
} from "../../src/continuity/index.ts";
import { acceptedNote, createLedger, type Row, startMs } from "../support/handoffs.ts";

const absent = Symbol("absent");

/** A copy with the field at `path` replaced, or taken away. */
function spoilt(value: unknown, path: string, field: unknown): unknown {
  const copy = structuredClone(value);
  const steps = path.split(".");
  const last = steps.pop() as string;
  let node = copy as Row;
  for (const step of steps) node = node[step] as Row;
  if (field === absent) delete node[last];
  else node[last] = field;
  return copy;
}

const notIds = [absent, "", null, 7, {}, ["a"]];
const notNullableIds = [absent, "", 7, {}];
const notCounts = [absent, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "1", null];

function samples(): { h: ReturnType<ReturnType<typeof createLedger>["handoff"]>; rows: Record<string, Row> } {
  const ledger = createLedger();
  ledger.user();
  ledger.assistant();
  const h = ledger.handoff();
  const rows: Record<string, Row> = {};
  const keep = (name: string, row: unknown): void => {
    rows[name] = JSON.parse(JSON.stringify(row)) as Row;
  };
  keep("prepared", h.prepare());
  keep("reducing", h.reduce());
  keep("summary", h.summarize());
  keep("commit", h.commit("summarized"));
  keep("paused", h.pause());
  keep("request", h.ask("deliver"));
  keep("resumed", h.resume("deliver"));
  keep("resumedCarry", h.carry());
  keep("delivered", h.deliver());
  keep("deliveredCarry", h.carry());
  h.respond();
  keep("acknowledged", h.acknowledge());
  keep("acknowledgedCarry", h.carry());
  return { h, rows };
}

const { rows } = samples();
const row = (name: string): Row => rows[name] as Row;
const accepted = acceptedNote("a note");
const policy = (row("prepared")["event"] as Row)["policy"] as Row;

describe("I7 each phase requires its own fields", () => {
  test.each([
    { phase: "prepared", accepted, policy },
    { phase: "reducing" },
    { phase: "reducing", resumeRef: "r" },
    { phase: "delivered", deliveryId: "d", continuationTurnId: "c" },
    { phase: "delivered", deliveryId: "d", continuationTurnId: "c", resumeRef: "r" },
    { phase: "acknowledged", deliveryId: "d", terminalResponseEntryId: "t" },
    { phase: "paused", reason: "operator_cancelled" },
    { phase: "paused", reason: "origin_changed" },
    { phase: "paused", reason: "delivery_uncertain" },
    { phase: "failed", reason: "invalid_note" },
    { phase: "failed", reason: "note_exceeds_replay_budget" },
    { phase: "failed", reason: "budget_unsafe_no_material" },
    { phase: "failed", reason: "durability_unresolved" },
    { phase: "failed", reason: "state_root_removed" },
    { phase: "failed", reason: "origin_changed" },
    { phase: "failed", reason: "provider_failed" },
    { phase: "failed", reason: "attempts_exhausted" },
    { phase: "failed", reason: "deadline_exceeded" },
    {
      phase: "resumed",
      authority: {
        operatorRequestEntryId: "q",
        pausedOrFailedEntryId: "p",
        action: "deliver",
        automaticDeadlineAtMs: 0,
      },
    },
  ])("$phase is an event: %j", (event) => {
    expect(isHandoffEvent(event)).toBe(true);
    expect(isHandoffEvent({ ...event, unknown: 1 })).toBe(true);
  });

  test.each([
    undefined,
    null,
    "prepared",
    [],
    {},
    { phase: "ready" },
    { phase: "absent" },
    { phase: "prepared", accepted },
    { phase: "prepared", policy },
    { phase: "reducing", resumeRef: "" },
    { phase: "reducing", resumeRef: null },
    { phase: "delivered", deliveryId: "d" },
    { phase: "delivered", continuationTurnId: "c" },
    { phase: "delivered", deliveryId: "d", continuationTurnId: "c", resumeRef: 1 },
    { phase: "acknowledged", deliveryId: "d" },
    { phase: "acknowledged", terminalResponseEntryId: "t" },
    { phase: "paused" },
    { phase: "paused", reason: "provider_failed" },
    { phase: "failed", reason: "operator_cancelled" },
    { phase: "failed", reason: "no_material" },
    { phase: "resumed" },
    { phase: "resumed", authority: null },
  ])("not an event: %j", (event) => {
    expect(isHandoffEvent(event)).toBe(false);
  });

  test.each([
    ["operatorRequestEntryId", notIds],
    ["pausedOrFailedEntryId", notIds],
    ["action", [absent, "redeliver", "", null]],
    ["automaticDeadlineAtMs", notCounts],
  ])("resumed.authority.%s", (field, values) => {
    for (const value of values) {
      expect(
        isHandoffEvent(spoilt(row("resumed")["event"], `authority.${field}`, value)),
        String(value),
      ).toBe(false);
    }
  });
});

describe("I8 numbers and windows out of range", () => {
  const event = row("prepared")["event"];
  test.each([
    ["accepted.note", [...notIds]],
    ["accepted.noteBytes", [...notCounts, 0, 8193]],
    ["accepted.noteSha256", [absent, "", "A".repeat(64), "a".repeat(63), "a".repeat(65), "g".repeat(64), 7]],
    ["policy.preparedAtMs", notCounts],
    ["policy.automaticDeadlineAtMs", [...notCounts, startMs, 0, policy["preparedAtMs"]]],
  ])("%s", (path, values) => {
    for (const value of values) {
      expect(isHandoffEvent(spoilt(event, path, value)), `${path} = ${String(value)}`).toBe(false);
    }
  });

  test("a deadline beyond the longest window is well-formed: the fold cuts it", () => {
    expect(isHandoffEvent(spoilt(event, "policy.automaticDeadlineAtMs", startMs * 2))).toBe(true);
    expect(
      isHandoffEvent(spoilt(event, "policy.automaticDeadlineAtMs", (policy["preparedAtMs"] as number) + 1)),
    ).toBe(true);
  });
});

describe("I9 a policy may be narrower than the ceilings, never wider", () => {
  const event = row("prepared")["event"];
  test.each([
    ["maxAttempts", [1, 2], [0, 3]],
    ["maxSummaryCallsPerAttempt", [1, 2], [0, 3]],
    ["additionalSummaryRetriesPerCall", [0], [1]],
    ["maxSummaryStreamInvocations", [1, 4], [0, 5]],
    ["flushRetryLimit", [0, 3], [4]],
  ])("%s", (field, allowed, refused) => {
    for (const value of allowed) expect(isHandoffEvent(spoilt(event, `policy.${field}`, value))).toBe(true);
    for (const value of [...refused, ...notCounts]) {
      expect(isHandoffEvent(spoilt(event, `policy.${field}`, value)), String(value)).toBe(false);
    }
  });
});

describe("I10 envelope, link and identity agree", () => {
  test.each(["prepared", "reducing", "paused", "resumed", "delivered", "acknowledged"])(
    "%s is a transaction",
    (name) => {
      expect(isHandoffTransactionEntry(row(name))).toBe(true);
      expect(continuityProblem(row(name))).toBeUndefined();
      expect(isHandoffTransactionEntry({ ...row(name), more: 1 })).toBe(true);
    },
  );

  test.each([
    ["kind", ["continuityCommit", absent]],
    ["turnId", [...notIds, "another"]],
    ["parentTurnId", notNullableIds],
    ["timestamp", notIds],
    ["schemaVersion", [absent, 0, 2, "1"]],
    ["transition", [absent, null, []]],
    ["transition.entryId", [...notIds, "another"]],
    ["transition.prevEntryId", notNullableIds],
    ["transition.sequence", notCounts],
    ["transition.attempt", notCounts],
    ["event", [absent, null]],
    ["identity", [absent, null, []]],
    ["identity.handoffId", notIds],
    ["identity.preparedEntryId", notIds],
    ["identity.commitId", notIds],
    ["identity.commitEntryId", notIds],
    ["identity.originSessionId", notIds],
    ["identity.branchAnchorTurnId", notNullableIds],
    ["identity.initiatingTurnId", notIds],
    ["identity.toolCallId", notIds],
    ["identity.sourceRevision", [absent, null, 7]],
  ])("%s", (path, values) => {
    for (const value of values) {
      for (const name of ["prepared", "reducing"]) {
        const bad = spoilt(row(name), path, value);
        expect(isHandoffTransactionEntry(bad), `${name} ${path} = ${String(value)}`).toBe(false);
        expect(continuityProblem(bad) ?? "").toBe(
          path === "kind" && value === absent ? "" : "is a malformed handoff record",
        );
      }
    }
  });

  test("prepared is the first of its chain, under the id its identity reserves", () => {
    for (const [path, value] of [
      ["identity.preparedEntryId", "another"],
      ["transition.prevEntryId", "before"],
      ["transition.sequence", 1],
      ["transition.attempt", 1],
    ] as const) {
      expect(isHandoffTransactionEntry(spoilt(row("prepared"), path, value)), path).toBe(false);
    }
  });

  test("any other record follows one", () => {
    expect(isHandoffTransactionEntry(spoilt(row("reducing"), "transition.prevEntryId", null))).toBe(false);
    expect(isHandoffTransactionEntry(spoilt(row("reducing"), "transition.sequence", 0))).toBe(false);
  });

  test("an anchor may be null, a revision empty", () => {
    expect(isHandoffTransactionEntry(spoilt(row("prepared"), "identity.branchAnchorTurnId", null))).toBe(
      true,
    );
    expect(isHandoffTransactionEntry(spoilt(row("prepared"), "identity.sourceRevision", "r1"))).toBe(true);
  });
});

describe("I11 a payload's parts agree", () => {
  const payload = row("summary")["continuity"];

  test.each(["summary", "commit", "resumedCarry", "deliveredCarry", "acknowledgedCarry"])(
    "%s has a payload",
    (name) => {
      expect(isContinuityCheckpointPayload(row(name)["continuity"])).toBe(true);
    },
  );

  test("an outcome needs its own reference and forbids the other", () => {
    const outcomes: readonly [string, boolean, boolean][] = [
      ["summarized", true, false],
      ["evicted", false, true],
      ["continuity_only", false, false],
    ];
    for (const [outcome, needsSummary, needsEviction] of outcomes) {
      for (const summaryRef of [absent, "sum"]) {
        for (const evictionRef of [absent, "ev"]) {
          let value = spoilt(payload, "commit.outcome", outcome);
          value = spoilt(value, "commit.summaryRef", summaryRef);
          value = spoilt(value, "commit.evictionRef", evictionRef);
          const fits = (summaryRef !== absent) === needsSummary && (evictionRef !== absent) === needsEviction;
          expect(
            isContinuityCheckpointPayload(value),
            `${outcome} ${String(summaryRef)} ${String(evictionRef)}`,
          ).toBe(fits);
        }
      }
    }
  });

  test.each([
    ["schemaVersion", [absent, 2]],
    ["identity", [absent, null]],
    ["identity.commitEntryId", ["another"]],
    ["accepted", [absent, null]],
    ["policy", [absent, null]],
    ["policy.maxAttempts", [0, 3]],
    ["commit", [absent, null, []]],
    ["commit.outcome", [absent, "no_material"]],
    ["commit.summaryRef", [absent, "", 7]],
    ["commit.entry", [absent, null]],
    ["commit.entry.turnId", [...notIds, "another"]],
    ["commit.entry.parentTurnId", notNullableIds],
    ["commit.entry.timestamp", notIds],
    ["commit.tokensBefore", notCounts],
    ["commit.tokensAfter", notCounts],
    ["commit.transition", [absent, null]],
    ["commit.transition.entryId", [...notIds, "another"]],
    ["commit.transition.prevEntryId", [...notNullableIds, null]],
    ["commit.transition.sequence", [...notCounts, 0]],
    ["commit.transition.attempt", [...notCounts, 0, 3]],
    ["state", [absent, null]],
    ["state.transition", [absent, null]],
    ["state.event", [absent, null, {}, { phase: "ready", extra: 1 }, { phase: "absent" }]],
    ["state.activeResume", [absent, undefined, 7, {}, { entryId: "r" }, { entryId: "", authority: {} }]],
    [
      "state.delivery",
      [absent, undefined, 7, {}, { deliveryId: "d" }, { deliveryId: "", continuationTurnId: "c" }],
    ],
  ])("%s", (path, values) => {
    for (const value of values) {
      expect(isContinuityCheckpointPayload(spoilt(payload, path, value)), `${path} = ${String(value)}`).toBe(
        false,
      );
    }
  });

  test("a head does not stand before its commit, nor give back its attempt, nor exceed the policy", () => {
    const head = row("acknowledgedCarry")["continuity"];
    expect(isContinuityCheckpointPayload(spoilt(head, "state.transition.sequence", 1))).toBe(false);
    expect(isContinuityCheckpointPayload(spoilt(head, "state.transition.attempt", 0))).toBe(false);
    expect(isContinuityCheckpointPayload(spoilt(head, "state.transition.attempt", 2))).toBe(true);
    expect(isContinuityCheckpointPayload(spoilt(head, "state.transition.attempt", 3))).toBe(false);
    const narrow = spoilt(spoilt(head, "policy.maxAttempts", 1), "state.transition.attempt", 2);
    expect(isContinuityCheckpointPayload(narrow)).toBe(false);
    expect(isContinuityCheckpointPayload(spoilt(narrow, "commit.transition.attempt", 2))).toBe(false);
  });

  test("ready stands exactly at the commit's link", () => {
    expect(isContinuityCheckpointPayload(spoilt(payload, "state.transition.sequence", 50))).toBe(false);
    expect(isContinuityCheckpointPayload(spoilt(payload, "state.transition.prevEntryId", "other"))).toBe(
      false,
    );
  });

  test("the first record of a chain is no head behind a commit", () => {
    const event = { phase: "prepared", accepted, policy };
    expect(
      isContinuityCheckpointPayload(spoilt(row("acknowledgedCarry")["continuity"], "state.event", event)),
    ).toBe(false);
  });

  test("a resumed head has its permission, a delivered one its delivery", () => {
    const resumed = row("resumedCarry")["continuity"];
    expect(isContinuityCheckpointPayload(spoilt(resumed, "state.activeResume", null))).toBe(false);
    expect(isContinuityCheckpointPayload(spoilt(resumed, "state.activeResume.entryId", "other"))).toBe(false);
    expect(
      isContinuityCheckpointPayload(spoilt(resumed, "state.activeResume.authority.action", "reduce")),
    ).toBe(false);
    const delivered = row("deliveredCarry")["continuity"];
    expect(isContinuityCheckpointPayload(spoilt(delivered, "state.delivery", null))).toBe(false);
    expect(isContinuityCheckpointPayload(spoilt(delivered, "state.delivery.deliveryId", "other"))).toBe(
      false,
    );
    expect(
      isContinuityCheckpointPayload(spoilt(delivered, "state.delivery.continuationTurnId", "other")),
    ).toBe(false);
  });
});

describe("I12 a commit record equals its reserved envelope", () => {
  test("as written", () => {
    expect(isContinuityCommitEntry(row("commit"))).toBe(true);
    expect(continuityProblem(row("commit"))).toBeUndefined();
  });

  test.each([
    ["kind", ["compactionSummary", absent]],
    ["turnId", [...notIds, "another"]],
    ["parentTurnId", [...notNullableIds, null, "another"]],
    ["timestamp", [...notIds, "2026-01-01T00:00:00Z"]],
    ["continuity", [absent, null]],
    [
      "continuity.state.activeResume",
      [(row("resumedCarry")["continuity"] as { state: Row }).state["activeResume"]],
    ],
    ["continuity.state.delivery", [{ deliveryId: "d", continuationTurnId: "c" }]],
    ["continuity.state", [(row("acknowledgedCarry")["continuity"] as Row)["state"]]],
  ])("%s", (path, values) => {
    for (const value of values) {
      expect(isContinuityCommitEntry(spoilt(row("commit"), path, value)), `${path} = ${String(value)}`).toBe(
        false,
      );
    }
  });
});

describe("I13 a carrying summary is told by its form", () => {
  test("as written; what the summary says besides is its writer's", () => {
    expect(isContinuityCarryingSummary(row("summary"))).toBe(true);
    expect(isContinuityCarryingSummary(spoilt(row("summary"), "summary", absent))).toBe(true);
    expect(continuityProblem(row("summary"))).toBeUndefined();
  });

  test.each([
    ["kind", ["continuityCommit"]],
    ["turnId", notIds],
    ["parentTurnId", notNullableIds],
    ["timestamp", notIds],
    ["continuity", [absent, null, {}]],
  ])("%s", (path, values) => {
    for (const value of values) {
      expect(
        isContinuityCarryingSummary(spoilt(row("summary"), path, value)),
        `${path} = ${String(value)}`,
      ).toBe(false);
    }
  });
});

describe("I113 whole records are admitted, hollow kinds are not", () => {
  test.each(["handoffTransaction", "continuityCommit"])("a hollow %s", (kind) => {
    const envelope = { turnId: "x", parentTurnId: null, timestamp: "2026-01-01T00:00:00Z" };
    expect(continuityProblem({ kind, ...envelope })).toBe("is a malformed handoff record");
  });

  test.each([undefined, null, 42, "message", [], {}, { kind: "message" }, { kind: "label" }])(
    "%j is none of them",
    (value) => {
      expect(continuityProblem(value)).toBeUndefined();
    },
  );
});

describe("I114 a summary with, without and with a malformed carry", () => {
  test("without", () => {
    expect(continuityProblem(spoilt(row("summary"), "continuity", absent))).toBeUndefined();
    expect(continuityProblem(spoilt(row("summary"), "continuity", undefined))).toBeUndefined();
  });
  test.each([
    ["continuity", null],
    ["continuity", "x"],
    ["continuity.schemaVersion", 2],
    ["continuity.state.transition.sequence", 99],
  ])("malformed at %s", (path, value) => {
    expect(continuityProblem(spoilt(row("summary"), path, value))).toBe("carries a malformed handoff");
  });
});

describe("I115 a recovery request is whole or none", () => {
  const request = row("request");

  test("as written, with either nullable field null", () => {
    expect(isHandoffRecoveryRequestEntry(request)).toBe(true);
    expect(continuityProblem(request)).toBeUndefined();
    expect(isHandoffRecoveryRequestEntry(spoilt(request, "data.branchAnchorTurnId", null))).toBe(true);
    expect(isHandoffRecoveryRequestEntry(spoilt(request, "data.selectedLeafTurnId", null))).toBe(true);
  });

  test.each([
    ["turnId", notIds],
    ["parentTurnId", notNullableIds],
    ["timestamp", notIds],
    ["display", [absent, true, null, 0]],
    ["data", [absent, null, []]],
    ["data.version", [absent, 2, "1"]],
    ["data.requestKind", [absent, "handoff"]],
    ["data.handoffId", notIds],
    ["data.action", [absent, "resume", null]],
    ["data.sessionId", notIds],
    ["data.branchAnchorTurnId", [...notNullableIds, undefined]],
    ["data.selectedLeafTurnId", [...notNullableIds, undefined]],
    ["data.pausedOrFailedEntryId", notIds],
  ])("%s", (path, values) => {
    for (const value of values) {
      const bad = spoilt(request, path, value);
      expect(isHandoffRecoveryRequestEntry(bad), `${path} = ${String(value)}`).toBe(false);
      expect(continuityProblem(bad)).toBe("is not a whole handoff recovery request");
    }
  });

  test("a field of a prototype is no field", () => {
    const { branchAnchorTurnId: _anchor, ...rest } = request["data"] as Row;
    const data = Object.assign(Object.create({ branchAnchorTurnId: null }), rest);
    expect(isHandoffRecoveryRequestData(data)).toBe(false);
  });

  test("a custom entry of another type is not looked at", () => {
    expect(isHandoffRecoveryRequestEntry(spoilt(request, "customType", "note"))).toBe(false);
    expect(continuityProblem(spoilt(request, "customType", "note"))).toBeUndefined();
    expect(isHandoffRecoveryRequestEntry(spoilt(request, "kind", "message"))).toBe(false);
  });
});
