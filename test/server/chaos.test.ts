/** The chaos run of the lanes, as `npm run sim -- follow` does it. */
import { expect, test } from "vitest";
import { followWords, isClean, runFollow } from "../../sim/follow.ts";

const SEED = 7;
const RECONNECTS = 500;

test("500 connections cut, slowed and held back, servers started anew: nothing lost, nothing doubled", async () => {
  const report = await runFollow({ seed: SEED, reconnects: RECONNECTS });
  expect(isClean(report), followWords(SEED, report)).toBe(true);
  expect(report.reconnects).toBeGreaterThanOrEqual(RECONNECTS);
  expect(report.restarts).toBeGreaterThan(5);
}, 180_000);
