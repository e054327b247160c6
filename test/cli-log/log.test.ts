/** `hansard log` and `hansard fork`: the records of our own sessions. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLogForRead } from "../../src/log/index.ts";
import { run } from "../cli/support.ts";
import { fixture } from "../support/fixtures.ts";
import { makeStateHome, prompt, type StateHome, turn } from "./support.ts";

let home: StateHome;
beforeEach(() => {
  home = makeStateHome();
});
afterEach(() => home.remove());

async function threeTurns(): Promise<string> {
  return home.session("talk-1", async (log) => {
    await log.append({ kind: "set", key: "title", value: "A talk" });
    for (const text of ["one", "two", "three"]) await log.append(turn(text));
  });
}

interface Row {
  readonly start: number;
  readonly end: number;
  readonly record?: { readonly seq: number; readonly kind: string };
  readonly damage?: string;
}
const rowsOf = (out: string): Row[] =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);

describe("log", () => {
  test("tells each record in a line: its number, its time, its kind, what it holds", async () => {
    await threeTurns();
    const { code, out, err } = await run(home, ["log", "talk"]);
    expect([code, err]).toEqual([0, ""]);
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(15);
    expect(lines[0]).toMatch(/^ {5}1 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}session {2}id=talk-1 cwd=\/w$/);
    expect(lines[1]).toMatch(/ set {2}title = A talk$/);
    expect(lines[2]).toMatch(/ turnStarted {2}turn=1$/);
    expect(lines[3]).toMatch(/ message {2}user: one$/);
    expect(lines[14]).toMatch(/ closed$/);
  });

  test("as JSON, one record a line with its place, which hold the whole log", async () => {
    const path = await threeTurns();
    const { code, out } = await run(home, ["log", "talk-1", "--json"]);
    const rows = rowsOf(out);
    expect(code).toBe(0);
    expect(rows.map((row) => row.record?.seq)).toEqual(rows.map((_, i) => i + 1));
    expect(rows.at(0)?.start).toBe(0);
    for (const [i, row] of rows.entries()) expect(row.start).toBe(i === 0 ? 0 : rows[i - 1]?.end);
    expect(rows.at(-1)?.end).toBe(readFileSync(path).length);
  });

  test("with a limit, the newest only", async () => {
    await threeTurns();
    const { out } = await run(home, ["log", "talk-1", "--json", "--limit", "3"]);
    expect(rowsOf(out).map((row) => row.record?.seq)).toEqual([13, 14, 15]);
    const all = await run(home, ["log", "talk-1", "--json", "--limit", "9999"]);
    expect(rowsOf(all.out)).toHaveLength(15);
  });

  test("damage stands in its place, and the exit code says it", async () => {
    const path = await threeTurns();
    const bytes = readFileSync(path);
    bytes[bytes.indexOf('"two"') + 1] = 0x54;
    writeFileSync(path, bytes);
    const json = await run(home, ["log", "talk-1", "--json"]);
    const rows = rowsOf(json.out);
    expect(json.code).toBe(7);
    expect(rows[7]).toMatchObject({ damage: "crc", start: rows[6]?.end, end: rows[8]?.start });
    const human = await run(home, ["log", "talk-1"]);
    expect(human.out.split("\n")[7]).toBe(
      `     !  bytes ${rows[7]?.start}-${rows[7]?.end} are no record (crc)`,
    );
  });

  test("control characters of a record reach no terminal", async () => {
    await home.session("s", (log) => log.append(prompt("a\u001b[2Jb\nc", "t")));
    const { out } = await run(home, ["log", "s"], { isTTY: true, columns: 80 });
    expect(out).not.toContain("\u001b");
    expect(out.split("\n").every((line) => line.length <= 80)).toBe(true);
  });

  test("a reader who leaves ends it quietly", async () => {
    await threeTurns();
    expect((await run(home, ["log", "talk-1"], { writesMax: 0 })).code).toBe(0);
  });

  test.each([
    ["nobody", 3, 'No session is named "nobody"'],
    ["./other.jsonl", 6, "is no session log of Hansard's own"],
  ])("%s is refused", async (name, code, words) => {
    home.write("other.jsonl", fixture("sources/codex/rollout-1.jsonl"));
    const told = await run(home, ["log", name]);
    expect(told.code).toBe(code);
    expect(told.err).toContain(words);
  });
});

describe("fork", () => {
  async function messages(id: string): Promise<string[]> {
    const reader = await openLogForRead({ sessions: home.sessions, id });
    const ids: string[] = [];
    for await (const item of reader.items())
      if (item.type === "record" && item.record.kind === "message")
        ids.push((item.record as unknown as { readonly turnId: string }).turnId);
    await reader.close();
    return ids;
  }

  test.each([
    [[], ["one-1", "one-2", "two-1", "two-2", "three-1", "three-2"]],
    [
      ["--at", "2"],
      ["one-1", "one-2", "two-1", "two-2"],
    ],
    [
      ["--at", "two-1"],
      ["one-1", "one-2", "two-1"],
    ],
  ])("%j takes what leads there", async (options, expected) => {
    await threeTurns();
    const { code, out, err } = await run(home, ["fork", "talk-1", ...options]);
    expect(code).toBe(0);
    expect(err).toContain(`${expected.length} entries`);
    expect(await messages(out.trim())).toEqual(expected);
    const listed = await run(home, ["list", "--json"]);
    expect(listed.out).toContain(`"id":"${out.trim()}"`);
    expect(listed.out).toContain('"forkedFromId":"talk-1"');
  });

  test.each([
    [["--at", "9"], 2, "has no message in a turn 9"],
    [["--at", "nothing"], 2, "no message"],
  ])("%j is refused, and nothing is left", async (options, code, words) => {
    await threeTurns();
    const told = await run(home, ["fork", "talk-1", ...options]);
    expect([told.code, told.out]).toEqual([code, ""]);
    expect(told.err).toContain(words);
    expect((await run(home, ["list", "--json"])).out.trimEnd().split("\n")).toHaveLength(1);
  });

  test("a session without messages has nothing to fork", async () => {
    await home.session("empty", async () => {});
    const told = await run(home, ["fork", "empty"]);
    expect([told.code, told.err]).toEqual([2, "hansard: Session empty holds no message to fork at.\n"]);
  });
});

test("a session of ours is listed, shown and checked like any other", async () => {
  await threeTurns();
  const listed = await run(home, ["list"]);
  expect(listed.out).toMatch(/hansard +A talk/);
  const shown = await run(home, ["show", "last"]);
  expect(shown.out).toContain("on three");
  const checked = await run(home, ["check", "A talk", "--json"]);
  expect(JSON.parse(checked.out)).toMatchObject({ agent: "hansard", turns: 3, openTurn: false, damaged: [] });
});
