/** The chain of one transaction: which record may follow which, and what a stop and a resume permit. */
import { describe, expect, test } from "vitest";
import { HANDOFF_MAX_WINDOW_MS, type HandoffEvent } from "../../src/continuity/index.ts";
import {
  changed,
  createLedger,
  fold,
  foldRows,
  type Handoff,
  kindsOf,
  type Ledger,
  type Row,
  startMs,
} from "../support/handoffs.ts";

function begin(policy: object = {}): { ledger: Ledger; h: Handoff } {
  const ledger = createLedger();
  ledger.user();
  ledger.assistant();
  return { ledger, h: ledger.handoff({ policy }) };
}

const disputed = {
  validated: false,
  authority: "recall_only",
  action: { kind: "recall_only", reason: "conflicting_evidence" },
};
const executable = { validated: true, authority: "execution", action: { kind: "none" }, anomalies: [] };

test("I14 a full chain to acknowledged", () => {
  const { ledger, h } = begin();
  const heads: [string, () => void][] = [
    ["prepared", h.prepare],
    ["reducing", h.reduce],
    ["reducing", () => h.evict()],
    ["ready", () => h.commit("evicted")],
  ];
  for (const [phase, write] of heads) {
    write();
    expect(fold(ledger)).toMatchObject({ phase, ...executable, state: h.state });
  }
  h.deliver();
  expect(fold(ledger)).toMatchObject({
    phase: "delivered",
    validated: true,
    authority: "recall_only",
    action: { kind: "pause", reason: "delivery_uncertain" },
  });
  const { turnId } = h.respond();
  expect(fold(ledger)).toMatchObject({
    phase: "delivered",
    ...executable,
    unacknowledgedResponseEntryId: turnId,
  });
  h.acknowledge();
  expect(fold(ledger)).toEqual({
    phase: "acknowledged",
    authority: "recall_only",
    identity: h.identity,
    accepted: h.payload().accepted,
    policy: h.policy,
    commit: h.commitData,
    state: h.state,
    attemptsSpent: 1,
    effectiveDeadlineAtMs: h.policy.automaticDeadlineAtMs,
    missingCommit: null,
    unacknowledgedResponseEntryId: null,
    validated: true,
    anomalies: [],
    action: { kind: "none" },
    priorHandoffs: [],
    skipped: { inapplicable: 0, unreadable: 0 },
  });
  expect(h.state?.delivery).not.toBeNull();
});

test("a ledger without a transaction", () => {
  const ledger = createLedger();
  ledger.user();
  expect(fold(ledger)).toEqual({
    phase: "absent",
    authority: "none",
    identity: null,
    accepted: null,
    policy: null,
    commit: null,
    state: null,
    attemptsSpent: 0,
    effectiveDeadlineAtMs: null,
    missingCommit: null,
    unacknowledgedResponseEntryId: null,
    validated: true,
    anomalies: [],
    action: { kind: "none" },
    priorHandoffs: [],
    skipped: { inapplicable: 0, unreadable: 0 },
  });
  expect(fold(ledger, { unreadableRecords: 3 }).skipped).toEqual({ inapplicable: 0, unreadable: 3 });
});

describe("I15 an identical copy changes nothing, a contradictory one conflicts", () => {
  test("copies of every record, each at the end of the ledger", () => {
    const { ledger, h } = begin();
    h.complete();
    h.carry();
    const before = fold(ledger);
    for (const row of [...ledger.rows]) {
      expect(
        foldRows([...ledger.rows, structuredClone(row)], { sessionId: "s1", nowMs: ledger.nowMs }),
      ).toEqual(before);
    }
  });

  test("a copy with one more field", () => {
    const { ledger, h } = begin();
    h.prepare();
    const reducing = h.reduce();
    ledger.rows.push({ ...(reducing as unknown as Row), remark: "x" });
    expect(fold(ledger)).toMatchObject({
      ...disputed,
      phase: "reducing",
      anomalies: [{ kind: "duplicate_conflict", entryId: reducing.turnId }],
    });
  });

  test("a contradictory commit", () => {
    const { ledger, h } = begin();
    h.toReady();
    const commit = structuredClone(ledger.rows.at(-1)) as { continuity: { commit: Row } };
    commit.continuity.commit["tokensAfter"] = 1;
    ledger.rows.push(commit as unknown as Row);
    expect(fold(ledger)).toMatchObject({ ...disputed, anomalies: [{ kind: "duplicate_conflict" }] });
    expect(fold(ledger).commit?.tokensAfter).toBe(900);
  });

  test("two copies of the contradiction are one anomaly", () => {
    const { ledger, h } = begin();
    h.prepare();
    const other = { ...(ledger.rows.at(-1) as Row), remark: "x" };
    ledger.rows.push(other, structuredClone(other));
    expect(kindsOf(fold(ledger))).toEqual(["duplicate_conflict"]);
  });
});

