/**
 * `npm run sim -- crash --seed N [--points K]` and `npm run sim -- fight --seed N [--kills K]`: the log under crashes, with processes that
 * are really killed. `npm run sim -- follow --seed N [--reconnects K]`: the server's lanes under clients, proxies and restarts. Exits with 1
 * where anything is lost, wrong or untold.
 */
import { parseArgs } from "node:util";
import { crashWords, runCrash } from "./crash.ts";
import { fightWords, runFight } from "./fight.ts";
import { followWords, isClean, runFollow } from "./follow.ts";

/** Milliseconds within which the one who waits is to have a dead owner's session. */
const TAKEOVER_MS_MAX = 1000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    points: { type: "string", default: "500" },
    kills: { type: "string", default: "100" },
    reconnects: { type: "string", default: "10000" },
  },
});

function count(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new RangeError(`--${name} must be a whole number of at least 1`);
}

async function run(): Promise<boolean> {
  const seed = count("seed", values.seed);
  switch (positionals[0]) {
    case "crash": {
      const onViolation = (words: string): void => void process.stderr.write(`${words}\n`);
      const report = await runCrash({ seed, points: count("points", values.points), onViolation });
      process.stdout.write(crashWords(report));
      return report.violations.length === 0;
    }
    case "fight": {
      const report = await runFight({ seed, kills: count("kills", values.kills) });
      process.stdout.write(fightWords(seed, report));
      const isInTime = (report.takeovers.at(-1) ?? 0) <= TAKEOVER_MS_MAX;
      return report.lost + report.wrong + report.damage === 0 && isInTime;
    }
    case "follow": {
      const report = await runFollow({ seed, reconnects: count("reconnects", values.reconnects) });
      process.stdout.write(followWords(seed, report));
      return isClean(report);
    }
    default:
      process.stderr.write(
        "Give `crash --seed N [--points K]`, `fight --seed N [--kills K]` or `follow --seed N [--reconnects K]`.\n",
      );
      return false;
  }
}

// The timers of the log keep no process alive.
const alive = setInterval(() => {}, 1000);
try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  clearInterval(alive);
}
