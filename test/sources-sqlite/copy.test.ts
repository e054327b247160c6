/** A private copy of a database that another program writes. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { acquireCopy, DatabaseCopy, dropIdleCopies, releaseCopy } from "../../src/sources/sqlite/copy.ts";
import { COPIES_KEPT_MAX, COPY_BYTES_MAX, COPY_REST_FACTOR } from "../../src/sources/sqlite/limits.ts";
import { type Database, openDatabase } from "../../src/sqlite/index.ts";
import { hashes, writeAhead } from "../support/databases.ts";

let folder: string;
let path: string;
let writer: Database | undefined;
const copies: DatabaseCopy[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hansard-test-copy-"));
  path = join(folder, "a.db");
});
afterEach(async () => {
  for (const copy of copies.splice(0)) await copy.remove();
  await dropIdleCopies();
  writer?.close();
  writer = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function copyOf(now: () => number = () => 0, bytesMax: number = COPY_BYTES_MAX): DatabaseCopy {
  const copy = new DatabaseCopy(path, { now, bytesMax });
  copies.push(copy);
  return copy;
}

function words(copy: DatabaseCopy): unknown[] {
  return copy.read((database) =>
    database
      .prepare("SELECT word FROM t ORDER BY rowid")
      .all()
      .map((row) => row["word"]),
  );
}

function begin(): Database {
  writer = writeAhead(path, "CREATE TABLE t(word TEXT); INSERT INTO t VALUES ('one')");
  return writer;
}

test("what stands in the write-ahead log alone is seen, and no file beside the database is made or changed", async () => {
  begin();
  const before = hashes(folder);
  expect(Object.keys(before)).toEqual(["a.db", "a.db-shm", "a.db-wal"]);
  const copy = copyOf();
  expect(await copy.refresh()).toBe("changed");
  expect(words(copy)).toEqual(["one"]);
  await copy.remove();
  expect(hashes(folder)).toEqual(before);
});

test("a database whose writer has gone is not given a log", async () => {
  begin().close();
  writer = undefined;
  const before = hashes(folder);
  expect(Object.keys(before)).toEqual(["a.db"]);
  const copy = copyOf();
  await copy.refresh();
  expect(words(copy)).toEqual(["one"]);
  expect(hashes(folder)).toEqual(before);
});

test("a growing log is taken over, and the main file is left where it did not change", async () => {
  const database = begin();
  const copy = copyOf();
  await copy.refresh();
  expect(await copy.refresh()).toBe("same");
  database.run("INSERT INTO t VALUES ('two')");
  expect(await copy.refresh()).toBe("changed");
  expect(words(copy)).toEqual(["one", "two"]);
});

test("COPY_REST_FACTOR: a main file that changed again is not copied again at once", async () => {
  const database = begin();
  let time = 0;
  // Each look at the clock takes ten milliseconds, so copying took ten.
  const copy = copyOf(() => {
    time += 10;
    return time;
  });
  await copy.refresh();
  database.run("INSERT INTO t VALUES ('two')");
  database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
  expect(await copy.refresh()).toBe("same");
  expect(words(copy)).toEqual(["one"]);
  time += 10 * COPY_REST_FACTOR;
  expect(await copy.refresh()).toBe("changed");
  expect(words(copy)).toEqual(["one", "two"]);
});

test("COPY_BYTES_MAX: a database above it is refused, at it it is read", async () => {
  begin().close();
  writer = undefined;
  const { size } = statSync(path);
  await expect(copyOf(undefined, size - 1).refresh()).rejects.toThrow(`larger than ${size - 1} bytes`);
  expect(await copyOf(undefined, size).refresh()).toBe("changed");
});

test("COPIES_KEPT_MAX: of the copies that nobody uses the newest are kept", async () => {
  const acquired: DatabaseCopy[] = [];
  for (let n = 0; n <= COPIES_KEPT_MAX; n++) {
    const file = join(folder, `${n}.db`);
    const database = openDatabase(file);
    database.run("CREATE TABLE t(word TEXT)");
    database.close();
    acquired.push(await acquireCopy(file));
  }
  for (const copy of acquired) await releaseCopy(copy);
  expect(() => words(acquired[0]!)).toThrow("was closed");
  for (const copy of acquired.slice(1)) expect(words(copy)).toEqual([]);
});

test("two readers of one database share a copy", async () => {
  begin();
  const [one, two] = [await acquireCopy(path), await acquireCopy(path)];
  expect(one).toBe(two);
  await releaseCopy(one);
  expect(words(two)).toEqual(["one"]);
  await releaseCopy(two);
});

test("a database that is locked by its writer is read as it was before", async () => {
  const database = openDatabase(path);
  writer = database;
  database.run("CREATE TABLE t(word TEXT); INSERT INTO t VALUES ('one')");
  database.run("BEGIN EXCLUSIVE; INSERT INTO t VALUES ('two')");
  const copy = copyOf();
  await copy.refresh();
  expect(words(copy)).toEqual(["one"]);
});

test("a damaged database is an error that says so; one that goes is gone", async () => {
  begin().close();
  writer = undefined;
  writeFileSync(path, `SQLite format 3\0${"x".repeat(8000)}`);
  const copy = copyOf();
  const failure = await copy.refresh().then(
    () => {
      try {
        return words(copy);
      } catch (error) {
        return error;
      }
    },
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({
    name: "SourceError",
    code: "unreadable",
    message: expect.stringContaining(path),
  });
  rmSync(path);
  expect(await copyOf().refresh()).toBe("gone");
  await expect(acquireCopy(path)).rejects.toMatchObject({ code: "not-found" });
});

test("the copy's folder is for this user alone, and goes with it", async () => {
  begin();
  const mine = (): string[] =>
    readdirSync(tmpdir()).filter((name) => name.startsWith(`hansard-copy-${process.pid}-`));
  const before = new Set(mine());
  const copy = copyOf();
  await copy.refresh();
  const [made] = mine().filter((name) => !before.has(name));
  const place = join(tmpdir(), made ?? "");
  expect(statSync(place).mode & 0o777).toBe(0o700);
  await copy.remove();
  expect(existsSync(place)).toBe(false);
});
