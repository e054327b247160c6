/** The strict wire: every kind of row crosses exactly, and what is not one is refused by its name. */
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Decoded,
  decodeEntry,
  decodeReply,
  decodeRow,
  decodeStream,
  decodeTranscript,
  type Entry,
  encodeEntry,
  encodeRefusal,
  encodeReply,
  encodeRow,
  encodeStream,
  encodeTranscript,
  virtualRaw,
  wireText,
  woundBanner,
} from "../../src/transcript/index.ts";
import { anyEntry } from "./entries.ts";

const folder = new URL("../fixtures/wire/", import.meta.url);

interface Conformance {
  readonly entry: Entry;
  readonly row: Readonly<Record<string, unknown>> & { readonly raw: string };
}

const cases = readdirSync(folder).map(
  (file) => [file, JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Conformance] as const,
);

function taken<T>(decoded: Decoded<T>): T {
  if (!decoded.ok) throw new Error(`${decoded.refusal.at}: ${decoded.refusal.message}`);
  return decoded.value;
}

/** What is refused, and where, in one line. */
function refusalOf(decoded: Decoded<unknown>): string {
  if (decoded.ok) return "taken";
  const { code, message, at } = decoded.refusal;
  return `${code}${at === "" ? "" : ` at ${at}`}: ${message}`;
}

describe("conformance", () => {
  test.each(cases)("%s is decoded, and encoded again exactly", (_, { entry, row }) => {
    const decoded = taken(decodeRow(row));
    expect(decoded).toEqual({ entry, raw: row.raw });
    expect(wireText(encodeRow({ entry, raw: row.raw }))).toBe(JSON.stringify(row));
  });

  test("there is a file for every kind of row", () => {
    expect(new Set(cases.map(([, { entry }]) => entry.kind))).toEqual(
      new Set(["delivered", "model", "tool-result", "streaming", "wounded", "compacted", "raw"]),
    );
  });

  test("an absent field and null are one; names that are not ours are passed over", () => {
    const row = {
      name: "001-user.md",
      raw: "",
      kind: "delivered",
      sender: "user",
      body: "",
      epitaph: null,
      later: 1,
    };
    expect(taken(decodeRow(row)).entry).toEqual({
      kind: "delivered",
      name: "001-user.md",
      sender: "user",
      body: "",
    });
  });

  test("a raw row of somebody who tells no reason has its bytes as text", () => {
    expect(taken(decodeRow({ name: "x", raw: "bytes", kind: "raw" })).entry).toEqual({
      kind: "raw",
      name: "x",
      reason: "not a message",
      text: "bytes",
    });
  });

  test("a counter of any name crosses", () => {
    const usage = JSON.parse('{"__proto__":1,"toString":2,"7":3}') as Record<string, number>;
    const entry: Entry = { kind: "model", name: "m", blocks: [], usage };
    const crossed = taken(decodeEntry(JSON.parse(wireText(encodeEntry(entry)))));
    expect(crossed.kind === "model" && Object.entries(crossed.usage).sort()).toEqual(
      Object.entries(usage).sort(),
    );
  });
});

