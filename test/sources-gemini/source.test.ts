/** Where chats are found, what is known of one without reading it, and how one is counted. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { GEMINI_HEAD_BYTES, geminiSource } from "../../src/sources/gemini/source.ts";
import type { CheckReport, SessionInfo } from "../../src/sources/types.ts";
import { fixture, fixturePath } from "../support/fixtures.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";
import { call, chatDocument, chatLines, header, info, model, tokens, user } from "./support.ts";

let home: Home | undefined;
afterEach(() => {
  home?.remove();
  home = undefined;
});
const CHATS = ".gemini/tmp/p/chats";
const NAME = "session-2026-06-01T00-00-abcdefgh";

describe("finding", () => {
  test("chats of both shapes, and a subagent's under its session", async () => {
    home = makeHome();
    home.write(`${CHATS}/${NAME}.jsonl`, chatLines());
    home.write(`${CHATS}/session-2026-05-01T00-00-old.json`, chatDocument([]));
    home.write(`${CHATS}/abcdefgh-1234-5678/sub-1.jsonl`, chatLines());
    home.write(`${CHATS}/orphaned-1234/sub-2.jsonl`, chatLines());
    home.write(`${CHATS}/${NAME}.jsonl.unreadable-1`, "x");
    home.write(".gemini/tmp/p/logs.json", "[]");
    const { found, problems } = await discoverAll(geminiSource, home.around);
    expect(problems).toEqual([]);
    expect(found.map(({ id, parentId }) => [id, parentId]).sort()).toEqual([
      ["2026-05-01T00-00-old", undefined],
      ["2026-06-01T00-00-abcdefgh", undefined],
      ["sub-1", "2026-06-01T00-00-abcdefgh"],
      ["sub-2", "orphaned-1234"],
    ]);
  });

  test("ai-terminal-manager#27: of a document and the lines that go on from it, the lines are the session", async () => {
    home = makeHome();
    home.write(`${CHATS}/${NAME}.json`, chatDocument([]));
    home.write(`${CHATS}/${NAME}.jsonl`, chatLines());
    expect((await discoverAll(geminiSource, home.around)).found.map((f) => f.path)).toEqual([
      join(home.path, CHATS, `${NAME}.jsonl`),
    ]);
  });

  test("GEMINI_CLI_HOME moves the home", async () => {
    home = makeHome();
    home.write(`moved/${CHATS}/${NAME}.jsonl`, chatLines());
    const env = { GEMINI_CLI_HOME: join(home.path, "moved") };
    expect((await discoverAll(geminiSource, { ...home.around, env })).found).toHaveLength(1);
    expect((await discoverAll(geminiSource, home.around)).found).toHaveLength(0);
  });
});

describe("describing", () => {
  async function infoOf(
    content: string | Uint8Array,
    name = `${NAME}.jsonl`,
  ): Promise<SessionInfo | undefined> {
    home ??= makeHome();
    home.write(`${CHATS}/${name}`, content);
    const [found] = (await discoverAll(geminiSource, home.around)).found;
    return found && geminiSource.describe(found);
  }

  test("by its first prompt, not by context the program put in front", async () => {
    const context = user("0", "<session_context>\nToday\n</session_context>");
    expect(await infoOf(chatLines(context, user("a", "do it\nnow"), model("b", "1")))).toMatchObject({
      id: "2026-06-01T00-00-abcdefgh",
      title: "do it",
      model: "g",
      startedAt: Date.parse(header.startTime),
    });
  });

  test("by its summary, wherever it was set last; not by a summary within a message", async () => {
    const filler = lines(model("b", "x".repeat(1000))).repeat((2 * GEMINI_HEAD_BYTES) / 1000);
    const talk = model("c", '"summary":"no"', { summary: "no", ...tokens(1) });
    const content = chatLines(user("a", "do it")) + filler + lines({ $set: { summary: 'A "title"' } }, talk);
    expect(await infoOf(content)).toMatchObject({
      titled: true,
      title: 'A "title"',
    });
  });

  test("a document", async () => {
    expect(
      await infoOf(chatDocument([user("a", "do it"), model("b", "1")], { summary: "Named" }), `${NAME}.json`),
    ).toMatchObject({ title: "Named", titled: true, model: "g" });
    home?.remove();
    home = undefined;
    expect(await infoOf(fixture("sources/gemini/legacy-1.json.gz"), `${NAME}.json`)).toMatchObject({
      title: "use up toeso push holydry a oilat hunt seekby yard, weakby mode oilat",
      model: "gemini-2.5-flash",
    });
  });

  test("the folder it worked in: by the project's own file, the map of short names, or the hash of the path", async () => {
    home = makeHome();
    const hash = createHash("sha256").update("/home/user/c").digest("hex");
    home.write(
      ".gemini/projects.json",
      JSON.stringify({ projects: { "/home/user/b": "p", "/home/user/c": "elsewhere" } }),
    );
    expect((await infoOf(chatLines()))?.cwd).toBe("/home/user/b");
    home.write(".gemini/tmp/p/.project_root", "/home/user/a\n");
    expect((await infoOf(chatLines()))?.cwd).toBe("/home/user/a");
    home.write(`.gemini/tmp/${hash}/chats/session-x.jsonl`, chatLines());
    const { found } = await discoverAll(geminiSource, home.around);
    const hashed = found.find((f) => f.path.includes(hash));
    expect(hashed && (await geminiSource.describe(hashed)).cwd).toBe("/home/user/c");
  });

  test("an empty chat is described by its name", async () => {
    expect(await infoOf("")).toEqual({
      agent: "gemini",
      id: "2026-06-01T00-00-abcdefgh",
      path: expect.any(String),
      bytes: 0,
      modifiedAt: 1_700_000_000_000,
    });
  });
});

test.each<[string, string | Uint8Array, boolean]>([
  ["lines", chatLines(user("a", "x")), true],
  ["a document", fixture("sources/gemini/legacy-2.json").subarray(0, 4096), true],
  ["a document in one line", JSON.stringify(JSON.parse(chatDocument([user("a", "x")]))), true],
  [
    "a document in one long line, cut",
    JSON.stringify(JSON.parse(chatDocument([user("a", "x".repeat(5000))]))).slice(0, 4096),
    true,
  ],
  ["lines whose header was lost", lines(user("a", "x"), model("b", "1")), true],
  ["an empty file", "", false],
  ["a pi session", fixture("sources/pi/session-v3.jsonl"), false],
  ["a rollout", fixture("sources/codex/rollout-1.jsonl").subarray(0, 4096), false],
  [
    "a record of another agent with a session's id",
    lines({
      parentUuid: null,
      type: "user",
      sessionId: "s",
      uuid: "u",
      message: { role: "user", content: "x" },
      timestamp: header.startTime,
    }),
    false,
  ],
])("a chat is told from other files: %s", async (_, content, expected) => {
  expect(await geminiSource.detects("x", Buffer.from(content as string))).toBe(expected);
});

describe("counting", () => {
  async function check(content: string | Uint8Array): Promise<CheckReport> {
    home ??= makeHome();
    const log = await geminiSource.open(home.write(`${CHATS}/${NAME}.jsonl`, content));
    try {
      return await log.check();
    } finally {
      await log.close();
    }
  }

  interface Document {
    readonly messages: readonly {
      readonly type: string;
      readonly tokens?: { readonly output: number };
      readonly toolCalls?: readonly { readonly id: string; readonly status: string }[];
    }[];
  }

  test.each(["legacy-1.json.gz", "legacy-2.json"])("%s is counted as its document says", async (name) => {
    const bytes = fixture(`sources/gemini/${name}`);
    const { messages } = JSON.parse(bytes.toString()) as Document;
    const calls = messages.flatMap((m) => m.toolCalls ?? []);
    expect(await check(bytes)).toMatchObject({
      bytes: bytes.length,
      damaged: [],
      unknownKinds: [],
      toolCalls: calls.length,
      toolResults: calls.filter((c) => /^(success|error|cancelled)$/.test(c.status)).length,
      modelMessages: messages.filter((m) => m.type === "gemini").length,
      outputTokens: messages.reduce((sum, m) => sum + (m.tokens?.output ?? 0), 0),
      turns: messages.filter((m) => m.type === "user").length,
      openTurn: false,
    });
  });

  test("the real documents, by hand", async () => {
    const figures = [];
    for (const name of ["legacy-1.json.gz", "legacy-2.json"]) {
      const { toolCalls, toolResults, unansweredCalls, modelMessages, outputTokens, turns } = await check(
        fixture(`sources/gemini/${name}`),
      );
      figures.push([toolCalls, toolResults, unansweredCalls, modelMessages, outputTokens, turns]);
    }
    expect(figures).toEqual([
      [9, 9, 0, 11, 717, 1],
      [3, 3, 0, 4, 194, 2],
    ]);
  });

  test("a message told again counts once, with its greatest tokens; a history set at once is one record", async () => {
    const content = chatLines(
      user("a", "x"),
      model("b", "1", { toolCalls: [call("t", "executing")] }),
      model("b", "1", { toolCalls: [call("t", "success")], ...tokens(9) }),
      model("b", "1", { toolCalls: [call("t", "success")], ...tokens(159) }),
      { $set: { messages: [user("a", "x"), model("b", "1", tokens(9))] } },
      { $rewindTo: "a" },
      info("i", "note"),
    );
    expect(await check(content)).toMatchObject({
      records: 8,
      recordKinds: { session: 1, user: 1, gemini: 3, $set: 1, $rewindTo: 1, info: 1 },
      toolCalls: 1,
      toolResults: 1,
      modelMessages: 1,
      outputTokens: 159,
      turns: 1,
    });
  });

  test("nothing is counted that was never recorded", async () => {
    const report = await check(chatLines(user("a", "x")));
    expect("outputTokens" in report).toBe(false);
    expect("compactions" in report).toBe(false);
    expect(report.openTurn).toBe(true);
  });

  test("gem#26425: a torn last record is told, and the rest is read", async () => {
    const content = chatLines(user("a", "one"), model("b", "1"));
    home = makeHome();
    const log = await geminiSource.open(home.write(`${CHATS}/${NAME}.jsonl`, content.slice(0, -20)));
    const page = await log.tail(10);
    expect(page.entries).toHaveLength(1);
    expect(page.damage).toMatchObject([{ reason: "torn", end: content.length - 20 }]);
    expect((await log.first(10)).damage).toHaveLength(1);
    expect(await log.check()).toMatchObject({ records: 2, damaged: [{ reason: "torn" }] });
    await log.close();
  });

  test("damage between messages keeps its place, and is told on its page alone", async () => {
    const parts = [chatLines(user("a", "one")), "\0\0\0\0\n", lines(user("b", "two"), user("c", "three"))];
    home = makeHome();
    const log = await geminiSource.open(home.write(`${CHATS}/${NAME}.jsonl`, parts.join("")));
    const kinds = (await log.tail(10)).entries.map((e) => e.kind);
    expect(kinds).toEqual(["delivered", "raw", "delivered", "delivered"]);
    expect((await log.tail(1)).damage).toEqual([]);
    expect((await log.tail(3)).damage).toHaveLength(1);
    await log.close();
  });

  test("an empty file, and one with a header alone, are empty chats", async () => {
    expect(await check("")).toMatchObject({ records: 0, modelMessages: 0, damaged: [] });
    expect(await check(chatLines())).toMatchObject({ records: 1, openTurn: false });
  });
});

test("a chat is never written to", async () => {
  const path = fixturePath("sources/gemini/legacy-2.json");
  const before = statSync(path);
  const log = await geminiSource.open(path);
  await log.tail(10);
  await log.check();
  await log.close();
  expect([statSync(path).mtimeMs, statSync(path).size]).toEqual([before.mtimeMs, before.size]);
});
