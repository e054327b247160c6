import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { absorbFrame, elideMiddle, emptyHeld, type Held, type LaneEvent } from "../../src/follow/index.ts";
import { type Change, createLaneTeller, createTracker, type TailPage } from "../../src/session/index.ts";
import { FRAME_TEXT_MAX, LANE_TAIL_ENTRIES, TOLD_CALLS_MAX } from "../../src/session/limits.ts";
import type { LogItem } from "../../src/sources/index.ts";
import type {
  CallOutcome,
  ContentBlock,
  Entry,
  ModelEntry,
  StreamingEntry,
} from "../../src/transcript/index.ts";

const text = (words: string): ContentBlock => ({ kind: "text", text: words });
const thinking = (words: string): ContentBlock => ({ kind: "thinking", text: words });
const call = (id: string, state: CallOutcome["state"] = "running", exitCode?: number): ContentBlock => ({
  kind: "tool-use",
  id,
  name: "Bash",
  inputSummary: '{"command":"ls"}',
  outcome: { state, ...(exitCode === undefined ? {} : { exitCode }) },
});
const model = (name: string, messageId: string | undefined, ...blocks: ContentBlock[]): ModelEntry => ({
  kind: "model",
  name,
  blocks,
  usage: {},
  ...(messageId === undefined ? {} : { messageId }),
});
const streaming = (words: string, thought = ""): StreamingEntry => ({
  kind: "streaming",
  name: "live",
  text: words,
  thinking: thought,
});
const result = (id: string, isError = false): Entry => ({
  kind: "tool-result",
  name: `r-${id}`,
  toolUseId: id,
  content: "",
  isError,
});

const opened = (entry: Entry): Change => ({ type: "blockOpened", entry });
const changed = (entry: Entry, was?: string): Change => ({
  type: "blockChanged",
  entry,
  ...(was === undefined ? {} : { was }),
});
const finished = (entry: Entry): Change => ({ type: "blockFinished", entry, start: "0", end: "1" });
const started: Change = { type: "turnStarted" };
const ended: Change = { type: "turnEnded" };

/** Events as one line each. */
function linesOf(events: readonly LaneEvent[]): readonly string[] {
  return events.map((event) => {
    if (event.type === "over") return "over";
    const { stream, tools, again } = event.frame;
    const calls = tools.map(
      (t) =>
        `${t.toolUse}${t.tool === undefined ? "" : `:${t.tool}`}${t.exitCode === undefined ? "" : `=${t.exitCode}`}`,
    );
    const said = [stream.thinking && `(${stream.thinking})`, stream.text && `"${stream.text}"`];
    return [again && "again", ...said, ...calls].filter((part) => part).join(" ");
  });
}

function tell(...changes: Change[]): readonly string[] {
  const teller = createLaneTeller();
  return linesOf(changes.flatMap((change) => teller.tell(change)));
}

describe("changes of a session are the frames of a lane", () => {
  const golden: readonly [string, readonly Change[], readonly string[]][] = [
    [
      "a message that is recorded whole is one frame, and the turn's end is the read's",
      [started, finished(model("a", "m1", text("Hello"))), ended],
      ['"Hello"', "over"],
    ],
    [
      "text is told as it is written",
      [started, opened(streaming("He")), changed(streaming("Hello")), ended],
      ['"He"', '"llo"', "over"],
    ],
    [
      "what was streamed and is committed is not told again",
      [
        started,
        opened(streaming("Hel", "hm")),
        changed(model("a", "m1", thinking("hm"), text("Hello")), "live"),
      ],
      ['(hm) "Hel"', '"lo"'],
    ],
    [
      "what is committed otherwise than it was streamed is told anew",
      [started, opened(streaming("Helo")), changed(model("a", "m1", text("Hello")), "live")],
      ['"Helo"', 'again "Hello"'],
    ],
    [
      "records of one message are one step",
      [
        started,
        finished(model("a", "m1", thinking("hm"))),
        finished(model("b", "m1", text("I look"))),
        opened(model("c", "m1", call("t1"))),
      ],
      ["(hm)", '"I look"', "t1:Bash"],
    ],
    [
      "another message is another step",
      [
        started,
        opened(model("a", "m1", text("look"), call("t1"))),
        finished(model("a", "m1", text("look"), call("t1", "done"))),
        finished(result("t1")),
        finished(model("b", "m2", text("seen"))),
        ended,
      ],
      ['"look" t1:Bash', "t1=0", "over", '"seen"', "over"],
    ],
    [
      "messages without ids are a step each",
      [started, finished(model("a", undefined, text("one"))), finished(model("b", undefined, text("two")))],
      ['"one"', "over", '"two"'],
    ],
    [
      "a call that ended before it was seen yields both halves at once",
      [started, finished(model("a", "m1", call("t1", "failed")))],
      ["t1:Bash t1=1"],
    ],
    [
      "a result closes a call whose entry does not say so",
      [started, opened(model("a", "m1", call("t1"))), opened(result("t1", true))],
      ["t1:Bash", "t1=1"],
    ],
    [
      "an exit code that was recorded is told",
      [started, finished(model("a", "m1", call("t1", "failed", 127)))],
      ["t1:Bash t1=127"],
    ],
    [
      "what a step before still had to finish begins no step",
      [
        started,
        opened(model("a", "m1", text("one"), call("t1"))),
        opened(model("b", "m2", text("two"))),
        changed(model("a", "m1", text("one!"), call("t1"))),
        finished(model("a", "m1", text("one!"), call("t1", "done"))),
        finished(model("b", "m2", text("two, all"))),
      ],
      ['"one" t1:Bash', "over", '"two"', "t1=0", '", all"'],
    ],
    [
      "a block that is told again says how its calls ended and no word",
      [
        started,
        finished(model("a", "m1", text("x"), call("t1"))),
        { type: "blockRevised", entry: model("a", "m1", text("y"), call("t1", "done")) },
      ],
      ['"x" t1:Bash', "t1=0"],
    ],
    ["a turn that told nothing has no end", [started, ended], []],
    [
      "a reset ends the read",
      [started, opened(streaming("x")), { type: "reset", reason: "" }],
      ['"x"', "over"],
    ],
    [
      "everything else says nothing",
      [
        started,
        { type: "saved" },
        { type: "compacted" },
        { type: "caughtUp" },
        { type: "notice", tone: "warning", text: "n" },
      ],
      [],
    ],
  ];
  test.each(golden)("%s", (_, changes, expected) => {
    expect(tell(...changes)).toEqual(expected);
  });
});

