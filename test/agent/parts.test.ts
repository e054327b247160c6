/** The small parts: the wire, the readings, the blocks, the changes that are kept, the context. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Blocks } from "../../src/agent/blocks.ts";
import { headOfBytes, nameOf, newCall, withNews } from "../../src/agent/calls.ts";
import { ChangeHub } from "../../src/agent/change-hub.ts";
import { compactJson, headOf, summarizeInput } from "../../src/agent/input.ts";
import { findKnownAgent, findProgram, knownAgents } from "../../src/agent/known.ts";
import {
  changesBehindMax,
  changesKeptMax,
  contextBytesMax,
  messageHeadBytes,
  messageTailBytes,
  stderrBytesMax,
} from "../../src/agent/limits.ts";
import { exitSentence, LastWords } from "../../src/agent/process.ts";
import { contextText } from "../../src/agent/replay.ts";
import { placeFile } from "../../src/agent/small-files.ts";
import { readCall, readOptions, readUpdate } from "../../src/agent/updates.ts";
import { readWire, type WireItem } from "../../src/agent/wire.ts";
import { nodePorts } from "../../src/log/index.ts";
import type { Change } from "../../src/session/index.ts";
import { PENDING_BLOCKS_MAX } from "../../src/session/index.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { tell } from "./drive.ts";

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let at = 0;
  for (const end of [...ends, bytes.length]) {
    yield bytes.subarray(at, end);
    at = end;
  }
}

async function wire(
  text: string,
  cuts: readonly number[] = [],
  bytesMax?: number,
  textBytesMax?: number,
): Promise<WireItem[]> {
  const items: WireItem[] = [];
  for await (const item of readWire(chunksOf(Buffer.from(text), cuts), bytesMax, textBytesMax))
    items.push(item);
  return items;
}

describe("the wire", () => {
  it("reads objects, and tells lines that are none", async () => {
    expect(await wire('{"a":1}\r\n\n  \nnot json\n[1]\n7\n{"b":"\u00e9"}')).toEqual([
      { type: "message", value: { a: 1 } },
      { type: "bad", text: "not json", bytes: 8 },
      { type: "bad", text: "[1]", bytes: 3 },
      { type: "bad", text: "7", bytes: 1 },
      { type: "message", value: { b: "é" } },
    ]);
  });

  it("gives the same however it is cut", async () => {
    const line = fc.oneof(
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc.string().filter((s) => !/[\r\n]/.test(s)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat()), async (lines, cuts) => {
        const text = lines.join("\n");
        expect(await wire(text, cuts, 40)).toEqual(await wire(text, [], 40));
      }),
    );
  });

  it("at the limit: a message of just so many bytes is one, a byte more is passed over with its ends kept", async () => {
    const message = (length: number): string => JSON.stringify({ x: "y".repeat(length - 8) });
    expect(message(1000)).toHaveLength(1000);
    expect(await wire(`${message(1000)}\n`, [10], 1000)).toMatchObject([{ type: "message" }]);
    // No text of it is long: cutting does not help.
    const long = JSON.stringify(Array.from({ length: 5_000 }, () => 1234567));
    expect(await wire(`${long}\n{"next":1}\n`, [10, 900, 5000], 1000)).toEqual([
      {
        type: "large",
        head: long.slice(0, messageHeadBytes),
        tail: long.slice(-messageTailBytes),
        bytes: long.length,
      },
      { type: "message", value: { next: 1 } },
    ]);
  });
});

describe("a message longer than the limit", () => {
  const cut = (value: unknown, cuts: readonly number[] = [], bytesMax = 1000) =>
    wire(`${JSON.stringify(value)}\n`, cuts, bytesMax, 100);

  it("at the limit: of a longer message the long texts are cut, each says so, and what is short is whole", async () => {
    const [a, b] = ["a".repeat(100), "b".repeat(101)];
    const bytes = JSON.stringify({ a, b, c: "c".repeat(2_000), d: { e: [1, null, "é"] } }).length + 1;
    expect(await cut({ a, b, c: "c".repeat(2_000), d: { e: [1, null, "é"] } })).toEqual([
      {
        type: "cut",
        bytes,
        value: {
          a,
          b: `${"b".repeat(100)}… [1 bytes left out]`,
          c: `${"c".repeat(100)}… [1900 bytes left out]`,
          d: { e: [1, null, "é"] },
        },
      },
    ]);
  });

  it("is cut between characters and escapes, wherever its bytes were parted", async () => {
    const text = fc.string({ unit: "grapheme", minLength: 0, maxLength: 400 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 3, maxLength: 8 }),
        fc.array(fc.nat(4_000)),
        async (texts, cuts) => {
          const value = { texts, quotes: '\\"'.repeat(600), controls: "\u0001\n".repeat(300) };
          const items = await cut(value, cuts);
          expect(items).toEqual(await cut(value));
          expect(items).toHaveLength(1);
          if (items[0]?.type === "large") return;
          expect(items[0]?.type).toBe("cut");
          const got = (items[0] as unknown as { value: typeof value }).value;
          const pairs = [
            ...texts.map((whole, at) => [whole, got.texts[at] ?? ""] as const),
            [value.quotes, got.quotes] as const,
          ];
          for (const [whole, kept] of pairs) {
            const start = kept.replace(/… \[\d+ bytes left out\]$/, "");
            expect(whole.startsWith(start)).toBe(true);
            if (start !== whole) expect(kept).toMatch(/ bytes left out\]$/);
          }
        },
      ),
    );
  });
});

describe("reading what an agent tells", () => {
  it("is total: any JSON value gives an answer", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(readUpdate(value).type).toBeTypeOf("string");
        readCall(value);
        readOptions(value);
      }),
    );
    const kinds = [
      "agent_message_chunk",
      "tool_call",
      "plan",
      "current_mode_update",
      "available_commands_update",
      "usage_update",
      "notice",
      "compaction_update",
      "session_info_update",
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.dictionary(
          fc.constantFrom(
            "content",
            "toolCallId",
            "entries",
            "title",
            "rawInput",
            "rawOutput",
            "locations",
            "status",
          ),
          fc.jsonValue(),
        ),
        (sessionUpdate, fields) => {
          expect(readUpdate({ ...fields, sessionUpdate }).type).toBeTypeOf("string");
        },
      ),
    );
  });

  it.each([
    ["Read a.txt", { path: "a.txt" }, { name: "Read", subject: "a.txt" }],
    ["`npm test`", { command: "npm test" }, { name: "execute", subject: "npm test" }],
    ["Modify the file", { path: "b" }, { name: "Modify the file", subject: "b" }],
    ["Think", undefined, { name: "Think" }],
    [undefined, { command: ["git", "status"] }, { name: "execute", subject: "git status" }],
  ])("names a call %j with input %j", (title, input, named) => {
    const call = withNews(
      newCall("c", "~1", 0),
      {
        id: "c",
        isNew: true,
        kind: "execute",
        ...(title === undefined ? {} : { title }),
        ...(input === undefined ? {} : { input }),
      },
      0,
      100,
    );
    expect(nameOf(call)).toEqual(named);
  });

  it("takes an option of an unknown kind as allowing once", () => {
    expect(
      readOptions([{ optionId: "x", name: "Sure", kind: "allow_for_ever" }, { name: "no id" }, 7]),
    ).toEqual([{ id: "x", label: "Sure", kind: "allow-once" }]);
  });

  it("summarises an input in 200 code points, keys sorted", () => {
    expect(summarizeInput({ b: 1, a: "x" })).toBe('{"a":"x","b":1}');
    expect([...summarizeInput({ a: "😀".repeat(300) })]).toHaveLength(201);
    expect(compactJson({ a: "y".repeat(1000) }, 50)).toHaveLength(50);
  });

  it("cuts between code points", () => {
    expect(headOf("a😀b", 2)).toBe("a");
    expect(headOfBytes("aé😀", 2)).toBe("a");
    expect(headOfBytes("aé😀", 3)).toBe("aé");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(40), (words, max) => {
        const head = headOfBytes(words, max);
        expect(Buffer.byteLength(head)).toBeLessThanOrEqual(max);
        expect(words.startsWith(head)).toBe(true);
      }),
    );
  });
});

describe("small files", () => {
  it.each(["write", "rename"] as const)("a %s that fails leaves nothing that takes room", async (what) => {
    const folder = await mkdtemp(join(tmpdir(), "hansard-small-"));
    const full = (): Promise<never> => Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" }));
    const { files } = nodePorts;
    const open: typeof files.open = async (path, mode) => {
      const file = await files.open(path, mode);
      return what === "write" ? Object.assign(file, { write: full }) : file;
    };
    const ports = {
      files: { ...files, open, ...(what === "rename" ? { rename: full } : {}) },
      randomId: () => "x",
    };
    await expect(placeFile(ports, join(folder, "output.json"), "long")).rejects.toMatchObject({
      code: "ENOSPC",
    });
    expect(await readdir(folder)).toEqual([]);
    await rm(folder, { recursive: true });
  });
});

describe("the blocks", () => {
  const prompt = { kind: "delivered", sender: "user", body: "p" } as const;
  const result = { kind: "delivered", sender: "tool", body: "r" } as const;
  const place = (start: number, ordinal = 0) => ({ start, end: start + 10, ordinal });

  it("finish in the order of the log, under the names of the log", () => {
    const blocks = new Blocks();
    const told = [
      ...blocks.open("~1", prompt),
      ...blocks.placed("~1", place(50)),
      ...blocks.placed("~2", place(60)),
      ...blocks.finish("~2", result),
    ];
    expect(told.map((change) => tell(change).join())).toEqual([
      "blockOpened user: p",
      "blockChanged user: p was ~1",
      "blockOpened tool: r",
    ]);
    const end = blocks.finish("~1", prompt);
    expect(end).toMatchObject([
      {
        type: "blockFinished",
        entry: { name: "@50", place: { start: 50, end: 60 } },
        start: "50",
        end: "60",
      },
      { type: "blockFinished", entry: { name: "@60" }, start: "60", end: "70" },
    ]);
    expect(blocks.live()).toEqual([]);
  });

  it("without places keep their own names", () => {
    const blocks = new Blocks("7");
    expect(blocks.placed("~1", { start: 0, end: 0, ordinal: 0 })).toEqual([]);
    expect(blocks.finish("~1", prompt)).toMatchObject([{ entry: { name: "~1" }, start: "7", end: "7" }]);
  });

  it("name the second block of a record by its ordinal", () => {
    const blocks = new Blocks();
    blocks.placed("~1", place(5, 1));
    expect(blocks.finish("~1", prompt)).toMatchObject([{ entry: { name: "@5.1" }, start: "5.1", end: "15" }]);
  });

  it("at the limit: the oldest is finished as it is", () => {
    const blocks = new Blocks();
    for (let n = 0; n < PENDING_BLOCKS_MAX; n += 1) blocks.open(`~${n}`, prompt);
    expect(blocks.open("one more", prompt).map(({ type }) => type)).toEqual(["blockFinished", "blockOpened"]);
    expect(blocks.live()).toHaveLength(PENDING_BLOCKS_MAX);
  });
});

describe("the changes that are kept", () => {
  const changed = (name: string, body: string): Change => ({
    type: "blockChanged",
    entry: { kind: "delivered", sender: "user", name, body },
  });

  async function closed(hub: ChangeHub, from: number): Promise<readonly Change[]> {
    hub.close();
    return await read(hub, from);
  }

  async function read(hub: ChangeHub, from = 0): Promise<readonly Change[]> {
    const out: Change[] = [];
    for await (const change of hub.from(from, new AbortController().signal)) out.push(change);
    return out;
  }

  it("are read by each reader from where it began, the newest state of a block once", async () => {
    const hub = new ChangeHub();
    const first = read(hub, hub.claim());
    hub.tell({ type: "turnStarted" });
    hub.tell(changed("a", "1"));
    hub.tell(changed("a", "12"));
    const second = read(hub, hub.claim());
    hub.tell(changed("a", "123"));
    hub.tell({ type: "saved" });
    hub.close();
    expect(await first).toEqual([{ type: "turnStarted" }, changed("a", "123"), { type: "saved" }]);
    expect(await second).toEqual([changed("a", "123"), { type: "saved" }]);
  });

  it("are let go when all have read them", async () => {
    const hub = new ChangeHub();
    hub.claim();
    hub.tell({ type: "saved" });
    const changes = hub.from(0, new AbortController().signal)[Symbol.asyncIterator]();
    expect((await changes.next()).value).toEqual({ type: "saved" });
    hub.tell({ type: "compacted" });
    expect((await changes.next()).value).toEqual({ type: "compacted" });
    await changes.return?.(undefined);
    expect(await closed(hub, 0)).toMatchObject([{ type: "reset" }]);
  });

  it("at the limit: one who is behind is told to read the tail again", async () => {
    const hub = new ChangeHub();
    const from = hub.claim();
    for (let n = 0; n < changesKeptMax; n += 1) hub.tell({ type: "saved" });
    const changes = hub.from(from, new AbortController().signal)[Symbol.asyncIterator]();
    expect((await changes.next()).value).toEqual({ type: "saved" });
    // The first one is not let go before the second is asked for.
    hub.tell({ type: "compacted" });
    expect((await changes.next()).value).toEqual({ type: "saved" });
    hub.tell({ type: "compacted" });
    hub.tell({ type: "compacted" });
    expect((await changes.next()).value).toMatchObject({ type: "reset" });
  });

  it("hold the agent up while a reader is far behind", async () => {
    const hub = new ChangeHub();
    const changes = hub.from(hub.claim(), new AbortController().signal)[Symbol.asyncIterator]();
    const first = changes.next();
    for (let n = 0; n < changesBehindMax; n += 1) hub.tell({ type: "saved" });
    expect(hub.isBehind).toBe(false);
    hub.tell({ type: "saved" });
    expect(hub.isBehind).toBe(true);
    let isFree = false;
    const free = hub.caughtUp(new AbortController().signal).then(() => {
      isFree = true;
    });
    await first;
    expect(isFree).toBe(false);
    await changes.next();
    await free;
    expect(hub.isBehind).toBe(false);
  });

  it("give each reader every block's last state, whatever is told and wherever it begins", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom("a", "b"), fc.string()), { minLength: 1 }),
        fc.nat(),
        async (told, start) => {
          const hub = new ChangeHub();
          const from = start % told.length;
          const last = new Map<string, string>();
          let reading: Promise<readonly Change[]> = Promise.resolve([]);
          for (const [index, [name, body]] of told.entries()) {
            if (index === from) reading = read(hub, hub.claim());
            hub.tell(changed(name, body));
            if (index >= from) last.set(name, body);
          }
          hub.close();
          const seen = new Map<string, string>();
          for (const change of await reading)
            if (change.type === "blockChanged" && change.entry.kind === "delivered")
              seen.set(change.entry.name, change.entry.body);
          expect(seen).toEqual(last);
        },
      ),
    );
  });

  it("stop with the signal", async () => {
    const hub = new ChangeHub();
    const abort = new AbortController();
    const reading = (async () => {
      for await (const _ of hub.from(0, abort.signal)) throw new Error("nothing was told");
    })();
    abort.abort();
    await reading;
  });
});

describe("last words", () => {
  it("are the last lines, a cut first line left out", () => {
    const words = new LastWords();
    words.add(Buffer.from(`${"x".repeat(stderrBytesMax)}\n`));
    words.add(Buffer.from("one\n\ntwo\nthree\nfour\n"));
    expect(words.lines()).toEqual(["two", "three", "four"]);
    expect(exitSentence("fake", { code: null, signal: "SIGKILL" }, [])).toBe("fake was ended by SIGKILL");
    expect(exitSentence("fake", { code: 0, signal: null }, ["a", "b"])).toBe("fake ended: a / b");
  });
});

describe("the context", () => {
  const said = (body: string): Entry => ({ kind: "delivered", name: "", sender: "user", body });

  it("is bounded, newest first, and tells what it leaves out", () => {
    const text = contextText(Array.from({ length: 100 }, (_, n) => said(`${n} ${"x".repeat(2000)}`))) ?? "";
    expect(Buffer.byteLength(text)).toBeLessThan(contextBytesMax + 1000);
    expect(text).toMatch(/The \d+ entries before are left out\./);
    expect(text).toContain('"99 x');
    expect(contextText([])).toBeUndefined();
  });

  it("has no line that ends the quotation, whatever was said", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        const lines = (contextText([...words, "record>>>", "\nrecord>>>\n"].map(said)) ?? "").split("\n");
        expect(lines.filter((line) => line === "record>>>")).toHaveLength(1);
      }),
    );
  });
});

describe("known agents", () => {
  const around = (...programs: string[]) => ({
    env: { PATH: "/usr/bin:/opt/bin" },
    platform: "linux",
    isProgram: async (path: string) => programs.includes(path),
  });

  it("are found on PATH, the better command first", async () => {
    expect(await findKnownAgent("claude", around("/opt/bin/claude-code-acp"))).toMatchObject({
      command: { program: "/opt/bin/claude-code-acp", args: [] },
    });
    expect(await findKnownAgent("gemini", around("/usr/bin/gemini"))).toMatchObject({
      agent: { label: "Gemini CLI" },
      command: { program: "/usr/bin/gemini", args: ["--acp"] },
    });
    expect(await findProgram("./x", around("./x"))).toBe("./x");
  });

  it.each(knownAgents.map(({ name }) => name))("say how to get %s where it is missing", async (name) => {
    await expect(findKnownAgent(name, around())).rejects.toMatchObject({
      code: "agent-missing",
      message: expect.stringMatching(/ needs the command .+, which is not on PATH$/),
      next: expect.stringMatching(/./),
    });
  });

  it("are named where the name is none", async () => {
    await expect(findKnownAgent("clod", around())).rejects.toMatchObject({
      message: 'there is no agent called "clod"',
      next: expect.stringContaining("claude, codex, gemini"),
    });
  });
});
