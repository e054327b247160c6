/** Threads of Amp: what each message means, read in every way, followed while they are rewritten. */
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { classifyMessage } from "../../src/sources/amp/message.ts";
import { ampFormat, ampSource } from "../../src/sources/amp/source.ts";
import { expectDocumentLaws, openDocument, told } from "../support/document-agents.ts";
import { saidLines } from "../support/entry-notation.ts";
import { fixture } from "../support/fixtures.ts";
import { discoverAll, type Home, makeHome } from "../support/home.ts";

let home: Home | undefined;
afterEach(() => {
  home?.remove();
  home = undefined;
});

function said(value: unknown): string[] {
  return saidLines(classifyMessage({ value, index: 3, start: 0, end: 1 }));
}
const text = (words: string): object => ({ type: "text", text: words });
const use = (id: string, name = "Bash", input: object = { cmd: id }): object => ({
  type: "tool_use",
  id,
  name,
  input,
});
const result = (id: string, run: object): object => ({ type: "tool_result", toolUseID: id, run });
const user = (messageId: number, ...content: object[]): object => ({
  role: "user",
  messageId,
  content,
  meta: { sentAt: 1_780_000_000_000 + messageId * 1000 },
});
const model = (messageId: number, content: object[], state: object, usage?: object): object => ({
  role: "assistant",
  messageId,
  content,
  state,
  ...(usage === undefined ? {} : { usage }),
});
const complete = { type: "complete", stopReason: "end_turn" };
const calls = { type: "complete", stopReason: "tool_use" };

const env = {
  initial: {
    trees: [{ displayName: "w", uri: "file:///w%20x", repository: { type: "git", ref: "refs/heads/main" } }],
    platform: { os: "linux", client: "CLI", clientVersion: "0.1" },
  },
};
function thread(messages: readonly object[], more: object = { title: "A title" }): string {
  return JSON.stringify({
    v: messages.length,
    id: "T-019b9d03",
    created: 1_780_000_000_000,
    messages,
    env,
    ...more,
  });
}

describe("messages", () => {
  test.each<[string, unknown, string[]]>([
    ["a prompt", user(0, text("do"), text("it")), ["user [start]", "  user: do\nit"]],
    [
      "a prompt with an image",
      user(0, text("see"), {
        type: "image",
        source: { type: "base64", mediaType: "image/png", data: "AAAA" },
      }),
      ["user [start]", "  user: see [image/png 3]"],
    ],
    [
      "results, of every standing",
      user(
        1,
        result("a", { status: "done", result: { output: "x", exitCode: 0 } }),
        result("b", { status: "done", result: { output: "no", exitCode: 2 } }),
        result("c", { status: "error", error: { message: "bad" } }),
        result("d", { status: "cancelled" }),
        result("e", { status: "rejected-by-user" }),
        result("f", { status: "in-progress", progress: "half" }),
        result("g", { status: "done", result: [{ type: "text", text: "p" }, "q"] }),
        result("h", { status: "done", result: { a: 1 } }),
      ),
      [
        "user",
        "  result a done 0: x",
        "  result b failed 2: no",
        "  result c failed: bad",
        "  result d interrupted: ",
        "  result e denied: ",
        "  result f running: half",
        "  result g done: p\nq",
        '  result h done: {"a":1}',
      ],
    ],
    [
      "a prompt typed while tools ran",
      user(1, result("a", { status: "cancelled" }), text("stop")),
      ["user [start implied]", "  result a interrupted: ", "  user: stop"],
    ],
    [
      "a call",
      model(1, [{ type: "thinking", thinking: "hm", signature: "s" }, text("I look"), use("a")], calls, {
        model: "m",
        inputTokens: 3,
        outputTokens: 7,
        timestamp: "2026-06-01T00:00:00.000Z",
      }),
      [
        'assistant [start automatic] {"model":"m"} message=7',
        '  model m: think(hm) "I look" call(Bash a a) {"inputTokens":3,"outputTokens":7}',
      ],
    ],
    [
      "changes of files",
      model(
        1,
        [
          use("a", "edit_file", { path: "a.ts", old_str: "x", new_str: "y" }),
          use("b", "create_file", { path: "b.ts", content: "x" }),
        ],
        calls,
      ),
      ["assistant [start automatic]", "  model: call(edit_file a a.ts ±a.ts) call(create_file b b.ts +b.ts)"],
    ],
    [
      "the last word",
      model(1, [text("Done.")], complete),
      ["assistant [start automatic] [end]", '  model: "Done."'],
    ],
    [
      "a text that is still written",
      model(1, [text("Do")], { type: "streaming" }),
      ["assistant [start automatic]", '  model: "Do"'],
    ],
    [
      "a message that was stopped",
      model(1, [text("Do")], { type: "cancelled" }),
      ["assistant [start automatic] [end]", '  model: "Do"', "  wounded interrupted"],
    ],
    [
      "a message that failed",
      model(1, [], { type: "error", error: { message: "overloaded" } }),
      ["assistant [start automatic] [end]", "  model:", "  wounded spoke: overloaded"],
    ],
    [
      "a summary",
      {
        role: "info",
        messageId: 2,
        content: [{ type: "summary", summary: { type: "message", summary: "so far" } }],
      },
      ["info [compacted]", "  compacted: so far"],
    ],
    [
      "a command run by hand",
      { role: "info", messageId: 2, content: [{ type: "manual_bash_invocation", args: { cmd: "ls" } }] },
      ["info", '  system/manual_bash_invocation: {"args":{"cmd":"ls"},"type":"manual_bash_invocation"}'],
    ],
    [
      "an unknown role",
      { role: "oracle", content: [] },
      ["oracle?", '  raw (unknown record kind oracle): {"content":[],"role":"oracle"}'],
    ],
    ["no message", 7, ["no role?", "  raw (unknown record kind no role): 7"]],
  ])("%s", (_, value, lines) => {
    expect(said(value)).toEqual(lines);
  });
});

