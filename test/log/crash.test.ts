/** The law of the log: what was acknowledged is there after any crash, nothing is invented, the order is kept. */
import { describe, expect, test } from "vitest";
import { Driver } from "./driver.ts";
import { type Fate, randomFrom, SimComputer, settle } from "./sim-disk.ts";

type Crash = "kill" | "power";

/** One short fixed life, for crashes at each of its operations. */
async function shortLife(driver: Driver): Promise<void> {
  await driver.start();
  await driver.append([{ kind: "turnStarted" }, driver.spec(), driver.spec()]);
  await Promise.all([driver.append([driver.spec()]), driver.append([driver.spec(), driver.spec()])]);
  await driver.append([{ kind: "turnCommitted" }]);
  await driver.append([{ kind: "message", turnId: "long", role: "user", payload: "z".repeat(70_000) }]);
  await driver.append([driver.spec()]);
  await driver.flush();
  await driver.append([driver.spec()]);
  await driver.writer?.close();
}

/** Runs a life until it ends or its process dies. */
async function live(driver: Driver, life: (driver: Driver) => Promise<void>): Promise<void> {
  await Promise.race([life(driver), driver.process.death]);
  driver.process.kill();
  await settle();
}

async function crashAt(index: number, part: number, crash: Crash, seed: number): Promise<boolean> {
  const computer = new SimComputer();
  const driver = new Driver(computer, randomFrom(7));
  let isReached = false;
  computer.fate = (operation): Fate => {
    if (operation.index !== index) return { type: "done" };
    isReached = true;
    return { type: "kill", part };
  };
  await live(driver, shortLife);
  computer.fate = () => ({ type: "done" });
  if (crash === "power") computer.losePower(randomFrom(seed));
  if (await driver.recover(crash === "power" ? "saved" : "written")) {
    // What is there once a log was opened for writing is safe, whoever wrote it.
    computer.losePower(randomFrom(seed + 1));
    await driver.recover("saved");
    await driver.append([{ kind: "turnStarted" }, driver.spec(), { kind: "turnCommitted" }]);
    await driver.writer?.close();
    await driver.check();
  }
  return isReached;
}

async function crashEverywhere(part: number, crash: Crash, seeds: readonly number[]): Promise<number> {
  for (let index = 0; ; index += 1) {
    for (const seed of seeds) {
      try {
        if (!(await crashAt(index, part, crash, seed))) return index;
      } catch (error) {
        throw new Error(`crashAt(${index}, ${part}, "${crash}", ${seed})`, { cause: error });
      }
    }
  }
}

describe("a crash at every operation of a short life", () => {
  test.each([
    [0, "kill"],
    [0.5, "kill"],
    [1, "kill"],
    [0, "power"],
    [0.5, "power"],
    [1, "power"],
  ] as const)("part %s, %s", async (part, crash) => {
    const points = await crashEverywhere(part, crash, crash === "power" ? [1, 2] : [0]);
    expect(points).toBeGreaterThan(40);
  });
});

/** A long life of several crashes, each at a random operation, of either kind; the log goes on after each. */
async function longLife(seed: number): Promise<number> {
  const random = randomFrom(seed);
  const computer = new SimComputer();
  const driver = new Driver(computer, random);
  let crashes = 0;
  let isBorn = false;
  while (crashes < 6) {
    const killAt = computer.operations + Math.floor(random() * 60);
    const part = random() < 0.3 ? 1 : random();
    computer.fate = ({ index }): Fate => (index === killAt ? { type: "kill", part } : { type: "done" });
    await live(driver, async () => {
      if (!isBorn) await driver.start();
      for (let acts = 0; acts < 40; acts += 1) await driver.act();
    });
    computer.fate = () => ({ type: "done" });
    const isPower = random() < 0.5;
    if (isPower) computer.losePower(random);
    isBorn = await driver.recover(isPower ? "saved" : "written");
    crashes += 1;
  }
  await driver.writer?.close();
  if (isBorn) await driver.check();
  return crashes;
}

describe("long lives with a crash now and then", () => {
  const lives = Number(process.env["HANSARD_SIM_LIVES"] ?? "15");
  const first = Number(process.env["HANSARD_SIM_SEED"] ?? "1");
  test(`${lives} lives of 6 crashes`, { timeout: 30_000 + lives * 200 }, async () => {
    for (let seed = first; seed < first + lives; seed += 1) {
      try {
        await longLife(seed);
      } catch (error) {
        throw new Error(`HANSARD_SIM_SEED=${seed} HANSARD_SIM_LIVES=1 shows it`, { cause: error });
      }
    }
  });
});
