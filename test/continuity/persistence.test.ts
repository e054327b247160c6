/** Writing a group of records over injected ports: what is confirmed, what is read back, what stops it. */
import { describe, expect, test } from "vitest";
import {
  type ContinuityBarrier,
  type ContinuityPersistencePorts,
  type ContinuityReadback,
  continuityRecordDigest,
  HANDOFF_MAX_FLUSH_RETRIES,
  type PersistedGroup,
  persistContinuityGroup,
  reconcileContinuityEntry,
  type WritableEntry,
} from "../../src/continuity/index.ts";

function record(turnId: string, more: object = {}): WritableEntry {
  return { kind: "custom", turnId, parentTurnId: null, timestamp: "2026-01-01T00:00:00Z", ...more };
}
const a = record("a");
const b = record("b");
const c = record("c");
const flush = { kind: "flush" } as const;
const token = (entry: WritableEntry): { entryId: string; digest: string } => ({
  entryId: entry.turnId,
  digest: continuityRecordDigest(entry),
});

/** Ports of which a test replaces what it is about; `asked` lists the calls, and `nowMs` is the clock. */
class Bench {
  readonly asked: string[] = [];
  nowMs = 1000;
  limit = 3;
  deadlineAtMs = 5000;
  append: (entry: WritableEntry, call: number) => void = () => {};
  read: (entry: WritableEntry, call: number) => ContinuityReadback = () => "absent";
  flush: ((call: number) => void) | undefined = () => {};
  checkpoint: ((reason: string) => void) | undefined;
  wait: (attempt: number) => Promise<void> = () => Promise.resolve();
  now: () => number = () => this.nowMs;
  isRemoved: () => boolean = () => false;
  isCurrent: () => boolean = () => true;
  #calls = 0;

  run(
    entries: readonly WritableEntry[],
    options: {
      readonly barrier?: ContinuityBarrier;
      readonly accepted?: readonly { entryId: string; digest: string }[];
    } = {},
  ): Promise<PersistedGroup> {
    const call = (): number => {
      this.#calls += 1;
      return this.#calls;
    };
    const { flush: flushing, checkpoint } = this;
    const ports: ContinuityPersistencePorts = {
      append: async (entry) => {
        this.asked.push(`append ${entry.turnId}`);
        this.append(entry, call());
      },
      readExact: async (entry) => {
        this.asked.push(`read ${entry.turnId}`);
        return this.read(entry, call());
      },
      ...(flushing === undefined
        ? {}
        : {
            flushAppends: async () => {
              this.asked.push("flush");
              flushing(call());
            },
          }),
      ...(checkpoint === undefined
        ? {}
        : {
            checkpoint: async (reason: string) => {
              this.asked.push(`checkpoint ${reason}`);
              checkpoint(reason);
            },
          }),
      isStateRemoved: () => this.isRemoved(),
      isOriginCurrent: async () => this.isCurrent(),
    };
    return persistContinuityGroup(
      { entries, barrier: options.barrier ?? flush, alreadyAccepted: options.accepted ?? [] },
      ports,
      {
        limit: this.limit,
        deadlineAtMs: this.deadlineAtMs,
        now: () => this.now(),
        wait: (attempt) => {
          this.asked.push(`wait ${attempt}`);
          return this.wait(attempt);
        },
      },
    );
  }
}

function fail(message: string): () => never {
  return () => {
    throw new Error(message);
  };
}

const durable = (entries: readonly WritableEntry[], barrierAttempts = 1): object => ({
  state: "durable",
  accepted: entries.map(token),
  barrierAttempts,
  confirmedWithinDeadline: true,
});
const uncertain = (reason: string, accepted: readonly WritableEntry[] = []): object => ({
  state: "uncertain",
  reason,
  accepted: accepted.map(token),
});

test("I68 the records in order, one barrier behind them, no readback where nothing failed", async () => {
  const bench = new Bench();
  expect(await bench.run([a, b, c])).toEqual(durable([a, b, c]));
  expect(bench.asked).toEqual(["append a", "append b", "append c", "flush"]);
});

test("I69 a checkpoint is asked with its reason", async () => {
  const bench = new Bench();
  const reasons: string[] = [];
  bench.checkpoint = (reason) => void reasons.push(reason);
  expect(await bench.run([a], { barrier: { kind: "checkpoint", reason: "context-handoff" } })).toEqual(
    durable([a]),
  );
  expect(reasons).toEqual(["context-handoff"]);
  expect(bench.asked).not.toContain("flush");
});

