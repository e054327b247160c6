/** Chats of Cursor's editor and of its command line, in their databases. */
import { createHash } from "node:crypto";
import { mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { classifyBubble } from "../../src/sources/cursor/bubble.ts";
import { classifyChatMessage } from "../../src/sources/cursor/chat-message.ts";
import { chatTables, listedIds } from "../../src/sources/cursor/chat-tables.ts";
import { editorTables } from "../../src/sources/cursor/editor-tables.ts";
import {
  CHAT_ROOT_BYTES_MAX,
  EDITOR_FRESH_MESSAGES_MAX,
  EDITOR_LIST_BYTES_MAX,
} from "../../src/sources/cursor/limits.ts";
import { cursorSource, editorSessions } from "../../src/sources/cursor/source.ts";
import { openLog } from "../../src/sources/index.ts";
import { dropIdleCopies } from "../../src/sources/sqlite/copy.ts";
import { openSessionStore } from "../../src/sources/sqlite/store.ts";
import type { Database } from "../../src/sqlite/index.ts";
import { hashes, writeAhead } from "../support/databases.ts";
import { entryLine, saidLines } from "../support/entry-notation.ts";
import { discoverAll, type Home, makeHome } from "../support/home.ts";
import { expectShelfLaws } from "../support/shelf-agents.ts";

let home: Home;
const writers: Database[] = [];
beforeEach(() => {
  home = makeHome();
});
afterEach(async () => {
  await dropIdleCopies();
  for (const writer of writers.splice(0)) writer.close();
  home.remove();
});

function begin(name: string, schema: string): { readonly path: string; readonly database: Database } {
  const path = join(home.path, name);
  mkdirSync(dirname(path), { recursive: true });
  const database = writeAhead(path, schema);
  writers.push(database);
  return { path, database };
}

const text = (words: string): object => ({ type: "text", text: words });
const at = { index: 0, start: 0, end: 1 };

/** One chat of the command line under a writer's hand. */
class ChatWriter {
  readonly path: string;
  readonly #database: Database;
  readonly #ids: string[] = [];
  readonly #name: string;

  constructor(id: string, name = "It") {
    const made = begin(
      `.cursor/chats/hash/${id}/store.db`,
      "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
    );
    this.path = made.path;
    this.#database = made.database;
    this.#name = name;
    this.#list();
  }

  #blob(data: Buffer): string {
    const id = createHash("sha256").update(data).digest("hex");
    this.#database.prepare("INSERT OR REPLACE INTO blobs VALUES (?, ?)").run(id, data);
    return id;
  }

  #list(): void {
    const fields = this.#ids.map((id) => Buffer.concat([Buffer.of(0x0a, 32), Buffer.from(id, "hex")]));
    const root = this.#blob(Buffer.concat([...fields, Buffer.of(0x4a, 2, 0x2f, 0x77, 0x28, 0x96, 1)]));
    const meta = {
      agentId: "a",
      latestRootBlobId: root,
      name: this.#name,
      createdAt: 1_700_000_000_000,
      lastUsedModel: "gpt",
    };
    this.#database
      .prepare("INSERT OR REPLACE INTO meta VALUES ('0', ?)")
      .run(Buffer.from(JSON.stringify(meta)).toString("hex"));
  }

  say(role: string, content: unknown): void {
    this.#ids.push(this.#blob(Buffer.from(JSON.stringify({ role, content }))));
    this.#list();
  }
}

const call = { type: "tool-call", toolCallId: "c", toolName: "Shell", args: { command: "ls" } };
const result = { type: "tool-result", toolCallId: "c", toolName: "Shell", result: "a" };

