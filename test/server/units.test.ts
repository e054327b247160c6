/** The pure parts: positions, frames, the ring, failures, cuts, cursors, the gate's words. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cutEntry } from "../../src/server/cut.ts";
import { cursorOf } from "../../src/server/durable.ts";
import { Failures } from "../../src/server/failures.ts";
import { appendToBlock, type LaneFrame, type LiveBlocks, tellChange } from "../../src/server/frames.ts";
import { clientOf, isOrigin } from "../../src/server/gate.ts";
import {
  FAILURE_ADDRESSES_MAX,
  FAILURES_WINDOW_MS,
  LANE_POSITION_MAX,
  RING_BYTES_MAX,
  RING_FRAMES_MAX,
} from "../../src/server/limits.ts";
import {
  checkOf,
  formatLanePosition,
  type LanePosition,
  parseLanePosition,
} from "../../src/server/position.ts";
import { encodeEvent, FrameRing } from "../../src/server/ring.ts";
import type { Change } from "../../src/session/index.ts";
import type { Entry } from "../../src/transcript/index.ts";
import { HandClock } from "./support.ts";

const positions: fc.Arbitrary<LanePosition> = fc.record(
  {
    log: fc.string({ minLength: 1, unit: "grapheme", maxLength: 200 }),
    check: fc.string().map(checkOf),
    frame: fc.record({ epoch: fc.stringMatching(/^[a-z0-9]{1,13}$/), seq: fc.nat() }),
  },
  { requiredKeys: ["log"] },
);

test("a position is read back as it was written, and needs no escaping", () => {
  fc.assert(
    fc.property(positions, (position) => {
      const text = formatLanePosition(position);
      expect(text).toMatch(/^[A-Za-z0-9._-]+$/);
      expect(parseLanePosition(text)).toEqual(position);
    }),
  );
});

test("any other text is no position", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const position = parseLanePosition(text);
      if (position !== undefined) expect(formatLanePosition(position)).toBeDefined();
    }),
  );
  for (const text of [
    "",
    "-1",
    "now",
    "a.b",
    "-.0.-.",
    "-.0.-.MQ==",
    "-.0.-.M Q",
    "A.0.-.MQ",
    "-.0.short.MQ",
    "-.0.-.MR",
  ])
    expect(parseLanePosition(text), text).toBeUndefined();
  const long = formatLanePosition({ log: "x".repeat(LANE_POSITION_MAX) });
  expect(parseLanePosition(long)).toBeUndefined();
});

/** The blocks as a client keeps them: by name, each frame putting its own in place. */
function applyFrame(held: Map<string, Entry>, frame: LaneFrame): void {
  if (frame.type === "blockAppended") {
    const entry = held.get(frame.name);
    if (entry !== undefined) held.set(frame.name, appendToBlock(entry, frame));
  } else if (frame.type === "blockChanged") {
    if (frame.was !== undefined) held.delete(frame.was);
    held.set(frame.entry.name, frame.entry);
  } else if ("entry" in frame) held.set(frame.entry.name, frame.entry);
}

const texts = fc.array(fc.string({ unit: "binary", maxLength: 6 }), { maxLength: 5 });

const streamed: fc.Arbitrary<Entry> = fc.record({
  kind: fc.constant("streaming" as const),
  name: fc.constantFrom("a", "b"),
  text: texts.map((parts) => parts.join("")),
  thinking: texts.map((parts) => parts.join("")),
});

const said: fc.Arbitrary<Entry> = fc.record({
  kind: fc.constant("model" as const),
  name: fc.constantFrom("a", "b"),
  usage: fc.constantFrom({}, { output: 1 }),
  blocks: fc.array(
    fc.record({ kind: fc.constantFrom("text" as const, "thinking" as const), text: fc.string() }),
    {
      maxLength: 3,
    },
  ),
});

/** An entry that goes on from another one, as agents mostly go on: more text at the end. */
function grown(entry: Entry, more: string): Entry {
  if (entry.kind === "streaming") return { ...entry, text: entry.text + more };
  const last = entry.kind === "model" ? entry.blocks.at(-1) : undefined;
  if (entry.kind !== "model" || last?.kind !== "text") return entry;
  return { ...entry, blocks: [...entry.blocks.slice(0, -1), { ...last, text: last.text + more }] };
}

test("a client that applies the frames holds what the changes say, however a block grew", () => {
  const changes = fc.array(
    fc.oneof(
      fc.record({ type: fc.constant("put" as const), entry: fc.oneof(streamed, said) }),
      fc.record({ type: fc.constant("grow" as const), name: fc.constantFrom("a", "b"), more: fc.string() }),
      fc.record({ type: fc.constant("finish" as const), name: fc.constantFrom("a", "b") }),
    ),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(changes, (steps) => {
      let live: LiveBlocks = { pending: new Map(), turnOpen: true };
      const wanted = new Map<string, Entry>();
      const held = new Map<string, Entry>();
      for (const step of steps) {
        const name = step.type === "put" ? step.entry.name : step.name;
        const before = live.pending.get(name);
        let change: Change;
        if (step.type === "put")
          change = { type: before === undefined ? "blockOpened" : "blockChanged", entry: step.entry };
        else if (before === undefined) continue;
        else if (step.type === "grow") change = { type: "blockChanged", entry: grown(before, step.more) };
        else change = { type: "blockFinished", entry: before, start: "0", end: "1" };
        if ("entry" in change) wanted.set(name, change.entry);
        const told = tellChange(live, change);
        live = told.live;
        for (const frame of told.frames) applyFrame(held, JSON.parse(JSON.stringify(frame)) as LaneFrame);
        expect(held).toEqual(wanted);
      }
    }),
  );
});

