/** Fields of parsed JSON, in words that can be shown. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  attachmentOf,
  base64Bytes,
  commandOf,
  compactJson,
  countOf,
  cutText,
  INPUT_SUMMARY_MAX,
  JSON_DEPTH_MAX,
  lineCount,
  subjectOf,
  summarizeInput,
  timeOf,
} from "../../src/sources/fields.ts";

describe("compact JSON", () => {
  test("is one line with its keys in order, at every level", () => {
    expect(compactJson({ b: [1, { d: null, c: "x\ny" }], a: true }, 100)).toBe(
      '{"a":true,"b":[1,{"c":"x\\ny","d":null}]}',
    );
    expect(compactJson([], 9)).toBe("[]");
    expect(compactJson(undefined, 9)).toBe("null");
  });

  test("says what JSON says where it is not cut", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // JSON has no negative zero: what it says of -0 is 0.
        expect(JSON.parse(compactJson(value, 1_000_000))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("is cut at its limit, between characters, whatever the value's size", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 60 }), (value, max) => {
        const text = compactJson(value, max);
        const points = [...text].length;
        expect(points).toBeLessThanOrEqual(max + 1);
        if (points === max + 1) expect(text.endsWith("…")).toBe(true);
      }),
    );
    expect(compactJson("x".repeat(50_000_000), 5)).toBe('"xxxx…');
  });

  test("as deep as its limit, then no deeper", () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
    expect(compactJson(nested(JSON_DEPTH_MAX), 1000)).toBe(
      `${"[".repeat(JSON_DEPTH_MAX)}1${"]".repeat(JSON_DEPTH_MAX)}`,
    );
    expect(compactJson(nested(JSON_DEPTH_MAX + 1), 1000)).toContain("…");
    expect(compactJson(nested(5000), 1000)).toContain("…");
  });

  test("of an input: 200 characters, and an ellipsis at 201", () => {
    expect(summarizeInput("x".repeat(INPUT_SUMMARY_MAX - 2))).toBe(`"${"x".repeat(INPUT_SUMMARY_MAX - 2)}"`);
    expect(summarizeInput("x".repeat(INPUT_SUMMARY_MAX - 1))).toBe(`"${"x".repeat(INPUT_SUMMARY_MAX - 1)}…`);
    expect([summarizeInput(undefined), summarizeInput(null)]).toEqual(["", "null"]);
  });
});

test("a cut never splits a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(20), (text, max) => {
      const cut = cutText(text, max);
      if (!/\p{Surrogate}/u.test(text)) expect(cut).not.toMatch(/\p{Surrogate}/u);
      expect([...cut].length).toBeLessThanOrEqual(max + 1);
    }),
  );
  expect([cutText("😀😀", 2), cutText("😀😀😀", 2), cutText("ab", 0)]).toEqual(["😀😀", "😀😀…", "…"]);
});

test.each<[unknown, number | undefined]>([
  ["2026-06-01T10:00:00.000Z", 1_780_308_000_000],
  ["2026-06-01T12:00:00+02:00", 1_780_308_000_000],
  [1_780_308_000, 1_780_308_000_000],
  [1_780_308_000_000, 1_780_308_000_000],
  [1_780_308_000_000_000, 1_780_308_000_000],
  [1_780_308_000.5, 1_780_308_000_500],
  ["7", undefined],
  ["yesterday", undefined],
  ["2026-99-99", undefined],
  [0, undefined],
  [-1, undefined],
  [Number.NaN, undefined],
  [null, undefined],
])("the time of %j", (value, expected) => {
  expect(timeOf(value)).toBe(expected);
});

test("a count is a whole number that can be counted to", () => {
  expect([0, 7, -1, 1.5, 2 ** 53, "7", null].map(countOf)).toEqual([0, 7, ...Array(5).fill(undefined)]);
});

test.each<[unknown, string | undefined]>([
  [{ command: "ls -l" }, "ls -l"],
  [{ command: ["bash", "-lc", "make test"] }, "make test"],
  [{ cmd: ["git", "log", "a b"] }, 'git log "a b"'],
  [{ file_path: "/x", content: "y" }, "/x"],
  [{ pattern: "a.*", path: "/x" }, "/x"],
  [{ queries: ["one", "two"] }, "one"],
  [{ description: "explore" }, "explore"],
  [{ url: "" }, undefined],
  [{}, undefined],
  ["text", undefined],
  [{ command: "x".repeat(999) }, `${"x".repeat(INPUT_SUMMARY_MAX)}…`],
])("the subject of %j", (input, expected) => {
  expect(subjectOf(input)).toBe(expected);
});

test("a command without words is none", () => {
  expect([commandOf(""), commandOf([]), commandOf([1]), commandOf(null)]).toEqual(Array(4).fill(undefined));
});

test("the size of what base64 holds", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(base64Bytes(Buffer.from(bytes).toString("base64"))).toBe(bytes.length);
    }),
  );
});

test("attachments by where they are", () => {
  expect(attachmentOf("data:image/png;base64,AAAA")).toEqual({ mediaType: "image/png", bytes: 3 });
  expect(attachmentOf("data:text/plain,abc")).toEqual({ mediaType: "text/plain", bytes: 3 });
  expect(attachmentOf("https://example.com/a.png")).toEqual({
    mediaType: "image/*",
    name: "https://example.com/a.png",
  });
});

test("lines of a text: a final line feed begins none", () => {
  expect(["", "a", "a\n", "a\nb", "\n", "\n\n"].map(lineCount)).toEqual([0, 1, 1, 2, 1, 2]);
});