test("a chat of the command line is found by its name, described and opened, and not touched", async () => {
  const chat = new ChatWriter("a");
  chat.say("system", "be good");
  chat.say("user", [text("<user_info>\nx\n</user_info>"), text("<user_query>\ndo it\n</user_query>")]);
  chat.say("assistant", [{ type: "reasoning", text: "hm" }, text("I look"), call]);
  chat.say("tool", [result]);
  const before = hashes(dirname(chat.path));
  const { found, problems } = await discoverAll(cursorSource, home.around);
  expect([problems, found.map(({ id, path }) => [id, path])]).toEqual([[], [["a", `${chat.path}#a`]]]);
  expect(await cursorSource.describe(found[0]!)).toMatchObject({
    title: "It",
    model: "gpt",
    startedAt: 1_700_000_000_000,
  });
  for (const path of [`${chat.path}#a`, chat.path]) {
    const log = await openLog(path);
    expect((await log.tail(10)).entries.map(entryLine)).toEqual([
      "system/context: be good",
      "system/context: <user_info>\nx\n</user_info>",
      "user: do it",
      'model: think(hm) "I look" call(Shell c ls → done)',
      "result c done: a",
    ]);
    await log.close();
  }
  expect(hashes(dirname(chat.path))).toEqual(before);
});

test("a chat without a name is called by its first prompt", async () => {
  const chat = new ChatWriter("a", "New Agent");
  chat.say("user", "do it");
  const { found } = await discoverAll(cursorSource, home.around);
  expect(await cursorSource.describe(found[0]!)).toMatchObject({ title: "do it" });
});

test("a chat, read in every way and followed message by message, is one", async () => {
  let n = 0;
  await expectShelfLaws(() => {
    n += 1;
    const chat = new ChatWriter(`c${n}`);
    return {
      open: () => openSessionStore(chat.path, chatTables, "a"),
      writes: [
        () => chat.say("user", "do it"),
        () => chat.say("assistant", [call]),
        () => chat.say("tool", [result]),
        () => chat.say("assistant", [text("Done.")]),
        // The same words are the same bytes, under one id.
        () => chat.say("user", "do it"),
        () => chat.say("assistant", [text("Done.")]),
      ],
    };
  }, 3);
});

test("any bytes are a list of messages, of none perhaps", () => {
  const id = Buffer.alloc(32, 7);
  const one = Buffer.concat([Buffer.of(0x0a, 32), id]);
  expect(listedIds(one)).toEqual([id.toString("hex")]);
  expect(listedIds(Buffer.concat([one, Buffer.of(0x10, 0x85, 1), one]))).toHaveLength(2);
  expect(
    listedIds(Buffer.concat([Buffer.of(0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x0d, 1, 2, 3, 4), one])),
  ).toHaveLength(1);
  for (const broken of [Buffer.of(0x0a), Buffer.of(0x0a, 33, 1), Buffer.alloc(20, 0xff), Buffer.of(0x0b)])
    expect(listedIds(broken)).toEqual([]);
});

test.each(["text", "reasoning", "redacted-reasoning", "tool-call", "tool-result", "image", "file"])(
  "a piece %s of a message is known",
  (type) => {
    for (const role of ["system", "user", "assistant", "tool"])
      expect(classifyChatMessage({ ...at, value: { role, content: [{ type }] } })).toMatchObject({
        known: true,
      });
  },
);

test("unknown pieces and roles are shown, and named by the check", () => {
  const said = classifyChatMessage({ ...at, value: { role: "assistant", content: [{ type: "dream" }] } });
  expect(said).toMatchObject({ kind: "assistant part/dream", known: false });
  expect(classifyChatMessage({ ...at, value: 7 })).toMatchObject({
    known: false,
    entries: [{ kind: "raw" }],
  });
  expect(classifyBubble({ ...at, value: { type: 9 } })).toMatchObject({ kind: "type 9", known: false });
});

const EDITOR_SCHEMA =
  "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB); CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)";

/** The editor's database under a writer's hand. */
class EditorWriter {
  readonly path: string;
  readonly #database: Database;
  readonly #headers = new Map<string, { readonly bubbleId: string; readonly type: number }[]>();