function page(turnOpen: boolean, entries: readonly Entry[], live: readonly string[] = []): TailPage {
  const positions = entries.map((_, n) => String(n));
  return { entries, positions, start: "0", end: "9", atStart: true, atEnd: true, damage: [], turnOpen, live };
}

const prompt: Entry = { kind: "delivered", name: "p", sender: "user", body: "go" };

test("a lane that begins within a turn tells the step under way, whole, and goes on with it", () => {
  const entries = [
    prompt,
    model("a", "m1", text("old")),
    result("t0"),
    model("b", "m2", text("now"), call("t1")),
  ];
  const teller = createLaneTeller();
  expect(linesOf(teller.begin(page(true, entries, ["b"])))).toEqual(['"now" t1:Bash']);
  expect(linesOf(teller.tell(changed(model("b", "m2", text("now"), call("t1", "done")))))).toEqual(["t1=0"]);
  expect(linesOf(teller.end())).toEqual(["over"]);
  expect(createLaneTeller().begin(page(false, entries))).toEqual([]);
  expect(LANE_TAIL_ENTRIES).toBeGreaterThan(0);
});

test("a text that no frame is large enough for comes in several", () => {
  const long = "x".repeat(FRAME_TEXT_MAX + 1);
  const events = createLaneTeller().tell(finished(model("a", "m1", text(long))));
  expect(events.map((e) => (e.type === "frame" ? (e.frame.stream.text?.length ?? 0) : 0))).toEqual([
    FRAME_TEXT_MAX,
    1,
  ]);
});

test("of so many calls the ends are told, of older ones not any more", () => {
  const teller = createLaneTeller();
  const ids = Array.from({ length: TOLD_CALLS_MAX + 1 }, (_, n) => `t${n}`);
  teller.tell(opened(model("a", "m1", ...ids.map((id) => call(id)))));
  expect(teller.tell(finished(result("t0")))).toEqual([]);
  expect(linesOf(teller.tell(finished(result("t1"))))).toEqual(["t1=0"]);
});

test("an input is as short as in every event", () => {
  const block = { ...call("t1"), inputSummary: "y".repeat(300) } as ContentBlock;
  const [event] = createLaneTeller().tell(finished(model("a", "m1", block)));
  expect(event?.type === "frame" ? event.frame.tools[0]?.input : "").toBe(elideMiddle("y".repeat(300), 240));
});

/** All that a seat holds at the end of each read. */
function reads(events: readonly LaneEvent[]): readonly Held[] {
  const all: Held[] = [emptyHeld];
  for (const event of events)
    if (event.type === "over") all.push(emptyHeld);
    else all[all.length - 1] = absorbFrame(all.at(-1) ?? emptyHeld, event.frame);
  return all.filter((held) => held !== emptyHeld);
}

test("however a message grows, its read ends as what was said at last", () => {
  const growth = fc.array(fc.tuple(fc.string({ maxLength: 6 }), fc.string({ maxLength: 6 })), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(fc.array(growth, { minLength: 1, maxLength: 4 }), (messages) => {
      const teller = createLaneTeller();
      const tracker = createTracker(page(true, []));
      const events: LaneEvent[] = [];
      const apply = (...items: LogItem[]): void => {
        for (const change of tracker.apply(items)) events.push(...teller.tell(change));
      };
      const expected: { text: string; thinking: string }[] = [];
      for (const [n, states] of messages.entries()) {
        for (const [at, [said, thought]] of states.entries()) {
          const entry = model(`e${n}`, `m${n}`, thinking(thought), text(said));
          const live = at < states.length - 1;
          apply(
            at === 0
              ? { type: "entry", entry, start: "0", end: "1", live }
              : { type: "changed", entry, live },
          );
        }
        const [said, thought] = states.at(-1) ?? ["", ""];
        expected.push({ text: said, thinking: thought });
      }
      apply({ type: "turnEnded" });
      const held = reads(events).map(({ stream }) => ({
        text: stream.text ?? "",
        thinking: stream.thinking ?? "",
      }));
      const isWord = (each: { text: string; thinking: string }): boolean => each.text + each.thinking !== "";
      expect(held.filter(isWord)).toEqual(expected.filter(isWord));
    }),
  );
});
