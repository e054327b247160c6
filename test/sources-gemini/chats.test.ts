/** Chats of both shapes: their order, read from either end, and followed while they are written. */
import { appendFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { openGeminiLog } from "../../src/sources/gemini/log.ts";
import { geminiSource } from "../../src/sources/gemini/source.ts";
import type { Log } from "../../src/sources/types.ts";
import { entryLine } from "../support/entry-notation.ts";
import { fixture } from "../support/fixtures.ts";
import { type Home, makeHome } from "../support/home.ts";
import { cutAt, cutPlaces, readBackward, readForward } from "../support/log-laws.ts";
import { createLooks, Follower } from "../support/watched-log.ts";
import { call, chatDocument, chatLines, info, model, tokens, user } from "./support.ts";

let home: Home | undefined;
const open: Log[] = [];
afterEach(async () => {
  for (const log of open.splice(0)) await log.close();
  home?.remove();
  home = undefined;
});

function put(content: string | Uint8Array, name = "session-2026-06-01T00-00-abcdefgh.jsonl"): string {
  home ??= makeHome();
  return home.write(`.gemini/tmp/p/chats/${name}`, content);
}

async function openAt(path: string): Promise<Log> {
  const log = await geminiSource.open(path);
  open.push(log);
  return log;
}

async function told(content: string | Uint8Array): Promise<string[]> {
  return (await (await openAt(put(content))).tail(1000)).entries.map(entryLine);
}

const order: readonly [string, string, string[]][] = [
  [
    "a repeated id replaces the message in its place",
    chatLines(user("a", "one"), model("b", "I l", {}), info("c", "note"), model("b", "I look", tokens(7))),
    [
      "user: one",
      'model g: "I look" {"input":1,"output":7,"cached":0,"thoughts":0,"tool":0,"total":8}',
      "system/notice: note",
    ],
  ],
  [
    "a rewind leaves the message and all after it",
    chatLines(
      user("a", "one"),
      model("b", "1", {}),
      user("c", "two"),
      model("d", "2", {}),
      { $rewindTo: "c" },
      user("e", "three"),
    ),
    ["user: one", 'model g: "1"', "(left) user: two", '(left) model g: "2"', "user: three"],
  ],
  [
    "a rewind to an unknown message leaves all",
    chatLines(user("a", "one"), model("b", "1", {}), { $rewindTo: "zz" }, user("c", "two")),
    ["(left) user: one", '(left) model g: "1"', "user: two"],
  ],
  [
    "a message that comes back after a rewind is a new one",
    chatLines(user("a", "one"), model("b", "1", {}), { $rewindTo: "b" }, model("b", "1 again", {})),
    ["user: one", '(left) model g: "1"', 'model g: "1 again"'],
  ],
  [
    "a whole history that is set keeps what stands in the same order, and leaves the rest",
    chatLines(
      user("a", "one"),
      model("b", "1", {}),
      user("c", "two"),
      { $set: { messages: [user("a", "one (short)"), user("s", "summary"), user("c", "two")] } },
      model("d", "2", {}),
    ),
    [
      "user: one (short)",
      '(left) model g: "1"',
      "(left) user: two",
      "user: summary",
      "user: two",
      'model g: "2"',
    ],
  ],
  [
    "facts alone change no message",
    chatLines(user("a", "one"), { $set: { summary: "A title", lastUpdated: "x" } }),
    ["user: one"],
  ],
  [
    "messages within the header",
    chatLines()
      .trim()
      .replace(/\}$/, `,"messages":[${JSON.stringify(user("a", "one"))}]}\n`) +
      `${JSON.stringify(model("b", "1", {}))}\n`,
    ["user: one", 'model g: "1"'],
  ],
  [
    "an unknown kind is shown",
    chatLines({ id: "a", type: "dream", timestamp: "2026-06-01T00:00:00.000Z" }),
    [expect.stringMatching(/^raw \(unknown record kind dream\)/) as unknown as string],
  ],
  [
    "a document",
    chatDocument([user("a", "one"), model("b", "1", { toolCalls: [call("t", "success")] })]),
    ["user: one", 'model g: "1" call(run_shell_command t t → done)', "result t done 22000ms: ok"],
  ],
  ["a document in one line", JSON.stringify(JSON.parse(chatDocument([user("a", "one")]))), ["user: one"]],
  [
    "a document that lines follow",
    `${chatDocument([user("a", "one")])}\n${JSON.stringify(model("b", "1", {}))}\n`,
    ["user: one", 'model g: "1"'],
  ],
  ["a document behind a byte order mark", `\ufeff${chatDocument([user("a", "é")])}`, ["user: é"]],
];

