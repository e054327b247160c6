/** Where Claude Code's transcripts are found, how they are told from others, and what is known of one without reading it. */
import { readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  CLAUDE_HEAD_BYTES,
  CLAUDE_LONG_HEADS_BYTES,
  CLAUDE_TAIL_BYTES,
  claudeCodeSource,
} from "../../src/sources/claude-code/source.ts";
import { PROMPT_TITLE_MAX } from "../../src/sources/prompt-title.ts";
import type { FoundSession, SessionInfo, Surroundings } from "../../src/sources/types.ts";
import { fixture, fixturePath } from "../support/fixtures.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";

let home: Home | undefined;
afterEach(() => home?.remove());

const ID = "3323286b-a5b3-4de3-ad81-5d5609a92490";
const FOLDER = ".claude/projects/-work-place";
const MAIN = `${FOLDER}/${ID}.jsonl`;

const envelope = { sessionId: ID, isSidechain: false, parentUuid: null, uuid: "1" };
const prompt = (content: unknown, more: object = {}): object => ({
  ...envelope,
  type: "user",
  timestamp: "2026-06-01T10:00:00.000Z",
  message: { role: "user", content },
  ...more,
});

async function describeOnly(made: Home, around: Surroundings = made.around): Promise<SessionInfo> {
  const { found } = await discoverAll(claudeCodeSource, around);
  expect(found).toHaveLength(1);
  return claudeCodeSource.describe(found[0] as FoundSession);
}

async function titleOf(...rows: readonly object[]): Promise<unknown> {
  home?.remove();
  home = makeHome();
  home.write(MAIN, lines(...rows));
  const { title, titled } = await describeOnly(home);
  return [title, titled === true];
}

describe("finding", () => {
  test("cass#187, cass#351: sessions, subagents of every layout with their session, and nothing else", async () => {
    home = makeHome();
    home.write(MAIN, lines(prompt("hi")));
    home.write(`${FOLDER}/agent-old.jsonl`, lines(prompt("side", { isSidechain: true })));
    home.write(`${FOLDER}/${ID}/subagents/agent-a1.jsonl`, lines(prompt("side", { isSidechain: true })));
    home.write(`${FOLDER}/${ID}/subagents/agent-a1.meta.json`, "{}");
    home.write(`${FOLDER}/${ID}/subagents/workflows/w1/agent-b2.jsonl`, lines(prompt("side")));
    home.write(`${FOLDER}/${ID}/subagents/workflows/w1/journal.jsonl`, "{}");
    home.write(`${FOLDER}/${ID}/tool-results/out.txt`, "long");
    home.write(`${FOLDER}/${ID}/other.jsonl`, "{}");
    home.write(`${FOLDER}/sessions-index.json`, "{}");
    home.write(`.claude/history.jsonl`, "{}");
    const { found, problems } = await discoverAll(claudeCodeSource, home.around);
    expect(problems).toEqual([]);
    expect(found.map((f) => [f.id, f.parentId]).sort()).toEqual([
      [ID, undefined],
      ["agent-a1", ID],
      ["agent-b2", ID],
      ["agent-old", ""],
    ]);
    expect(found.find((f) => f.id === ID)).toEqual({
      agent: "claude-code",
      id: ID,
      path: join(home.path, MAIN),
      bytes: statSync(join(home.path, MAIN)).size,
      modifiedAt: 1_700_000_000_000,
    });
  });

  test("the session of an old subagent's file is told by its rows", async () => {
    home = makeHome();
    home.write(`${FOLDER}/agent-old.jsonl`, lines(prompt("side", { isSidechain: true, agentId: "old" })));
    expect(await describeOnly(home)).toMatchObject({ id: "agent-old", parentId: ID, title: "side" });
  });

  test("cass#19: folders: the usual two; moved by CLAUDE_CONFIG_DIR, several with commas; XDG_CONFIG_HOME", () => {
    const around = { env: {}, home: "/h", platform: "linux" };
    expect(claudeCodeSource.roots(around)).toEqual([
      join("/h", ".claude", "projects"),
      join("/h", ".config", "claude", "projects"),
    ]);
    const roots = (env: Surroundings["env"]): readonly string[] => claudeCodeSource.roots({ ...around, env });
    expect(roots({ CLAUDE_CONFIG_DIR: "/c" })).toEqual([join("/c", "projects")]);
    expect(roots({ CLAUDE_CONFIG_DIR: "/c, /d" })).toEqual([join("/c", "projects"), join("/d", "projects")]);
    expect(roots({ CLAUDE_CONFIG_DIR: "", XDG_CONFIG_HOME: "/x" })[1]).toBe(join("/x", "claude", "projects"));
  });

  test("a home without Claude Code has no sessions and no problems", async () => {
    home = makeHome();
    expect(await discoverAll(claudeCodeSource, home.around)).toEqual({ found: [], problems: [] });
  });
});

