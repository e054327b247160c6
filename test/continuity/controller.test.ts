/** The live controller: what it writes and asks, in which order, and what stops it. */
import { describe, expect, test } from "vitest";
import { HANDOFF_MAX_WINDOW_MS, HandoffController, handoffStopWindowMs } from "../../src/continuity/index.ts";
import { atWork, byAgent, byOperator, createHost, type Host, handOff } from "../support/handoff-host.ts";
import { fold, project } from "../support/handoffs.ts";

const cycle = [
  ...["prepared", "flush", "flush", "reducing", "flush", "replay", "continuityCommit", "checkpoint"],
  ...["notify", "replay", "delivered", "flush"],
];

function summary(): { kind: "summarized"; summary: object } & Record<string, unknown> {
  return {
    kind: "summarized",
    summary: { summary: "what went before", tokensBefore: 9000, tokensAfter: 900, firstKeptTurnId: "" },
  };
}

const willSummarize = (host: Host): void => {
  host.will.reduce = (attempt) => {
    attempt.beginSummaryCall();
    return Promise.resolve(summary() as never);
  };
};

function kindsIn(host: Host): unknown[] {
  return host.ledger.rows.map(
    (row) => (row["event"] as { phase?: string } | undefined)?.phase ?? row["kind"],
  );
}

describe("I138 three cycles", () => {
  test("exact notes, the order of the ports, the initiating turn kept, one message of a person", async () => {
    const host = atWork();
    const prompt = host.ledger.rows[0]?.["turnId"];
    const notes = ["first: step 4\r\n", "  second ✓ ", "third"];
    for (const [i, note] of notes.entries()) {
      host.asked.length = 0;
      const deliveryId = await handOff(host, note);
      expect(host.asked).toEqual(cycle);
      expect(host.controller.live).toEqual({
        handoffId: fold(host.ledger).identity?.handoffId,
        stage: "delivered",
        deliveryId,
      });
      expect(host.replayed).toHaveLength(1);
      expect(host.replayed[0]).toContain(`:\n${note}\n\n`);
      const response = host.respond();
      expect(await host.controller.response(deliveryId)).toMatchObject({ state: "acknowledged" });
      expect(host.asked.slice(cycle.length)).toEqual(["acknowledged", "flush"]);
      expect(fold(host.ledger)).toMatchObject({
        phase: "acknowledged",
        validated: true,
        identity: { initiatingTurnId: prompt },
        accepted: { note },
        commit: { outcome: "continuity_only" },
        state: { event: { terminalResponseEntryId: response } },
      });
      expect(fold(host.ledger).priorHandoffs).toHaveLength(i);
      expect(host.controller.live).toBeUndefined();
    }
    expect(host.ledger.rows.filter((row) => row["role"] === "user")).toHaveLength(1);
  });
});

describe("I139 a summary carries the reserved commit before the barrier", () => {
  test("both in one group, equal but for what only a carry may say", async () => {
    const host = atWork();
    willSummarize(host);
    await handOff(host);
    expect(host.asked.slice(3, 8)).toEqual([
      "reducing",
      "flush",
      "compactionSummary",
      "continuityCommit",
      "checkpoint",
    ]);
    const [summaryRow, commitRow] = host.ledger.rows.filter((row) => "continuity" in row);
    expect(summaryRow).toMatchObject({ kind: "compactionSummary", summary: "what went before" });
    expect(summaryRow?.["continuity"]).toEqual(commitRow?.["continuity"]);
    expect(fold(host.ledger).commit).toMatchObject({
      outcome: "summarized",
      summaryRef: summaryRow?.["turnId"],
    });
  });

  test("an eviction recorded during the reduction is what the commit is bound to", async () => {
    const host = atWork();
    let eviction: unknown;
    host.will.reduce = () => {
      const fields = { policyId: "p", trigger: "auto", evicted: [], tokensBefore: 9, tokensAfter: 1 };
      eviction = host.ledger.put({
        kind: "contextEviction",
        ...fields,
        pressureBefore: null,
        snapshotIdBefore: null,
      })["turnId"];
      return Promise.resolve({ kind: "replayed", tokensBefore: 9, tokensAfter: 1 });
    };
    await handOff(host);
    expect(fold(host.ledger)).toMatchObject({
      validated: true,
      commit: { outcome: "evicted", evictionRef: eviction },
    });
  });

  test("an older eviction is not", async () => {
    const host = atWork();
    host.ledger.handoff().evict();
    await handOff(host);
    expect(fold(host.ledger).commit).toMatchObject({ outcome: "continuity_only" });
  });
});

