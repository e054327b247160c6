/** JSON with its numbers as they are written. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { EXACT_DEPTH_MAX, ExactNumber, parseExactJson } from "../../src/sources/exact-json.ts";
import { compactJson } from "../../src/sources/fields.ts";

/** The value in one line again, whatever it is. */
function again(text: string): string | undefined {
  const parsed = parseExactJson(text);
  return parsed && compactJson(parsed.value, 10_000);
}

test.each([
  ["12345678901234567890", "12345678901234567890"],
  ["9007199254740993", "9007199254740993"],
  ["5.0", "5.0"],
  ["1e3", "1e3"],
  ["-0", "-0"],
  ["0.5", "0.5"],
  ['{"b":[1.0,{"a":2.50}],"a":"1.0 \\" ] 2e5"}', '{"a":"1.0 \\" ] 2e5","b":[1.0,{"a":2.50}]}'],
  [' [ 1.0 , true , null , false , "\\\\" , { } , [ ] ] ', '[1.0,true,null,false,"\\\\",{},[]]'],
  ['{"a":1.0,"a":2.0}', '{"a":2.0}'],
  ['{"__proto__":1.0}', '{"__proto__":1.0}'],
])("%s", (text, line) => {
  expect(again(text)).toBe(line);
});

test.each(["", "{", "01", "1.", "[1.0,]", "nul", '"\u0001"', "1.0 1.0"])("no JSON: %j", (text) => {
  expect(parseExactJson(text)).toBeUndefined();
});

test("keys are in code point order, astral ones last", () => {
  expect(again('{"😀":1,"\uffee":2,"a":{"c":1,"b":2}}')).toBe('{"a":{"b":2,"c":1},"\uffee":2,"😀":1}');
});

test("nested as deep as the limit it is read, one deeper it is no JSON; brackets in a text do not count", () => {
  const nested = (depth: number, inside: string): string => "[".repeat(depth) + inside + "]".repeat(depth);
  for (const inside of ["1", "1.0"]) {
    expect(again(nested(EXACT_DEPTH_MAX, inside))).toBe(nested(EXACT_DEPTH_MAX, inside));
    expect(parseExactJson(nested(EXACT_DEPTH_MAX + 1, inside))).toBeUndefined();
  }
  expect(parseExactJson(JSON.stringify(nested(EXACT_DEPTH_MAX + 1, '"')))).toBeDefined();
});

test("what has no such number is what JSON.parse says, whether the slow way is taken or not", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = JSON.stringify(value);
      const fast = parseExactJson(text)?.value;
      const slow = parseExactJson(`[1.0,${text}]`)?.value as readonly unknown[];
      const plain = (v: unknown): unknown =>
        JSON.parse(JSON.stringify(v, (_, x: unknown) => (x instanceof ExactNumber ? Number(x.text) : x)));
      expect(plain(fast)).toEqual(JSON.parse(text));
      expect(plain(slow[1])).toEqual(JSON.parse(text));
      expect(slow[0]).toEqual(new ExactNumber("1.0"));
    }),
  );
});