describe("I70 a barrier is tried four times, a record written once", () => {
  test("the last one succeeds", async () => {
    const bench = new Bench();
    let flushes = 0;
    bench.flush = () => {
      flushes += 1;
      if (flushes <= HANDOFF_MAX_FLUSH_RETRIES) throw new Error("EIO");
    };
    expect(await bench.run([a])).toEqual(durable([a], 4));
    expect(bench.asked).toEqual([
      ...["append a", "flush", "wait 1", "flush", "wait 2", "flush", "wait 3", "flush"],
    ]);
  });
  test("none does", async () => {
    const bench = new Bench();
    bench.flush = fail("EIO");
    expect(await bench.run([a])).toEqual({
      ...uncertain("barrier_failed", [a]),
      barrierAttempts: 4,
      anomalies: ["flush: EIO", "flush: EIO", "flush: EIO", "flush: EIO"],
    });
    expect(bench.asked.filter((word) => word === "append a")).toHaveLength(1);
  });
  test("a limit of 0 is one try", async () => {
    const bench = new Bench();
    bench.limit = 0;
    bench.flush = fail("EIO");
    expect(await bench.run([a])).toMatchObject({ ...uncertain("barrier_failed", [a]), barrierAttempts: 1 });
  });
});

test("I71 a group that came half way is resumed: what was accepted is not written again", async () => {
  const first = new Bench();
  first.append = (entry) => {
    if (entry === b) throw new Error("EIO");
  };
  first.read = () => "unresolved";
  const stopped = await first.run([a, b, c]);
  expect(stopped).toMatchObject(uncertain("append_unresolved", [a]));
  const second = new Bench();
  expect(await second.run([a, b, c], { accepted: stopped.accepted })).toEqual(durable([a, b, c]));
  expect(second.asked).toEqual(["append b", "append c", "flush"]);
});

describe("I72 progress of other records is refused", () => {
  test.each([
    ["another payload", [{ ...token(a), digest: "0".repeat(64) }]],
    ["another group's record", [token(c)]],
    ["a good token and a bad one", [token(a), token(c)]],
  ])("%s", async (_name, accepted) => {
    const bench = new Bench();
    expect(await bench.run([a, b], { accepted })).toMatchObject(uncertain("progress_mismatch", []));
    expect(bench.asked).toEqual([]);
  });
});

describe("I73 good progress is handed back by any later refusal", () => {
  test.each<[string, (bench: Bench) => void]>([
    ["invalid_retry_schedule", (bench) => void Object.assign(bench, { limit: 4 })],
    ["deadline_expired", (bench) => void Object.assign(bench, { nowMs: 5000 })],
    ["state_removed", (bench) => void Object.assign(bench, { isRemoved: () => true })],
    ["origin_changed", (bench) => void Object.assign(bench, { isCurrent: () => false })],
    ["unsupported_barrier_port", (bench) => void Object.assign(bench, { flush: undefined })],
  ])("%s", async (reason, spoil) => {
    const bench = new Bench();
    spoil(bench);
    const result = await bench.run([a, b], { accepted: [token(a)] });
    expect(result).toMatchObject({ state: "uncertain", reason });
    expect(result.accepted[0]).toEqual(token(a));
  });
});

test("I74 progress given twice counts once", async () => {
  const bench = new Bench();
  expect(await bench.run([a, b], { accepted: [token(a), token(a)] })).toEqual(durable([a, b]));
  expect(bench.asked).toEqual(["append b", "flush"]);
});

describe("I75 two records under one id", () => {
  test("that differ: nothing is written", async () => {
    const bench = new Bench();
    expect(await bench.run([a, record("a", { data: 1 })])).toMatchObject(uncertain("duplicate_group_entry"));
    expect(bench.asked).toEqual([]);
  });
  test("that are equal, an undefined field or not: one record", async () => {
    const bench = new Bench();
    expect(await bench.run([a, record("a", { data: undefined })])).toEqual(durable([a]));
    expect(bench.asked).toEqual(["append a", "flush"]);
  });
});

describe("I76 a record is appended again only once its absence is proven", () => {
  test("once, under the same id", async () => {
    const bench = new Bench();
    bench.append = (_entry, call) => {
      if (call === 1) throw new Error("EIO");
    };
    expect(await bench.run([a])).toEqual(durable([a]));
    expect(bench.asked).toEqual(["append a", "read a", "append a", "flush"]);
  });
});

test("I77 an append that fails after it wrote is accepted from the readback", async () => {
  const bench = new Bench();
  bench.append = fail("EIO");
  bench.read = () => "matching";
  expect(await bench.run([a])).toEqual(durable([a]));
  expect(bench.asked).toEqual(["append a", "read a", "flush"]);
});

