/** The projection: what a reader may show and replay, rule by rule. */
import { describe, expect, test } from "vitest";
import {
  continuityPayloadFromFold,
  continuityProjectionTokens,
  continuityReplayBlocks,
  continuityReplayText,
  estimateAgentMessageTokens,
  inheritedContinuityReplayText,
  missingCommitFromCarry,
  type ProjectedContinuityNote,
} from "../../src/continuity/index.ts";
import {
  changed,
  createLedger,
  fold,
  forkLedger,
  type Handoff,
  kindsOf,
  type Ledger,
  project,
  type Row,
} from "../support/handoffs.ts";

function begin(sessionId = "s1"): { ledger: Ledger; h: Handoff } {
  const ledger = createLedger(sessionId);
  ledger.user();
  ledger.assistant();
  return { ledger, h: ledger.handoff() };
}

/** A session with one whole handoff, and a fork of it at its newest message. */
function forked(complete: (h: Handoff) => void = (h) => h.complete()): {
  parent: Ledger;
  h: Handoff;
  child: Ledger;
  fork: { parentSessionId: string; parentTurnId: string };
} {
  const { ledger: parent, h } = begin("A");
  complete(h);
  const at = parent.assistant({ text: "fork here" }).turnId;
  return { parent, h, child: forkLedger(parent, at, "B"), fork: { parentSessionId: "A", parentTurnId: at } };
}

const nothing = {
  current: null,
  note: null,
  inherited: [],
  noteAnchorTurnId: null,
};

describe("record facts", () => {
  test("P1 facts are read by structure, so that a malformed record hides no collision", () => {
    const { ledger, h } = begin();
    h.prepare();
    const other = ledger.handoff();
    // Not well-formed (no schema, no link), and still it says whose it is.
    ledger.rows.push({
      kind: "handoffTransaction",
      turnId: h.identity.preparedEntryId,
      identity: other.identity,
      event: { phase: "paused" },
    });
    expect(kindsOf(project(ledger))).toContain("entry_id_reused");
    expect(project(ledger).authoritySuppressed).toBe(true);
  });

  test("P1 an accepted note counts only in a preparation, a commit or a carry", () => {
    const { ledger, h } = begin();
    h.prepare();
    const reducing = h.reduce() as unknown as Row;
    const rows = changed(ledger.rows, reducing["turnId"], (row) => {
      (row["event"] as Row)["accepted"] = { note: "smuggled" };
    });
    expect(project(ledger, { entries: rows }).anomalies).toEqual([]);
  });

  test("P1 values that are no records at all are passed over", () => {
    const { ledger } = begin();
    ledger.rows.push(null as never, 4 as never, "x" as never);
    ledger.rows.push({ kind: "handoffTransaction", turnId: 3, identity: 7, event: [] });
    ledger.rows.push({ kind: "continuityCommit" }, { kind: "compactionSummary", continuity: null });
    expect(kindsOf(project(ledger))).toEqual(Array(3).fill("malformed_continuity_record"));
  });

  test("P2 no facts: empty, whoever asks", () => {
    const { ledger } = begin();
    for (const sessionId of ["s1", undefined, ""]) {
      expect(project(ledger, { sessionId })).toEqual({
        ...nothing,
        anomalies: [],
        authoritySuppressed: false,
        inheritedAnchorTurnId: null,
        foreignRecordsIgnored: 0,
      });
    }
  });
});