describe("I16 a commit at sequence 50 is refused", () => {
  function withCommit(attempt: number): ReturnType<typeof fold> {
    const { ledger, h } = begin();
    h.prepare();
    h.commit();
    const rows = changed(ledger.rows, h.identity.commitEntryId, (row) => {
      const { commit, state } = row["continuity"] as { commit: Row; state: Row };
      for (const link of [commit["transition"], state["transition"]] as Row[])
        Object.assign(link, { sequence: 50, attempt });
    });
    return foldRows(rows, { sessionId: "s1", nowMs: ledger.nowMs });
  }

  test("with attempt 0 it is malformed", () => {
    expect(withCommit(0)).toMatchObject({
      ...disputed,
      phase: "prepared",
      anomalies: [{ kind: "malformed_continuity_record" }],
    });
  });
  test("with attempt 1 it cannot follow prepared", () => {
    expect(withCommit(1)).toMatchObject({
      ...disputed,
      phase: "prepared",
      commit: null,
      anomalies: [{ kind: "illegal_transition", detail: "ready cannot follow prepared" }],
    });
  });
});

describe("I17 a commit with a wrong predecessor, attempt, or over the cap", () => {
  test.each([
    [{ prevEntryId: "elsewhere" }, "broken_chain"],
    [{ sequence: 3 }, "broken_chain"],
    [{ sequence: 1 }, "broken_chain"],
    [{ attempt: 2 }, "invalid_attempt"],
    [{ attempt: 3 }, "malformed_continuity_record"],
  ])("%j", (link, kind) => {
    const { ledger, h } = begin();
    h.prepare();
    h.reduce();
    h.commit();
    const rows = changed(ledger.rows, h.identity.commitEntryId, (row) => {
      const { commit, state } = row["continuity"] as { commit: Row; state: Row };
      for (const each of [commit["transition"], state["transition"]] as Row[]) Object.assign(each, link);
    });
    const result = foldRows(rows, { sessionId: "s1", nowMs: ledger.nowMs });
    expect(result).toMatchObject({ ...disputed, phase: "reducing", commit: null, anomalies: [{ kind }] });
  });
});

describe("I18 attempts", () => {
  test("a failed provider may be tried again, twice in all", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.reduce();
    h.fail("provider_failed");
    h.reduce();
    expect(fold(ledger)).toMatchObject({ phase: "reducing", attemptsSpent: 2, validated: true });
    h.fail("provider_failed");
    h.reduce();
    expect(fold(ledger)).toMatchObject({
      ...disputed,
      phase: "failed",
      attemptsSpent: 2,
      anomalies: [{ kind: "invalid_attempt", detail: "reducing says attempt 3 of 2, the head stands at 2" }],
    });
  });

  test.each(["attempts_exhausted", "durability_unresolved", "invalid_note"] as const)(
    "not after %s",
    (reason) => {
      const { ledger, h } = begin();
      h.prepare();
      h.reduce();
      h.fail(reason);
      h.reduce();
      expect(fold(ledger)).toMatchObject({
        ...disputed,
        phase: "failed",
        anomalies: [{ kind: "illegal_transition" }],
      });
    },
  );

  test("the last attempt in flight reads as exhausted", () => {
    const { ledger, h } = begin({ maxAttempts: 1 });
    h.prepare();
    h.reduce();
    expect(fold(ledger)).toMatchObject({
      validated: true,
      authority: "recall_only",
      action: { kind: "recall_only", reason: "attempts_exhausted" },
    });
  });
});

