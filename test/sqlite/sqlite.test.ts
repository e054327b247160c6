/** SQLite by each of the libraries that a runtime may have: one contract. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Database, findOpener, type Opener, openWith } from "../../src/sqlite/database.ts";
import { openDatabase, SqliteError } from "../../src/sqlite/index.ts";

const load = createRequire(import.meta.url);

function missing(): never {
  throw Object.assign(new Error("x"), { code: "MODULE_NOT_FOUND" });
}

/** What a library throws, by the codes that SQLite gives. */
interface Failing {
  readonly code?: string;
}

const codes: Readonly<Record<string, number>> = {
  SQLITE_READONLY: 8,
  SQLITE_CANTOPEN: 14,
  SQLITE_NOTADB: 26,
};

/**
 * The package behind the runtime's own interface, for runtimes that have none: its names, its option, its errors with numbers, its rows
 * without a prototype.
 */
function builtInOf(Package: new (path: string, options: object) => PackageDatabase): object {
  const told = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      const code = String((error as Failing).code);
      throw Object.assign(new Error((error as Error).message), {
        code: "ERR_SQLITE_ERROR",
        errcode: codes[code],
      });
    }
  };
  const bare = (row: object): object => Object.assign(Object.create(null) as object, row);
  class StatementSync {
    readonly #statement: PackageStatement;
    constructor(statement: PackageStatement) {
      this.#statement = statement;
    }
    all(...values: unknown[]): object[] {
      return told(() => this.#statement.all(...values)).map(bare);
    }
    *iterate(...values: unknown[]): Iterable<object> {
      for (const row of this.#statement.iterate(...values)) yield bare(row);
    }
    run(...values: unknown[]): unknown {
      return told(() => this.#statement.run(...values));
    }
  }
  class DatabaseSync {
    readonly #database: PackageDatabase;
    constructor(path: string, { readOnly }: { readonly readOnly: boolean }) {
      this.#database = told(() => new Package(path, { readonly: readOnly }));
    }
    prepare(sql: string): StatementSync {
      return new StatementSync(told(() => this.#database.prepare(sql)));
    }
    exec(sql: string): void {
      told(() => this.#database.exec(sql));
    }
    close(): void {
      this.#database.close();
    }
  }
  return { DatabaseSync, StatementSync };
}

interface PackageStatement {
  all(...values: unknown[]): object[];
  iterate(...values: unknown[]): Iterable<object>;
  run(...values: unknown[]): unknown;
}
interface PackageDatabase {
  prepare(sql: string): PackageStatement;
  exec(sql: string): unknown;
  close(): unknown;
}

/** The runtime's own, or the package behind its interface. */
function builtIn(name: string): unknown {
  if (name !== "node:sqlite") return missing();
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 13)) return load(name);
  return builtInOf(load("better-sqlite3") as Parameters<typeof builtInOf>[0]);
}

const libraries: Readonly<Record<string, () => Opener>> = {
  "the runtime's own": () => findOpener(builtIn),
  "the package": () => findOpener((name) => (name === "better-sqlite3" ? load(name) : missing())),
};

/** The package may have been built for another runtime than this one, which has its own then. */
function isUsable(found: () => Opener): boolean {
  try {
    openWith(found(), ":memory:").close();
    return true;
  } catch (error) {
    if (error instanceof SqliteError && error.code === "missing") return false;
    throw error;
  }
}

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

describe.each(Object.entries(libraries).filter(([, found]) => isUsable(found)))("%s", (_, found) => {
  const open = (path: string, options?: { readonly readOnly?: boolean }): Database =>
    openWith(found(), path, options);

  test("what is written is read again; a reader writes nothing", async () => {
    const path = await file();
    const writer = open(path);
    writer.run("CREATE TABLE t (a INTEGER, b TEXT, c BLOB)");
    writer.prepare("INSERT INTO t VALUES (?, ?, ?)").run(1, "x\0y", new Uint8Array([1, 2]));
    writer.prepare("INSERT INTO t VALUES (?, ?, ?)").run(null, "é", null);
    writer.close();
    const reader = open(path, { readOnly: true });
    const all = reader.prepare("SELECT a, b FROM t WHERE b <> ?");
    expect(all.all("z").map((row) => ({ ...row }))).toEqual([
      { a: 1, b: "x\0y" },
      { a: null, b: "é" },
    ]);
    expect([...all.iterate("é")].map(({ a }) => a)).toEqual([1]);
    const [blob] = reader.prepare("SELECT c FROM t WHERE a = 1").all();
    expect(Buffer.from(blob?.["c"] as Uint8Array).toString("hex")).toBe("0102");
    expect(resultOf(() => reader.run("DELETE FROM t"))).toBe("SQLITE_READONLY");
    reader.close();
  });

  test("rows that are not wanted any more are not read on, and what they were read from can be closed", async () => {
    const database = open(await file());
    database.run("CREATE TABLE t (a INTEGER)");
    for (const n of [1, 2, 3]) database.prepare("INSERT INTO t VALUES (?)").run(n);
    for (const { a } of database.prepare("SELECT a FROM t ORDER BY a").iterate()) {
      expect(a).toBe(1);
      break;
    }
    database.run("DROP TABLE t");
    database.close();
  });

  test("a file that is none, and one that is not there, are told by their results", async () => {
    const path = await file();
    const look = (): unknown => open(path, { readOnly: true }).prepare("SELECT * FROM sqlite_schema").all();
    expect(resultOf(look)).toBe("SQLITE_CANTOPEN");
    await writeFile(path, "not a database at all, by any means".repeat(100));
    expect(resultOf(look)).toBe("SQLITE_NOTADB");
  });
});

test("what this runtime has is found", async () => {
  const database = openDatabase(await file());
  expect(database.prepare("SELECT 1 AS a").all()[0]?.["a"]).toBe(1);
  database.close();
});

test.each([
  [{ code: "SQLITE_CORRUPT_VTAB" }, "SQLITE_CORRUPT"],
  [{ code: "ERR_SQLITE_ERROR", errcode: 267 }, "SQLITE_CORRUPT"],
  [{ code: "ENOENT" }, undefined],
])("the result of %j is %s", (fields, result) => {
  expect(new SqliteError("failed", "x", Object.assign(new Error("x"), fields)).result).toBe(result);
});

test("where no library can be loaded, it is missing", () => {
  expect(() => findOpener(missing)).toThrow(expect.objectContaining({ code: "missing" }));
});

test("a package that was built for another runtime is missing", () => {
  class Package {
    constructor() {
      throw Object.assign(new Error("NODE_MODULE_VERSION 115"), { code: "ERR_DLOPEN_FAILED" });
    }
  }
  const other = findOpener((name) => (name === "better-sqlite3" ? Package : missing()));
  expect(() => openWith(other, "x")).toThrow(expect.objectContaining({ code: "missing" }));
});

test("a runtime's own that gives no row at a time is not taken", () => {
  class DatabaseSync {}
  class StatementSync {}
  const older = (name: string): unknown =>
    name === "node:sqlite" ? { DatabaseSync, StatementSync } : missing();
  expect(() => findOpener(older)).toThrow(expect.objectContaining({ code: "missing" }));
});
