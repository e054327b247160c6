/** Rows: one for each thing said or done, what they say, and what stands open. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Entry,
  type Expansion,
  PREVIEW_MAX,
  type Row,
  rowKey,
  rowsOf,
  splitPayload,
  toggleRow,
  turnKey,
  withLive,
  withWound,
} from "../../src/transcript/index.ts";
import { anyEntry, delivered, model, result } from "./entries.ts";
import { keyedLine, rowLine } from "./row-notation.ts";

function rows(entries: readonly Entry[], expansion: Expansion = {}): readonly Row[] {
  return rowsOf(entries, { speaker: "Koi", ...expansion });
}

function lines(entries: readonly Entry[], expansion?: Expansion): readonly string[] {
  return rows(entries, expansion).map(rowLine);
}

function firstOf(entry: Entry, expansion?: Expansion): Row {
  const [row] = rows([entry], expansion);
  if (row === undefined) throw new Error("no row");
  return row;
}

const conversation: readonly Entry[] = [
  delivered("001-user.md"),
  model("002-opus.json", ["(hm)", "I look", "!c1"]),
  result("003-tool.json", "c1", "a\nb"),
  delivered("004-kid.md", "found it"),
];

describe("every block is a row of its own", () => {
  test("with its exact prefix and key", () => {
    expect(rows(conversation).map(keyedLine)).toEqual([
      "tx/001-user.md#0 user: hello [response plain user]",
      "tx/002-opus.json#0 thinking: hm [other weak]",
      "tx/002-opus.json#1 Koi: I look [response plain model]",
      'tx/002-opus.json#2 ⚙ bash {"command":"ls"} [other plain]',
      "tx/003-tool.json#0 ▸ ✔ tool result — ok · 3 chars a [other good]",
      "tx/004-kid.md#0 kid: found it [response plain peer]",
    ]);
  });

  test("roles come from the bytes alone", () => {
    const child = { ...delivered("005-kid.md", "x"), epitaph: "final-response" };
    const role = (entry: Entry): string | undefined => firstOf(entry).role;
    expect([
      role(delivered("001-user.md")),
      role(model("002-m.json", ["x"])),
      role(result("003-tool.json", "c")),
      role(delivered("004-kid.md")),
      role(child),
      role({ ...child, sender: "user" }),
      role({ kind: "streaming", name: "«live»", thinking: "", text: "x" }),
    ]).toEqual(["user", "model", undefined, "peer", "ended", "ended", "model"]);
  });

  test("streaming is a response and open; raw is titled by its file", () => {
    const raw: Entry = {
      kind: "raw",
      name: "notes.txt",
      reason: "not the name of a message",
      text: "some\nbytes",
    };
    expect(lines([raw, ...withLive([], { thinking: "hm\nhm", text: "a\nb" })])).toEqual([
      "▸ notes.txt some [other weak]",
      "▾ thinking: hm [other live]",
      "▾ live: a [response live model]",
    ]);
    expect(firstOf(raw)).toMatchObject({ body: "some\nbytes", hover: "not the name of a message" });
  });

  test("a file with several results has a row for each", () => {
    const several: Entry = {
      ...result("003-tool.json", "c1", "1"),
      further: [{ toolUseId: "c2", content: "2", isError: true }],
    };
    expect(rows([model("002-m.json", ["!c1", "!c2"]), several]).map(keyedLine)).toEqual([
      'tx/002-m.json#0 ⚙ bash {"command":"ls"} [other plain]',
      'tx/002-m.json#1 ⚙ bash {"command":"ls"} [other plain]',
      "tx/003-tool.json#0 ✔ tool result — ok 1 [other good]",
      "tx/003-tool.json#1 ✖ tool result — error 2 [other bad]",
    ]);
  });

  test("what programs put in, attachments, blocks of other kinds and subagents are machinery", () => {
    const blocks: Entry = {
      ...model("@1", []),
      blocks: [
        { kind: "attachment", attachment: { mediaType: "image/png", bytes: 1, name: "a.png" } },
        { kind: "other", type: "citation", text: "{}" },
      ],
    };
    const person: Entry = { ...delivered("@2"), attachments: [{ mediaType: "image/png", bytes: 68 }] };
    const inner: readonly Entry[] = [
      { ...delivered("@3", "look"), subagent: "a1" },
      { ...model("@4", ["found"]), subagent: "a1" },
    ];
    const hook: Entry = { ...delivered("@5", "ran"), sender: "system", topic: "hook" };
    const system = delivered("006-system.md", "I am a peer of that name");
    expect(
      rows([blocks, person, ...inner, hook, system]).map((row) => `${row.part}: ${rowLine(row)}`),
    ).toEqual([
      "plain: attachment: image/png · 1 byte · a.png [other weak]",
      "plain: citation: {} [other weak]",
      "boundary: user: hello [response plain user]",
      "boundary: attachment: image/png · 68 bytes [other weak]",
      "plain: [a1] user: look [other plain]",
      "model: [a1] Koi: found [other plain]",
      "plain: hook: ran [other weak]",
      "boundary: system: I am a peer of that name [response plain peer]",
    ]);
  });

  test("no entry is lost, each row has a key of its own, an empty half of a stream alone has no row", () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyEntry, { selector: (e) => e.name, maxLength: 8 }), (entries) => {
        const all = rows(entries);
        expect(new Set(all.map((row) => row.key)).size).toBe(all.length);
        const shown = new Set(all.map((row) => row.entry));
        for (const entry of entries)
          expect(shown.has(entry)).toBe(entry.kind !== "streaming" || entry.text + entry.thinking !== "");
      }),
    );
  });
});

describe("previews", () => {
  test.each<[string, string, string, boolean]>([
    ["a short payload has no body", "hello", "hello", false],
    ["nor has one with a newline at its end", "hello\n", "hello", false],
    ["a carriage return is dropped", "a\r\nb", "a", true],
    ["a second line is a body, an empty one too", "a\n\n", "a", true],
    ["a first line that is empty", "\nb", "", true],
    ["at the limit nothing is cut", "x".repeat(160), "x".repeat(160), false],
    ["a line of 200 is cut after 160", "x".repeat(200), `${"x".repeat(160)}…`, true],
    ["what is counted are code points", "😀".repeat(160), "😀".repeat(160), false],
    ["and they are not split", "😀".repeat(161), `${"😀".repeat(160)}…`, true],
  ])("%s", (_, payload, preview, hasBody) => {
    expect(splitPayload(payload)).toEqual({ preview, ...(hasBody ? { body: payload } : {}) });
  });

  test("of a long line the preview is 161 characters and the body is whole", () => {
    const row = firstOf(delivered("001-user.md", "x".repeat(200)));
    expect(Array.from(row.preview)).toHaveLength(PREVIEW_MAX + 1);
    expect(row.body).toBe("x".repeat(200));
  });

  test("nothing is hidden without a body behind it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (payload) => {
        const { preview, body } = splitPayload(payload);
        if (body === undefined) expect(payload.replace(/\r?\n?$/, "")).toBe(preview.replace(/\r$/, ""));
        else expect(body).toBe(payload);
      }),
    );
  });
});

describe("what stands open", () => {
  const long = "a\nb";
  const all: readonly Entry[] = [
    delivered("001-user.md", long),
    model("002-m.json", [`(${long})`, long]),
    result("003-tool.json", "c", long),
  ];
  const open = (expansion?: Expansion): string =>
    rows(all, expansion)
      .map((row) => (row.isExpanded ? "▾" : "▸"))
      .join("");

  test("bl-6ec6: what is delivered arrives expanded, and an override shuts it", () => {
    const entry = delivered("004-kid.md", long);
    expect(firstOf(entry).isExpanded).toBe(true);
    expect(firstOf(entry, { overrides: new Set([rowKey("004-kid.md", 0)]) }).isExpanded).toBe(false);
  });

  test("responses are open and others shut by default", () => {
    expect(open()).toBe("▾▸▾▸");
  });

  test("the knobs invert", () => {
    expect(open({ knobs: { responses: false, others: true } })).toBe("▸▾▸▾");
  });

  test("an override flips its row only, whichever way it stands", () => {
    for (const knobs of [
      { responses: true, others: false },
      { responses: false, others: true },
    ])
      for (const [at, row] of rows(all).entries()) {
        const before = Array.from(open({ knobs }));
        const after = Array.from(open({ knobs, overrides: new Set([row.key]) }));
        expect(after.map((sign, i) => sign !== before[i])).toEqual(before.map((_, i) => i === at));
      }
  });

  test("turning a row over twice leaves it as it was", () => {
    const once = toggleRow(new Set(["a"]), "b");
    expect([[...once], [...toggleRow(once, "b")]]).toEqual([["a", "b"], ["a"]]);
  });
});

describe("labels", () => {
  test("a message without a body says so", () => {
    expect(lines([delivered("001-kid.md", "")])).toEqual(["kid: (no message body) [response weak peer]"]);
  });

  test("bl-71e8: a child that ended without a word says how it ended", () => {
    expect(lines([{ ...delivered("001-kid.md", ""), epitaph: "stopped" }])).toEqual([
      "kid ended: stopped (no message body) [response weak ended]",
    ]);
  });

  test("a child that ended with a body has both", () => {
    expect(lines([{ ...delivered("001-kid.md", "bye"), epitaph: "went home" }])).toEqual([
      "kid ended: went home bye [response plain ended]",
    ]);
  });

  test("bl-6661: a sender with a name is called by it", () => {
    expect(firstOf({ ...delivered("001-kid.md"), senderName: "Ray" })).toMatchObject({
      prefix: "Ray:",
      hover: "sent by kid",
    });
  });

  test("a message of the model without blocks has a row", () => {
    expect(lines([model("002-opus.json", [])])).toEqual(["Koi: (no content blocks) [other weak model]"]);
    expect(firstOf(model("002-opus.json", [])).hover).toBe("ran on opus");
  });

  test("the running suffix disappears with the result", () => {
    const call = model("002-opus.json", ["!c1"]);
    expect(lines([call])).toEqual(['⚙ bash — running {"command":"ls"} [other in-flight]']);
    expect(lines([call, result("003-tool.json", "c1")])[0]).toBe('⚙ bash {"command":"ls"} [other plain]');
  });

  test.each([
    ["running", '⚙ bash — running {"command":"ls"} [other in-flight]'],
    ["done", '⚙ bash {"command":"ls"} [other plain]'],
    ["failed", '⚙ bash {"command":"ls"} [other plain]'],
    ["denied", '⚙ bash — denied {"command":"ls"} [other plain]'],
    ["interrupted", '⚙ bash — interrupted {"command":"ls"} [other plain]'],
    ["unanswered", '⚙ bash — unanswered {"command":"ls"} [other plain]'],
  ] as const)("a call whose outcome is known stands as it says: %s", (state, line) => {
    const [block] = model("002-m.json", ["!c1"]).blocks;
    const call = { ...model("002-m.json", []), blocks: [{ ...block, outcome: { state } }] } as Entry;
    expect(lines([call])).toEqual([line]);
  });

  test("bl-2335: the speaker is the conversation's, the model stands behind it", () => {
    const row = firstOf(model("002-opus.json", ["hi"]));
    expect([row.prefix, row.hover]).toEqual(["Koi:", "ran on opus"]);
    const { modelId: _, ...nameless } = model("002-opus.json", ["hi"]);
    expect(firstOf(nameless).hover).toBeUndefined();
  });

  test("bl-1f75: a result says its size in characters", () => {
    expect(firstOf(result("003-tool.json", "c", "é\n😀\nzz")).prefix).toBe("✔ tool result — ok · 6 chars");
  });

  test("bl-1f75: no size where nothing folds", () => {
    expect(firstOf(result("003-tool.json", "c", "ok")).prefix).toBe("✔ tool result — ok");
  });

  test("the live tail states no size", () => {
    expect(lines(withLive([], { text: "a\nb" }))).toEqual(["▾ live: a [response live model]"]);
  });

  test("the caller's name is taken verbatim", () => {
    const [row] = rowsOf([model("002-m.json", ["hi"])], { speaker: " 20260427T120000Z-aaaa: " });
    expect(row?.prefix).toBe(" 20260427T120000Z-aaaa: :");
  });
});

describe("compaction marks", () => {
  const mark = (first: number, last: number, summary = "they met\nand spoke"): Entry => ({
    kind: "compacted",
    name: "«x»",
    first,
    last,
    summary,
  });

  test("a mark says how many and which", () => {
    expect(lines([mark(1, 12)])).toEqual(["▸ ✂ 12 entries compacted away — 001–012 they met [other weak]"]);
    expect(firstOf(mark(1, 12)).hover).toMatch(/which summary belongs/);
  });

  test("a mark of one entry says so", () => {
    expect(lines([mark(4, 4, "")])).toEqual([
      "✂ 1 entry compacted away — 004 (no summary on this mark) [other weak]",
    ]);
  });

  test("mark and record are both there to be shown", () => {
    const row = firstOf(mark(998, 1001), { knobs: { responses: true, others: true } });
    expect([row.prefix, row.body, row.isExpanded]).toEqual([
      "✂ 4 entries compacted away — 998–1001",
      "they met\nand spoke",
      true,
    ]);
  });

  test("a compaction that tells no counters tells its tokens", () => {
    const told: Entry = { kind: "compacted", name: "@9", summary: "s" };
    expect(lines([told, { ...told, tokensBefore: 150_000, tokensAfter: 9000 }])).toEqual([
      "✂ earlier entries compacted away s [other weak]",
      "✂ earlier entries compacted away — 150000 tokens to 9000 s [other weak]",
    ]);
  });
});

test("a notice of a failure is a row that says it", () => {
  const [row] = rows(withWound([], { kind: "spoke", words: "line 1\nline 2", source: "stderr.log" }));
  expect(row && rowLine(row)).toMatch(/^▸ stopped: ⚠ .*stderr\.log.*line 1 \[other bad\]$/);
  expect(row?.body).toMatch(/line 2$/);
});

describe("keys", () => {
  test("are spelled by entry and block", () => {
    expect([rowKey("002-opus.json", 3), turnKey("002-opus.json"), rowKey("«live»", 1)]).toEqual([
      "tx/002-opus.json#3",
      "tx/002-opus.json#turn",
      "tx/«live»#1",
    ]);
  });

  test("blocks and entries never collide", () => {
    const name = fc.oneof(fc.string(), fc.constantFrom("a", "a#0", "a#turn", "a#0#1", "#"));
    const place = fc.tuple(name, fc.nat({ max: 20 }));
    const spelled = ([entry, block]: readonly [string, number]): string =>
      block === 20 ? turnKey(entry) : rowKey(entry, block);
    fc.assert(
      fc.property(place, place, (a, b) => {
        expect(spelled(a) === spelled(b)).toBe(a[0] === b[0] && a[1] === b[1]);
      }),
    );
  });
});
