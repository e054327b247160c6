/** Reading, forking, checking and repairing logs that a writer made. */
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import {
  checkLog,
  createLog,
  createUnsavedLog,
  forkLog,
  type LogItem,
  type LogRecord,
  type LogWriter,
  openLogForRead,
  openLogForWrite,
  type RecordSpec,
  repairLog,
  resumePoint,
  toEntry,
} from "../../src/log/index.ts";
import { inlineBytesMax } from "../../src/log/limits.ts";
import { id, logPath, sessions } from "./driver.ts";
import { SimComputer, type SimProcess } from "./sim-disk.ts";

let computer: SimComputer;
let process: SimProcess;
beforeEach(() => {
  computer = new SimComputer();
  process = computer.spawn();
});

function message(turnId: string, parentTurnId?: string | null, payload: unknown = turnId): RecordSpec {
  return {
    kind: "message",
    turnId,
    role: "user",
    payload,
    ...(parentTurnId === undefined ? {} : { parentTurnId }),
  };
}

async function write(...specs: readonly (RecordSpec | readonly RecordSpec[])[]): Promise<LogWriter> {
  const writer = await createLog({ sessions, id, cwd: "/work", agent: "fake" }, process.ports);
  for (const spec of specs) await writer.append(spec);
  await writer.flush();
  return writer;
}

async function all(session: string = id): Promise<LogItem[]> {
  const reader = await openLogForRead({ sessions, id: session }, process.ports);
  const items: LogItem[] = [];
  for await (const item of reader.items()) items.push(item);
  await reader.close();
  return items;
}

function named(items: readonly LogItem[]): string[] {
  return items.map((item) => {
    if (item.type === "damage") return item.fault;
    const record = item.record as LogRecord;
    switch (record.kind) {
      case "message":
        return record.turnId;
      case "turnStarted":
      case "turnCommitted":
        return `${record.kind} ${record.turn}`;
      case "turnInterrupted":
        return `interrupted ${record.turn} ${record.reason}`;
      case "set":
        return `set ${record.key}`;
      case "missed":
        return `missed ${record.records ?? "?"}`;
      default:
        return (record as { readonly turnId?: string }).turnId ?? record.kind;
    }
  });
}

const summary = (turnId: string, firstKeptTurnId = ""): RecordSpec => ({
  kind: "compactionSummary",
  turnId,
  summary: turnId,
  tokensBefore: 10,
  firstKeptTurnId,
});

describe("pages", () => {
  test("law: pages of any size, backward and forward, are the whole log, each item once", async () => {
    const writer = await write(
      ...Array.from({ length: 60 }, (_, index) =>
        message(`m${index}`, null, "p".repeat((index * 977) % 9000)),
      ),
    );
    await writer.close();
    const bytes = computer.bytesAt(logPath) ?? Buffer.alloc(0);
    // Damage in the middle and half a line at the end are items like others.
    bytes.fill(0x21, 20_000, 20_100);
    computer.overwrite(logPath, Buffer.concat([bytes, Buffer.from('{"v":1,"se')]));
    const whole = await all();
    expect(whole.filter((item) => item.type === "damage").length).toBeGreaterThan(1);
    const reader = await openLogForRead({ sessions, id }, process.ports);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), async (limits) => {
        const back: LogItem[] = [];
        let page = await reader.tail(limits[0] ?? 1);
        for (let turn = 1; ; turn += 1) {
          back.unshift(...page.items);
          if (page.isAtStart) break;
          page = await reader.older(page.start, limits[turn % limits.length] ?? 1);
        }
        expect(back).toEqual(whole);
        const forth: LogItem[] = [];
        for (let turn = 0, at = 0; ; turn += 1) {
          const next = await reader.newer(at, limits[turn % limits.length] ?? 1);
          forth.push(...next.items);
          at = next.end;
          if (next.isAtEnd) break;
        }
        expect(forth).toEqual(whole);
      }),
      { numRuns: 25 },
    );
    expect(await reader.older(0, 5)).toMatchObject({ items: [], isAtStart: true });
    expect(await reader.tail(0)).toMatchObject({ items: [], isAtEnd: true });
    await reader.close();
  });

  test("an unknown kind and a record with wrong fields are shown as they are", async () => {
    const writer = await write(message("m1"));
    const { encodeRecord } = await import("../../src/log/codec.ts");
    const at = writer.tail;
    const strange = [
      encodeRecord({ v: 1, seq: at.seqNext, ts: 1, kind: "dream", about: "sheep" } as never),
      encodeRecord({ v: 1, seq: at.seqNext + 1, ts: 1, kind: "message" }),
    ];
    computer.overwrite(logPath, Buffer.concat([computer.bytesAt(logPath) ?? Buffer.alloc(0), ...strange]));
    const [dream, wrong] = (await all()).slice(-2);
    expect(dream).toMatchObject({ isUnknown: true, record: { kind: "dream", about: "sheep" } });
    expect(wrong).toMatchObject({ problem: expect.stringContaining("turnId") as string });
  });
});

