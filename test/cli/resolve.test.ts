// From what a person typed to one session.
import { cp, symlink, utimes } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { expect, test } from "vitest";
import { CANDIDATES_MAX, findSessions, resolveSession } from "../../src/cli/resolve.ts";
import { emptyHomeEnv, type Home } from "../support/agents-home.ts";
import { NOW, run, tempFolder, tempHome } from "./support.ts";

/** The session that `check` says a name means. */
async function meant(home: Home, name: string, cwd?: string): Promise<string> {
  const { out, err } = await run(home, ["check", name, "--json"], cwd === undefined ? {} : { cwd });
  expect(err).toBe("");
  return (JSON.parse(out) as { path: string }).path;
}

const names: readonly (readonly [string, (home: Home) => string, keyof Home["sessions"]])[] = [
  ["its id", (home) => home.sessions.titled.id, "titled"],
  ["its id in capitals", (home) => home.sessions.titled.id.toUpperCase(), "titled"],
  ["a unique start of its id", () => "e07", "titled"],
  ["one letter, where no other id starts with it", () => "7", "codexCold"],
  ["its title", () => "Calmon fromour bus hunt", "titled"],
  ["its title in other capitals", () => "CALMON FROMOUR bus hunt", "titled"],
  ["a part of its title", () => "files does the build", "geminiChat"],
  ["its absolute path", (home) => home.sessions.codexLive.path, "codexLive"],
  ["last: the newest", () => "last", "pi"],
  ["the path of a folder of messages", (home) => home.sessions.messages.path, "messages"],
  ["the path of a workspace", (home) => join(home.path, "workspace"), "messages"],
];

test.each(names)("named by %s", async (_what, nameOf, expected) => {
  const home = await tempHome();
  expect(await meant(home, nameOf(home))).toBe(home.sessions[expected].path);
});

test("a subagent's session is named by its id and by a start of it, and is never the last", async () => {
  const home = await tempHome();
  await utimes(home.subagent, NOW / 1000, NOW / 1000);
  const id = basename(home.subagent, ".jsonl");
  expect(await meant(home, id)).toBe(home.subagent);
  expect(await meant(home, id.slice(0, -1).toUpperCase())).toBe(home.subagent);
  expect(await meant(home, "last")).toBe(home.sessions.pi.path);
});

test("named by a path from the working folder, with and without a dot in front", async () => {
  const home = await tempHome();
  const { path } = home.sessions.pending;
  const cwd = join(home.path, ".claude/projects/-home-user-other");
  const name = relative(cwd, path);
  expect(await meant(home, name, cwd)).toBe(path);
  expect(await meant(home, `./${name}`, cwd)).toBe(path);
  expect(await meant(home, join("..", "-home-user-other", name), cwd)).toBe(path);
});

test("named by a link", async () => {
  const home = await tempHome();
  const link = join(home.path, "link.jsonl");
  await symlink(home.sessions.titled.path, link);
  const { code, out } = await run(home, ["show", "./link.jsonl", "--limit", "1"]);
  expect(code).toBe(0);
  expect(out).not.toBe("");
});

test("an id goes before a file of that name, a file before the start of an id", async () => {
  const home = await tempHome();
  await cp(home.sessions.pi.path, join(home.path, home.sessions.titled.id));
  await cp(home.sessions.pi.path, join(home.path, "6a5f"));
  expect(await meant(home, home.sessions.titled.id)).toBe(home.sessions.titled.path);
  expect(await meant(home, "6a5f")).toBe(join(home.path, "6a5f"));
});

test("a whole title goes before a part of another one", async () => {
  const home = await tempHome();
  const longer = "Calmon fromour bus hunt again";
  const path = join(
    home.path,
    ".claude/projects/-home-user-other/33333333-0000-4000-8000-000000000000.jsonl",
  );
  await cp(home.sessions.pending.path, path);
  const { appendFile } = await import("node:fs/promises");
  await appendFile(
    path,
    `${JSON.stringify({ type: "custom-title", customTitle: longer, sessionId: "s" })}\n`,
  );
  expect(await meant(home, "Calmon fromour bus hunt")).toBe(home.sessions.titled.path);
  expect(await meant(home, "hunt again")).toBe(path);
});