describe("collisions", () => {
  test("P3 one entry id of two owners disputes both", () => {
    const { ledger, h } = begin();
    h.prepare();
    const other = ledger.handoff();
    other.prepare();
    other.write({ phase: "paused", reason: "operator_cancelled" }, { entryId: h.identity.preparedEntryId });
    const both = project(ledger);
    expect(both.anomalies).toMatchObject([{ kind: "entry_id_reused", entryId: h.identity.preparedEntryId }]);
    expect(both).toMatchObject({ authoritySuppressed: true, note: { handoffId: other.identity.handoffId } });
    // The first claimant is disputed just as much: as the current one it is suppressed.
    const first = ledger.rows.filter((row) => row["turnId"] !== other.identity.preparedEntryId);
    expect(project(ledger, { entries: first }).authoritySuppressed).toBe(true);
  });

  test("P3 the same owner may use it again; another origin is another owner", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.reduce();
    ledger.rows.push(structuredClone(ledger.rows.at(-1)) as Row);
    expect(project(ledger).anomalies).toEqual([]);
    const rows = [
      ...ledger.rows,
      ...changed(ledger.rows.slice(-1), ledger.rows.at(-1)?.["turnId"], (row) => {
        (row["identity"] as Row)["originSessionId"] = "other";
      }),
    ];
    expect(kindsOf(project(ledger, { entries: rows }))).toContain("entry_id_reused");
  });

  test("P4 two identities of one handoff", () => {
    const { ledger, h } = begin();
    h.prepare();
    const reducing = h.reduce() as unknown as Row;
    const rows = changed(ledger.rows, reducing["turnId"], (row) => {
      (row["identity"] as Row)["sourceRevision"] = "other";
    });
    expect(project(ledger, { entries: rows })).toMatchObject({
      authoritySuppressed: true,
      anomalies: [
        {
          kind: "duplicate_conflict",
          entryId: reducing["turnId"],
          detail: expect.stringContaining("two different immutable identities"),
        },
      ],
    });
  });

  test("P5 two accepted notes of one handoff: the first is the reference, each other one an anomaly", () => {
    const { ledger, h } = begin();
    h.toReady("continuity_only");
    const { accepted } = ledger.handoff({ note: "newer" }).payload();
    for (let i = 0; i < 2; i += 1) h.carry({ ...h.payload(), accepted });
    const result = project(ledger);
    expect(result.anomalies).toHaveLength(2);
    for (const anomaly of result.anomalies)
      expect(anomaly).toMatchObject({
        kind: "duplicate_conflict",
        detail: expect.stringContaining("two different accepted notes"),
      });
    expect(result.note?.note).toBe(`note of ${h.identity.handoffId}`);
    expect(result.authoritySuppressed).toBe(true);
  });

  test("P6 exact copies make no anomaly", () => {
    const { ledger, h } = begin();
    h.complete();
    h.carry();
    h.carry();
    const once = project(ledger);
    expect(once.anomalies).toEqual([]);
    expect(project(ledger, { entries: [...ledger.rows, ...structuredClone(ledger.rows)] })).toEqual(once);
  });
});

describe("the current fold", () => {
  test("P7 without a session there is no current one and no note", () => {
    const { ledger, h } = begin();
    h.complete();
    for (const sessionId of [undefined, ""]) expect(project(ledger, { sessionId })).toMatchObject(nothing);
  });

  test("P8 one fold over the whole array under the session's own id", () => {
    const { ledger, h } = begin();
    h.toReady();
    const { current } = project(ledger);
    expect(current).toEqual(fold(ledger));
    expect(project(ledger, { nowMs: Number.NaN }).current?.action).toEqual({
      kind: "recall_only",
      reason: "clock_ambiguous",
    });
    expect(project(ledger, { unreadableRecords: 2 }).current).toEqual(fold(ledger, { unreadableRecords: 2 }));
  });

  test("P8 the path that is given counts, for the fold and for the evidence", () => {
    const { ledger, h } = begin();
    h.prepare();
    expect(project(ledger, { pathTurnIds: [] }).current?.phase).toBe("absent");
    h.pause();
    const { turnId } = ledger.user("elsewhere");
    h.ask("reduce");
    h.resume("reduce");
    expect(project(ledger).current).toMatchObject({ phase: "resumed", validated: true });
    const path = ledger.rows.map((row) => row["turnId"] as string).filter((id) => id !== turnId);
    expect(project(ledger, { pathTurnIds: path }).current).toMatchObject({
      phase: "paused",
      validated: false,
    });
  });

  test("P9 history is what the caller says it is", () => {
    const { ledger, h } = begin();
    h.toReady();
    expect(project(ledger).current?.authority).toBe("execution");
    expect(project(ledger, { historical: false }).current?.authority).toBe("execution");
    expect(project(ledger, { historical: true }).current?.action).toEqual({
      kind: "recall_only",
      reason: "historical_fork",
    });
  });

  test("P10 nothing is executed and nothing rewritten", () => {
    const { ledger, h } = begin();
    h.prepare();
    h.reduce();
    h.summarize();
    const before = JSON.stringify(ledger.rows);
    const deepFrozen = ledger.rows.map((row) => Object.freeze(structuredClone(row)));
    expect(project(ledger, { entries: Object.freeze(deepFrozen) }).current?.action.kind).toBe(
      "reconstruct_commit",
    );
    expect(JSON.stringify(ledger.rows)).toBe(before);
  });
});

