import { Terminal } from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cellsOf,
  hasUncertainWidth,
  joinSpans,
  type Line,
  rowsOf,
  type Span,
  splitRows,
  wrapHard,
  wrapWords,
} from "../../src/terminal/text/index.ts";
import { textOf } from "./support.ts";

const seed = 20_261_203;

function words(text: string, width: number): readonly string[] {
  return wrapWords([{ text }], width).map((row) => row.map((span) => span.text).join(""));
}

function hard(text: string, width: number): readonly string[] {
  return wrapHard([{ text }], width).map((row) => row.map((span) => span.text).join(""));
}

const alphabet = fc.constantFrom(
  "a",
  "word",
  " ",
  "  ",
  "\u6f22",
  "\u5b57\u304b\u306a",
  "\u3002",
  "e\u0301",
  "https://example.test/a/long/path",
  "\u{1f468}\u200d\u{1f469}",
  "\u2764\ufe0f",
  "\u{1f1ef}",
  ",",
);
const text = fc.array(alphabet, { maxLength: 30 }).map((parts) => parts.join(""));
const tones = fc.constantFrom("text", "dim", "code", "danger");
const spans: fc.Arbitrary<readonly Span[]> = fc.array(
  fc.record({ text, tone: tones }).map(({ text: value, tone }) => ({ text: value, tone: tone as "dim" })),
  { maxLength: 4 },
);

describe("word wrap", () => {
  it("breaks between words", () => {
    expect(words("the quick brown fox", 10)).toEqual(["the quick", "brown fox"]);
  });

  it("codex#37586, codex#37720: a word of exactly the width, then a space, leaves no blank row", () => {
    const word = "x".repeat(40);
    expect(words(`${word} next`, 40)).toEqual([word, "next"]);
    expect(words(`${word} `, 40)).toEqual([word]);
    expect(words(`${word}   ${word}`, 40)).toEqual([word, word]);
    expect(words(`ab ${"y".repeat(37)} z`, 40)).toEqual([`ab ${"y".repeat(37)}`, "z"]);
  });

  it("keeps the indent of a line, and drops one that leaves no room", () => {
    expect(words("    one two", 8)).toEqual(["    one", "two"]);
    expect(words("          word", 6)).toEqual(["word"]);
  });

  it("breaks a word that is wider than a row", () => {
    expect(words("ab https://example.test/path", 10)).toEqual(["ab", "https://ex", "ample.test", "/path"]);
  });

  it("cc#59952, cc#13033, oc#27017: breaks between ideographs, not before closing punctuation, and never within a wide cell", () => {
    const line = `${"\u6f22".repeat(39)}\u{1f600}`;
    for (const row of words(line, 80)) expect(cellsOf(row)).toBeLessThanOrEqual(80);
    expect(words("\u6f22\u5b57\u6f22\u3002\u5b57", 6)).toEqual(["\u6f22\u5b57", "\u6f22\u3002\u5b57"]);
  });

  it("keeps the styles of a word that several spans make up", () => {
    const rows = wrapWords(
      [{ text: "see " }, { text: "bo", bold: true }, { text: "ld" }, { text: " end" }],
      6,
    );
    expect(rows).toEqual(
      [[{ text: "see" }], [{ text: "bo", bold: true }, { text: "ld" }], [{ text: "end" }]].map((row) =>
        row.map((span) => span),
      ),
    );
  });

  it("an empty line is one empty row", () => {
    expect(words("", 10)).toEqual([""]);
    expect(words("   ", 10)).toEqual([""]);
  });

  it("no row overflows, none but the first is blank, and no character is lost", () => {
    fc.assert(
      fc.property(spans, fc.integer({ min: 1, max: 30 }), (value, width) => {
        const rows = wrapWords(value, width).map((row) => row.map((span) => span.text).join(""));
        for (const [index, row] of rows.entries()) {
          expect(cellsOf(row)).toBeLessThanOrEqual(width);
          if (index > 0) expect(row.trim()).not.toBe("");
        }
        const whole = value.map((span) => span.text).join("");
        // Below 8 columns a joined emoji is taken apart, so that it fits.
        if (width >= 8) expect(rows.join("").replaceAll(" ", "")).toBe(whole.replaceAll(" ", ""));
      }),
      { seed, numRuns: 200 },
    );
  });
});

