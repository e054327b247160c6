import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BlockLayouts } from "../../src/terminal/pager/block-layout.ts";
import { Details } from "../../src/terminal/pager/details.ts";
import { createPager } from "../../src/terminal/pager/index.ts";
import {
  choicesMax,
  laidOutRowsMax,
  rawRecordsMax,
  waitingRowsMax,
} from "../../src/terminal/pager/limits.ts";
import { sanitizeLine, spansCells } from "../../src/terminal/text/index.ts";
import type { Entry } from "../../src/transcript/index.ts";
import {
  allRows,
  answerEntry,
  createRig,
  keyOf,
  outputEntry,
  promptEntry,
  type Rig,
  textOf,
  time,
} from "./support.ts";

const talk: readonly Entry[] = [
  promptEntry(0, "fix the resize bug"),
  {
    kind: "model",
    name: "@1",
    usage: {},
    blocks: [
      { kind: "text", text: "I'll look at how the painter treats a width change." },
      {
        kind: "tool-use",
        id: "1",
        name: "Read",
        inputSummary: "{}",
        subject: "screen.ts",
        outcome: { state: "done" },
      },
    ],
    place: { start: 1, end: 2 },
  },
  answerEntry(2, "The epoch was bumped too early; it is fixed."),
  promptEntry(3, "thanks"),
];

/** What the status row says, in any order of what is not shown. */
function expectScreen(rig: Rig, rows: string): void {
  expect(rig.screen().join("\n")).toBe(rows.replace(/^\n|\n$/g, ""));
}

describe("the screen", () => {
  test("blocks, a mark at the current one, and the status row", () => {
    const rig = createRig(talk, { columns: 64, rows: 10 });
    expectScreen(rig, golden.end);
    rig.resize(64, 7);
    rig.press("home");
    expectScreen(rig, golden.top);
    rig.press("down");
    expectScreen(rig, golden.second);
  });

  test("the page of keys goes with any key", () => {
    const rig = createRig(talk, { columns: 64, rows: 16 });
    const before = rig.screen();
    rig.press("?");
    expectScreen(rig, golden.help);
    rig.press("q");
    expect(rig.screen()).toEqual(before);
    expect(rig.requests.filter(({ type }) => type === "close")).toEqual([]);
  });

  test("a narrow status row keeps what matters most", () => {
    const rig = createRig(talk, { columns: 20, rows: 6, isSlow: true });
    rig.pager.failed("the log is gone");
    expect(rig.status()).toBe("the log is gone");
  });

  test("in a block that is higher than the screen, its rows are counted", () => {
    const lines = Array.from({ length: 2_000 }, (_, line) => `line ${line}`).join("\n");
    const rig = createRig([outputEntry(0, lines), answerEntry(1, "done.")], { columns: 90, rows: 12 });
    rig.press("home pagedown");
    expect(rig.status()).toMatch(/rows 12–22 of 2,00\d/);
  });

  test("how far one is, where the whole session is in the window", () => {
    const rig = createRig(
      Array.from({ length: 100 }, (_, index) => answerEntry(index, "word")),
      { columns: 90, window: 100, step: 10 },
    );
    for (let key = 0; key < 30; key++) rig.press("pageup");
    for (let key = 0; key < 11; key++) rig.press("pagedown");
    expect(rig.status()).toMatch(/history · 5\d%/);
  });
});