  constructor() {
    const made = begin(".config/Cursor/User/globalStorage/state.vscdb", EDITOR_SCHEMA);
    this.path = made.path;
    this.#database = made.database;
  }

  put(key: string, value: unknown): void {
    this.#database.prepare("INSERT INTO cursorDiskKV VALUES (?, ?)").run(key, JSON.stringify(value));
  }

  chat(id: string, more: object = {}): void {
    const headers = this.#headers.get(id) ?? [];
    this.put(`composerData:${id}`, {
      composerId: id,
      name: "It",
      createdAt: 1_700_000_000_000,
      lastUpdatedAt: 1_700_000_000_000 + headers.length,
      fullConversationHeadersOnly: headers,
      ...more,
    });
  }

  bubble(id: string, bubbleId: string, type: number, more: object, status = "completed"): void {
    const headers = this.#headers.get(id) ?? [];
    this.#headers.set(id, headers);
    if (!headers.some((header) => header.bubbleId === bubbleId)) headers.push({ bubbleId, type });
    this.put(`bubbleId:${id}:${bubbleId}`, { bubbleId, type, ...more });
    this.chat(id, { status });
  }
}

const tool = (status: string, more: object = {}): object => ({
  toolFormerData: { toolCallId: "c", name: "run_terminal_cmd", rawArgs: '{"command":"ls"}', status, ...more },
});

test("the editor's chats are found, those in which nothing was said are not, and one is opened as it stands", async () => {
  const editor = new EditorWriter();
  editor.chat("empty");
  editor.put("composerData:broken", 7);
  editor.bubble("a", "b1", 1, { text: "do it", createdAt: "2026-01-01T10:00:00Z" });
  editor.bubble("a", "b2", 2, { thinking: { text: "hm" }, modelInfo: { modelName: "gpt" } });
  editor.bubble("a", "b3", 2, tool("completed", { result: '{"output":"a"}' }));
  editor.bubble("a", "b4", 2, { text: "Done.", tokenCount: { inputTokens: 3, outputTokens: 7 } });
  editor.chat("a", { subagentInfo: { parentComposerId: "p" }, isArchived: true });
  const { found, problems } = await discoverAll(cursorSource, home.around);
  expect(problems).toEqual([]);
  expect(found.map(({ id, parentId, archived }) => [id, parentId, archived])).toEqual([["a", "p", true]]);
  expect(await cursorSource.describe(found[0]!)).toMatchObject({ title: "It", startedAt: 1_700_000_000_000 });
  const log = await openLog(`${editor.path}#a`);
  const page = await log.tail(10);
  expect(page.entries.map(entryLine)).toEqual([
    "user: do it",
    "model gpt: think(hm)",
    "model: call(run_terminal_cmd c ls → done)",
    "result c done: a",
    'model: "Done." {"input":3,"output":7}',
  ]);
  expect(page.turnOpen).toBe(false);
  expect(await log.info()).toMatchObject({ model: "gpt", title: "It" });
  await log.close();
});

test("how calls of the editor ended, and messages of older versions within the chat", async () => {
  const said = (more: object): string =>
    saidLines(classifyBubble({ ...at, value: { type: 2, ...more } }))[2] ?? "";
  expect(said(tool("error", { error: '{"clientVisibleErrorMessage":"no"}' }))).toBe("  result c failed: no");
  expect(said(tool("cancelled"))).toBe("  result c interrupted: ");
  expect(said(tool("completed", { userDecision: "rejected" }))).toBe("  result c interrupted: ");
  expect(said(tool("loading"))).toBe("  result c running: ");
  const editor = new EditorWriter();
  editor.put("composerData:old", { conversation: [{ type: 1, bubbleId: "x", text: "old words" }] });
  const log = await openLog(`${editor.path}#old`);
  expect((await log.tail(10)).entries.map(entryLine)).toEqual(["user: old words"]);
  await log.close();
});

