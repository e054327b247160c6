/** The format, byte by byte, and what a writer makes of every end that a log can have. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesOf } from "../../src/lines/index.ts";
import { decodeLine, encodeRecord } from "../../src/log/codec.ts";
import { emptyState, snapshotOf } from "../../src/log/fold.ts";
import { LogError } from "../../src/log/index.ts";
import { inspectEnd } from "../../src/log/inspect.ts";
import { jsonDepthMax, lineBytesMax, settingsMax, snapshotEveryBytes } from "../../src/log/limits.ts";
import { conversationKinds, lifecycleKinds } from "../../src/log/records.ts";
import { Stamper } from "../../src/log/stamper.ts";
import { recordProblem, validatedKinds } from "../../src/log/validate.ts";

const ts = 1_790_000_000_000;
const envelope = { turnId: "m1", parentTurnId: null, timestamp: "2026-09-21T14:13:20.000Z" };

function stampAll(bodies: readonly { readonly kind: string }[], synced = 0): Buffer {
  const stamper = new Stamper(emptyState);
  return Buffer.concat(bodies.flatMap((body) => stamper.stamp(body, ts, synced)).map((line) => line.bytes));
}

const small = [
  { kind: "session", id: "s1", cwd: "/work" },
  { kind: "turnStarted", turn: 1 },
  { kind: "message", ...envelope, role: "user", payload: { text: "hello \u2028 \ud800!" } },
  { kind: "turnCommitted", turn: 1 },
  { kind: "closed" },
];

test("golden: the lines of a small log", () => {
  expect(stampAll(small).toString()).toBe(
    [
      '{"v":1,"seq":1,"ts":1790000000000,"kind":"session","id":"s1","cwd":"/work","crc":"@"}',
      '{"v":1,"seq":2,"ts":1790000000000,"kind":"turnStarted","turn":1,"crc":"@"}',
      '{"v":1,"seq":3,"ts":1790000000000,"kind":"message","turnId":"m1","parentTurnId":null,"timestamp":"2026-09-21T14:13:20.000Z","role":"user","payload":{"text":"hello \\u2028 \ufffd!"},"crc":"@"}',
      '{"v":1,"seq":4,"ts":1790000000000,"kind":"turnCommitted","turn":1,"crc":"@"}',
      '{"v":1,"seq":5,"ts":1790000000000,"kind":"closed","crc":"@"}',
      "",
    ]
      .map((line, index) =>
        line.replace("@", ["404c38b7", "30948ab9", "17bb26fb", "beee0c93", "fe6b7a8e"][index] ?? ""),
      )
      .join("\n"),
  );
});

describe("what a line is", () => {
  test.each([
    ["empty", "", "crc"],
    ["no checksum", '{"v":1,"seq":1,"ts":1,"kind":"closed"}', "crc"],
    ["a wrong checksum", '{"v":1,"seq":1,"ts":1,"kind":"closed","crc":"00000000"}', "crc"],
    ["NULs", "\0\0\0\0", "crc"],
    ["a newer version, its checksum unknown", '{"v":2,"what":"ever"}', "newer"],
  ])("%s", (_name, line, fault) => {
    expect(decodeLine(Buffer.from(line))).toMatchObject({ ok: false, fault });
  });

  test.each([
    ["a number out of its range", { seq: 0 }],
    ["no time", { ts: "x" }],
    ["an empty kind", { kind: "" }],
    ["a mark that is no count", { synced: -1 }],
  ])("checksum right, %s", (_name, fields) => {
    const line = encodeRecord({ v: 1, seq: 1, ts: 1, kind: "closed", ...fields } as never);
    expect(decodeLine(line.subarray(0, -1))).toEqual({ ok: false, fault: "not-a-record" });
  });

  test("a newer version is told with its number", () => {
    const line = encodeRecord({ v: 3, seq: 1, ts: 1, kind: "closed" });
    expect(decodeLine(line.subarray(0, -1))).toEqual({ ok: false, fault: "newer", version: 3 });
  });

  test("law: any JSON comes back as it was, on one line of well-formed text; one bit changed never passes", () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 4 }),
        fc.string({ unit: "binary" }),
        fc.nat(),
        fc.nat(7),
        (json, text, at, bit) => {
          const record = { v: 1, seq: 7, ts, kind: "custom", data: JSON.parse(json) as unknown, text };
          const line = encodeRecord(record);
          const body = line.subarray(0, -1);
          expect(body.includes(0x0a)).toBe(false);
          const wellFormed = JSON.parse(
            JSON.stringify(record).replace(/\\ud[89a-f][0-9a-f]{2}/g, "\ufffd"),
          ) as unknown;
          const decoded = decodeLine(body);
          if (!text.includes("\\ud") && !json.includes("\\ud"))
            expect(decoded).toEqual({ ok: true, record: wellFormed });
          const spoiled = Buffer.from(body);
          const place = at % spoiled.length;
          spoiled[place] = (spoiled[place] ?? 0) ^ (1 << bit);
          // The case of a hex digit is the one thing that the checksum's own digits could differ in; it must be the written one.
          expect(decodeLine(spoiled).ok).toBe(false);
        },
      ),
    );
  });
});

describe("the end of a log", () => {
  const whole = stampAll(small);
  const ends: number[] = [];
  for (let at = whole.indexOf(0x0a); at !== -1; at = whole.indexOf(0x0a, at + 1)) ends.push(at + 1);

  test("cut after every byte: clean at a border, torn elsewhere, and all records before are there", async () => {
    const [first = 0] = ends;
    for (let size = first; size <= whole.length; size += 1) {
      const { verdict, tail } = await inspectEnd(bytesOf(whole.subarray(0, size)));
      const border = ends.findLast((end) => end <= size) ?? 0;
      if (size === border) expect(verdict, `${size}`).toEqual({ state: "clean" });
      else if (ends.includes(size + 1))
        expect(verdict, `${size}`).toEqual({ state: "clean", missesFeed: true });
      else {
        expect(verdict, `${size}`).toEqual({ state: "torn", start: border, end: size });
        expect(tail.end).toBe(border);
        expect(tail.seqNext).toBe(ends.indexOf(border) + 2);
      }
    }
  });

  test("every bit of every byte flipped: damaged where another line follows, torn in the last", async () => {
    const last = ends.at(-2) ?? 0;
    for (let at = 0; at < whole.length; at += 1) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      const { verdict } = await inspectEnd(bytesOf(bytes));
      if (at === whole.length - 1) expect(["torn", "clean"]).toContain(verdict.state);
      // A line whose first bytes then say version 9 is left to that version.
      // (A line feed lost makes one line of the last two.)
      else if (at < last - 1) expect(["damaged", "newer"], `byte ${at}`).toContain(verdict.state);
      else expect(["torn", "newer"], `byte ${at}`).toContain(verdict.state);
    }
  });

  test.each([
    ["nothing", Buffer.alloc(0), { state: "damaged", damage: [{ start: 0, end: 0, fault: "empty" }] }],
    [
      "another program's file",
      Buffer.from("hello\n"),
      { state: "damaged", damage: [{ start: 0, end: 6, fault: "no-session" }] },
    ],
    [
      "NULs behind the end",
      Buffer.concat([whole, Buffer.alloc(9)]),
      { state: "torn", start: whole.length, end: whole.length + 9 },
    ],
    [
      "a newer record at the end",
      Buffer.concat([whole, Buffer.from('{"v":2}\n')]),
      { state: "newer", version: 2 },
    ],
    ["a newer session", Buffer.from('{"v":9}\n'), { state: "newer", version: 9 }],
    [
      "a line twice",
      Buffer.concat([whole, whole.subarray(ends[3])]),
      {
        state: "damaged",
        damage: [{ start: whole.length, end: whole.length + whole.length - (ends[3] ?? 0), fault: "seq" }],
      },
    ],
    [
      "a line left out",
      Buffer.concat([whole.subarray(0, ends[0]), whole.subarray(ends[1])]),
      {
        state: "damaged",
        damage: [{ start: ends[0], end: (ends[2] ?? 0) - (ends[1] ?? 0) + (ends[0] ?? 0), fault: "seq" }],
      },
    ],
  ])("%s", async (_name, bytes, verdict) => {
    expect((await inspectEnd(bytesOf(bytes))).verdict).toEqual(verdict);
  });

  /** The small log with NULs over a part of its third line. */
  function withHole(synced: number): Buffer {
    const stamper = new Stamper(emptyState);
    const lines = small.map(
      (body, index) => stamper.stamp(body, ts, index < 4 ? 0 : synced)[0]?.bytes ?? Buffer.alloc(0),
    );
    const bytes = Buffer.concat(lines);
    bytes.fill(0, (ends[1] ?? 0) + 10, (ends[2] ?? 0) - 5);
    return bytes;
  }

  test("a hole among what was not synced is a torn end; one in what was safe is damage", async () => {
    const [, hole = 0] = ends;
    const lost = withHole(hole);
    expect((await inspectEnd(bytesOf(lost))).verdict).toEqual({
      state: "torn",
      start: hole,
      end: lost.length,
    });
    const { verdict } = await inspectEnd(bytesOf(withHole(ends[2] ?? 0)));
    expect(verdict).toMatchObject({
      state: "damaged",
      damage: [{ start: hole, end: ends[2], fault: "hole" }],
    });
  });
});

