/** Carries: a later summary's copy of the transaction, what it may tell, and what it can rebuild. */
import { describe, expect, test } from "vitest";
import {
  type ContinuityCheckpointPayload,
  type ContinuityFoldResult,
  continuityPayloadFromFold,
  type HandoffState,
  missingCommitFromCarry,
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
  startMs,
} from "../support/handoffs.ts";

function begin(policy: object = {}): { ledger: Ledger; h: Handoff } {
  const ledger = createLedger();
  ledger.user();
  ledger.assistant();
  return { ledger, h: ledger.handoff({ policy }) };
}

function ready(): { ledger: Ledger; h: Handoff } {
  const { ledger, h } = begin();
  h.toReady("continuity_only");
  return { ledger, h };
}

const disputed = { validated: false, authority: "recall_only", action: { reason: "conflicting_evidence" } };

/** A payload with its state replaced in part. */
function stateOf(h: Handoff, change: Partial<HandoffState>): ContinuityCheckpointPayload {
  const whole = structuredClone(h.payload());
  return { ...whole, state: { ...whole.state, ...change } };
}

function link(h: Handoff, ahead: number, more: object = {}): HandoffState["transition"] {
  const last = (h.state as HandoffState).transition;
  return {
    entryId: `ahead-${ahead}`,
    prevEntryId: ahead === 1 ? last.entryId : `ahead-${ahead - 1}`,
    sequence: last.sequence + ahead,
    attempt: last.attempt,
    ...more,
  };
}

const delivery = { deliveryId: "d", continuationTurnId: "c" };
const events = {
  delivered: { phase: "delivered", ...delivery },
  acknowledged: { phase: "acknowledged", deliveryId: "d", terminalResponseEntryId: "r" },
  paused: { phase: "paused", reason: "operator_cancelled" },
  failed: { phase: "failed", reason: "provider_failed" },
  reducing: { phase: "reducing" },
} as const;

/** The ledger without its transaction and commit records: what a compacted context's ledger may be cut down to. */
function onlySummaries(rows: readonly Row[]): Row[] {
  return rows.filter((row) => !["handoffTransaction", "continuityCommit"].includes(row["kind"] as string));
}

function foldOf(ledger: Ledger, rows: readonly Row[]): ContinuityFoldResult {
  return foldRows(rows, { sessionId: "s1", nowMs: ledger.nowMs });
}

describe("I19 a carry that makes up an extension", () => {
  test("an acknowledged transaction is not reopened", () => {
    for (const event of [events.paused, events.delivered]) {
      const { ledger, h } = begin();
      h.complete("continuity_only");
      h.carry(stateOf(h, { event, transition: link(h, 2), delivery }));
      expect(fold(ledger)).toMatchObject({
        ...disputed,
        phase: "acknowledged",
        anomalies: [{ kind: "fabricated_carry_extension" }],
      });
    }
  });

  test("a ready is not made up behind a prepared head, nor behind a stopped one", () => {
    for (const stop of [undefined, (h: Handoff) => h.pause(), (h: Handoff) => h.fail()]) {
      const { ledger, h } = begin();
      h.prepare();
      h.reduce();
      stop?.(h);
      const first = 4;
      h.commitData = {
        outcome: "continuity_only",
        entry: { turnId: h.identity.commitEntryId, parentTurnId: null, timestamp: "2026-01-01T00:00:00Z" },
        transition: { entryId: h.identity.commitEntryId, prevEntryId: "x", sequence: first + 50, attempt: 1 },
        tokensBefore: 1,
        tokensAfter: 1,
      };
      const state = {
        transition: h.commitData.transition,
        event: { phase: "ready" } as const,
        activeResume: null,
        delivery: null,
      };
      h.carry(h.payload(state));
      const result = fold(ledger);
      if (stop !== undefined)
        expect(result).toMatchObject({ ...disputed, anomalies: [{ kind: "fabricated_carry_extension" }] });
      // What a chain of more steps could have led to is believed of a carry; the commit it tells of is rebuilt.
      else
        expect(result).toMatchObject({
          validated: true,
          phase: "ready",
          action: { kind: "reconstruct_commit" },
        });
    }
  });

  test.each([
    ["delivered", "ready", false],
    ["delivered", "reducing", false],
    ["delivered", "paused", true],
    ["delivered", "acknowledged", true],
    ["paused", "delivered", false],
  ])("from %s two steps on to %s: %s", (from, to, isLegal) => {
    const { ledger, h } = ready();
    if (from === "delivered") h.deliver();
    if (from === "paused") h.pause();
    const event = to === "ready" ? { phase: "ready" as const } : events[to as keyof typeof events];
    h.carry(stateOf(h, { event, transition: link(h, 2), delivery: h.state?.delivery ?? null }));
    const result = fold(ledger);
    if (isLegal) expect(result.phase).toBe(to);
    else expect(result).toMatchObject({ ...disputed, phase: from });
  });
});

