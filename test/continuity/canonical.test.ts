import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/continuity/index.ts";
import { sha256Hex, utf8Bytes, utf8Length } from "../../src/continuity/sha256.ts";
import { parseInstant } from "../../src/continuity/values.ts";

/** The rules of the canonical text, as directly as they can be written. */
function slowCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${Array.from(value, slowCanonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${slowCanonical(field)}`).join(",")}}`;
}

describe("canonicalJson", () => {
  test.each([
    ["undefined", undefined, "undefined"],
    ["a function", () => 1, "undefined"],
    ["null", null, "null"],
    ["NaN", Number.NaN, "null"],
    ["infinity", Number.POSITIVE_INFINITY, "null"],
    ["minus zero", -0, "0"],
    ["a text", 'a"\n\u2028', '"a\\"\\n\u2028"'],
    ["a lone surrogate", "\ud800", '"\\ud800"'],
    ["an empty array", [], "[]"],
    ["an empty object", {}, "{}"],
    ["undefined and functions in an array", [undefined, () => 1, null], "[undefined,undefined,null]"],
    ["holes", Object.assign(new Array(2), { 1: 1 }), "[undefined,1]"],
    ["undefined fields are dropped", { b: undefined, a: 1 }, '{"a":1}'],
    [
      "keys by code unit, not by locale",
      { é: 1, z: 2, Z: 3, "10": 4, "9": 5 },
      '{"10":4,"9":5,"Z":3,"z":2,"é":1}',
    ],
    ["toJSON is ignored", { toJSON: () => "other", a: 1 }, '{"a":1,"toJSON":undefined}'],
    ["nested", { a: [{ c: 1, b: [] }], d: {} }, '{"a":[{"b":[],"c":1}],"d":{}}'],
    ["a key of the prototype's name", JSON.parse('{"__proto__":1,"a":2}'), '{"__proto__":1,"a":2}'],
  ])("%s", (_name, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test("equals the slow rules on any value", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, maxDepth: 4 }), (value) => {
        expect(canonicalJson(value)).toBe(slowCanonical(value));
      }),
    );
  });

  test("parses back to the same value, and is stable under the order of keys", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        const turned = JSON.parse(JSON.stringify(value), (_key, field) =>
          typeof field === "object" && field !== null && !Array.isArray(field)
            ? Object.fromEntries(Object.entries(field).reverse())
            : field,
        );
        expect(canonicalJson(turned)).toBe(text);
      }),
    );
  });

  test("nesting of any depth does not overflow the stack", () => {
    const depth = 200_000;
    const text = `${'{"a":['.repeat(depth)}1${"]}".repeat(depth)}`;
    expect(canonicalJson(JSON.parse(text))).toBe(text);
  });

  test("a value within itself is refused, a value twice beside itself is not", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = [cycle];
    expect(() => canonicalJson(cycle)).toThrow(TypeError);
    const shared = { a: 1 };
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
    expect(() => canonicalJson(1n)).toThrow(TypeError);
  });
});

describe("SHA-256 and UTF-8", () => {
  test.each([0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 8192])(
    "%i bytes, as the platform hashes them",
    (length) => {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 131 + length) & 0xff);
      expect(sha256Hex(bytes)).toBe(createHash("sha256").update(bytes).digest("hex"));
    },
  );

  test("any text, as the platform encodes and hashes it", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
    );
    fc.assert(
      fc.property(text, (value) => {
        const bytes = new TextEncoder().encode(value);
        expect(utf8Length(value)).toBe(bytes.length);
        expect([...utf8Bytes(value)]).toEqual([...bytes]);
        expect(sha256Hex(utf8Bytes(value))).toBe(createHash("sha256").update(bytes).digest("hex"));
      }),
    );
  });
});

describe("instants", () => {
  test.each([
    ["2026-09-21T14:13:20.000Z", Date.UTC(2026, 8, 21, 14, 13, 20)],
    ["2026-09-21T14:13:20Z", Date.UTC(2026, 8, 21, 14, 13, 20)],
    ["2026-09-21T14:13:20.5Z", Date.UTC(2026, 8, 21, 14, 13, 20, 500)],
    ["2026-09-21T14:13:20.123456789Z", Date.UTC(2026, 8, 21, 14, 13, 20, 123)],
    ["2026-09-21T16:13:20+02:00", Date.UTC(2026, 8, 21, 14, 13, 20)],
    ["2026-09-21T08:43:20-05:30", Date.UTC(2026, 8, 21, 14, 13, 20)],
    ["0001-01-01T00:00:00Z", Date.parse("0001-01-01T00:00:00Z")],
    ["2024-02-29T23:59:59Z", Date.UTC(2024, 1, 29, 23, 59, 59)],
  ])("%s", (text, value) => {
    expect(parseInstant(text)).toBe(value);
  });

  test.each([
    undefined,
    null,
    0,
    "",
    "yesterday",
    "2026-09-21",
    "2026-09-21T14:13:20", // local time: another instant on every computer
    "2026-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:60Z",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00+00:60",
    " 2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00Z\n",
  ])("not an instant: %j", (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  test("agrees with the platform wherever it answers", () => {
    fc.assert(
      fc.property(
        fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(253402300799999) }),
        (date) => {
          expect(parseInstant(date.toISOString())).toBe(date.getTime());
        },
      ),
    );
  });
});
