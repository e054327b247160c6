/** Each bound of reading documents and databases, at its limit, and a table that none is missing from. */
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Classified } from "../../src/sources/classifier.ts";
import * as cursorLimits from "../../src/sources/cursor/limits.ts";
import { Document } from "../../src/sources/document/document.ts";
import type { DocumentElement, DocumentFormat, DocumentPart } from "../../src/sources/document/format.ts";
import { parseJson } from "../../src/sources/document/json.ts";
import * as documentLimits from "../../src/sources/document/limits.ts";
import {
  DAMAGE_NOTES_MAX,
  ELEMENT_BYTES_MAX,
  ELEMENT_NAME_MAX,
  ELEMENTS_MAX,
  GROWN_PRINT_BYTES,
  MEMBER_BYTES_MAX,
  PARTNERS_MAX,
  TITLE_BYTES_MAX,
  TITLE_MESSAGES_MAX,
} from "../../src/sources/document/limits.ts";
import {
  describeShelf,
  MESSAGE_STRIDE,
  type MessageRow,
  type MessageShelf,
  MessageStore,
} from "../../src/sources/document/message-store.ts";
import { Names } from "../../src/sources/document/rows.ts";
import * as openCodeLimits from "../../src/sources/opencode/limits.ts";
import { openCodeTables } from "../../src/sources/opencode/tables.ts";
import { DatabaseCopy, dropIdleCopies } from "../../src/sources/sqlite/copy.ts";
import * as sqliteLimits from "../../src/sources/sqlite/limits.ts";
import { COPY_TRIES_MAX, DATABASE_SESSIONS_MAX } from "../../src/sources/sqlite/limits.ts";
import { discoverDatabase } from "../../src/sources/sqlite/source.ts";
import { openDatabase } from "../../src/sqlite/index.ts";
import { OPENCODE_SCHEMA } from "../support/databases.ts";
import { expectHeld } from "../support/held-limits.ts";
import { type Home, makeHome } from "../support/home.ts";
import { logOfShelf } from "../support/shelf-agents.ts";

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(async () => {
  await dropIdleCopies();
  home.remove();
});

const prompt = (body: unknown): Classified => ({
  kind: "row",
  known: true,
  entries: [{ kind: "delivered", sender: "user", body: String(body) }],
});

function formatOf(
  scan: DocumentFormat["scan"],
  classify: (element: DocumentElement) => Classified = ({ value }) => prompt(value),
  more: Partial<DocumentFormat> = {},
): DocumentFormat {
  return { agent: "cline", scan, parse: parseJson, classify, ...more };
}

const neverScanned: DocumentFormat["scan"] = () => {
  throw new Error("no file");
};

/** A shelf of these messages. */
function shelfOf(
  rows: readonly MessageRow[],
  message: (key: string | number) => unknown,
  classify?: (element: DocumentElement) => Classified,
): MessageShelf {
  return {
    format: formatOf(neverScanned, classify),
    watched: [],
    modifiedAt: 1,
    version: 1,
    refresh: async () => "same",
    facts: async () => ({}),
    messages: async () => rows,
    message: async (key) => message(key),
    close: async () => undefined,
  };
}

const rowsOf = (count: number, bytes = 1): MessageRow[] =>
  Array.from({ length: count }, (_, key) => ({ key, stamp: "", bytes }));

test("documents: an element too many, or too large, is told as damage, and no more notes are kept than may be", async () => {
  const part = { type: "element", start: 0, end: ELEMENT_BYTES_MAX + 1 } as const;
  const batch: readonly DocumentPart[] = Array.from({ length: ELEMENTS_MAX + 1 }, () => part);
  const path = home.write("x.json", "{}");
  const document = await Document.open(
    path,
    formatOf(async function* () {
      yield batch;
    }),
  );
  expect(document.standing.rows.length).toBe(ELEMENTS_MAX);
  expect(document.standing.rows[0]?.row.damage).toBe("too-large");
  expect(document.damageIn(0, Number.MAX_SAFE_INTEGER)).toHaveLength(DAMAGE_NOTES_MAX);
  await document.close();
});