describe("I78 a conflicting or unresolved readback stops", () => {
  test.each([
    ["conflicting", "append_conflicting"],
    ["unresolved", "append_unresolved"],
  ] as const)("%s, at once and after the second append", async (answer, reason) => {
    const bench = new Bench();
    bench.append = fail("EIO");
    bench.read = () => answer;
    expect(await bench.run([a, b])).toMatchObject(uncertain(reason));
    expect(bench.asked).toEqual(["append a", "read a"]);
    const later = new Bench();
    later.append = fail("EIO");
    later.read = (_entry, call) => (call === 2 ? "absent" : answer);
    expect(await later.run([a, b])).toMatchObject(uncertain(reason));
    expect(later.asked).toEqual(["append a", "read a", "append a", "read a"]);
  });
});

test("I79 a readback that throws resolves nothing", async () => {
  const bench = new Bench();
  bench.append = fail("EIO");
  bench.read = fail("EACCES");
  expect(await bench.run([a])).toMatchObject({
    ...uncertain("append_unresolved"),
    anomalies: ["append of a: EIO"],
  });
});

test("I80 absent after the second append too", async () => {
  const bench = new Bench();
  bench.append = fail("EIO");
  expect(await bench.run([a])).toMatchObject(uncertain("append_absent_after_retry"));
  const accepted = new Bench();
  accepted.append = fail("EIO");
  accepted.read = (_entry, call) => (call === 2 ? "absent" : "matching");
  expect(await accepted.run([a])).toEqual(durable([a]));
});

describe("I81 what changes during a readback keeps the second append from being made", () => {
  test.each<[string, (bench: Bench) => void]>([
    ["state_removed", (bench) => void Object.assign(bench, { isRemoved: () => true })],
    ["origin_changed", (bench) => void Object.assign(bench, { isCurrent: () => false })],
    ["deadline_expired", (bench) => void Object.assign(bench, { nowMs: 5000 })],
    ["clock_ambiguous", (bench) => void Object.assign(bench, { nowMs: 1 })],
  ])("%s", async (reason, change) => {
    const bench = new Bench();
    bench.append = fail("EIO");
    bench.read = () => {
      change(bench);
      return "absent";
    };
    expect(await bench.run([a])).toMatchObject(uncertain(reason));
    expect(bench.asked).toEqual(["append a", "read a"]);
  });
});

test("I82 an append that lasts past the deadline: it counts, the next one is not begun", async () => {
  const bench = new Bench();
  bench.append = () => {
    bench.nowMs = 5000;
  };
  expect(await bench.run([a, b])).toMatchObject(uncertain("deadline_expired", [a]));
  expect(bench.asked).toEqual(["append a"]);
});

test("I83 to reconcile only reads", async () => {
  for (const answer of ["matching", "absent", "conflicting", "unresolved"] as const) {
    expect(await reconcileContinuityEntry(a, { readExact: async () => answer })).toBe(answer);
  }
  expect(await reconcileContinuityEntry(a, { readExact: () => Promise.reject(new Error("no")) })).toBe(
    "unresolved",
  );
});

describe("I84 a schedule without bounds is refused", () => {
  test.each<[string, (bench: Bench) => void]>([
    ["more retries than the protocol has", (bench) => void Object.assign(bench, { limit: 4 })],
    ["a negative limit", (bench) => void Object.assign(bench, { limit: -1 })],
    ["a fraction", (bench) => void Object.assign(bench, { limit: 1.5 })],
    ["no limit", (bench) => void Object.assign(bench, { limit: Number.POSITIVE_INFINITY })],
    ["no deadline", (bench) => void Object.assign(bench, { deadlineAtMs: Number.POSITIVE_INFINITY })],
    ["a deadline that is none", (bench) => void Object.assign(bench, { deadlineAtMs: Number.NaN })],
    ["no clock", (bench) => void Object.assign(bench, { nowMs: Number.NaN })],
  ])("%s", async (_name, spoil) => {
    const bench = new Bench();
    spoil(bench);
    expect(await bench.run([a])).toMatchObject(uncertain("invalid_retry_schedule"));
    expect(bench.asked).toEqual([]);
  });
});

test("I85 a window that is closed is not begun; the last moment of an open one is", async () => {
  const bench = new Bench();
  bench.nowMs = 5000;
  expect(await bench.run([a])).toMatchObject(uncertain("deadline_expired"));
  expect(bench.asked).toEqual([]);
  const open = new Bench();
  open.nowMs = 4999;
  expect(await open.run([a])).toEqual(durable([a]));
});

describe("I86 the deadline cuts the retries of the barrier", () => {
  test("before a wait, and behind it", async () => {
    const before = new Bench();
    before.flush = () => {
      before.nowMs = 5000;
      throw new Error("EIO");
    };
    expect(await before.run([a])).toMatchObject({
      ...uncertain("deadline_expired", [a]),
      barrierAttempts: 1,
    });
    expect(before.asked).toEqual(["append a", "flush"]);
    const behind = new Bench();
    behind.flush = fail("EIO");
    behind.wait = () => {
      behind.nowMs = 5000;
      return Promise.resolve();
    };
    expect(await behind.run([a])).toMatchObject({
      ...uncertain("deadline_expired", [a]),
      barrierAttempts: 1,
    });
    expect(behind.asked).toEqual(["append a", "flush", "wait 1"]);
  });
});

