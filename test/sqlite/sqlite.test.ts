/** SQLite as this runtime has it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findOpener } from "../../src/sqlite/database.ts";
import { openDatabase, SqliteError } from "../../src/sqlite/index.ts";

async function file(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "hansard-sqlite-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, "a.db");
}

function resultOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    if (error instanceof SqliteError) return error.result;
    throw error;
  }
  return "done";
}

test("what is written is read again; a reader writes nothing", async () => {
  const path = await file();
  const writer = openDatabase(path);
  writer.run("CREATE TABLE t (a INTEGER, b TEXT, c BLOB)");
  writer.prepare("INSERT INTO t VALUES (?, ?, ?)").run(1, "x\0y", new Uint8Array([1, 2]));
  writer.prepare("INSERT INTO t VALUES (?, ?, ?)").run(null, "é", null);
  writer.close();
  const reader = openDatabase(path, { readOnly: true });
  const all = reader.prepare("SELECT a, b FROM t WHERE b <> ?");
  expect(all.all("z").map((row) => ({ ...row }))).toEqual([
    { a: 1, b: "x\0y" },
    { a: null, b: "é" },
  ]);
  expect([...all.iterate("é")].map(({ a }) => a)).toEqual([1]);
  expect(resultOf(() => reader.run("DELETE FROM t"))).toBe("SQLITE_READONLY");
  reader.close();
});

test("a file that is none, and one that is not there, are told by their results", async () => {
  const path = await file();
  const look = (): unknown =>
    openDatabase(path, { readOnly: true }).prepare("SELECT * FROM sqlite_schema").all();
  expect(resultOf(look)).toBe("SQLITE_CANTOPEN");
  await writeFile(path, "not a database at all, by any means".repeat(100));
  expect(resultOf(look)).toBe("SQLITE_NOTADB");
});

test.each([
  [{ code: "SQLITE_CORRUPT_VTAB" }, "SQLITE_CORRUPT"],
  [{ code: "ERR_SQLITE_ERROR", errcode: 267 }, "SQLITE_CORRUPT"],
  [{ code: "ENOENT" }, undefined],
])("the result of %j is %s", (fields, result) => {
  expect(new SqliteError("failed", "x", Object.assign(new Error("x"), fields)).result).toBe(result);
});

test("where no library can be loaded, it is missing", () => {
  const load = (): never => {
    throw Object.assign(new Error("x"), { code: "MODULE_NOT_FOUND" });
  };
  expect(() => findOpener(load)).toThrow(expect.objectContaining({ code: "missing" }));
});
