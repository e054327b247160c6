/** The index: it finds what reading finds, reads only what is new, and is made anew when it cannot be trusted. */
import { appendFile, open, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BATCH_ENTRIES_MAX, REREAD_ENTRIES } from "../../src/search/limits.ts";
import { indexQuery, parseQuery } from "../../src/search/query.ts";
import { scan } from "../../src/search/scan.ts";
import { forgetOthers, type SearchOptions, search } from "../../src/search/search.ts";
import { IndexStore } from "../../src/search/store.ts";
import { type Log, openLog } from "../../src/sources/index.ts";
import { openDatabase } from "../../src/sqlite/index.ts";
import { claudeLines, tempFolder } from "../cli/support.ts";
import { OpenCodeWriter } from "../support/databases.ts";

interface Kept {
  readonly id: string;
  readonly path: string;
  readonly open: () => Promise<Log>;
  /** Entries that were read since the last look. */
  read(): number;
}

/** A session whose pages are counted. */
function kept(path: string): Kept {
  let entries = 0;
  return {
    id: path,
    path,
    async open() {
      const log = await openLog(path);
      for (const name of ["newer", "older"] as const) {
        const own = log[name].bind(log);
        log[name] = async (from, limit) => {
          const page = await own(from, limit);
          entries += page.entries.length;
          return page;
        };
      }
      const first = log.first.bind(log);
      log.first = async (limit) => {
        const page = await first(limit);
        entries += page.entries.length;
        return page;
      };
      return log;
    },
    read() {
      const now = entries;
      entries = 0;
      return now;
    },
  };
}

async function place(
  lines: readonly string[] = claudeLines(3),
): Promise<{ path: string; index: string; session: Kept }> {
  const folder = await tempFolder();
  const path = join(folder, "s.jsonl");
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  return { path, index: join(folder, "state", "search.sqlite"), session: kept(path) };
}

async function found(
  sessions: readonly Kept[],
  words: string,
  options: Partial<SearchOptions> = {},
): Promise<readonly string[]> {
  const query = parseQuery(words);
  const hits: string[] = [];
  if (query === undefined) return hits;
  for await (const { at, end, entry, excerpt } of search(sessions, query, { limit: 1_000, ...options }))
    hits.push(`${at} ${end} ${entry} ${excerpt}`);
  return hits;
}

describe("what the index finds", () => {
  test("is what reading finds, whatever is looked for", async () => {
    const said = [
      "Alpha beta-gamma",
      "foo_bar café\\bar ÉTÉ",
      "C++ alphabet 要約する",
      "x.ts beta",
      "ß İ ﬁ 1st",
    ];
    const { session, index } = await place(claudeLines(5, (n) => said[n - 1] ?? ""));
    const unit = fc.constantFrom(
      ...'alpha beta gamma foo bar café été c++ alph* al* 要約 x.ts ts 1st ß i̇ ﬁ prompt - " * _ . foo_bar -beta -alpha'.split(
        " ",
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(unit, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        async (words, isPhrase) => {
          const text = isPhrase ? `"${words.join(" ")}` : words.join(" ");
          expect(await found([session], text, { index })).toEqual(await found([session], text));
        },
      ),
      { numRuns: 150 },
    );
    expect(await found([session], "alph*", { index })).toHaveLength(2);
    expect(await found([session], "alpha", { index })).toHaveLength(1);
    expect(await found([session], "bar -alpha", { index })).toHaveLength(1);
  });

  test.each([
    ["a b*", '"a" AND "b"*'],
    ['"foo_bar.ts"', '"foo" AND "bar" AND "ts"'],
    ["++ x", '"x"'],
    ["NEAR(a OR", '"near" AND "a" AND "or"'],
    ["++", undefined],
    ["要約 x", undefined],
  ])("%s asks it for %s", (text, words) => {
    expect(indexQuery(parseQuery(text) ?? { all: [], none: [] })).toBe(words);
  });

  test("a limit over several sessions, and a session that cannot be read", async () => {
    const a = await place();
    const b = await place();
    const gone = kept(join(a.index, "..", "gone.jsonl"));
    const problems: string[] = [];
    const options = { index: a.index, limit: 4, onProblem: (path: string) => void problems.push(path) };
    expect(await found([gone, a.session, b.session], "answer", options)).toHaveLength(4);
    expect(problems).toEqual([gone.path]);
  });
});

describe("what is read", () => {
  test("nothing of a session that is as it was; of one that grew what was appended", async () => {
    const turns = 150;
    const lines = claudeLines(turns + 1);
    const { session, path, index } = await place(lines.slice(0, -2));
    expect(await found([session], "nowhere", { index })).toEqual([]);
    expect(session.read()).toBe(2 * turns);
    expect(await found([session], "nowhere", { index })).toEqual([]);
    expect(session.read()).toBe(0);
    await appendFile(
      path,
      lines
        .slice(-2)
        .map((line) => `${line}\n`)
        .join(""),
    );
    expect(await found([session], "nowhere", { index })).toEqual([]);
    expect(session.read()).toBe(REREAD_ENTRIES + 2);
    expect(await found([session], `${turns + 1}`, { index })).toEqual(await found([session], `${turns + 1}`));
    expect(await found([session], "answer", { index })).toEqual(await found([session], "answer"));
  });

  test("all of one that was rewritten or cut, also where its size is the same", async () => {
    const { session, path, index } = await place();
    expect(await found([session], "answer", { index })).toHaveLength(3);
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replaceAll("answer", "report"));
    await utimes(path, 1, 1);
    expect(await found([session], "answer", { index })).toEqual([]);
    expect(await found([session], "report", { index })).toHaveLength(3);
    await writeFile(path, `${claudeLines(1)[0]}\n`);
    expect(await found([session], "report", { index })).toEqual([]);
    expect(await found([session], "prompt", { index })).toHaveLength(1);
  });

  test("at the limit: more entries than are put in at once", async () => {
    const turns = BATCH_ENTRIES_MAX / 2 + 1;
    const { session, index } = await place(claudeLines(turns));
    expect(await found([session], `${turns}`, { index })).toHaveLength(2);
    expect(await found([session], "1", { index })).toHaveLength(2);
  });
});