describe("I20 a carry of one step is held to the rules of a successor", () => {
  test("a legal one moves the head", () => {
    const { ledger, h } = ready();
    h.carry(stateOf(h, { event: events.delivered, transition: link(h, 1), delivery }));
    expect(fold(ledger)).toMatchObject({
      validated: true,
      phase: "delivered",
      state: { delivery },
      action: { kind: "pause", reason: "delivery_uncertain" },
    });
  });

  test.each<[string, (h: Handoff) => Partial<HandoffState>, string]>([
    [
      "another predecessor",
      (h) => ({ event: events.paused, transition: link(h, 1, { prevEntryId: "elsewhere" }) }),
      "broken_chain",
    ],
    [
      "a phase that cannot follow",
      (h) => ({ event: events.failed, transition: link(h, 1) }),
      "illegal_transition",
    ],
    [
      "an attempt more",
      (h) => ({ event: events.paused, transition: link(h, 1, { attempt: 2 }) }),
      "invalid_attempt",
    ],
    [
      "a permission that nothing gave",
      (h) => ({ event: { ...events.delivered, resumeRef: "r" }, transition: link(h, 1), delivery }),
      "missing_resume_ref",
    ],
  ])("%s", (_name, change, kind) => {
    const { ledger, h } = ready();
    h.carry(stateOf(h, change(h)));
    expect(fold(ledger)).toMatchObject({ ...disputed, phase: "ready", anomalies: [{ kind }] });
  });
});

describe("I21 a carry at the head's own sequence says all that the head says", () => {
  test("the same: nothing changes", () => {
    const { ledger, h } = ready();
    h.deliver();
    const before = fold(ledger);
    h.carry();
    expect(fold(ledger)).toEqual({ ...before });
  });

  test.each<[string, Partial<HandoffState>]>([
    [
      "another delivery id",
      { event: { ...events.delivered, deliveryId: "x" }, delivery: { ...delivery, deliveryId: "x" } },
    ],
    [
      "a permission",
      {
        activeResume: {
          entryId: "r",
          authority: {
            operatorRequestEntryId: "q",
            pausedOrFailedEntryId: "p",
            action: "deliver",
            automaticDeadlineAtMs: 1,
          },
        },
      },
    ],
  ])("%s", (_name, change) => {
    const { ledger, h } = ready();
    h.deliver();
    h.carry(stateOf(h, change));
    expect(fold(ledger)).toMatchObject({
      ...disputed,
      phase: "delivered",
      anomalies: [{ kind: "conflicting_carry" }],
    });
  });
});

