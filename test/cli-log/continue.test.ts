/** `hansard continue`: any session carried on with another agent. */

import { spawnSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { partEdited, requestMark } from "../../src/cli/continue.ts";
import { keepTail } from "../../src/cli/kept-tail.ts";
import { createLog, openLogForRead, sessionsFolder, stateFolder } from "../../src/log/index.ts";
import { openLog } from "../../src/sources/index.ts";
import { fakeCommand } from "../agent/drive.ts";
import { bin, run, tempFolder } from "../cli/support.ts";

async function place() {
  const home = await tempFolder();
  const around = {
    home,
    platform: "linux",
    env: { HANSARD_HOME: join(home, "state"), PATH: process.env["PATH"] },
  };
  const sessions = sessionsFolder(stateFolder(around));
  await mkdir(sessions, { recursive: true });
  return { home, around, sessions };
}

async function ownSession(sessions: string, turns: readonly (readonly [string, string | undefined])[]) {
  const log = await createLog({ sessions, cwd: "/", agent: "fake" });
  for (const [asked, answered] of turns) {
    await log.append([{ kind: "turnStarted" }, { kind: "message", role: "user", payload: asked }]);
    if (answered !== undefined)
      await log.append([
        { kind: "message", role: "assistant", payload: { content: [{ type: "text", text: answered }] } },
        { kind: "turnCommitted" },
      ]);
  }
  await log.append({ kind: "set", key: "agentSessionId", value: "the-parents-own" });
  await log.close();
  return log;
}

function claudeLog(): string {
  const base = { sessionId: "c1", cwd: "/", version: "2", timestamp: "2026-01-01T00:00:00.000Z" };
  const lines = [
    {
      type: "user",
      uuid: "a",
      parentUuid: null,
      message: { role: "user", content: "find the bug" },
      ...base,
    },
    {
      type: "assistant",
      uuid: "b",
      parentUuid: "a",
      message: { id: "m1", role: "assistant", model: "m", content: [{ type: "text", text: "It is in x." }] },
      ...base,
    },
    { type: "user", uuid: "c", parentUuid: "b", message: { role: "user", content: "now fix it" }, ...base },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

async function foreign(home: string): Promise<string> {
  const folder = join(home, ".claude", "projects", "-");
  await mkdir(folder, { recursive: true });
  const path = join(folder, "c1.jsonl");
  await writeFile(path, claudeLog());
  return path;
}

/** Runs the built tool without a terminal. */
function tool(
  around: { readonly env: Record<string, string | undefined>; readonly home: string },
  args: readonly string[],
  input = "",
) {
  const env = Object.fromEntries(
    Object.entries({ ...around.env, HOME: around.home }).filter(([, value]) => value !== undefined),
  ) as Record<string, string>;
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    env,
    input,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe("continue", () => {
  it("--dry-run prints exactly what would be sent, and its price, and makes nothing", async () => {
    const { home, around, sessions } = await place();
    const path = await foreign(home);
    const { code, out, err } = await run({ around }, ["continue", path, "--dry-run"]);
    expect(code).toBe(0);
    expect(out).toContain('{"from":"user","text":"find the bug"}\n{"from":"agent","text":"It is in x."}\n');
    expect(out.endsWith("\n\nnow fix it\n")).toBe(true);
    expect(err).toMatch(
      /told {3}3 entries of 2 turns, the whole session\nhansard: asked {2}now fix it\nhansard: price {2}about \d+ tokens\n/,
    );
    expect(await readdir(sessions)).toEqual([]);
  });

  it("a foreign session is imported with its places, and the waiting request goes out word for word", async () => {
    const { home, around, sessions } = await place();
    const path = await foreign(home);
    const { program, args } = await fakeCommand({ prompts: [[{ type: "echo" }]] }, home);
    const { status, stdout, stderr } = tool(around, ["continue", path, "--", program, ...args]);
    expect([status, stderr]).toEqual([0, expect.stringContaining("carrying on with fake")]);
    expect(stdout).toContain("This conversation was had with another agent (claude-code)");
    expect(stdout.trimEnd().endsWith("now fix it")).toBe(true);
    const [id = ""] = await readdir(sessions);
    const reader = await openLogForRead({ sessions, id });
    const { items } = await reader.tail(1_000);
    const { session } = await reader.inspect();
    await reader.close();
    expect(session).toMatchObject({ link: "continuation", parentSession: path, parentSessionId: "c1" });
    const told = items.flatMap((item) =>
      item.type === "record" && item.record.kind === "message" ? [item.record] : [],
    );
    const prompts = told.filter((record) => (record as { role?: unknown }).role === "user");
    expect(prompts.map((record) => (record as { payload?: { text?: unknown } }).payload?.text)).toEqual([
      "find the bug",
      "now fix it",
      "now fix it",
    ]);
    expect(told[0]).toMatchObject({ payload: { origin: { start: 0 } } });
    // What the agent was told is a record of its own, never a prompt.
    expect(items.filter((item) => item.type === "record" && item.record.kind === "custom")).toHaveLength(1);
  });

  it("one of ours is forked: its agent's own session is not gone on with", async () => {
    const { home, around, sessions } = await place();
    const parent = await ownSession(sessions, [
      ["one", "1"],
      ["two", "2"],
    ]);
    const { program, args } = await fakeCommand({ load: true, prompts: [[{ type: "echo" }]] }, home);
    const { status, stdout, stderr } = tool(
      around,
      ["continue", parent.id, "--tail", "1", "--", program, ...args],
      "go on",
    );
    expect([status, stderr]).toEqual([0, expect.stringContaining("1 turn")]);
    expect(stdout).not.toContain('"one"');
    expect(stdout).toContain('{"from":"user","text":"two"}');
    expect(stdout.trimEnd().endsWith("go on")).toBe(true);
    const child = (await readdir(sessions)).find((name) => name !== parent.id) ?? "";
    const log = await openLog(join(sessions, child, "log.jsonl"));
    const page = await log.first(100);
    await log.close();
    expect(page.entries.flatMap((entry) => (entry.kind === "delivered" ? [entry.body] : []))).toEqual([
      "one",
      "two",
      "go on",
    ]);
  });

  it("--from: the turns behind it are not told, nor forked", async () => {
    const { around, sessions } = await place();
    const parent = await ownSession(sessions, [
      ["one", "1"],
      ["two", "2"],
      ["three", "3"],
    ]);
    const { out, err } = await run({ around }, ["continue", parent.id, "--from", "2", "--dry-run"]);
    expect(out).toContain('"two"');
    expect(out).not.toContain("three");
    expect(err).toContain("of 2 turns");
    expect(await run({ around }, ["continue", parent.id, "--from", "4", "--dry-run"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("The session has no turn 4.\nIts last turn is 3."),
    });
  });

  it("the newest compaction's summary comes along where the tail does not reach it", async () => {
    const { around, sessions } = await place();
    const log = await createLog({ sessions, cwd: "/", agent: "fake" });
    await log.append([
      { kind: "turnStarted" },
      { kind: "message", role: "user", payload: "old" },
      { kind: "turnCommitted" },
      { kind: "compactionSummary", summary: "THE SUMMARY", tokensBefore: 9, firstKeptTurnId: "" },
      { kind: "turnStarted" },
      { kind: "message", role: "user", payload: "new" },
      { kind: "turnCommitted" },
      { kind: "turnStarted" },
      { kind: "message", role: "user", payload: "newest" },
      { kind: "turnCommitted" },
    ]);
    await log.close();
    const { out } = await run({ around }, ["continue", log.id, "--tail", "1", "--dry-run"]);
    expect(out).toContain('{"from":"summary","text":"THE SUMMARY"}');
    expect(out).not.toContain('"new"');
    expect(out.trimEnd().endsWith("newest")).toBe(true);
  });

  it("an agent that does not start leaves nothing behind, and the session as it was", async () => {
    const { home, around, sessions } = await place();
    const path = await foreign(home);
    const { status, stderr } = tool(around, [
      "continue",
      path,
      "--",
      process.execPath,
      "-e",
      "process.exit(3)",
    ]);
    expect([status, stderr]).toEqual([9, expect.stringContaining("carrying on with node")]);
    expect(await readdir(sessions)).toEqual([]);
  });

  it.each<readonly [string, readonly string[], RegExp]>([
    ["no such agent", ["--with", "nobody"], /nobody/],
    ["two bounds", ["--tail", "1", "--budget", "5"], /--tail and --budget/],
    ["too large a budget", ["--budget", "500001"], /at most 500000 tokens/],
  ])("bad input: %s", async (_name, args, words) => {
    const { home, around, sessions } = await place();
    const path = await foreign(home);
    const { code, err } = await run({ around }, ["continue", path, ...args]);
    expect(code).not.toBe(0);
    expect(err).toMatch(words);
    expect(await readdir(sessions)).toEqual([]);
  });
});

describe("the text that a person edits", () => {
  it("is parted at its last mark; without one it is refused", () => {
    expect(partEdited(`a\n${requestMark}\nb\n${requestMark}\n c \n`)).toEqual({
      context: `a\n${requestMark}\nb`,
      request: "c",
    });
    expect(partEdited(`\n${requestMark}\n`)).toEqual({ context: undefined, request: undefined });
    expect(partEdited("a")).toBeUndefined();
  });
});

describe("the kept tail", () => {
  it("stops at what was asked for, in turns or in characters", async () => {
    const { sessions } = await place();
    const parent = await ownSession(
      sessions,
      Array.from({ length: 300 }, (_, index) => [`q${index}`, "answer"] as const),
    );
    const log = await openLog(parent.path ?? "");
    try {
      const turns = await keepTail(log, { turns: 200, chars: 1 });
      expect([turns.turns, turns.isWhole, turns.entries[0]]).toEqual([
        200,
        false,
        expect.objectContaining({ body: "q100" }),
      ]);
      const chars = await keepTail(log, { chars: 10 });
      expect(chars.entries).toHaveLength(2);
      const all = await keepTail(log, { chars: 1_000_000 });
      expect([all.turns, all.isWhole]).toEqual([300, true]);
    } finally {
      await log.close();
    }
  });
});