test("cycles are paged by the chain; resuming starts at the newest compaction, or the turn it splits", async () => {
  const writer = await write(
    message("a"),
    summary("s1"),
    { kind: "turnStarted" },
    message("b"),
    summary("s2"),
    { kind: "turnCommitted" },
    message("c"),
  );
  const items = await all();
  const startOf = (name: string): number => items[named(items).indexOf(name)]?.start ?? -1;
  const reader = await openLogForRead({ sessions, id }, process.ports);
  const cycles = [];
  for await (const cycle of reader.cycles()) cycles.push(cycle);
  expect(cycles).toEqual([
    { cycle: 2, start: startOf("turnStarted 1"), end: writer.tail.end },
    { cycle: 1, start: startOf("s1"), end: startOf("s2") },
    { cycle: 0, start: 0, end: startOf("s1") },
  ]);
  const { tail } = await reader.inspect();
  expect(resumePoint(tail)).toEqual({ cycle: 2, start: startOf("turnStarted 1"), seqNext: tail.seqNext });
  const [first] = items;
  if (first === undefined) throw new Error("an empty log");
  expect((await reader.raw(first)).toString()).toMatch(/^\{"v":1,"seq":1,.*\}\n$/);
  await reader.close();
});

describe("payloads", () => {
  const long = `${"é".repeat(inlineBytesMax)}end`;

  test("a text at the limit stays, one above it goes to a blob and comes back whole", async () => {
    const stays = "s".repeat(inlineBytesMax);
    await write(
      message("a", null, { "x/~": [stays] }),
      message("b", null, { "x/~": [{ deep: long }], other: long }),
    );
    const records = (await all()).flatMap((item) =>
      item.type === "record" ? [item.record as LogRecord] : [],
    );
    const reader = await openLogForRead({ sessions, id }, process.ports);
    const [first, second] = records.filter((record) => record.kind === "message");
    expect(first).not.toHaveProperty("blobs");
    expect(second).toMatchObject({ blobs: [{ at: "/payload/x~1~0/0/deep" }, { at: "/payload/other" }] });
    const whole = await reader.inflate(second as LogRecord);
    expect(whole).toMatchObject({ payload: { "x/~": [{ deep: long }], other: long } });
    expect(whole).not.toHaveProperty("blobs");
    // The same text is stored once.
    expect(computer.names(`${sessions}/${id}/blobs`)).toHaveLength(1);
    await reader.close();
  });

  test("a payload that is gone, and one that is damaged, are told apart; storing it again heals it", async () => {
    const writer = await write(message("a", null, long));
    const reader = await openLogForRead({ sessions, id }, process.ports);
    const ref = await writer.putBlob(Buffer.from(long));
    const path = `${sessions}/${id}/blobs/${ref.sha256}`;
    computer.overwrite(path, Buffer.from("half"));
    await expect(reader.blob(ref)).rejects.toMatchObject({ code: "blob-damaged" });
    expect((await checkLog(logPath, process.ports)).blobs).toMatchObject({ named: 1, damaged: [ref.sha256] });
    await writer.putBlob(Buffer.from(long));
    expect((await reader.blob(ref)).toString()).toBe(long);
    await process.ports.files.remove(path);
    await expect(reader.blob(ref)).rejects.toMatchObject({ code: "blob-missing" });
    await expect(reader.blob({ sha256: "../lease", bytes: 1 })).rejects.toMatchObject({
      code: "blob-missing",
    });
    expect((await checkLog(logPath, process.ports)).blobs).toMatchObject({ missing: [ref.sha256] });
  });
});

