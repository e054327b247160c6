/** Each bound of reading a line log, at its limit. */
import { describe, expect, test } from "vitest";
import { Branches } from "../../src/sources/branches.ts";
import { capDraft, capText } from "../../src/sources/cap.ts";
import type { EntryDraft } from "../../src/sources/classifier.ts";
import {
  BESIDE_BYTES_MAX,
  BRANCHES_MAX,
  ENTRY_PARTS_MAX,
  ENTRY_TEXT_MAX,
  FOLLOW_CALLS_MAX,
  FOLLOW_SEATS_MAX,
  MERGE_CELL_BYTES,
  PAIR_BYTES_MAX,
  PAIR_RECORDS_MAX,
  PARENT_SEARCH_BYTES_MAX,
  SILENT_RECORDS_MAX,
  TURN_RECORDS_MAX,
} from "../../src/sources/limits.ts";
import { textBeside } from "../../src/sources/line-source.ts";
import type { Seat } from "../../src/sources/unit.ts";
import { makeHome } from "../support/home.ts";
import { followPieces } from "../support/log-laws.ts";
import { CountedSource, end, many, open, type Row, rowClassifier, start, written } from "./support.ts";

describe("texts", () => {
  const cut = (missing: number): string => `\n… [${missing} more characters are in the log]`;

  test("a text at its limit is whole; a longer one says how much is missing", () => {
    const text = "x".repeat(ENTRY_TEXT_MAX);
    expect(capText(text)).toBe(text);
    expect(capText(`${text}y`)).toBe(text + cut(1));
  });

  test("cc#69927, oc#17758: a cut never splits a character", () => {
    const text = `${"x".repeat(ENTRY_TEXT_MAX - 1)}😀`;
    const capped = capText(text);
    expect(capped).not.toMatch(/\p{Surrogate}/u);
    expect(capped).toBe("x".repeat(ENTRY_TEXT_MAX - 1) + cut(2));
  });

  test.each<[string, EntryDraft]>([
    ["a prompt", { kind: "delivered", sender: "user", body: "x".repeat(ENTRY_TEXT_MAX + 1) }],
    [
      "an answer",
      { kind: "model", usage: {}, blocks: [{ kind: "text", text: "x".repeat(ENTRY_TEXT_MAX + 1) }] },
    ],
    [
      "a result",
      { kind: "tool-result", toolUseId: "t", isError: false, content: "x".repeat(ENTRY_TEXT_MAX + 1) },
    ],
    ["a summary", { kind: "compacted", summary: "x".repeat(ENTRY_TEXT_MAX + 1) }],
    ["what is streamed", { kind: "streaming", thinking: "", text: "x".repeat(ENTRY_TEXT_MAX + 1) }],
    [
      "a change",
      {
        kind: "tool-result",
        toolUseId: "t",
        isError: false,
        content: "",
        changes: [{ path: "p".repeat(9000), patch: "x".repeat(ENTRY_TEXT_MAX + 1) }],
      },
    ],
    ["a raw entry", { kind: "raw", reason: "r".repeat(9000), text: "x".repeat(9000) }],
  ])("%s is cut", (_, draft) => {
    const size = JSON.stringify(capDraft(draft)).length;
    expect(size).toBeLessThan(ENTRY_TEXT_MAX + 5000);
    expect(size).toBeLessThan(JSON.stringify(draft).length + 100);
  });

  test("the lines of a result are counted before it is cut", () => {
    const content = "x\n".repeat(ENTRY_TEXT_MAX);
    const capped = capDraft({ kind: "tool-result", toolUseId: "t", isError: true, content });
    expect(capped).toMatchObject({ outcome: { lines: ENTRY_TEXT_MAX, state: "failed" } });
  });

  test("blocks, attachments and changes: as many as the limit, then a count", () => {
    const blocks = (count: number): EntryDraft =>
      capDraft({
        kind: "model",
        usage: {},
        blocks: many(count, () => ({})).map(() => ({ kind: "text", text: "x" })),
      });
    expect(blocks(ENTRY_PARTS_MAX)).toMatchObject({ blocks: { length: ENTRY_PARTS_MAX } });
    const over = blocks(ENTRY_PARTS_MAX + 2);
    expect(over).toMatchObject({ blocks: { length: ENTRY_PARTS_MAX + 1 } });
    expect(over.kind === "model" && over.blocks.at(-1)).toEqual({
      kind: "other",
      type: "cut",
      text: "2 more blocks are in the log",
    });
    const attachments = Array.from({ length: ENTRY_PARTS_MAX + 1 }, () => ({ mediaType: "image/png" }));
    expect(capDraft({ kind: "delivered", sender: "user", body: "", attachments })).toMatchObject({
      attachments: { length: ENTRY_PARTS_MAX },
    });
  });
});