test("text that grows is told as what was appended, a finish as it stood in a few bytes", () => {
  const entry: Entry = { kind: "streaming", name: "a", text: "Hel", thinking: "" };
  const live: LiveBlocks = { pending: new Map([["a", entry]]), turnOpen: true };
  const more: Entry = { ...entry, text: "Hello" };
  const told = tellChange(live, { type: "blockChanged", entry: more });
  expect(told.frames).toEqual([{ type: "blockAppended", name: "a", to: "text", text: "lo" }]);
  const done = tellChange(told.live, { type: "blockFinished", entry: more, start: "0", end: "9" });
  expect(done.frames).toEqual([{ type: "blockSettled", name: "a", start: "0", end: "9" }]);
});

test("a renamed block keeps its seat", () => {
  const [a, b]: readonly Entry[] = [
    { kind: "streaming", name: "a", text: "", thinking: "" },
    { kind: "streaming", name: "b", text: "", thinking: "" },
  ];
  const live: LiveBlocks = {
    pending: new Map([
      ["a", a as Entry],
      ["b", b as Entry],
    ]),
    turnOpen: true,
  };
  const entry: Entry = { kind: "model", name: "c", blocks: [], usage: {} };
  const told = tellChange(live, { type: "blockChanged", entry, was: "a" });
  expect([...told.live.pending.keys()]).toEqual(["c", "b"]);
  expect(told.frames).toEqual([{ type: "blockChanged", entry, was: "a" }]);
});

test("the ring keeps the newest frames, as many and as many bytes as may be, and always the newest", () => {
  const frame = (bytes: number) => encodeEvent(JSON.stringify("x".repeat(bytes)), { log: "0" });
  const ring = new FrameRing(RING_FRAMES_MAX, RING_BYTES_MAX);
  for (let count = 0; count < RING_FRAMES_MAX + 10; count += 1) ring.push(frame(1));
  expect([ring.first, ring.next]).toEqual([11, RING_FRAMES_MAX + 11]);
  expect(ring.get(10)).toBeUndefined();
  expect(ring.get(11)).toBeDefined();
  expect(ring.get(ring.next)).toBeUndefined();
  ring.push(frame(RING_BYTES_MAX + 1));
  expect(ring.next - ring.first).toBe(1);
  expect(ring.bytes).toBeGreaterThan(RING_BYTES_MAX);
  ring.push(frame(1));
  expect(ring.next - ring.first).toBe(1);
  expect(ring.bytes).toBeLessThan(100);
});

test("failures are counted by address within their window, in a table that does not grow", () => {
  const clock = new HandClock();
  const failures = new Failures(clock.now, 2);
  failures.fail("a");
  expect(failures.blockedMs("a")).toBe(0);
  failures.fail("a");
  expect(failures.blockedMs("a")).toBe(FAILURES_WINDOW_MS);
  expect(failures.blockedMs("b")).toBe(0);
  clock.turn(FAILURES_WINDOW_MS);
  expect(failures.blockedMs("a")).toBe(0);
  for (let count = 0; count < FAILURE_ADDRESSES_MAX + 5; count += 1) failures.fail(`10.${count}`);
  expect(failures.size).toBe(FAILURE_ADDRESSES_MAX);
});

test("a cut text never ends inside of a character, and says how much is missing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20 }), (text, max) => {
      const entry: Entry = { kind: "raw", name: "a", reason: "r", text };
      const cut = cutEntry(entry, max);
      const kept = cut.kind === "raw" ? cut.text : "";
      expect(text.startsWith(kept)).toBe(true);
      expect(kept.length).toBeLessThanOrEqual(max);
      expect(Buffer.from(kept).toString()).toBe(kept);
      expect(cut.cut ?? 0).toBe(text.length - kept.length);
    }),
  );
  const live: Entry = { kind: "streaming", name: "a", text: "x".repeat(99), thinking: "" };
  expect(cutEntry(live, 10, true)).toBe(live);
});

test("a cursor never goes back", () => {
  const now = Date.UTC(2026, 7, 10);
  const cursor = cursorOf(now, undefined);
  expect(cursorOf(now, "5")).toBe(cursor);
  expect(Number(cursorOf(now, cursor))).toBeGreaterThan(Number(cursor));
  expect(cursorOf(now, "rubbish")).toBe(cursor);
});

test.each([
  ["::ffff:192.0.2.1", undefined, false, "192.0.2.1"],
  ["192.0.2.1", "198.51.100.7", false, "192.0.2.1"],
  ["127.0.0.1", "203.0.113.9, 198.51.100.7", true, "198.51.100.7"],
  ["127.0.0.1", "rubbish", true, "127.0.0.1"],
  ["2001:db8:1:2:3:4:5:6", undefined, false, "2001:db8:1:2::"],
  ["2001:db8::1", undefined, false, "2001:db8:0:0::"],
  ["::1", undefined, false, "0:0:0:0::"],
])("%s, forwarded %s, behind a proxy %s counts as %s", (peer, forwarded, isBehindProxy, client) => {
  expect(clientOf(peer, forwarded, isBehindProxy)).toBe(client);
});

test("an origin is a scheme and a host", () => {
  expect(["https://a.example", "http://a:8080", "https://[::1]:8"].map(isOrigin)).toEqual([true, true, true]);
  expect(
    ["", "null", "a.example", "https://a/", "https://a/x", "ftp://a", "https://A"].map(isOrigin),
  ).toEqual(new Array(7).fill(false));
});
