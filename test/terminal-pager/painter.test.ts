import fc from "fast-check";
import { expect, test } from "vitest";
import { createModes } from "../../src/terminal/modes.ts";
import { createPagerPainter, type PagerPainter } from "../../src/terminal/pager/index.ts";
import { roomOf } from "../../src/terminal/screen/index.ts";
import { cutCells, type Line, sanitizeLine, themeOf } from "../../src/terminal/text/index.ts";
import { createEmulator, type Emulator } from "../support/terminal/emulator.ts";
import { answerEntry, createRig } from "./support.ts";

interface Easel {
  readonly emulator: Emulator;
  readonly painter: PagerPainter;
  draw(...texts: readonly string[]): Promise<void>;
}

function lineOf(text: string, columns: number): Line {
  return { spans: text === "" ? [] : [{ text: cutCells(sanitizeLine(text), roomOf(columns)) }], wrap: "fit" };
}

function easel(columns: number, rows: number, isSynchronized = false): Easel {
  const emulator = createEmulator({ columns, rows });
  const painter = createPagerPainter(emulator, { theme: themeOf({ TERM: "xterm" }, true), isSynchronized });
  emulator.write(createModes().enter("alternateScreen"));
  return {
    emulator,
    painter,
    async draw(...texts) {
      const size = emulator.size();
      painter.draw(
        Array.from({ length: size.rows }, (_, row) => lineOf(texts[row] ?? "", size.columns)),
        size,
      );
      await emulator.settled();
    },
  };
}

test("only rows that changed are written, in one write, and none where nothing changed", async () => {
  const { emulator, draw } = easel(20, 4);
  await draw("one", "two", "three", "status");
  expect(emulator.screen()).toEqual(["one", "two", "three", "status"]);
  const before = emulator.writes.length;
  await draw("one", "2", "three", "status");
  expect(emulator.writes.slice(before)).toHaveLength(1);
  expect(emulator.writes.at(-1)).not.toContain("three");
  expect(emulator.screen()).toEqual(["one", "2", "three", "status"]);
  await draw("one", "2", "three", "status");
  expect(emulator.writes.slice(before)).toHaveLength(1);
});

test("a frame stands between the marks of a synchronized write where the terminal has them", async () => {
  const { emulator, draw } = easel(20, 3, true);
  await draw("one");
  expect(emulator.writes.at(-1)).toMatch(/^\u001b\[\?2026h.*\u001b\[\?2026l$/s);
});

test("after a change of size, and after a reset, every row is written", async () => {
  const { emulator, painter, draw } = easel(20, 3);
  await draw("one", "two", "status");
  await emulator.resize(10, 4);
  emulator.write("\u001b[2J");
  await draw("one", "two", "three", "status");
  expect(emulator.screen()).toEqual(["one", "two", "three", "status"]);
  painter.reset();
  emulator.write("\u001b[2J");
  await draw("one", "two", "three", "status");
  expect(emulator.screen()).toEqual(["one", "two", "three", "status"]);
});

test("while the terminal is slow only the newest frame waits", async () => {
  const { emulator, draw } = easel(20, 3);
  emulator.setSlow(true);
  await draw("one");
  const before = emulator.writes.length;
  await draw("two");
  await draw("three");
  expect(emulator.writes).toHaveLength(before);
  emulator.setSlow(false);
  await emulator.settled();
  expect(emulator.writes).toHaveLength(before + 1);
  expect(emulator.screen()[0]).toBe("three");
});

test("any frames after one another: the screen shows the last, nothing scrolls, and the bottom-right cell stays free", async () => {
  const text = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.constantFrom("漢字漢字漢字漢字", "👩‍👩‍👧‍👦👍🏽🇩🇪", "e\u0301e\u0301", "x".repeat(40), "\u001b[2J", ""),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 12 }),
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.array(text, { maxLength: 6 }), { minLength: 1, maxLength: 5 }),
      async (columns, rows, frames) => {
        const { emulator, draw } = easel(columns, rows);
        for (const frame of frames) await draw(...frame);
        const shown = emulator.screen();
        const { active } = emulator.xterm.buffer;
        expect(active.baseY).toBe(0);
        const last = frames.at(-1)!;
        for (let row = 0; row < rows; row++) {
          const expected = lineOf(last[row] ?? "", columns)
            .spans.map((span) => span.text)
            .join("");
          expect(shown[row]?.trimEnd()).toBe(expected.trimEnd());
        }
        expect(
          active
            .getLine(rows - 1)
            ?.getCell(columns - 1)
            ?.getChars() ?? "",
        ).toBe("");
      },
    ),
    { numRuns: 60 },
  );
});

test("the pager on a screen: what it says is what is seen", async () => {
  const emulator = createEmulator({ columns: 40, rows: 8 });
  const painter = createPagerPainter(emulator, {
    theme: themeOf({ TERM: "xterm-256color" }, true),
    isSynchronized: true,
  });
  const rig = createRig(
    Array.from({ length: 30 }, (_, index) => answerEntry(index, `number ${index}. ${"漢字 ".repeat(index)}`)),
    { columns: 40, rows: 8 },
  );
  for (const key of ["home", "pagedown", "down", "/", "7", "enter", "D", "end", "pageup", "?"]) {
    rig.press(key);
    painter.draw(rig.pager.rows(), emulator.size());
    await emulator.settled();
    expect(emulator.screen().map((row) => row.trimEnd())).toEqual(rig.screen());
  }
});

test("on a single column the bottom row, which has no other cell, is left empty", () => {
  const writes: string[] = [];
  const emulator = createEmulator({ columns: 2, rows: 2 });
  const painter = createPagerPainter(
    {
      ...emulator,
      write: (text) => {
        writes.push(text);
        return true;
      },
    },
    { theme: themeOf({}, false), isSynchronized: false },
  );
  painter.draw([lineOf("a", 1), lineOf("b", 1)], { columns: 1, rows: 2 });
  expect(writes).toEqual(["\u001b[1;1H\u001b[Ka\u001b[2;1H\u001b[K"]);
});