const m0 = user(0, text("one é😀"));
const m1 = (done: boolean): object =>
  done
    ? model(1, [text("I look"), use("a"), use("b")], calls, { outputTokens: 5 })
    : model(1, [text("I l")], { type: "streaming" });
const m2 = (a: string, b: string): object =>
  user(2, result("a", { status: a, result: "ok a" }), result("b", { status: b, result: "ok b" }));
const states = [
  thread([m0], {}),
  thread([m0, m1(false)], {}),
  thread([m0, m1(true)]),
  thread([m0, m1(true), m2("in-progress", "in-progress")]),
  thread([m0, m1(true), m2("in-progress", "done")]),
  thread([m0, m1(true), m2("done", "done")]),
  thread([
    m0,
    m1(true),
    m2("done", "done"),
    model(3, [text("Done.")], complete, { model: "m", outputTokens: 2 }),
  ]),
  thread([m0, m1(true), m2("done", "done"), model(3, [text("Done.")], complete), user(4, text("two"))]),
];

expectDocumentLaws({
  kinds: { shown: ["assistant", "user"], silent: [], unknown: [] },
  format: ampFormat,
  sessions: {
    "a thread": states.at(-1) ?? "",
    "pretty-printed": JSON.stringify(JSON.parse(states.at(-1) ?? ""), null, 2),
    "behind a byte order mark": `\ufeff${states.at(-1)}`,
    "without messages": thread([]),
    "an id used twice": thread([user(0, text("one")), user(0, text("again"))]),
  },
  states,
  promptOf: (words) => thread([user(0, text(words))]),
  largeOf: (count) => thread(Array.from({ length: count }, (_, i) => user(i, text("x".repeat(1000))))),
});

test("entries of a thread, with calls and results in other messages", async () => {
  expect(await told(ampFormat, states[4] ?? "")).toEqual([
    "user: one é😀",
    'model: "I look" call(Bash a a → running) call(Bash b b → done) {"outputTokens":5}',
    "result a running: ok a",
    "result b done: ok b",
  ]);
  expect((await told(ampFormat, states[6] ?? "")).slice(1)).toEqual([
    'model: "I look" call(Bash a a → done) call(Bash b b → done) {"outputTokens":5}',
    "result a done: ok a",
    "result b done: ok b",
    'model m: "Done." {"outputTokens":2}',
  ]);
});

