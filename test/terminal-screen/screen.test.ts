import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LiveCursor, roomOf } from "../../src/terminal/screen/index.ts";
import { sizeLateMs } from "../../src/terminal/screen/limits.ts";
import { rowsIntoLine } from "../../src/terminal/screen/live-cursor.ts";
import type { Line } from "../../src/terminal/text/index.ts";
import { findWords, linesOf, type PrintedWay, printedWays, wordsOf } from "../support/terminal/printed.ts";
import { type Bench, createBench, fitRow, flowRow, prose } from "./support.ts";

const columns = 20;

/** Live rows are written without wrapping at the edge. */
function cut(rows: string): string {
  return `\x1b[?7l${rows}\x1b[?7h`;
}

describe("the screen", () => {
  test("omnidesk#52: a printed line is written whole above the live region, at its start row, in one write", async () => {
    const { emulator, screen, settle } = createBench({ columns, rows: 6 });
    screen.setLive([fitRow("status")]);
    await settle();
    expect(emulator.writes).toEqual([`${" ".repeat(columns)}\r\x1b[K${cut("status\x1b[K\r")}`]);
    screen.commit({ lines: [fitRow("one"), fitRow("two")] });
    await settle();
    expect(emulator.writes.slice(1)).toEqual([`\r\x1b[Kone\r\ntwo\r\n${cut("status\r")}`]);
    expect(emulator.screen().slice(0, 4)).toEqual(["one", "two", "status", ""]);
  });

  test("only the live rows that changed are written, and nothing where nothing changed", async () => {
    const { emulator, screen, settle } = createBench({ columns, rows: 6 });
    screen.setLive([fitRow("⠋ run"), fitRow("text"), fitRow("status")]);
    await settle();
    emulator.takeWritten();
    screen.setLive([fitRow("⠙ run"), fitRow("text"), fitRow("status")]);
    await settle();
    expect(emulator.writes.at(-1)).toBe(cut("\x1b[2A\r⠙ run\x1b[K\r\x1b[2B"));
    emulator.takeWritten();
    screen.setLive([fitRow("⠙ run"), fitRow("text"), fitRow("status")]);
    await settle();
    expect(emulator.takeWritten()).toBe(0);
  });

  test("the live region grows and shrinks in place", async () => {
    const { emulator, screen, settle } = createBench({ columns, rows: 6 });
    screen.commit({ lines: [fitRow("done")] });
    screen.setLive([fitRow("a"), fitRow("b")]);
    await settle();
    screen.setLive([fitRow("a"), fitRow("b"), fitRow("c"), fitRow("d")]);
    await settle();
    expect(emulator.screen()).toEqual(["done", "a", "b", "c", "d", ""]);
    screen.setLive([fitRow("d")]);
    await settle();
    expect(emulator.screen()).toEqual(["done", "d", "", "", "", ""]);
    screen.setLive([]);
    screen.commit({ lines: [fitRow("more")] });
    await settle();
    expect(emulator.lines()).toEqual(["done", "more"]);
  });

  test("a row that something was printed on without a line end is left alone", async () => {
    for (const text of ["", "x", "half a row", "y".repeat(columns)]) {
      const { emulator, screen, settle } = createBench({ columns, rows: 4 });
      emulator.write(text);
      screen.commit({ lines: [fitRow("one")] });
      await settle();
      expect(emulator.lines()).toEqual([...(text === "" ? [] : [text]), "one"]);
    }
  });

  test("what was on the terminal before stays", async () => {
    const { emulator, screen, settle } = createBench({ columns, rows: 4 });
    emulator.write("$ ls\r\nfile\r\n");
    screen.setLive([fitRow("live 1"), fitRow("live 2"), fitRow("live 3")]);
    screen.commit({ lines: [fitRow("one"), fitRow("two"), fitRow("three")] });
    await settle();
    screen.end([fitRow("bye")]);
    await emulator.settled();
    expect(emulator.lines()).toEqual(["$ ls", "file", "one", "two", "three", "bye"]);
  });

  test("ink#935, ink#359: the live region is shorter than the window, the last rows staying", async () => {
    const { emulator, screen, settle } = createBench({ columns, rows: 4 });
    screen.commit({ lines: [fitRow("done")] });
    screen.setLive(Array.from({ length: 9 }, (_, index) => fitRow(`live ${index}`)));
    await settle();
    expect(emulator.screen()).toEqual(["done", "live 6", "live 7", "live 8"]);
  });

  test("frames are 16 ms apart, and the newest live region is the one that is shown", async () => {
    const { emulator, screen, clock } = createBench({ columns, rows: 4 });
    for (let count = 0; count < 50; count++) {
      screen.setLive([fitRow(`tick ${count}`)]);
      await clock.advance(1);
    }
    await clock.advance(16);
    expect(emulator.writes.length).toBeLessThanOrEqual(5);
    expect(emulator.screen()[0]).toBe("tick 49");
  });

  test("cc#769, cc#1913: a slow terminal is waited for; then only the newest state is written", async () => {
    const { emulator, screen, settle } = createBench({ columns, rows: 4 });
    emulator.setSlow(true);
    screen.setLive([fitRow("first")]);
    await settle();
    const { length } = emulator.writes;
    for (let count = 0; count < 10; count++) {
      screen.setLive([fitRow(`later ${count}`)]);
      await settle();
    }
    expect(emulator.writes).toHaveLength(length);
    emulator.setSlow(false);
    await settle();
    expect(emulator.writes).toHaveLength(length + 1);
    expect(emulator.screen()[0]).toBe("later 9");
  });

  test("flush resolves when everything printed was taken, and at once where nothing can be written", async () => {
    const { emulator, screen, clock, settle } = createBench({ columns, rows: 4 });
    let isDone = false;
    screen.commit({ lines: Array.from({ length: 40 }, (_, index) => fitRow(`row ${index}`)) });
    const flushed = screen.flush().then(() => {
      isDone = true;
    });
    expect(isDone).toBe(false);
    await clock.advance(16);
    await flushed;
    await emulator.settled();
    expect(emulator.lines()).toHaveLength(40);
    screen.commit({ lines: [fitRow("waits")] });
    screen.suspend();
    await screen.flush();
    await settle();
    expect(emulator.lines()).not.toContain("waits");
    screen.resume();
    await settle();
    expect(emulator.lines()).toContain("waits");
  });

  test("cc#74122, tmux#5340: frames are bracketed where the terminal has synchronized output, and never erase the screen inside", async () => {
    const { emulator, screen, settle } = createBench({ columns, rows: 4, isSynchronized: true });
    screen.commit({ lines: [fitRow("one")] });
    screen.setLive([fitRow("live")]);
    await settle();
    screen.setLive([fitRow("live again")]);
    await settle();
    screen.clear();
    screen.commit({ lines: [fitRow("two")] });
    await settle();
    const frames = emulator.writes
      .map((text) => text.slice(Math.max(0, text.indexOf("\x1b[?2026h"))))
      .filter((text) => text.startsWith("\x1b[?2026h"));
    expect(frames).toHaveLength(3);
    for (const frame of frames) {
      expect(frame.endsWith("\x1b[?2026l")).toBe(true);
      expect(frame).not.toMatch(/\x1b\[[0-9]*J/);
    }
    expect(emulator.lines()).toEqual(["two", "live again"]);
  });

  test.each([1, 2, 3, 7])(
    "ink#450, ink#971: no row of ours ends in the last column at width %i",
    async (width) => {
      const { emulator, screen, settle } = createBench({ columns: width, rows: 5 });
      screen.commit({ lines: [fitRow("abcdefghijklm"), flowRow("no break in here"), fitRow("漢字かな")] });
      screen.setLive([fitRow("a status row that is long")]);
      await settle();
      screen.setLive([fitRow("another one that is long")]);
      await settle();
      const text = emulator.lines().join("").replaceAll("▯", "");
      expect(text.startsWith("abcdefghijklm".slice(0, 5))).toBe(true);
      if (width > 1) {
        const last = emulator.screen().at(-1) ?? "";
        expect(last.length).toBeLessThan(width);
      }
    },
  );

  test("a flow line is one line for the terminal: it wraps it again itself", async () => {
    const { emulator, screen, settle, resize } = createBench({ columns: 10, rows: 8 });
    const long = "0123456789".repeat(3);
    screen.commit({ lines: [flowRow(long), flowRow(`${long}!`)] });
    screen.setLive([fitRow("status")]);
    await settle();
    expect(emulator.lines()).toEqual([long, `${long}!`, "status"]);
    await resize(40, 8);
    expect(emulator.screen().slice(0, 3)).toEqual([long, `${long}!`, "status"]);
  });

  test("koda#419: adopt: what is visible is laid out for the new width, what has scrolled up stays, nothing twice", async () => {
    const { emulator, screen, settle, resize } = createBench({ columns: 40, rows: 8 });
    const texts = Array.from({ length: 12 }, (_, index) => `p${index} ${"word ".repeat(11)}end${index}`);
    for (const text of texts)
      screen.commit({ lines: prose(text, 40), relayout: (width) => prose(text, width + 1) });
    screen.setLive([fitRow("status")]);
    await settle();
    await resize(24, 8);
    const all = emulator.lines().join(" ").replaceAll(/\s+/g, " ");
    expect(all.trim()).toBe(`${texts.join(" ")} status`);
    // The newest paragraph is wrapped at words for 24 columns now.
    const shown = emulator.screen().filter((row) => row !== "");
    expect(shown.slice(-4, -1)).toEqual(
      prose(texts[11]!, 24)
        .slice(-3)
        .map((l) => l.spans.map((s) => s.text).join("")),
    );
  });

  test("agentboard#180, agentboard#158: a terminal that answers no query keeps everything, and the live region is put right", async () => {
    const { emulator, screen, clock, settle, resize } = createBench({ columns: 40, rows: 8, answers: false });
    const texts = Array.from({ length: 6 }, (_, index) => `p${index} ${"word ".repeat(6)}end${index}`);
    for (const text of texts)
      screen.commit({ lines: prose(text, 40), relayout: (width) => prose(text, width + 1) });
    screen.setLive([fitRow("a longer live row, too"), fitRow("status")]);
    await settle();
    await clock.advance(sizeLateMs);
    await resize(20, 8);
    const all = emulator.lines().join(" ").replaceAll(/\s+/g, " ");
    expect(all.trim()).toBe(`${texts.join(" ")} a longer live row, too status`);
  });

  test("cc#46834: equal sizes and heights alone rebuild nothing that is printed", async () => {
    const { emulator, screen, settle, resize } = createBench({ columns: 40, rows: 8 });
    screen.commit({ lines: [fitRow("printed")], relayout: () => [fitRow("laid out again")] });
    screen.setLive([fitRow("status")]);
    await settle();
    emulator.takeWritten();
    await resize(40, 8);
    expect(emulator.takeWritten()).toBe(0);
    await resize(40, 5);
    await resize(40, 12);
    expect(emulator.lines()).toEqual(["printed", "status"]);
  });
});

type Act =
  | { readonly do: "print"; readonly words: number; readonly way: PrintedWay }
  | {
      readonly do: "live";
      readonly rows: number;
      readonly text: string;
      /** Cells before the person's cursor, in a row of its own above the last one. */
      readonly typed: number | undefined;
    }
  | { readonly do: "resize"; readonly columns: number; readonly rows: number }
  | { readonly do: "wait" }
  | { readonly do: "slow"; readonly isSlow: boolean }
  | { readonly do: "lend"; readonly isLent: boolean };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("print" as const),
      words: fc.integer({ min: 0, max: 30 }),
      way: fc.constantFrom(...printedWays),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("live" as const),
      rows: fc.integer({ min: 0, max: 8 }),
      text: fc.constantFrom(
        "x",
        "status row",
        "a row that is as wide as many windows are in these tests",
        "漢字かなの行",
        "✅ done 👩‍💻 ❤️ नमस्ते",
      ),
      typed: fc.option(fc.nat(50), { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("resize" as const),
      columns: fc.oneof(
        { weight: 9, arbitrary: fc.integer({ min: 4, max: 60 }) },
        fc.integer({ min: 2, max: 4 }),
      ),
      rows: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 2, max: 14 }) }, fc.constant(1)),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("slow" as const), isSlow: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lend" as const), isLent: fc.boolean() }) },
);