describe("I140 what is refused writes nothing", () => {
  test.each([
    ["", "blank"],
    [7, "not_a_string"],
    ["a\0", "contains_nul"],
    ["\ud800", "not_utf8_round_trip"],
    ["x".repeat(8193), "exceeds_max_bytes"],
  ])("the note %j", async (note, reason) => {
    const host = atWork();
    expect(await host.controller.request(note, byAgent)).toEqual({ state: "refused", reason });
    expect(host.asked).toEqual([]);
    expect(host.controller.admission()).toEqual({ kind: "allow" });
  });

  test.each<[string, string, (host: Host) => Promise<void> | void]>([
    [
      "a note that does not fit",
      "note_exceeds_replay_budget",
      (host) => void Object.assign(host.will, { fits: () => false }),
    ],
    [
      "an unreadable ledger",
      "disputed_ledger",
      (host) => void Object.assign(host.will, { unreadableRecords: 1 }),
    ],
    [
      "an earlier handoff that is not over",
      "unresolved_handoff",
      (host) => void host.ledger.handoff().prepare(),
    ],
    [
      "a disputed ledger",
      "disputed_ledger",
      (host) => void host.ledger.put({ kind: "continuityCommit", continuity: {} }),
    ],
    [
      "a handoff under way",
      "active_handoff",
      async (host) => void (await host.controller.request("x", byOperator)),
    ],
    [
      "a changed origin",
      "origin_changed",
      (host) => {
        host.will.isCurrent = false;
      },
    ],
    [
      "a removed state",
      "state_removed",
      (host) => {
        host.will.isRemoved = true;
      },
    ],
  ])("%s", async (_name, reason, prepare) => {
    const host = atWork();
    await prepare(host);
    const before = [...host.ledger.rows];
    expect(await host.controller.request("a note", byOperator)).toEqual({ state: "refused", reason });
    expect(host.ledger.rows).toEqual(before);
  });

  test("a call without an id; a session without a prompt", async () => {
    const host = atWork();
    expect(await host.controller.request("x", { ...byAgent, toolCallId: "" })).toMatchObject({
      reason: "missing_tool_call",
    });
    expect(await createHost().controller.request("x", byOperator)).toMatchObject({
      reason: "no_operator_turn",
    });
  });

  test("the budget is asked with everything that will be replayed", async () => {
    const host = atWork();
    const asked: unknown[] = [];
    host.will.fits = (blocks) => asked.push(blocks) > 0;
    await host.controller.request("the note", byOperator);
    expect(asked).toEqual([[expect.stringContaining("the note")]]);
  });
});

describe("I141 a wrong receipt never reduces, and pauses", () => {
  test.each<[string, (host: Host) => void]>([
    ["none", () => {}],
    ["of another call", (host) => host.receipt({ toolCallId: "call-2" })],
    ["of another tool", (host) => host.receipt({ toolName: "read" })],
    ["that failed", (host) => host.receipt({ state: "failed" })],
    ["that is an error", (host) => host.receipt({ isError: true })],
    [
      "that is no result",
      (host) => void host.ledger.message("tool_call", { toolCallId: "call-1", text: "kept" }),
    ],
  ])("%s", async (_name, write) => {
    const host = atWork();
    await host.controller.request("x", byAgent);
    write(host);
    const outcome = await host.controller.settle();
    expect(outcome).toMatchObject({ state: "paused", reason: "missing_receipt" });
    expect(kindsIn(host)).not.toContain("reducing");
    expect(fold(host.ledger)).toMatchObject({ phase: "paused", validated: true });
    expect(host.controller.live).toBeUndefined();
  });

  test("one from before the preparation is of another call", async () => {
    const host = atWork();
    host.receipt();
    await host.controller.request("x", byAgent);
    expect(await host.controller.settle()).toMatchObject({ state: "paused" });
  });

  test("the person's own order needs none", async () => {
    const host = atWork();
    await host.controller.request("x", byOperator);
    expect(await host.controller.settle()).toMatchObject({ state: "delivered" });
  });

  test("a success with its state and tool named is one", async () => {
    const host = atWork();
    await host.controller.request("x", byAgent);
    host.receipt({ state: "done", toolName: "handoff" });
    expect(await host.controller.settle()).toMatchObject({ state: "delivered" });
  });
});