describe("keys that act on a block", () => {
  const long = Array.from({ length: 60 }, (_, line) => `line ${line}`).join("\n");

  test.each(["d", "enter"])("%s folds and unfolds the current block, whose head stays", (key) => {
    const rig = createRig([promptEntry(0, "hello"), outputEntry(1, long), answerEntry(2, "done.")], {
      rows: 20,
    });
    rig.press("home down down");
    const [head] = rig.body();
    rig.press(key);
    expect(rig.body().join("\n")).toContain("done.");
    rig.press(key);
    expect(rig.body().join("\n")).not.toContain("done.");
    expect(rig.body()).toContain(head);
  });

  test("a block that is unfolded at the end is not scrolled away by what comes next", () => {
    const rig = createRig([outputEntry(1, long)], { rows: 20 });
    rig.press("D d");
    const before = rig.body();
    rig.append(answerEntry(2, "the newest."));
    expect(rig.body()).toEqual(before);
  });

  test("r shows the record's bytes when they have come, and goes back", () => {
    const rig = createRig([promptEntry(0, "hello")]);
    const before = rig.body();
    rig.press("r");
    expect(rig.requests.at(-1)).toMatchObject({ type: "raw", entry: { name: "@0" } });
    rig.pager.giveRaw("@0", new TextEncoder().encode('{"type":"user"}'), false);
    expect(rig.body().join("\n")).toContain('{"type":"user"}');
    expect(rig.status()).toContain("raw");
    rig.press("r");
    expect(rig.body()).toEqual(before);
    rig.press("r");
    expect(rig.requests.filter(({ type }) => type === "raw")).toHaveLength(1);
  });

  test("an entry without a record says so", () => {
    const rig = createRig([{ kind: "streaming", name: "@0", thinking: "", text: "hello" }], { columns: 70 });
    rig.press("r");
    expect(rig.requests.filter(({ type }) => type === "raw")).toEqual([]);
    expect(rig.body().join("\n")).toContain("not in the log");
  });

  test("y copies the words alone", () => {
    const rig = createRig([answerEntry(0, "**bold** and\n\n- a list")], { columns: 70 });
    rig.press("y");
    expect(rig.requests.at(-1)).toEqual({ type: "copy", text: "**bold** and\n\n- a list" });
    expect(rig.status()).toContain("copied");
  });

  test.each(["q", "escape", "ctrl+o", "ctrl+c"])("%s closes", (key) => {
    const rig = createRig(talk);
    rig.press(key);
    expect(rig.requests.at(-1)).toEqual({ type: "close" });
  });

  test("opened anew it is at the end, without what was searched", () => {
    const rig = createRig(talk, { rows: 6 });
    rig.press("/");
    rig.type("painter");
    rig.press("enter");
    rig.pager.reset();
    rig.refresh();
    expect(rig.body().join("\n")).toContain("thanks");
    expect(rig.pager.rows().some(({ spans }) => spans.some((span) => span.inverse === true))).toBe(false);
  });
});

const allKeys = (
  "up down k j pageup pagedown space b ctrl+u ctrl+d home end g G { } alt+up alt+down / n N d D enter r y ? q escape " +
  "ctrl+o backspace wheelup wheeldown a x tab f1 left focus"
).split(" ");

const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom(
    "\u001b[2J\u001b[H\u001b]0;title\u0007gone",
    "a\rb\u0008c\tend",
    "\u202eright to left",
    "👩‍👩‍👧‍👦 漢字 e\u0301".repeat(4),
    "z\u0300\u0301\u0302".repeat(30),
    "",
  ),
);

test("whatever is shown, pressed and resized: exactly the rows of the screen, each within it and safe", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(3), hostile), { maxLength: 20 }),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 6 }),
      fc.array(
        fc.oneof(
          fc.record({ keys: fc.constantFrom(...allKeys) }),
          fc.record({ size: fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 12 })) }),
          fc.record({ text: hostile }),
          fc.constant("answer" as const),
          fc.constant("fail" as const),
        ),
        { maxLength: 40 },
      ),
      (blocks, window, step, acts) => {
        const log = blocks.map(
          ([kind, text], index): Entry =>
            kind === 0
              ? promptEntry(index, text)
              : kind === 1
                ? answerEntry(index, text)
                : kind === 2
                  ? outputEntry(index, text)
                  : { kind: "raw", name: `@${index}`, reason: text, text },
        );
        const rig = createRig(log, {
          columns: 20,
          rows: 5,
          window,
          step: Math.min(step, window),
          isSlow: true,
        });
        let size: readonly [number, number] = [20, 5];
        for (const act of acts) {
          if (act === "answer") rig.answer();
          else if (act === "fail") rig.pager.failed("\u001b[2Jno");
          else if ("keys" in act) rig.press(act.keys);
          else if ("size" in act) {
            size = act.size;
            rig.resize(size[0], size[1]);
          } else rig.append(answerEntry(rig.log.length, act.text));
          const rows = rig.pager.rows();
          expect(rows).toHaveLength(size[1]);
          for (const row of rows) {
            expect(spansCells(row.spans)).toBeLessThanOrEqual(Math.max(1, size[0] - 1));
            for (const span of row.spans) expect(sanitizeLine(span.text)).toBe(span.text);
          }
        }
      },
    ),
  );
});

