/** Sessions of Goose: its database, and the files it kept before. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { classifyMessage } from "../../src/sources/goose/message.ts";
import { gooseSource } from "../../src/sources/goose/source.ts";
import { openLog } from "../../src/sources/index.ts";
import { dropIdleCopies } from "../../src/sources/sqlite/copy.ts";
import type { Database } from "../../src/sqlite/index.ts";
import { hashes, writeAhead } from "../support/databases.ts";
import { entryLine, saidLines } from "../support/entry-notation.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";

const text = (words: string): object => ({ type: "text", text: words });
const call = (id: string, name: string, input: object): object => ({
  type: "toolRequest",
  id,
  toolCall: { status: "success", value: { name, arguments: input } },
});
const answer = (id: string, toolResult: object): object => ({ type: "toolResponse", id, toolResult });
const said = (role: string, content: object[], more: object = {}): string[] =>
  saidLines(classifyMessage({ role, created: 1_700_000_000, content, ...more }, "k"));

let home: Home;
let writer: Database | undefined;
beforeEach(() => {
  home = makeHome();
});
afterEach(async () => {
  await dropIdleCopies();
  writer?.close();
  writer = undefined;
  home.remove();
});

test("prompts, calls, results and what is for the model alone", () => {
  expect(said("user", [text("do it")])).toEqual(["user [start]", "  user: do it"]);
  expect(said("assistant", [text("I look"), call("c", "shell", { command: "ls" })])).toEqual([
    "assistant [start automatic]",
    '  model: "I look" call(shell c ls)',
  ]);
  expect(said("user", [answer("c", { status: "success", value: [text("a\nb")] })])).toEqual([
    "user",
    "  result c done: a\nb",
  ]);
  expect(
    said("user", [answer("c", { status: "success", value: { content: [text("bad")], isError: true } })]),
  ).toEqual(["user", "  result c failed: bad"]);
  expect(said("user", [answer("c", { status: "error", error: "no" })])).toEqual([
    "user",
    "  result c failed: no",
  ]);
  expect(said("user", [text("so far")], { metadata: { userVisible: false } })).toEqual([
    "user/hidden",
    "  system/context: so far",
  ]);
});

test("a piece of an unknown kind is shown, and named by the check", () => {
  expect(classifyMessage({ role: "assistant", content: [{ type: "dream" }] }, "k")).toMatchObject({
    kind: "assistant part/dream",
    known: false,
  });
  expect(classifyMessage(7, "k")).toMatchObject({ known: false, entries: [{ kind: "raw" }] });
});

test("the database and the older files are one list, each session once, and nothing is touched", async () => {
  const folder = ".local/share/goose/sessions";
  const file = (id: string): string =>
    home.write(
      `${folder}/${id}.jsonl`,
      lines(
        { working_dir: "/w", description: "Old", message_count: 1 },
        { role: "user", created: 1_700_000_000, content: [text("old words")] },
      ),
    );
  file("20250101_120000");
  file("20260101_1");
  const path = join(home.path, folder, "sessions.db");
  writer = writeAhead(
    path,
    `CREATE TABLE sessions(id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, created_at TIMESTAMP, updated_at TIMESTAMP, archived_at TIMESTAMP, session_type TEXT);
     CREATE TABLE messages(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INT, metadata_json TEXT);
     INSERT INTO sessions VALUES ('20260101_1', 'It', '/w', '2026-01-01 10:00:00', '2026-01-01 11:00:00', '2026-02-01 11:00:00', 'user');
     INSERT INTO sessions VALUES ('20260101_2', 'x', '/w', '2026-01-01 10:00:00', '2026-01-01 11:00:00', NULL, 'hidden')`,
  );
  const add = writer.prepare("INSERT INTO messages VALUES (NULL, '20260101_1', ?, ?, 1700000000, NULL)");
  add.run("user", JSON.stringify([text("do it")]));
  add.run("assistant", JSON.stringify([call("c", "shell", { command: "ls" })]));
  add.run("user", JSON.stringify([answer("c", { status: "success", value: [text("a")] })]));
  const before = hashes(join(home.path, folder));
  const { found, problems } = await discoverAll(gooseSource, home.around);
  expect(problems).toEqual([]);
  expect(found.map(({ id, archived }) => [id, archived])).toEqual([
    ["20260101_1", true],
    ["20250101_120000", undefined],
  ]);
  expect(await gooseSource.describe(found[0]!)).toMatchObject({
    title: "It",
    cwd: "/w",
    startedAt: Date.UTC(2026, 0, 1, 10),
    modifiedAt: Date.UTC(2026, 0, 1, 11),
  });
  expect(await gooseSource.describe(found[1]!)).toMatchObject({ title: "Old", cwd: "/w" });
  const shown: string[][] = [];
  for (const { path: each } of found) {
    const log = await openLog(each);
    expect(log.agent).toBe("goose");
    shown.push((await log.tail(10)).entries.map(entryLine));
    await log.close();
  }
  expect(shown).toEqual([
    ["user: do it", "model: call(shell c ls → done)", "result c done 0ms: a"],
    ["user: old words"],
  ]);
  expect(hashes(join(home.path, folder))).toEqual(before);
});
