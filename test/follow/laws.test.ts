/** Laws: absorbing, and frames of a read against the fold of the same bytes, over recorded and generated streams cut anywhere. */
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  absorbFrame,
  absorbStream,
  decodeFrame,
  emptyHeld,
  encodeFrame,
  type Frame,
  foldStream,
  type Growth,
  GUARD_BYTES,
  isContinued,
  type ReaderState,
  readGrowth,
  type Stream,
  startReader,
  type ToolEvent,
} from "../../src/follow/index.ts";
import { fixtureText } from "./fixtures.ts";
import { jsonDelta, messageStart, textDelta, thinkingDelta } from "./support.ts";

const recorded = ["retried.jsonl", "tools.jsonl", "older-words.jsonl"].map(fixtureText);

const words = fc.string({ unit: "grapheme", maxLength: 12 });
const noise = fc.constantFrom(
  messageStart,
  '{"type":"end"}\n',
  '{"type":"finish","reason":"stop"}\n',
  '{"type":"error","message":"content_delta"}\n',
  '{"type":"content_delta"}\n',
  '{"type":"content_delta","delta":null}\n',
  '{"type":"content_delta","delta":{"text_delta":7}}\n',
  '{"type":"content_block_start","content_block":{"text":"old"}}\n',
  "\n",
  "content_delta not json\n",
);
const line = fc.oneof(
  words.map((w) => textDelta(w)),
  words.map(thinkingDelta),
  words.map(jsonDelta),
  noise,
);
const generated = fc.array(line, { maxLength: 30 }).map((lines) => lines.join(""));
const streams = fc.oneof(fc.constantFrom(...recorded), generated);

/** A file as reads at some sizes see it: cut into runs of bytes of those lengths. */
function readIn(bytes: Uint8Array, cuts: readonly number[], lineBytesMax?: number): readonly Stream[] {
  let state: ReaderState = startReader;
  const told: Stream[] = [];
  for (let at = 0, cut = 0; at < bytes.length; cut++) {
    const length = Math.min(bytes.length - at, cuts[cut % cuts.length] ?? 1);
    const growth: Growth = { identity: "f", start: at, bytes: bytes.slice(at, at + length), isEnd: true };
    const reading = readGrowth(state, growth, lineBytesMax);
    state = reading.state;
    told.push(reading.stream);
    at += length;
    expect(state.offset).toBe(at);
    expect(state.guard).toEqual(bytes.slice(Math.max(0, at - GUARD_BYTES), at));
  }
  return told;
}

const sum = (parts: readonly Stream[]): Stream => parts.reduce(absorbStream, {});
const cuts = fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 200 })), {
  minLength: 1,
  maxLength: 12,
});

it("the absorb law: folding two parts and absorbing is folding the whole, cut at any line end", () => {
  fc.assert(
    fc.property(streams, fc.nat(), (text, at) => {
      const lines = text.split("\n");
      const cut = at % (lines.length + 1);
      const first = lines
        .slice(0, cut)
        .map((each) => `${each}\n`)
        .join("");
      const second = lines.slice(cut).join("\n");
      expect(absorbStream(foldStream(first), foldStream(second))).toEqual(foldStream(text));
    }),
  );
});

it("absorbing nothing is identity", () => {
  fc.assert(
    fc.property(generated, (text) => {
      const stream = foldStream(text);
      expect(absorbStream(stream, {})).toEqual(stream);
      expect(absorbStream({}, stream)).toEqual(stream);
    }),
  );
});

it("the frames of a read sum to the fold of the same bytes, cut anywhere", () => {
  fc.assert(
    fc.property(streams, cuts, (text, lengths) => {
      const bytes = new TextEncoder().encode(text);
      expect(sum(readIn(bytes, lengths))).toEqual(foldStream(text.slice(0, text.lastIndexOf("\n") + 1)));
    }),
    { numRuns: 300 },
  );
});

it("which lines are over the limit does not depend on the cuts", () => {
  fc.assert(
    fc.property(generated, cuts, fc.integer({ min: 20, max: 90 }), (text, lengths, limit) => {
      const encoder = new TextEncoder();
      const kept = text
        .split("\n")
        .filter((each) => encoder.encode(each).length <= limit)
        .join("\n");
      expect(sum(readIn(encoder.encode(text), lengths, limit))).toEqual(foldStream(kept));
    }),
  );
});