describe("inherited recall", () => {
  test("P11 another origin is a foreign one; without a session all are, and none is projected", () => {
    const { child, fork, h } = forked();
    expect(project(child, { fork }).inherited).toMatchObject([{ handoffId: h.identity.handoffId }]);
    const nobody = project(child, { fork, sessionId: undefined });
    expect(nobody).toMatchObject({ ...nothing, authoritySuppressed: true });
    expect(nobody.anomalies[0]?.detail).toContain("which session");
    expect(project(child, { sessionId: "A" })).toMatchObject({ inherited: [], anomalies: [] });
  });

  test("P12 foreign origins without a fork's binding", () => {
    const { child } = forked();
    const other = child.handoff({ identity: { originSessionId: "C" } });
    other.prepare();
    const result = project(child);
    expect(result).toMatchObject({
      inherited: [],
      authoritySuppressed: true,
      anomalies: [{ kind: "malformed_continuity_record", entryId: null }],
    });
    expect(result.anomalies[0]?.detail).toMatch(/\b2\b.*publishes no fork binding/);
  });

  test("P13 header and metadata disagree", () => {
    const { child, fork } = forked();
    expect(project(child, { fork: { ...fork, headerParentTurnId: fork.parentTurnId } }).anomalies).toEqual(
      [],
    );
    const result = project(child, { fork: { ...fork, headerParentTurnId: "other" } });
    expect(result).toMatchObject({ inherited: [], authoritySuppressed: true });
    expect(result.anomalies[0]?.detail).toBe(
      "inherited boundary unresolved: the header and metadata disagree about the fork message",
    );
  });

  test("P14 a fork message that is not there, or that is no message", () => {
    const { child, fork, h } = forked();
    for (const parentTurnId of ["nowhere", h.identity.commitEntryId]) {
      const result = project(child, { fork: { ...fork, parentTurnId } });
      expect(result).toMatchObject({ inherited: [], authoritySuppressed: true });
      expect(result.anomalies[0]?.detail).toContain(
        `inherited boundary unresolved: the fork message ${parentTurnId}`,
      );
    }
  });

  test("P15 the prefix ends with the fork message, and what stands behind it is not inherited", () => {
    const { ledger: parent, h } = begin("A");
    const at = parent.assistant({ text: "fork here" }).turnId;
    h.complete();
    const child = createLedger("B");
    child.rows.push(...structuredClone(parent.rows));
    const result = project(child, { fork: { parentSessionId: "A", parentTurnId: at } });
    expect(result).toMatchObject({ inherited: [], anomalies: [], authoritySuppressed: false });
    expect(result.foreignRecordsIgnored).toBe(
      parent.rows.filter((row) => "identity" in row || "continuity" in row).length,
    );
  });

  test("P16 evidence of the prefix stands in the prefix", () => {
    // The acknowledgement's success stands behind the fork message: in the whole array it would hold.
    const { ledger: parent, h } = begin("A");
    h.toReady("continuity_only");
    h.deliver();
    const fork = { parentSessionId: "A", parentTurnId: parent.leaf as string };
    const child = createLedger("B");
    child.rows.push(...structuredClone(parent.rows));
    h.respond();
    child.rows.push(...structuredClone(parent.rows.slice(-1)));
    expect(project(child, { fork }).inherited).toEqual([]);
    const later = forkLedger(parent, parent.leaf as string, "B");
    expect(
      project(later, { fork: { parentSessionId: "A", parentTurnId: parent.leaf as string } }).inherited,
    ).toMatchObject([{ phase: "delivered", validated: true }]);
  });

  test("P17 each origin under its own id, in order of appearance, as history", () => {
    const grand = begin("A");
    grand.h.complete();
    const a = grand.ledger.assistant({ text: "a" }).turnId;
    const parent = forkLedger(grand.ledger, a, "B");
    parent.user();
    const own = parent.handoff();
    own.toReady();
    const b = parent.assistant({ text: "b" }).turnId;
    const child = forkLedger(parent, b, "C");
    expect(project(child, { fork: { parentSessionId: "B", parentTurnId: b } }).inherited).toMatchObject([
      { originSessionId: "A", phase: "acknowledged" },
      { originSessionId: "B", phase: "ready" },
    ]);
  });

  test("P17 the path that is given is the path of the prefix too", () => {
    const { child, fork } = forked();
    expect(project(child, { fork, pathTurnIds: [] }).inherited).toEqual([]);
  });

  test("P18 of one origin the newest, then its priors, oldest first", () => {
    const { ledger: parent, h } = begin("A");
    h.complete();
    const second = parent.handoff().complete();
    const third = parent.handoff().complete();
    const at = parent.assistant({ text: "fork here" }).turnId;
    const child = forkLedger(parent, at, "B");
    expect(
      project(child, { fork: { parentSessionId: "A", parentTurnId: at } }).inherited.map((note) => [
        note.handoffId,
        note.provenance,
      ]),
    ).toEqual([
      [third.identity.handoffId, "inherited"],
      [h.identity.handoffId, "inherited_prior"],
      [second.identity.handoffId, "inherited_prior"],
    ]);
  });

  test("P19 a recall note has what can be read, and nothing that could be acted on", () => {
    const { child, fork, h } = forked();
    expect(project(child, { fork }).inherited).toEqual([
      {
        originSessionId: "A",
        handoffId: h.identity.handoffId,
        commitId: h.identity.commitId,
        note: `note of ${h.identity.handoffId}`,
        phase: "acknowledged",
        provenance: "inherited",
        validated: true,
      },
    ]);
  });

  test.each<[string, boolean, (h: Handoff) => void]>([
    ["prepared", true, (h) => h.prepare()],
    ["reducing", true, (h) => [h.prepare(), h.reduce()]],
    ["ready", true, (h) => h.toReady()],
    ["delivered", true, (h) => h.toReady().deliver()],
    ["acknowledged", true, (h) => h.complete()],
    ["paused", true, (h) => h.toReady().pause()],
    ["failed", true, (h) => [h.prepare(), h.reduce(), h.fail()]],
    ["ready", false, (h) => [h.toReady(), h.write({ phase: "failed", reason: "provider_failed" })]],
  ])("P20 recallable while %s (validated: %s)", (phase, validated, write) => {
    const { child, fork, h } = forked(write);
    expect(project(child, { fork }).inherited).toMatchObject([
      { handoffId: h.identity.handoffId, phase, validated },
    ]);
  });

  test("P21 the same note is inherited once", () => {
    const { parent, fork } = forked();
    const child = createLedger("B");
    child.rows.push(...structuredClone(parent.rows), ...structuredClone(parent.rows));
    expect(project(child, { fork }).inherited).toHaveLength(1);
  });

  test("P22 A, B, C: the child's own prefix holds both, whatever became of the ancestors", () => {
    const { child: b, h } = forked();
    b.user();
    const own = b.handoff({ note: "B's note" }).complete();
    const at = b.assistant({ text: "again" }).turnId;
    const c = forkLedger(b, at, "C");
    c.user();
    const mine = c.handoff({ note: "C's note" });
    mine.prepare();
    const result = project(c, { fork: { parentSessionId: "B", parentTurnId: at } });
    expect(result.inherited.map((note) => note.handoffId)).toEqual([
      h.identity.handoffId,
      own.identity.handoffId,
    ]);
    expect(result.note?.note).toBe("C's note");
    expect(result.current).toMatchObject({ authority: "execution", priorHandoffs: [] });
  });
});

