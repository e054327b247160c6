/** Archives of other agents' sessions: verbatim, whole or not at all, and sessions like any other once the original is gone. */

import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  ARCHIVE_CHUNK_BYTES,
  archiveFolder,
  folderOf,
  parseManifest,
} from "../../src/sources/archive/format.ts";
import { archiveSession } from "../../src/sources/archive/index.ts";
import { openLog, type SourceError } from "../../src/sources/index.ts";
import { run } from "../cli/support.ts";
import { fixture } from "../support/fixtures.ts";
import { type Home, makeHome } from "../support/home.ts";
import { readBackward } from "../support/log-laws.ts";

let home: Home;
let archive: string;
beforeEach(() => {
  home = makeHome();
  archive = archiveFolder(home.around);
});
afterEach(() => home.remove());

const rollout = fixture("sources/codex/rollout-1.jsonl");
const rolloutPath = ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-x.jsonl";

interface Listed {
  readonly agent: string;
  readonly id: string;
  readonly path: string;
  readonly archived?: boolean;
  readonly title?: string;
}
async function listed(): Promise<Listed[]> {
  const { out } = await run(home, ["list", "--json"]);
  return out === ""
    ? []
    : out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Listed);
}

async function entriesAt(path: string): Promise<unknown[]> {
  const log = await openLog(path);
  const entries = await readBackward(log, 50);
  await log.close();
  return entries;
}

describe("hansard archive", () => {
  test("a session opens from its archive as from its file, also when the file is gone", async () => {
    const path = home.write(rolloutPath, rollout);
    const before = await entriesAt(path);
    const [original] = await listed();
    const told = await run(home, ["archive", "x"]);
    expect([told.code, told.out.slice(0, 8)]).toEqual([0, "archived"]);
    expect(await listed()).toEqual([original]);
    rmSync(path);
    const [kept] = await listed();
    expect(kept).toMatchObject({ agent: "codex", id: "x", archived: true, title: original?.title });
    expect(await entriesAt(kept?.path ?? "")).toEqual(before);
    expect((await run(home, ["list"])).out).toContain("(archived) ");
    expect((await run(home, ["show", "x"])).code).toBe(0);
    expect((await run(home, ["check", "x"])).code).toBe(0);
  });

  test("the copy is verbatim, and any gunzip reads it", async () => {
    home.write(rolloutPath, rollout);
    await run(home, ["archive", "--all"]);
    const folder = join(archive, "codex", readdirSync(join(archive, "codex"))[0] ?? "");
    const names = readdirSync(folder).sort();
    expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.gz$/), "archive.json"]);
    expect(gunzipSync(readFileSync(join(folder, names[0] ?? "")))).toEqual(rollout);
    expect(statSync(folder).mode & 0o077).toBe(0);
    expect(statSync(join(folder, "archive.json")).mode & 0o077).toBe(0);
  });

  test("it is done again only when something changed, and then holds the new bytes alone", async () => {
    const path = home.write(rolloutPath, rollout.subarray(0, rollout.indexOf("\n", 9000) + 1));
    expect((await run(home, ["archive", "--all"])).err).toContain("1 archived, 0 unchanged");
    expect((await run(home, ["archive", "--all"])).err).toContain("0 archived, 1 unchanged");
    writeFileSync(path, rollout);
    expect((await run(home, ["archive", "--all"])).err).toContain("1 archived, 0 unchanged");
    const folder = join(archive, "codex", readdirSync(join(archive, "codex"))[0] ?? "");
    expect(readdirSync(folder)).toHaveLength(2);
    rmSync(path);
    expect((await run(home, ["archive", "--all"])).err).toContain("0 archived, 0 unchanged");
    expect(await listed()).toHaveLength(1);
  });

  test("one that cannot be read is told and keeps no other from being kept", async () => {
    home.write(rolloutPath, rollout);
    home.write(rolloutPath.replace("-x", "-y"), rollout);
    // In the way of one archive's folder.
    const found = (await listed()).find(({ id }) => id === "y");
    const folder = folderOf(archive, found as never);
    mkdirSync(dirname(folder), { recursive: true });
    writeFileSync(folder, "in the way");
    const told = await run(home, ["archive", "--all"]);
    expect(told.code).toBe(5);
    expect(told.err).toContain("1 archived, 0 unchanged, 1 failed");
    expect(told.out).toMatch(/failed +codex +y +it cannot be copied \(E/);
  });

  test.each([
    [["archive"], 2],
    [["archive", "x", "--all"], 2],
    [["archive", "nobody"], 3],
  ])("%j is refused", async (argv, code) => {
    expect((await run(home, argv)).code).toBe(code);
  });
});

