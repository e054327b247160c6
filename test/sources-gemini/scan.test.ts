/** The parts of a document are found by their bytes, wherever the reads cut it. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOf } from "../../src/lines/index.ts";
import { type ScanItem, scanObject } from "../../src/sources/json-scan.ts";

async function scan(text: string, chunk: number): Promise<ScanItem[]> {
  const source = bytesOf(Buffer.from(text));
  const cut = {
    ...source,
    read: (offset: number, length: number) => source.read(offset, Math.min(length, chunk)),
  };
  const items: ScanItem[] = [];
  for await (const batch of scanObject(cut, 0, Buffer.byteLength(text))) items.push(...batch);
  return items;
}

const values: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom("", "a\\", '"', "}{", "é😀", '"messages":[', "\u2028", 1, -2.5, true, null),
  fc.jsonValue({ maxDepth: 2 }),
);
const documents = fc.record({
  before: fc.dictionary(fc.constantFrom("sessionId", "a", "$set", "messages2"), values, {
    maxKeys: 3,
    noNullPrototype: true,
  }),
  messages: fc.array(values, { maxLength: 5 }),
  after: fc.dictionary(fc.constantFrom("summary", "b"), values, { maxKeys: 2, noNullPrototype: true }),
});

test("members and elements are those that a parser finds", async () => {
  await fc.assert(
    fc.asyncProperty(
      documents,
      fc.constantFrom(undefined, 2),
      fc.constantFrom(1, 3, 7, 4096),
      async (parts, indent, chunk) => {
        const { $set: _set, ...before } = parts.before;
        const document = { ...before, messages: parts.messages, ...parts.after };
        const text = `${JSON.stringify(document, null, indent)}trailing`;
        const bytes = Buffer.from(text);
        const items = await scan(text, chunk);
        const read = (item: { start: number; end: number }): unknown =>
          JSON.parse(bytes.subarray(item.start, item.end).toString());
        expect(items.flatMap((i) => (i.type === "element" ? [read(i)] : []))).toEqual(
          JSON.parse(JSON.stringify(parts.messages)),
        );
        const members = Object.fromEntries(
          items.flatMap((i) => (i.type === "member" ? [[i.key, read(i)]] : [])),
        );
        const { messages: _messages, ...rest } = JSON.parse(JSON.stringify(document)) as Record<
          string,
          unknown
        >;
        expect(members).toEqual(rest);
        expect(items.at(-1)).toEqual({ type: "end", end: bytes.length - "trailing".length, isWhole: true });
      },
    ),
  );
});

test("elements of a `$set` are found as well", async () => {
  const text = '{"$set":{"messages":[{"id":"a"},{"id":"b"}],"summary":"x"}}';
  const items = await scan(text, 4);
  expect(
    items.map((i) => (i.type === "member" ? i.key : i.type === "messages" ? `messages ${i.isSet}` : i.type)),
  ).toEqual(["messages true", "element", "element", "$set.summary", "end"]);
});

test("a document that is cut ends where its bytes do", async () => {
  const text = '{"sessionId":"s","messages":[{"id":"a"},{"id":"b"}]}';
  for (let cut = 1; cut < text.length; cut++) {
    const items = await scan(text.slice(0, cut), 5);
    expect(items.at(-1)).toEqual({ type: "end", end: cut, isWhole: false });
  }
});
