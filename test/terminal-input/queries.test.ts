import { expect, test } from "vitest";
import { createQueries } from "../../src/terminal/input/index.ts";
import { lateMs, settleMs } from "../../src/terminal/input/limits.ts";
import { createVirtualClock } from "../support/terminal/clock.ts";
import { createEmulator } from "../support/terminal/emulator.ts";

function rig(): {
  clock: ReturnType<typeof createVirtualClock>;
  queries: ReturnType<typeof createQueries>;
  asked: () => number;
} {
  const clock = createVirtualClock();
  const emulator = createEmulator({ columns: 20, rows: 5, answers: false });
  const queries = createQueries(emulator, clock);
  return { clock, queries, asked: () => emulator.writes.filter((text) => text.includes("\x1b[6n")).length };
}

/** The terminal says where its cursor is, and then, from its corner, how large it is. */
function answer(queries: ReturnType<typeof createQueries>, row: number, column: number): void {
  queries.take({ type: "cursor", row, column });
  queries.take({ type: "cursor", row: 5, column: 20 });
}

test("an answer is given to the one who asked; two who ask at once share it", async () => {
  const { queries, asked } = rig();
  const one = queries.askCursor(100);
  const two = queries.askCursor(100);
  answer(queries, 3, 4);
  expect(await one).toEqual({ row: 3, column: 4, size: { columns: 20, rows: 5 } });
  expect(await two).toEqual(await one);
  expect(asked()).toBe(1);
});

test("agentboard#180: a terminal that does not answer is not waited for", async () => {
  const { queries, clock } = rig();
  const silence = queries.askCursor(100);
  await clock.advance(100);
  expect(await silence).toBeUndefined();
});

test("an answer that comes late is not taken for the next question's", async () => {
  const { queries, clock } = rig();
  const late = queries.askCursor(100);
  await clock.advance(100);
  expect(await late).toBeUndefined();
  const next = queries.askCursor(100);
  answer(queries, 1, 1);
  answer(queries, 9, 9);
  expect(await next).toMatchObject({ row: 9, column: 9 });
});

test("an answer that never came does not spoil those after it", async () => {
  const { queries, clock } = rig();
  const lost = queries.askCursor(100);
  await clock.advance(100);
  expect(await lost).toBeUndefined();
  await clock.advance(lateMs);
  const next = queries.askCursor(100);
  answer(queries, 9, 9);
  expect(await next).toMatchObject({ row: 9, column: 9 });
});

test("mandible#68: the end waits for an answer on its way, for a while", async () => {
  const { queries, clock } = rig();
  await queries.settle();
  void queries.askCursor(1000);
  let isSettled = false;
  const settled = queries.settle().then(() => {
    isSettled = true;
  });
  await clock.advance(settleMs - 1);
  expect(isSettled).toBe(false);
  answer(queries, 1, 1);
  await settled;
  void queries.askCursor(1000);
  const given = queries.settle();
  await clock.advance(settleMs);
  await given;
});

test.each([
  ["]11;rgb:0000/0000/0000", "dark"],
  ["]11;rgb:1e1e/2020/2a2a", "dark"],
  ["]11;rgb:ffff/ffff/ffff", "light"],
  ["]11;rgb:f/f/e", "light"],
  ["]11;rgba:fd/f6/e3/ff", "light"],
  ["]11;rgb:0000/0000/ffff", "dark"],
])("the background told by %s is %s", async (text, background) => {
  const { queries } = rig();
  const one = queries.askBackground(100);
  const two = queries.askBackground(100);
  queries.take({ type: "other", text: "]10;rgb:7777/7777/7777" });
  queries.take({ type: "other", text });
  expect(await one).toBe(background);
  expect(await two).toBe(background);
});

test("questions of different kinds do not wait for one another", async () => {
  const { queries, clock } = rig();
  const background = queries.askBackground(100);
  const cursor = queries.askCursor(100);
  answer(queries, 2, 3);
  expect(await cursor).toMatchObject({ row: 2, column: 3 });
  await clock.advance(100);
  expect(await background).toBeUndefined();
});

test("a report that nobody asked for is forgotten", () => {
  const { queries } = rig();
  expect(() => queries.take({ type: "cursor", row: 1, column: 1 })).not.toThrow();
});
