/** Chat histories of Aider: what their sections mean, read in every way, followed while they grow. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { bytesOf } from "../../src/lines/index.ts";
import { kindOf, scanSections } from "../../src/sources/aider/sections.ts";
import { aiderFormat, aiderSource } from "../../src/sources/aider/source.ts";
import { expectCaughtUp, expectDocumentLaws, openDocument, told } from "../support/document-agents.ts";
import { fixture } from "../support/fixtures.ts";
import { discoverAll, type Home, makeHome } from "../support/home.ts";
import { cutAt, cutPlaces } from "../support/log-laws.ts";
import { Follower } from "../support/watched-log.ts";

let home: Home | undefined;
afterEach(() => {
  home?.remove();
  home = undefined;
});

const run = (when = "2026-06-01 10:00:00"): string =>
  `\n# aider chat started at ${when}\n\n> Aider v0.86.1  \n> Main model: m/one with diff edit format  \n> Git repo: .git with 2 files  \n`;
const prompt = (...lines: string[]): string => `\n${lines.map((line) => `#### ${line}  `).join("\n")}\n`;
const answer = (words: string): string => `\n${words}\n`;
const note = (words: string): string => `\n> ${words}  \n`;

const parts = [
  run(),
  prompt("one é😀", "and more"),
  answer("I look.\n\n```py\nx = 1\n```\n\n- a"),
  note("Tokens: 4.2k sent, 1.1k received."),
  note("Applied edit to a.py"),
  prompt("two"),
  run("2026-06-02 10:00:00"),
  prompt("three"),
  answer("Done."),
];
const whole = parts.join("");
const states = parts.map((_, at) => parts.slice(0, at + 1).join(""));

expectDocumentLaws({
  kinds: { shown: ["answer", "note", "prompt", "run"], silent: [], unknown: [] },
  format: aiderFormat,
  sessions: {
    "a history": whole,
    "with carriage returns": whole.replaceAll("\n", "\r\n"),
    "with a lone carriage return": whole.replace("I look.", "I\rlook."),
    "behind a byte order mark": `\ufeff${whole.trimStart()}`,
  },
  states,
  promptOf: (words) => `${run()}\n${words.replaceAll("\n", "\n#### ").replace(/^/, "#### ")}\n`,
  largeOf: (count) =>
    run() + Array.from({ length: count / 2 }, (_, i) => prompt(`p${i}`) + answer("x".repeat(1000))).join(""),
});

test("sections of a history", async () => {
  expect(await told(aiderFormat, whole)).toEqual([
    "system/run: aider chat started at 2026-06-01 10:00:00",
    "system/notice: Aider v0.86.1\nMain model: m/one with diff edit format\nGit repo: .git with 2 files",
    "user: one é😀\nand more",
    'model: "I look.\n\n```py\nx = 1\n```\n\n- a"',
    "system/notice: Tokens: 4.2k sent, 1.1k received.\n\nApplied edit to a.py",
    "user: two",
    "system/run: aider chat started at 2026-06-02 10:00:00",
    "system/notice: Aider v0.86.1\nMain model: m/one with diff edit format\nGit repo: .git with 2 files",
    "user: three",
    'model: "Done."',
  ]);
});

test.each([
  ["# aider chat started at 2026", "run"],
  ["# a heading", "answer"],
  ["#### do it", "prompt"],
  ["####", "prompt"],
  ["####\r", "prompt"],
  ["##### deeper", "answer"],
  ["> said", "note"],
  [">", "note"],
  [">x", "answer"],
  ["  ", undefined],
  ["\r", undefined],
  ["word", "answer"],
])("a line tells its kind: %j", (line, kind) => {
  expect(kindOf(line)).toBe(kind);
});

test("sections are the same, however the bytes come", async () => {
  const bytes = Buffer.from(whole);
  const all = async (size: number): Promise<unknown[]> => {
    const source = bytesOf(bytes);
    const pieces = { ...source, read: (at: number, n: number) => source.read(at, Math.min(n, size)) };
    const found = [];
    for await (const batch of scanSections(pieces, 0, bytes.length)) found.push(...batch);
    return found;
  };
  const expected = await all(1_000_000);
  for (const size of [1, 2, 3, 5, 7, 31, 32, 33, 100]) expect(await all(size)).toEqual(expected);
});

test("written in any pieces, it is followed to what the whole says", async () => {
  await fc.assert(
    fc.asyncProperty(cutPlaces, async (places) => {
      const [first, ...rest] = cutAt(Buffer.from(whole), [0, ...places]);
      const { path, log, looks } = await openDocument(aiderFormat, first ?? "");
      const follower = new Follower(log, looks);
      for (const piece of rest) {
        appendFileSync(path, piece);
        await follower.look();
        await follower.look();
        await expectCaughtUp(log, follower);
      }
      expect(follower.told.resets).toBe(0);
      expect((await log.tail(100)).entries).toHaveLength(10);
      await follower.stop();
    }),
    { numRuns: 20 },
  );
});

test("a history whose beginning was changed is read anew", async () => {
  const { path, log, looks } = await openDocument(aiderFormat, whole);
  const follower = new Follower(log, looks);
  await follower.look();
  writeFileSync(path, whole.replace("one é😀", "another one") + prompt("four"));
  await follower.look();
  await follower.look();
  await expectCaughtUp(log, follower);
  expect(
    (await log.tail(100)).entries.some((e) => e.kind === "delivered" && e.body.includes("another")),
  ).toBe(true);
  await follower.stop();
});

test("what is in it is counted", async () => {
  const { log } = await openDocument(aiderFormat, whole);
  expect(await log.check()).toMatchObject({
    agent: "aider",
    records: 10,
    recordKinds: { answer: 2, note: 3, prompt: 3, run: 2 },
    unknownKinds: [],
    turns: 3,
    openTurn: false,
    damaged: [],
  });
});

describe("finding", () => {
  test("a history is named by its folder, and described by its first run, its model and its first prompt", async () => {
    home = makeHome();
    home.write(".aider.chat.history.md", whole);
    const { found, problems } = await discoverAll(aiderSource, home.around);
    expect(problems).toEqual([]);
    expect(found.map((f) => f.path)).toEqual([join(home.path, ".aider.chat.history.md")]);
    expect(found[0] && (await aiderSource.describe(found[0]))).toMatchObject({
      agent: "aider",
      title: "one é😀",
      cwd: home.path,
      model: "m/one",
      agentVersion: "0.86.1",
      startedAt: Date.parse("2026-06-01 10:00:00"),
    });
  });

  test("one that a setting names", async () => {
    home = makeHome();
    const path = home.write("w/chat.md", whole);
    const around = { ...home.around, env: { AIDER_CHAT_HISTORY_FILE: path } };
    expect((await discoverAll(aiderSource, around)).found.map((f) => [f.id, f.path])).toEqual([
      ["chat", path],
    ]);
  });

  test.each<[string, string | Uint8Array, boolean]>([
    ["a history", whole, true],
    ["Markdown of another kind", "# A heading\n\n#### x\n", false],
    ["a transcript of Claude Code", fixture("sources/claude-code/tiny.jsonl"), false],
    ["an empty file", "", false],
  ])("a history is told from other files: %s", async (_, content, expected) => {
    expect(await aiderSource.detects("x", Buffer.from(content as string))).toBe(expected);
  });
});
