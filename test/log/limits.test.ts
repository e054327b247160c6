/** The log at its limits, and with what the world does to it: a clock that jumps, a folder that may not be written or goes away. */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { emptyState, isSnapshotDue } from "../../src/log/fold.ts";
import {
  checkLog,
  createLog,
  type LogPorts,
  type LogRecord,
  type LogWriter,
  nodePorts,
  openLogForRead,
  openLogForWrite,
  type RecordSpec,
  readHolder,
  recordProblem,
} from "../../src/log/index.ts";
import {
  blobBytesMax,
  blobHeadChars,
  clockMsMax,
  damageListMax,
  groupBytesMax,
  headerTextBytesMax,
  heldBytesMax,
  idCharsMax,
  inlineBytesMax,
  inlineTightBytesMax,
  leaseBytesMax,
  lineBytesMax,
  retryFirstMs,
  retryMaxMs,
  settingBytesMax,
  settingKeyBytesMax,
  snapshotEveryBytes,
  snapshotShare,
} from "../../src/log/limits.ts";
import { id, logPath, sessions } from "./driver.ts";
import { SimComputer, systemError } from "./sim-disk.ts";

const message = (payload: unknown): RecordSpec => ({
  kind: "message",
  role: "user",
  payload: payload as object,
});

/** The ports with another way to open files for writing. */
function withWrites(ports: LogPorts, write: (bytes: Uint8Array) => Promise<number> | undefined): LogPorts {
  const { files } = ports;
  return {
    ...ports,
    files: {
      ...files,
      async open(path, mode) {
        const file = await files.open(path, mode);
        return {
          read: (into, position) => file.read(into, position),
          write: (bytes, position) => write(bytes) ?? file.write(bytes, position),
          truncate: (size) => file.truncate(size),
          sync: () => file.sync(),
          facts: () => file.facts(),
          close: () => file.close(),
        };
      },
    },
  };
}

async function recordsOf(ports: LogPorts): Promise<LogRecord[]> {
  const reader = await openLogForRead({ sessions, id }, ports);
  const records: LogRecord[] = [];
  for await (const item of reader.items()) if (item.type === "record") records.push(item.record as LogRecord);
  await reader.close();
  return records;
}

describe("texts", () => {
  test("of a blob the record keeps the first characters, never half of one", async () => {
    const computer = new SimComputer();
    const log = await createLog({ sessions, id }, computer.spawn().ports);
    await log.append([message("a".repeat(inlineBytesMax + 1)), message(`b${"😀".repeat(inlineBytesMax)}`)]);
    await log.close();
    const [first, second] = (await recordsOf(computer.spawn().ports)).filter(
      ({ kind }) => kind === "message",
    );
    expect(first).toMatchObject({ payload: "a".repeat(blobHeadChars) });
    // The limit falls into a pair: it goes whole.
    expect(second).toMatchObject({ payload: `b${"😀".repeat((blobHeadChars - 2) / 2)}` });
  });

  test("none of which is long go to blobs where a record would not fit on its line, down to the tight bound", async () => {
    const computer = new SimComputer();
    const log = await createLog({ sessions, id }, computer.spawn().ports);
    const payload = {
      small: "s".repeat(inlineTightBytesMax),
      many: Array.from({ length: 80 }, () => "m".repeat(inlineBytesMax)),
    };
    await log.append(message(payload));
    await log.close();
    const record = (await recordsOf(computer.spawn().ports)).find(({ kind }) => kind === "message");
    expect(record).toMatchObject({ payload: { small: payload.small } });
    const reader = await openLogForRead({ sessions, id }, computer.spawn().ports);
    expect(await reader.inflate(record as LogRecord)).toMatchObject({ payload });
    await reader.close();
  });

  test("a payload above the limit of a blob is refused, and nothing of it stays", async () => {
    const root = mkdtempSync(join(tmpdir(), "hansard-limits-"));
    // The disk takes everything and keeps nothing: the limit is one of bytes, not of this computer's disk.
    const log = await createLog({ sessions: root, id });
    const chunk = Buffer.alloc(8 * 1024 * 1024);
    await log.close();
    const ports = withWrites(nodePorts, (bytes) =>
      bytes.length >= chunk.length / 64 ? Promise.resolve(bytes.length) : undefined,
    );
    const writer = await openLogForWrite({ sessions: root, id }, ports);
    async function* tooMuch(): AsyncGenerator<Uint8Array> {
      for (let bytes = 0; bytes < blobBytesMax; bytes += chunk.length) yield chunk;
      yield chunk.subarray(0, 1);
    }
    await expect(writer.putBlob(tooMuch())).rejects.toMatchObject({ code: "too-large" });
    await writer.close();
    expect(readdirSync(join(root, id, "blobs"))).toEqual([]);
    rmSync(root, { recursive: true, force: true });
  });
});