describe("I87 a barrier that ends late: durable, not confirmed", () => {
  test("the group's own", async () => {
    const bench = new Bench();
    bench.flush = () => {
      bench.nowMs = 5000;
    };
    expect(await bench.run([a])).toEqual({ ...durable([a]), confirmedWithinDeadline: false });
  });
  test("of a group with nothing left to write", async () => {
    const bench = new Bench();
    bench.nowMs = 9000;
    expect(await bench.run([a], { accepted: [token(a)] })).toEqual({
      ...durable([a]),
      confirmedWithinDeadline: false,
    });
    expect(bench.asked).toEqual(["flush"]);
    expect(await bench.run([])).toEqual({ ...durable([]), confirmedWithinDeadline: false });
  });
});

describe("I88 a clock that cannot be trusted", () => {
  test("backwards between two records stops before the second", async () => {
    const bench = new Bench();
    bench.append = () => {
      bench.nowMs = 999;
    };
    expect(await bench.run([a, b])).toMatchObject(uncertain("clock_ambiguous", [a]));
  });
  test("backwards behind the last record: durable, not confirmed, also where it comes right again", async () => {
    const bench = new Bench();
    bench.append = () => {
      bench.nowMs = 999;
    };
    bench.flush = () => {
      bench.nowMs = 2000;
    };
    expect(await bench.run([a])).toEqual({ ...durable([a]), confirmedWithinDeadline: false });
  });
  test("none over the barrier: durable, not confirmed", async () => {
    const bench = new Bench();
    bench.checkpoint = () => {
      bench.nowMs = Number.NaN;
    };
    expect(await bench.run([a], { barrier: { kind: "checkpoint", reason: "r" } })).toEqual({
      ...durable([a]),
      confirmedWithinDeadline: false,
    });
  });
  test("none during a wait stops the retries", async () => {
    const bench = new Bench();
    bench.flush = fail("EIO");
    bench.wait = () => {
      bench.nowMs = Number.NaN;
      return Promise.resolve();
    };
    expect(await bench.run([a])).toMatchObject({ ...uncertain("clock_ambiguous", [a]), barrierAttempts: 1 });
  });
});

test("I89 a wait that is called off ends the retries", async () => {
  const bench = new Bench();
  bench.flush = fail("EIO");
  bench.wait = () => Promise.reject(new Error("called off"));
  expect(await bench.run([a])).toEqual({
    ...uncertain("barrier_failed", [a]),
    barrierAttempts: 1,
    anomalies: ["flush: EIO", "wait: called off"],
  });
});

test("I90 a port that is missing is no success", async () => {
  const bench = new Bench();
  expect(await bench.run([a], { barrier: { kind: "checkpoint", reason: "r" } })).toMatchObject({
    ...uncertain("unsupported_barrier_port", [a]),
    barrierAttempts: 0,
  });
  const none = new Bench();
  none.flush = undefined;
  expect(await none.run([a])).toMatchObject(uncertain("unsupported_barrier_port", [a]));
});

describe("I91 a place that is removed or moved", () => {
  const changes: [string, (bench: Bench) => void][] = [
    ["state_removed", (bench) => void Object.assign(bench, { isRemoved: () => true })],
    ["origin_changed", (bench) => void Object.assign(bench, { isCurrent: () => false })],
    ["state_removed", (bench) => void Object.assign(bench, { isRemoved: fail("EACCES") })],
    ["origin_changed", (bench) => void Object.assign(bench, { isCurrent: fail("gone") })],
  ];
  test.each(changes)(
    "%s before, between, behind the last record, in the wait, behind the barrier",
    async (reason, change) => {
      const before = new Bench();
      change(before);
      expect(await before.run([a])).toMatchObject(uncertain(reason));
      expect(before.asked).toEqual([]);

      const between = new Bench();
      between.append = () => change(between);
      expect(await between.run([a, b])).toMatchObject(uncertain(reason, [a]));
      expect(between.asked).toEqual(["append a"]);

      const last = new Bench();
      last.append = () => change(last);
      expect(await last.run([a])).toMatchObject({ ...uncertain(reason, [a]), barrierAttempts: 0 });

      const waiting = new Bench();
      waiting.flush = fail("EIO");
      waiting.wait = async () => change(waiting);
      expect(await waiting.run([a])).toMatchObject({ ...uncertain(reason, [a]), barrierAttempts: 1 });

      const behind = new Bench();
      behind.flush = () => change(behind);
      expect(await behind.run([a])).toMatchObject({ ...uncertain(reason, [a]), barrierAttempts: 1 });
    },
  );
});
