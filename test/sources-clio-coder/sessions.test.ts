/** Sessions of clio-coder: what each entry means, read in every way, found and described. */
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { clioCoderClassifier } from "../../src/sources/clio-coder/classifier.ts";
import { clioCoderSource } from "../../src/sources/clio-coder/source.ts";
import { piSource } from "../../src/sources/pi/source.ts";
import { entryLine, saidLines } from "../support/entry-notation.ts";
import { fixture } from "../support/fixtures.ts";
import { discoverAll, type Home, lines, makeHome } from "../support/home.ts";
import { expectLineLaws } from "../support/line-agents.ts";
import { logOf } from "../support/log-laws.ts";

let home: Home | undefined;
afterEach(() => home?.remove());

let clock = 0;
function entry(turnId: string, parentTurnId: string | null, kind: string, more: object): object {
  clock += 1000;
  return {
    kind,
    turnId,
    parentTurnId,
    timestamp: new Date(1_780_000_000_000 + clock).toISOString(),
    ...more,
  };
}
const message = (id: string, parent: string | null, role: string, payload: unknown): object =>
  entry(id, parent, "message", { role, payload });
function said(value: unknown): string[] {
  return saidLines(clioCoderClassifier.classify({ type: "record", start: 100, end: 101, value }));
}
const text = (words: string): object => ({ type: "text", text: words });
const header = { type: "session", version: 3, id: "s", timestamp: "2026-06-01T00:00:00.000Z", cwd: "/w" };

describe("entries", () => {
  test.each<[string, unknown, string[]]>([
    ["a header", header, ['session {"startedAt":1780272000000,"cwd":"/w"}']],
    [
      "a header of a fork",
      { ...header, parentSession: "p" },
      ['session {"startedAt":1780272000000,"cwd":"/w","forkedFromId":"p"}'],
    ],
    ["a prompt", message("a", null, "user", { text: "do it" }), ["message/user [start]", "  user: do it"]],
    [
      "a prompt as it was typed",
      message("a", null, "user", { operatorText: "do it", content: [text("<expanded>")] }),
      ["message/user [start]", "  user: do it"],
    ],
    [
      "a prompt as a text alone",
      message("a", null, "user", "do it"),
      ["message/user [start]", "  user: do it"],
    ],
    [
      "what the program goes on with by itself",
      message("a", null, "user", { synthetic: true, text: "go on" }),
      ["message/user [start automatic]", "  system/context: go on"],
    ],
    [
      "an answer",
      message("a", null, "assistant", {
        content: [{ type: "thinking", thinking: "hm" }, text("Done.")],
        model: "m",
        usage: { input: 3, output: 7 },
      }),
      [
        'message/assistant [start automatic] [end] {"model":"m"} message=7',
        '  model m: think(hm) "Done." {"input":3,"output":7}',
      ],
    ],
    [
      "an answer as a text",
      message("a", null, "assistant", { text: "Done." }),
      ["message/assistant [start automatic] [end]", '  model: "Done."'],
    ],
    [
      "an answer with a call, which is an entry of its own",
      message("a", null, "assistant", {
        content: [text("I look"), { type: "toolCall", id: "x", name: "bash", arguments: {} }],
      }),
      ["message/assistant [start automatic]", '  model: "I look"'],
    ],
    [
      "an answer that failed",
      message("a", null, "assistant", { content: [], stopReason: "error", errorMessage: "bad" }),
      ["message/assistant [start automatic] [end]", "  model:", "  wounded spoke: bad"],
    ],
    [
      "an answer that was stopped",
      message("a", null, "assistant", { content: [text("I l")], stopReason: "aborted" }),
      ["message/assistant [start automatic] [end]", '  model: "I l"', "  wounded interrupted"],
    ],
    [
      "a call",
      message("a", null, "tool_call", { toolCallId: "x", name: "bash", args: { command: "ls" } }),
      ["message/tool_call [start automatic]", "  model: call(bash x ls)"],
    ],
    [
      "a result",
      message("a", null, "tool_result", {
        toolCallId: "x",
        toolName: "bash",
        result: { content: [text("a")] },
      }),
      ["message/tool_result", "  result x done: a"],
    ],
    [
      "results that failed, or were not allowed",
      message("a", null, "tool_result", { toolCallId: "x", result: "bad", isError: true }),
      ["message/tool_result", "  result x failed: bad"],
    ],
    [
      "a call that was not allowed",
      message("a", null, "tool_result", { toolCallId: "x", result: { output: "no" }, outcome: "blocked" }),
      ["message/tool_result", "  result x denied: no"],
    ],
    [
      "the system's words",
      message("a", null, "system", { text: "x" }),
      ["message/system", "  system/context: x"],
    ],
    ["a checkpoint", message("a", null, "checkpoint", {}), ["message/checkpoint"]],
    [
      "a command of the person",
      entry("a", null, "bashExecution", {
        command: "ls",
        output: "a\n",
        exitCode: 1,
        cancelled: false,
        truncated: true,
      }),
      ["bashExecution", "  system/command: $ ls\na\n(exit 1)\n(output cut by the agent)"],
    ],
    ["a model", entry("a", null, "modelChange", { modelId: "m" }), ['modelChange {"model":"m"}']],
    ["a name", entry("a", null, "sessionInfo", { name: "T" }), ['sessionInfo {"title":"T","titled":true}']],
    [
      "a summary of a branch",
      entry("a", null, "branchSummary", { summary: "tried" }),
      ["branchSummary", "  system/branch: tried"],
    ],
    [
      "a compaction",
      entry("a", null, "compactionSummary", {
        summary: "so far",
        tokensBefore: 9,
        tokensAfter: 1,
        trigger: "auto",
      }),
      ["compactionSummary [compacted]", "  compacted from 9 tokens by auto: so far"],
    ],
    ["a ledger", entry("a", null, "taskLedger", {}), ["taskLedger"]],
    [
      "an unknown kind",
      entry("a", null, "dream", {}),
      ["dream?", expect.stringMatching(/^ {2}raw \(unknown record kind dream\)/) as unknown as string],
    ],
    [
      "an unknown role",
      message("a", null, "oracle", {}),
      [
        "message/oracle?",
        expect.stringMatching(/^ {2}raw \(unknown record kind message\/oracle\)/) as unknown as string,
      ],
    ],
    ["no kind at all", { a: 1 }, ["no kind?", '  raw (a record without a kind): {"a":1}']],
  ])("%s", (_, value, told) => {
    expect(said(value)).toEqual(told);
  });
});