describe("I142 a barrier that fails", () => {
  test("of the commit: no delivery, nobody told, nothing more written, nothing admitted", async () => {
    const host = atWork();
    host.will.checkpoint = () => Promise.reject(new Error("no space"));
    await host.controller.request("x", byOperator);
    const outcome = await host.controller.settle();
    expect(outcome).toMatchObject({ state: "uncertain", reason: "barrier_failed" });
    expect(host.asked.filter((word) => word === "checkpoint")).toHaveLength(4);
    expect(host.asked.filter((word) => word === "continuityCommit")).toHaveLength(1);
    expect(host.asked).not.toContain("notify");
    expect(kindsIn(host).at(-1)).toBe("continuityCommit");
    expect(host.controller.admission()).toEqual({ kind: "block", reason: "uncertain" });
    expect(await host.controller.settle()).toMatchObject({ state: "refused" });
    expect(await host.controller.cancel()).toEqual({ state: "unchanged" });
    expect(kindsIn(host).at(-1)).toBe("continuityCommit");
    expect(host.controller.admission()).toEqual({ kind: "allow" });
  });

  test("of the preparation: refused, and nothing goes on", async () => {
    const host = atWork();
    host.will.flush = () => Promise.reject(new Error("no space"));
    expect(await host.controller.request("x", byOperator)).toEqual({
      state: "refused",
      reason: "barrier_failed",
    });
    expect(host.controller.admission()).toEqual({ kind: "block", reason: "uncertain" });
  });
});

describe("I143 summary calls are counted", () => {
  test("a third call is refused; recovery spends attempt 2 under the same identity", async () => {
    const host = atWork();
    let calls = 0;
    host.will.reduce = (attempt) => {
      for (;;) {
        attempt.beginSummaryCall();
        calls += 1;
      }
    };
    await host.controller.request("x", byOperator);
    const failed = await host.controller.settle();
    expect(failed).toMatchObject({ state: "failed", reason: "provider_failed" });
    expect(calls).toBe(2);
    const before = fold(host.ledger);
    expect(before).toMatchObject({ phase: "failed", attemptsSpent: 1 });
    const { handoffId } = before.identity as { handoffId: string };
    let attempt = 0;
    host.will.reduce = (given) => {
      attempt = given.attempt;
      return Promise.resolve(summary() as never);
    };
    expect(await host.controller.recover(handoffId, "reduce")).toMatchObject({ state: "delivered" });
    expect(attempt).toBe(2);
    expect(fold(host.ledger)).toMatchObject({ identity: before.identity, attemptsSpent: 2, validated: true });
  });

  test("after the second attempt there is no third", async () => {
    const host = atWork();
    host.will.reduce = () => Promise.reject(new Error("overloaded"));
    await host.controller.request("x", byOperator);
    await host.controller.settle();
    const handoffId = fold(host.ledger).identity?.handoffId as string;
    expect(await host.controller.recover(handoffId, "reduce")).toMatchObject({ state: "failed" });
    const before = [...host.ledger.rows];
    expect(await host.controller.recover(handoffId, "reduce")).toEqual({
      state: "refused",
      reason: "attempts_exhausted",
    });
    expect(host.ledger.rows).toEqual(before);
  });
});

describe("I144 an answer after tool rounds acknowledges its own delivery only", () => {
  test("rounds before it do not, the last one does", async () => {
    const host = atWork();
    const deliveryId = await handOff(host);
    host.respond({ stopReason: "toolUse", text: "looking" });
    expect(await host.controller.response(deliveryId)).toMatchObject({ state: "delivered" });
    host.ledger.message("tool_result", { toolCallId: "t", text: "found" });
    const answer = host.respond();
    expect(await host.controller.response(deliveryId)).toMatchObject({ state: "acknowledged" });
    expect(fold(host.ledger)).toMatchObject({
      phase: "acknowledged",
      validated: true,
      state: { event: { terminalResponseEntryId: answer } },
    });
  });

  test("an answer to a new prompt does not", async () => {
    const host = atWork();
    const deliveryId = await handOff(host);
    host.ledger.user("something else");
    host.respond();
    expect(await host.controller.response(deliveryId)).toMatchObject({ state: "delivered" });
    expect(fold(host.ledger).phase).toBe("delivered");
  });
});

