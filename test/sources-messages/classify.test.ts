/** What one message file is, from its name and its bytes alone. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classifyMessage } from "../../src/sources/messages/classify.ts";
import {
  findGaps,
  gapFirst,
  gapName,
  orderNames,
  parseMessageName,
} from "../../src/sources/messages/name.ts";
import { compareText } from "../../src/sources/order.ts";
import { entryLine } from "../support/entry-notation.ts";
import { answer, call, deposit, result } from "./support.ts";

function line(name: string, content: unknown): string {
  const isText = typeof content === "string" || content instanceof Uint8Array;
  return entryLine(
    classifyMessage(name, Buffer.from((isText ? content : JSON.stringify(content)) as string)),
  );
}

describe("names", () => {
  test.each<[string, ReturnType<typeof parseMessageName>]>([
    ["001-user.md", { seq: 1, origin: "user", extension: "md" }],
    ["020-gpt-5.4.json", { seq: 20, origin: "gpt-5.4", extension: "json" }],
    ["001-claude-fable.md", { seq: 1, origin: "claude-fable", extension: "md" }],
    ["7-x.json", { seq: 7, origin: "x", extension: "json" }],
    ["003-tool.JSON", { seq: 3, origin: "tool", extension: "JSON" }],
    ["99999999999999999999-x.md", { seq: undefined, origin: "x", extension: "md" }],
    ["notes.md", undefined],
    ["001-.md", undefined],
    ["-x.md", undefined],
    ["01a-x.md", undefined],
    ["+1-x.md", undefined],
    ["001-x", undefined],
    [".001-x.md.tmp", undefined],
  ])("%s", (name, parsed) => {
    expect(parseMessageName(name)).toEqual(parsed);
  });

  test("are ordered by counter past 999, by spelling below; other names keep their place", () => {
    expect(
      orderNames([
        "1000-x.json",
        "101-x.json",
        "100-x.json",
        "100-a.md",
        "notes.md",
        ".keep",
        "001-user.md",
        "0x.md",
      ]),
    ).toEqual([
      ".keep",
      "001-user.md",
      "0x.md",
      "100-a.md",
      "100-x.json",
      "101-x.json",
      "1000-x.json",
      "notes.md",
    ]);
  });

  test("up to 999 the order is that of the bytes", () => {
    const names = fc.tuple(
      fc.integer({ min: 1, max: 999 }),
      fc.constantFrom("user.md", "tool.json", "é.md", "😀.md", "\uffff.md"),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(names.map(([n, rest]) => `${String(n).padStart(3, "0")}-${rest}`)),
        (list) => {
          expect(orderNames(list)).toEqual(
            list.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
          );
        },
      ),
    );
  });

  test("texts compare as their code points do", () => {
    const point = fc.oneof(
      fc.integer({ min: 0x20, max: 0xd7ff }),
      fc.integer({ min: 0xe000, max: 0x10ffff }),
    );
    const words = fc.array(point, { maxLength: 4 }).map((points) => String.fromCodePoint(...points));
    fc.assert(
      fc.property(words, words, (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
      }),
    );
  });
});

describe("holes in the counters", () => {
  test.each<[string, string[], number[][]]>([
    ["none", ["001-a.md", "002-b.md"], []],
    ["at the start", ["004-a.md"], [[0, 1, 3]]],
    ["in the middle", ["001-a.md", "003-b.md"], [[1, 2, 2]]],
    [
      "several",
      ["002-a.md", "005-b.md"],
      [
        [0, 1, 1],
        [1, 3, 4],
      ],
    ],
    ["stand before the numbered entry that shows them", ["001-a.md", "notes.md", "003-b.md"], [[2, 2, 2]]],
    ["a doubled counter opens none", ["001-a.md", "001-b.md", "002-c.md"], []],
    ["a counter too large to count with is stepped over", ["001-a.md", "99999999999999999999-x.md"], []],
    ["none at the end", [], []],
  ])("%s", (_, names, gaps) => {
    expect(findGaps(names).map((g) => [g.before, g.first, g.last])).toEqual(gaps);
  });

  test("are named by their counters", () => {
    expect([gapName(4, 4), gapName(1, 3), gapName(999, 1001)]).toEqual(["«004»", "«001–003»", "«999–1001»"]);
    expect([gapFirst("«004»"), gapFirst("«001–003»"), gapFirst("004-x.md")]).toEqual([4, 1, undefined]);
  });

  test("no name is dropped or put elsewhere for a hole", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 12 }), (counters) => {
        const names = orderNames(counters.map((n) => `${String(n).padStart(3, "0")}-x.md`));
        const missing = new Set(
          findGaps(names).flatMap((g) => Array.from({ length: g.last - g.first + 1 }, (_, i) => g.first + i)),
        );
        const top = Math.max(0, ...counters);
        for (let n = 1; n <= top; n++) expect(missing.has(n)).toBe(!counters.includes(n));
        expect([...missing].every((n) => n < top)).toBe(true);
      }),
    );
  });
});

describe("delivered texts", () => {
  test.each<[string, string, string]>([
    [
      "with an envelope",
      deposit("hello\n", { from: "kid", from_name: "Koi", deposited_at: "2026-07-17T12:00:00Z" }),
      "user (Koi): hello\n",
    ],
    ["without one", "hello", "user: hello"],
    ["empty", "", "user: "],
    ["with an opener and no closer", "---\nfrom: kid\nhello", "user: ---\nfrom: kid\nhello"],
    ["with an empty envelope, which is none", "---\n---\nx", "user: ---\n---\nx"],
    ["with a closer at the end and no line after it", "---\na: b\n---", "user: ---\na: b\n---"],
    ["with fences of another system", "---\r\na: b\r\n---\r\nx", "user: ---\r\na: b\r\n---\r\nx"],
    ["whose body has the delimiter again", deposit("a\n---\nb", { from: "x" }), "user: a\n---\nb"],
    ["that says how a child ended", deposit("", { epitaph: "died" }), "user ended died: "],
    ["that says so in a word of its own", deposit("x", { epitaph: "went home" }), "user ended went home: x"],
    ["with a field that has no value", "---\nfrom_name:\nepitaph\n---\nx", "user: x"],
    ["with a field told twice", "---\nepitaph: died\nepitaph: stopped\n---\nx", "user ended died: x"],
  ])("%s", (_, content, expected) => {
    expect(line("001-user.md", content)).toBe(expected);
  });

  test("the time is the deposit's; bad bytes are replaced; a byte order mark stays", () => {
    expect(
      classifyMessage("001-kid.md", Buffer.from(deposit("x", { deposited_at: "2026-07-17T12:00:00Z" }))),
    ).toMatchObject({
      sender: "kid",
      time: Date.parse("2026-07-17T12:00:00Z"),
    });
    expect(line("001-user.md", Uint8Array.from([0x61, 0xff]))).toBe("user: a\ufffd");
    expect(line("001-user.md", "\ufeff---\nfrom: b\n---\nx")).toBe("user: \ufeff---\nfrom: b\n---\nx");
  });
});

describe("model messages", () => {
  test.each<[string, unknown, string]>([
    ["an object with blocks", answer("hi", call("c1")), 'model m: "hi" call(bash c1 c1)'],
    [
      "a bare list of blocks",
      [
        { type: "text", text: "hi" },
        { type: "thinking", thinking: "hm" },
      ],
      'model m: "hi" think(hm)',
    ],
    ["a text as content", { content: "hi" }, 'model m: "hi"'],
    ["no blocks", {}, "model m:"],
    ["any other value", 7, "model m:"],
    [
      "a block without its text",
      [{ type: "text" }, { type: "thinking", thinking: 3 }],
      'model m: "" think()',
    ],
    [
      "blocks of other kinds are passed over",
      [{ type: "image" }, {}, 3, null, { type: "text", text: "hi" }],
      'model m: "hi"',
    ],
    ["a call without fields", [{ type: "tool_use" }], "model m: call()"],
    [
      "usage: whole numbers as written, under their names, in order",
      '{"content":[],"usage":{"output_tokens":5,"input_tokens":0,"ratio":0.5,"round":5.0,"cost":"1","less":-1,"big":1e3}}',
      'model m: {"input_tokens":0,"output_tokens":5}',
    ],
    ["a usage that is no object", { content: [], usage: [1] }, "model m:"],
    ["bytes that are no JSON", "{", "raw (not JSON): {"],
    ["bytes that are no UTF-8", Uint8Array.from([0x22, 0xff, 0x22]), 'raw (not JSON): "\ufffd"'],
    ["an empty file", "", "raw (not JSON): "],
  ])("%s", (_, content, expected) => {
    expect(line("002-m.json", content)).toBe(expected);
  });

  test("an input is one line, its keys sorted at every level, cut after 200 code points", () => {
    const summary = (input: unknown): string | undefined => {
      const entry = classifyMessage(
        "002-m.json",
        Buffer.from(
          JSON.stringify([
            { type: "tool_use", id: "c", name: "n", ...(input === undefined ? {} : { input }) },
          ]),
        ),
      );
      const block = entry.kind === "model" ? entry.blocks[0] : undefined;
      return block?.kind === "tool-use" ? block.inputSummary : undefined;
    };
    expect(summary({ b: { d: 1, c: [2, { f: 3, e: 4 }] }, a: null })).toBe(
      '{"a":null,"b":{"c":[2,{"e":4,"f":3}],"d":1}}',
    );
    expect(summary(null)).toBe("null");
    expect(summary(undefined)).toBe("");
    expect(summary("x".repeat(198))).toBe(`"${"x".repeat(198)}"`);
    expect(summary("😀".repeat(300))).toBe(`"${"😀".repeat(199)}…`);
  });
});

describe("tool results", () => {
  test.each<[string, unknown, string]>([
    ["in an object with blocks", result("c1", "ok"), "result c1 done: ok"],
    ["in a bare list", [{ type: "tool_result", tool_use_id: "c1", content: "ok" }], "result c1 done: ok"],
    ["the value itself", { tool_use_id: "c1", content: "ok" }, "result c1 done: ok"],
    ["an error", result("c1", "bad", true), "result c1 failed: bad"],
    [
      "an error that is not a truth value",
      { tool_use_id: "c1", content: "x", is_error: "yes" },
      "result c1 done: x",
    ],
    ["content that is absent", { tool_use_id: "c1" }, "result c1 done: "],
    ["content that is null", { tool_use_id: "c1", content: null }, "result c1 done: "],
    [
      "content in pieces, joined as they are",
      result("c1", [{ type: "text", text: "a" }, { type: "text" }, { type: "image", b: 1, a: 2 }, "s"]),
      'result c1 done: a{"a":2,"b":1,"type":"image"}"s"',
    ],
    ["content of another kind", { tool_use_id: "c1", content: 42 }, "result c1 done: 42"],
    ["an id that is no text", { tool_use_id: null, content: "x" }, "result  done: x"],
    [
      "none",
      { content: [{ type: "text", text: "x" }] },
      expect.stringMatching(/^raw \(no tool result in it\)/) as unknown as string,
    ],
    ["bytes that are no JSON", "{", "raw (not JSON): {"],
  ])("%s", (_, content, expected) => {
    expect(line("003-tool.json", content)).toEqual(expected);
  });

  test("bl-47ec: the origin `tool` alone makes a result; a model of another name is a model", () => {
    expect(line("003-tool.json", result("c1", "ok"))).toMatch(/^result/);
    expect(line("003-tool-2.json", result("c1", "ok"))).toBe("model tool-2:");
  });
});

test.each([
  ["notes.txt", "raw (not the name of a message): x"],
  ["001-user.txt", "raw (a message of an unknown kind (.txt)): x"],
  ["001-user.MD", "raw (a message of an unknown kind (.MD)): x"],
  ["003-tool.JSON", "raw (a message of an unknown kind (.JSON)): x"],
  [".001-kid.md.tmp", "raw (not the name of a message): x"],
])("nothing is dropped: %s", (name, expected) => {
  expect(line(name, "x")).toBe(expected);
});

test("any bytes under any name give an entry of that name", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("001-u.md", "002-m.json", "003-tool.json", "x", "004-y.bin"),
      fc.uint8Array(),
      (name, bytes) => {
        expect(classifyMessage(name, bytes).name).toBe(name);
      },
    ),
  );
});
