/**
 * `npm run spec`: the laws of the window core over every reachable state. `-- quick` is the smaller set of constants, `-- <name>…`
 * explores by name, `-- trace <file>…` checks traces.
 */
import { createReadStream } from "node:fs";
import { committedCounts, countsFault } from "./counts.ts";
import type { Job, JobResult } from "./jobs.ts";
import { runJobs } from "./jobs.ts";
import { runLaws } from "./liveness.ts";
import { formatExplorations, formatLaws } from "./report.ts";
import { TraceChecker } from "./trace.ts";
import { linesOfChunks } from "./trace-line.ts";
import { universes } from "./universe.ts";

/** Sets of universes: the larger one is CI's. */
const sets: Readonly<Record<string, readonly string[]>> = {
  quick: ["small", "tiny"],
  full: ["huge", "large", "wide", "plain", "small", "tiny"],
};

const say = (text: string): void => void process.stdout.write(`${text}\n`);

function violationOf(result: JobResult): string | undefined {
  return result.kind === "explored" ? result.exploration.violation?.script : result.check.violation;
}

function sayResult(result: JobResult): void {
  const script = violationOf(result);
  const name = result.kind === "explored" ? result.universe : result.law;
  const { states } = result.kind === "explored" ? result.exploration : result.check;
  say(`${name}: ${states.toLocaleString("en-US")} states, ${script === undefined ? "holds" : "BROKEN"}`);
  if (script !== undefined) say(`\n${script}`);
}

async function explore(names: readonly string[], areRunsAsked: boolean): Promise<boolean> {
  const jobs: Job[] = names.map((name) => ({ kind: "explore", name }));
  if (areRunsAsked) jobs.splice(1, 0, ...runLaws.map(({ id }): Job => ({ kind: "runs", name: id })));
  const results = await runJobs(jobs, sayResult);
  const found = results.filter((result) => result.kind === "explored");
  const checks = results.filter((result) => result.kind === "ran");
  // The compiler is loaded for the purity check alone.
  const { coreFiles, impurities } = await import("./purity.ts");
  const files = coreFiles();
  const impure = [...files].flatMap(([name, text]) =>
    impurities(name, text).map((what) => `${name} ${what}`),
  );
  for (const what of impure) say(`L17: src/window/${what}`);
  say(`\n${formatExplorations(found)}\n`);
  say(formatLaws(found, checks, { files: files.size, isHeld: impure.length === 0 }));
  const counts = committedCounts();
  const wrong = found.map(({ universe, exploration }) => countsFault(universe, exploration, counts));
  for (const what of wrong) if (what !== undefined) say(`\n${what}`);
  const areCountsRight = wrong.every((what) => what === undefined);
  return (
    areCountsRight && impure.length === 0 && results.every((result) => violationOf(result) === undefined)
  );
}

/** 0: lawful, 1: a law is broken, 2: no trace, or none that can be read. */
async function checkFile(path: string): Promise<0 | 1 | 2> {
  const checker = new TraceChecker();
  try {
    for await (const line of linesOfChunks(createReadStream(path))) if (!checker.take(line)) break;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    process.stderr.write(`${path}: cannot be read: ${(error as Error).message}\n`);
    return 2;
  }
  const { windows, steps, rejected, asked, unjudged, fault } = checker.finish();
  if (fault?.kind === "input") {
    process.stderr.write(`${path}:${fault.line}: ${fault.what}\n`);
    return 2;
  }
  if (fault !== undefined) {
    say(`${path}:${fault.line}: ${fault.what}`);
    return 1;
  }
  const silent = [...unjudged, ...runLaws.map(({ id }) => id)];
  say(`${path}: ${steps} steps of ${windows} windows, ${rejected} of them rejected; ${asked} laws hold`);
  say(`  not judged by it: ${silent.join(" ")}`);
  return 0;
}

async function main([word = "full", ...rest]: readonly string[]): Promise<number> {
  if (word === "trace") {
    if (rest.length === 0) {
      process.stderr.write("npm run spec -- trace <file>…\n");
      return 2;
    }
    let code = 0;
    for (const path of rest) code = Math.max(code, await checkFile(path));
    return code;
  }
  const set = sets[word];
  const names = set ?? [word, ...rest];
  const unknown = names.find((name) => !universes.some((universe) => universe.name === name));
  if (unknown !== undefined || (set !== undefined && rest.length > 0)) {
    const known = [...Object.keys(sets), ...universes.map(({ name }) => name)].join(", ");
    process.stderr.write(`There is no set of constants "${unknown ?? rest[0]}". There are: ${known}\n`);
    return 2;
  }
  return (await explore(names, set !== undefined)) ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}