describe("I145 neither a cancelled one nor a changed origin calls the provider", () => {
  test("cancelled before", async () => {
    const host = atWork();
    let isCalled = false;
    host.will.reduce = () => {
      isCalled = true;
      return Promise.reject(new Error("called"));
    };
    await host.controller.request("x", byOperator);
    const settling = host.controller.settle();
    const stopped = host.controller.cancel();
    expect(await settling).toMatchObject({ state: "paused", reason: "cancelled" });
    expect(await stopped).toEqual({ state: "unchanged" });
    expect(isCalled).toBe(false);
    expect(fold(host.ledger)).toMatchObject({
      phase: "paused",
      state: { event: { reason: "operator_cancelled" } },
    });
  });

  test("cancelled meanwhile: told, no further call, and what it made is discarded", async () => {
    const host = atWork();
    const told: string[] = [];
    host.will.reduce = (attempt) => {
      attempt.onCancel(() => told.push("cancelled"));
      void host.controller.cancel();
      attempt.onCancel(() => told.push("at once"));
      expect(attempt.isCancelled()).toBe(true);
      expect(() => attempt.beginSummaryCall()).toThrow("cancelled");
      return Promise.resolve(summary() as never);
    };
    await host.controller.request("x", byOperator);
    expect(await host.controller.settle()).toMatchObject({ state: "paused", reason: "cancelled" });
    expect(told).toEqual(["cancelled", "at once"]);
    expect(kindsIn(host)).not.toContain("compactionSummary");
    expect(fold(host.ledger).phase).toBe("paused");
  });

  test("a changed origin", async () => {
    const host = atWork();
    await host.controller.request("x", byOperator);
    const { flush } = host.will;
    host.will.flush = async () => {
      await flush();
      if (kindsIn(host).at(-1) === "reducing") host.will.isCurrent = false;
    };
    host.will.reduce = () => Promise.reject(new Error("called"));
    const rows = await host.controller.settle();
    expect(rows).toMatchObject({ state: "uncertain", reason: "origin_changed" });
    expect(kindsIn(host).at(-1)).toBe("reducing");
  });

  test("the origin that changes during the reduction keeps its summary out", async () => {
    const host = atWork();
    host.will.reduce = () => {
      host.will.isCurrent = false;
      return Promise.resolve(summary() as never);
    };
    await host.controller.request("x", byOperator);
    expect(await host.controller.settle()).toMatchObject({ state: "uncertain", reason: "origin_changed" });
    expect(kindsIn(host).at(-1)).toBe("reducing");
  });

  test("a response under a changed origin acknowledges nothing", async () => {
    const host = atWork();
    const deliveryId = await handOff(host);
    host.respond();
    host.will.isCurrent = false;
    expect(await host.controller.response(deliveryId)).toEqual({
      state: "refused",
      reason: "origin_changed",
    });
  });
});

test("I146 three handoffs in a loop of an engine: six requests, each admitted, one message of a person", async () => {
  const host = atWork();
  const sent: (string | undefined)[] = [];
  const send = (): string | undefined => {
    const admitted = host.controller.admission();
    if (admitted.kind === "block") throw new Error(admitted.reason);
    sent.push(admitted.correlationId);
    return admitted.correlationId;
  };
  for (let round = 0; round < 3; round += 1) {
    send();
    host.ledger.assistant({ content: [{ type: "toolCall", id: "call-1" }], stopReason: "toolUse" });
    await host.controller.request(`note ${round}`, byAgent);
    expect(host.controller.admission()).toEqual({ kind: "block", reason: "handing_off" });
    host.receipt();
    await host.controller.settle();
    const id = send();
    host.respond();
    expect(await host.controller.response(id)).toMatchObject({ state: "acknowledged" });
  }
  expect(sent).toEqual([
    undefined,
    expect.any(String),
    undefined,
    expect.any(String),
    undefined,
    expect.any(String),
  ]);
  expect(host.ledger.rows.filter((row) => row["role"] === "user")).toHaveLength(1);
  expect(project(host.ledger).note?.note).toBe("note 2");
});

