/** What each kind of damage gives. Named after the field's reports; every row holds for both directions and for single-byte reads. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { backward, bytes, forward, notation } from "./support.ts";

interface Row {
  readonly name: string;
  readonly log: Uint8Array;
  readonly items: readonly string[];
}

const rows: readonly Row[] = [
  { name: "an empty file", log: bytes(""), items: [] },
  { name: "blank lines only", log: bytes("\n \r\n\t\n"), items: [] },
  { name: "one record", log: bytes('{"a":1}\n'), items: ['record 0-7 {"a":1}'] },
  {
    name: "no line feed at the end, 425 of 901 files",
    log: bytes('{"a":1}\n{"b":2}'),
    items: ['record 0-7 {"a":1}', 'record 8-15 {"b":2}'],
  },
  {
    name: "a value that is no object",
    log: bytes('12\n"x"\n[1,2]\nnull\n'),
    items: ["record 0-2 12", 'record 3-6 "x"', "record 7-12 [1,2]", "record 13-17 null"],
  },
  { name: "white space around a record", log: bytes('  {"a":1} \t\n'), items: ['record 2-9 {"a":1}'] },
  {
    name: "cc#49876 NUL run mid-file",
    log: bytes('{"a":1}\n', "\0".repeat(300), '\n{"b":2}\n'),
    items: ['record 0-7 {"a":1}', "nul-run 8-308", 'record 309-316 {"b":2}'],
  },
  {
    name: "cc#49876 NUL run in front of a record",
    log: bytes('{"a":1}\n\0\0\0\0{"b":2}\n'),
    items: ['record 0-7 {"a":1}', "nul-run 8-12", 'record 12-19 nul-run {"b":2}'],
  },
  {
    name: "a NUL run behind a record",
    log: bytes('{"a":1}\0\0\n{"b":2}\n'),
    items: ['record 0-7 nul-run {"a":1}', "nul-run 7-9", 'record 10-17 {"b":2}'],
  },
  {
    name: "a NUL run inside a string",
    log: bytes('{"a":"x\0\0y"}\n'),
    items: ['record 0-12 nul-run {"a":"xy"}'],
  },
  {
    name: "a NUL run between a stub and a record",
    log: bytes('{"type":"user","te\0\0\0{"type":"b","x":{}}\n{"c":3}\n'),
    items: ["torn 0-18", "nul-run 18-21", 'record 21-40 resync {"type":"b","x":{}}', 'record 41-48 {"c":3}'],
  },
  {
    name: "cc#50347 torn record mid-file",
    log: bytes('{"a":1}\n{"type":"file-history-snapshot","mess\n{"b":2}\n{"c":3}\n'),
    items: ['record 0-7 {"a":1}', "torn 8-45", 'record 46-53 {"b":2}', 'record 54-61 {"c":3}'],
  },
  {
    name: "cc#53821 torn tail",
    log: bytes('{"a":1}\n{"type":"user","message":{"content":[{"type":"text","text":"hal'),
    items: ['record 0-7 {"a":1}', "torn 8-71"],
  },
  {
    name: "a tail torn right behind an object inside it",
    log: bytes('{"a":1}\n{"message":{"content":[{"type":"text","text":"hi"}'),
    items: ['record 0-7 {"a":1}', "torn 8-58"],
  },
  {
    name: "cc#52387 stub and record on one line",
    log: bytes('{"a":1}\n{"type":"user","uuid":"0123{"type":"user","uuid":"01234567"}\n{"b":2}\n'),
    items: [
      'record 0-7 {"a":1}',
      "resync 8-35",
      'record 35-68 resync {"type":"user","uuid":"01234567"}',
      'record 69-76 {"b":2}',
    ],
  },
  {
    name: "cop#4098 the record repeats the stub's id",
    log: bytes('{"id":"e1","type":"x","data":{"t":"he{"id":"e1","type":"x","data":{"t":"hello"}}\n'),
    items: ["resync 0-37", 'record 37-80 resync {"id":"e1","type":"x","data":{"t":"hello"}}'],
  },
  {
    name: "a stub cut between two members",
    log: bytes('{"a":1,{"parentUuid":null,"type":"user"}\n'),
    items: ["resync 0-7", 'record 7-40 resync {"parentUuid":null,"type":"user"}'],
  },
  {
    name: "a stub cut where a value was to come",
    log: bytes('{"a":{"timestamp":"t","type":"x"}\n'),
    items: ["resync 0-5", 'record 5-33 resync {"timestamp":"t","type":"x"}'],
  },
  {
    name: "garbage in front of a record",
    log: bytes('9-uuid"}{"type":"user"}\n'),
    items: ["resync 0-8", 'record 8-23 resync {"type":"user"}'],
  },
  {
    name: "codex#24425 a half-written line, then the same line again",
    log: bytes(
      '{"type":"response_item","payload":{"type":"reas\n{"type":"response_item","payload":{"type":"reasoning"}}\n',
    ),
    items: ["torn 0-47", 'record 48-103 {"type":"response_item","payload":{"type":"reasoning"}}'],
  },
  {
    name: "codex#25365 JSON made invalid by what was put in",
    log: bytes('{"a":"data:image,"iVBOR,"b":1}\n{"b":2}\n'),
    items: ["not-json 0-30", 'record 31-38 {"b":2}'],
  },
  {
    name: "two objects glued",
    log: bytes('{"a":"}{"}{"type":"summary"}\n{"b":2}\n'),
    items: ['record 0-10 glued {"a":"}{"}', 'record 10-28 glued {"type":"summary"}', 'record 29-36 {"b":2}'],
  },
  {
    name: "three objects glued with white space between",
    log: bytes('{"a":1} {"b":2}\t{"c":3}\n'),
    items: ['record 0-7 glued {"a":1}', 'record 8-15 glued {"b":2}', 'record 16-23 glued {"c":3}'],
  },
  {
    name: "an object glued to a torn one",
    log: bytes('{"a":1}{"b":"x\n{"c":3}\n'),
    items: ['record 0-7 glued {"a":1}', "torn 7-14", 'record 15-22 {"c":3}'],
  },
  {
    name: "cop#2649 raw line feeds in a string",
    log: bytes('{"a":1}\n{"t":"one\ntwo\n\nthree","n":2}\n{"b":2}\n'),
    items: [
      'record 0-7 {"a":1}',
      'record 8-36 split {"t":"one\\ntwo\\n\\nthree","n":2}',
      'record 37-44 {"b":2}',
    ],
  },
  {
    name: "raw line feeds in a string, with lines that could be values or code",
    log: bytes('{"t":"int f()\n{\n  12\n}\n"}\n{"b":2}\n'),
    items: ['record 0-25 split {"t":"int f()\\n{\\n  12\\n}\\n"}', 'record 26-33 {"b":2}'],
  },
  {
    name: "a split record that never ends: the next whole record stands",
    log: bytes('{"t":"one\ntwo\n{"b":2}\nx"}\n'),
    items: ["torn 0-9", "not-json 10-13", 'record 14-21 {"b":2}', "not-json 22-25"],
  },
  {
    name: "an object split over lines and glued to the next",
    log: bytes('{"z":0}{"t":"one\ntwo"}{"u":1}\n'),
    items: ['record 0-7 glued {"z":0}', 'record 7-22 split {"t":"one\\ntwo"}', 'record 22-29 {"u":1}'],
  },
  {
    name: "pretty-printed objects in a .jsonl",
    log: bytes(
      '{\n  "a": 1,\n  "b": [\n    2,\n    {},\n    "x"\n  ]\n}\n{\n  "c": {\n    "d": null\n  }\n}\n',
    ),
    items: ['record 0-49 split {"a":1,"b":[2,{},"x"]}', 'record 50-80 split {"c":{"d":null}}'],
  },
  {
    name: "pretty-printed objects with CRLF and no line end",
    log: bytes('{\r\n  "a": "x"\r\n}\r\n{\r\n  "b": 2\r\n}'),
    items: ['record 0-16 split {"a":"x"}', 'record 18-32 split {"b":2}'],
  },
  {
    name: "a pretty-printed object that was torn, and whole ones after it",
    log: bytes('{\n  "a": 1,\n  "b": {\n    "x": 2\n{"c":3}\n{\n  "d": 4\n}\n'),
    items: [
      "torn 0-1",
      "not-json 4-11",
      "not-json 14-20",
      "not-json 25-31",
      'record 32-39 {"c":3}',
      'record 40-52 split {"d":4}',
    ],
  },
  {
    name: "cop#2490, cohub#161 U+2028, U+2029 and U+0085 in strings",
    log: bytes('{"a":"\u2028\u2029\u0085"}\n{"b":2}\n'),
    items: ['record 0-16 {"a":"\u2028\u2029\u0085"}', 'record 17-24 {"b":2}'],
  },
  {
    name: "raw 0B, 0C and tab in strings",
    log: bytes('{"a":"\v\f\t"}\n{"b":2}\n'),
    items: ['record 0-11 control-characters {"a":"\\u000b\\f\\t"}', 'record 12-19 {"b":2}'],
  },
  {
    name: "a raw CR in a string",
    log: bytes('{"a":"x\ry"}\n'),
    items: ['record 0-11 control-characters {"a":"x\\ry"}'],
  },
  {
    name: "CRLF line ends",
    log: bytes('{"a":1}\r\n{"b":2}\r\n'),
    items: ['record 0-7 {"a":1}', 'record 9-16 {"b":2}'],
  },
  {
    name: "codex#28139 BOM in front of the first record",
    log: bytes([0xef, 0xbb, 0xbf], '{"a":1}\n{"b":2}\n'),
    items: ["bom 0-3", 'record 3-10 {"a":1}', 'record 11-18 {"b":2}'],
  },
  {
    name: "BOMs of files that were put together",
    log: bytes([0xef, 0xbb, 0xbf], '{"a":1}\n', [0xef, 0xbb, 0xbf], '{\n"b":2}\n', [0xef, 0xbb, 0xbf]),
    items: ["bom 0-3", 'record 3-10 {"a":1}', "bom 11-14", 'record 14-22 split {"b":2}', "bom 23-26"],
  },
  {
    name: "git-ai#2268 byte FF in a string",
    log: bytes('{"a":"x', [0xff], 'y"}\n{"b":2}\n'),
    items: ['record 0-11 invalid-utf8 {"a":"x\ufffdy"}', 'record 12-19 {"b":2}'],
  },
  {
    name: "a last line cut in mid-character",
    log: bytes('{"a":1}\n{"b":"', [0xe5, 0xa4]),
    items: ['record 0-7 {"a":1}', "torn 8-16"],
  },
  {
    name: "github/app#945 a lone surrogate stays what it is",
    log: bytes('{"a":"\uac00\\ud99c\uac00"}\n'),
    items: ['record 0-20 {"a":"\uac00\\ud99c\uac00"}'],
  },
  {
    name: "lines of another program's log",
    log: bytes('{"a":1}\nWarning: disk full\n{"b":2}\n'),
    items: ['record 0-7 {"a":1}', "not-json 8-26", 'record 27-34 {"b":2}'],
  },
  {
    name: "a key named __proto__ stays data",
    log: bytes('{"__proto__":{"x":1}}\n'),
    items: ['record 0-21 {"__proto__":{"x":1}}'],
  },
];

describe("damage (field faults cases 8 and 9)", () => {
  it.each(rows)("$name", async ({ log, items }) => {
    expect(notation(await forward(log))).toEqual(items);
    expect(notation(await backward(log))).toEqual(items);
    expect(notation(await forward(log, { limits: { chunkBytes: 1 } }))).toEqual(items);
    expect(notation(await backward(log, { limits: { chunkBytes: 1 } }))).toEqual(items);
  });

  it("field faults case 8: three good lines, a stub, a record, two good lines give six records and one note", async () => {
    const good = (n: number): string =>
      `${JSON.stringify({ type: "user", uuid: `u${n}`, message: { content: "x" } })}\n`;
    const lines = [1, 2, 3].map(good).join("");
    const items = await forward(bytes(lines, good(4).slice(0, 40), good(4), good(5), good(6)));
    expect(items.filter((item) => item.type === "record")).toHaveLength(6);
    const notes = items.filter((item) => item.type === "damage");
    expect(notes).toEqual([
      { type: "damage", start: lines.length, end: lines.length + 40, reason: "resync" },
    ]);
  });

  it("finds both objects of a real glued line", async () => {
    const log = readFileSync(new URL("../fixtures/lines/glued-objects.jsonl", import.meta.url));
    const items = await forward(log);
    expect(await backward(log)).toEqual(items);
    const types = items.map((item) =>
      item.type === "record" ? (item.value as { type: string }).type : item.reason,
    );
    expect(types).toEqual(["assistant", "assistant", "file-history-snapshot", "assistant"]);
    expect(items.map((item) => (item.type === "record" ? item.recovered : item.reason))).toEqual([
      undefined,
      "glued",
      "glued",
      undefined,
    ]);
  });

  it("reads deep nesting and a binary without an error", async () => {
    const deep = bytes("[".repeat(200_000), "]".repeat(200_000), '\n{"a":1}\n');
    expect((await forward(deep)).at(-1)).toMatchObject({ value: { a: 1 } });
    const noise = Buffer.alloc(300_000);
    let state = 1;
    for (let index = 0; index < noise.length; index += 1) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      noise[index] = state >> 16;
    }
    const items = await forward(noise);
    expect(await backward(noise)).toEqual(items);
    expect(items.some((item) => item.type === "damage")).toBe(true);
  });
});