test("I29 a delivery after the last attempt is permitted, a reduction is not", () => {
  const { ledger, h } = begin({ maxAttempts: 1 });
  h.toReady("continuity_only");
  expect(fold(ledger)).toMatchObject({ ...executable, attemptsSpent: 1 });
  h.pause();
  h.ask("deliver");
  h.resume("deliver");
  expect(fold(ledger)).toMatchObject({ phase: "resumed", ...executable, attemptsSpent: 1 });

  const other = begin({ maxAttempts: 1 });
  other.h.prepare();
  other.h.reduce();
  other.h.pause();
  other.h.ask("reduce");
  other.h.resume("reduce");
  expect(fold(other.ledger)).toMatchObject({
    phase: "resumed",
    validated: true,
    authority: "recall_only",
    action: { kind: "recall_only", reason: "attempts_exhausted" },
  });
});

describe("I33 links that do not follow", () => {
  test.each([
    ["a stale predecessor", { prevEntryId: "s1-h3-prepared" }, "broken_chain"],
    ["no such predecessor", { prevEntryId: "nowhere" }, "broken_chain"],
    ["a skipped sequence", { sequence: 3 }, "broken_chain"],
    ["a repeated sequence", { sequence: 1 }, "broken_chain"],
    ["an attempt spent by a pause", { attempt: 2 }, "invalid_attempt"],
    ["an attempt given back", { attempt: 0 }, "invalid_attempt"],
  ])("%s", (_name, link, kind) => {
    const { ledger, h } = begin();
    h.prepare();
    h.reduce();
    const paused = h.write({ phase: "paused", reason: "operator_cancelled" }, link);
    expect(fold(ledger)).toMatchObject({
      ...disputed,
      phase: "reducing",
      anomalies: [{ kind, entryId: paused.turnId }],
    });
  });

  test("a reduction that spends no attempt", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.write({ phase: "reducing" }, { attempt: 0 });
    expect(fold(ledger)).toMatchObject({
      ...disputed,
      phase: "prepared",
      anomalies: [{ kind: "invalid_attempt" }],
    });
  });
});