async function play(acts: readonly Act[], way: "adopt" | "reprint", answers: boolean): Promise<void> {
  const bench = createBench({ columns: 30, rows: 8, answers });
  const { emulator, screen } = bench;
  const before = ["$ before", "kept as it is"];
  emulator.write(before.map((line) => `${line}\r\n`).join(""));
  const expected: string[] = [];
  const printed: { readonly lines: (columns: number) => readonly Line[] }[] = [];
  let number = 0;
  let live: readonly Line[] = [fitRow("status")];
  let cursor: LiveCursor | undefined;
  let isLent = false;
  screen.setLive(live);
  for (const step of acts) {
    if (step.do === "print") {
      const id = number++;
      const words = wordsOf(id, step.words);
      expected.push(...words);
      const lines = (columns: number): readonly Line[] => linesOf(words, step.way, roomOf(columns));
      printed.push({ lines });
      screen.commit({
        lines: lines(emulator.size().columns),
        relayout: (width) => lines(width + 1),
      });
    } else if (step.do === "live") {
      const above = Array.from({ length: step.rows }, () => fitRow(step.text));
      const prompt = step.typed === undefined ? [] : [fitRow(`${"_".repeat(step.typed)}.`)];
      cursor = step.typed === undefined ? undefined : { line: above.length, column: step.typed };
      live = [...above, ...prompt, fitRow("status")];
      screen.setLive(live, cursor);
    } else if (step.do === "wait") {
      await bench.settle();
    } else if (step.do === "slow") {
      emulator.setSlow(step.isSlow);
    } else if (step.do === "lend") {
      if (step.isLent) screen.suspend();
      else screen.resume();
      isLent = step.isLent;
      emulator.takeWritten();
    } else {
      // A size settles while the terminal takes what it is given.
      emulator.setSlow(false);
      await bench.settle();
      const isReprinted = way === "reprint" && !isLent;
      await emulator.resize(step.columns, step.rows);
      if (!isReprinted) {
        await screen.resized("adopt");
      } else {
        await screen.resized("reprint");
        screen.clear();
        for (const { lines } of printed) screen.commit({ lines: lines(step.columns) });
        screen.setLive(live, cursor);
      }
      await bench.settle();
    }
    if (isLent) expect(emulator.takeWritten()).toBe(0);
  }
  emulator.setSlow(false);
  screen.resume();
  await bench.settle();
  // The live region is the last thing on the screen, the person's cursor in its place.
  const { columns, rows } = emulator.size();
  if (cursor !== undefined && cursor.column < columns - 1 && rows > 2 && columns > "status".length) {
    const { cursorX, cursorY, baseY } = emulator.xterm.buffer.active;
    expect(cursorX).toBe(cursor.column);
    const row = emulator.xterm.buffer.active.getLine(baseY + cursorY)?.translateToString(true) ?? "";
    expect(row).toBe(`${"_".repeat(cursor.column)}.`);
  }
  const shown = emulator.screen().filter((row) => row !== "");
  expect("status".endsWith(shown.at(-1) ?? "nothing")).toBe(true);
  expect(shown.length).toBeLessThanOrEqual(rows);
  screen.end([fitRow("bye")]);
  await emulator.settled();
  const lines = emulator.lines();
  expect(findWords(lines)).toEqual(expected);
  expect("bye".endsWith(lines.at(-1) ?? "nothing")).toBe(true);
  if (way === "adopt") expect(lines.join("\n").startsWith("$ before")).toBe(true);
}

