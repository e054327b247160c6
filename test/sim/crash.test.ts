/** The log under crashes: real processes that are killed, and every fault at every operation of a simulated computer's session. */
import { expect, test } from "vitest";
import { runCrash } from "../../sim/crash.ts";
import { runFight } from "../../sim/fight.ts";

const seed = Number(process.env["HANSARD_SIM_SEED"] ?? "1");

test("500 crash points: nothing that was acknowledged is lost, nothing wrong is returned, every damage is told", {
  timeout: 120_000,
}, async () => {
  const report = await runCrash({ seed, points: 500 });
  expect(report).toMatchObject({ lost: 0, wrong: 0, untold: 0, violations: [] });
  expect(report.kills + report.swept + report.random).toBe(500);
  expect(report.kills).toBeGreaterThanOrEqual(25);
  expect(report.damages).toBe(report.kills);
  expect(report.acknowledged).toBeGreaterThan(5000);
  for (const operation of ["write", "sync", "syncFolder", "rename", "close", "link", "open"])
    expect(report.operations[operation], `faults in ${operation}`).toBeGreaterThan(0);
});

test("two processes resume one session, and whoever writes is killed: the other one has it within a second", {
  timeout: 120_000,
}, async () => {
  const report = await runFight({ seed, kills: 6 });
  expect(report).toMatchObject({ kills: 6, lost: 0, wrong: 0, damage: 0 });
  expect(report.acknowledged).toBeGreaterThan(0);
  expect(report.takeovers.at(-1)).toBeLessThan(1000);
});
