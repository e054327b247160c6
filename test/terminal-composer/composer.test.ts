import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { borderFrom } from "../../src/terminal/composer/atoms.ts";
import { createEditor, edit } from "../../src/terminal/composer/editor.ts";
import {
  type Composer,
  type ComposerAct,
  createComposer,
  drawComposer,
  pressKey,
  promptWidth,
  replacePrompt,
} from "../../src/terminal/composer/index.ts";
import { layOut, offsetAt, placeOf } from "../../src/terminal/composer/layout.ts";
import { menuRowsMax } from "../../src/terminal/composer/limits.ts";
import { createInputDecoder } from "../../src/terminal/input/index.ts";
import { plainLine, spansCells } from "../../src/terminal/text/index.ts";
import { createVirtualClock } from "../support/terminal/clock.ts";

const commands = [
  { name: "plan", description: "Make a plan" },
  { name: "compact", description: "Shorten the conversation" },
  { name: "context", description: "Show what the context holds" },
];

interface Typed {
  composer: Composer;
  acts: ComposerAct[];
}

/** Bytes of a terminal, pressed one after the other. */
async function type(bytes: string, from: Composer = createComposer(), width = 40): Promise<Typed> {
  const typed: Typed = { composer: from, acts: [] };
  const clock = createVirtualClock();
  const decoder = createInputDecoder({
    clock,
    onKey(key) {
      const pressed = pressKey(typed.composer, key, { width, commands });
      typed.composer = pressed.composer;
      if (pressed.act !== undefined) typed.acts.push(pressed.act);
    },
    onReport: () => undefined,
  });
  for (const part of bytes.split("\u{f8ff}")) {
    decoder.push(part);
    await clock.advance(100);
  }
  return typed;
}

const esc = "\x1b\u{f8ff}";

describe("keys", () => {
  const table: readonly (readonly [name: string, bytes: string, text: string, acts: readonly string[]])[] = [
    ["Enter sends", "hello\r", "", ["send"]],
    ["blanks alone are not sent", "  \r", "  ", []],
    ["Alt+Enter is a new line", "a\x1b\rb", "a\nb", []],
    ["Ctrl+J is a new line", "a\nb", "a\nb", []],
    ["Shift+Enter is a new line where the terminal tells it", "a\x1b[13;2ub", "a\nb", []],
    ["Shift+Enter as xterm tells it", "a\x1b[27;2;13~b", "a\nb", []],
    ["a backslash before Enter is a new line", "a\\\rb", "a\nb", []],
    ["Ctrl+C clears, then asks to stop", "abc\x03\x03", "", ["interrupt"]],
    ["what Ctrl+C cleared comes back with Up", "abc\x03\x1b[A", "abc", []],
    ["Ctrl+D deletes forward, on an empty prompt it leaves", "a\x01\x04\x04", "", ["leave"]],
    ["Esc cancels", `a${esc}`, "a", ["cancel"]],
    ["Ctrl+G opens the editor", "a\x07", "a", ["openEditor"]],
    ["Ctrl+X Ctrl+E opens the editor", "a\x18\x05", "a", ["openEditor"]],
    ["Ctrl+X and another key is that key", "a\x18b", "ab", []],
    ["Shift+Tab is the next mode", "\x1b[Z", "", ["nextMode"]],
    ["Ctrl+A Ctrl+E", "b\x01a\x05c", "abc", []],
    ["Home End", "b\x1b[Ha\x1b[Fc", "abc", []],
    ["Ctrl+Left, Ctrl+Right", "a b\x1b[1;5DX\x1b[1;5CY", "a XbY", []],
    ["Alt+Left, Alt+Right, Alt+b, Alt+f", "a b\x1b[1;3D1\x1b[1;3C2\x1bb3\x1bf4", "a 31b24", []],
    ["Ctrl+W Ctrl+Y", "one two\x17\x19\x19", "one twotwo", []],
    ["Ctrl+U Ctrl+K", "abc\x1b[D\x15\x0b", "", []],
    ["Alt+Backspace, Alt+D", "one two\x1b\x7f\x01\x1bd", " ", []],
    ["Ctrl+_ is undo", "abc\x1f", "", []],
    ["Backspace, Delete", "abc\x7f\x01\x1b[3~", "b", []],
    [
      "Alt+Up and Alt+Down go through the history",
      "one\rtwo\rx\x1b[1;3A\x1b[1;3A\x1b[1;3B",
      "two",
      ["send", "send"],
    ],
    ["a paste is text, not keys", "\x1b[200~a\rb\x03\x1b[201~", "a\nb", []],
    ["a question mark and a q are text", "q?", "q?", []],
    ["Ctrl+O and Ctrl+L are not the composer's", "a\x0f\x0c", "a", ["pass", "pass"]],
    ["Tab does nothing", "a\t", "a", []],
  ];
  test.each(table)("%s", async (_, bytes, text, acts) => {
    const typed = await type(bytes);
    expect(typed.composer.editor.text).toBe(text);
    expect(typed.acts.map((act) => act.type)).toEqual(acts);
  });

  test("a prompt is sent whole", async () => {
    const { acts } = await type(`\x1b[200~${"line\n".repeat(40)}\x1b[201~end\r`);
    expect(acts).toEqual([{ type: "send", text: `${"line\n".repeat(40)}end` }]);
  });

  test("what comes back from the editor is the prompt, and undo takes it back", () => {
    let composer = createComposer();
    composer = { ...composer, editor: edit(composer.editor, { type: "typed", text: "before" }) };
    composer = replacePrompt(composer, "after\n");
    expect(composer.editor.text).toBe("after\n");
    expect(edit(composer.editor, { type: "undone" }).text).toBe("before");
  });
});