test("I22 a carry that gives an attempt back", () => {
  const { ledger, h } = begin();
  h.prepare();
  h.reduce();
  h.fail();
  h.reduce();
  h.commit("continuity_only");
  const payload = stateOf(h, { event: events.paused, transition: link(h, 2, { attempt: 1 }) });
  h.carry({
    ...payload,
    commit: { ...payload.commit, transition: { ...payload.commit.transition, attempt: 1 } },
  });
  // The commit was changed with it, so that the payload is well-formed: the commit on record differs.
  expect(fold(ledger)).toMatchObject({ ...disputed, anomalies: [{ kind: "conflicting_carry" }] });
  ledger.rows.pop();
  const { ledger: other, h: twice } = begin();
  twice.prepare();
  twice.reduce();
  twice.fail();
  twice.reduce();
  const early = { entryId: twice.identity.commitEntryId, prevEntryId: "x", sequence: 6, attempt: 1 };
  twice.commitData = {
    outcome: "continuity_only",
    entry: { turnId: twice.identity.commitEntryId, parentTurnId: null, timestamp: "2026-01-01T00:00:00Z" },
    transition: early,
    tokensBefore: 1,
    tokensAfter: 1,
  };
  twice.carry(
    twice.payload({ transition: early, event: { phase: "ready" }, activeResume: null, delivery: null }),
  );
  expect(fold(other)).toMatchObject({
    ...disputed,
    attemptsSpent: 2,
    anomalies: [{ kind: "invalid_attempt" }],
  });
});

test("I23 another link at the same sequence", () => {
  const { ledger, h } = ready();
  h.pause();
  h.carry(stateOf(h, { transition: { ...link(h, 0), entryId: "other" } }));
  expect(fold(ledger)).toMatchObject({
    ...disputed,
    phase: "paused",
    anomalies: [{ kind: "conflicting_carry" }],
  });
});

describe("I24 two carries that disagree", () => {
  test("about the same sequence, whether or not it is the head's", () => {
    const { ledger, h } = ready();
    const at = link(h, 1);
    h.carry(stateOf(h, { event: events.paused, transition: at }));
    h.carry(stateOf(h, { event: { phase: "paused", reason: "origin_changed" }, transition: at }));
    expect(fold(ledger)).toMatchObject({ ...disputed, anomalies: [{ kind: "conflicting_carry" }] });
  });

  test("a policy that was changed; an identity that was", () => {
    const { ledger, h } = ready();
    h.carry({ ...h.payload(), policy: { ...h.policy, maxAttempts: 1 } });
    expect(kindsOf(fold(ledger))).toEqual(["policy_conflict"]);
    const other = ready();
    other.h.carry({ ...other.h.payload(), identity: { ...other.h.identity, sourceRevision: "r" } });
    expect(kindsOf(fold(other.ledger))).toEqual(["duplicate_conflict"]);
  });

  test("about the commit, and about the note", () => {
    const { ledger, h } = ready();
    h.carry({ ...h.payload(), commit: { ...h.payload().commit, tokensAfter: 1 } });
    expect(kindsOf(fold(ledger))).toEqual(["conflicting_carry"]);
    const other = ready();
    other.h.carry({
      ...other.h.payload(),
      accepted: ready().ledger.handoff({ note: "changed" }).payload().accepted,
    });
    expect(kindsOf(fold(other.ledger))).toEqual(["conflicting_carry"]);
  });

  test("of one summary id", () => {
    const { ledger, h } = ready();
    const row = h.carry();
    ledger.rows.push({ ...row, summary: "another text, the same carry" });
    expect(fold(ledger).validated).toBe(true);
    ledger.rows.push({ ...row, continuity: stateOf(h, { event: events.paused, transition: link(h, 1) }) });
    expect(kindsOf(fold(ledger))).toEqual(["conflicting_carry"]);
  });
});

/** A committed transaction that was paused and resumed to be delivered. */
function resumed(): { ledger: Ledger; h: Handoff } {
  const { ledger, h } = ready();
  h.pause();
  h.ask("deliver");
  h.resume("deliver");
  return { ledger, h };
}