test("messages: one too many is told as damage, beside no more notes than may be", async () => {
  const rows = rowsOf(ELEMENTS_MAX + 1, ELEMENT_BYTES_MAX + 1);
  const store = await MessageStore.open(
    shelfOf(rows, () => {
      throw new Error("it is too large to be read");
    }),
  );
  expect(store?.standing.rows.length).toBe(ELEMENTS_MAX);
  const notes = store?.damageIn(0, Number.MAX_SAFE_INTEGER) ?? [];
  expect([notes.length, notes.at(-1)?.end]).toEqual([
    DAMAGE_NOTES_MAX + 1,
    (ELEMENTS_MAX + 1) * MESSAGE_STRIDE,
  ]);
});

test("a fact of a document at its largest is read, a larger one is not", async () => {
  const path = home.write("x.json", "1".padEnd(MEMBER_BYTES_MAX + 1));
  const keys: string[] = [];
  const document = await Document.open(
    path,
    formatOf(
      async function* () {
        yield [
          { type: "member", key: "at", start: 0, end: MEMBER_BYTES_MAX },
          { type: "member", key: "above", start: 0, end: MEMBER_BYTES_MAX + 1 },
        ];
      },
      undefined,
      {
        factsOf: (key) => {
          keys.push(key);
          return {};
        },
      },
    ),
  );
  expect(keys).toEqual(["at"]);
  await document.close();
});

test("an element's own name at its longest is its name, a longer one is not", () => {
  const names = new Names();
  const longest = "a".repeat(ELEMENT_NAME_MAX);
  expect(names.next(longest, 0)).toBe(`m:${longest}`);
  expect(names.next(`${longest}a`, 1)).toBe("@1");
});

test("a file that grew is what it was where the last bytes before its last element are", async () => {
  const format = formatOf(
    async function* (source, start, end) {
      const bytes = Buffer.from(await source.read(start, end - start)).toString();
      let at = start;
      const parts: DocumentPart[] = [];
      for (const line of bytes.split("\n")) {
        if (line !== "") parts.push({ type: "element", start: at, end: at + line.length });
        at += line.length + 1;
      }
      yield parts;
    },
    undefined,
    { grows: true },
  );
  const first = JSON.stringify("x".repeat(GROWN_PRINT_BYTES));
  /** Whether a change so many bytes before the last element is seen when the file grows. */
  const isSeen = async (before: number): Promise<boolean> => {
    const path = home.write("x.log", `${first}\n1\n`);
    const document = await Document.open(path, format);
    const print = document.standing.rows[0]?.row.print;
    const changed = Buffer.from(`${first}\n1\n2\n`);
    changed[first.length + 1 - before] = "y".charCodeAt(0);
    writeFileSync(path, changed);
    utimesSync(path, 1_700_000_009, 1_700_000_009);
    expect(await document.refresh()).toBe("changed");
    const isChanged = document.standing.rows[0]?.row.print !== print;
    await document.close();
    return isChanged;
  };
  expect([await isSeen(GROWN_PRINT_BYTES), await isSeen(GROWN_PRINT_BYTES + 1)]).toEqual([true, false]);
});

test("of the results of one call so many are read beside it", async () => {
  const read: (string | number)[] = [];
  const shelf = shelfOf(
    rowsOf(PARTNERS_MAX + 2),
    (key) => {
      read.push(key);
      return key;
    },
    ({ value }) => ({
      kind: "row",
      known: true,
      entries: [
        value === 0
          ? {
              kind: "model",
              usage: {},
              blocks: [{ kind: "tool-use", id: "c", name: "n", inputSummary: "" }],
            }
          : { kind: "tool-result", toolUseId: "c", content: "", isError: false },
      ],
    }),
  );
  const store = await MessageStore.open(shelf);
  read.length = 0;
  const { log } = logOfShelf(store!);
  expect((await log.first(1)).entries).toHaveLength(1);
  expect(read).toHaveLength(1 + PARTNERS_MAX);
});

test("a title is looked for in the first messages, and in those that are not too large", async () => {
  const silent: Classified = { kind: "row", known: true, entries: [] };
  /** The title where the only prompt is the message of this number. */
  const titleAt = async (number: number, bytes = 1): Promise<string | undefined> =>
    (
      await describeShelf(
        shelfOf(
          rowsOf(TITLE_MESSAGES_MAX + 1, bytes),
          (key) => key,
          ({ value }) => (value === number ? prompt("do it") : silent),
        ),
      )
    )?.title;
  expect([await titleAt(TITLE_MESSAGES_MAX - 1), await titleAt(TITLE_MESSAGES_MAX)]).toEqual([
    "do it",
    undefined,
  ]);
  expect([await titleAt(0, TITLE_BYTES_MAX), await titleAt(0, TITLE_BYTES_MAX + 1)]).toEqual([
    "do it",
    undefined,
  ]);
});