describe("order", () => {
  test.each(order)("%s", async (_, content, lines) => {
    expect(await told(content)).toEqual(lines);
  });

  test.each([
    ...order.map(([name, content]) => [name, content] as const),
    ["a real document", fixture("sources/gemini/legacy-1.json.gz")] as const,
  ])("from either end, by pages of any size: %s", async (_, content) => {
    const log = await openAt(put(content));
    const whole = await readBackward(log, 1000);
    for (const limit of [1, 2, 3, 100]) {
      expect(await readBackward(log, limit)).toEqual(whole);
      expect(await readForward(log, limit)).toEqual(whole);
    }
    for (const entry of whole) {
      const bytes = entry.place === undefined ? new Uint8Array(0) : await log.raw(entry.place);
      expect(JSON.parse(Buffer.from(bytes).toString())).toBeTypeOf("object");
    }
  });
});

interface Watched {
  readonly log: Log;
  readonly follower: Follower;
  readonly path: string;
}

async function watch(content: string | Uint8Array): Promise<Watched> {
  const path = put(content);
  const looks = createLooks();
  const log = await openGeminiLog({ path, info: { agent: "gemini", id: "x", path }, ports: looks.ports });
  open.push(log);
  return { log, path, follower: new Follower(log, looks) };
}

/** Expects of a follower what reading the chat anew says. */
async function expectCaughtUp({ log, follower }: Watched): Promise<void> {
  const tail = await log.tail(1000);
  expect(follower.told.entries.map(entryLine)).toEqual(tail.entries.map(entryLine));
  expect(follower.told.entries).toEqual(tail.entries);
  expect(follower.told.isOpen).toBe(tail.turnOpen);
  expect([...follower.told.live]).toEqual(tail.live);
}

const growing = chatLines(
  user("a", "one é😀"),
  model("b", "I l", {}),
  model("b", "I look", { toolCalls: [call("t", "executing")] }),
  model("b", "I look", { toolCalls: [call("t", "success")], ...tokens(7) }),
  model("c", "done", {}),
  model("c", "done.", tokens(3)),
  info("n", "note"),
  user("d", "two"),
  model("e", "2", tokens(1)),
  { $rewindTo: "d" },
  user("f", "two again"),
  model("g", "2b", tokens(1)),
  { $set: { messages: [user("a", "one é😀"), user("s", "summary")] } },
  user("h", "three"),
);

