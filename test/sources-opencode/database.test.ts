/** Sessions of OpenCode in its database: found, opened, paged, followed while they are written. */
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as nextLoop } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ELEMENT_BYTES_MAX } from "../../src/sources/document/limits.ts";
import { logOfStore } from "../../src/sources/document/log.ts";
import { MESSAGE_STRIDE } from "../../src/sources/document/message-store.ts";
import { detectSource, openLog } from "../../src/sources/index.ts";
import { openCodeSource } from "../../src/sources/opencode/source.ts";
import { openCodeTables } from "../../src/sources/opencode/tables.ts";
import { dropIdleCopies } from "../../src/sources/sqlite/copy.ts";
import type { DatabaseFormat } from "../../src/sources/sqlite/format.ts";
import { openSessionStore } from "../../src/sources/sqlite/store.ts";
import type { Log } from "../../src/sources/types.ts";
import { openDatabase } from "../../src/sqlite/index.ts";
import { hashes, OpenCodeWriter } from "../support/databases.ts";
import { expectCaughtUp } from "../support/document-agents.ts";
import { entryLine } from "../support/entry-notation.ts";
import { discoverAll, type Home, makeHome } from "../support/home.ts";
import { readBackward, readForward } from "../support/log-laws.ts";
import { createLooks, Follower, type Looks } from "../support/watched-log.ts";

let home: Home;
let path: string;
let writer: OpenCodeWriter;
const logs: Log[] = [];

beforeEach(() => {
  home = makeHome();
  path = join(home.path, ".local/share/opencode/opencode.db");
  mkdirSync(dirname(path), { recursive: true });
  writer = new OpenCodeWriter(path);
});
afterEach(async () => {
  for (const log of logs.splice(0)) await log.close();
  await dropIdleCopies();
  writer.close();
  home.remove();
});

const running = {
  type: "tool",
  callID: "c1",
  tool: "bash",
  state: { status: "running", input: { command: "ls" } },
};
const done = { ...running, state: { status: "completed", input: { command: "ls" }, output: "a\nb" } };

async function open(id: string): Promise<{ readonly log: Log; readonly looks: Looks }> {
  const looks = createLooks();
  const store = await openSessionStore(path, openCodeTables, id);
  const describe = () => Promise.resolve({ agent: "opencode" as const, id, path });
  // Copying rests as long as it took; nothing here is checkpointed, so that only the log is copied again.
  const log = logOfStore({ path, format: openCodeTables.document, describe, ports: looks.ports }, store);
  logs.push(log);
  return { log, looks };
}

function writeTurn(session: string): void {
  writer.prompt(session, "m1", "do it");
  writer.message(session, "m2", { role: "assistant", modelID: "gpt", time: { created: 1_700_000_000_000 } });
  writer.part(session, "m2", "p1", { type: "step-start" });
  writer.part(session, "m2", "p2", { type: "text", text: "I look" });
  writer.part(session, "m2", "p3", running);
}

test("sessions are found with their parents, described, and opened by their paths, and the folder stays as it was", async () => {
  writer.session("ses_a", "The first");
  writer.session("ses_b", "New session - 2026-01-01T00:00:00.000Z", "ses_a");
  writeTurn("ses_a");
  const before = hashes(dirname(path));
  const { found, problems } = await discoverAll(openCodeSource, home.around);
  expect(problems).toEqual([]);
  expect(found.map(({ id, path: at, parentId }) => [id, at, parentId])).toEqual([
    ["ses_b", `${path}#ses_b`, "ses_a"],
    ["ses_a", `${path}#ses_a`, undefined],
  ]);
  expect(await openCodeSource.describe(found[1]!)).toMatchObject({
    title: "The first",
    titled: true,
    cwd: "/w",
  });
  expect(await openCodeSource.describe(found[0]!)).not.toHaveProperty("title");
  const log = await openLog(`${path}#ses_a`);
  logs.push(log);
  expect(log.path).toBe(`${path}#ses_a`);
  expect((await log.tail(10)).entries.map(entryLine)).toEqual([
    "user: do it",
    'model gpt: "I look" call(bash c1 ls → running)',
    "result c1 running: ",
  ]);
  expect(await log.check()).toMatchObject({ records: 2, toolCalls: 1, unknownKinds: [], openTurn: true });
  expect(hashes(dirname(path))).toEqual(before);
});