describe("pairs across a page's border", () => {
  const apart = (records: number): Buffer =>
    written([{ call: "t" }, ...many(records - 1, () => ({ say: ["x"] })), { result: "t" }]);

  test("a result finds its call as many records above as the limit, and not further", async () => {
    const newest = async (records: number): Promise<unknown> =>
      (await (await open(apart(records))).tail(1)).entries[0];
    expect(await newest(PAIR_RECORDS_MAX)).toMatchObject({ kind: "tool-result", call: { entry: "@0" } });
    expect(await newest(PAIR_RECORDS_MAX + 1)).not.toHaveProperty("call");
  });

  test("a call finds its result as many records below as the limit; past it, nothing is claimed", async () => {
    const first = async (records: number): Promise<unknown> =>
      (await (await open(apart(records))).first(1)).entries[0];
    expect(await first(PAIR_RECORDS_MAX)).toMatchObject({ blocks: [{ outcome: { state: "done" } }] });
    expect(await first(PAIR_RECORDS_MAX + 1)).not.toMatchObject({ blocks: [{ outcome: expect.anything() }] });
  });

  test("the look around is bounded in bytes, too", async () => {
    const bytes = written([
      { call: "t" },
      ...many(3, () => ({ say: ["x"], filler: "x".repeat(PAIR_BYTES_MAX / 2) })),
      { result: "t" },
    ]);
    const source = new CountedSource(bytes);
    const page = await (await open(bytes, source)).tail(1);
    expect(page.entries[0]).not.toHaveProperty("call");
    expect(source.bytesRead).toBeLessThan(PAIR_BYTES_MAX * 4);
  });

  test("sageox#389: a follower pairs over any distance, for as many open calls as it remembers", async () => {
    const calls = many(FOLLOW_CALLS_MAX, (i) => ({ call: `t${i}` }));
    const answered = async (rows: readonly Row[]): Promise<unknown> => {
      const pieces = [written([{ marks: [start] }]), written(rows), written([{ result: "t0" }])];
      const told = await followPieces("codex", rowClassifier, pieces);
      return told.entries.find((e) => e.kind === "tool-result");
    };
    expect(await answered(calls)).toHaveProperty("call.name", "run");
    expect(await answered([...calls, { call: "more" }])).not.toHaveProperty("call");
  });
});

test("a turn is known as many records below its last mark as the limit; further on it counts as open", async () => {
  const turnOpen = async (records: number): Promise<boolean> =>
    (await (await open(written([{ marks: [end] }, ...many(records, () => ({ say: ["a"] }))]))).tail(1))
      .turnOpen;
  expect(await turnOpen(TURN_RECORDS_MAX)).toBe(false);
  expect(await turnOpen(TURN_RECORDS_MAX + 1)).toBe(true);
});

test("records told as one entry lie in one cell; in the next one a new entry begins", async () => {
  const a = { text: "a", key: "k" };
  const ab = { text: "ab", key: "k" };
  const gap = (bytes: number): Buffer => written([{ filler: "x".repeat(bytes) }]);
  const names = async (log: Buffer): Promise<unknown> => {
    const back = (await (await open(log)).tail(5)).entries.map((e) => e.name);
    expect((await (await open(log)).first(5)).entries.map((e) => e.name)).toEqual(back);
    return back;
  };
  const at = MERGE_CELL_BYTES - gap(0).length - written([a]).length;
  expect(await names(Buffer.concat([gap(at - 100), written([a, ab])]))).toHaveLength(1);
  expect(await names(Buffer.concat([gap(at), written([a, ab])]))).toEqual([
    `@${MERGE_CELL_BYTES - written([a]).length}`,
    `@${MERGE_CELL_BYTES}`,
  ]);
});