describe("the person's cursor", () => {
  const shown = (bench: Bench): boolean =>
    bench.emulator.writes.join("").lastIndexOf("\x1b[?25h") >
    bench.emulator.writes.join("").lastIndexOf("\x1b[?25l");
  const place = (bench: Bench): readonly [number, number] => {
    const { cursorX, cursorY } = bench.emulator.xterm.buffer.active;
    return [cursorX, cursorY];
  };

  test("stands in its line, is hidden while a frame is drawn, and goes where it is moved in a few bytes", async () => {
    const bench = createBench({ columns: 30, rows: 8 });
    bench.screen.setLive([fitRow("text"), fitRow("abc"), fitRow("status")], { line: 1, column: 3 });
    await bench.settle();
    expect([...place(bench), shown(bench)]).toEqual([3, 1, true]);
    bench.emulator.takeWritten();
    bench.screen.setLive([fitRow("text"), fitRow("abc"), fitRow("status")], { line: 1, column: 2 });
    await bench.settle();
    expect(place(bench)).toEqual([2, 1]);
    expect(bench.emulator.takeWritten()).toBeLessThan(40);
    bench.screen.setLive([fitRow("text"), fitRow("abc"), fitRow("status")], { line: 1, column: 2 });
    await bench.settle();
    expect(bench.emulator.takeWritten()).toBe(0);
    bench.screen.commit({ lines: [fitRow("printed")] });
    await bench.settle();
    expect([...place(bench), shown(bench)]).toEqual([2, 2, true]);
    expect(bench.emulator.screen().slice(0, 4)).toEqual(["printed", "text", "abc", "status"]);
    bench.screen.setLive([fitRow("status")]);
    await bench.settle();
    expect(shown(bench)).toBe(false);
  });

  test("is hidden while another has the terminal, and comes back", async () => {
    const bench = createBench({ columns: 30, rows: 8 });
    bench.screen.setLive([fitRow("abc"), fitRow("status")], { line: 0, column: 1 });
    await bench.settle();
    bench.screen.suspend();
    expect(shown(bench)).toBe(false);
    bench.screen.resume();
    await bench.settle();
    expect([...place(bench), shown(bench)]).toEqual([1, 0, true]);
  });

  test("a row of it that the terminal wrapped is found again, wherever it was left", () => {
    expect(rowsIntoLine(3, { row: 9, column: 4 }, 10)).toBe(0);
    expect(rowsIntoLine(3, { row: 9, column: 5 }, 10)).toBeUndefined();
    expect(rowsIntoLine(25, { row: 9, column: 6 }, 10)).toBe(2);
    expect(rowsIntoLine(25, { row: 9, column: 10 }, 10)).toBe(0);
    expect(rowsIntoLine(25, { row: 9, column: 7 }, 10)).toBeUndefined();
    // Wrapped or cut, it would be in the last column: the rows above it are left alone.
    expect(rowsIntoLine(29, { row: 9, column: 10 }, 10)).toBe(0);
  });
});

describe("T1: every printed line once, in order, whatever happens", () => {
  test("a prompt that ends in the last column of the new width, wrapped or cut: the line above it stays", async () => {
    await play(
      [
        { do: "live", rows: 0, text: "x", typed: 23 },
        { do: "print", words: 11, way: "prose" },
        { do: "print", words: 3, way: "emoji" },
        { do: "resize", columns: 6, rows: 8 },
      ],
      "adopt",
      true,
    );
  });

  test.each(["adopt", "reprint"] as const)(
    "in the %s way",
    async (way) => {
      await fc.assert(
        fc.asyncProperty(fc.array(act, { maxLength: 30 }), (acts) => play(acts, way, true)),
        { numRuns: 150 },
      );
    },
    120_000,
  );

  test("in the adopt way where no query is answered", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 30 }), (acts) => play(acts, "adopt", false)),
      { numRuns: 100 },
    );
  }, 120_000);
});