describe("I147 the scenarios", () => {
  test("preparation: durable before the caller is told", async () => {
    const host = atWork();
    const requested = await host.controller.request("x", byAgent);
    expect(requested).toMatchObject({ state: "accepted", receipt: expect.stringContaining("word for word") });
    expect(host.asked).toEqual(["prepared", "flush"]);
    expect(fold(host.ledger).policy).toMatchObject({
      maxAttempts: 2,
      automaticDeadlineAtMs: host.ledger.nowMs + HANDOFF_MAX_WINDOW_MS,
    });
  });

  test("a reduction that was refused is failed with its reason, and the note stays", async () => {
    const host = atWork();
    host.will.reduce = () => Promise.resolve({ kind: "refused", reason: "budget_unsafe_no_material" });
    await host.controller.request("x", byOperator);
    expect(await host.controller.settle()).toMatchObject({
      state: "failed",
      reason: "budget_unsafe_no_material",
    });
    expect(project(host.ledger).note?.note).toBe("x");
    expect(kindsIn(host)).not.toContain("continuityCommit");
    expect(host.controller.admission()).toEqual({ kind: "allow" });
  });

  test("a replay that does not fit before the commit: no commit", async () => {
    const host = atWork();
    await host.controller.request("x", byOperator);
    host.will.fits = () => false;
    expect(await host.controller.settle()).toMatchObject({
      state: "failed",
      reason: "note_exceeds_replay_budget",
    });
    expect(kindsIn(host)).not.toContain("continuityCommit");
  });

  test("a replay that does not fit behind the commit: paused, deliverable later", async () => {
    const host = atWork();
    willSummarize(host);
    await host.controller.request("x", byOperator);
    host.will.fits = () => false;
    expect(await host.controller.settle()).toMatchObject({
      state: "paused",
      reason: "note_exceeds_replay_budget",
    });
    host.will.fits = () => true;
    const handoffId = fold(host.ledger).identity?.handoffId as string;
    expect(await host.controller.recover(handoffId, "deliver")).toMatchObject({ state: "delivered" });
  });

  test("responses that are not the delivery's", async () => {
    const host = atWork();
    const deliveryId = await handOff(host);
    for (const other of [undefined, "", "other"])
      expect(await host.controller.response(other)).toMatchObject({ state: "refused" });
    for (const payload of [
      { stopReason: "aborted" },
      { stopReason: "error" },
      { text: " " },
      { stopReason: undefined },
      { continuityDeliveryId: "other" },
    ]) {
      host.respond(payload);
      expect(await host.controller.response(deliveryId)).toMatchObject({ state: "delivered" });
    }
    expect(fold(host.ledger).phase).toBe("delivered");
  });

  test("a window that is over by the time of the step pauses; one that ends during the barrier too", async () => {
    const host = atWork();
    await host.controller.request("x", byOperator);
    host.ledger.nowMs += HANDOFF_MAX_WINDOW_MS;
    expect(await host.controller.settle()).toMatchObject({ state: "paused", reason: "deadline_expired" });
    const late = atWork();
    late.will.flush = () => {
      late.ledger.nowMs += HANDOFF_MAX_WINDOW_MS;
      return Promise.resolve();
    };
    expect(await late.controller.request("x", byOperator)).toMatchObject({ reason: "deadline_expired" });
    expect(kindsIn(late).slice(-2)).toEqual(["prepared", "paused"]);
  });

  test("an error of the session's own pauses and goes on to its caller", async () => {
    const host = atWork();
    await host.controller.request("x", byOperator);
    const controller = host.controller;
    host.will.fits = () => {
      throw new Error("bug");
    };
    await expect(controller.settle()).rejects.toThrow("bug");
    expect(fold(host.ledger)).toMatchObject({ phase: "paused" });
    expect(controller.live).toBeUndefined();
  });
});