describe("fields", () => {
  const envelope = { turnId: "t", parentTurnId: null, timestamp: "2026-01-01T00:00:00Z" };
  test.each<[string, number, (length: number) => Record<string, unknown>]>([
    ["a setting's key", settingKeyBytesMax, (n) => ({ kind: "set", key: "k".repeat(n), value: 1 })],
    // Its quotes count.
    ["a setting's value", settingBytesMax, (n) => ({ kind: "set", key: "k", value: "v".repeat(n - 2) })],
    [
      "an id",
      idCharsMax,
      (n) => ({ kind: "message", ...envelope, turnId: "t".repeat(n), role: "user", payload: 1 }),
    ],
    ["a text of the session", headerTextBytesMax, (n) => ({ kind: "session", id: "s", cwd: "/".repeat(n) })],
  ])("%s", (_, max, make) => {
    expect(recordProblem(make(max))).toBeUndefined();
    expect(recordProblem(make(max + 1))).toContain("at most");
  });
});

test("a snapshot is due after 64 KiB, or eight times its own size where that is more", () => {
  const after = (bytes: number, snapshotBytes: number): boolean =>
    isSnapshotDue({ ...emptyState, snapshotEnd: 1000, snapshotBytes, end: 1000 + bytes });
  expect([after(snapshotEveryBytes - 1, 100), after(snapshotEveryBytes, 100)]).toEqual([false, true]);
  const large = snapshotEveryBytes;
  expect([after(snapshotShare * large - 1, large), after(snapshotShare * large, large)]).toEqual([
    false,
    true,
  ]);
});

describe("writing", () => {
  test("a group is at most 8 MiB, one append alone whatever it needs", async () => {
    const computer = new SimComputer();
    const sizes: number[] = [];
    const ports = withWrites(computer.spawn().ports, (bytes) => {
      sizes.push(bytes.length);
      return undefined;
    });
    const log = await createLog({ sessions, id }, ports);
    sizes.length = 0;
    const texts = Array.from({ length: 40 }, () => "x".repeat(inlineBytesMax - 100));
    const large = message({ texts });
    const each = 40 * inlineBytesMax;
    expect(each).toBeLessThan(lineBytesMax);
    await Promise.all(Array.from({ length: 6 }, () => log.append(large)));
    expect(sizes.every((size) => size <= groupBytesMax)).toBe(true);
    expect(Math.max(...sizes)).toBeGreaterThan(groupBytesMax - each);
    sizes.length = 0;
    await log.append([large, large, large, large]);
    expect(Math.max(...sizes)).toBeGreaterThan(groupBytesMax);
    await log.close();
  });

  test("is tried again after pauses that double from the first to the last", async () => {
    const computer = new SimComputer();
    const { ports } = computer.spawn();
    const pauses: number[] = [];
    let isFull = false;
    const counted: LogPorts = {
      ...withWrites(ports, () => (isFull ? Promise.reject(systemError("ENOSPC")) : undefined)),
      clock: {
        now: () => ports.clock.now(),
        after(delayMs, act) {
          pauses.push(delayMs);
          return ports.clock.after(delayMs, act);
        },
      },
    };
    const log = await createLog({ sessions, id }, counted);
    isFull = true;
    await log.append(message("held"));
    await computer.advance(20_000);
    expect(pauses.slice(0, 7)).toEqual([retryFirstMs, 500, 1000, 2000, retryMaxMs, retryMaxMs, retryMaxMs]);
    isFull = false;
    await computer.advance(retryMaxMs);
    expect(log.status().problem).toBeUndefined();
    expect(await log.close()).toMatchObject({ saved: true });
  });

  test("a payload that finds no room holds back what follows it, not what precedes it; at the end only its rest is lost", async () => {
    const computer = new SimComputer();
    const ports = withWrites(computer.spawn().ports, (bytes) =>
      bytes.length > inlineBytesMax ? Promise.reject(systemError("ENOSPC")) : undefined,
    );
    const log = await createLog({ sessions, id }, ports);
    const appended = ["before", "x".repeat(inlineBytesMax + 1), "after"].map((text) =>
      log.append(message(text)),
    );
    expect((await Promise.all(appended)).map(({ state }) => state)).toEqual(["written", "held", "held"]);
    const closed = await log.close();
    expect(closed).toMatchObject({ saved: false, unsavedRecords: 0 });
    expect(closed.message).toContain("is saved but for the rest of 1 long text");
    const kinds = (await recordsOf(computer.spawn().ports)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "message")).toHaveLength(3);
    expect(kinds.at(-1)).toBe("closed");
  });

  test("what is held is bounded in bytes: more is missed, and the log says how much", async () => {
    const computer = new SimComputer();
    let isFull = false;
    const ports = withWrites(computer.spawn().ports, () =>
      isFull ? Promise.reject(systemError("ENOSPC")) : undefined,
    );
    const log = await createLog({ sessions, id }, ports);
    isFull = true;
    const texts = Array.from({ length: 40 }, () => "x".repeat(inlineBytesMax - 100));
    const states: string[] = [];
    for (let i = 0; i < 30; i += 1) states.push((await log.append(message({ texts }))).state);
    const held = states.filter((state) => state === "held").length;
    expect(log.status().heldBytes).toBeLessThanOrEqual(heldBytesMax);
    expect(held).toBe(Math.floor(heldBytesMax / (log.status().heldBytes / held)));
    expect(states.slice(held).every((state) => state === "missed")).toBe(true);
    isFull = false;
    await computer.advance(10_000);
    await log.close();
    const missed = (await recordsOf(computer.spawn().ports)).find(({ kind }) => kind === "missed");
    expect(missed).toMatchObject({ reason: "held-limit", records: 30 - held });
  });
});

