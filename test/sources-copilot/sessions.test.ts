/** Sessions of Copilot CLI, kept and made, read in every way. */
import { expect, test } from "vitest";
import { copilotClassifier } from "../../src/sources/copilot/classifier.ts";
import { entryLine } from "../support/entry-notation.ts";
import { fixture } from "../support/fixtures.ts";
import { lines } from "../support/home.ts";
import { expectLineLaws } from "../support/line-agents.ts";
import { logOf } from "../support/log-laws.ts";

let clock = 0;
function event(id: string, parentId: string | null, type: string, data: object): object {
  clock += 1000;
  return { type, data, id, timestamp: new Date(1_780_000_000_000 + clock).toISOString(), parentId };
}
const prompt = (id: string, parent: string | null, words: string): object =>
  event(id, parent, "user.message", { content: words });
const says = (id: string, parent: string, words: string, ...calls: string[]): object =>
  event(id, parent, "assistant.message", {
    messageId: id,
    content: words,
    outputTokens: 5,
    toolRequests: calls.map((c) => ({ toolCallId: c, name: "bash", arguments: { command: c } })),
  });
const begins = (id: string, parent: string): object =>
  event(id, parent, "assistant.turn_start", { turnId: "0" });
const result = (id: string, parent: string, call: string): object =>
  event(id, parent, "tool.execution_complete", {
    toolCallId: call,
    success: true,
    result: { content: "ok" },
  });

const sessions: Record<string, string> = {
  "events-1 (a real one)": fixture("sources/copilot/events-1.jsonl").toString(),
  "events-2 (a real one)": fixture("sources/copilot/events-2.jsonl").toString(),
  "a call at work": lines(
    prompt("a", null, "one"),
    begins("b", "a"),
    says("c", "b", "", "x", "y"),
    result("d", "c", "x"),
  ),
  "rewound to the first answer": lines(
    prompt("a", null, "one"),
    says("b", "a", "1"),
    prompt("c", "b", "two"),
    says("d", "c", "2"),
    prompt("e", "b", "two again"),
    says("f", "e", "2b"),
  ),
  "stopped, and taken up again": lines(
    prompt("a", null, "one"),
    says("b", "a", "", "x"),
    event("c", "b", "abort", { reason: "user initiated" }),
    event("d", "c", "session.resume", { sessionId: "s" }),
    prompt("e", "d", "two"),
  ),
};

expectLineLaws({
  kinds: {
    shown: ["abort", "assistant.message", "session.info", "tool.execution_complete", "user.message"],
    silent: [
      "assistant.turn_end",
      "assistant.turn_start",
      "hook.end",
      "hook.start",
      "session.resume",
      "session.shutdown",
      "session.start",
      "tool.execution_start",
    ],
    unknown: [],
  },
  classifier: copilotClassifier,
  sessions,
  promptOf: (words) => prompt("p", null, words),
});

async function told(name: string): Promise<string[]> {
  const log = await logOf("copilot", copilotClassifier, Buffer.from(sessions[name] ?? ""));
  return (await log.tail(1000)).entries.map((e) => entryLine(e).slice(0, 160));
}

test("events-1, entry by entry", async () => {
  expect(await told("events-1 (a real one)")).toMatchInlineSnapshot(`
    [
      "user: drewan a hunt ab know whatgo push lessin know us for flatnet boltmix get",
      "model: think(Drewan a birdme hunt ab car miledry seeksaw ninegunat.) call(report_intent warmvan_9s07edgecup6teammy4run → done) call(create warmvan_Easetripcup4m",
      "result warmvan_9s07edgecup6teammy4run done 1ms: Bowlam rainor",
      "result warmvan_Easetripcup4main4oldit done 2359ms: Roomegg hunt /Oilwe/pumphost/doseme/test-whoab/test-word/boltmix-get-listme/BIRDAT.md park 40 deepdietup",
      "model: "Roomegg \`BIRDAT.md\` ab know whatgo park car trueman." {"outputTokens":16}",
    ]
  `);
});

test("events-1 and -2, counted", async () => {
  const reports = [];
  for (const name of ["events-1 (a real one)", "events-2 (a real one)"]) {
    const log = await logOf("copilot", copilotClassifier, Buffer.from(sessions[name] ?? ""));
    const {
      records,
      toolCalls,
      toolResults,
      unansweredCalls,
      modelMessages,
      outputTokens,
      turns,
      openTurn,
      unknownKinds,
    } = await log.check();
    reports.push([
      records,
      toolCalls,
      toolResults,
      unansweredCalls,
      modelMessages,
      outputTokens,
      turns,
      openTurn,
      unknownKinds,
    ]);
  }
  expect(reports).toMatchInlineSnapshot(`
    [
      [
        25,
        2,
        2,
        0,
        2,
        187,
        1,
        false,
        [],
      ],
      [
        35,
        3,
        3,
        0,
        3,
        311,
        1,
        false,
        [],
      ],
    ]
  `);
});

test("every event of the kept sessions is known by name", async () => {
  const kinds = new Set<string>();
  for (const name of ["events-1.jsonl", "events-2.jsonl"]) {
    const log = await logOf("copilot", copilotClassifier, fixture(`sources/copilot/${name}`));
    for (const kind of Object.keys((await log.check()).recordKinds)) kinds.add(kind);
  }
  expect([...kinds].sort()).toEqual([
    "assistant.message",
    "assistant.turn_end",
    "assistant.turn_start",
    "hook.end",
    "hook.start",
    "session.info",
    "session.shutdown",
    "session.start",
    "tool.execution_complete",
    "tool.execution_start",
    "user.message",
  ]);
});

test("a call at work, and one that is done", async () => {
  expect(await told("a call at work")).toEqual([
    "user: one",
    'model: call(bash x x → done) call(bash y y → running) {"outputTokens":5}',
    "result x done 1000ms: ok",
  ]);
});

test("what was rewound is marked and stays", async () => {
  expect(await told("rewound to the first answer")).toEqual([
    "user: one",
    'model: "1" {"outputTokens":5}',
    "(left) user: two",
    '(left) model: "2" {"outputTokens":5}',
    "user: two again",
    'model: "2b" {"outputTokens":5}',
  ]);
});

test("an interrupted call is not running", async () => {
  expect(await told("stopped, and taken up again")).toEqual([
    "user: one",
    'model: call(bash x x → unanswered) {"outputTokens":5}',
    "wounded interrupted: user initiated",
    "user: two",
  ]);
});