describe("strict", () => {
  const delivered = { name: "n", raw: "", kind: "delivered", sender: "user", body: "" };
  const model = { name: "n", raw: "", kind: "model", model_id: "m", blocks: [], usage: {} };
  const result = { name: "n", raw: "", kind: "tool-result", tool_use_id: "c", content: "", is_error: false };
  const wounded = { name: "n", raw: "", kind: "wounded", wound: "no_response" };
  const without = (row: object, key: string): object =>
    Object.fromEntries(Object.entries(row).filter(([name]) => name !== key));

  test.each<[string, unknown, string]>([
    ["a row that is no object", 7, "bad-shape: row: not an object"],
    ["a row that is a list", [], "bad-shape: row: not an object"],
    ["a row without a name", without(delivered, "name"), 'bad-field: missing or non-string field "name"'],
    ["a row without its bytes", without(delivered, "raw"), 'bad-field: missing or non-string field "raw"'],
    ["a row without a kind", without(delivered, "kind"), 'bad-field: missing or non-string field "kind"'],
    ["an unknown kind of row", { ...delivered, kind: "sideways" }, 'unknown-word: unknown kind "sideways"'],
    [
      "a sender that is no text",
      { ...delivered, sender: 7 },
      'bad-field: missing or non-string field "sender"',
    ],
    [
      "an epitaph that is no text",
      { ...delivered, epitaph: 7 },
      'bad-field: missing or non-string field "epitaph"',
    ],
    ["no blocks", without(model, "blocks"), 'bad-field: missing or non-list field "blocks"'],
    [
      "an unknown kind of block",
      { ...model, blocks: [{ kind: "text", text: "" }, { kind: "sideways" }] },
      'unknown-word at blocks[1]: unknown kind "sideways"',
    ],
    [
      "a block that is no object",
      { ...model, blocks: ["x"] },
      "bad-shape at blocks[0]: block: not an object",
    ],
    [
      "a call without its input",
      { ...model, blocks: [{ kind: "tool-use", id: "c", name: "bash" }] },
      'bad-field at blocks[0]: missing or non-string field "input"',
    ],
    ["no usage", without(model, "usage"), 'bad-field: missing or non-object field "usage"'],
    ["a usage that is no object", { ...model, usage: [] }, 'bad-shape: "usage": not an object'],
    [
      "a counter that is no count",
      { ...model, usage: { input_tokens: -1 } },
      'bad-field: usage "input_tokens": not a count',
    ],
    ["a counter with a fraction", { ...model, usage: { cost: 0.5 } }, 'bad-field: usage "cost": not a count'],
    ["a counter that is text", { ...model, usage: { n: "5" } }, 'bad-field: usage "n": not a count'],
    [
      "a result without its id",
      without(result, "tool_use_id"),
      'bad-field: missing or non-string field "tool_use_id"',
    ],
    [
      "an error that is no truth value",
      { ...result, is_error: 1 },
      'bad-field: missing or non-boolean field "is_error"',
    ],
    [
      "a further result that is none",
      { ...result, further: [{}] },
      'bad-field at further[0]: missing or non-string field "tool_use_id"',
    ],
    [
      "an unknown state of a call",
      { ...result, outcome: { state: "lost" } },
      'unknown-word at outcome: unknown state "lost"',
    ],
    ["an unknown wound", { ...wounded, wound: "scratch" }, 'unknown-word: unknown wound "scratch"'],
    ["a wound that is none", { ...wounded, wound: "none" }, 'bad-field: a wounded row whose "wound" is none'],
    [
      "a reason that is no text",
      { ...wounded, wound_reason: 1 },
      'bad-field: missing or non-string field "wound_reason"',
    ],
    [
      "a counter of a compaction that is no count",
      { name: "n", raw: "", kind: "compacted", first: 1.5, last: 2, summary: "" },
      'bad-field: missing or non-count field "first"',
    ],
    [
      "half a stream",
      { name: "n", raw: "", kind: "streaming", text: "x" },
      'bad-field: missing or non-string field "thinking"',
    ],
    [
      "a place that is none",
      { ...delivered, place: { start: 0 } },
      'bad-field at place: missing or non-count field "end"',
    ],
  ])("%s is refused", (_, row, refusal) => {
    expect(refusalOf(decodeRow(row))).toBe(refusal);
  });

  test("what every object inherits is no field", () => {
    expect(refusalOf(decodeRow(Object.create({ name: "n" })))).toBe(
      'bad-field: missing or non-string field "name"',
    );
  });

  test("a refusal says which row", () => {
    const reply = { ok: true, kind: "transcript", rows: [delivered, { ...model, blocks: [{}] }] };
    expect(refusalOf(decodeTranscript(reply))).toBe(
      'bad-field at rows[1].blocks[0]: missing or non-string field "kind"',
    );
  });

  test.each<[string, unknown, string]>([
    ["no object", null, "bad-shape: reply: not an object"],
    [
      "neither taken nor refused",
      { kind: "transcript", rows: [] },
      'bad-field: missing or non-boolean field "ok"',
    ],
    ["of another kind", { ok: true, kind: "follow", rows: [] }, 'unknown-word: unknown kind "follow"'],
    ["without rows", { ok: true, kind: "transcript" }, 'bad-field: missing or non-list field "rows"'],
    ["that refuses", encodeRefusal('unknown workspace "x"'), 'refused: unknown workspace "x"'],
    ["that refuses without a word", { ok: false }, 'bad-field: missing or non-string field "error"'],
  ])("a reply %s", (_, reply, refusal) => {
    expect(refusalOf(decodeTranscript(reply))).toBe(refusal);
  });

  test.each<[string, unknown, string]>([
    ["no object", "x", "bad-shape: stream: not an object"],
    ["an unknown delta", { delta: "sideways" }, 'unknown-word: unknown delta "sideways"'],
    ["a text that is none", { text: 7 }, 'bad-field: missing or non-string field "text"'],
    ["nothing new", {}, "taken"],
  ])("a stream: %s", (_, stream, refusal) => {
    expect(refusalOf(decodeStream(stream))).toBe(refusal);
  });
});

