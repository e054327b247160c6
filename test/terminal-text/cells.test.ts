import { Terminal } from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cellsOf,
  cutCells,
  cutStart,
  graphemes,
  hasUncertainWidth,
  takeCells,
} from "../../src/terminal/text/index.ts";
import { hostile } from "./support.ts";

const seed = 20_261_202;

// The addon reads its tables from the whole memory block of a Buffer, which is only its own where Buffers are not pooled.
Buffer.poolSize = 0;
const { UnicodeGraphemesAddon } = await import("@xterm/addon-unicode-graphemes");

function terminal(withGraphemes: boolean): Terminal {
  const made = new Terminal({ cols: 200, rows: 4, allowProposedApi: true });
  if (withGraphemes) made.loadAddon(new UnicodeGraphemesAddon());
  return made;
}

/** The column the cursor stands in after `text`. */
async function column(of: Terminal, text: string): Promise<number> {
  await new Promise<void>((resolve) => of.write(`\x1b[2J\x1b[H${text}`, resolve));
  return of.buffer.active.cursorX;
}

/** Name, text, our width: the greatest that a terminal we know takes. */
const table: readonly (readonly [string, string, number])[] = [
  ["ASCII", "abc", 3],
  ["a family of four", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}", 8],
  ["a flag", "\u{1f1ef}\u{1f1f5}", 2],
  ["a lone regional indicator", "\u{1f1ef}", 2],
  ["three regional indicators", "\u{1f1ef}\u{1f1f5}\u{1f1ef}", 4],
  ["a heart with VS16", "\u2764\ufe0f", 2],
  ["a heart", "\u2764", 1],
  ["a check mark with VS15", "\u2705\ufe0e", 2],
  ["a keycap", "1\ufe0f\u20e3", 2],
  ["a keycap without VS16", "1\u20e3", 2],
  ["a skin tone", "\u{1f44d}\u{1f3fd}", 4],
  ["a Devanagari cluster", "\u0915\u094d\u0937\u093f", 3],
  ["Thai sara am", "\u0e01\u0e33", 2],
  ["CJK", "\u6f22\u5b57", 4],
  ["a supplementary ideograph", "\u{20000}", 2],
  ["full width", "\uff21", 2],
  ["half width katakana", "\uff71", 1],
  ["precomposed Hangul", "\ud55c", 2],
  ["conjoining Hangul", "\u1112\u1161\u11ab", 2],
  ["a combining accent", "e\u0301", 1],
  ["an emoji", "\u{1f600}", 2],
  ["an ambiguous character", "\u2460", 1],
  ["Arabic", "\u0644\u0627", 2],
  ["a number sign of Arabic", "\u0600", 1],
  ["box drawing", "\u2500", 1],
  ["braille", "\u2839", 1],
];

describe("cellsOf", () => {
  it.each(table)("%s", (_name, text, width) => {
    expect(cellsOf(text)).toBe(width);
  });

  it("wcwidth#97, wcwidth#211, orca#19252: never says less than a terminal takes", async () => {
    const plain = terminal(false);
    const modern = terminal(true);
    for (const [name, text] of table) {
      expect(await column(plain, text), `${name} in a terminal without clusters`).toBeLessThanOrEqual(
        cellsOf(text),
      );
      expect(await column(modern, text), `${name} in a terminal with clusters`).toBeLessThanOrEqual(
        cellsOf(text),
      );
    }
  });

  it("says exactly what a terminal takes where it is sure", async () => {
    const plain = terminal(false);
    const sure = [
      "plain text",
      "\u00e9\u00df \u041f\u0440\u0438\u0432\u0435\u0442 \u03b1\u03b2\u03b3",
      "\u6f22\u5b57\u304b\u306a\u30ab\u30ca\uff21\uff5e\u3002",
      "\ud55c\uad6d\uc5b4",
      "\u05e9\u05dc\u05d5\u05dd",
      "a\u0301e\u0308",
      "\u2500\u2502 \u25cf \u2716 \u2026 \u2192 \u201cq\u201d",
      "\u280b\u2819",
    ];
    for (const text of sure) {
      expect(hasUncertainWidth(text), text).toBe(false);
      expect(await column(plain, text), text).toBe(cellsOf(text));
    }
    for (const text of ["\u{1f600}", "\u2764\ufe0f", "\u{1f1ef}", "\u0915\u093f", "\u0e01\u0e33", "\u2705"]) {
      expect(hasUncertainWidth(text), text).toBe(true);
    }
  });

  it("adds up: a text is never wider than its parts", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
        expect(cellsOf(a) + cellsOf(b)).toBeGreaterThanOrEqual(cellsOf(a + b) - 1);
      }),
      { seed },
    );
  });
});

describe("cutting", () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 40 }),
    fc
      .array(fc.constantFrom(...Object.values(hostile), ...table.map((row) => row[1])), { maxLength: 4 })
      .map((p) => p.join("")),
  );

  it("takes as many whole graphemes as fit, and loses nothing", () => {
    fc.assert(
      fc.property(text, fc.nat({ max: 30 }), (value, max) => {
        const cut = takeCells(value, max);
        expect(cut.head + cut.rest).toBe(value);
        expect(cellsOf(cut.head)).toBeLessThanOrEqual(max);
        const parts = [...graphemes(value)];
        const boundaries = new Set<number>([0]);
        let at = 0;
        for (const part of parts) {
          at += part.length;
          boundaries.add(at);
        }
        expect(boundaries.has(cut.head.length)).toBe(true);
      }),
      { seed, numRuns: 150 },
    );
  });

  it("keeps a combining mark with its letter at the edge", () => {
    expect(takeCells("abe\u0301", 3)).toEqual({ head: "abe\u0301", rest: "", cells: 3 });
    expect(takeCells("abe\u0301x", 2)).toEqual({ head: "ab", rest: "e\u0301x", cells: 2 });
  });

  it("never splits a wide character", () => {
    expect(takeCells("\u6f22\u5b57", 3)).toEqual({ head: "\u6f22", rest: "\u5b57", cells: 2 });
    expect(takeCells("\u6f22", 1)).toEqual({ head: "", rest: "\u6f22", cells: 0 });
  });

  it("says with an ellipsis that something is missing", () => {
    expect(cutCells("abcdef", 4)).toBe("abc\u2026");
    expect(cutCells("abcd", 4)).toBe("abcd");
    expect(cutCells("\u6f22\u5b57\u6f22", 4)).toBe("\u6f22\u2026");
    expect(cutCells("abc", 0)).toBe("");
    expect(cutStart("src/terminal/text.ts", 8)).toBe("\u2026text.ts");
  });

  it("costs what the head costs, not the text", () => {
    const long = "word ".repeat(4_000_000);
    const wide = `\u6f22${"\u5b57".repeat(4_000_000)}`;
    for (let round = 0; round < 1_000; round++) {
      takeCells(long, 80);
      takeCells(wide, 80);
    }
  });
});
