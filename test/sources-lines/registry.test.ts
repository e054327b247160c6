/** All readers together: whose a file is, told by its content, and what is said of one that is nobody's. */
import { mkdirSync, readdirSync, symlinkSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  describeSession,
  detectSource,
  discoverAll,
  openLog,
  SourceError,
  sourceRoots,
  sources,
} from "../../src/sources/index.ts";
import { DETECT_BYTES } from "../../src/sources/registry.ts";
import { fixture, fixturePath } from "../support/fixtures.ts";
import { type Home, lines, makeHome } from "../support/home.ts";

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

async function refusal(path: string): Promise<SourceError> {
  const failure: unknown = await openLog(path).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(SourceError);
  return failure as SourceError;
}

describe("files of the agents", () => {
  const files = ["claude-code", "codex", "pi", "gemini", "copilot", "droid", "opencode", "cursor"].flatMap(
    (agent) =>
      readdirSync(fixturePath(`sources/${agent}`))
        .filter((name) => !name.endsWith(".zst"))
        .map((name) => [agent, name] as const),
  );

  test.each(files)(
    "%s/%s is told by its content, opened, paged to its first prompt and checked",
    async (agent, name) => {
      const path = home.write("anything", fixture(`sources/${agent}/${name}`));
      expect((await detectSource(path)).agent).toBe(agent);
      const log = await openLog(path);
      let page = await log.tail(50);
      while (!page.atStart) page = { ...page, ...(await log.older(page.start, 50)) };
      expect(page.entries.some((e) => e.kind === "delivered" && e.sender === "user")).toBe(true);
      expect((await log.check()).records).toBeGreaterThan(0);
      await log.close();
    },
  );

  test("cass#234: no reader takes a file that is another's", async () => {
    for (const [agent, name] of files) {
      const head = fixture(`sources/${agent}/${name}`).subarray(0, DETECT_BYTES);
      const takers = [];
      for (const source of sources) if (await source.detects("x", head)) takers.push(source.agent);
      expect([name, takers]).toEqual([name, [agent]]);
    }
  });

  test("a packed rollout is opened by its own name and by the one it had", async () => {
    const bytes = fixture("sources/codex/two-compactions.jsonl.zst");
    const path = home.write("rollout-x.jsonl.zst", bytes);
    for (const name of [path, path.replace(/\.zst$/, "")]) {
      const log = await openLog(name);
      expect(log.agent).toBe("codex");
      await log.close();
    }
  });
});

describe("files that are no session", () => {
  const record = (value: object): string => lines(value);
  test.each<[string, string | Uint8Array, string, RegExp]>([
    ["an empty file", "", "empty", /x is empty\.$/],
    ["words", "hello\nworld\n", "unknown-format", /holds no session that Hansard can read\.$/],
    ["JSON of another kind", record({ name: "package", version: "1" }), "unknown-format", /holds no session/],
    [
      "a picture",
      Buffer.from("\x89PNG\r\n\x1a\n00000", "latin1"),
      "binary",
      /is a PNG image, not a session's log\.$/,
    ],
    ["a damaged database", "SQLite format 3\0…", "unreadable", /cannot be read as a database/],
    ["packed data", Buffer.from([0x1f, 0x8b, 8, 0]), "binary", /is gzip data/],
    ["bytes", Buffer.from(Array.from({ length: 400 }, (_, i) => i % 7)), "binary", /is binary data/],
  ])("%s", async (_, content, code, words) => {
    const path = home.write("x", content);
    const error = await refusal(path);
    expect(error).toMatchObject({ code, path });
    expect(error.message).toMatch(words);
    expect(error.message.startsWith(path)).toBe(true);
    expect(error.next).toBeTruthy();
  });

  test("what is read is named, so that a person knows what to look for", async () => {
    const error = await refusal(home.write("x", "hello\n"));
    for (const source of sources) expect(error.next).toContain(source.label);
  });

  test("a file that is not there, a folder, a folder that cannot be entered", async () => {
    expect(await refusal(join(home.path, "none.jsonl"))).toMatchObject({ code: "not-found" });
    expect(await refusal(home.path)).toMatchObject({ code: "directory" });
    expect(await refusal(join(home.write("file", "x"), "below"))).toMatchObject({ code: "not-found" });
  });

  test("a link that leads to itself", async () => {
    const path = join(home.path, "x.jsonl");
    symlinkSync(path, path);
    expect(await refusal(path)).toMatchObject({ code: "unreadable", path });
  });
});

describe("finding", () => {
  test("each session once, whichever agents are there; one agent alone; an unknown one", async () => {
    home.write(".claude/projects/-w/one.jsonl", fixture("sources/claude-code/tiny.jsonl"));
    home.write(
      ".codex/sessions/2026/06/01/rollout-2026-06-01T00-00-00-two.jsonl",
      fixture("sources/codex/rollout-1.jsonl"),
    );
    const ids = async (agent?: string): Promise<string[]> => {
      const found = [];
      for await (const session of discoverAll(home.around, agent === undefined ? {} : { agent }))
        found.push(session.id);
      return found.sort();
    };
    expect(await ids()).toEqual(["one", "two"]);
    expect(await ids("codex")).toEqual(["two"]);
    await expect(ids("robot")).rejects.toMatchObject({ code: "unknown-agent" });
    expect(() => sourceRoots(home.around, "robot")).toThrow(SourceError);
  });

  test("a folder that two settings name is listed once", async () => {
    const path = home.write("c/projects/-w/one.jsonl", fixture("sources/claude-code/tiny.jsonl"));
    const folder = dirname(dirname(dirname(path)));
    const around = { ...home.around, env: { CLAUDE_CONFIG_DIR: `${folder},${folder}` } };
    const found = [];
    for await (const session of discoverAll(around)) found.push(session.path);
    expect(found).toEqual([path]);
  });

  test("each reader says where it looks, under the home or where a setting moved it", () => {
    for (const source of sources.filter((s) => s.agent !== "messages"))
      expect(
        sourceRoots(home.around, source.agent)
          .flatMap(({ roots }) => roots)
          .every((root) => root.startsWith(home.path)),
      ).toBe(true);
    expect(sourceRoots(home.around).length).toBeGreaterThan(4);
  });

  test("cass#234, cass#263: a folder that cannot be read is told, and the others are found", async () => {
    home.write(".claude/projects/-a/one.jsonl", fixture("sources/claude-code/tiny.jsonl"));
    const closed = join(home.path, ".codex", "sessions");
    mkdirSync(dirname(closed));
    symlinkSync(closed, closed);
    const problems: string[] = [];
    const found = [];
    for await (const session of discoverAll(home.around, { onProblem: (path) => problems.push(path) }))
      found.push(session.id);
    expect([found, problems]).toEqual([["one"], [closed]]);
  });

  test("times are whole milliseconds, however finely the file system tells them", async () => {
    const path = home.write(".claude/projects/-w/one.jsonl", fixture("sources/claude-code/tiny.jsonl"));
    utimesSync(path, 1_700_000_000.123_456, 1_700_000_000.123_456);
    const times: number[] = [];
    for await (const session of discoverAll(home.around)) times.push(session.modifiedAt);
    expect(times).toEqual([1_700_000_000_123]);
  });

  test("a session that went away before it was described", async () => {
    const gone = {
      agent: "claude-code",
      id: "x",
      path: join(home.path, "x.jsonl"),
      bytes: 1,
      modifiedAt: 0,
    } as const;
    await expect(describeSession(gone)).rejects.toMatchObject({ code: "not-found" });
  });
});
