/** Sessions of Crush in the databases of its projects. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { classifyMessage } from "../../src/sources/crush/message.ts";
import { crushSource } from "../../src/sources/crush/source.ts";
import { crushTables } from "../../src/sources/crush/tables.ts";
import { openLog } from "../../src/sources/index.ts";
import { dropIdleCopies } from "../../src/sources/sqlite/copy.ts";
import { openSessionStore } from "../../src/sources/sqlite/store.ts";
import { CRUSH_SCHEMA, hashes, writeAhead } from "../support/databases.ts";
import { entryLine, saidLines } from "../support/entry-notation.ts";
import { discoverAll, makeHome } from "../support/home.ts";
import { expectShelfLaws } from "../support/shelf-agents.ts";

const part = (type: string, data: object): object => ({ type, data });
const said = (role: string, parts: object[], more: object = {}): string[] =>
  saidLines(classifyMessage({ value: { id: "m", role, parts, ...more }, index: 0, start: 0, end: 1 }));

test("prompts, calls, results, summaries and how a message ended", () => {
  expect(said("user", [part("text", { text: "do it" })])).toEqual(["user [start]", "  user: do it"]);
  const call = part("tool_call", { id: "c", name: "bash", input: '{"command":"ls"}', finished: true });
  expect(
    said("assistant", [part("reasoning", { thinking: "hm" }), call, part("finish", { reason: "tool_use" })]),
  ).toEqual(["assistant [start automatic]", "  model: think(hm) call(bash c ls)"]);
  expect(said("tool", [part("tool_result", { tool_call_id: "c", content: "no", is_error: true })])).toEqual([
    "tool",
    "  result c failed: no",
  ]);
  const end = (reason: string): object => part("finish", { reason, message: "why" });
  expect(
    said("assistant", [part("text", { text: "so far" }), end("end_turn")], { is_summary_message: 1 })[1],
  ).toBe("  compacted: so far");
  const wounds = ["canceled", "max_tokens", "error"].map((reason) => {
    const value = { id: "m", role: "assistant", parts: [end(reason)] };
    return classifyMessage({ value, index: 0, start: 0, end: 1 }).entries.at(-1);
  });
  expect(wounds).toMatchObject([
    { wound: { kind: "interrupted" } },
    { wound: { kind: "output-limit" } },
    { wound: { kind: "spoke", words: "why" } },
  ]);
});

test("what the program put in, commands of the person, refusals, and images", () => {
  expect(
    said("user", [
      part("text", { text: "go on", hidden: true }),
      part("shell_command", { command: "ls", output: "a\n", exit_code: 2 }),
      part("finish", { reason: "stop" }),
    ]),
  ).toEqual(["user", "  system/context: go on", "  system/command: $ ls\na\n\n(exit code 2)"]);
  expect(
    said("user", [
      part("image_url", { url: "data:image/png;base64,AAAA" }),
      part("binary", { Path: "a.png", MIMEType: "image/png", Data: "AAAA" }),
    ])[1],
  ).toBe("  user:  [image/png 3] [image/png 3 a.png]");
  expect(
    said("tool", [
      part("tool_result", { tool_call_id: "c", content: "", data: "AAAA", mime_type: "image/png" }),
    ])[1],
  ).toBe("  result c done:  [image/png 3]");
  expect(said("assistant", [part("finish", { reason: "content_filter", message: "no" })]).at(-1)).toBe(
    "  wounded refused: no",
  );
});

/** Everything that a message of Crush may hold, by its kind. */
test.each([
  "text",
  "reasoning",
  "image_url",
  "binary",
  "tool_call",
  "tool_result",
  "finish",
  "shell_command",
])("a part %s is known", (type) => {
  for (const role of ["user", "assistant", "tool"]) {
    const value = { id: "m", role, parts: [part(type, {})] };
    const told = classifyMessage({ value, index: 0, start: 0, end: 1 });
    expect([role, told.known]).toEqual([role, true]);
    expect(told.entries.length > 0).toBe(role === "assistant" || type !== "finish");
  }
});