test("of a log with many damaged places the first thousand are listed, and all are counted", async () => {
  const root = mkdtempSync(join(tmpdir(), "hansard-limits-"));
  await (await createLog({ sessions: root, id })).close();
  const path = join(root, id, "log.jsonl");
  appendFileSync(path, "no record\n".repeat(damageListMax));
  expect((await checkLog(path)).damage).toHaveLength(damageListMax);
  appendFileSync(path, "no record\n");
  const { damage, damageCount } = await checkLog(path);
  expect([damage.length, damageCount]).toEqual([damageListMax, damageListMax + 1]);
  rmSync(root, { recursive: true, force: true });
});

test("a lease file is read to its limit: a longer one names nobody", async () => {
  const root = mkdtempSync(join(tmpdir(), "hansard-limits-"));
  const log = await createLog({ sessions: root, id });
  const folder = join(root, id, "lease");
  const file = join(folder, readdirSync(folder)[0] ?? "");
  const at = { sessions: root, id };
  expect((await readHolder(at)).state).toBe("held");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.padEnd(leaseBytesMax, " "));
  expect((await readHolder(at)).state).toBe("held");
  writeFileSync(file, `${" ".repeat(leaseBytesMax + 1 - text.length)}${text}`);
  expect((await readHolder(at)).state).toBe("unclear");
  await log.close();
  rmSync(root, { recursive: true, force: true });
});

describe("the world around", () => {
  let computer: SimComputer;
  let log: LogWriter;
  beforeEach(async () => {
    computer = new SimComputer();
    log = await createLog({ sessions, id }, computer.spawn().ports);
  });
  afterEach(async () => {
    await log.close();
  });

  test("a clock that jumps back, far ahead, or below zero orders nothing and spoils nothing", async () => {
    const times = [1_790_000_000_000, 5, clockMsMax, clockMsMax + 1, 9e15, -3, Number.NaN, 1_790_000_000_001];
    for (const [i, time] of times.entries()) {
      computer.nowMs = time;
      await log.append(message(`m${i}`));
    }
    await log.flush();
    const records = (await recordsOf(computer.spawn().ports)).filter(({ kind }) => kind === "message");
    expect(records.map((record) => (record as { payload?: unknown }).payload)).toEqual(
      times.map((_, i) => `m${i}`),
    );
    expect(records.map(({ ts }) => ts)).toEqual([
      1_790_000_000_000,
      5,
      clockMsMax,
      0,
      0,
      0,
      0,
      1_790_000_000_001,
    ]);
    expect(await checkLog(logPath, computer.spawn().ports)).toMatchObject({
      damageCount: 0,
      invalidCount: 0,
    });
  });

  test.each(["EROFS", "EACCES"])(
    "a state folder that cannot be written any more (%s) is told; the session can still be read",
    async (code) => {
      await log.append(message("before"));
      await log.close();
      const { ports } = computer.spawn();
      const refusing: LogPorts = {
        ...ports,
        files: {
          ...ports.files,
          open: (path, mode) =>
            mode === "read" ? ports.files.open(path, mode) : Promise.reject(systemError(code)),
        },
      };
      await expect(openLogForWrite({ sessions, id }, refusing)).rejects.toMatchObject({
        code: "not-writable",
        next: "It can still be read.",
      });
      expect((await recordsOf(refusing)).map(({ kind }) => kind)).toContain("message");
    },
  );
});