describe("the agent's commands", () => {
  const menu = (composer: Composer): readonly string[] =>
    drawComposer(composer, { width: 40, rowsMax: 10, commands, hint: "", isAside: false })
      .lines.slice(1)
      .map(plainLine);

  test("a slash offers them, Tab completes the best, the arrows choose, Enter takes the chosen", async () => {
    const slash = await type("/");
    expect(menu(slash.composer)).toHaveLength(3);
    expect((await type("/co\t")).composer.editor.text).toBe("/compact ");
    expect((await type("/co\x1b[B\x1b[B\r")).composer.editor.text).toBe("/context ");
    expect((await type("/lan\t")).composer.editor.text).toBe("/plan ");
    const sent = await type("/plan\r");
    expect(sent.acts).toEqual([{ type: "send", text: "/plan" }]);
  });

  test("Esc closes the offers for this text, then cancels", async () => {
    const closed = await type(`/co${esc}`);
    expect(closed.acts).toEqual([]);
    expect(menu(closed.composer)).toEqual([]);
    expect((await type(esc, closed.composer)).acts).toEqual([{ type: "cancel" }]);
    expect(menu((await type("m", closed.composer)).composer)).toHaveLength(1);
  });

  test("nothing is offered inside of a prompt", async () => {
    for (const text of ["a /co", "/plan x", "/nothing", "//"])
      expect(menu((await type(text)).composer)).toEqual([]);
  });

  test("no more rows than the limit, the chosen one among them", async () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ name: `c${index}`, description: "" }));
    let composer = (await type("/")).composer;
    composer = { ...composer, chosen: 17 };
    const { lines } = drawComposer(composer, {
      width: 40,
      rowsMax: 40,
      commands: many,
      hint: "",
      isAside: false,
    });
    expect(lines).toHaveLength(1 + menuRowsMax);
    expect(lines.map(plainLine).join("\n")).toContain("› /c17");
  });
});