describe("I34 every pair of phases", () => {
  const legal: Record<string, readonly string[]> = {
    absent: ["prepared"],
    prepared: ["reducing", "paused", "failed"],
    reducing: ["ready", "paused", "failed"],
    ready: ["delivered", "paused"],
    delivered: ["acknowledged", "paused"],
    acknowledged: [],
    paused: ["resumed"],
    failed: ["resumed", "reducing"],
    resumed: ["reducing", "paused", "failed"],
  };
  const reach: Record<string, (h: Handoff) => void> = {
    absent: () => undefined,
    prepared: (h) => h.prepare(),
    reducing: (h) => [h.prepare(), h.reduce()],
    ready: (h) => h.toReady("continuity_only"),
    delivered: (h) => h.toReady("continuity_only").deliver(),
    acknowledged: (h) => h.complete("continuity_only"),
    paused: (h) => [h.prepare(), h.reduce(), h.pause()],
    failed: (h) => [h.prepare(), h.reduce(), h.fail("provider_failed")],
    resumed: (h) => [h.prepare(), h.reduce(), h.pause(), h.ask("reduce"), h.resume("reduce")],
  };
  const next: Record<string, (h: Handoff, link: object) => void> = {
    prepared: (h) => {
      const { accepted, policy } = h.payload();
      h.write({ phase: "prepared", accepted, policy }, { prevEntryId: null, sequence: 0, attempt: 0 });
    },
    reducing: (h, link) => {
      const resumeRef = h.state?.event.phase === "resumed" ? { resumeRef: h.state.transition.entryId } : {};
      h.write({ phase: "reducing", ...resumeRef }, link);
    },
    ready: (h, link) => h.commit("continuity_only", link),
    delivered: (h, link) => h.write({ phase: "delivered", deliveryId: "d", continuationTurnId: "c" }, link),
    acknowledged: (h, link) => {
      const { turnId } = h.respond();
      const deliveryId = h.state?.delivery?.deliveryId ?? "none";
      h.write({ phase: "acknowledged", deliveryId, terminalResponseEntryId: turnId }, link);
    },
    paused: (h, link) => h.write({ phase: "paused", reason: "operator_cancelled" }, link),
    failed: (h, link) => h.write({ phase: "failed", reason: "provider_failed" }, link),
    resumed: (h, link) => {
      const pausedOrFailedEntryId = h.state?.transition.entryId ?? "nowhere";
      const { turnId } = h.ask("reduce", { pausedOrFailedEntryId });
      const automaticDeadlineAtMs = startMs * 2;
      const authority = {
        operatorRequestEntryId: turnId,
        pausedOrFailedEntryId,
        action: "reduce",
        automaticDeadlineAtMs,
      } as const;
      h.write({ phase: "resumed", authority }, link);
    },
  };
  /** What makes a record well-formed that has nothing before it. */
  const links: Record<string, object> = {
    absent: { prevEntryId: "nowhere", sequence: 1, attempt: 1 },
  };
  const pairs = Object.keys(legal).flatMap((from) => Object.keys(next).map((to) => [from, to] as const));

  test.each(pairs)("%s then %s", (from, to) => {
    const { ledger, h } = begin();
    reach[from]?.(h);
    const before = fold(ledger);
    const link = from === "prepared" && to === "ready" ? { attempt: 1 } : (links[from] ?? {});
    next[to]?.(h, link);
    const after = fold(ledger);
    if (legal[from]?.includes(to)) {
      expect(after).toMatchObject({ phase: to, validated: true });
      return;
    }
    if (to === "ready" && before.commit !== null) {
      expect(after).toEqual(before); // the commit is there already: an exact copy
      return;
    }
    expect(after).toMatchObject({ validated: false, phase: before.phase, state: before.state });
    // A second prepared has the first one's id, so it conflicts before its place in the chain is looked at; a delivery behind a resume is
    // asked for the permission it cites first.
    const isUncited = from === "resumed" && to === "delivered";
    const objection = isUncited ? "missing_resume_ref" : "illegal_transition";
    expect(kindsOf(after)).toEqual([to === "prepared" ? "duplicate_conflict" : objection]);
    expect(after.authority).toBe(from === "absent" ? "none" : "recall_only");
  });

  test("a commit cannot be followed by a failure", () => {
    const { ledger, h } = begin();
    h.toReady();
    h.fail("durability_unresolved");
    expect(fold(ledger)).toMatchObject({
      ...disputed,
      phase: "ready",
      anomalies: [{ detail: "failed cannot follow ready" }],
    });
  });
});

