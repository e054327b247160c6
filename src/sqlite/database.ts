/** One interface over the two libraries that a runtime may have. */
import { createRequire } from "node:module";

export type Value = string | number | bigint | Uint8Array | null;
type Row = Readonly<Record<string, Value>>;

export interface Statement {
  all(...values: readonly Value[]): readonly Row[];
  iterate(...values: readonly Value[]): IterableIterator<Row>;
  run(...values: readonly Value[]): void;
}

export interface Database {
  prepare(sql: string): Statement;
  /** Runs statements that give no rows. */
  run(sql: string): void;
  close(): void;
}

/**
 * `missing`: the runtime has no SQLite. `failed`: SQLite refused, for the reason that the message tells (a damaged file, a table that is
 * not there, a lock).
 */
export class SqliteError extends Error {
  readonly code: "missing" | "failed";
  /** What SQLite said by its primary result code, such as `SQLITE_BUSY`; absent where it is missing or its code has no name here. */
  readonly result?: string;

  constructor(code: "missing" | "failed", message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "SqliteError";
    this.code = code;
    const result = resultOf(cause);
    if (result !== undefined) this.result = result;
  }
}

/** Result codes by number (sqlite.org/rescode.html): one library tells the number alone. */
const results: Readonly<Record<number, string>> = {
  1: "SQLITE_ERROR",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  26: "SQLITE_NOTADB",
};

/** The primary result: `SQLITE_CORRUPT_VTAB` is a kind of `SQLITE_CORRUPT`. */
function resultOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  const { code, errcode } = cause as Error & { readonly code?: unknown; readonly errcode?: unknown };
  if (typeof errcode === "number") return results[errcode & 0xff];
  return typeof code === "string" ? /^SQLITE_[A-Z]+/.exec(code)?.[0] : undefined;
}

interface Library {
  prepare(sql: string): {
    all(...values: readonly Value[]): readonly unknown[];
    iterate(...values: readonly Value[]): IterableIterator<unknown>;
    run(...values: readonly Value[]): unknown;
  };
  exec(sql: string): unknown;
  close(): unknown;
}

export type Opener = (path: string, isReadOnly: boolean) => Library;

let opener: Opener | undefined;

/** Opens a database file. Throws a SqliteError where there is no SQLite, or where the file cannot be opened. */
export function openDatabase(path: string, options: { readonly readOnly?: boolean } = {}): Database {
  opener ??= findOpener(createRequire(import.meta.url));
  return openWith(opener, path, options);
}

/** True where this runtime has SQLite. */
export function canRead(): boolean {
  try {
    openDatabase(":memory:").close();
    return true;
  } catch (error) {
    if (error instanceof SqliteError) return false;
    throw error;
  }
}

/** Like `openDatabase`, with a library that was found before. */
export function openWith(
  open: Opener,
  path: string,
  options: { readonly readOnly?: boolean } = {},
): Database {
  const library = told(() => open(path, options.readOnly === true));
  return {
    prepare(sql) {
      const statement = told(() => library.prepare(sql));
      return {
        all: (...values) => told(() => statement.all(...values) as readonly Row[]),
        *iterate(...values) {
          const rows = told(() => statement.iterate(...values) as IterableIterator<Row>);
          try {
            for (let row = told(() => rows.next()); row.done !== true; row = told(() => rows.next()))
              yield row.value;
          } finally {
            rows.return?.();
          }
        },
        run: (...values) => {
          told(() => statement.run(...values));
        },
      };
    },
    run: (sql) => {
      told(() => library.exec(sql));
    },
    close: () => {
      told(() => library.close());
    },
  };
}

/** The first library that can be loaded; `load` is `require`. Throws `missing` where there is none. */
export function findOpener(load: (name: string) => unknown): Opener {
  const builtIn = loaded(load, "node:sqlite") as
    | {
        readonly DatabaseSync?: new (path: string, options: { readonly readOnly: boolean }) => Library;
        readonly StatementSync?: { readonly prototype: { readonly iterate?: unknown } };
      }
    | undefined;
  // Versions before 22.13 that have it when they are asked to cannot give a row at a time.
  const canIterate = builtIn?.StatementSync?.prototype.iterate !== undefined;
  const BuiltIn = canIterate ? builtIn?.DatabaseSync : undefined;
  if (BuiltIn !== undefined) return (path, readOnly) => new BuiltIn(path, { readOnly });
  const Package = loaded(load, "better-sqlite3") as
    | (new (
        path: string,
        options: { readonly readonly: boolean },
      ) => Library)
    | undefined;
  if (Package !== undefined) return (path, readOnly) => new Package(path, { readonly: readOnly });
  throw new SqliteError(
    "missing",
    "Node before version 22.13 has no SQLite, and the package better-sqlite3 is not installed",
  );
}

/** What the runtime prints of a library that is young is nothing that a person asked for. */
function loaded(load: (name: string) => unknown, name: string): unknown {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return load(name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "MODULE_NOT_FOUND" || code === "ERR_UNKNOWN_BUILTIN_MODULE" || code === "ERR_DLOPEN_FAILED")
      return undefined;
    throw error;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function told<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (typeof code === "string" && /^(?:SQLITE_|ERR_SQLITE)/.test(code))
      throw new SqliteError("failed", (error as Error).message, error);
    // The package finds its native half, or not, when it is first used.
    if (code === "ERR_DLOPEN_FAILED" || (error as Error).message.startsWith("Could not locate the bindings"))
      throw new SqliteError(
        "missing",
        "the package better-sqlite3 was built for another version of Node",
        error,
      );
    throw error;
  }
}