describe("a cache", () => {
  test("readable by its owner alone; a session that is gone leaves it", async () => {
    const { session, path, index } = await place();
    await found([session], "answer", { index });
    expect((await stat(index)).mode & 0o777).toBe(0o600);
    await rm(path);
    forgetOthers(index, new Set());
    const store = IndexStore.open(index, () => undefined);
    expect(store.paths()).toEqual([]);
    store.close();
  });

  test("one that is damaged or of another version is made anew and said to be", async () => {
    const { session, index } = await place();
    const notices: string[] = [];
    const options = { index, onNotice: (words: string) => void notices.push(words) };
    await found([session], "answer", options);
    expect(notices).toEqual([]);
    await writeFile(index, "no database at all ".repeat(500));
    expect(await found([session], "answer", options)).toHaveLength(3);
    expect(notices).toEqual(["the index is made anew: it was damaged"]);
    const db = openDatabase(index);
    db.run("PRAGMA user_version = 99");
    db.close();
    expect(await found([session], "answer", options)).toHaveLength(3);
    expect(notices.slice(1)).toEqual(["the index is made anew: it was of another version"]);
  });

  test("damage that shows only when it is used", async () => {
    const { session, index } = await place(claudeLines(400));
    const notices: string[] = [];
    const options = { index, onNotice: (words: string) => void notices.push(words) };
    await found([session], "nowhere", options);
    const { size } = await stat(index);
    const file = await open(index, "r+");
    await file.write(Buffer.alloc(size - 4096, 0x5a), 0, size - 4096, 4096);
    await file.close();
    expect(await found([session], "400", options)).toHaveLength(2);
    expect(notices).toHaveLength(1);
    expect(await found([session], "400", options)).toHaveLength(2);
    expect(notices).toHaveLength(1);
  });

  test("where it cannot be made, sessions are read, and it is said", async () => {
    const { session, path } = await place();
    const notices: string[] = [];
    const options = { index: join(path, "x.sqlite"), onNotice: (words: string) => void notices.push(words) };
    expect(await found([session], "answer", options)).toHaveLength(3);
    expect(notices).toEqual([expect.stringContaining("without an index every session is read")]);
  });

  test("two at once find the same and leave it whole", async () => {
    const { session, index } = await place(claudeLines(300));
    const [one, two] = await Promise.all([
      found([session], "answer", { index }),
      found([session], "answer", { index }),
    ]);
    expect(one).toEqual(two);
    const hits: unknown[] = [];
    for await (const hit of scan([session], parseQuery("answer") ?? { all: [], none: [] }, { limit: 99 }))
      hits.push(hit);
    expect(one).toHaveLength(hits.length);
    const db = openDatabase(index, { readOnly: true });
    expect(db.prepare("SELECT count(*) AS n FROM entry").all()[0]?.["n"]).toBe(600);
    db.close();
  });
});

test("a session in a database, which is no file of its own, is read", async () => {
  const folder = await tempFolder();
  const writer = new OpenCodeWriter(join(folder, "opencode.db"));
  writer.session("ses_a");
  writer.prompt("ses_a", "m1", "find the heron");
  const session = kept(join(folder, "opencode.db#ses_a"));
  const problems: unknown[] = [];
  const options = {
    index: join(folder, "state", "search.sqlite"),
    onProblem: (_path: string, error: unknown) => void problems.push(error),
  };
  expect(await found([session], "heron", options)).toHaveLength(1);
  expect(problems).toEqual([]);
  writer.close();
});