describe("I25 a carried resume whose records are missing or out of order", () => {
  const idOf = (row: Row | undefined): unknown => row?.["turnId"];
  const parts = (rows: readonly Row[]): { pause: unknown; ask: unknown; resume: unknown } => ({
    pause: idOf(rows.find((row) => (row["event"] as Row | undefined)?.["phase"] === "paused")),
    ask: idOf(rows.find((row) => row["kind"] === "custom")),
    resume: idOf(rows.find((row) => (row["event"] as Row | undefined)?.["phase"] === "resumed")),
  });
  const without = (rows: readonly Row[], id: unknown): Row[] => rows.filter((row) => row["turnId"] !== id);

  /** Only a carry leads to the resume: the chain's own records below it are gone. */
  function carried(spoil: (rows: Row[]) => Row[]): ContinuityFoldResult {
    const { ledger, h } = resumed();
    h.deliver();
    h.carry();
    const own = h.identity;
    const cut = ledger.rows.filter(
      (row) => ![own.preparedEntryId, own.commitEntryId].includes(row["turnId"] as string),
    );
    const kept = cut.filter((row) => {
      const phase = (row["event"] as Row | undefined)?.["phase"];
      return phase !== "reducing" && phase !== "delivered";
    });
    const carry = kept.at(-1) as Row;
    // The carry first, so that the head is its own and the resume's records are looked for.
    return foldRows(spoil([...kept.slice(0, -1), carry]), { sessionId: "s1", nowMs: ledger.nowMs });
  }

  test.each<[string, (rows: Row[]) => Row[]]>([
    ["no resume record", (rows) => without(rows, parts(rows).resume)],
    ["no request", (rows) => without(rows, parts(rows).ask)],
    ["no stopped record", (rows) => without(rows, parts(rows).pause)],
    [
      "the request before the stop",
      (rows) => {
        const ask = rows.find((row) => row["kind"] === "custom") as Row;
        return [rows[0] as Row, ask, ...without(rows, ask["turnId"]).slice(1)];
      },
    ],
    [
      "the request behind the resume",
      (rows) => {
        const ask = rows.find((row) => row["kind"] === "custom") as Row;
        return [...without(rows, ask["turnId"]), ask];
      },
    ],
  ])("%s", (_name, spoil) => {
    const result = carried(spoil);
    expect(result.validated).toBe(false);
    expect(kindsOf(result)).toContain("unvalidated_resume_authority");
  });

  test("another permission than the record's; another answered head", () => {
    for (const change of [{ automaticDeadlineAtMs: 5 }, { pausedOrFailedEntryId: "other" }]) {
      const { ledger, h } = resumed();
      h.deliver();
      const activeResume = h.state?.activeResume as NonNullable<HandoffState["activeResume"]>;
      h.carry(
        stateOf(h, {
          event: events.paused,
          transition: link(h, 1),
          activeResume: { ...activeResume, authority: { ...activeResume.authority, ...change } },
        }),
      );
      expect(kindsOf(fold(ledger))).toEqual(["unvalidated_resume_authority"]);
    }
  });
});

test("I26 a resume that only a carry tells of stays recall-only, with no carry and no reconstruction", () => {
  const { ledger, h } = resumed();
  h.carry();
  const rows = onlySummaries(ledger.rows);
  const result = foldOf(ledger, rows);
  expect(result).toMatchObject({ validated: false, missingCommit: null });
  expect(kindsOf(result)).toEqual(["unvalidated_resume_authority"]);
  expect(result.authority).not.toBe("execution");
  expect(continuityPayloadFromFold(result)).toBeNull();
  expect(missingCommitFromCarry(result)).toBeNull();
});

describe("I27 a carried permission to reduce behind a commit", () => {
  test("as the head is refused", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.pause();
    h.ask("reduce");
    h.resume("reduce");
    const activeResume = h.state?.activeResume as NonNullable<HandoffState["activeResume"]>;
    const at = h.state?.transition as HandoffState["transition"];
    h.commitData = {
      outcome: "continuity_only",
      entry: { turnId: h.identity.commitEntryId, parentTurnId: null, timestamp: "2026-01-01T00:00:00Z" },
      transition: { entryId: h.identity.commitEntryId, prevEntryId: "x", sequence: 1, attempt: 1 },
      tokensBefore: 1,
      tokensAfter: 1,
    };
    h.carry({
      ...h.payload({
        transition: { ...at, sequence: at.sequence + 2, attempt: 1 },
        event: { phase: "resumed", authority: activeResume.authority },
        activeResume,
        delivery: null,
      }),
    });
    const result = fold(ledger);
    expect(result.validated).toBe(false);
    expect(kindsOf(result)).toEqual(["unvalidated_resume_authority"]);
  });
});