describe("stops and resumes", () => {
  test("I37 a resume behind its request is accepted and moves on under its name", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.pause();
    expect(fold(ledger)).toMatchObject({
      authority: "recall_only",
      validated: true,
      action: { reason: "paused" },
    });
    h.ask("reduce");
    expect(fold(ledger)).toMatchObject({ phase: "paused", action: { reason: "paused" } });
    const resumed = h.resume("reduce");
    expect(fold(ledger)).toMatchObject({ phase: "resumed", ...executable });
    expect(fold(ledger).state?.activeResume?.entryId).toBe(resumed.turnId);
    h.reduce();
    expect(fold(ledger)).toMatchObject({ phase: "reducing", ...executable, attemptsSpent: 1 });
    h.evict();
    h.commit("evicted");
    expect(fold(ledger)).toMatchObject({ phase: "ready", ...executable });
    expect(fold(ledger).state?.activeResume?.entryId).toBe(resumed.turnId);
  });

  test("a failed transaction is resumed the same way", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.fail("deadline_exceeded");
    expect(fold(ledger)).toMatchObject({
      action: { kind: "recall_only", reason: "failed" },
      authority: "recall_only",
    });
    h.ask("reduce");
    h.resume("reduce");
    expect(fold(ledger)).toMatchObject({ phase: "resumed", ...executable });
  });

  function stopped(): { ledger: Ledger; h: Handoff; rows: () => Row[] } {
    const { ledger, h } = begin();
    h.prepare();
    h.pause();
    h.ask("reduce");
    h.resume("reduce");
    return { ledger, h, rows: () => ledger.rows };
  }

  function move(rows: Row[], from: number, to: number): Row[] {
    const copy = [...rows];
    copy.splice(to, 0, ...copy.splice(from, 1));
    return copy;
  }

  test("I38 a request stands strictly between the stop and the resume", () => {
    const { ledger, h } = stopped();
    const at = (id: unknown): number => ledger.rows.findIndex((row) => row["turnId"] === id);
    const request = at(h.request?.turnId);
    for (const rows of [move(ledger.rows, request, request - 1), move(ledger.rows, request, request + 1)]) {
      expect(foldRows(rows, { sessionId: "s1", nowMs: ledger.nowMs })).toMatchObject({
        ...disputed,
        phase: "paused",
        anomalies: [{ kind: "unvalidated_resume_authority" }],
      });
    }
  });

  test.each([
    ["position at the stop", (row: Row) => ({ ...row, position: 3 })],
    ["position at the resume", (row: Row) => ({ ...row, position: 5 })],
    ["another handoff", (row: Row) => ({ ...row, handoffId: "other" })],
    ["another action", (row: Row) => ({ ...row, action: "deliver" })],
    ["another head", (row: Row) => ({ ...row, pausedOrFailedEntryId: "other" })],
    ["another session", (row: Row) => ({ ...row, originSessionId: "other" })],
    ["another id", (row: Row) => ({ ...row, operatorRequestEntryId: "other" })],
    ["a negative time", (row: Row) => ({ ...row, acceptedAtMs: -1 })],
    ["a fractional time", (row: Row) => ({ ...row, acceptedAtMs: startMs + 0.5 })],
    ["no time", (row: Row) => ({ ...row, acceptedAtMs: Number.NaN })],
  ])("I39 a request of %s is none (I46 where its time is unusable)", (_name, change) => {
    const { ledger, h } = stopped();
    const row = {
      operatorRequestEntryId: h.request?.turnId,
      handoffId: h.identity.handoffId,
      action: "reduce",
      pausedOrFailedEntryId: h.request?.data.pausedOrFailedEntryId,
      originSessionId: "s1",
      position: 4,
      acceptedAtMs: startMs,
    };
    const asked = (authority: Row): ReturnType<typeof fold> =>
      fold(ledger, { evidence: { resumeAuthorities: [authority as never] } });
    expect(asked(row)).toMatchObject({ phase: "resumed", validated: true });
    expect(asked(change(row))).toMatchObject({
      ...disputed,
      phase: "paused",
      anomalies: [{ kind: "unvalidated_resume_authority", entryId: h.state?.transition.entryId }],
    });
  });

  test("of several requests under one id the fitting one counts", () => {
    const { ledger, h } = stopped();
    const fitting = {
      operatorRequestEntryId: h.request?.turnId as string,
      handoffId: h.identity.handoffId,
      action: "reduce" as const,
      pausedOrFailedEntryId: h.request?.data.pausedOrFailedEntryId as string,
      originSessionId: "s1",
      position: 4,
      acceptedAtMs: startMs,
    };
    const other = { ...fitting, originSessionId: "s9" };
    expect(fold(ledger, { evidence: { resumeAuthorities: [other, fitting] } })).toMatchObject({
      phase: "resumed",
      validated: true,
    });
    expect(fold(ledger, { evidence: { resumeAuthorities: [] } })).toMatchObject({
      phase: "paused",
      validated: false,
    });
  });

  test("I40 an older pause cannot be cited", () => {
    const { ledger, h } = stopped();
    const older = h.request?.data.pausedOrFailedEntryId as string;
    h.pause();
    h.ask("reduce", { pausedOrFailedEntryId: older });
    const authority = {
      operatorRequestEntryId: h.request?.turnId as string,
      pausedOrFailedEntryId: older,
      action: "reduce" as const,
      automaticDeadlineAtMs: ledger.nowMs + 1000,
    };
    h.write({ phase: "resumed", authority });
    expect(fold(ledger)).toMatchObject({
      ...disputed,
      phase: "paused",
      anomalies: [{ kind: "unmatched_resume" }],
    });
  });

  test("the stop that a resume answers is a stop of this handoff in the ledger", () => {
    const { ledger, h } = begin();
    h.toReady("continuity_only");
    h.pause();
    const payload = h.payload();
    // The pause is known from a carry alone.
    ledger.rows.pop();
    h.carry(payload);
    h.ask("deliver");
    h.resume("deliver");
    expect(fold(ledger)).toMatchObject({
      ...disputed,
      phase: "paused",
      anomalies: [{ kind: "unmatched_resume" }],
    });
  });

  describe("I41 a resume reference", () => {
    const event = (h: Handoff): HandoffEvent => ({
      phase: "reducing",
      resumeRef: h.state?.transition.entryId as string,
    });

    test("is needed behind a resume, and names it", () => {
      for (const bad of [{ phase: "reducing" }, { phase: "reducing", resumeRef: "other" }] as const) {
        const { ledger, h } = stopped();
        h.write(bad);
        expect(fold(ledger)).toMatchObject({
          ...disputed,
          phase: "resumed",
          anomalies: [{ kind: "missing_resume_ref" }],
        });
      }
      const { ledger, h } = stopped();
      h.write(event(h));
      expect(fold(ledger)).toMatchObject({ phase: "reducing", validated: true });
    });

    test("is forbidden anywhere else", () => {
      const { ledger, h } = begin();
      h.prepare();
      h.write(event(h));
      expect(fold(ledger)).toMatchObject({
        ...disputed,
        phase: "prepared",
        anomalies: [{ kind: "missing_resume_ref" }],
      });

      const failed = begin();
      failed.h.prepare();
      failed.h.pause();
      failed.h.ask("reduce");
      const resumed = failed.h.resume("reduce");
      failed.h.reduce();
      failed.h.fail("provider_failed");
      failed.h.write({ phase: "reducing", resumeRef: resumed.turnId });
      expect(fold(failed.ledger)).toMatchObject({
        phase: "failed",
        anomalies: [{ kind: "missing_resume_ref" }],
      });
    });

    test("permits what was granted, nothing else", () => {
      const { ledger, h } = stopped();
      const resumeRef = h.state?.transition.entryId as string;
      h.write({ phase: "delivered", deliveryId: "d", continuationTurnId: "c", resumeRef });
      expect(fold(ledger)).toMatchObject({
        ...disputed,
        phase: "resumed",
        anomalies: [{ kind: "illegal_transition", detail: "delivered under a permission to reduce" }],
      });

      const ready = begin();
      ready.h.toReady("continuity_only");
      ready.h.pause();
      ready.h.ask("deliver");
      ready.h.resume("deliver");
      ready.h.write({ phase: "reducing", resumeRef: ready.h.state?.transition.entryId as string });
      expect(fold(ready.ledger)).toMatchObject({
        phase: "resumed",
        anomalies: [{ kind: "illegal_transition", detail: "reducing under a permission to deliver" }],
      });
    });
  });

  test("I42 no delivery without a commit, no reduction behind one", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.pause();
    h.ask("deliver");
    h.resume("deliver");
    expect(fold(ledger)).toMatchObject({
      ...disputed,
      phase: "paused",
      anomalies: [{ kind: "illegal_transition", detail: "a permission to deliver without a commit" }],
    });

    const ready = begin();
    ready.h.toReady("continuity_only");
    ready.h.pause();
    ready.h.ask("reduce");
    ready.h.resume("reduce");
    expect(fold(ready.ledger)).toMatchObject({
      phase: "paused",
      anomalies: [{ kind: "illegal_transition", detail: "a permission to reduce behind a commit" }],
    });
  });

  test("I43 a resume gives no attempt back", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.reduce();
    h.pause();
    h.ask("reduce");
    h.resume("reduce");
    expect(fold(ledger)).toMatchObject({ attemptsSpent: 1, ...executable });
    h.reduce();
    expect(fold(ledger)).toMatchObject({ attemptsSpent: 2, action: { reason: "attempts_exhausted" } });
  });

  test("I44 the renewed deadline counts from the time of the request", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.pause();
    ledger.nowMs += 10 * HANDOFF_MAX_WINDOW_MS;
    const acceptedAt = ledger.nowMs;
    h.ask("reduce");
    ledger.nowMs += 60_000;
    h.resume("reduce", acceptedAt + 100 * HANDOFF_MAX_WINDOW_MS);
    const deadline = acceptedAt + HANDOFF_MAX_WINDOW_MS;
    expect(fold(ledger)).toMatchObject({ effectiveDeadlineAtMs: deadline, ...executable });
    expect(fold(ledger, { nowMs: deadline - 1 })).toMatchObject(executable);
    expect(fold(ledger, { nowMs: deadline })).toMatchObject({
      authority: "recall_only",
      validated: true,
      action: { kind: "fail", reason: "deadline_exceeded" },
    });
    const early = stopped();
    early.h.pause();
    early.h.ask("reduce");
    early.h.resume("reduce", early.ledger.nowMs + 5);
    expect(fold(early.ledger).effectiveDeadlineAtMs).toBe(early.ledger.nowMs - 1000 + 5);
  });

  test("I45 a clock behind the request is ambiguous", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.pause();
    const acceptedAt = ledger.nowMs;
    h.ask("reduce");
    h.resume("reduce");
    expect(fold(ledger, { nowMs: acceptedAt - 1 })).toMatchObject({
      authority: "recall_only",
      validated: true,
      action: { kind: "recall_only", reason: "clock_ambiguous" },
    });
    expect(fold(ledger, { nowMs: acceptedAt })).toMatchObject(executable);
  });

  test("I47 a later copy of the pause does not outdate its request", () => {
    const { ledger, h } = begin();
    h.prepare();
    const paused = h.pause();
    h.ask("reduce");
    ledger.rows.push(structuredClone(paused) as unknown as Row);
    h.resume("reduce");
    expect(fold(ledger)).toMatchObject({ phase: "resumed", ...executable });
  });
});