test("pages from either end give the same entries, each once", async () => {
  writer.session("ses_a");
  for (let n = 10; n < 40; n++) writer.prompt("ses_a", `m${n}`, `words ${n}`);
  const { log } = await open("ses_a");
  const whole = await readBackward(log, 1000);
  expect(whole).toHaveLength(30);
  for (const limit of [1, 7]) {
    expect(await readBackward(log, limit)).toEqual(whole);
    expect(await readForward(log, limit)).toEqual(whole);
  }
});

test("a raw read gives the message that the place is of", async () => {
  writer.session("ses_a");
  writer.prompt("ses_a", "m1", "one");
  writer.prompt("ses_a", "m2", "two");
  const { log } = await open("ses_a");
  const entry = (await log.tail(1)).entries[0];
  expect(entry?.place?.start).toBe(MESSAGE_STRIDE);
  const value = JSON.parse(new TextDecoder().decode(await log.raw(entry!.place!))) as object;
  expect(value).toMatchObject({ info: { role: "user" }, parts: [{ text: "two" }] });
});

test("a message is read while another session's reader takes over a change", async () => {
  writer.session("ses_a");
  writer.session("ses_b");
  writer.prompt("ses_a", "m1", "one");
  const [a, b] = [
    await openSessionStore(path, openCodeTables, "ses_a"),
    await openSessionStore(path, openCodeTables, "ses_b"),
  ];
  writer.prompt("ses_b", "x1", "elsewhere");
  let isDone = false;
  const refreshed = b.refresh().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    expect(new TextDecoder().decode(await a.readBytes(0, 1000))).toContain('"text":"one"');
    await nextLoop();
  }
  expect(await refreshed).toBe("changed");
  await a.close();
  await b.close();
});

describe("followed", () => {
  test("a call that ends in place is told as changed, and no entry as new that was told", async () => {
    writer.session("ses_a");
    writeTurn("ses_a");
    const { log, looks } = await open("ses_a");
    const follower = new Follower(log, looks);
    await follower.look();
    expect([...follower.told.live]).toHaveLength(2);
    writer.part("ses_a", "m2", "p3", done);
    await follower.look();
    await expectCaughtUp(log, follower);
    expect(follower.told.entries.map(entryLine)[2]).toBe("result c1 done: a\nb");
    writer.message("ses_a", "m2", {
      role: "assistant",
      modelID: "gpt",
      finish: "stop",
      time: { created: 1_700_000_000_000, completed: 1_700_000_001_000 },
      tokens: { input: 3, output: 7 },
    });
    writer.prompt("ses_a", "m3", "and now?");
    await follower.look();
    await expectCaughtUp(log, follower);
    expect(follower.told.resets).toBe(0);
    expect(follower.told.entries.map(entryLine).at(-1)).toBe("user: and now?");
    await follower.stop();
  });

  test("another session's messages are nobody's business", async () => {
    writer.session("ses_a");
    writer.session("ses_b");
    writeTurn("ses_a");
    const { log, looks } = await open("ses_a");
    const follower = new Follower(log, looks);
    await follower.look();
    const events = follower.events.length;
    writer.prompt("ses_b", "x1", "elsewhere");
    await follower.look();
    expect(follower.events).toHaveLength(events);
    await follower.stop();
  });

  test("messages that are taken out are a new start", async () => {
    writer.session("ses_a");
    writer.prompt("ses_a", "m1", "one");
    writer.prompt("ses_a", "m2", "two");
    const { log, looks } = await open("ses_a");
    const follower = new Follower(log, looks);
    await follower.look();
    writer.database.run("DELETE FROM part WHERE message_id = 'm2'; DELETE FROM message WHERE id = 'm2'");
    await follower.look();
    await follower.look();
    await expectCaughtUp(log, follower);
    expect(follower.told.resets).toBe(1);
    await follower.stop();
  });

  test("a session that is deleted, and a database that vanishes, are gone", async () => {
    writer.session("ses_a");
    writer.prompt("ses_a", "m1", "one");
    const { log, looks } = await open("ses_a");
    const follower = new Follower(log, looks);
    await follower.look();
    writer.database.run("DELETE FROM session WHERE id = 'ses_a'");
    await follower.look();
    expect(follower.events.filter((event) => event === "gone")).toHaveLength(1);
    writer.session("ses_a");
    await follower.look();
    await expectCaughtUp(log, follower);
    for (const part of ["", "-wal", "-shm"]) rmSync(path + part);
    await follower.look();
    expect(follower.events.filter((event) => event === "gone")).toHaveLength(2);
    await follower.stop();
  });
});