describe("suppression", () => {
  test("P23 an unresolved boundary and a dispute of the current one suppress; one among others does not", () => {
    const { child, fork, h } = forked();
    child.user();
    child.handoff({ note: "own" }).prepare();
    expect(project(child, { fork })).toMatchObject({ authoritySuppressed: false });
    expect(project(child, { fork: { ...fork, parentTurnId: "nowhere" } })).toMatchObject({
      authoritySuppressed: true,
      note: { note: "own", authority: "recall_only" },
    });
    // A dispute about the inherited handoff.
    const rows = changed(child.rows, h.identity.commitEntryId, (row) => {
      ((row["continuity"] as Row)["identity"] as Row)["sourceRevision"] = "other";
    });
    const foreign = project(child, { fork, entries: rows });
    expect(foreign).toMatchObject({ authoritySuppressed: false, note: { authority: "execution" } });
    expect(kindsOf(foreign)).toEqual(["duplicate_conflict"]);
    expect(foreign.inherited).toEqual([]);
  });

  test("P24 suppression is in the published fold: nothing can be carried or rebuilt from it", () => {
    const { child, fork } = forked();
    child.user();
    const own = child.handoff();
    own.prepare();
    own.reduce();
    own.summarize();
    const open = project(child, { fork });
    expect(missingCommitFromCarry(open.current as never)).not.toBeNull();
    expect(continuityPayloadFromFold(open.current as never)).not.toBeNull();
    const closed = project(child);
    expect(closed.current).toEqual({
      ...open.current,
      authority: "recall_only",
      validated: false,
      action: { kind: "recall_only", reason: "conflicting_evidence" },
      missingCommit: null,
      unacknowledgedResponseEntryId: null,
      anomalies: closed.anomalies,
    });
    expect(missingCommitFromCarry(closed.current as never)).toBeNull();
    expect(continuityPayloadFromFold(closed.current as never)).toBeNull();
  });

  test("P24 an authority of none stays none", () => {
    const { child } = forked();
    expect(project(child)).toMatchObject({ authoritySuppressed: true, current: { authority: "none" } });
  });

  test("P25 a disputed current note stays readable, a disputed inherited one is dropped", () => {
    const { child, fork, h } = forked();
    child.rows.push(
      ...changed(child.rows, h.identity.commitEntryId, (row) => {
        row["turnId"] = "copy";
        ((row["continuity"] as Row)["identity"] as Row)["originSessionId"] = "B";
      }).filter((row) => row["turnId"] === "copy"),
    );
    const result = project(child, { fork });
    expect(result.inherited).toEqual([]);
    const { ledger, h: mine } = begin();
    mine.toReady("continuity_only");
    mine.carry({ ...mine.payload(), identity: { ...mine.identity, sourceRevision: "x" } });
    expect(project(ledger)).toMatchObject({
      authoritySuppressed: true,
      note: { note: `note of ${mine.identity.handoffId}`, authority: "recall_only" },
    });
    expect(continuityReplayBlocks(project(ledger))).toHaveLength(1);
  });

  test("P26 what is not suppressed is published as it was folded, without the projection's anomalies", () => {
    const { child, fork, h } = forked();
    child.user();
    child.handoff().prepare();
    const rows = changed(child.rows, h.identity.commitEntryId, (row) => {
      ((row["continuity"] as Row)["identity"] as Row)["sourceRevision"] = "other";
    });
    const result = project(child, { fork, entries: rows });
    expect(result.anomalies).toHaveLength(1);
    expect(result.current?.anomalies).toEqual([]);
  });

  test("P27 the note says what it is, and is there only where identity and note are known", () => {
    const { ledger, h } = begin();
    h.prepare();
    expect(project(ledger).note).toEqual({
      note: `note of ${h.identity.handoffId}`,
      handoffId: h.identity.handoffId,
      commitId: h.identity.commitId,
      originSessionId: "s1",
      phase: "prepared",
      authority: "execution",
    });
    h.reduce();
    const rows = ledger.rows.filter((row) => row["turnId"] !== h.identity.preparedEntryId);
    expect(project(ledger, { entries: rows }).note).toBeNull();
  });

  test("P28 the anchor is the first record of the note's handoff", () => {
    const { ledger, h } = begin();
    h.complete();
    const second = ledger.handoff();
    second.prepare();
    second.reduce();
    expect(project(ledger).noteAnchorTurnId).toBe(second.identity.preparedEntryId);
    expect(project(forked().child).noteAnchorTurnId).toBeNull();
  });

  test("P29 priors of the current origin make no block", () => {
    const { ledger, h } = begin();
    h.complete();
    ledger.handoff({ note: "newer" }).complete();
    const result = project(ledger);
    expect(result.current?.priorHandoffs).toHaveLength(1);
    expect(continuityReplayBlocks(result)).toEqual([expect.stringContaining("newer")]);
  });
});