describe("snapshots", () => {
  function long(synced: (line: number) => number): { readonly bytes: Buffer; readonly starts: number[] } {
    const stamper = new Stamper(emptyState);
    const parts: Buffer[] = [];
    const starts: number[] = [];
    const add = (body: { readonly kind: string }): void => {
      for (const line of stamper.stamp(body, ts, synced(parts.length))) {
        if (line.record.kind === "snapshot") starts.push(line.start);
        parts.push(line.bytes);
      }
    };
    add({ kind: "session", id: "s1" } as never);
    for (let turn = 1; turn <= 400; turn += 1) {
      add({ kind: "turnStarted", turn } as never);
      add({ kind: "set", key: "k", value: { kind: "snapshot", turn } } as never);
      add({
        kind: "message",
        ...envelope,
        turnId: `m${turn}`,
        role: "user",
        payload: "p".repeat(900),
      } as never);
      if (turn % 150 === 0)
        add({
          kind: "compactionSummary",
          ...envelope,
          summary: "s",
          tokensBefore: 1,
          firstKeptTurnId: "",
        } as never);
      add({ kind: "turnCommitted", turn } as never);
    }
    return { bytes: Buffer.concat(parts), starts };
  }

  test("come every 64 KiB, and opening reads no more than what lies behind the newest safe one", async () => {
    const { bytes, starts } = long((line) => line * 100);
    expect(starts.length).toBeGreaterThan(4);
    const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(snapshotEveryBytes);
    let read = 0;
    const source = bytesOf(bytes);
    const counted = {
      ...source,
      read: (offset: number, length: number) => {
        read += length;
        return source.read(offset, length);
      },
    };
    const synced = bytes.length;
    const stamper = new Stamper((await inspectEnd(source)).tail);
    const more = Buffer.concat([
      bytes,
      ...stamper.stamp({ kind: "closed" }, ts, synced).map((line) => line.bytes),
    ]);
    const moreSource = bytesOf(more);
    counted.read = (offset, length) => {
      read += length;
      return moreSource.read(offset, length);
    };
    counted.size = () => moreSource.size();
    const { tail } = await inspectEnd(counted);
    expect(read).toBeLessThan(6 * snapshotEveryBytes);
    expect(tail).toMatchObject({
      turns: 400,
      cycle: 2,
      leafTurnId: "m400",
      settings: { k: { kind: "snapshot", turn: 400 } },
      closed: true,
    });
  });

  test("one behind unsynced bytes is no base: a hole before it is seen", async () => {
    const { bytes, starts } = long(() => 0);
    const last = starts.at(-1) ?? 0;
    bytes.fill(0, last - 3000, last - 2400);
    const { verdict } = await inspectEnd(bytesOf(bytes));
    expect(verdict.state).toBe("torn");
    expect(verdict.state === "torn" && verdict.start).toBeLessThan(last - 2400);
  });

  test("one that lies elsewhere than it says is damage", async () => {
    const stamper = new Stamper(emptyState);
    const head = stamper.stamp({ kind: "session", id: "s1" } as never, ts, 0)[0]?.bytes ?? Buffer.alloc(0);
    const moved = encodeRecord({ ...snapshotOf(stamper.state, ts, head.length + 5), offset: 5 } as never);
    const { verdict } = await inspectEnd(bytesOf(Buffer.concat([head, moved])));
    expect(verdict).toMatchObject({ state: "damaged", damage: [{ fault: "moved" }] });
  });
});

