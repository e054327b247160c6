/** The ports over real session logs: what is appended, what a strict readback says, and that nothing is made by looking. */
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type ContinuityPersistencePorts,
  persistContinuityGroup,
  type WritableEntry,
} from "../../src/continuity/index.ts";
import {
  createContinuityPersistencePorts,
  createLog,
  createUnsavedLog,
  type LogWriter,
  nodePorts,
  openLogForRead,
  openLogForWrite,
  readContinuityLedger,
  readContinuityRecordExact,
} from "../../src/log/index.ts";
import { createLedger, type Row } from "../support/handoffs.ts";

const id = "real";
let root: string;
let sessions: string;
let writer: LogWriter;
let ports: ContinuityPersistencePorts;
let ledger: ReturnType<typeof createLedger>;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "hansard-handoff-"));
  sessions = join(root, "sessions");
  writer = await createLog({ sessions, id });
  ledger = createLedger(id);
  await writer.append(ledger.user() as never);
  ports = createContinuityPersistencePorts({ sessions, id, writer });
});
afterEach(async () => {
  await writer.close();
  rmSync(root, { recursive: true, force: true });
});

const path = (): string => join(sessions, id, "log.jsonl");
const origin = (): { sessions: string; id: string } => ({ sessions, id });
const read = (entry: WritableEntry) => readContinuityRecordExact(origin(), entry);
const linesOf = (entryId: string): string[] =>
  readFileSync(path(), "utf8")
    .split("\n")
    .filter((line) => line.includes(`"turnId":"${entryId}"`));
const schedule = { limit: 3, deadlineAtMs: 1000, now: () => 0, wait: () => Promise.resolve() };

function prepared(): WritableEntry {
  return ledger.handoff({ note: "step 4\r\n é😀 <b>" }).prepare() as WritableEntry;
}

describe("I92 append and exact readback", () => {
  test("the reserved id and time land, and the record is read back as it was", async () => {
    const entry = prepared();
    expect(await read(entry)).toBe("absent");
    await ports.append(entry);
    expect(await ports.readExact(entry)).toBe("matching");
    const { entries, unreadableRecords } = await readContinuityLedger(origin());
    expect(unreadableRecords).toBe(0);
    expect(entries.at(-1)).toEqual(entry);
  });

  test("an optional field that is undefined equals one that is missing", async () => {
    const entry = prepared();
    await ports.append(entry);
    expect(await read({ ...entry, extra: undefined } as WritableEntry)).toBe("matching");
  });
});

test("I93 the message leaf is not moved", async () => {
  const leaf = writer.tail.leafTurnId;
  await ports.append(prepared());
  expect(writer.tail.leafTurnId).toBe(leaf);
});

test("I94 a barrier that is tried again writes no second line", async () => {
  const entry = prepared();
  let calls = 0;
  const failing: ContinuityPersistencePorts = {
    ...ports,
    flushAppends: async () => {
      calls += 1;
      if (calls < 3) throw new Error("EIO");
      await ports.flushAppends?.();
    },
  };
  const result = await persistContinuityGroup(
    { entries: [entry], barrier: { kind: "flush" } },
    failing,
    schedule,
  );
  expect(result).toMatchObject({ state: "durable", barrierAttempts: 3, confirmedWithinDeadline: true });
  expect(linesOf(entry.turnId)).toHaveLength(1);
});

test("I95 an uncertain group keeps its progress, and resuming it writes once", async () => {
  const handoff = ledger.handoff();
  const entries = [handoff.prepare(), handoff.reduce()] as WritableEntry[];
  const failing = { ...ports, checkpoint: () => Promise.reject(new Error("EIO")) };
  const group = { entries, barrier: { kind: "checkpoint", reason: "r" } as const };
  const stopped = await persistContinuityGroup(group, failing, { ...schedule, limit: 0 });
  expect(stopped).toMatchObject({ state: "uncertain", reason: "barrier_failed" });
  expect(stopped.accepted).toHaveLength(2);
  const resumed = await persistContinuityGroup(
    { ...group, alreadyAccepted: stopped.accepted },
    ports,
    schedule,
  );
  expect(resumed).toMatchObject({ state: "durable" });
  for (const entry of entries) expect(linesOf(entry.turnId)).toHaveLength(1);
});

test("I96 an append that throws after the write is found in the file", async () => {
  const entry = prepared();
  const throwing: ContinuityPersistencePorts = {
    ...ports,
    append: async (each) => {
      await ports.append(each);
      throw new Error("EIO");
    },
  };
  const group = { entries: [entry], barrier: { kind: "flush" } as const };
  expect(await persistContinuityGroup(group, throwing, schedule)).toMatchObject({ state: "durable" });
  expect(linesOf(entry.turnId)).toHaveLength(1);
});

