/** Finding words: queries, entries, whole sessions, the command and what a key may see. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { servedId } from "../../src/cli/serve-catalogue.ts";
import { createServedSearch } from "../../src/cli/serve-search.ts";
import {
  EXCERPT_UNITS_MAX,
  SESSION_HITS_MAX,
  SIFT_BYTES,
  TERM_UNITS_MAX,
  TERMS_MAX,
} from "../../src/search/limits.ts";
import { foldCase, matches, parseQuery } from "../../src/search/query.ts";
import { scan } from "../../src/search/scan.ts";
import { excerptOf } from "../../src/search/text.ts";
import { type FoundSession, openLog } from "../../src/sources/index.ts";
import { run, tempFolder, tempHome } from "../cli/support.ts";

describe("a query", () => {
  test.each<readonly [string, readonly string[], readonly string[]]>([
    ["one two", ["one", "two"], []],
    ['"One  Two" -three', ["one  two"], ["three"]],
    ['-"a b" c', ["c"], ["a b"]],
    ["start** C++", ["start*", "c++"], []],
    ['an "open quote', ["an", "open quote"], []],
    ["a AND (b OR NEAR/2", ["a", "and", "(b", "or", "near/2"], []],
    ["E\u0301TE\u0301", ["été"], []],
  ])("%s", (text, all, none) => {
    expect(parseQuery(text)).toEqual({ all, none });
  });

  test.each(["", "   ", '""', "*", "-a"])("%j looks for nothing", (text) => {
    expect(parseQuery(text)).toBeUndefined();
  });

  test("at the limit: terms, and characters of one", () => {
    const words = Array.from({ length: TERMS_MAX + 1 }, (_, index) => `w${index}`);
    expect(parseQuery(words.slice(0, -1).join(" "))?.all).toHaveLength(TERMS_MAX);
    expect(parseQuery(words.join(" "))?.all).toHaveLength(TERMS_MAX);
    expect(parseQuery("x".repeat(TERM_UNITS_MAX + 5))?.all[0]).toHaveLength(TERM_UNITS_MAX);
  });

  test("any text is one, and what holds its words matches", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
        const query = parseQuery(text);
        if (query === undefined || query.none.length > 0) return;
        expect(matches(query, query.all.map(foldCase).join("  "))).toBe(true);
        expect(excerptOf(text, query).length).toBeLessThanOrEqual(EXCERPT_UNITS_MAX + 2);
      }),
    );
  });
});

async function logOf(texts: readonly string[]): Promise<{
  readonly path: string;
  readonly session: {
    readonly id: string;
    readonly path: string;
    readonly open: () => ReturnType<typeof openLog>;
  };
}> {
  const path = join(await tempFolder(), "s.jsonl");
  const lines = texts.map((content, index) =>
    JSON.stringify({
      type: "user",
      uuid: `u${index}`,
      parentUuid: index === 0 ? null : `u${index - 1}`,
      sessionId: "s",
      cwd: "/",
      version: "2",
      timestamp: new Date(1_790_000_000_000 + index * 1_000).toISOString(),
      message: { role: "user", content },
    }),
  );
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  return { path, session: { id: "s", path, open: () => openLog(path) } };
}

async function found(
  session: Awaited<ReturnType<typeof logOf>>["session"],
  words: string,
  limit = 1_000,
): Promise<readonly string[]> {
  const hits: string[] = [];
  for await (const hit of scan([session], parseQuery(words) ?? { all: [], none: [] }, { limit }))
    hits.push(hit.excerpt);
  return hits;
}

describe("a session", () => {
  test("newest first; each hit's positions lead to its entry", async () => {
    const { session } = await logOf(["alpha beta", "beta", "Alpha gamma"]);
    expect(await found(session, "ALPHA")).toEqual(["Alpha gamma", "alpha beta"]);
    expect(await found(session, "alpha -gamma")).toEqual(["alpha beta"]);
    expect(await found(session, "alpha", 1)).toEqual(["Alpha gamma"]);
    const log = await openLog(session.path);
    for await (const hit of scan([session], { all: ["beta"], none: [] }, { limit: 10 })) {
      expect((await log.newer(hit.at, 1)).entries[0]?.name).toBe(hit.entry);
      expect((await log.older(hit.end, 1)).entries[0]?.name).toBe(hit.entry);
    }
    await log.close();
  });

  test("words that JSON escapes are found too, and those that only the records' frames hold are not", async () => {
    const { session } = await logOf(['say "hi"\tto café\\bar', "nothing"]);
    expect(await found(session, "café\\bar")).toHaveLength(1);
    expect(await found(session, '"to café"')).toHaveLength(1);
    expect(await found(session, "parentuuid")).toEqual([]);
  });

  test("at the limit: hits of one session; a word over the border of two looks", async () => {
    const many = await logOf(Array.from({ length: SESSION_HITS_MAX + 5 }, () => "word"));
    expect(await found(many.session, "word")).toHaveLength(SESSION_HITS_MAX);
    const { path, session } = await logOf(["x"]);
    const frame = JSON.stringify({
      type: "user",
      uuid: "u",
      parentUuid: null,
      sessionId: "s",
      cwd: "/",
      version: "2",
      timestamp: new Date(0).toISOString(),
      message: { role: "user", content: "@" },
    });
    for (const off of [-12, -6, 0]) {
      const second = `${frame.replace("@", "needlework").replace('"u"', '"v"').replace("null", '"u"')}\n`;
      const pad = SIFT_BYTES + off - second.indexOf("needlework") - frame.length;
      await writeFile(path, `${frame.replace("@", "p".repeat(pad))}\n${second}`);
      expect(await found(session, "needlework")).toHaveLength(1);
    }
    expect(await found(session, "needleworker")).toEqual([]);
  });
});

describe("the command", () => {
  test("finds in every agent's sessions, with the way to each place", async () => {
    const home = await tempHome();
    const { code, out } = await run(home, ["search", "the", "--json", "--limit", "500"]);
    expect(code).toBe(0);
    const hits = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { agent: string; path: string; end: string; entry: string });
    expect(new Set(hits.map(({ agent }) => agent)).size).toBeGreaterThan(2);
    const [hit] = hits;
    const shown = await run(home, [
      "show",
      hit?.path ?? "",
      "--json",
      "--before",
      hit?.end ?? "",
      "--limit",
      "1",
    ]);
    expect(
      (JSON.parse(shown.out) as { entry?: { name?: string }; name?: string }).entry?.name ??
        (JSON.parse(shown.out) as { name?: string }).name,
    ).toBe(hit?.entry);
  });

  test("nothing found, nothing to look for, and a session that cannot be read", async () => {
    const home = await tempHome();
    expect(await run(home, ["search", "zzzznowhere"])).toMatchObject({
      code: 3,
      out: "",
      err: "hansard: nothing was found\n",
    });
    expect(await run(home, ["search", "*"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("What is to be looked for?"),
    });
    expect((await run(home, ["search", "the", "--since", "1h"])).code).toBeLessThan(5);
  });
});

describe("the server's search", () => {
  test("looks only where the key may see", async () => {
    const { path } = await logOf(["secret word"]);
    const found: FoundSession = { agent: "claude-code", id: "s", path, bytes: 1, modifiedAt: 0 };
    const id = servedId("claude-code", path);
    const search = createServedSearch({ find: async () => [found] });
    const asked = { words: "secret", limit: 5, signal: new AbortController().signal };
    expect(await search({ ...asked, allows: (each) => each === id })).toMatchObject([
      { session: id, excerpt: "secret word" },
    ]);
    expect(await search({ ...asked, allows: () => false })).toEqual([]);
    expect(await search({ ...asked, allows: () => true, session: "another" })).toEqual([]);
    const narrowed = createServedSearch({ find: async () => [found], only: new Set() });
    expect(await narrowed({ ...asked, allows: () => true })).toEqual([]);
  });
});