test("every word of every block is on some row", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 12, max: 60 }),
      (blocks, columns) => {
        const words = blocks.map(([, count], block) =>
          Array.from({ length: count }, (_, word) => `w${block}x${word}`),
        );
        const log = blocks.map(([kind], index) => {
          const text = words[index]!.join(" ");
          return kind === 0
            ? promptEntry(index, text)
            : kind === 1
              ? answerEntry(index, text)
              : outputEntry(index, text);
        });
        // Output is broken anywhere: its rows are joined without a blank.
        const rows = allRows(log, columns);
        const shown = `${rows.join(" ")} ${rows.join("")}`;
        for (const word of words.flat()) expect(shown).toContain(word);
      },
    ),
  );
});

describe("cost", () => {
  const huge = "0123456789".repeat(500_000);

  test("codex#7454, crush#2226, crush#2281: every character of a 5 MB line is reached, laid out once", () => {
    const rig = createRig([promptEntry(0, "hello"), outputEntry(1, huge), answerEntry(2, "done.")], {
      columns: 121,
      rows: 501,
    });
    const first = rig.pager.layouts.laidOutCount;
    expect(first).toBeLessThanOrEqual(3);
    rig.press("home");
    let digits = 0;
    for (;;) {
      for (const row of rig.body()) if (/^\d{2,}$/.test(row)) digits += row.length;
      if (rig.status().includes("end")) break;
      rig.press("pagedown");
    }
    // The last page may go over rows that were counted.
    expect(digits).toBeGreaterThanOrEqual(huge.length);
    expect(digits).toBeLessThan(huge.length + 501 * 121);
    for (const key of ["up", "pageup", "down", "/", "a", "enter", "n", "{", "}", "home", "end"])
      rig.press(key);
    expect(rig.pager.layouts.laidOutCount - first).toBeLessThanOrEqual(1);
  });

  test("codex#21945, oc#38435: far blocks are not laid out, neither by opening nor by keys at the other end", () => {
    const rig = createRig(
      Array.from({ length: 200 }, (_, index) => answerEntry(index, `number ${index}.`)),
      { rows: 10, window: 200, step: 50 },
    );
    expect(rig.pager.layouts.laidOutCount).toBeLessThan(12);
    const before = rig.pager.layouts.laidOutCount;
    rig.press("home down pagedown up");
    rig.pager.rows();
    expect(rig.pager.layouts.laidOutCount - before).toBeLessThan(24);
    const there = rig.pager.layouts.laidOutCount;
    rig.resize(30, 10);
    rig.pager.rows();
    expect(rig.pager.layouts.laidOutCount - there).toBeLessThan(16);
  });

  test("a block keeps its rows when the window leaves the one above it behind", () => {
    const layouts = new BlockLayouts({ time });
    const above = promptEntry(0, "hello");
    const entry = answerEntry(1, "word");
    const request = { entry, detail: "full", width: 20 } as const;
    const rows = layouts.rowsOf({ ...request, previous: above });
    expect(layouts.rowsOf({ ...request, previous: undefined })).toBe(rows);
    expect(layouts.laidOutCount).toBe(1);
  });
});