const whole = lines(
  header,
  message("a", null, "user", { text: "one" }),
  message("b", "a", "assistant", { content: [text("I look"), { type: "toolCall", id: "x" }] }),
  message("c", "b", "tool_call", { toolCallId: "x", name: "bash", args: { command: "ls" } }),
  message("d", "c", "tool_result", { toolCallId: "x", result: "ok" }),
  message("e", "d", "assistant", { text: "Done.", usage: { output: 7 } }),
  message("f", "e", "user", { text: "two" }),
  message("g", "f", "assistant", { text: "2" }),
  message("h", "e", "user", { text: "two again" }),
  message("i", "h", "tool_call", { toolCallId: "y", name: "bash", args: { command: "y" } }),
);
expectLineLaws({
  kinds: {
    shown: ["message/assistant", "message/tool_call", "message/tool_result", "message/user"],
    silent: ["session"],
    unknown: [],
  },
  classifier: clioCoderClassifier,
  sessions: { "a session with a branch": whole },
  promptOf: (words) => message("p", null, "user", { text: words }),
});

test("entries, pairs, branches and counts", async () => {
  const log = await logOf("clio-coder", clioCoderClassifier, Buffer.from(whole));
  expect((await log.tail(100)).entries.map(entryLine)).toEqual([
    "user: one",
    'model: "I look"',
    "model: call(bash x ls → done)",
    "result x done 1000ms: ok",
    'model: "Done." {"output":7}',
    "(left) user: two",
    '(left) model: "2"',
    "user: two again",
    "model: call(bash y y → running)",
  ]);
  expect(await log.check()).toMatchObject({
    records: 10,
    toolCalls: 2,
    toolResults: 1,
    turns: 3,
    outputTokens: 7,
    unknownKinds: [],
  });
});

describe("finding", () => {
  test.each([
    ["linux", { CLIO_CODER_STATE_DIR: "/s", CLIO_CODER_HOME: "/c" }, join("/s", "sessions")],
    ["linux", { CLIO_CODER_HOME: "/c" }, join("/c", "state", "sessions")],
    ["linux", { XDG_STATE_HOME: "/x" }, join("/x", "clio-coder", "sessions")],
    ["linux", {}, join("/h", ".local", "state", "clio-coder", "sessions")],
    ["darwin", {}, join("/h", "Library", "Application Support", "clio-coder", "state", "sessions")],
    ["win32", { LOCALAPPDATA: "/l" }, join("/l", "clio-coder", "state", "sessions")],
  ])("on %s with %j", (platform, env, root) => {
    expect(clioCoderSource.roots({ env, home: "/h", platform })).toEqual([root]);
  });

  test("a session is a folder, described by its header, what stands beside it and its first prompt", async () => {
    home = makeHome({ CLIO_CODER_HOME: "~/c" });
    home.write("c/state/sessions/abcd/one/current.jsonl", whole);
    home.write(
      "c/state/sessions/abcd/one/meta.json",
      JSON.stringify({ cwd: "/w2", model: "m", clioVersion: "0.9", endedAt: null }),
    );
    const { found, problems } = await discoverAll(clioCoderSource, home.around);
    expect(problems).toEqual([]);
    expect(found.map((f) => f.id)).toEqual(["one"]);
    expect(found[0] && (await clioCoderSource.describe(found[0]))).toMatchObject({
      title: "one",
      cwd: "/w2",
      model: "m",
      agentVersion: "0.9",
      startedAt: 1_780_272_000_000,
    });
  });

  test("a session is told from one of pi, whose header is the same", async () => {
    const head = Buffer.from(whole);
    const pi = fixture("sources/pi/session-v3.jsonl");
    expect([await clioCoderSource.detects("x", head), await piSource.detects("x", head)]).toEqual([
      true,
      false,
    ]);
    expect([await clioCoderSource.detects("x", pi), await piSource.detects("x", pi)]).toEqual([false, true]);
  });
});