describe("following", () => {
  test("lines written in any pieces say what the whole says", async () => {
    await fc.assert(
      fc.asyncProperty(cutPlaces, async (places) => {
        const [first, ...rest] = cutAt(Buffer.from(growing), [0, ...places]);
        const watched = await watch(first ?? "");
        for (const piece of rest) {
          appendFileSync(watched.path, piece);
          await watched.follower.look();
          await expectCaughtUp(watched);
        }
        await watched.follower.stop();
      }),
      { numRuns: 40 },
    );
  });

  test("lines that only append are told without a new start", async () => {
    const watched = await watch(chatLines(user("a", "one")));
    const records = [
      model("b", "I l", {}),
      model("b", "I look", tokens(7)),
      info("n", "note"),
      user("d", "two"),
      model("e", "2", tokens(1)),
      { $rewindTo: "d" },
      user("f", "again"),
    ];
    for (const record of records) {
      appendFileSync(watched.path, `${JSON.stringify(record)}\n`);
      await watched.follower.look();
      await expectCaughtUp(watched);
    }
    expect(watched.follower.told.resets).toBe(0);
    expect(watched.follower.told.marks).toEqual(["turnEnded", "turnStarted", "turnEnded", "turnStarted"]);
    await watched.follower.stop();
  });

  test("a tool that ends while it is the last thing said changes its call and brings its result, without a new start", async () => {
    const watched = await watch(
      chatLines(user("a", "one"), model("b", "I look", { toolCalls: [call("t", "executing")] })),
    );
    await watched.follower.look();
    expect(watched.follower.told.entries.map(entryLine)).toEqual([
      "user: one",
      'model g: "I look" call(run_shell_command t t → running)',
    ]);
    appendFileSync(
      watched.path,
      `${JSON.stringify(model("b", "I look", { toolCalls: [call("t", "error", "bad")] }))}\n`,
    );
    await watched.follower.look();
    expect(watched.follower.told.entries.map(entryLine)).toEqual([
      "user: one",
      'model g: "I look" call(run_shell_command t t → failed)',
      "result t failed 22000ms: bad",
    ]);
    expect(watched.follower.told.resets).toBe(0);
    await watched.follower.stop();
  });

  test("a document that is rewritten, and met half written each time, never loses what was shown", async () => {
    const messages = [
      user("a", "one"),
      model("b", "1", { toolCalls: [call("t", "success")] }),
      model("c", "so", tokens(2)),
      user("d", "two"),
      model("e", "2", tokens(2)),
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 }),
        async (halves) => {
          const watched = await watch(chatDocument(messages.slice(0, 1)));
          await watched.follower.look();
          for (let n = 2; n <= messages.length; n++) {
            const content = chatDocument(messages.slice(0, n));
            const shown = watched.follower.told.entries.length;
            writeFileSync(watched.path, content.slice(0, Math.floor((halves[n - 2] ?? 0) * content.length)));
            await watched.follower.look();
            expect(watched.follower.told.entries.length).toBeGreaterThanOrEqual(shown);
            writeFileSync(watched.path, content);
            await watched.follower.look();
            await watched.follower.look();
            await expectCaughtUp(watched);
          }
          expect(watched.follower.told.resets).toBe(0);
          await watched.follower.stop();
        },
      ),
      { numRuns: 25 },
    );
  });

  test("messages taken out of a document are a new start", async () => {
    const watched = await watch(chatDocument([user("a", "one"), model("b", "1"), user("c", "two")]));
    await watched.follower.look();
    writeFileSync(watched.path, chatDocument([user("a", "one")]));
    await watched.follower.look();
    await watched.follower.look();
    expect(watched.follower.told.resets).toBe(1);
    await expectCaughtUp(watched);
    await watched.follower.stop();
  });

  test("messages that come back where the file lost its rewind are a new start", async () => {
    const messages = [user("a", "one"), model("b", "1"), user("c", "two")];
    const watched = await watch(chatLines(...messages, { $rewindTo: "b" }));
    await watched.follower.look();
    expect(watched.follower.told.entries.filter((e) => e.offPath)).toHaveLength(2);
    renameSync(put(chatLines(...messages), "other.jsonl"), watched.path);
    await watched.follower.look();
    await watched.follower.look();
    await expectCaughtUp(watched);
    expect(watched.follower.told.resets).toBe(1);
    await watched.follower.stop();
  });

  test("a file that is replaced by another, and one that goes and comes back", async () => {
    const watched = await watch(chatLines(user("a", "one")));
    await watched.follower.look();
    const other = put(chatLines(user("z", "other")), "other.jsonl");
    renameSync(other, watched.path);
    await watched.follower.look();
    await watched.follower.look();
    await expectCaughtUp(watched);
    rmSync(watched.path);
    await watched.follower.look();
    await watched.follower.look();
    expect(watched.follower.events.filter((e) => e === "gone")).toHaveLength(1);
    writeFileSync(watched.path, chatLines(user("z", "other"), model("y", "1")));
    await watched.follower.look();
    await watched.follower.look();
    await expectCaughtUp(watched);
    await watched.follower.stop();
  });

  test("a look at an unchanged file says nothing", async () => {
    const watched = await watch(growing);
    await watched.follower.look();
    const before = watched.follower.events.length;
    for (let n = 0; n < 5; n++) await watched.follower.look();
    expect(watched.follower.events).toHaveLength(before);
    await watched.follower.stop();
  });
});