it("a file replaced at any moment ends as the fold of what is there last", () => {
  fc.assert(
    fc.property(generated, generated, cuts, fc.nat(), (before, after, lengths, stop) => {
      const old = new TextEncoder().encode(before);
      const now = new TextEncoder().encode(after);
      let held: Stream = {};
      let state: ReaderState = startReader;
      const take = (growth: Growth): void => {
        const { state: next, stream, again } = readGrowth(state, growth);
        state = next;
        held = absorbStream(again ? {} : held, stream);
      };
      const read = old.slice(0, old.length === 0 ? 0 : stop % (old.length + 1));
      take({ identity: "old", start: 0, bytes: read, isEnd: true });
      take({ identity: "new", start: 0, bytes: now.slice(0, lengths[0]), isEnd: false });
      take({ identity: "new", start: state.offset, bytes: now.slice(state.offset), isEnd: true });
      expect(held).toEqual(foldStream(after));
    }),
  );
});

it("a writer that appends between the look and the read doubles nothing", () => {
  // The size that a look saw says nothing: what was read is what the offset advances by.
  const bytes = new TextEncoder().encode(textDelta("a") + textDelta("b"));
  const first = readGrowth(startReader, { identity: "f", start: 0, bytes, isEnd: true });
  expect(first.state.offset).toBe(bytes.length);
  const rest = { identity: "f", start: bytes.length, bytes: new Uint8Array(0), isEnd: true };
  expect(readGrowth(first.state, rest).stream).toEqual({});
});

it("bytes that do not follow the offset are refused", () => {
  const growth = { identity: "f", start: 3, bytes: new Uint8Array(1), isEnd: true };
  expect(() => readGrowth(startReader, growth)).toThrow(RangeError);
});

it("a file goes on where the bytes before the offset are the same ones", () => {
  const guard = new Uint8Array([1, 2, 3]);
  expect(isContinued({ guard }, "any", new Uint8Array(0))).toBe(true);
  expect(isContinued({ identity: "f", guard }, "f", new Uint8Array([1, 2, 3]))).toBe(true);
  expect(isContinued({ identity: "f", guard }, "f", new Uint8Array([1, 2]))).toBe(false);
  expect(isContinued({ identity: "f", guard }, "f", new Uint8Array([1, 2, 4]))).toBe(false);
  expect(isContinued({ identity: "f", guard }, "g", new Uint8Array([1, 2, 3]))).toBe(false);
});

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });
const defined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
const event = fc
  .record({
    toolUse: fc.string(),
    tool: optional(fc.string()),
    input: optional(fc.string()),
    exitCode: optional(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
    held: optional(fc.string()),
    answered: optional(fc.record({ by: fc.string() })),
    options: optional(
      fc.array(fc.record({ id: fc.string(), label: fc.string(), kind: fc.constant("allow-once" as const) })),
    ),
  })
  .map((fields) => defined(fields) as ToolEvent);
const frame = fc
  .record({
    stream: generated.map(foldStream),
    tools: fc.array(event, { maxLength: 3 }),
    again: optional(fc.constant(true as const)),
  })
  .map((fields) => defined(fields) as Frame);

it("decoding what was encoded gives the same frame, and encoding that the same bytes", () => {
  fc.assert(
    fc.property(frame, (each) => {
      const json = encodeFrame(each);
      const decoded = decodeFrame(json);
      expect(decoded).toEqual({ ok: true, value: each });
      if (decoded.ok) expect(encodeFrame(decoded.value)).toBe(json);
      expect(json).not.toContain("\n");
    }),
  );
});

it("absorbing frames collects events and streams, and again takes back the stream alone", () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 6 }), (frames) => {
      const held = frames.reduce(absorbFrame, emptyHeld);
      expect(held.tools).toEqual(frames.flatMap((each) => each.tools));
      const from = Math.max(
        0,
        frames.findLastIndex((each) => each.again),
      );
      expect(held.stream).toEqual(sum(frames.slice(from).map((each) => each.stream)));
    }),
  );
});