describe("rendering", () => {
  const own: ProjectedContinuityNote = {
    note: "",
    handoffId: "h",
    commitId: "c",
    originSessionId: "s",
    phase: "ready",
    authority: "execution",
  };
  const inherited = {
    originSessionId: "s",
    handoffId: "h",
    commitId: "c",
    phase: "ready",
    provenance: "inherited",
    validated: true,
  } as const;

  test("P30 the own block", () => {
    const [prefix, suffix] = continuityReplayText({ ...own, note: "<NOTE>" }).split("<NOTE>") as [
      string,
      string,
    ];
    expect(prefix).toBe("Context handoff note, written by the assistant before this context was reduced:\n");
    expect([prefix.length, suffix.length]).toEqual([80, 112]);
    expect(suffix).toMatch(/^\n\n.*assistant's own.*not an operator instruction/);
  });

  test("P31 an inherited block", () => {
    const text = inheritedContinuityReplayText({ ...inherited, note: "<NOTE>" });
    const [prefix, suffix] = text.split("<NOTE>") as [string, string];
    expect(prefix).toBe(
      "Inherited context handoff note, written by the assistant in the session this branch was forked from:\n",
    );
    expect([prefix.length, suffix.length]).toEqual([101, 193]);
    expect(suffix).toMatch(
      /^\n\n.*recall only.*not an operator instruction.*does not authorize resuming or completing that handoff here/,
    );
  });

  test("P32 the inherited ones in order, then the own one, each once", () => {
    const { child, fork } = forked();
    child.user();
    const mine = child.handoff({ note: "own" }).complete();
    for (let i = 0; i < 3; i += 1) mine.carry();
    const blocks = continuityReplayBlocks(project(child, { fork }));
    expect(blocks).toHaveLength(2);
    expect(blocks[0]).toMatch(/^Inherited/);
    expect(blocks[1]).toMatch(/^Context.*\nown\n/);
    const { ledger, h } = begin();
    h.complete();
    expect(continuityReplayBlocks(project(ledger))).toHaveLength(1);
  });

  test("P32 a note of no authority makes no block", () => {
    const { ledger, h } = begin();
    h.prepare();
    const projection = project(ledger);
    const note = { ...(projection.note as ProjectedContinuityNote), authority: "none" as const };
    expect(continuityReplayBlocks({ ...projection, note })).toEqual([]);
    expect(continuityProjectionTokens({ ...projection, note })).toBe(0);
  });

  test("P33 the note's own characters, whatever they are and however many", () => {
    for (const note of [" \r\n\t x ", "é e\u0301 😀 ‮ rtl", "<script>alert(1)</script>", "x".repeat(8192)]) {
      const { ledger } = begin();
      ledger.handoff({ note }).prepare();
      const [block = ""] = continuityReplayBlocks(project(ledger));
      expect(block.slice(80, block.length - 112)).toBe(note);
    }
  });

  test("P34 the price is the shared estimator's, a message a block", () => {
    const { child, fork } = forked();
    child.user();
    child.handoff({ note: 'a "quoted"\nnote' }).prepare();
    const projection = project(child, { fork });
    const blocks = continuityReplayBlocks(projection);
    expect(blocks).toHaveLength(2);
    const prices = blocks.map((text) => estimateAgentMessageTokens({ role: "user", payload: { text } }));
    expect(continuityProjectionTokens(projection)).toBe((prices[0] ?? 0) + (prices[1] ?? 0));
    expect(continuityProjectionTokens(project(begin().ledger))).toBe(0);
  });
});

describe("I125 blocks", () => {
  test("verbatim and labelled, untrimmed; nothing of an empty ledger or of an origin that was never forked from", () => {
    const note = "  keep\nthis \n\n";
    const { child, fork } = forked((h) => h.complete());
    child.user();
    child.handoff({ note }).prepare();
    const blocks = continuityReplayBlocks(project(child, { fork }));
    expect(blocks[1]).toContain(`reduced:\n${note}\n\nThat note`);
    expect(continuityReplayBlocks(project(createLedger()))).toEqual([]);
    const { ledger, h } = begin("s1");
    h.complete();
    expect(continuityReplayBlocks(project(ledger, { sessionId: "s2" }))).toEqual([]);
  });
});

describe("I131 the boundary of a fork", () => {
  test("unknown, or named twice with a difference: nothing inherited, nothing executable", () => {
    const { child, fork } = forked();
    child.user();
    child.handoff().prepare();
    for (const binding of [
      { ...fork, parentTurnId: "unknown" },
      { ...fork, headerParentTurnId: "other" },
    ])
      expect(project(child, { fork: binding })).toMatchObject({
        inherited: [],
        current: { authority: "recall_only", validated: false },
      });
  });
});

test("I132 one handoff id of two origins is disputed everywhere", () => {
  const { child, fork, h } = forked();
  child.user();
  child.handoff({ identity: { handoffId: h.identity.handoffId } }).prepare();
  const result = project(child, { fork });
  expect(result).toMatchObject({
    authoritySuppressed: true,
    inherited: [],
    note: { authority: "recall_only" },
    current: { validated: false },
  });
  expect(kindsOf(result)).toContain("duplicate_conflict");
});

test("I133 exact copies change nothing and suppress nothing", () => {
  const { child, fork } = forked();
  child.user();
  child.handoff().prepare();
  const once = project(child, { fork });
  const rows = [...child.rows, ...structuredClone(child.rows)];
  const twice = project(child, { fork, entries: rows });
  expect(twice).toEqual({ ...once, foreignRecordsIgnored: twice.foreignRecordsIgnored });
  expect(twice.authoritySuppressed).toBe(false);
});