test("a start that fits several sessions lists them, newest first, and opens none", async () => {
  const home = await tempHome();
  const { code, out, err } = await run(home, ["show", "2026"]);
  expect({ code, out }).toEqual({ code: 4, out: "" });
  const [sentence, ...candidates] = err.trimEnd().split("\n");
  expect(sentence).toBe('hansard: "2026" fits 3 sessions; name one of them:');
  const { geminiChat, messages, geminiLegacy } = home.sessions;
  expect(candidates).toEqual([
    `  ${geminiChat.id}  gemini  4 h ago  Which files does the build leave behind?`,
    `  ${messages.id}  messages  6 h ago  How long has the machine been up?`,
    expect.stringMatching(new RegExp(`^  ${geminiLegacy.id}  gemini  7 h ago  .+`)),
  ]);
});

test("files that share an id are told by their paths, each of which opens one", async () => {
  const home = await tempHome();
  const { id, path } = home.sessions.titled;
  const copy = join(home.path, ".claude/projects/-home-user a copy", `${id}.jsonl`);
  await cp(path, copy);
  const { code, err } = await run(home, ["show", id]);
  expect(code).toBe(4);
  expect(err).toContain(`  ${path}  claude-code`);
  expect(err).toContain(`  '${copy}'  claude-code`);
  expect(await meant(home, copy)).toBe(copy);
});

test("a title of several sessions lists them, in every command", async () => {
  const home = await tempHome();
  for (const command of ["show", "check", "open"]) {
    const { code, err } = await run(home, [command, "git felt typeif load"]);
    expect(code).toBe(4);
    expect(err).toContain(home.sessions.codexArchived.id);
    expect(err).toContain(home.sessions.codexCold.id);
    expect(err.trimEnd().split("\n")).toHaveLength(3);
  }
});

test(`at most ${CANDIDATES_MAX} candidates are listed, the rest is counted`, async () => {
  const home = await tempHome();
  const folder = join(home.path, ".claude/projects/-home-user-many");
  const copies = CANDIDATES_MAX + 1;
  for (let n = 0; n < copies; n += 1) {
    const id = `ffff0000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    await cp(home.sessions.pending.path, join(folder, `${id}.jsonl`));
  }
  const { code, err } = await run(home, ["show", "ffff"]);
  expect(code).toBe(4);
  const lines = err.trimEnd().split("\n");
  expect(lines).toHaveLength(1 + CANDIDATES_MAX + 1);
  expect(lines[0]).toContain(`fits ${copies} sessions`);
  expect(lines.at(-1)).toBe("  … 1 more");
});

test("gem#18593: a name nobody has: where it looked, and what shows them", async () => {
  const home = await tempHome();
  const { code, out, err } = await run(home, ["show", "no such thing"]);
  expect({ code, out }).toEqual({ code: 3, out: "" });
  expect(err).toBe(
    'hansard: No session is named "no such thing", and no file of that name is here.\n' +
      "Looked at 10 sessions by id, id prefix and title. `hansard list` shows them.\n",
  );
});

test("`last` where there is none", async () => {
  const path = await tempFolder();
  const around = { env: emptyHomeEnv(path), home: path, platform: "linux" };
  for (const command of ["show", "check", "open"]) {
    const { code, out, err } = await run({ around }, [command, "last"]);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toContain("No session was found on this computer.");
    expect(err).toContain("`hansard demo`");
  }
});

test("an empty name is no session's start", async () => {
  const home = await tempHome();
  for (const name of ["", " "]) {
    const { code, out, err } = await run(home, ["show", name]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^hansard: The name of the session is empty\./);
  }
});

test("a hostile name is told, never obeyed", async () => {
  const home = await tempHome();
  for (const name of ["\u001b[2Jx", "./\u001b]0;owned\u0007.jsonl", "\u202egnp"]) {
    const { code, err } = await run(home, ["show", name]);
    expect(code).toBe(3);
    expect(err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  }
});

test("sessions of one time keep one order", async () => {
  const home = await tempHome();
  const io = {
    out: { isTTY: false, columns: undefined, write: () => Promise.resolve(true) },
    err: { isTTY: false, columns: undefined, write: () => Promise.resolve(true) },
    around: home.around,
    cwd: home.path,
    now: () => NOW,
  };
  const first = await findSessions(io);
  expect(await findSessions(io)).toEqual(first);
  expect(await resolveSession(io, "last")).toBe(first[0]?.path);
});