test("I28 a historical permission to reduce, kept under a later head, is accepted", () => {
  const { ledger, h } = begin();
  h.prepare();
  h.pause();
  h.ask("reduce");
  h.resume("reduce");
  h.reduce();
  h.commit("continuity_only");
  h.pause();
  h.carry();
  const payload = h.payload();
  const rows = ledger.rows.filter((row) => row["turnId"] !== payload.state.transition.entryId);
  expect(foldOf(ledger, rows)).toMatchObject({
    validated: true,
    phase: "paused",
    state: { activeResume: payload.state.activeResume },
  });
});

describe("I30 unreadable evidence fails closed", () => {
  test("with the commit and without it", () => {
    for (const prepare of [(h: Handoff) => h.prepare(), (h: Handoff) => h.toReady("continuity_only")]) {
      const { ledger, h } = begin();
      prepare(h);
      expect(fold(ledger).validated).toBe(true);
      const result = fold(ledger, { unreadableRecords: 1 });
      expect(result).toMatchObject({ ...disputed, skipped: { unreadable: 1 } });
      expect(kindsOf(result)).toEqual(["malformed_record"]);
    }
  });
});

test("I31 the note of the first carry is verified", () => {
  const { ledger, h } = ready();
  const accepted = { ...h.payload().accepted, noteSha256: "0".repeat(64) };
  h.carry({ ...h.payload(), accepted });
  const alone = foldOf(ledger, onlySummaries(ledger.rows));
  expect(alone).toMatchObject({ validated: false, identity: null, accepted: null, authority: "none" });
  expect(kindsOf(alone)).toEqual(["unverified_note"]);
  // Beside a copy that is known the two are compared.
  expect(kindsOf(fold(ledger))).toEqual(["conflicting_carry"]);
});

describe("I32 a malformed record that claims to be one of ours is reported", () => {
  test.each<[string, Row]>([
    ["a transaction", { kind: "handoffTransaction", turnId: "bad", identity: null, event: null }],
    ["a commit", { kind: "continuityCommit", turnId: "bad" }],
    ["a summary's carry", { kind: "compactionSummary", turnId: "bad", summary: "", continuity: 7 }],
  ])("%s, at any place, with and without a transaction", (_name, row) => {
    const { ledger, h } = begin();
    expect(foldOf(ledger, [...ledger.rows, row])).toMatchObject({
      phase: "absent",
      authority: "none",
      validated: false,
    });
    h.prepare();
    for (const rows of [
      [row, ...ledger.rows],
      [...ledger.rows, row],
    ]) {
      expect(foldOf(ledger, rows)).toMatchObject({
        ...disputed,
        phase: "prepared",
        anomalies: [{ kind: "malformed_continuity_record", entryId: "bad" }],
      });
    }
  });
});

describe("I50 a commit that stands later in the file is not missing", () => {
  test("behind the carry that told of it, the head stays", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.reduce();
    h.summarize();
    const summary = ledger.rows.length;
    h.commit("summarized");
    const rows = ledger.rows;
    expect(foldOf(ledger, rows.slice(0, summary))).toMatchObject({ action: { kind: "reconstruct_commit" } });
    expect(foldOf(ledger, rows)).toMatchObject({
      validated: true,
      missingCommit: null,
      phase: "ready",
      action: { kind: "none" },
    });
  });
});

describe("I51 a lost commit is rebuilt under its reserved id and keeps the later head", () => {
  test("appended, the fold is stable", () => {
    const { ledger, h } = begin();
    h.toReady("summarized");
    h.deliver();
    h.respond();
    h.acknowledge();
    h.carry();
    const commit = ledger.rows.find((row) => row["kind"] === "continuityCommit") as Row;
    const rows = ledger.rows.filter((row) => row !== commit);
    const missing = foldOf(ledger, rows);
    expect(missing).toMatchObject({ validated: true, phase: "acknowledged", action: { kind: "none" } });
    expect(missing.missingCommit?.entry).toEqual(commit);
    expect(missing.missingCommit?.carriedState).toEqual(missing.state);
    expect(missingCommitFromCarry(missing)).toEqual(missing.missingCommit);
    const rebuilt = foldOf(ledger, [...rows, missing.missingCommit?.entry as unknown as Row]);
    expect(rebuilt).toEqual({ ...missing, missingCommit: null });
    expect(foldOf(ledger, [...rows, commit, structuredClone(commit)])).toEqual(rebuilt);
  });
});

