/** Pages of a line log: what they cost, where they begin and end, and which positions they take. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClaudeClassifier } from "../../src/sources/claude-code/classifier.ts";
import { SourceError } from "../../src/sources/errors.ts";
import { DAMAGE_TEXT_BYTES_MAX, PAGE_ENTRIES_MAX, SILENT_RECORDS_MAX } from "../../src/sources/limits.ts";
import { formatSpot, parsePosition } from "../../src/sources/position.ts";
import type { Log, Page } from "../../src/sources/types.ts";
import { logs } from "../lines/support.ts";
import { cutPlaces, expectFollowed, logOf, readBackward, readForward } from "../support/log-laws.ts";
import { CountedSource, end, many, open, type Row, start, written } from "./support.ts";

const names = (page: Page): readonly string[] => page.entries.map((e) => e.name);

describe("the size of a page", () => {
  const log = (): Promise<Log> => open(written(many(PAGE_ENTRIES_MAX + 5, (i) => ({ say: [`${i}`] }))));

  test.each<[number, number]>([
    [1, 1],
    [0, 1],
    [-3, 1],
    [2.9, 2],
    [Number.NaN, 1],
    [PAGE_ENTRIES_MAX, PAGE_ENTRIES_MAX],
    [PAGE_ENTRIES_MAX + 1, PAGE_ENTRIES_MAX],
    [Number.POSITIVE_INFINITY, PAGE_ENTRIES_MAX],
  ])("%d entries asked for gives %d", async (limit, count) => {
    expect((await (await log()).tail(limit)).entries).toHaveLength(count);
    expect((await (await log()).first(limit)).entries).toHaveLength(count);
  });

  test("an empty log is one empty page", async () => {
    const page = await (await open(Buffer.alloc(0))).tail(5);
    expect(page).toEqual({
      entries: [],
      positions: [],
      start: "0",
      end: "0",
      atStart: true,
      atEnd: true,
      damage: [],
      turnOpen: false,
      live: [],
    });
  });

  test("a log that says nothing is one empty page, however long", async () => {
    const bytes = written(many(SILENT_RECORDS_MAX + 10, () => ({})));
    expect(await (await open(bytes)).tail(5)).toMatchObject({ entries: [], atStart: true, atEnd: true });
    expect(await (await open(bytes)).first(5)).toMatchObject({ entries: [], atStart: true, atEnd: true });
  });
});

describe("what reading costs", () => {
  const rows = (count: number): Buffer =>
    written([
      ...many(count, (i): Row => (i % 2 === 0 ? { call: `c${i}` } : { result: `c${i - 1}`, marks: [end] })),
    ]);

  async function cost(count: number, read: (log: Log) => Promise<unknown>): Promise<number> {
    const bytes = rows(count);
    const source = new CountedSource(bytes);
    await read(await open(bytes, source));
    return source.bytesRead;
  }

  test.each<[string, (log: Log) => Promise<unknown>]>([
    ["the tail", (log) => log.tail(50)],
    ["the first page", (log) => log.first(50)],
    ["a page above the tail", async (log) => log.older((await log.tail(50)).start, 50)],
    [
      "the beginning of following",
      async (log) =>
        log
          .follow((await log.tail(5)).end, AbortSignal.abort())
          [Symbol.asyncIterator]()
          .next(),
    ],
  ])("%s of a long log costs what it costs in a short one", async (_, read) => {
    const short = await cost(20_000, read);
    expect(await cost(100_000, read)).toBeLessThanOrEqual(short * 1.1);
  });
});

describe("positions", () => {
  const rows: Row[] = [{ say: ["a", "b", "c"] }, {}, { say: ["d"] }, { text: "x" }, { say: ["e", "f"] }];
  const bytes = written(rows);

  test("each position of a page begins the page that it names", async () => {
    const log = await open(bytes);
    const whole = await log.tail(100);
    expect(whole.positions).toEqual([
      "0",
      "0.1",
      "0.2",
      expect.any(String),
      expect.any(String),
      expect.any(String),
      expect.any(String),
    ]);
    for (const [i, position] of whole.positions.entries()) {
      expect(names(await log.newer(position, 100))).toEqual(names(whole).slice(i));
      expect(names(await log.older(position, 100))).toEqual(names(whole).slice(0, i));
    }
    expect(names(await log.older(whole.end, 100))).toEqual(names(whole));
    expect(names(await log.newer(whole.end, 100))).toEqual([]);
    expect(names(await log.older(whole.start, 100))).toEqual([]);
  });

  test("an entry's name is its position", async () => {
    const page = await (await open(bytes)).tail(100);
    expect(names(page)).toEqual(page.positions.map((p) => `@${p}`));
  });

  test.each([
    "",
    "x",
    "-1",
    "1.",
    "01",
    "1.0",
    "1.5.2",
    "1e3",
    " 1",
    "9".repeat(16),
    "3",
    "0.3",
    "0.9",
    String(bytes.length + 1),
    String(bytes.length - 3),
    `${bytes.length}.1`,
  ])("oc#19584: %j is refused with words and a way on", async (position) => {
    const log = await open(bytes);
    for (const read of [
      () => log.older(position, 2),
      () => log.newer(position, 2),
      () => log.follow(position, AbortSignal.abort())[Symbol.asyncIterator]().next(),
    ]) {
      const failure = await read().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(SourceError);
      expect(failure).toMatchObject({ code: "bad-position", next: expect.stringContaining("last page") });
    }
  });

  test("durable-streams#397: a position is a place, not a counter: one more is no place", async () => {
    const log = await open(bytes);
    const page = await log.first(4);
    await expect(log.newer(String(Number(page.end) + 2), 1)).rejects.toMatchObject({ code: "bad-position" });
  });

  test("a long position is cut in the message", () => {
    expect(() => parsePosition("7".repeat(9000))).toThrow(/^Position "7{40}" cannot be used/);
  });

  test("a spot is written and read back", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(99), (offset, ordinal) => {
        expect(parsePosition(formatSpot({ offset, ordinal }))).toEqual({ offset, ordinal });
      }),
    );
  });
});

describe("logs of any damage", () => {
  test("pages of any size give the same entries from either end, and every byte's place is told once", async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.integer({ min: 1, max: 5 }), async (bytes, limit) => {
        // A real reader: whatever these records are, each is an entry.
        const log = (): Promise<Log> => logOf("claude-code", createClaudeClassifier(false), bytes);
        const whole = await readBackward(await log(), 1000);
        expect(await readBackward(await log(), limit)).toEqual(whole);
        expect(await readForward(await log(), limit)).toEqual(whole);
        const places = whole.map((e) => e.place?.start ?? -1);
        expect(places).toEqual(places.toSorted((a, b) => a - b));
      }),
      { numRuns: 200 },
    );
  });

  test("followed in any pieces they give what reading them whole gives", async () => {
    await fc.assert(
      fc.asyncProperty(logs, cutPlaces, (bytes, places) => {
        const settled = Buffer.concat([bytes, Buffer.from('\n{"type":"end"}\n')]);
        return expectFollowed("claude-code", createClaudeClassifier(false), settled, places);
      }),
      { numRuns: 200 },
    );
  });

  test("damaged bytes are shown up to their limit", async () => {
    const line = (bytes: number): Buffer =>
      Buffer.concat([Buffer.alloc(bytes, "x"), Buffer.from('\n{"say":["a"]}\n')]);
    const shown = async (bytes: number): Promise<unknown> =>
      (await (await open(line(bytes))).tail(5)).entries[0];
    expect(await shown(DAMAGE_TEXT_BYTES_MAX)).toMatchObject({
      kind: "raw",
      damaged: true,
      text: "x".repeat(DAMAGE_TEXT_BYTES_MAX),
    });
    expect(await shown(DAMAGE_TEXT_BYTES_MAX + 1)).toMatchObject({
      text: "x".repeat(DAMAGE_TEXT_BYTES_MAX),
      reason: `${DAMAGE_TEXT_BYTES_MAX + 1} bytes that are no record`,
    });
  });

  test("a page names the damage among its records, and its raw entries lie in place", async () => {
    const bytes = Buffer.concat([
      written([{ say: ["a"] }]),
      Buffer.from("bad\n"),
      Buffer.alloc(7),
      Buffer.from("\n"),
      written([{ say: ["b"] }]),
    ]);
    const page = await (await open(bytes)).tail(10);
    expect(page.damage).toEqual([
      { start: 14, end: 17, reason: "not-json" },
      { start: 18, end: 25, reason: "nul-run" },
    ]);
    expect(page.entries.map((e) => e.kind)).toEqual(["delivered", "raw", "raw", "delivered"]);
    expect((await (await open(bytes)).check()).damaged).toEqual(page.damage);
  });
});

test("the verbatim bytes of a place, up to a limit", async () => {
  const bytes = written([{ say: ["hello"] }]);
  const log = await open(bytes);
  const place = { start: 0, end: bytes.length - 1 };
  expect(Buffer.from(await log.raw(place)).toString()).toBe('{"say":["hello"]}');
  expect(Buffer.from(await log.raw(place, 5)).toString()).toBe('{"say');
  expect(await log.raw({ start: 5, end: 2 })).toHaveLength(0);
  expect(await log.raw({ start: 1e9, end: 2e9 })).toHaveLength(0);
});

test("a closed log says so", async () => {
  const log = await open(written([{ say: ["a"], marks: [start] }]));
  await log.close();
  await expect(log.tail(1)).rejects.toMatchObject({
    code: "unreadable",
    message: "memory.jsonl was closed.",
  });
});

test("checking stops when it is told to", async () => {
  const log = await open(written(many(10, () => ({ say: ["a"] }))));
  await expect(log.check(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
});