test("a message without an end is unfinished; a part of an unknown kind is shown and named", () => {
  const meaning = (parts: object[]): unknown =>
    classifyMessage({ value: { id: "m", role: "assistant", parts }, index: 0, start: 0, end: 1 });
  expect(meaning([part("text", { text: "I" })])).toMatchObject({ entries: [{ unfinished: true }] });
  expect(meaning([part("dream", {})])).toMatchObject({ kind: "assistant part/dream", known: false });
});

test("the databases of the known projects are listed and opened, and not touched", async () => {
  const home = makeHome();
  const project = join(home.path, "p");
  home.write(
    ".local/share/crush/projects.json",
    JSON.stringify({ projects: [{ path: project, data_dir: ".crush" }, 7] }),
  );
  const folder = join(project, ".crush");
  mkdirSync(folder, { recursive: true });
  const writer = writeAhead(
    join(folder, "crush.db"),
    `${CRUSH_SCHEMA}
     INSERT INTO sessions(id, parent_session_id, title, created_at, updated_at)
       VALUES ('s', NULL, 'It', 1700000000, 1700000009), ('c1', 's', 'New Session', 1700000000, 1700000001);`,
  );
  writer
    .prepare(
      "INSERT INTO messages(id, session_id, role, parts, created_at, updated_at) VALUES ('m1', 's', 'user', ?, 1, 1), ('m2', 'c1', 'user', ?, 1, 1)",
    )
    // The column was made for bytes: both kinds of cells are read.
    .run(
      JSON.stringify([part("text", { text: "do it" })]),
      Buffer.from(JSON.stringify([part("text", { text: "a child's task" })])),
    );
  const before = hashes(folder);
  const { found, problems } = await discoverAll(crushSource, home.around);
  expect(problems).toEqual([]);
  expect(found.map(({ id, parentId, modifiedAt }) => [id, parentId, modifiedAt])).toEqual([
    ["s", undefined, 1_700_000_009_000],
    ["c1", "s", 1_700_000_001_000],
  ]);
  expect(await crushSource.describe(found[0]!)).toMatchObject({ title: "It", cwd: project });
  expect(await crushSource.describe(found[1]!)).toMatchObject({ title: "a child's task", cwd: project });
  const log = await openLog(found[0]!.path);
  expect((await log.tail(10)).entries.map(entryLine)).toEqual(["user: do it"]);
  await log.close();
  expect(hashes(folder)).toEqual(before);
  await dropIdleCopies();
  writer.close();
  home.remove();
});

test("read in every way, and followed row by row, a session is one", async () => {
  const home = makeHome();
  const path = join(home.path, "crush.db");
  const database = writeAhead(path, CRUSH_SCHEMA);
  let n = 0;
  await expectShelfLaws(() => {
    n += 1;
    const id = `s${n}`;
    const put = (message: string, role: string, parts: object[], updated: number): void =>
      database
        .prepare(
          `INSERT INTO messages(id, session_id, role, parts, created_at, updated_at) VALUES (?, ?, ?, ?, 1, ?)
           ON CONFLICT(id) DO UPDATE SET parts = excluded.parts, updated_at = excluded.updated_at`,
        )
        .run(`${id}-${message}`, id, role, JSON.stringify(parts), updated);
    const words = part("text", { text: "I look" });
    const call = part("tool_call", { id: "c", name: "bash", input: '{"command":"ls"}', finished: true });
    return {
      open: () => openSessionStore(path, crushTables, id),
      writes: [
        () =>
          database.run(
            `INSERT INTO sessions(id, title, created_at, updated_at) VALUES ('${id}', 'It', 1, 1)`,
          ),
        () => put("m1", "user", [part("text", { text: "do it" })], 1),
        () => put("m2", "assistant", [], 1),
        () => put("m2", "assistant", [words], 1),
        () => put("m2", "assistant", [words, call], 2),
        () => put("m2", "assistant", [words, call, part("finish", { reason: "tool_use" })], 2),
        () => put("m3", "tool", [part("tool_result", { tool_call_id: "c", content: "a" })], 2),
        () =>
          put("m4", "assistant", [part("text", { text: "Done" }), part("finish", { reason: "end_turn" })], 3),
        () => put("m5", "user", [part("text", { text: "and now?" })], 4),
      ],
    };
  });
  await dropIdleCopies();
  database.close();
  home.remove();
});