test("a message that is no JSON object stands in its place", async () => {
  const content = thread([m0, model(1, [text("Done.")], complete)]).replace('"one é😀"', '"one\u0001"');
  const { log } = await openDocument(ampFormat, content);
  const page = await log.tail(10);
  expect(page.entries.map((e) => [e.kind, e.kind === "raw" && e.damaged])).toEqual([
    ["raw", true],
    ["model", false],
  ]);
  expect(page.damage).toMatchObject([{ reason: "not-json" }]);
});

test("what is in a thread is counted, and a torn one is told", async () => {
  const { log } = await openDocument(ampFormat, states.at(-1) ?? "");
  expect(await log.check()).toMatchObject({
    agent: "amp",
    records: 5,
    recordKinds: { assistant: 2, user: 3 },
    unknownKinds: [],
    toolCalls: 2,
    toolResults: 2,
    unansweredCalls: 0,
    outputTokens: 5,
    turns: 2,
    openTurn: true,
    damaged: [],
  });
  const torn = await openDocument(ampFormat, (states.at(-1) ?? "").slice(0, -200));
  expect((await torn.log.check()).damaged).toMatchObject([{ reason: "torn" }]);
  expect((await torn.log.tail(10)).damage).toMatchObject([{ reason: "torn" }]);
});

describe("finding", () => {
  test.each([
    [{}, ".local/share/amp/threads"],
    [{ XDG_DATA_HOME: "~/data" }, "data/amp/threads"],
    [{ AMP_HOME: "~/amp" }, "amp/threads"],
  ])("threads under %j", async (env, folder) => {
    home = makeHome(env);
    home.write(`${folder}/T-1.json`, states[2] ?? "");
    home.write(`${folder}/other.json`, "{}");
    const { found, problems } = await discoverAll(ampSource, home.around);
    expect(problems).toEqual([]);
    expect(found.map((f) => f.path)).toEqual([join(home.path, folder, "T-1.json")]);
    expect(found[0] && (await ampSource.describe(found[0]))).toEqual({
      agent: "amp",
      id: "T-1",
      path: join(home.path, folder, "T-1.json"),
      bytes: Buffer.byteLength(states[2] ?? ""),
      modifiedAt: 1_700_000_000_000,
      title: "A title",
      titled: true,
      startedAt: 1_780_000_000_000,
      cwd: "/w x",
      gitBranch: "main",
      agentVersion: "0.1",
    });
  });

  test("a large thread is described from its ends: its title stands behind its messages", async () => {
    home = makeHome();
    const long = Array.from({ length: 200 }, (_, i) => user(i, text(i === 0 ? "first" : "x".repeat(1000))));
    home.write(".local/share/amp/threads/T-1.json", thread(long, { title: 'T "q"' }));
    home.write(".local/share/amp/threads/T-2.json", thread(long, {}));
    const { found } = await discoverAll(ampSource, home.around);
    const infos = await Promise.all(found.map((f) => ampSource.describe(f)));
    expect(infos.map((i) => [i.title, i.titled])).toEqual([
      ['T "q"', true],
      ["first", undefined],
    ]);
  });

  test.each<[string, string | Uint8Array, boolean]>([
    ["a thread", states[2] ?? "", true],
    ["a thread, pretty-printed", JSON.stringify(JSON.parse(states[2] ?? ""), null, 2), true],
    ["a chat of Gemini CLI", fixture("sources/gemini/legacy-2.json"), false],
    ["another document", '{"id":"x","messages":[]}', false],
    ["an empty file", "", false],
  ])("a thread is told from other files: %s", async (_, content, expected) => {
    expect(await ampSource.detects("x", Buffer.from(content as string))).toBe(expected);
  });
});
