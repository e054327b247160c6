import { describe, expect, test } from "vitest";
import { type CursorPlace, createScreen } from "../../src/terminal/screen/index.ts";
import { askTriesMax, recentLinesMax, writeUnitsMax } from "../../src/terminal/screen/limits.ts";
import { RecentPrintings } from "../../src/terminal/screen/recent.ts";
import { themeOf } from "../../src/terminal/text/index.ts";
import { createVirtualClock } from "../support/terminal/clock.ts";
import { createEmulator } from "../support/terminal/emulator.ts";
import { askThrough, createBench, fitRow, prose } from "./support.ts";

/** A screen whose question for the cursor is answered when the test says so. */
function createAsked() {
  const emulator = createEmulator({ columns: 30, rows: 8 });
  const clock = createVirtualClock(() => emulator.settled());
  const ask = askThrough(emulator);
  const questions: (() => Promise<void>)[] = [];
  const screen = createScreen(emulator, clock, {
    theme: themeOf({}, false),
    isSynchronized: false,
    askCursor: () =>
      new Promise<CursorPlace | undefined>((resolve) => {
        questions.push(async () => resolve(await ask()));
      }),
  });
  const settle = async (): Promise<void> => {
    await clock.advance(1_000);
    await emulator.settled();
  };
  return {
    emulator,
    screen,
    questions,
    settle,
    async answer() {
      await questions.shift()?.();
      await settle();
    },
  };
}

const text = "a paragraph that is long enough to be wrapped anew at other widths";

async function createPrinted(): Promise<ReturnType<typeof createAsked>> {
  const asked = createAsked();
  asked.screen.commit({ lines: prose(text, 30), relayout: (width) => prose(text, width + 1) });
  asked.screen.setLive([fitRow("a live row of 28 characters."), fitRow("status")]);
  await asked.settle();
  return asked;
}

function atWidth(columns: number): readonly string[] {
  return prose(text, columns).map(({ spans }) => spans.map((span) => span.text).join(""));
}

describe("while a size settles", () => {
  test("nothing is written until the size is said to be settled", async () => {
    const { emulator, screen, settle, answer } = await createPrinted();
    await emulator.resize(20, 8);
    emulator.takeWritten();
    screen.setLive([fitRow("other")]);
    screen.commit({ lines: [fitRow("printed meanwhile")] });
    await settle();
    expect(emulator.takeWritten()).toBe(0);
    const resized = screen.resized("adopt");
    await answer();
    await resized;
    expect(emulator.lines()).toEqual([...atWidth(20), "printed meanwhile", "other"]);
  });

  test("what was laid out for the old width and not printed yet is laid out again", async () => {
    const { emulator, screen, settle, answer } = createAsked();
    screen.setLive([fitRow("status")]);
    await settle();
    screen.commit({ lines: prose(text, 30), relayout: (width) => prose(text, width + 1) });
    await emulator.resize(14, 8);
    const resized = screen.resized("adopt");
    await answer();
    await resized;
    await settle();
    expect(emulator.lines()).toEqual([...atWidth(14), "status"]);
  });

  test("told twice, the terminal is asked once and painted once", async () => {
    const { emulator, screen, questions, answer } = await createPrinted();
    await emulator.resize(20, 8);
    const both = [screen.resized("adopt"), screen.resized("adopt")];
    expect(questions).toHaveLength(1);
    await answer();
    await Promise.all(both);
    expect(questions).toHaveLength(0);
    expect(emulator.lines()).toEqual([...atWidth(20), "a live row of 28 ch", "aracters.", "status"]);
  });

  test("a size that changes while the terminal is asked is asked for again, to a limit", async () => {
    const { emulator, screen, questions, settle, answer } = await createPrinted();
    await emulator.resize(20, 8);
    const resized = screen.resized("adopt");
    for (let count = 0; count < askTriesMax; count++) {
      expect(questions).toHaveLength(1);
      await emulator.resize(21 + count, 8);
      await answer();
    }
    await resized;
    expect(questions).toHaveLength(0);
    await settle();
    expect(emulator.lines().join(" ").replaceAll(/\s+/g, " ")).toContain(text);
    expect(emulator.lines().at(-1)).toBe("status");
  });

  test("lent to another while the terminal is asked: nothing is written until it comes back", async () => {
    const { emulator, screen, questions, answer } = await createPrinted();
    await emulator.resize(20, 8);
    const resized = screen.resized("adopt");
    screen.suspend();
    await questions.shift()?.();
    await resized;
    emulator.takeWritten();
    await screen.resized("adopt");
    expect(emulator.takeWritten()).toBe(0);
    screen.resume();
    await answer();
    expect(emulator.lines()).toEqual([...atWidth(20), "a live row of 28 ch", "aracters.", "status"]);
  });

  test("cleared while the terminal is asked: only what is printed afterwards is there", async () => {
    const { emulator, screen, settle, answer } = await createPrinted();
    await emulator.resize(20, 8);
    const resized = screen.resized("adopt");
    screen.clear();
    screen.commit({ lines: [fitRow("anew")] });
    await answer();
    await resized;
    await settle();
    expect(emulator.lines()).toEqual(["anew", "a live row of 28 ch", "aracters.", "status"]);
  });

  test("ended while the terminal is asked: nothing is written afterwards", async () => {
    const { emulator, screen, questions } = await createPrinted();
    await emulator.resize(20, 8);
    const resized = screen.resized("adopt");
    screen.end([fitRow("bye")]);
    await questions.shift()?.();
    await resized;
    expect(emulator.lines().at(-1)).toBe("bye");
    expect(emulator.lines().join(" ").replaceAll(/\s+/g, " ")).toContain(text);
  });
});

describe("limits", () => {
  test("the newest printed lines are remembered, whole printings, to a limit", () => {
    const recent = new RecentPrintings();
    const add = (count: number): void => {
      const lines = Array.from({ length: count }, () => fitRow("x"));
      recent.add(lines, { lines });
    };
    for (let count = 0; count < recentLinesMax / 100; count++) add(100);
    expect(recent.lines).toBe(recentLinesMax);
    add(1);
    expect(recent.lines).toBe(recentLinesMax - 99);
    add(recentLinesMax);
    expect(recent.lines).toBe(recentLinesMax);
    add(recentLinesMax + 1);
    expect(recent.lines).toBe(0);
  });

  test("one write takes printings up to a limit; the rest follows, each write waited for", async () => {
    const { emulator, screen, settle } = createBench({ columns: 80, rows: 8 });
    const row = "x".repeat(70);
    const lines = Array.from({ length: 1_000 }, () => fitRow(row));
    const count = 10;
    for (let block = 0; block < count; block++) screen.commit({ lines });
    emulator.setSlow(true);
    await settle();
    expect(emulator.writes).toHaveLength(1);
    const most = writeUnitsMax + lines.length * (row.length + 2) + 1_000;
    expect(emulator.writes[0]?.length).toBeGreaterThan(writeUnitsMax);
    expect(emulator.writes[0]?.length).toBeLessThan(most);
    emulator.setSlow(false);
    await settle();
    expect(Math.max(...emulator.writes.map((text) => text.length))).toBeLessThan(most);
    expect(emulator.lines()).toHaveLength(count * lines.length);
  });
});
