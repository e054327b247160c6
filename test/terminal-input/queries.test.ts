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
  return { clock, queries, asked: () => emulator.writes.filter((text) => text === "\x1b[6n").length };
}

test("an answer is given to the one who asked; two who ask at once share it", async () => {
  const { queries, asked } = rig();
  const one = queries.askCursor(100);
  const two = queries.askCursor(100);
  queries.take({ type: "cursor", row: 3, column: 4 });
  expect(await one).toEqual({ row: 3, column: 4 });
  expect(await two).toEqual({ row: 3, column: 4 });
  expect(asked()).toBe(1);
});

test("a terminal that does not answer is not waited for", async () => {
  const { queries, clock } = rig();
  const answer = queries.askCursor(100);
  await clock.advance(100);
  expect(await answer).toBeUndefined();
});

test("an answer that comes late is not taken for the next question's", async () => {
  const { queries, clock } = rig();
  const late = queries.askCursor(100);
  await clock.advance(100);
  expect(await late).toBeUndefined();
  const next = queries.askCursor(100);
  queries.take({ type: "cursor", row: 1, column: 1 });
  queries.take({ type: "cursor", row: 9, column: 9 });
  expect(await next).toEqual({ row: 9, column: 9 });
});

test("an answer that never came does not spoil those after it", async () => {
  const { queries, clock } = rig();
  const lost = queries.askCursor(100);
  await clock.advance(100);
  expect(await lost).toBeUndefined();
  await clock.advance(lateMs);
  const next = queries.askCursor(100);
  queries.take({ type: "cursor", row: 9, column: 9 });
  expect(await next).toEqual({ row: 9, column: 9 });
});

test("the end waits for an answer on its way, for a while", async () => {
  const { queries, clock } = rig();
  await queries.settle();
  void queries.askCursor(1000);
  let isSettled = false;
  const settled = queries.settle().then(() => {
    isSettled = true;
  });
  await clock.advance(settleMs - 1);
  expect(isSettled).toBe(false);
  queries.take({ type: "cursor", row: 1, column: 1 });
  await settled;
  void queries.askCursor(1000);
  const given = queries.settle();
  await clock.advance(settleMs);
  await given;
});

test("a report that nobody asked for is forgotten", () => {
  const { queries } = rig();
  expect(() => queries.take({ type: "cursor", row: 1, column: 1 })).not.toThrow();
});