describe("telling", () => {
  const detects = (bytes: Uint8Array | string): Promise<boolean> =>
    claudeCodeSource.detects("x", Buffer.from(bytes));

  test.each([
    "tiny.jsonl",
    "agent-sidechain.jsonl",
    "pending-call.jsonl",
    "progress-rows.jsonl",
    "named-gemini.jsonl",
    "glued-objects.jsonl.gz",
    "attachments-and-titles.jsonl.gz",
    "custom-title.jsonl.gz",
    "queued-prompt.jsonl.gz",
  ])("%s is one", async (name) => {
    expect(await detects(fixture(`sources/claude-code/${name}`).subarray(0, 65536))).toBe(true);
  });

  test.each(["codex/rollout-1.jsonl", "pi/session-v3.jsonl", "gemini/legacy-2.json"])(
    "%s is none",
    async (name) => {
      expect(await detects(fixture(`sources/${name}`))).toBe(false);
    },
  );

  test("a transcript that begins with a summary, a mark, a bad line, or a row longer than what is looked at", async () => {
    expect(await detects(lines({ type: "summary", summary: "x", leafUuid: "y" }))).toBe(true);
    expect(await detects(`\ufeff${lines(prompt("x"))}`)).toBe(true);
    expect(await detects(`{"type":"us\n${lines(prompt("x"))}`)).toBe(true);
    expect(await detects(JSON.stringify(prompt("x".repeat(100_000))).slice(0, 65536))).toBe(true);
    expect(await detects('{"type":"user","message":"something else"}\n')).toBe(false);
    expect(await detects("")).toBe(false);
  });
});

