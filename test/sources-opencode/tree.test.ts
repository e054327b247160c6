/** Sessions of OpenCode in the tree of files that it kept before it had a database. */
import { mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLog } from "../../src/sources/index.ts";
import {
  TREE_FRESH_MESSAGES_MAX,
  TREE_PARTS_MAX,
  TREE_RECORD_BYTES_MAX,
} from "../../src/sources/opencode/limits.ts";
import { openCodeSource } from "../../src/sources/opencode/source.ts";
import { openTreeStore, treeFacts } from "../../src/sources/opencode/tree.ts";
import type { Log } from "../../src/sources/types.ts";
import { OpenCodeWriter } from "../support/databases.ts";
import { entryLine } from "../support/entry-notation.ts";
import { discoverAll, type Home, makeHome } from "../support/home.ts";
import { expectShelfLaws, logOfShelf } from "../support/shelf-agents.ts";
import { Follower } from "../support/watched-log.ts";

const DATA = ".local/share/opencode";
let home: Home;
const logs: Log[] = [];
let ticks = 0;

beforeEach(() => {
  home = makeHome();
});
afterEach(async () => {
  for (const log of logs.splice(0)) await log.close();
  home.remove();
});

/** Writes a file as it is written in place, each time at another time. */
function put(name: string, value: object | string): string {
  const path = join(home.path, DATA, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value, undefined, 2));
  ticks += 1;
  utimesSync(path, 1_700_000_000 + ticks, 1_700_000_000 + ticks);
  return path;
}

const record = (id: string, more: object = {}): object => ({
  id,
  version: "0.9.1",
  projectID: "p1",
  directory: "/w",
  title: "It",
  time: { created: 1_700_000_000_000, updated: 1_700_000_000_001 },
  ...more,
});
const time = { created: 1_700_000_000_000 };

function session(id: string, more: object = {}): string {
  return put(`storage/session/p1/${id}.json`, record(id, more));
}
function message(of: string, id: string, info: object): void {
  put(`storage/message/${of}/${id}.json`, { id, sessionID: of, time, ...info });
}
function part(of: string, id: string, data: object | string): void {
  put(`storage/part/${of}/${id}.json`, data);
}
function prompt(of: string, id: string, text: string): void {
  message(of, id, { role: "user" });
  part(id, `prt_${id}`, { type: "text", text });
}

async function shown(path: string): Promise<string[]> {
  const log = await openLog(path);
  logs.push(log);
  expect(log.agent).toBe("opencode");
  return (await log.tail(1000)).entries.map(entryLine);
}

const call = (status: string, more: object = {}): object => ({
  type: "tool",
  callID: "c1",
  tool: "bash",
  state: { status, input: { command: "ls" }, ...more },
});

test("a session's record opens its messages with their parts, in the order of their ids", async () => {
  const path = session("ses_a");
  prompt("ses_a", "msg_1", "do it");
  message("ses_a", "msg_2", { role: "assistant", modelID: "gpt" });
  part("msg_2", "prt_2", call("completed", { output: "a" }));
  part("msg_2", "prt_1", { type: "text", text: "I look" });
  prompt("ses_b", "msg_0", "elsewhere");
  expect(await shown(path)).toEqual([
    "user: do it",
    'model gpt: "I look" call(bash c1 ls → done)',
    "result c1 done: a",
  ]);
  expect(await logs[0]?.info()).toMatchObject({ title: "It", cwd: "/w", agentVersion: "0.9.1" });
});

test("the first versions' trees, one for each project, with the parts in a folder of the session", async () => {
  const path = put("project/w/storage/session/info/ses_a.json", record("ses_a"));
  put("project/w/storage/session/message/ses_a/msg_1.json", { id: "msg_1", role: "user", time });
  put("project/w/storage/session/part/ses_a/msg_1/prt_1.json", { type: "text", text: "old words" });
  put("project/w/storage/session/message/ses_a/msg_2.json", {
    id: "msg_2",
    role: "user",
    parts: [{ type: "text", text: "older words" }],
  });
  expect(await shown(path)).toEqual(["user: old words", "user: older words"]);
  const { found } = await discoverAll(openCodeSource, home.around);
  expect(found.map(({ path: each }) => each)).toEqual([path]);
});

test("the tree and the database are one list, each session once", async () => {
  const kept = session("ses_old", { parentID: "ses_a" });
  session("ses_a");
  put("storage/session/p1/notes.json", {});
  const writer = new OpenCodeWriter(join(home.path, DATA, "opencode.db"));
  writer.session("ses_a");
  const { found, problems } = await discoverAll(openCodeSource, home.around);
  writer.close();
  expect(problems).toEqual([]);
  expect(found.map(({ id, path }) => [id, path])).toEqual([
    ["ses_a", join(home.path, DATA, "opencode.db#ses_a")],
    ["ses_old", kept],
  ]);
  expect(await openCodeSource.describe(found[1]!)).toMatchObject({
    title: "It",
    parentId: "ses_a",
    modifiedAt: statSync(kept).mtimeMs,
  });
});