test("I97 other bytes under the id conflict", async () => {
  const entry = prepared();
  await ports.append({ ...entry, timestamp: "2026-01-01T00:00:00Z" });
  expect(await read(entry)).toBe("conflicting");
});

test("I98 a conflict behind a match is seen", async () => {
  const entry = prepared();
  await ports.append(entry);
  await ports.append(entry);
  expect(await read(entry)).toBe("matching");
  await ports.append({ ...entry, remark: 1 } as WritableEntry);
  expect(await read(entry)).toBe("conflicting");
  await ports.append(entry);
  expect(await read(entry)).toBe("conflicting");
});

describe("I99 a torn log says nothing", () => {
  test.each([
    ["half a record", (line: string) => line.slice(0, 40)],
    ["a record whose sum is wrong", (line: string) => `${line.replace("step", "stop")}\n`],
    ["NULs", () => "\0\0\0\0"],
  ])("%s", async (_name, spoil) => {
    const entry = prepared();
    await ports.append(entry);
    await writer.close();
    const line = linesOf(entry.turnId)[0] as string;
    appendFileSync(path(), spoil(line));
    expect(await read(entry)).toBe("unresolved");
    expect((await readContinuityLedger(origin())).unreadableRecords).toBe(1);
  });
});

describe("I100 JSON that is no record says nothing", () => {
  test.each(["null", "42", "[]", "{}", '"x"', '{"kind":"message"}', '{"v":1,"seq":3,"kind":"custom"}'])(
    "%s",
    async (line) => {
      const entry = prepared();
      await ports.append(entry);
      await writer.close();
      appendFileSync(path(), `${line}\n`);
      expect(await read(entry)).toBe("unresolved");
      expect((await readContinuityLedger(origin())).unreadableRecords).toBeGreaterThan(0);
    },
  );

  test("a record that is missing from the middle", async () => {
    const entry = prepared();
    await writer.append({ kind: "set", key: "title", value: "x" });
    await ports.append(entry);
    await writer.close();
    const lines = readFileSync(path(), "utf8").split("\n");
    writeFileSync(path(), lines.filter((line) => !line.includes('"kind":"set"')).join("\n"));
    expect(await read(entry)).toBe("unresolved");
    expect((await readContinuityLedger(origin())).unreadableRecords).toBe(1);
  });
});

describe("I101 another session's header", () => {
  test("in the first line, and a second header", async () => {
    const entry = prepared();
    await ports.append(entry);
    await writer.close();
    const whole = readFileSync(path(), "utf8");
    const other = join(sessions, "other");
    mkdirSync(other);
    writeFileSync(join(other, "log.jsonl"), whole);
    expect(await readContinuityRecordExact({ sessions, id: "other" }, entry)).toBe("unresolved");
    writeFileSync(path(), `${whole}${whole.slice(0, whole.indexOf("\n") + 1)}`);
    expect(await read(entry)).toBe("unresolved");
  });
});

test("I102 a version this build does not read", async () => {
  const entry = prepared();
  await ports.append(entry);
  await writer.close();
  for (const version of [0, 2]) {
    const whole = readFileSync(path(), "utf8");
    writeFileSync(path(), whole.replace('{"v":1,', `{"v":${version},`));
    expect(await read(entry)).toBe("unresolved");
    writeFileSync(path(), whole);
  }
});

test("I103 a log without a header, and an empty one", async () => {
  const entry = prepared();
  await ports.append(entry);
  await writer.close();
  const whole = readFileSync(path(), "utf8");
  writeFileSync(path(), whole.slice(whole.indexOf("\n") + 1));
  expect(await read(entry)).toBe("unresolved");
  expect((await readContinuityLedger(origin())).unreadableRecords).toBeGreaterThan(0);
  writeFileSync(path(), "");
  expect(await read(entry)).toBe("unresolved");
  expect((await readContinuityLedger(origin())).unreadableRecords).toBe(1);
});

test("I104 a half made file beside a missing log is left alone", async () => {
  const entry = prepared();
  await writer.close();
  const whole = readFileSync(path());
  rmSync(path());
  writeFileSync(`${path()}.tmp`, whole);
  expect(await read(entry)).toBe("unresolved");
  expect(readdirSync(join(sessions, id)).sort()).toEqual(["lease", "log.jsonl.tmp"]);
});

test("I105 a state that was removed is not made again", async () => {
  const entry = prepared();
  rmSync(root, { recursive: true, force: true });
  const group = { entries: [entry], barrier: { kind: "flush" } as const };
  expect(await persistContinuityGroup(group, ports, schedule)).toMatchObject({
    state: "uncertain",
    reason: "state_removed",
    accepted: [],
  });
  expect(await read(entry)).toBe("unresolved");
  expect(() => readdirSync(root)).toThrow("ENOENT");
});

