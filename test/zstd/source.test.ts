import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isZstd, openZstd, zstdHead } from "../../src/sources/zstd/zstd.ts";
import { fixture, fixturePath } from "../support/fixtures.ts";
import { frame, skippable } from "./support.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hansard-zstd-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const path = fixturePath("sources/codex/two-compactions.jsonl.zst");
const whole = fixture("sources/codex/two-compactions.jsonl.gz");

test.each([
  ["in memory", 8 * 1024 * 1024],
  ["in a temporary file", 1000],
])("any stretch of the decoded bytes can be read, %s", async (_, memoryMax) => {
  const source = await openZstd(path, { memoryMax, temporaryFolder: folder });
  expect(source.damage).toEqual([]);
  expect(await source.size()).toBe(whole.length);
  for (const [start, length] of [
    [0, 10],
    [131_070, 5],
    [whole.length - 3, 100],
    [whole.length, 5],
    [0, whole.length],
  ] as const)
    expect(Buffer.from(await source.read(start, length)).equals(whole.subarray(start, start + length))).toBe(
      true,
    );
  await source.close();
});

test("the temporary file has no name while it is used, so that nothing is left behind", async () => {
  const source = await openZstd(path, { memoryMax: 1000, temporaryFolder: folder });
  if (process.platform !== "win32") expect(readdirSync(folder)).toEqual([]);
  await source.close();
  expect(readdirSync(folder)).toEqual([]);
});

test("at the memory limit nothing is written; one byte more is", async () => {
  const archive = join(folder, "limit.zst");
  writeFileSync(archive, frame(Buffer.alloc(1000, 7)));
  const missing = join(folder, "missing");
  const source = await openZstd(archive, { memoryMax: 1000, temporaryFolder: missing });
  expect(await source.size()).toBe(1000);
  await source.close();
  await expect(openZstd(archive, { memoryMax: 999, temporaryFolder: missing })).rejects.toMatchObject({
    code: "unreadable",
    message: expect.stringContaining(missing),
  });
  rmSync(archive);
});

test("a damaged archive gives what can be read", async () => {
  const archive = join(folder, "cut.zst");
  const bytes = frame(Buffer.from("one\ntwo\nthree\n"), { blockBytes: 4 });
  writeFileSync(archive, bytes.subarray(0, bytes.length - 12));
  const source = await openZstd(archive);
  expect(Buffer.from(await source.read(0, 100)).toString()).toBe("one\ntwo\n");
  expect(source.damage).toMatchObject([{ fault: "truncated", offset: 8 }]);
  await source.close();
  rmSync(archive);
});

test("decoding can be stopped", async () => {
  await expect(openZstd(path, { signal: AbortSignal.abort(new Error("stopped")) })).rejects.toThrow(
    "stopped",
  );
});

test("a missing archive is told as a missing file", async () => {
  await expect(openZstd(join(folder, "nothing.zst"))).rejects.toMatchObject({ code: "not-found" });
});

test("archives are told by their first bytes", () => {
  expect(isZstd(frame(Buffer.from("x")))).toBe(true);
  expect(isZstd(skippable(Buffer.from("x"), 15))).toBe(true);
  expect(isZstd(Buffer.from('{"type":'))).toBe(false);
  expect(isZstd(Buffer.from([0x28, 0xb5, 0x2f]))).toBe(false);
});

test("the head of an archive gives the head of what it holds", async () => {
  const head = fixture("sources/codex/two-compactions.jsonl.zst").subarray(0, 64 * 1024);
  const decoded = await zstdHead(head, 1000);
  expect(Buffer.from(decoded).equals(whole.subarray(0, 1000))).toBe(true);
  expect(await zstdHead(frame(Buffer.from("abc")), 1000)).toEqual(Uint8Array.from(Buffer.from("abc")));
  expect(await zstdHead(Buffer.from("noise"), 1000)).toHaveLength(0);
});