test("a page keeps so many silent records, and its entries whatever lies between them", async () => {
  const rows = [{ say: ["a"] }, ...many(SILENT_RECORDS_MAX + 50, () => ({})), { say: ["b"] }];
  const page = await (await open(written(rows))).tail(2);
  expect(page).toMatchObject({ atStart: true, entries: [{ body: "a" }, { body: "b" }] });
});

describe("branches", () => {
  const turn = (id: string, parent?: string): Row => ({
    say: [id],
    id,
    ...(parent === undefined ? {} : { parent }),
  });
  const left = async (rows: readonly Row[], limit: number): Promise<readonly unknown[]> =>
    (await (await open(written(rows))).tail(limit)).entries.map((e) => e.offPath === true);

  test("a parent is found as many bytes above as the limit, and not further", async () => {
    const rows = (bytes: number): Row[] => [
      turn("a"),
      turn("b", "a"),
      ...many(16, () => ({ say: ["x"], filler: "x".repeat(bytes / 16) })),
      turn("c", "a"),
      turn("d", "c"),
    ];
    const isFound = async (bytes: number): Promise<boolean> => {
      const log = await open(written(rows(bytes)));
      const tail = await log.tail(2);
      return (await log.older(tail.start, 1)).entries[0]?.offPath === true;
    };
    expect(await isFound(PARENT_SEARCH_BYTES_MAX - 4096)).toBe(true);
    expect(await isFound(PARENT_SEARCH_BYTES_MAX + 4096)).toBe(false);
  });

  test("a follower knows a branch further above than the seats that it keeps", async () => {
    const rows = [
      turn("a"),
      turn("b", "a"),
      ...many(FOLLOW_SEATS_MAX + 10, (i) => turn(`c${i}`, i === 0 ? "b" : `c${i - 1}`)),
    ];
    const pieces = [written(rows.slice(0, 2)), written(rows.slice(2)), written([turn("d", "a")])];
    const told = await followPieces("codex", rowClassifier, pieces);
    expect(told.entries).toHaveLength(rows.length + 1);
    expect(told.entries.filter((e) => e.offPath === true)).toHaveLength(rows.length - 1);
  });

  test("so many branches are remembered; of more, the newest", async () => {
    const bytes = written([]);
    const branches = new Branches({ source: new CountedSource(bytes), classifier: rowClassifier });
    const node = (id: string, parentId: string | undefined, at: number): Seat => ({
      start: at * 10,
      end: at * 10 + 9,
      marks: [],
      node: { id, parentId, heads: true },
    });
    // Each third row takes up the one two before it: one branch of one row each.
    const seats: Seat[] = [];
    for (let i = 0; i <= BRANCHES_MAX; i++) {
      seats.push(node(`a${i}`, i === 0 ? undefined : `c${i - 1}`, i * 3));
      seats.push(node(`b${i}`, `a${i}`, i * 3 + 1));
      seats.push(node(`c${i}`, `a${i}`, i * 3 + 2));
    }
    for (let i = 0; i < seats.length; i++)
      await branches.leave(seats.slice(Math.max(0, i - 4), i + 1), Math.min(i, 4));
    expect(branches.isOff(10)).toBe(false);
    expect(branches.isOff(40)).toBe(true);
    expect(branches.isOff(10 * (seats.length - 2))).toBe(true);
  });

  test("rows of one page mark each other whatever the page's size", async () => {
    const rows = [turn("a"), turn("b", "a"), turn("c", "a"), turn("d", "c")];
    expect(await left(rows, 4)).toEqual([false, true, false, false]);
    expect(await left(rows, 3)).toEqual([true, false, false]);
  });
});

test("a file beside a session is read up to its limit", async () => {
  const home = makeHome();
  const text = await textBeside(home.write("a.json", "x".repeat(BESIDE_BYTES_MAX + 1)));
  expect(text).toHaveLength(BESIDE_BYTES_MAX);
  expect(await textBeside(home.path)).toBeUndefined();
  home.remove();
});