describe("I106 a session that is not the current one any more", () => {
  test("the driver has gone on: append and barriers refuse", async () => {
    let isCurrent = true;
    const own = createContinuityPersistencePorts({ sessions, id, writer, isCurrent: () => isCurrent });
    expect(await own.isOriginCurrent()).toBe(true);
    isCurrent = false;
    const entry = prepared();
    expect(await own.isOriginCurrent()).toBe(false);
    await expect(own.append(entry)).rejects.toThrow("not the one that is written");
    await expect(own.flushAppends?.()).rejects.toThrow("not the one that is written");
    await expect(own.checkpoint?.("r")).rejects.toThrow("not the one that is written");
    expect(linesOf(entry.turnId)).toEqual([]);
  });

  test("another process has taken the log over", async () => {
    const thief = await openLogForWrite({ sessions, id, steal: true });
    const entry = prepared();
    await expect(ports.append(entry)).rejects.toThrow();
    expect(await ports.isOriginCurrent()).toBe(false);
    await thief.close();
  });

  test("a writer of another session is none", async () => {
    const own = createContinuityPersistencePorts({ sessions, id: "other", writer });
    expect(await own.isOriginCurrent()).toBe(false);
  });
});

test("I107 an origin that its caller changes afterwards moves nothing", async () => {
  const given = { sessions, id, writer };
  const own = createContinuityPersistencePorts(given);
  given.id = "other";
  given.sessions = "/nowhere";
  const entry = prepared();
  await own.append(entry);
  expect(await own.readExact(entry)).toBe("matching");
  expect(await own.isStateRemoved()).toBe(false);
});

test.each([
  { turnId: "" },
  { timestamp: "" },
  { turnId: undefined },
  { timestamp: undefined },
  { parentTurnId: undefined },
])("I108 a record without its own id or time is refused: %o", async (missing) => {
  const before = readFileSync(path(), "utf8");
  await expect(ports.append({ ...prepared(), ...missing } as WritableEntry)).rejects.toThrow();
  expect(readFileSync(path(), "utf8")).toBe(before);
});

test("I109 a barrier that is not there is told; a session that keeps no log confirms nothing", async () => {
  const { checkpoint: _none, ...rest } = ports;
  const entry = prepared();
  const group = { entries: [entry], barrier: { kind: "checkpoint", reason: "r" } as const };
  expect(await persistContinuityGroup(group, rest, schedule)).toMatchObject({
    reason: "unsupported_barrier_port",
  });
  const unsaved = createUnsavedLog({ id: "unsaved" }, nodePorts);
  const own = createContinuityPersistencePorts({ sessions, id: "unsaved", writer: unsaved });
  await expect(own.append(entry)).rejects.toThrow("unsaved");
  expect(await own.readExact(entry)).toBe("unresolved");
  expect(await own.isStateRemoved()).toBe(true);
});

test("I110 persisted is not permitted: a late barrier is durable and confirms nothing", async () => {
  let nowMs = 0;
  const late = {
    ...ports,
    flushAppends: async () => {
      await ports.flushAppends?.();
      nowMs = 1000;
    },
  };
  const group = { entries: [prepared()], barrier: { kind: "flush" } as const };
  expect(await persistContinuityGroup(group, late, { ...schedule, now: () => nowMs })).toMatchObject({
    state: "durable",
    confirmedWithinDeadline: false,
  });
});

test("I111 to classify writes nothing", async () => {
  const entry = prepared();
  const before = readFileSync(path());
  const names = readdirSync(join(sessions, id), { recursive: true }).sort();
  expect(await ports.readExact(entry)).toBe("absent");
  await readContinuityLedger(origin());
  expect(readFileSync(path())).toEqual(before);
  expect(readdirSync(join(sessions, id), { recursive: true }).sort()).toEqual(names);
});

test("the ledger has each entry as it was appended, long texts by their beginning, and the fork's binding", async () => {
  await writer.append({
    kind: "message",
    turnId: "long",
    role: "assistant",
    payload: { text: "L".repeat(70_000) },
  });
  const forked = await createLog({
    sessions,
    id: "child",
    link: "fork",
    parentSession: path(),
    parentSessionId: id,
    parentTurnId: "long",
  });
  await forked.close();
  const { entries, fork } = await readContinuityLedger(origin());
  expect(entries[0]).toEqual(ledger.rows[0]);
  expect(entries[1]).toMatchObject({ turnId: "long", payload: { text: "L".repeat(1024) } });
  expect(entries[1]).not.toHaveProperty("blobs");
  expect(fork).toBeUndefined();
  expect((await readContinuityLedger({ sessions, id: "child" })).fork).toEqual({
    parentSessionId: id,
    parentTurnId: "long",
  });
  await expect(readContinuityLedger({ sessions, id: "none" })).rejects.toMatchObject({ code: "not-found" });
  const reader = await openLogForRead(origin());
  const item = (await reader.tail(1)).items[0] as unknown as { record: Row };
  expect(item.record).toHaveProperty("blobs");
  await reader.close();
});