describe("limits of a record", () => {
  test("a line at its limit is taken, one byte more is refused and nothing changed", () => {
    const stamper = new Stamper(emptyState);
    const line = (length: number): { readonly kind: string } =>
      ({ kind: "custom", ...envelope, customType: "n", data: "d".repeat(length) }) as never;
    const frame = stamper.stamp(line(0), ts, 0)[0]?.bytes.length ?? 0;
    stamper.reset(emptyState);
    expect(stamper.stamp(line(lineBytesMax - frame), ts, 0)[0]?.bytes.length).toBe(lineBytesMax);
    stamper.reset(emptyState);
    expect(() => stamper.stamp(line(lineBytesMax - frame + 1), ts, 0)).toThrow(LogError);
    expect(stamper.state).toBe(emptyState);
  });

  test("settings: as many as the limit says, and one that is taken away makes room", () => {
    const stamper = new Stamper(emptyState);
    const put = (key: string, value: unknown): void =>
      void stamper.stamp({ kind: "set", key, value } as never, ts, 0);
    for (let key = 0; key < settingsMax; key += 1) put(`k${key}`, key);
    expect(() => put("one more", 1)).toThrow("at most 64 settings");
    put("k0", null);
    put("one more", 1);
  });

  test("nesting", () => {
    const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
    const problem = (depth: number): string | undefined =>
      recordProblem({ kind: "message", ...envelope, role: "user", payload: nested(depth) });
    expect(problem(jsonDepthMax)).toBeUndefined();
    expect(problem(jsonDepthMax + 1)).toContain("nested deeper");
  });
});