describe("the clock", () => {
  test("I48 the window ends when its deadline is reached; a longer one is cut", () => {
    const { ledger, h } = begin();
    h.prepare();
    const deadline = h.policy.automaticDeadlineAtMs;
    expect(fold(ledger, { nowMs: deadline - 1 })).toMatchObject(executable);
    expect(fold(ledger, { nowMs: deadline })).toMatchObject({
      validated: true,
      action: { kind: "fail", reason: "deadline_exceeded" },
    });

    const long = begin({ automaticDeadlineAtMs: startMs * 2 });
    long.h.prepare();
    expect(fold(long.ledger).effectiveDeadlineAtMs).toBe(long.h.policy.preparedAtMs + HANDOFF_MAX_WINDOW_MS);
    const short = begin({ automaticDeadlineAtMs: startMs + 5000 });
    short.h.prepare();
    expect(fold(short.ledger).effectiveDeadlineAtMs).toBe(startMs + 5000);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, startMs + 1999])(
    "I49 %d is no time for it",
    (nowMs) => {
      const { ledger, h } = begin();
      h.prepare();
      expect(fold(ledger, { nowMs })).toMatchObject({
        authority: "recall_only",
        validated: true,
        action: { kind: "recall_only", reason: "clock_ambiguous" },
      });
    },
  );

  test("a stopped or acknowledged transaction asks for no clock", () => {
    const { ledger, h } = begin();
    h.complete();
    expect(fold(ledger, { nowMs: Number.NaN })).toMatchObject({ action: { kind: "none" } });
    const paused = begin();
    paused.h.prepare();
    paused.h.pause();
    expect(fold(paused.ledger, { nowMs: Number.NaN })).toMatchObject({ action: { reason: "paused" } });
  });

  test("an expired delivery with a finished response still names it", () => {
    const { ledger, h } = begin();
    h.toReady("continuity_only");
    h.deliver();
    const { turnId } = h.respond();
    expect(fold(ledger, { nowMs: startMs * 2 })).toMatchObject({
      action: { kind: "fail", reason: "deadline_exceeded" },
      unacknowledgedResponseEntryId: turnId,
    });
    expect(fold(ledger, { historical: true }).unacknowledgedResponseEntryId).toBeNull();
  });
});
