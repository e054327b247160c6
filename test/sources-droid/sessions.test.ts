/** Sessions of Factory Droid, kept and made, read in every way. */
import { expect, test } from "vitest";
import { droidClassifier } from "../../src/sources/droid/classifier.ts";
import { entryLine } from "../support/entry-notation.ts";
import { fixture } from "../support/fixtures.ts";
import { lines } from "../support/home.ts";
import { expectLineLaws } from "../support/line-agents.ts";
import { logOf } from "../support/log-laws.ts";

let clock = 0;
function row(id: string, role: string, content: unknown, parentId?: string): object {
  clock += 1000;
  const timestamp = new Date(1_780_000_000_000 + clock).toISOString();
  return {
    type: "message",
    id,
    timestamp,
    message: { role, content },
    ...(parentId === undefined ? {} : { parentId }),
  };
}
const start = { type: "session_start", id: "s", title: "x", version: 2, cwd: "/w" };
const text = (words: string): object => ({ type: "text", text: words });
const prompt = (id: string, words: string, parent?: string): object => row(id, "user", [text(words)], parent);
const call = (id: string, parent: string, ...calls: string[]): object =>
  row(
    id,
    "assistant",
    calls.map((c) => ({ type: "tool_use", id: c, name: "Execute", input: { command: c } })),
    parent,
  );
const result = (id: string, parent: string, callId: string): object =>
  row(id, "user", [{ type: "tool_result", tool_use_id: callId, content: "ok" }], parent);

const sessions: Record<string, string> = {
  "session (a real one)": fixture("sources/droid/session.jsonl").toString(),
  "calls at work": lines(start, prompt("a", "one"), call("b", "a", "x", "y"), result("c", "b", "x")),
  "a prompt taken back": lines(
    start,
    prompt("a", "one"),
    row("b", "assistant", [text("1")], "a"),
    prompt("c", "two", "b"),
    row("d", "assistant", [text("2")], "c"),
    prompt("e", "two again", "b"),
    row("f", "assistant", [text("2b")], "e"),
  ),
};

expectLineLaws({
  kinds: { shown: ["message/assistant", "message/user"], silent: ["session_start"], unknown: [] },
  classifier: droidClassifier,
  sessions,
  promptOf: (words) => row("p", "user", [text(words)]),
});

async function told(name: string): Promise<string[]> {
  const log = await logOf("droid", droidClassifier, Buffer.from(sessions[name] ?? ""));
  return (await log.tail(1000)).entries.map((e) => entryLine(e).slice(0, 120));
}

test("the kept session, entry by entry", async () => {
  expect(await told("session (a real one)")).toEqual([
    expect.stringMatching(/^system\/context: <system-reminder>/),
    expect.stringMatching(/^system\/context: <system-reminder>/),
    "user: drewan a laidhead hunt push portstop know us for flatnet playlab youdo",
    expect.stringMatching(/^system\/notice: Bigit useif/),
  ]);
});

test("every kind of the kept session is known by name", async () => {
  const log = await logOf("droid", droidClassifier, fixture("sources/droid/session.jsonl"));
  expect(await log.check()).toMatchObject({
    recordKinds: { session_start: 1, "message/user": 2 },
    unknownKinds: [],
    turns: 1,
    openTurn: true,
  });
});

test("calls at work, and branches that were left", async () => {
  expect(await told("calls at work")).toEqual([
    "user: one",
    "model: call(Execute x x → done) call(Execute y y → running)",
    "result x done 1000ms: ok",
  ]);
  expect(await told("a prompt taken back")).toEqual([
    "user: one",
    'model: "1"',
    "(left) user: two",
    '(left) model: "2"',
    "user: two again",
    'model: "2b"',
  ]);
});