describe("stopping", () => {
  test("a delivered one is paused as uncertain, and admits nothing under its id any more", async () => {
    const host = atWork();
    const deliveryId = await handOff(host);
    expect(await host.controller.pause()).toEqual({ state: "paused", reason: "delivery_uncertain" });
    expect(host.controller.admission()).toEqual({ kind: "allow" });
    expect(await host.controller.response(deliveryId)).toMatchObject({ state: "refused" });
    expect(fold(host.ledger)).toMatchObject({ phase: "paused", validated: true });
  });

  test("with nothing live nothing is written", async () => {
    const host = atWork();
    expect(await host.controller.cancel()).toEqual({ state: "unchanged" });
    expect(host.asked).toEqual([]);
  });

  test("a requested one; the window of the stop is its own", async () => {
    const host = atWork();
    await host.controller.request("x", byOperator);
    host.ledger.nowMs += 10 * HANDOFF_MAX_WINDOW_MS;
    host.will.flush = () => {
      host.ledger.nowMs += handoffStopWindowMs - 1;
      return Promise.resolve();
    };
    expect(await host.controller.pause("origin_changed")).toEqual({
      state: "paused",
      reason: "origin_changed",
    });
    const slow = atWork();
    await slow.controller.request("x", byOperator);
    slow.will.flush = () => {
      slow.ledger.nowMs += handoffStopWindowMs;
      return Promise.resolve();
    };
    // It is written, but cannot be said to have been in time.
    expect(await slow.controller.pause()).toEqual({ state: "unchanged" });
  });
});

describe("recovering", () => {
  async function stoppedAt(
    phase: "prepared" | "ready" | "delivered",
  ): Promise<{ host: Host; handoffId: string }> {
    const host = atWork();
    const handoff = host.ledger.handoff();
    if (phase === "prepared") handoff.prepare();
    else handoff.toReady("continuity_only");
    if (phase === "delivered") handoff.deliver();
    return { host, handoffId: handoff.identity.handoffId };
  }

  test("from prepared: paused, asked, resumed, reduced", async () => {
    const { host, handoffId } = await stoppedAt("prepared");
    expect(await host.controller.recover(handoffId, "reduce")).toMatchObject({ state: "delivered" });
    expect(kindsIn(host).slice(3)).toEqual([
      ...["paused", "custom", "resumed", "reducing", "continuityCommit", "delivered"],
    ]);
    expect(fold(host.ledger)).toMatchObject({ validated: true, phase: "delivered" });
    const window = fold(host.ledger).effectiveDeadlineAtMs;
    expect(window).toBe(host.ledger.nowMs + HANDOFF_MAX_WINDOW_MS);
  });

  test("from ready and from delivered: delivered under a new id", async () => {
    for (const phase of ["ready", "delivered"] as const) {
      const { host, handoffId } = await stoppedAt(phase);
      const old = fold(host.ledger).state?.delivery?.deliveryId;
      const outcome = await host.controller.recover(handoffId, "deliver");
      expect(outcome).toMatchObject({ state: "delivered" });
      expect((outcome as { deliveryId?: string }).deliveryId).not.toBe(old);
      expect(fold(host.ledger)).toMatchObject({ validated: true, phase: "delivered" });
    }
  });

  test("what is not open to it is refused, and nothing written", async () => {
    const ready = await stoppedAt("ready");
    const prepared = await stoppedAt("prepared");
    const done = atWork();
    const handoff = done.ledger.handoff().complete("continuity_only");
    const cases = [
      [ready.host, ready.handoffId, "reduce", "already_committed"],
      [prepared.host, prepared.handoffId, "deliver", "commit_missing"],
      [prepared.host, "other", "reduce", "no_such_handoff"],
      [done, handoff.identity.handoffId, "deliver", "acknowledged"],
    ] as const;
    for (const [host, handoffId, action, reason] of cases) {
      expect(await host.controller.recover(handoffId, action)).toEqual({ state: "refused", reason });
      expect(host.asked).toEqual([]);
    }
    prepared.host.will.unreadableRecords = 1;
    expect(await prepared.host.controller.recover(prepared.handoffId, "reduce")).toMatchObject({
      reason: "disputed_ledger",
    });
  });

  test("while one is led already it is refused", async () => {
    const host = atWork();
    await host.controller.request("x", byOperator);
    const handoffId = host.controller.live?.handoffId as string;
    expect(await host.controller.recover(handoffId, "reduce")).toMatchObject({ reason: "active_handoff" });
  });

  test("a second controller on the ledger knows nothing live", async () => {
    const host = atWork();
    await handOff(host);
    const other = new HandoffController(host.ports);
    expect(other.live).toBeUndefined();
    expect(other.admission()).toEqual({ kind: "allow" });
    expect(await other.request("y", byOperator)).toMatchObject({ reason: "unresolved_handoff" });
  });
});
