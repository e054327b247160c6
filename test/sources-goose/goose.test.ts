/** Sessions of Goose: its database, and the files it kept before. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { classifyMessage } from "../../src/sources/goose/message.ts";
import { gooseSource } from "../../src/sources/goose/source.ts";
import { gooseTables } from "../../src/sources/goose/tables.ts";
import { openLog } from "../../src/sources/index.ts";
import { dropIdleCopies } from "../../src/sources/sqlite/copy.ts";
import { openSessionStore } from "../../src/sources/sqlite/store.ts";
import type { Database } from "../../src/sqlite/index.ts";
import { GOOSE_SCHEMA, hashes, writeAhead } from "../support/databases.ts";
import { entryLine, saidLines } from "../support/entry-notation.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";
import { expectShelfLaws } from "../support/shelf-agents.ts";

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

test("what the person is asked, told of the context, and calls that could not be understood", () => {
  const asked = (actionType: string, data: object): object => ({
    type: "actionRequired",
    data: { actionType, id: "a", ...data },
  });
  expect(
    said("assistant", [
      asked("toolConfirmation", { toolName: "shell", arguments: {} }),
      asked("elicitation", { message: "Which?" }),
      { type: "systemNotification", notificationType: "inlineMessage", msg: "Compacted" },
      { type: "toolRequest", id: "c", toolCall: { status: "error", error: "no such tool" } },
    ]),
  ).toEqual([
    "assistant [start automatic]",
    "  model: call(c)",
    "  system/permission: shell",
    "  system/permission: Which?",
    "  system/notice: Compacted",
  ]);
});

/** Everything that a message of Goose may hold, by its kind; what gives nothing to show is named. */
test.each([
  ["text", { text: "x" }, true],
  ["image", { data: "AAAA", mimeType: "image/png" }, true],
  ["toolRequest", { id: "c", toolCall: { status: "success", value: { name: "n" } } }, true],
  ["toolResponse", { id: "c", toolResult: { status: "success", value: [] } }, true],
  ["toolConfirmationRequest", { toolName: "shell" }, true],
  ["actionRequired", { data: { actionType: "elicitationResponse", id: "a", userData: 7 } }, true],
  ["frontendToolRequest", { id: "c", toolCall: {} }, true],
  ["thinking", { thinking: "hm", signature: "s" }, true],
  ["redactedThinking", { data: "x" }, false],
  ["systemNotification", { notificationType: "thinkingMessage", msg: "hm" }, true],
  ["contextLengthExceeded", { msg: "x" }, true],
  ["summarizationRequested", { msg: "x" }, true],
  ["conversationCompacted", { msg: "x" }, true],
] as const)("a piece %s is known, and shown: %j", (type, more, isShown) => {
  const { known, entries } = classifyMessage({ role: "assistant", content: [{ type, ...more }] }, "k");
  expect([known, entries.length > 0]).toEqual([true, isShown]);
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
    `${GOOSE_SCHEMA} ALTER TABLE sessions ADD COLUMN archived_at TIMESTAMP;
     INSERT INTO sessions(id, name, working_dir, created_at, updated_at, archived_at, session_type, model_config_json) VALUES
       ('20260101_1', 'It', '/w', '2026-01-01 10:00:00', '2026-01-01 11:00:00', '2026-02-01 11:00:00', 'user', '{"model_name":"gpt"}'),
       ('20260101_2', 'x', '/w', '2026-01-01 10:00:00', '2026-01-01 11:00:00', NULL, 'hidden', NULL)`,
  );
  const add = writer.prepare(
    "INSERT INTO messages(session_id, role, content_json, created_timestamp) VALUES ('20260101_1', ?, ?, 1700000000)",
  );
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
    model: "gpt",
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

test("read in every way, and followed row by row, a session is one, also when it is written anew", async () => {
  const path = join(home.path, "sessions.db");
  writer = writeAhead(path, GOOSE_SCHEMA);
  const database = writer;
  let n = 0;
  await expectShelfLaws(() => {
    n += 1;
    const id = `s${n}`;
    const add = (message: string, role: string, content: object[], metadata: object | null = null): void => {
      database
        .prepare(
          "INSERT INTO messages(message_id, session_id, role, content_json, created_timestamp, metadata_json) VALUES (?, ?, ?, ?, 1, ?)",
        )
        .run(message, id, role, JSON.stringify(content), metadata === null ? null : JSON.stringify(metadata));
    };
    const turn: readonly (() => void)[] = [
      () => add("m1", "user", [text("do it")]),
      () => add("m2", "assistant", [text("I look"), call("c", "shell", { command: "ls" })]),
      () => add("m3", "user", [answer("c", { status: "success", value: [text("a")] })]),
      () => add("m4", "assistant", [text("Done.")]),
    ];
    return {
      open: () => openSessionStore(path, gooseTables, id),
      writes: [
        () =>
          database.run(`INSERT INTO sessions(id, name, working_dir) VALUES ('${id}', 'CLI Session', '/w')`),
        ...turn,
        // Compacting, it takes all rows out and writes them again, under their own ids.
        () => {
          database.run(`BEGIN; DELETE FROM messages WHERE session_id = '${id}'`);
          for (const write of turn) write();
          add("m5", "user", [text("so far")], { userVisible: false, agentVisible: true });
          database.run("COMMIT");
        },
        () => add("m6", "user", [text("and now?")]),
      ],
    };
  });
  const found = { agent: "goose", id: "s1", path: `${path}#s1`, bytes: 1, modifiedAt: 1 } as const;
  expect(await gooseSource.describe(found)).toMatchObject({ title: "do it" });
  writer.run("UPDATE sessions SET user_set_name = 1 WHERE id = 's1'");
  expect(await gooseSource.describe(found)).toMatchObject({ title: "CLI Session", titled: true });
});
