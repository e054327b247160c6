import { mkdtemp, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readEnds, textLines, textLinesBackward } from "../../src/sources/ends.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hansard-ends-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe("the ends of a file", () => {
  // An access time before the time of change is what most file systems would move at a reading.
  test.each([
    ["read at once", 16],
    ["read step by step", 512 * 1024],
  ])("%s, its times stay as they are", async (_how, headBytes) => {
    const path = join(folder, "log.jsonl");
    await writeFile(path, "0123456789\n".repeat(10));
    await utimes(path, new Date("2020-01-01"), new Date("2021-01-01"));
    const before = await stat(path, { bigint: true });
    const ends = await readEnds(path, headBytes, 16);
    expect(ends.bytes).toBe(110);
    const after = await stat(path, { bigint: true });
    expect([after.atimeNs, after.mtimeNs, after.ctimeNs]).toEqual([
      before.atimeNs,
      before.mtimeNs,
      before.ctimeNs,
    ]);
  });

  test.each([0, 5, 50, 100, 109, 110, 111, 200])(
    "head of %i bytes and tail never overlap, nor miss the end",
    async (size) => {
      const path = join(folder, "log.jsonl");
      const text = "0123456789\n".repeat(10);
      await writeFile(path, text);
      const { head, tail, tailStart } = await readEnds(path, size, 30);
      expect(Buffer.from(head).toString()).toBe(text.slice(0, size));
      expect(Buffer.from(tail).toString()).toBe(text.slice(tailStart));
      expect(tailStart).toBe(Math.max(Math.min(size, 110), 80));
    },
  );
});

test("lines are decoded each for itself: marks of byte order left out, bytes that are no text replaced", () => {
  const bytes = Buffer.concat([
    Buffer.from("\ufeffone\n"),
    Buffer.of(0xef, 0xbb, 0x0a),
    Buffer.from("\u{1f600}\nhalf"),
  ]);
  expect([...textLines(bytes, false)]).toEqual(["one", "\ufffd", "\u{1f600}"]);
  expect([...textLines(bytes, true)].at(-1)).toBe("half");
});

test("lines from the end are the lines, the other way round", () => {
  for (const text of ["", "\n", "one", "one\n", "\n\none\n\ntwo\n", "half\n{}\nlast"]) {
    const bytes = Buffer.from(text);
    expect([...textLinesBackward(bytes)]).toEqual([...textLines(bytes, true)].reverse());
  }
});