test("a database that is written while it is copied is copied again so many times", async () => {
  const path = join(home.path, "a.db");
  const database = openDatabase(path);
  database.run("CREATE TABLE t(word TEXT)");
  database.close();
  /** Copies while the database is written during this many of the tries. */
  const copied = async (writes: number): Promise<unknown> => {
    let tries = 0;
    const now = (): number => {
      tries += 1;
      if (tries <= writes) utimesSync(path, tries, tries);
      return 0;
    };
    const copy = new DatabaseCopy(path, { now, bytesMax: 1024 * 1024 });
    try {
      return await copy.refresh();
    } catch (error) {
      return [(error as Error).message, tries];
    } finally {
      await copy.remove();
    }
  };
  expect(await copied(COPY_TRIES_MAX - 1)).toBe("changed");
  expect(await copied(COPY_TRIES_MAX)).toEqual([`${path} is being written.`, COPY_TRIES_MAX]);
});

test("of the sessions of a database the newest are listed", async () => {
  const path = join(home.path, "a.db");
  const database = openDatabase(path);
  database.run(`${OPENCODE_SCHEMA} WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${DATABASE_SESSIONS_MAX})
    INSERT INTO session(id, time_updated) SELECT 's' || i, i FROM n`);
  database.close();
  const found = await discoverDatabase(path, openCodeTables, () => undefined);
  expect(found).toHaveLength(DATABASE_SESSIONS_MAX);
  expect(found.at(-1)?.id).toBe("s1");
});

test("each bound has its test", async () => {
  const here = import.meta.url;
  const many = "documents: an element too many";
  await expectHeld<typeof documentLimits>(
    documentLimits,
    {
      ELEMENT_BYTES_MAX: ["../sources-opencode/database.test.ts", "ELEMENT_BYTES_MAX: a message above it"],
      ELEMENTS_MAX: ["./limits.test.ts", many],
      MEMBER_BYTES_MAX: ["./limits.test.ts", "a fact of a document at its largest"],
      ELEMENT_NAME_MAX: ["./limits.test.ts", "an element's own name at its longest"],
      DAMAGE_NOTES_MAX: ["./limits.test.ts", many],
      GROWN_PRINT_BYTES: ["./limits.test.ts", "a file that grew is what it was"],
      PARTNERS_MAX: ["./limits.test.ts", "of the results of one call"],
      TITLE_MESSAGES_MAX: ["./limits.test.ts", "a title is looked for"],
      TITLE_BYTES_MAX: ["./limits.test.ts", "a title is looked for"],
    },
    here,
  );
  await expectHeld<typeof sqliteLimits>(
    sqliteLimits,
    {
      COPY_BYTES_MAX: ["../sources-sqlite/copy.test.ts", "COPY_BYTES_MAX:"],
      COPY_TRIES_MAX: ["./limits.test.ts", "a database that is written while"],
      COPY_REST_FACTOR: ["../sources-sqlite/copy.test.ts", "COPY_REST_FACTOR:"],
      COPIES_KEPT_MAX: ["../sources-sqlite/copy.test.ts", "COPIES_KEPT_MAX:"],
      DATABASE_SESSIONS_MAX: ["./limits.test.ts", "of the sessions of a database"],
    },
    here,
  );
  await expectHeld<typeof openCodeLimits>(
    openCodeLimits,
    {
      TREE_FRESH_MESSAGES_MAX: ["../sources-opencode/tree.test.ts", "TREE_FRESH_MESSAGES_MAX:"],
      TREE_PARTS_MAX: ["../sources-opencode/tree.test.ts", "TREE_PARTS_MAX:"],
      TREE_RECORD_BYTES_MAX: ["../sources-opencode/tree.test.ts", "TREE_RECORD_BYTES_MAX:"],
    },
    here,
  );
  await expectHeld<typeof cursorLimits>(
    cursorLimits,
    {
      EDITOR_LIST_BYTES_MAX: ["../sources-cursor/databases.test.ts", "EDITOR_LIST_BYTES_MAX:"],
      EDITOR_FRESH_MESSAGES_MAX: ["../sources-cursor/databases.test.ts", "EDITOR_FRESH_MESSAGES_MAX:"],
      CHAT_ROOT_BYTES_MAX: ["../sources-cursor/databases.test.ts", "CHAT_ROOT_BYTES_MAX:"],
    },
    here,
  );
});