describe("validation", () => {
  test("every kind has a check", () => {
    expect([...validatedKinds].sort()).toEqual([...conversationKinds, ...lifecycleKinds].sort());
  });

  const good = { kind: "message", ...envelope, role: "user", payload: null };
  test.each([
    [{ ...good, turnId: "" }, "turnId must be a non-empty text"],
    [{ ...good, parentTurnId: undefined }, "parentTurnId is missing"],
    [{ ...good, timestamp: "2026-09-21" }, "timestamp must be an ISO 8601 time"],
    [{ ...good, role: "robot" }, "role must be"],
    [{ ...good, payload: undefined }, "payload is missing"],
    [{ ...good, payload: { n: Number.NaN } }, "/n is NaN"],
    [{ ...good, payload: [undefined] }, "/0 is undefined"],
    [{ ...good, payload: new Date(0) }, "is no plain object"],
    [{ ...good, kind: "massage" }, 'kind "massage" is unknown'],
    [{ kind: "label", ...envelope, targetTurnId: 3 }, "targetTurnId"],
    [
      { kind: "compactionSummary", ...envelope, summary: "s", tokensBefore: -1, firstKeptTurnId: "" },
      "tokensBefore",
    ],
    [
      { kind: "handoffTransaction", ...envelope, schemaVersion: 1, identity: {}, transition: {}, event: {} },
      "malformed handoff",
    ],
    [
      { kind: "custom", ...envelope, customType: "contextHandoffRecoveryRequest", data: {} },
      "recovery request",
    ],
    [{ kind: "set", key: "k", value: "v".repeat(5000) }, "value must be at most 4096 bytes"],
    [{ kind: "session", id: "s", link: "fork" }, "parentSession is missing"],
  ])("refuses %#", (record, problem) => {
    expect(recordProblem(record)).toContain(problem);
  });

  test("tolerates further fields", () => {
    expect(recordProblem({ ...good, extra: true })).toBeUndefined();
  });
});