describe("what is not as it should be", () => {
  test("an empty or torn cell is told in its place, and the rest is read", async () => {
    writer.session("ses_a");
    writer.prompt("ses_a", "m1", "one");
    writer.message("ses_a", "m2", { role: "assistant" });
    writer.part("ses_a", "m2", "p1", "");
    writer.database.run("INSERT INTO message VALUES ('m3', 'ses_a', 1800000000000, 0, '{\"role\":')");
    const { log } = await open("ses_a");
    const page = await log.tail(10);
    expect(page.entries.map((entry) => entry.kind)).toEqual(["delivered", "model", "raw"]);
    expect(page.damage).toMatchObject([{ reason: "not-json" }]);
    expect((await log.check()).damaged).toHaveLength(1);
  });

  test("ELEMENT_BYTES_MAX: a message above it is a placeholder and is not read, one of that size is", async () => {
    writer.session("ses_a");
    writer.prompt("ses_a", "m1", "one");
    writer.prompt("ses_a", "m2", "two");
    const sizes = [ELEMENT_BYTES_MAX, ELEMENT_BYTES_MAX + 1];
    const tables: DatabaseFormat = {
      ...openCodeTables,
      messages: (database, id) =>
        openCodeTables.messages(database, id).map((row, at) => ({ ...row, bytes: sizes[at] ?? 0 })),
      message(database, id, key) {
        expect(key).toBe("m1");
        return openCodeTables.message(database, id, key);
      },
    };
    const store = await openSessionStore(path, tables, "ses_a");
    const log = logOfStore(
      {
        path,
        format: tables.document,
        describe: () => Promise.resolve({ agent: "opencode", id: "x", path }),
      },
      store,
    );
    logs.push(log);
    const page = await log.tail(10);
    expect(page.entries.map((entry) => entry.kind)).toEqual(["delivered", "raw"]);
    expect(page.damage).toMatchObject([{ reason: "too-large" }]);
  });

  test("an older schema without columns that we show reads without them", async () => {
    const old = join(home.path, "old.db");
    const database = openDatabase(old);
    database.run(`CREATE TABLE session(id TEXT PRIMARY KEY);
      CREATE TABLE message(id TEXT, session_id TEXT, time_created INT, data TEXT);
      CREATE TABLE part(id TEXT, message_id TEXT, session_id TEXT, data TEXT);
      INSERT INTO session VALUES ('ses_o');
      INSERT INTO message VALUES ('m1', 'ses_o', 1, '{"role":"user"}');
      INSERT INTO part VALUES ('p1', 'm1', 'ses_o', '{"type":"text","text":"old words"}')`);
    database.close();
    // The only session of a database needs no name.
    const log = await openLog(old);
    logs.push(log);
    expect((await log.tail(10)).entries.map(entryLine)).toEqual(["user: old words"]);
  });

  test("a database of another program, one of several sessions and a session that is not there are errors that say so", async () => {
    const other = join(home.path, "other.db");
    const database = openDatabase(other);
    database.run("CREATE TABLE places(id INT)");
    database.close();
    await expect(detectSource(other)).rejects.toMatchObject({ code: "binary" });
    writer.session("ses_a");
    writer.session("ses_b");
    await expect(openLog(path)).rejects.toMatchObject({
      code: "unknown-format",
      next: expect.stringContaining(`${path}#ses_b`),
    });
    await expect(openLog(`${path}#ses_x`)).rejects.toMatchObject({ code: "not-found" });
  });

  test("a database without the tables is a problem of the list, not its end", async () => {
    writer.database.run("DROP TABLE part");
    const { found, problems } = await discoverAll(openCodeSource, home.around);
    expect(found).toEqual([]);
    expect(problems).toEqual([`${path}: it has not the tables of a known version`]);
  });
});