describe("refusals before anything is written", () => {
  test.each([
    [{ kind: "turnCommitted" }, "no turn is open"],
    [{ kind: "session", id: "x" }, "cannot be appended"],
    [{ kind: "message", role: "user", payload: 1, seq: 9 }, "the writer's own"],
    [{ kind: "message", role: "user", payload: undefined }, "payload is missing"],
  ])("%j", async (spec, words) => {
    const writer = await write(message("a"));
    const before = computer.bytesAt(logPath);
    await expect(writer.append([message("b"), spec as RecordSpec])).rejects.toMatchObject({
      code: "invalid-record",
      message: expect.stringContaining(words) as string,
    });
    await writer.flush();
    expect(computer.bytesAt(logPath)).toEqual(before);
    await writer.append(message("c"));
    expect(named(await all())).toEqual(["session", "a", "c"]);
  });

  test("ids that would leave the folder, ids that are taken, sessions that are not there", async () => {
    await expect(createLog({ sessions, id: "../up" }, process.ports)).rejects.toMatchObject({
      code: "bad-id",
    });
    await write();
    await expect(createLog({ sessions, id }, process.ports)).rejects.toMatchObject({ code: "exists" });
    await expect(openLogForWrite({ sessions, id: "none" }, process.ports)).rejects.toMatchObject({
      code: "not-found",
    });
    await expect(openLogForRead({ sessions, id: "none" }, process.ports)).rejects.toMatchObject({
      code: "not-found",
    });
  });

  test("a closed writer, and one of a session that is not saved", async () => {
    const writer = await write();
    await writer.close();
    await expect(writer.append(message("a"))).rejects.toMatchObject({ code: "closed" });
    const unsaved = createUnsavedLog({ id: "u" }, process.ports);
    expect(await unsaved.append([{ kind: "turnStarted" }, message("a")])).toMatchObject({ state: "unsaved" });
    await expect(unsaved.append({ kind: "turnStarted" })).rejects.toMatchObject({ code: "invalid-record" });
    expect(await unsaved.flush()).toMatchObject({ saved: false });
    expect((await unsaved.close()).message).toBe("The session was not saved, as asked.");
    expect(computer.names(sessions)).toEqual([id]);
  });
});

describe("forks", () => {
  const tree: (RecordSpec | readonly RecordSpec[])[] = [
    { kind: "set", key: "title", value: "t" },
    { kind: "turnStarted" },
    message("a", null),
    message("b", "a"),
    { kind: "label", turnId: "l-b", parentTurnId: "a", targetTurnId: "b", label: "here" },
    { kind: "custom", turnId: "x-root", parentTurnId: null, customType: "n" },
    { kind: "turnCommitted" },
    { kind: "turnStarted" },
    message("c", "b", "L".repeat(70_000)),
    { kind: "custom", turnId: "x-c", parentTurnId: "c", customType: "n" },
    message("d", "c"),
    { kind: "turnCommitted" },
    message("e", "b"),
    summary("s-kept", "b"),
    { kind: "label", turnId: "l-a", parentTurnId: "e", targetTurnId: "a", label: "late" },
    { kind: "custom", turnId: "x-late", parentTurnId: null, customType: "n" },
    { kind: "custom", turnId: "x-b-late", parentTurnId: "b", customType: "n" },
  ];

  test.each([
    [
      "c",
      [
        "session",
        "set title",
        "turnStarted 1",
        "a",
        "b",
        "l-b",
        "x-root",
        "turnCommitted 1",
        "turnStarted 2",
        "c",
        "x-c",
        "interrupted 2 fork",
        "l-a",
        "x-b-late",
      ],
    ],
    [
      "e",
      [
        "session",
        "set title",
        "turnStarted 1",
        "a",
        "b",
        "l-b",
        "x-root",
        "turnCommitted 1",
        "e",
        "l-a",
        "x-b-late",
      ],
    ],
    ["a", ["session", "set title", "turnStarted 1", "a", "x-root?", "interrupted 1 fork", "l-a"]],
  ])("at %s", async (at, expected) => {
    const writer = await write(...tree);
    const before = computer.bytesAt(logPath);
    const forked = await forkLog({ sessions, parentId: id, parentTurnId: at, id: "child" }, process.ports);
    expect(computer.bytesAt(logPath)).toEqual(before);
    const items = await all("child");
    expect(named(items)).toEqual(expected.filter((name) => !name.endsWith("?")));
    expect(forked.session).toEqual({
      kind: "session",
      id: "child",
      cwd: "/work",
      agent: "fake",
      link: "fork",
      parentSession: logPath,
      parentSessionId: id,
      parentTurnId: at,
    });
    // Entries are as they were, texts in blobs included.
    const entries = (list: readonly LogItem[]): Map<string, unknown> =>
      new Map(
        list.flatMap((item) => {
          const record = (item as { readonly record: LogRecord }).record as never as {
            readonly turnId?: string;
          };
          return record.turnId === undefined ? [] : [[record.turnId, toEntry(record as never)] as const];
        }),
      );
    const parents = entries(await all());
    const children = entries(items);
    expect(children.size).toBe(forked.entries);
    for (const [turnId, entry] of children) expect(entry).toEqual(parents.get(turnId));
    const report = await checkLog(forked.path, process.ports);
    expect(report).toMatchObject({ damageCount: 0, invalidCount: 0, verdict: { state: "clean" } });
    expect(report.blobs.missing).toEqual([]);
    const child = await openLogForWrite({ sessions, id: "child" }, process.ports);
    await child.append(message("next"));
    expect((await child.close()).saved).toBe(true);
    await writer.close();
  });

  test.each([
    ["no such message", [message("a", null)], "zz", "there is no message zz"],
    ["a sidecar", [message("a", null), summary("s")], "s", "there is no message s"],
    ["a parent that is missing", [message("a", "ghost")], "a", "ghost is missing"],
    ["a circle", [message("a", "b"), message("b", "a")], "b", "a circle"],
    [
      "one id twice",
      [message("a", null), message("b", "a"), message("b", null)],
      "b",
      "two entries have the id b",
    ],
  ])("refuses %s and leaves nothing", async (_name, specs, at, words) => {
    await write(...specs);
    await expect(
      forkLog({ sessions, parentId: id, parentTurnId: at, id: "child" }, process.ports),
    ).rejects.toMatchObject({
      code: "bad-fork",
      message: expect.stringContaining(words) as string,
    });
    expect(computer.names(sessions)).toEqual([id]);
  });

  test("refuses a damaged parent and a missing payload; a name that is taken", async () => {
    await write(message("a", null, "L".repeat(70_000)), message("b", "a"));
    const blobs = `${sessions}/${id}/blobs`;
    const fork = (child: string): Promise<unknown> =>
      forkLog({ sessions, parentId: id, parentTurnId: "b", id: child }, process.ports);
    await fork("taken");
    await expect(fork("taken")).rejects.toMatchObject({ code: "exists" });
    await process.ports.files.remove(`${blobs}/${computer.names(blobs)[0] ?? ""}`);
    await expect(fork("child")).rejects.toMatchObject({ code: "blob-missing" });
    const bytes = computer.bytesAt(logPath) ?? Buffer.alloc(0);
    bytes[bytes.indexOf('"turnId":"a"') + 10] = 0x7a;
    computer.overwrite(logPath, bytes);
    await expect(fork("child")).rejects.toMatchObject({ code: "bad-fork" });
    expect(computer.names(sessions)).toEqual([id, "taken"]);
  });
});