describe("limits (oc#46341)", () => {
  test("rows laid out: the block used longest ago is forgotten first, but not one on the screen", () => {
    const layouts = new BlockLayouts({ time }, 30);
    const rows = (index: number): unknown =>
      layouts.rowsOf({
        entry: entries[index]!,
        previous: undefined,
        detail: "full",
        width: 20,
      });
    const entries = Array.from({ length: 5 }, (_, index) => outputEntry(index, "a\n".repeat(9)));
    const kept = rows(0);
    const height = layouts.rowCount;
    rows(1);
    rows(0);
    rows(2);
    expect(layouts.rowCount).toBe(3 * height <= 30 ? 3 * height : 2 * height);
    expect(rows(0)).toBe(kept);
    layouts.pin(new Set(["@0"]));
    for (const index of [1, 2, 3, 4]) rows(index);
    expect(layouts.rowCount).toBeLessThanOrEqual(30);
    expect(rows(0)).toBe(kept);
    expect(laidOutRowsMax).toBeGreaterThan(100_000);
  });

  test("choices of a detail", () => {
    const details = new Details();
    for (let index = 0; index <= choicesMax; index++) details.choose(`@${index}`, "compact");
    expect(details.of("@0")).toBe("full");
    expect(details.of("@1")).toBe("compact");
  });

  test("records for the raw view", () => {
    const details = new Details();
    for (let index = 0; index <= rawRecordsMax; index++)
      details.giveRaw(`@${index}`, { bytes: new Uint8Array(1), isCut: false });
    expect(details.rawOf("@0")).toBeUndefined();
    expect(details.rawOf("@1")).toBeDefined();
  });

  test("rows that wait for blocks", () => {
    const log = Array.from({ length: 2_000 }, (_, index) => answerEntry(index, "word"));
    const rig = createRig(log, { rows: 101, window: 200, step: 100, isSlow: true });
    for (let key = 0; key < 40; key++) rig.press("pageup");
    while (rig.answer());
    // Two rows a block: the window began at block 1,800, and half as many blocks as rows were waited for.
    const first = 1_800 - waitingRowsMax / 2;
    expect(rig.shown.lo).toBeLessThanOrEqual(first);
    expect(rig.shown.lo).toBeGreaterThan(first - 250);
  });
});

test("a pager that was shown nothing yet takes any key", () => {
  const pager = createPager({ layout: { time } });
  for (const key of allKeys) pager.key(keyOf(key));
  expect(pager.rows()).toHaveLength(24);
  expect(textOf(pager.rows()[0]!)).toBe("");
});

const golden = {
  end: `
▏› fix the resize bug                                    12:00

   I'll look at how the painter treats a width change.

 ● Read   screen.ts

   The epoch was bumped too early; it is fixed.

 › thanks                                                12:03
 history · end         / search · { } prompts · ? keys · q back
`,
  top: `
▏› fix the resize bug                                    12:00

   I'll look at how the painter treats a width change.

 ● Read   screen.ts

 history · start       / search · { } prompts · ? keys · q back
`,
  second: `

▏  I'll look at how the painter treats a width change.

▏● Read   screen.ts

   The epoch was bumped too early; it is fixed.
 history · 75%         / search · { } prompts · ? keys · q back
`,
  help: `

  ↑ ↓  j k                  a row up, down
  PageUp PageDown  b space  a page
  Ctrl+U Ctrl+D             half a page
  Home End  g G             first block, newest block
  { }  Alt+↑ Alt+↓          prompt before, prompt after
  /                         search the whole session, from her…
  n N                       match before, match after
  d Enter                   fold or unfold this block (▏)
  D                         fold or unfold all blocks
  r                         this block's record as it stands i…
  y                         copy this block's text
  q  Esc  Ctrl+O            back to the session


 history · all of it   / search · { } prompts · ? keys · q back
`,
};
