/** `npm run sim -- crash`: crash points, with real processes and on a simulated computer, and the sum of what they show. */
import { type Fault, faultAt, faults, type Outcome } from "./faults.ts";
import { type Ground, KilledSession, makeGround } from "./kills.ts";
import { randomFrom, seedOf, whole } from "./random.ts";

export interface CrashOptions {
  readonly seed: number;
  /** Crash points in all. */
  readonly points: number;
  /** Told of each thing that should not be, as it is found. */
  readonly onViolation?: (words: string) => void;
}

export interface CrashReport {
  readonly seed: number;
  readonly points: number;
  /** Processes that were killed. */
  readonly kills: number;
  /** Points of the simulated computer: one for each fault at each operation of a short life, the rest at random in longer ones. */
  readonly swept: number;
  readonly random: number;
  /** Of the operations met, how often each kind went wrong. */
  readonly operations: Readonly<Record<string, number>>;
  /** Acknowledgements that were held against a log. */
  readonly acknowledged: number;
  readonly lost: number;
  readonly wrong: number;
  /** Damages made to logs, and those that were not told. */
  readonly damages: number;
  readonly untold: number;
  readonly violations: readonly string[];
}

/** One point in so many kills a real process. */
const POINTS_A_KILL = 20;
/** Kills of one session. */
const KILLS_A_SESSION = 8;
/** Sessions whose processes are killed side by side. */
const SESSIONS_AT_ONCE = 3;
/** The life that is swept, and the longer ones. */
const SHORT_ACTS = 8;
const LONG_ACTS = 30;
/** Operations within which a longer life meets its fault; some end before. */
const LONG_OPERATIONS = 90;
/** Violations that are kept in words. */
const VIOLATIONS_MAX = 100;

class Sum {
  readonly #onViolation: (words: string) => void;
  readonly operations = new Map<string, number>();
  readonly violations: string[] = [];
  kills = 0;
  swept = 0;
  random = 0;
  acknowledged = 0;
  lost = 0;
  wrong = 0;
  damages = 0;
  untold = 0;

  constructor(onViolation: (words: string) => void) {
    this.#onViolation = onViolation;
  }

  add(where: string, outcome: { readonly lost: readonly string[]; readonly wrong: readonly string[] }): void {
    this.lost += outcome.lost.length;
    this.wrong += outcome.wrong.length;
    if (outcome.lost.length > 0) this.say(`${where}: lost ${outcome.lost.join(" ")}`);
    if (outcome.wrong.length > 0) this.say(`${where}: wrong ${outcome.wrong.join(" ")}`);
  }

  say(words: string): void {
    if (this.violations.length < VIOLATIONS_MAX) this.violations.push(words);
    this.#onViolation(words);
  }

  addFault(where: string, outcome: Outcome): void {
    this.add(where, outcome);
    this.acknowledged += outcome.acknowledged;
    if (outcome.damage.length > 0) this.say(`${where}: ${outcome.damage.join(", ")}`);
    const name = outcome.operation?.split(" ")[0];
    if (name !== undefined) this.operations.set(name, (this.operations.get(name) ?? 0) + 1);
  }
}

/** Runs the points. Costs some milliseconds a simulated point and some tenths of a second a killed process. */
export async function runCrash(options: CrashOptions): Promise<CrashReport> {
  const { seed, points } = options;
  const sum = new Sum(options.onViolation ?? (() => {}));
  const kills = Math.max(1, Math.floor(points / POINTS_A_KILL));
  await killMany(sum, seed, kills);
  await sweep(sum, seed, points - kills);
  await roam(sum, seed, points - kills - sum.swept);
  const { kills: killed, swept, random, acknowledged, lost, wrong, damages, untold, violations } = sum;
  const operations = Object.fromEntries([...sum.operations].sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    seed,
    points,
    kills: killed,
    swept,
    random,
    operations,
    acknowledged,
    lost,
    wrong,
    damages,
    untold,
    violations,
  };
}

async function killMany(sum: Sum, seed: number, kills: number): Promise<void> {
  const ground = await makeGround();
  try {
    const sessions = Math.ceil(kills / KILLS_A_SESSION);
    let next = 0;
    const work = async (): Promise<void> => {
      for (let at = next++; at < sessions; at = next++)
        await killSession(sum, ground, seed, at, Math.min(KILLS_A_SESSION, kills - at * KILLS_A_SESSION));
    };
    await Promise.all(Array.from({ length: SESSIONS_AT_ONCE }, work));
  } finally {
    await ground.remove();
  }
}

async function killSession(sum: Sum, ground: Ground, seed: number, at: number, kills: number): Promise<void> {
  const session = new KilledSession(ground, `s${at}`, seedOf(seed, at));
  await session.begin();
  for (let kill = 0; kill <= kills; kill += 1) {
    const outcome = kill < kills ? await session.kill() : await session.finish();
    const where = `seed ${seed}, session ${at}, ${kill < kills ? `kill ${kill + 1}` : "the end"}`;
    sum.add(where, outcome);
    if (kill < kills) sum.kills += 1;
    else sum.acknowledged += outcome.acknowledged;
    sum.damages += outcome.damages;
    sum.untold += outcome.untold.length;
    for (const words of outcome.untold) sum.say(`${where}: ${words}`);
  }
}

/** Every fault at every operation of a short life, as far as the points go. */
async function sweep(sum: Sum, seed: number, points: number): Promise<void> {
  for (let index = 0; ; index += 1) {
    for (const fault of faults) {
      if (sum.swept >= points) return;
      const outcome = await point(sum, index, fault, seedOf(seed, 0), SHORT_ACTS);
      if (outcome.operation === undefined) return;
      sum.swept += 1;
    }
  }
}

/** Faults at random operations of longer lives. */
async function roam(sum: Sum, seed: number, points: number): Promise<void> {
  for (let at = 0; at < points; at += 1) {
    const random = randomFrom(seedOf(seed, at + 1));
    const fault = faults[whole(random, 0, faults.length - 1)] ?? { type: "kill", part: 0 };
    const lifeSeed = whole(random, 0, 0xffff_ffff);
    await point(sum, whole(random, 0, LONG_OPERATIONS - 1), fault, lifeSeed, LONG_ACTS);
    sum.random += 1;
  }
}

async function point(sum: Sum, index: number, fault: Fault, seed: number, acts: number): Promise<Outcome> {
  const where = `faultAt(${index}, ${JSON.stringify(fault)}, { seed: ${seed}, acts: ${acts} })`;
  try {
    const outcome = await faultAt(index, fault, { seed, acts });
    sum.addFault(where, outcome);
    return outcome;
  } catch (error) {
    throw new Error(where, { cause: error });
  }
}

/** The report as a table for a person. */
export function crashWords(report: CrashReport): string {
  const operations = Object.entries(report.operations)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
  return [
    `seed ${report.seed}: ${report.points} crash points`,
    `  processes killed      ${report.kills}`,
    `  faults, every one     ${report.swept}`,
    `  faults, at random     ${report.random}`,
    `  at operations         ${operations}`,
    `  acknowledged records  ${report.acknowledged}`,
    `  lost                  ${report.lost}`,
    `  wrong                 ${report.wrong}`,
    `  damages made          ${report.damages}`,
    `  damages not told      ${report.untold}`,
    ...report.violations.map((words) => `  ! ${words}`),
    "",
  ].join("\n");
}