test("read in every way, and followed write by write, a session is one", async () => {
  let n = 0;
  await expectShelfLaws(() => {
    n += 1;
    const id = `ses_${n}`;
    const m = (name: string): string => `msg_${n}_${name}`;
    let path = "";
    return {
      open: () => openTreeStore(path),
      writes: [
        () => {
          path = session(id);
        },
        () => message(id, m("1"), { role: "user" }),
        () => part(m("1"), "prt_1", { type: "text", text: "do it" }),
        () => message(id, m("2"), { role: "assistant", modelID: "gpt" }),
        () => part(m("2"), "prt_1", { type: "text", text: "I" }),
        () => part(m("2"), "prt_1", { type: "text", text: "I look" }),
        () => part(m("2"), "prt_2", call("running")),
        () => part(m("2"), "prt_2", call("completed", { output: "a" })),
        () =>
          message(id, m("2"), {
            role: "assistant",
            modelID: "gpt",
            time: { ...time, completed: 1_700_000_000_009 },
          }),
        () => session(id, { title: "Another" }),
        () => prompt(id, m("3"), "and now?"),
      ],
    };
  });
});

test("a message that is met half written stays as it was told; an empty part is told in its place", async () => {
  const path = session("ses_a");
  prompt("ses_a", "msg_1", "one");
  prompt("ses_a", "msg_2", "two");
  const { log, looks } = logOfShelf(await openTreeStore(path));
  logs.push(log);
  const follower = new Follower(log, looks);
  await follower.look();
  put("storage/message/ses_a/msg_2.json", '{"id":"msg_2","ro');
  await follower.look();
  expect(follower.told.entries.map(entryLine)).toEqual(["user: one", "user: two"]);
  message("ses_a", "msg_2", { role: "user" });
  part("msg_1", "prt_msg_1", "");
  await follower.look();
  await follower.look();
  expect(follower.told.entries.map(entryLine)[1]).toBe("user: two");
  expect((await log.check()).unknownKinds).toEqual(["user part/unreadable"]);
  rmSync(path);
  await follower.look();
  expect(follower.events.at(-1)).toBe("gone");
  await follower.stop();
});

describe("limits", () => {
  test("TREE_FRESH_MESSAGES_MAX: a change in an older message is seen when it is read", async () => {
    const path = session("ses_a");
    for (let n = 0; n <= TREE_FRESH_MESSAGES_MAX; n++)
      prompt("ses_a", `msg_${String(n).padStart(3, "0")}`, `words ${n}`);
    const store = await openTreeStore(path);
    part("msg_001", "prt_msg_001", { type: "text", text: "one of the newest" });
    expect(await store.refresh()).toBe("changed");
    part("msg_000", "prt_msg_000", { type: "text", text: "newer words" });
    expect(await store.refresh()).toBe("same");
    const { log } = logOfShelf(store);
    logs.push(log);
    expect((await log.first(1)).entries.map(entryLine)).toEqual(["user: newer words"]);
  });

  test("TREE_RECORD_BYTES_MAX: a record above it says nothing, one of that size does", async () => {
    const at = (bytes: number): string => {
      const head = JSON.stringify(record("ses_a"));
      return put("storage/session/p1/ses_a.json", head + " ".repeat(bytes - head.length));
    };
    expect(await treeFacts(at(TREE_RECORD_BYTES_MAX))).toMatchObject({ title: "It" });
    expect(await treeFacts(at(TREE_RECORD_BYTES_MAX + 1))).toBeUndefined();
  });

  test("TREE_PARTS_MAX: parts above it are counted, and the message is named as one that is not wholly known", async () => {
    const path = session("ses_a");
    message("ses_a", "msg_1", { role: "assistant" });
    for (const n of [1, 2, 3]) part("msg_1", `prt_${n}`, { type: "text", text: `words ${n}` });
    const told = async (partsMax: number): Promise<unknown> => {
      const { log } = logOfShelf(await openTreeStore(path, partsMax));
      logs.push(log);
      return [(await log.tail(10)).entries.map(entryLine)[0], (await log.check()).unknownKinds];
    };
    expect(await told(TREE_PARTS_MAX)).toEqual(await told(3));
    expect(await told(3)).toEqual(['model: "words 1" "words 2" "words 3"', []]);
    expect(await told(2)).toEqual([
      'model: "words 1" "words 2" other left-out(1 more parts)',
      ["assistant part/left-out"],
    ]);
  });
});
