/** The field's faults against the painter of the main screen, each by its name. docs/faults.md lists them all. */
import { expect, test } from "vitest";
import { sizeLateMs } from "../../src/terminal/screen/limits.ts";
import { createBench, fitRow, flowRow } from "./support.ts";

const numbered = (word: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${word} ${index}`);

test("field faults case 2, ink#450, ink#971: 50 frames as high and wide as the window scroll nothing, wherever a terminal wraps", async () => {
  const { emulator, screen, settle } = createBench({ columns: 80, rows: 24 });
  const { active } = emulator.xterm.buffer;
  for (let frame = 0; frame < 50; frame++) {
    screen.setLive([...numbered("row", 23).map(fitRow), fitRow(String(frame % 10).repeat(80))]);
    await settle();
    expect(active.length).toBe(24);
    // Terminals that wrap at once scroll when the last cell is written: it never is.
    for (let row = 0; row < 24; row++) expect(active.getLine(row)?.getCell(79)?.getChars()).toBe("");
  }
});

test("ink#973: a printing higher than the window keeps its last line above the live region", async () => {
  const { emulator, screen, settle } = createBench({ columns: 20, rows: 8 });
  const foot = ["foot 0", "foot 1", "foot 2"];
  screen.commit({ lines: numbered("line", 9).map(fitRow) });
  screen.setLive(foot.map(fitRow));
  await settle();
  expect(emulator.lines()).toEqual([...numbered("line", 9), ...foot]);
});

test("codex#30745: rows are complete while the live region grows and shrinks", async () => {
  const { emulator, screen, clock, settle } = createBench({ columns: 120, rows: 30 });
  for (let index = 0; index < 120; index++) {
    screen.commit({ lines: [fitRow(`item ${index}`)] });
    screen.setLive(numbered("foot", index % 20 < 10 ? 3 : 8).map(fitRow));
    await clock.advance(16);
    const shown = emulator.lines().filter((line) => line.startsWith("item"));
    expect(shown).toHaveLength(index + 1);
  }
  await settle();
  expect(emulator.lines()).toEqual([...numbered("item", 120), ...numbered("foot", 8)]);
});

test("windows-terminal#3490: a window that becomes lower keeps the rows between history and screen", async () => {
  const { emulator, screen, settle, resize } = createBench({ columns: 40, rows: 30 });
  screen.commit({ lines: numbered("line", 100).map(fitRow) });
  screen.setLive([fitRow("status")]);
  await settle();
  for (const rows of [24, 18, 30]) {
    await resize(40, rows);
    expect(emulator.lines()).toEqual([...numbered("line", 100), "status"]);
  }
});

test.each([
  [80, 47],
  [79, 48],
])(
  "xterm.js#4639, xterm.js#1932: nothing is written between a change to %i x %i and its settling",
  async (columns, rows) => {
    const { emulator, screen, clock, settle } = createBench({ columns: 80, rows: 48 });
    const lines = numbered("line", 200);
    const chunk = (at: number): void =>
      screen.commit({ lines: lines.slice(at, at + 10).map((text) => flowRow(`${text} ${".".repeat(90)}`)) });
    for (let at = 0; at < 100; at += 10) {
      chunk(at);
      await clock.advance(10);
    }
    await settle();
    await emulator.resize(columns, rows);
    emulator.takeWritten();
    for (let at = 100; at < 150; at += 10) {
      chunk(at);
      await clock.advance(10);
    }
    await clock.advance(100);
    expect(emulator.takeWritten()).toBe(0);
    await screen.resized("adopt");
    for (let at = 150; at < 200; at += 10) {
      chunk(at);
      await clock.advance(10);
    }
    await settle();
    expect(emulator.lines().map((line) => line.replace(/ \.+$/, ""))).toEqual(lines);
    // No tabs and no cursor columns inside rows, which break when a terminal wraps them again.
    expect(emulator.writes.join("")).not.toMatch(/\t|\x1b\[\d*[CDG`]/);
  },
);

test("koda#419: a long line above the live region that wraps again leaves no ghost of the region", async () => {
  const { emulator, screen, clock, settle, resize } = createBench({ columns: 90, rows: 20 });
  const long = "0123456789".repeat(30);
  screen.commit({ lines: [flowRow(long)] });
  screen.setLive([fitRow("working"), fitRow("status")]);
  await settle();
  for (const columns of [30, 17, 61]) {
    await clock.advance(sizeLateMs);
    await resize(columns, 20);
    expect(emulator.lines()).toEqual([long, "working", "status"]);
  }
});

test("cc#37396: rows of Korean that are drawn again and again start at the first column and are erased to their end", async () => {
  const { emulator, screen, settle } = createBench({ columns: 40, rows: 10 });
  screen.commit({ lines: [fitRow("위에 있는 줄")] });
  for (let prompt = 0; prompt < 10; prompt++) {
    screen.setLive([
      fitRow(`허용할까요? ${"네".repeat(10 - prompt)} ${prompt}`),
      fitRow(`✅ 선택 ${"아".repeat(prompt)}`),
    ]);
    await settle();
  }
  expect(emulator.lines()).toEqual(["위에 있는 줄", "허용할까요? 네 9", `✅ 선택 ${"아".repeat(9)}`]);
  const frames = emulator.writes.slice(1);
  expect(frames).toHaveLength(9);
  for (const frame of frames) {
    expect(frame).not.toMatch(/\x1b\[\d*[CDGH`]/);
    for (const row of frame.split("\r").filter((part) => /\p{Script=Hangul}/u.test(part)))
      expect(row).toContain("\x1b[K");
  }
});