describe("layout", () => {
  const rowsOf = (text: string, width: number): readonly string[] =>
    layOut({ text, chips: new Map() }, width).map((row) => row.spans.map((span) => span.text).join(""));

  test.each([
    ["", 5, [""]],
    ["abcdef", 3, ["abc", "def"]],
    ["one two three", 8, ["one two ", "three"]],
    ["one two", 3, ["one", " ", "two"]],
    ["a\n\nb", 5, ["a", "", "b"]],
    ["漢字漢", 4, ["漢字", "漢"]],
    ["漢字漢", 3, ["漢", "字", "漢"]],
    ["漢", 1, ["▯"]],
    ["a\tb", 10, ["a    b"]],
    ["\u0301a", 5, ["◌\u0301a"]],
  ] as const)("%j in %d cells", (text, width, rows) => {
    expect(rowsOf(text, width)).toEqual(rows);
  });

  const text = fc
    .array(
      fc.constantFrom(
        "a",
        "bb",
        " ",
        "\n",
        "\t",
        "漢",
        "👩‍💻",
        "e\u0301",
        "\u0301",
        "\u200b",
        "\u202e",
        "🇩🇪",
        "ﷺ",
        "\u{10ff00}",
      ),
      { maxLength: 40 },
    )
    .map((pieces) => pieces.join(""));
  const chips = new Map([[0, "x\n".repeat(30)]]);

  test("no row is wider than the width, all rows together are the text, each border has one place", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 20 }), (whole, width) => {
        const rows = layOut({ text: whole, chips }, width);
        for (const row of rows) {
          expect(spansCells(row.spans)).toBeLessThanOrEqual(width);
          expect(row.cells).toBe(spansCells(row.spans));
        }
        let next = 0;
        for (const row of rows) {
          expect(row.start).toBe(next);
          next = row.isContinued ? row.end : row.end + 1;
        }
        expect(next).toBe(whole.length + 1);
        for (let offset = 0; offset <= whole.length; offset = borderFrom(whole, offset + 1)) {
          const place = placeOf(rows, offset);
          expect(offsetAt(rows, place.row, place.column)).toBeGreaterThanOrEqual(offset - 8);
          expect(place.column).toBeLessThanOrEqual(width);
          if (offset === whole.length) break;
        }
      }),
    );
  });

  test("drawn, the cursor stands in a row that is shown, behind the cells that are before it", () => {
    fc.assert(
      fc.property(
        text,
        fc.nat(80),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 6 }),
        (whole, place, width, rowsMax) => {
          const clean = whole.replaceAll("\u{10ff00}", "");
          const editor = { ...createEditor(), text: clean, cursor: borderFrom(clean, place) };
          const drawn = drawComposer(
            { editor },
            { width, rowsMax, commands, hint: "a hint", isAside: false },
          );
          expect(drawn.lines.length).toBeLessThanOrEqual(rowsMax);
          for (const line of drawn.lines) expect(spansCells(line.spans)).toBeLessThanOrEqual(width);
          const row = drawn.lines[drawn.cursor.row];
          expect(row).toBeDefined();
          expect(drawn.cursor.column).toBeLessThan(Math.max(2, width));
          if (clean === "") return;
          expect(spansCells(row!.spans)).toBeGreaterThanOrEqual(drawn.cursor.column);
        },
      ),
    );
  });

  test("rows above and below what is shown are told by arrows; a narrow prompt has no sign", () => {
    const editor = { ...createEditor(), text: "a\nb\nc\nd", cursor: 4 };
    const draw = (width: number, cursor: number): readonly string[] =>
      drawComposer(
        { editor: { ...editor, cursor } },
        { width, rowsMax: 2, commands, hint: "", isAside: false },
      ).lines.map(plainLine);
    expect(draw(20, 0)).toEqual([" › a", " ↓ b"]);
    expect(draw(20, 4)).toEqual([" ↑ b", " ↓ c"]);
    expect(draw(20, 7)).toEqual([" ↑ c", "   d"]);
    expect(draw(5, 0)).toEqual(["a", "b"]);
    expect(promptWidth(1)).toBe(1);
  });
});
