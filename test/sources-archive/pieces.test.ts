/** Archives of sessions that are not one file: rows of a database, and files of a tree. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { archiveFolder, manifestText, parseManifest } from "../../src/sources/archive/format.ts";
import { type Archived, archiveSession } from "../../src/sources/archive/index.ts";
import {
  describeSession,
  discoverAll,
  type FoundSession,
  openLog,
  piecesOf,
} from "../../src/sources/index.ts";
import { dropIdleCopies } from "../../src/sources/sqlite/copy.ts";
import { GOOSE_SCHEMA, hashes, OpenCodeWriter, writeAhead } from "../support/databases.ts";
import { type Home, makeHome } from "../support/home.ts";
import { readBackward } from "../support/log-laws.ts";

const DATA = ".local/share/opencode";
let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(async () => {
  await dropIdleCopies();
  home.remove();
});

async function found(id: string): Promise<FoundSession> {
  for await (const each of discoverAll(home.around)) if (each.id === id) return each;
  throw new Error(`${id} is not found`);
}

async function archive(session: FoundSession): Promise<Archived> {
  const info = await describeSession(session);
  return archiveSession(archiveFolder(home.around), session, info, 1, await piecesOf(session));
}

async function entriesAt(path: string): Promise<unknown[]> {
  const log = await openLog(path);
  const entries = await readBackward(log, 50);
  await log.close();
  return entries;
}

test("a session of a database is kept as a database of its own rows, and opens as it did", async () => {
  const path = join(home.path, DATA, "opencode.db");
  mkdirSync(dirname(path), { recursive: true });
  const writer = new OpenCodeWriter(path);
  writer.session("ses_a", "The first");
  writer.prompt("ses_a", "m1", "do it");
  writer.session("ses_b");
  writer.prompt("ses_b", "x1", "secret");
  const before = hashes(dirname(path));
  const session = await found("ses_a");
  const entries = await entriesAt(session.path);
  const kept = await archive(session);
  expect(kept.state).toBe("archived");
  expect(hashes(dirname(path))).toEqual(before);
  const [data = ""] = readdirSync(dirname(kept.path)).filter((name) => name.endsWith(".gz"));
  const rows = gunzipSync(readFileSync(join(dirname(kept.path), data))).toString("latin1");
  expect([rows.includes("do it"), rows.includes("secret")]).toEqual([true, false]);
  expect((await archive(session)).state).toBe("unchanged");
  expect(readdirSync(dirname(kept.path))).toHaveLength(2);
  writer.prompt("ses_a", "m2", "more");
  expect((await archive(session)).state).toBe("archived");
  expect(readdirSync(dirname(kept.path))).toHaveLength(2);
  writer.close();
  rmSync(dirname(path), { recursive: true });
  const archived = await found("ses_a");
  expect(archived).toMatchObject({ agent: "opencode", path: kept.path, archived: true });
  expect(await describeSession(archived)).toMatchObject({ title: "The first" });
  const opened = await entriesAt(kept.path);
  expect(opened.slice(0, 1)).toEqual(entries);
  expect(opened).toHaveLength(2);
});

test("rows keep their numbers, by which they are named", async () => {
  const path = join(home.path, ".local/share/goose/sessions/sessions.db");
  mkdirSync(dirname(path), { recursive: true });
  const writer = writeAhead(path, GOOSE_SCHEMA);
  writer.run(`INSERT INTO sessions(id, name, working_dir) VALUES ('g1', 'It', '/w'), ('other', '', '/');
    INSERT INTO messages(session_id, role, content_json, created_timestamp) VALUES
      ('other', 'user', '[]', 1), ('g1', 'user', '[{"type":"text","text":"do it"}]', 1700000000);`);
  const session = await found("g1");
  const entries = await entriesAt(session.path);
  const kept = await archive(session);
  writer.close();
  expect(await entriesAt(kept.path)).toEqual(entries);
  expect(entries).toHaveLength(1);
});

test("a session in a tree is kept with the files of its messages and parts", async () => {
  home.write(`${DATA}/storage/session/p1/ses_a.json`, JSON.stringify({ id: "ses_a", title: "It" }));
  home.write(`${DATA}/storage/message/ses_a/msg_1.json`, JSON.stringify({ id: "msg_1", role: "user" }));
  home.write(`${DATA}/storage/part/msg_1/prt_1.json`, JSON.stringify({ type: "text", text: "do it" }));
  const session = await found("ses_a");
  const entries = await entriesAt(session.path);
  expect(entries).toHaveLength(1);
  const kept = await archive(session);
  expect((await archive(session)).state).toBe("unchanged");
  rmSync(join(home.path, DATA), { recursive: true });
  expect(await entriesAt(kept.path)).toEqual(entries);
});

test("what is wrong with an archived database is told of the archive", async () => {
  const path = home.write("x y/a.db", `SQLite format 3\0${"x".repeat(8000)}`);
  const broken = { agent: "goose", id: "x", path, bytes: 1, modifiedAt: 1 } as const;
  const kept = await archiveSession(archiveFolder(home.around), broken, broken, 1);
  const failure: unknown = await openLog(kept.path).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "unreadable", path: kept.path });
  expect((failure as Error).message.startsWith(`${kept.path} cannot be read as a database`)).toBe(true);
});

test.each([
  ["/a/b", "/a/b/c.db#x", true],
  ["/a/b", "/a/c", false],
  ["/a/b", "/a/b", false],
])("the session of an archive whose files lie in %s may be %s: %s", (base, path, isGood) => {
  const at = { agent: "goose", id: "x", path, bytes: 1, modifiedAt: 1 } as const;
  const text = manifestText({ found: at, info: at, archivedAt: 1, base, files: [] });
  expect(parseManifest(text) !== undefined).toBe(isGood);
});