test("files of every length around a chunk come back as they were", async () => {
  const path = home.write(rolloutPath, rollout);
  const found = { agent: "codex", id: "x", path, bytes: 0, modifiedAt: 0 } as const;
  for (const length of [0, 1, ARCHIVE_CHUNK_BYTES - 1, ARCHIVE_CHUNK_BYTES, ARCHIVE_CHUNK_BYTES + 1]) {
    const bytes = Buffer.alloc(length, "abc");
    writeFileSync(path, bytes);
    utimesSync(path, length, length);
    const kept = await archiveSession(archive, found, found, 1);
    expect(kept).toMatchObject({ state: "archived", bytes: length });
    const manifest = parseManifest(readFileSync(kept.path, "utf8"));
    const stored = readFileSync(join(dirname(kept.path), `${manifest?.files[0]?.sha256}.gz`));
    expect((length === 0 ? stored : gunzipSync(stored)).equals(bytes)).toBe(true);
  }
});

test("a folder of messages is kept with every file, and opens", async () => {
  const messages = ["agents", "a1", "messages"];
  home.write([...messages, "1-user.md"].join("/"), "hello");
  home.write([...messages, "deep", "er", "note.txt"].join("/"), "x");
  const path = join(home.path, ...messages);
  const found = { agent: "messages", id: "a1", path, bytes: 0, modifiedAt: 0 } as const;
  const kept = await archiveSession(archive, found, found, 1);
  const manifest = parseManifest(readFileSync(kept.path, "utf8"));
  expect(manifest?.files.map(({ name }) => name)).toEqual(["1-user.md", "deep/er/note.txt"]);
  rmSync(path, { recursive: true });
  const log = await openLog(kept.path);
  expect((await log.info()).archived).toBe(true);
  await log.close();
});

test("a damaged archive is not believed", async () => {
  const path = home.write(rolloutPath, rollout);
  await run(home, ["archive", "x"]);
  rmSync(path);
  const [kept] = await listed();
  const folder = dirname(kept?.path ?? "");
  const data = join(folder, readdirSync(folder).find((name) => name.endsWith(".gz")) ?? "");
  const bytes = readFileSync(data);
  for (const at of [12, Math.floor(bytes.length / 2), bytes.length - 6]) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 0x55;
    writeFileSync(data, changed);
    const failure: unknown = await openLog(kept?.path ?? "").catch((error: unknown) => error);
    expect((failure as SourceError).code).toBe("unreadable");
  }
  writeFileSync(data, bytes.subarray(0, bytes.length - 40));
  await expect(openLog(kept?.path ?? "")).rejects.toMatchObject({ code: "unreadable" });
});

test.each([
  ["no JSON", "{"],
  ["another format", '{"format":"other","v":1}'],
  ["a newer version", '{"format":"hansard-archive","v":2}'],
])("a manifest of %s is none", (_, text) => {
  expect(parseManifest(text)).toBeUndefined();
});

test("a manifest names no file outside of its folder", () => {
  const manifest = (name: string): string =>
    JSON.stringify({
      format: "hansard-archive",
      v: 1,
      found: { agent: "codex", id: "x", path: "/x" },
      info: {},
      archivedAt: 1,
      files: [{ name, bytes: 1, modifiedAt: 1, sha256: "0".repeat(64) }],
    });
  expect(parseManifest(manifest("a/b..c"))).toBeDefined();
  for (const name of ["/etc/x", "../x", "a/../../x", "a\\..\\x", "C:x"])
    expect(parseManifest(manifest(name)), name).toBeUndefined();
});

test("an open archive leaves nothing behind when it is closed", async () => {
  const path = home.write(rolloutPath, rollout);
  await run(home, ["archive", "x"]);
  rmSync(path);
  const [kept] = await listed();
  const log = await openLog(kept?.path ?? "");
  await log.close();
  expect(existsSync(path)).toBe(false);
});

test("what a process that was killed had unpacked goes when the next archive is opened; a running one's stays", async () => {
  const { status, pid } = spawnSync(process.execPath, ["-e", ""]);
  expect(status).toBe(0);
  const left = join(tmpdir(), `hansard-archive-${pid}-abcdef`);
  const used = join(tmpdir(), `hansard-archive-${process.ppid}-abcdef`);
  for (const folder of [left, used]) mkdirSync(join(folder, "deep"), { recursive: true });
  try {
    home.write(rolloutPath, rollout);
    await run(home, ["archive", "--all"]);
    const [session] = (await listed()).filter((each) => each.agent === "codex");
    rmSync(join(home.around.home, rolloutPath));
    const kept = (await listed()).find((each) => each.archived === true);
    expect(session).toBeDefined();
    const log = await openLog(kept?.path ?? "");
    expect(
      readdirSync(tmpdir()).filter((name) => name.startsWith(`hansard-archive-${process.pid}-`)),
    ).toHaveLength(1);
    await log.close();
    expect([existsSync(left), existsSync(used)]).toEqual([false, true]);
    expect(
      readdirSync(tmpdir()).filter((name) => name.startsWith(`hansard-archive-${process.pid}-`)),
    ).toEqual([]);
  } finally {
    for (const folder of [left, used]) rmSync(folder, { recursive: true, force: true });
  }
});