describe("I52 a carried acknowledgement whose records do not match", () => {
  function acknowledged(): { ledger: Ledger; h: Handoff } {
    const { ledger, h } = begin();
    h.complete("continuity_only");
    h.carry();
    return { ledger, h };
  }
  test("with all its records it holds", () => {
    const { ledger } = acknowledged();
    expect(fold(ledger)).toMatchObject({ validated: true, phase: "acknowledged" });
  });
  test("without the acknowledgement, the delivery, or the response", () => {
    const { ledger, h } = acknowledged();
    const phaseIs = (phase: string) => (row: Row) => (row["event"] as Row | undefined)?.["phase"] === phase;
    const isResponse = (row: Row): boolean =>
      (row["payload"] as Row | undefined)?.["continuityDeliveryId"] === h.state?.delivery?.deliveryId;
    for (const isLeft of [phaseIs("acknowledged"), phaseIs("delivered"), isResponse]) {
      const result = foldOf(
        ledger,
        ledger.rows.filter((row) => !isLeft(row)),
      );
      expect(result.validated).toBe(false);
      expect(kindsOf(result)).toContain("acknowledgement_unsupported");
    }
  });
});

test("I53 a carried delivery that disagrees with its record", () => {
  const { ledger, h } = ready();
  h.deliver();
  h.respond();
  h.carry(
    stateOf(h, {
      event: { ...events.delivered, deliveryId: "other" },
      delivery: { ...delivery, deliveryId: "other" },
    }),
  );
  expect(fold(ledger)).toMatchObject({ ...disputed, anomalies: [{ kind: "conflicting_carry" }] });
});

test("I54 the id of a real resume with another permission", () => {
  const { ledger, h } = resumed();
  const activeResume = h.state?.activeResume as NonNullable<HandoffState["activeResume"]>;
  const authority = { ...activeResume.authority, automaticDeadlineAtMs: startMs * 2 };
  h.carry(
    stateOf(h, {
      event: events.paused,
      transition: link(h, 1),
      activeResume: { ...activeResume, authority },
    }),
  );
  expect(fold(ledger)).toMatchObject({
    ...disputed,
    phase: "resumed",
    anomalies: [{ kind: "unvalidated_resume_authority" }],
  });
});

test("I55 a commit rebuilt at the end of the file does not put a pause back", () => {
  const { ledger, h } = begin();
  h.prepare();
  h.reduce();
  h.summarize();
  h.commit("summarized");
  const commit = ledger.rows.pop() as Row;
  h.pause();
  expect(fold(ledger)).toMatchObject({ phase: "paused", validated: true });
  ledger.rows.push(commit);
  expect(fold(ledger)).toMatchObject({
    phase: "paused",
    validated: true,
    missingCommit: null,
    commit: { outcome: "summarized" },
  });
});

test("I56 unreadable records permit no conclusion that a commit is missing", () => {
  const { ledger, h } = begin();
  h.prepare();
  h.reduce();
  h.summarize();
  const result = fold(ledger, { unreadableRecords: 1 });
  expect(result).toMatchObject({ ...disputed, phase: "ready", missingCommit: null });
  expect(missingCommitFromCarry(result)).toBeNull();
  expect(continuityPayloadFromFold(result)).toBeNull();
});

test("I57 an evicted outcome outlives an ordinary summary", () => {
  const { ledger, h } = begin();
  h.toReady("evicted");
  const before = fold(ledger);
  const payload = continuityPayloadFromFold(before);
  expect(payload?.commit.outcome).toBe("evicted");
  h.carry(payload);
  expect(fold(ledger)).toEqual(before);
});