describe("laws", () => {
  test("encoding, text and decoding give the row again", () => {
    fc.assert(
      fc.property(anyEntry, fc.string({ unit: "grapheme" }), (entry, raw) => {
        const text = wireText(encodeRow({ entry, raw }));
        expect(taken(decodeRow(JSON.parse(text)))).toEqual({ entry, raw });
        expect(wireText(encodeRow(taken(decodeRow(JSON.parse(text)))))).toBe(text);
      }),
    );
  });

  test("a whole transcript, an empty one too", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ entry: anyEntry, raw: fc.string() }), { maxLength: 4 }), (rows) => {
        const reply: unknown = JSON.parse(wireText(encodeTranscript(rows)));
        expect(taken(decodeTranscript(reply))).toEqual(rows);
      }),
    );
    expect(wireText(encodeTranscript([]))).toBe('{"kind":"transcript","ok":true,"rows":[]}');
  });

  test("any value is taken or refused, never thrown at", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const decode of [decodeRow, decodeTranscript, decodeStream, decodeEntry]) decode(value);
        decodeReply(value, "x");
      }),
    );
  });

  test("a stream crosses with what is absent absent", () => {
    expect(wireText(encodeStream({}))).toBe("{}");
    expect(wireText(encodeStream({ lastDelta: "text", text: "lo" }))).toBe('{"delta":"text","text":"lo"}');
    expect(taken(decodeStream({ delta: "thinking", thinking: "hm", text: null }))).toEqual({
      lastDelta: "thinking",
      thinking: "hm",
    });
  });

  test("keys are sorted at every level, and a reply is not overwritten by its fields", () => {
    expect(
      wireText(encodeReply("x", { b: { d: 1, c: undefined, a: [{ z: 1, y: 2 }] }, ok: false, kind: "y" })),
    ).toBe('{"b":{"a":[{"y":2,"z":1}],"d":1},"kind":"x","ok":true}');
  });
});

test("what stands behind a virtual entry is its own text", () => {
  expect(virtualRaw({ kind: "streaming", name: "«live»", thinking: "a", text: "b" })).toBe("ab");
  expect(virtualRaw({ kind: "wounded", name: "«wound»", wound: { kind: "mute" } })).toBe(
    woundBanner({ kind: "mute" }),
  );
  expect(virtualRaw({ kind: "compacted", name: "«004»", summary: "s" })).toBe("s");
  expect(virtualRaw({ kind: "delivered", name: "001-user.md", sender: "user", body: "x" })).toBeUndefined();
});