describe("damage in the middle", () => {
  async function spoil(): Promise<Buffer> {
    const writer = await write(
      message("a"),
      message("b"),
      summary("s1"),
      message("c"),
      summary("s2"),
      message("d"),
    );
    await writer.close();
    const bytes = computer.bytesAt(logPath) ?? Buffer.alloc(0);
    bytes[bytes.indexOf('"turnId":"b"') + 10] = 0x7a;
    computer.overwrite(logPath, bytes);
    return bytes;
  }

  test("is refused by a writer, told with its place, read around, and repaired with the original kept", async () => {
    const bytes = await spoil();
    const other = computer.spawn();
    await expect(openLogForWrite({ sessions, id }, other.ports)).rejects.toMatchObject({
      code: "damaged",
      message: expect.stringMatching(/first at bytes \d+-\d+ \(crc\)/) as string,
    });
    expect(computer.bytesAt(logPath)).toEqual(bytes);
    expect(named(await all())).toEqual(["session", "a", "crc", "s1", "c", "s2", "d", "closed"]);
    const report = await checkLog(logPath, other.ports);
    expect(report).toMatchObject({ damageCount: 1, damage: [{ fault: "crc" }], records: 7, compactions: 2 });

    const repaired = await repairLog({ sessions, id }, other.ports);
    expect(repaired).toMatchObject({ state: "repaired", records: 8, gaps: 1 });
    expect(repaired.state === "repaired" && computer.bytesAt(repaired.keptAs)).toEqual(bytes);
    expect(named(await all())).toEqual(["session", "a", "missed 1", "s1", "c", "s2", "d", "closed"]);
    const after = await checkLog(logPath, other.ports);
    expect(after).toMatchObject({ damageCount: 0, verdict: { state: "clean" } });
    expect(after.kept).toHaveLength(1);
    expect(await repairLog({ sessions, id }, other.ports)).toEqual({ state: "sound" });
    const writer = await openLogForWrite({ sessions, id }, other.ports);
    await writer.append(message("e"));
    expect((await writer.close()).saved).toBe(true);
  });

  test("law: whatever byte is spoiled, check tells, and a repair keeps every other record", async () => {
    const writer = await write(message("a"), message("b"), summary("s1"), message("c"));
    await writer.close();
    const whole = computer.bytesAt(logPath) ?? Buffer.alloc(0);
    const names = named(await all());
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 2), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ mask;
        computer.overwrite(logPath, bytes);
        const report = await checkLog(logPath, process.ports);
        if (report.verdict.state === "newer") return;
        expect(report.damageCount).toBeGreaterThan(0);
        const left = named(await all()).filter((name) => names.includes(name));
        await repairLog({ sessions, id }, process.ports);
        const kept = named(await all());
        for (const name of left) expect(kept).toContain(name);
        if (report.verdict.state === "damaged")
          expect((await checkLog(logPath, process.ports)).damageCount).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