describe("hard wrap", () => {
  it("fills each row", () => {
    expect(hard("abcdef", 4)).toEqual(["abcd", "ef"]);
    expect(hard("abcd", 4)).toEqual(["abcd"]);
    expect(hard("a\u6f22\u5b57", 2)).toEqual(["a", "\u6f22", "\u5b57"]);
  });

  it("ends at width 1 with any text, wide characters shown by a mark", () => {
    expect(hard("a\u6f22b", 1)).toEqual(["a", "\u25af", "b"]);
    expect(hard("\u{1f468}\u200d\u{1f469}x", 1)).toEqual(["\u25af", "\u25af", "x"]);
    expect(hard("\u{1f468}\u200d\u{1f469}x", 2)).toEqual(["\u{1f468}", "\u{1f469}", "x"]);
  });

  it("no row overflows at any width, and the rows are the text", () => {
    fc.assert(
      fc.property(spans, fc.integer({ min: 1, max: 30 }), (value, width) => {
        const rows = wrapHard(value, width).map((row) => row.map((span) => span.text).join(""));
        for (const row of rows) expect(cellsOf(row)).toBeLessThanOrEqual(width);
        if (width >= 8) expect(rows.join("")).toBe(value.map((span) => span.text).join(""));
      }),
      { seed, numRuns: 200 },
    );
  });

  it("a line of five million characters is split in bounded time", () => {
    const line: Line = { spans: [{ text: "x".repeat(5_000_000) }], wrap: "flow" };
    expect(rowsOf(line, 80)).toBe(62_500);
    expect(splitRows(line, 80)).toHaveLength(62_500);
  });
});

describe("where the terminal wraps", () => {
  /** The rows that a terminal makes of a line. */
  async function terminalRows(line: string, width: number): Promise<readonly string[]> {
    const made = new Terminal({ cols: width, rows: 60, allowProposedApi: true });
    await new Promise<void>((resolve) => made.write(`${line}\r\n$`, resolve));
    const rows: string[] = [];
    for (let row = 0; ; row++) {
      const shown = made.buffer.active.getLine(row)?.translateToString(true);
      if (shown === undefined || shown === "$") return rows;
      rows.push(shown);
    }
  }

  const certainText = fc
    .array(
      fc.constantFrom("a", "word ", "\u6f22", "\u5b57\u304b", "e\u0301", "\u2500", "\ud55c", "0123456789"),
      {
        maxLength: 24,
      },
    )
    .map((parts) => parts.join(""));

  it("rowsOf and splitRows say what a terminal does, for text of certain width", async () => {
    await fc.assert(
      fc.asyncProperty(certainText, fc.integer({ min: 2, max: 24 }), async (value, width) => {
        expect(hasUncertainWidth(value)).toBe(false);
        const line: Line = { spans: [{ text: value }], wrap: "flow" };
        const rows = await terminalRows(value, width);
        expect(rowsOf(line, width)).toBe(rows.length);
        expect(splitRows(line, width).map((row) => textOf(row).trimEnd())).toEqual(
          rows.map((row) => row.trimEnd()),
        );
      }),
      { seed, numRuns: 150 },
    );
  });

  it("agree with each other for every text and width", () => {
    fc.assert(
      fc.property(spans, fc.integer({ min: 1, max: 20 }), (value, width) => {
        const line: Line = { spans: value, wrap: "flow" };
        expect(splitRows(line, width)).toHaveLength(rowsOf(line, width));
      }),
      { seed, numRuns: 200 },
    );
  });
});

it("joins neighbours of equal style", () => {
  expect(
    joinSpans([{ text: "a" }, { text: "b", tone: "text" }, { text: "" }, { text: "c", bold: true }]),
  ).toEqual([{ text: "ab" }, { text: "c", bold: true }]);
});

it("printable ASCII is wrapped as any other text is", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.stringMatching(/^[a-z.]{1,14}$/), fc.stringMatching(/^ {1,12}$/)), {
        maxLength: 20,
      }),
      fc.integer({ min: 1, max: 24 }),
      (parts, width) => {
        const text = parts.join("");
        const texts = (rows: readonly Span[][]): readonly string[] =>
          rows.map((row) => row.map((span) => span.text).join(""));
        // A second span, though it is empty, takes the way of all texts.
        expect(texts(wrapWords([{ text }], width))).toEqual(
          texts(wrapWords([{ text }, { text: "" }], width)),
        );
      },
    ),
  );
});
