// What is listed, in which order, and what is said where there is nothing or something cannot be read.
import { appendFile, mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { uniqueStarts } from "../../src/cli/list.ts";
import { emptyHomeEnv, type Home } from "../support/agents-home.ts";
import { jsonLines, run, tempFolder, tempHome } from "./support.ts";

const order = [
  "pi",
  "titled",
  "codexLive",
  "geminiChat",
  "compacted",
  "messages",
  "geminiLegacy",
  "codexArchived",
  "codexCold",
  "pending",
] as const;

test("every agent's sessions, newest first, with agent, path, size and time", async () => {
  const home = await tempHome();
  const { code, out, err } = await run(home, ["list", "--json"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const rows = jsonLines(out);
  expect(rows.map((row) => row["id"])).toEqual(order.map((name) => home.sessions[name].id));
  for (const [at, name] of order.entries()) expect(rows[at]).toMatchObject({ ...home.sessions[name] });
  for (const row of rows) expect(row["bytes"]).toBeGreaterThan(0);
});

test("cc#21085: titles: the agent's own, else the first prompt; folders from the records", async () => {
  const home = await tempHome();
  const rows = jsonLines((await run(home, ["list", "--json"])).out);
  const byId = (id: string): Record<string, unknown> | undefined => rows.find((row) => row["id"] === id);
  expect(byId(home.sessions.titled.id)).toMatchObject({ title: "Calmon fromour bus hunt", titled: true });
  expect(byId(home.sessions.geminiChat.id)).toMatchObject({
    title: "Which files does the build leave behind?",
  });
  expect(byId(home.sessions.messages.id)).toMatchObject({ title: "How long has the machine been up?" });
  expect(byId(home.sessions.codexLive.id)).toMatchObject({
    cwd: "/sign/poleor/whomrose/Findbellpeamy/ideato",
  });
  expect(byId(home.sessions.codexArchived.id)).toMatchObject({ archived: true });
  expect(byId(home.sessions.codexCold.id)?.["title"]).toBe(byId(home.sessions.codexArchived.id)?.["title"]);
  expect(byId(home.sessions.codexArchived.id)?.["title"]).toEqual(expect.any(String));
});

test("a subagent's file is no session of its own", async () => {
  const home = await tempHome();
  const { out } = await run(home, ["list", "--json"]);
  expect(out).not.toContain(home.subagent);
});

test.each([
  ["claude-code", ["titled", "compacted", "pending"]],
  ["codex", ["codexLive", "codexArchived", "codexCold"]],
  ["gemini", ["geminiChat", "geminiLegacy"]],
  ["pi", ["pi"]],
  ["messages", ["messages"]],
] as const)("--agent %s", async (agent, names) => {
  const home = await tempHome();
  const { out } = await run(home, ["list", "--json", "--agent", agent]);
  expect(jsonLines(out).map((row) => row["id"])).toEqual(names.map((name) => home.sessions[name].id));
});

test("one row a session: age, agent, title, folder, size, id", async () => {
  const home = await tempHome();
  const { out } = await run(home, ["list"]);
  const rows = out.trimEnd().split("\n");
  expect(rows).toHaveLength(order.length);
  expect(rows[1]).toMatch(/^2 h ago +claude-code +Calmon fromour bus hunt .* kB +e0779ef8$/);
});

test("--limit shows the newest and says how many more there are", async () => {
  const home = await tempHome();
  const { out } = await run(home, ["list", "--limit", "2"]);
  expect(out).toContain("… 8 more (hansard list --limit 10)");
  expect(jsonLines((await run(home, ["list", "--json", "--limit", "2"])).out)).toHaveLength(2);
});

test.each([1, 8, 20, 40, 80, 200])(
  "no row is wider than a terminal of %i columns, where it can be",
  async (columns) => {
    const home = await tempHome();
    const { code, out } = await run(home, ["list"], { isTTY: true, columns });
    expect(code).toBe(0);
    const rows = out.split("\n").slice(0, order.length);
    // An id is never cut, and a title has eight cells at least.
    const id = Math.max(...rows.map((row) => (row.split(" ").at(-1) as string).length));
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(Math.max(columns, id + 2 + 8));
  },
);

test("none found: a sentence, every folder that was looked in, and what to do next", async () => {
  const path = await tempFolder();
  const around = { env: emptyHomeEnv(path), home: path, platform: "linux" };
  const { code, out, err } = await run({ around }, ["list"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const lines = out.split("\n");
  expect(lines[0]).toBe("No sessions found. Looked in:");
  for (const folder of [
    ".claude/projects",
    ".codex/sessions",
    ".codex/archived_sessions",
    ".gemini/tmp",
    ".pi/agent/sessions",
  ])
    expect(lines).toContain(`  ${join(path, folder)}`);
  expect(out).toContain("`hansard demo`");
  expect((await run({ around }, ["list", "--json"])).out).toBe("");
});

test("none of one agent: only its folders are named", async () => {
  const path = await tempFolder();
  const around = { env: emptyHomeEnv(path), home: path, platform: "linux" };
  const { out } = await run({ around }, ["list", "--agent", "codex"]);
  expect(out).toContain(join(path, ".codex/sessions"));
  expect(out).not.toContain(".claude");
});

test("the agents' own variables move where it looks", async () => {
  const path = await tempFolder();
  const env = {
    ...emptyHomeEnv(path),
    CLAUDE_CONFIG_DIR: join(path, "a"),
    CODEX_HOME: join(path, "b"),
    GEMINI_CLI_HOME: join(path, "c"),
    PI_CODING_AGENT_DIR: join(path, "d"),
    HANSARD_WORKSPACES: `${join(path, "e")}:${join(path, "f")}`,
  };
  const { out } = await run({ around: { env, home: path, platform: "linux" } }, ["list"]);
  for (const folder of [
    "a/projects",
    "b/sessions",
    "b/archived_sessions",
    "c/.gemini/tmp",
    "d/sessions",
    "e",
    "f",
  ])
    expect(out.split("\n")).toContain(`  ${join(path, folder)}`);
  expect(out).not.toContain(join(path, ".claude"));
});

test("a folder that cannot be read is reported; the others are listed", async () => {
  const home = await tempHome();
  const projects = join(home.path, ".claude/projects");
  await rm(projects, { recursive: true });
  await symlink(projects, projects);
  const { code, out, err } = await run(home, ["list", "--json"]);
  expect(code).toBe(0);
  expect(jsonLines(out)).toHaveLength(7);
  expect(err).toMatch(/^hansard: not listed: .*\.claude\/projects: .*ELOOP/);
});

test("gem#26425: files that describe nothing are listed by name and size", async () => {
  const home = await tempHome();
  const folder = join(home.path, ".claude/projects/-home-user-odd");
  await mkdir(folder);
  await appendFile(join(folder, "11111111-0000-4000-8000-000000000000.jsonl"), "");
  await appendFile(join(folder, "22222222-0000-4000-8000-000000000000.jsonl"), Buffer.alloc(2000));
  const { code, out } = await run(home, ["list", "--json", "--agent", "claude-code"]);
  expect(code).toBe(0);
  expect(jsonLines(out)).toHaveLength(5);
  const text = (await run(home, ["list", "--agent", "claude-code"])).out;
  expect(text).toContain("(no prompt yet)");
});

test("a hostile title, folder or name is shown, never obeyed", async () => {
  const home = await tempHome();
  const hostile = "\u001b]0;owned\u0007\u001b[2J\u202e";
  await appendFile(
    home.sessions.pending.path,
    `${JSON.stringify({ type: "custom-title", customTitle: `look ${hostile} here`, sessionId: "x" })}\n`,
  );
  const { out } = await run(home, ["list"]);
  expect(out).toContain("look ");
  expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});

test("without words: the plain list", async () => {
  const home = await tempHome();
  expect((await run(home, [])).out).toBe((await run(home, ["list"])).out);
});

test("the reader of the list goes away: it ends quietly", async () => {
  const home = await tempHome();
  const { code, writes, err } = await run(home, ["list", "--json"], { writesMax: 1 });
  expect({ code, writes, err }).toEqual({ code: 0, writes: 2, err: "" });
});

test("the id that a row shows opens its session", async () => {
  const home = await tempHome();
  const { out } = await run(home, ["list"]);
  for (const [at, row] of out.trimEnd().split("\n").entries()) {
    const start = row.split("  ").at(-1) as string;
    const told = await run(home, ["check", start, "--json"]);
    expect(JSON.parse(told.out)).toMatchObject({
      path: home.sessions[order[at] as (typeof order)[number]].path,
    });
  }
});

const ids = fc.array(
  fc.oneof(
    fc.uuid(),
    fc.string({ unit: fc.constantFrom("0", "1", "a", "A", "-"), minLength: 1, maxLength: 12 }),
  ),
  { maxLength: 30 },
);

test("an id that two files share is shown as short as any other", () => {
  const id = "2ce5c005-e64a-4490-a4c2-05e53f81a327";
  expect(uniqueStarts([id, "2ce5ffff-e64a-4490-a4c2-05e53f81a327", id])).toEqual([
    "2ce5c005",
    "2ce5ffff",
    "2ce5c005",
  ]);
});

test("an id's shown start is a start of no other id, unless the whole id is", () => {
  fc.assert(
    fc.property(ids, (all) => {
      const starts = uniqueStarts(all);
      for (const [at, start] of starts.entries()) {
        const own = (all[at] as string).toLowerCase();
        expect(own.startsWith(start.toLowerCase())).toBe(true);
        const fits = all.filter((id) => id.toLowerCase().startsWith(start.toLowerCase()));
        if (start.length < own.length) expect(fits.every((id) => id.toLowerCase() === own)).toBe(true);
      }
    }),
  );
});

const listed = async (home: Home, ...words: readonly string[]): Promise<readonly unknown[]> =>
  jsonLines((await run(home, ["list", "--json", ...words])).out).map((row) => row["id"]);
const idsOf = (home: Home, names: readonly (keyof Home["sessions"])[]): readonly unknown[] =>
  names.map((name) => home.sessions[name].id);

test("--title, --cwd and --since choose; --limit counts what was chosen", async () => {
  const home = await tempHome();
  expect(await listed(home, "--title", "CALMON fromour")).toEqual(idsOf(home, ["titled"]));
  const cwd = "/sign/poleor/whomrose/Findbellpeamy";
  const there = idsOf(home, ["codexLive", "codexArchived", "codexCold"]);
  expect((await listed(home, "--cwd", cwd)).every((id) => there.includes(id))).toBe(true);
  expect(await listed(home, "--cwd", `${cwd}/ideato`)).toContain(home.sessions.codexLive.id);
  // A folder whose name goes on is another one.
  expect(await listed(home, "--cwd", `${cwd}/idea`)).toEqual([]);
  expect(await listed(home, "--since", "90m")).toEqual(idsOf(home, ["pi"]));
  expect(await listed(home, "--cwd", cwd, "--limit", "1")).toEqual(idsOf(home, ["codexLive"]));
  const none = await run(home, ["list", "--title", "no such words"]);
  expect([none.code, none.out]).toEqual([0, "None of 10 sessions is like that.\n"]);
  expect((await run(home, ["list", "--since", "yesterday-ish"])).code).toBe(2);
});

test("--sort and --reverse: each key, with what is not known last", async () => {
  const home = await tempHome();
  expect(await listed(home, "--sort", "time")).toEqual(idsOf(home, order));
  expect(await listed(home, "--reverse")).toEqual(idsOf(home, order.toReversed()));
  expect(await listed(home, "--reverse", "--limit", "2")).toEqual(idsOf(home, ["pending", "codexCold"]));
  const rows = jsonLines((await run(home, ["list", "--json"])).out);
  const by = (key: string) => rows.map((row) => row[key]);
  const sizes = by("bytes").toSorted((a, b) => Number(b) - Number(a));
  const got = jsonLines((await run(home, ["list", "--json", "--sort", "size"])).out);
  expect(got.map((row) => row["bytes"])).toEqual(sizes);
  for (const key of ["title", "cwd"]) {
    for (const more of [[], ["--reverse"]]) {
      const sorted = jsonLines((await run(home, ["list", "--json", "--sort", key, ...more])).out);
      const values = sorted.map((row) => row[key] as string | undefined);
      const known = values.filter((value) => value !== undefined);
      expect(values.slice(0, known.length)).toEqual(known);
      const collator = new Intl.Collator("en", { sensitivity: "base", numeric: true });
      const sign = more.length > 0 ? -1 : 1;
      expect(known).toEqual(known.toSorted((a, b) => sign * collator.compare(a, b)));
      expect(values).toHaveLength(rows.length);
    }
  }
  const agents = jsonLines((await run(home, ["list", "--json", "--sort", "agent", "--limit", "3"])).out);
  expect(agents.map((row) => row["agent"])).toEqual(["claude-code", "claude-code", "claude-code"]);
  expect((await run(home, ["list", "--sort", "colour"])).code).toBe(2);
});