describe("describing", () => {
  test("a session by the ends of its file", async () => {
    home = makeHome();
    home.write(
      MAIN,
      lines(
        { type: "file-history-snapshot", messageId: "0", snapshot: {} },
        prompt("Fix the build\nplease", { cwd: "/home/user/place", gitBranch: "main", version: "2.0.1" }),
        {
          ...envelope,
          type: "assistant",
          timestamp: "2026-06-01T10:00:05.000Z",
          cwd: "/home/user/place/sub",
          gitBranch: "fix",
          version: "2.0.2",
          message: { id: "m", model: "opus", content: [] },
        },
        { ...envelope, type: "assistant", message: { model: "<synthetic>", content: [] } },
      ),
    );
    expect(await describeOnly(home)).toEqual({
      agent: "claude-code",
      id: ID,
      path: join(home.path, MAIN),
      bytes: statSync(join(home.path, MAIN)).size,
      modifiedAt: 1_700_000_000_000,
      startedAt: Date.parse("2026-06-01T10:00:00.000Z"),
      title: "Fix the build",
      cwd: "/home/user/place/sub",
      gitBranch: "fix",
      agentVersion: "2.0.2",
      model: "opus",
    });
  });

  test("titles: the person's own, the agent's name, the agent's title, a summary, the first prompt", async () => {
    const rows = [
      prompt("the prompt"),
      { type: "summary", summary: "the summary", leafUuid: "1" },
      { type: "ai-title", aiTitle: "the agent's", sessionId: ID },
      { type: "agent-name", agentName: "the name", sessionId: ID },
      { type: "custom-title", customTitle: "mine", sessionId: ID },
    ];
    expect(await titleOf(...rows)).toEqual(["mine", true]);
    expect(await titleOf(...rows.slice(0, 4))).toEqual(["the name", true]);
    expect(await titleOf(...rows.slice(0, 3))).toEqual(["the agent's", true]);
    expect(await titleOf(...rows.slice(0, 2))).toEqual(["the summary", false]);
    expect(await titleOf(...rows.slice(0, 1))).toEqual(["the prompt", false]);
    expect(await titleOf({ type: "custom-title", customTitle: "old" }, ...rows)).toEqual(["mine", true]);
  });

  test("a summary of another session's rows is no title of this one", async () => {
    expect(
      await titleOf({ type: "summary", summary: "other", leafUuid: "elsewhere" }, prompt("mine")),
    ).toEqual(["mine", false]);
  });

  test("what only looks like a prompt gives no title", async () => {
    const rows = [
      prompt("Caveat: The messages below were generated by the user while running local commands. x"),
      prompt("<command-name>/clear</command-name>"),
      prompt("<local-command-stdout>ok</local-command-stdout>"),
      prompt("for the model", { isMeta: true }),
      prompt("This session is being continued", { isCompactSummary: true }),
      prompt([{ type: "tool_result", tool_use_id: "t", content: "out" }]),
      prompt([
        { type: "text", text: "<ide_opened_file>a.ts</ide_opened_file>" },
        { type: "text", text: "\n\n  what\tis  this \n more" },
      ]),
    ];
    expect(await titleOf(...rows)).toEqual(["what is this", false]);
    expect(await titleOf(...rows.slice(0, 6))).toEqual([undefined, false]);
  });

  test("a title from a prompt is cut at its limit, between characters", async () => {
    expect(await titleOf(prompt("😀".repeat(PROMPT_TITLE_MAX)))).toEqual([
      "😀".repeat(PROMPT_TITLE_MAX),
      false,
    ]);
    expect(await titleOf(prompt("😀".repeat(PROMPT_TITLE_MAX + 1)))).toEqual([
      `${"😀".repeat(PROMPT_TITLE_MAX)}…`,
      false,
    ]);
  });

  test("a prompt behind a long head is found up to the longer head, and not further", async () => {
    const filler = (bytes: number): object => ({
      ...envelope,
      type: "attachment",
      attachment: { type: "skill_listing", content: "x".repeat(bytes) },
    });
    const tail = filler(CLAUDE_TAIL_BYTES);
    expect((await titleOf(filler(CLAUDE_HEAD_BYTES), prompt("found"), tail)) as unknown[]).toEqual([
      "found",
      false,
    ]);
    expect(await titleOf(filler(CLAUDE_LONG_HEADS_BYTES[1]), prompt("too far"), tail)).toEqual([
      undefined,
      false,
    ]);
  });

  test("cc#19476: a file of any size costs its ends", async () => {
    home = makeHome();
    const path = home.write(MAIN, lines(prompt("first")));
    truncateSync(path, 3 * 1024 * 1024 * 1024);
    expect(await describeOnly(home)).toMatchObject({ title: "first", bytes: 3 * 1024 * 1024 * 1024 });
  });

  test("an empty file is a session of which nothing is known", async () => {
    home = makeHome();
    home.write(MAIN, "");
    expect(await describeOnly(home)).toEqual({
      agent: "claude-code",
      id: ID,
      path: join(home.path, MAIN),
      bytes: 0,
      modifiedAt: 1_700_000_000_000,
    });
  });

  test("a damaged start hides nothing of what follows", async () => {
    home = makeHome();
    home.write(MAIN, `\0\0\0\n{"type":"user","mess\n${lines(prompt("after"))}`);
    expect(await describeOnly(home)).toMatchObject({ title: "after" });
  });
});

describe("opening", () => {
  test("a file is opened as it lies, and its info is what describing gives", async () => {
    const path = fixturePath("sources/claude-code/tiny.jsonl");
    const before = statSync(path, { bigint: true });
    const bytes = readFileSync(path);
    const log = await claudeCodeSource.open(path);
    const page = await log.tail(10);
    expect(page.entries.length).toBeGreaterThan(0);
    expect((await log.info()).id).toBe("tiny");
    const place = page.entries[0]?.place;
    expect(Buffer.from(await log.raw(place ?? { start: 0, end: 0 })).toString()).toBe(
      bytes.subarray(place?.start, place?.end).toString(),
    );
    await log.close();
    expect(statSync(path, { bigint: true }).mtimeNs).toBe(before.mtimeNs);
  });
});