test("a chat of the editor, read in every way and followed write by write, is one", async () => {
  const editor = new EditorWriter();
  let n = 0;
  await expectShelfLaws(() => {
    n += 1;
    const id = `c${n}`;
    return {
      open: () => openSessionStore(editor.path, editorTables, id),
      writes: [
        () => editor.bubble(id, "b1", 1, { text: "do it" }),
        () => editor.bubble(id, "b2", 2, { text: "I" }, "generating"),
        () => editor.bubble(id, "b2", 2, { text: "I look" }, "generating"),
        () => editor.bubble(id, "b3", 2, tool("loading"), "generating"),
        () => editor.bubble(id, "b3", 2, tool("completed", { result: "a" }), "generating"),
        () => editor.bubble(id, "b4", 2, { text: "Done." }),
        () => editor.bubble(id, "b5", 1, { text: "and now?" }),
      ],
    };
  });
});

test("a session that stands in a transcript too is found once", async () => {
  new ChatWriter("a").say("user", "do it");
  home.write(".cursor/projects/w/agent-transcripts/a/a.jsonl", "{}\n");
  home.write(".cursor/projects/w/agent-transcripts/b/b.jsonl", "{}\n");
  const { found } = await discoverAll(cursorSource, home.around);
  expect(found.map(({ id, path }) => [id, path.includes("store.db#")])).toEqual([
    ["a", true],
    ["b", false],
  ]);
});

test("EDITOR_FRESH_MESSAGES_MAX: a change of equal length is seen in the newest messages", async () => {
  const editor = new EditorWriter();
  for (let n = 0; n <= EDITOR_FRESH_MESSAGES_MAX; n++) editor.bubble("a", `b${n}`, 1, { text: `one ${n}` });
  const store = await openSessionStore(editor.path, editorTables, "a");
  const prints = (): unknown[] => store.standing.rows.slice(0, 2).map(({ row }) => row.print);
  const before = prints();
  for (const n of [0, 1]) editor.put(`bubbleId:a:b${n}`, { bubbleId: `b${n}`, type: 1, text: `two ${n}` });
  await store.refresh();
  const after = prints();
  expect([after[0] === before[0], after[1] === before[1]]).toEqual([true, false]);
  await store.close();
});

test("CHAT_ROOT_BYTES_MAX: a list of messages above it is not read", () => {
  const { database } = begin(
    "x.db",
    "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
  );
  database.run(`INSERT INTO meta VALUES ('0', '{"agentId":"a","latestRootBlobId":"r"}')`);
  const first = Buffer.concat([Buffer.of(0x0a, 32), Buffer.alloc(32, 1)]);
  const counts: number[] = [];
  for (const bytes of [CHAT_ROOT_BYTES_MAX, CHAT_ROOT_BYTES_MAX + 1]) {
    const root = Buffer.concat([first, Buffer.alloc(bytes - first.length)]);
    database.prepare("INSERT OR REPLACE INTO blobs VALUES ('r', ?)").run(root);
    counts.push(chatTables.messages(database, "a").length);
  }
  expect(counts).toEqual([1, 0]);
});

test("EDITOR_LIST_BYTES_MAX: a database above it is not copied for a list", async () => {
  const editor = new EditorWriter();
  editor.bubble("a", "b1", 1, { text: "do it" });
  const { size } = statSync(editor.path);
  expect(size).toBeLessThan(EDITOR_LIST_BYTES_MAX);
  const told = async (bytesMax: number): Promise<unknown> => {
    const problems: string[] = [];
    const found: string[] = [];
    for await (const { id } of editorSessions(home.around, (path) => problems.push(path), bytesMax))
      found.push(id);
    return [found, problems];
  };
  expect(await told(size)).toEqual([["a"], []]);
  expect(await told(size - 1)).toEqual([[], [editor.path]]);
});
