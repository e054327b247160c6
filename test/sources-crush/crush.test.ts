/** Sessions of Crush in the databases of its projects. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { classifyMessage } from "../../src/sources/crush/message.ts";
import { crushSource } from "../../src/sources/crush/source.ts";
import { openLog } from "../../src/sources/index.ts";
import { dropIdleCopies } from "../../src/sources/sqlite/copy.ts";
import { hashes, writeAhead } from "../support/databases.ts";
import { entryLine, saidLines } from "../support/entry-notation.ts";
import { discoverAll, makeHome } from "../support/home.ts";

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
    `CREATE TABLE sessions(id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, created_at INT, updated_at INT);
     CREATE TABLE messages(id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INT, updated_at INT, finished_at INT);
     INSERT INTO sessions VALUES ('s', NULL, 'It', 1700000000, 1700000009), ('c1', 's', 'Child', 1700000000, 1700000001);`,
  );
  writer
    .prepare("INSERT INTO messages VALUES ('m1', 's', 'user', ?, NULL, 1700000000, 1700000000, NULL)")
    .run(JSON.stringify([part("text", { text: "do it" })]));
  const before = hashes(folder);
  const { found, problems } = await discoverAll(crushSource, home.around);
  expect(problems).toEqual([]);
  expect(found.map(({ id, parentId, modifiedAt }) => [id, parentId, modifiedAt])).toEqual([
    ["s", undefined, 1_700_000_009_000],
    ["c1", "s", 1_700_000_001_000],
  ]);
  expect(await crushSource.describe(found[0]!)).toMatchObject({ title: "It", cwd: project });
  const log = await openLog(found[0]!.path);
  expect((await log.tail(10)).entries.map(entryLine)).toEqual(["user: do it"]);
  await log.close();
  expect(hashes(folder)).toEqual(before);
  await dropIdleCopies();
  writer.close();
  home.remove();
});