test("I58 copies in conflict propose nothing", () => {
  const { ledger, h } = begin();
  h.prepare();
  h.reduce();
  h.summarize();
  const summary = ledger.rows.at(-1) as Row;
  ledger.rows.push(
    ...changed([summary], summary["turnId"], (row) => {
      row["turnId"] = "other-summary";
      const continuity = row["continuity"] as { commit: Row };
      continuity.commit["tokensAfter"] = 1;
    }),
  );
  const result = fold(ledger);
  expect(result).toMatchObject({ ...disputed, missingCommit: null });
  expect(continuityPayloadFromFold(result)).toBeNull();
});

describe("I66 a carry holds identity, note, policy, commit and the head as it is by then", () => {
  test("and folds to the same from every phase behind a commit", () => {
    const steps: ((h: Handoff) => void)[] = [
      (h) => h.toReady("summarized"),
      (h) => h.deliver(),
      (h) => h.pause("delivery_uncertain"),
      (h) => [h.ask("deliver"), h.resume("deliver")],
      (h) => h.deliver(),
      (h) => [h.respond(), h.acknowledge()],
    ];
    const { ledger, h } = begin();
    for (const step of steps) {
      step(h);
      const before = fold(ledger);
      const payload = continuityPayloadFromFold(before);
      expect(payload).toEqual({
        schemaVersion: 1,
        identity: h.identity,
        accepted: before.accepted,
        policy: h.policy,
        commit: h.commitData,
        state: h.state,
      });
      h.carry(payload);
      expect(fold(ledger)).toEqual(before);
    }
  });

  test("whether it is executable or not", () => {
    const { ledger, h } = ready();
    for (const options of [{ nowMs: startMs * 2 }, { nowMs: Number.NaN }, { historical: true }]) {
      expect(continuityPayloadFromFold(fold(ledger, options))).toEqual(h.payload());
    }
  });
});

test("I67 before a commit there is nothing to carry", () => {
  const { ledger, h } = begin();
  expect(continuityPayloadFromFold(fold(ledger))).toBeNull();
  h.prepare();
  expect(continuityPayloadFromFold(fold(ledger))).toBeNull();
  h.reduce();
  expect(continuityPayloadFromFold(fold(ledger))).toBeNull();
});

test("a carry that stands alone is adopted, and a later record goes on from it", () => {
  const { ledger, h } = ready();
  h.carry();
  h.pause();
  const rows = ledger.rows.filter((row) => {
    const phase = (row["event"] as Row | undefined)?.["phase"];
    return row["kind"] !== "continuityCommit" && (phase === undefined || phase === "paused");
  });
  expect(foldOf(ledger, rows)).toMatchObject({ validated: true, phase: "paused" });
  expect(foldOf(ledger, rows).missingCommit?.entry.turnId).toBe(h.identity.commitEntryId);
});

test("a prepared behind a carry is an illegal transition", () => {
  const { ledger, h } = ready();
  h.carry();
  const prepared = ledger.rows.find((row) => row["turnId"] === h.identity.preparedEntryId) as Row;
  const rows = [...onlySummaries(ledger.rows), prepared];
  expect(kindsOf(foldOf(ledger, rows))).toEqual(["illegal_transition"]);
});

test("a carry behind the head is only compared", () => {
  const { ledger, h } = ready();
  const early = h.payload();
  h.deliver();
  h.carry(early);
  expect(fold(ledger)).toMatchObject({ validated: true, phase: "delivered" });
  h.carry(early);
  expect(fold(ledger)).toMatchObject({ validated: true, phase: "delivered" });
});

test("a carried commit at a sequence that the chain's own records fill is a lie", () => {
  const { ledger, h } = begin();
  h.prepare();
  h.reduce();
  h.pause();
  h.commitData = {
    outcome: "continuity_only",
    entry: { turnId: h.identity.commitEntryId, parentTurnId: null, timestamp: "2026-01-01T00:00:00Z" },
    transition: { entryId: h.identity.commitEntryId, prevEntryId: "x", sequence: 2, attempt: 1 },
    tokensBefore: 1,
    tokensAfter: 1,
  };
  h.carry(h.payload());
  expect(fold(ledger)).toMatchObject({
    ...disputed,
    phase: "paused",
    commit: null,
    anomalies: [{ kind: "conflicting_carry" }],
  });
});
