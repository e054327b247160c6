/** One job of `npm run spec` in a thread of its own. */
import { parentPort, workerData } from "node:worker_threads";
import { step } from "../src/window/index.ts";
import { explore } from "./explore.ts";
import type { Job, JobResult } from "./jobs.ts";
import { checkRuns, runLaws } from "./liveness.ts";
import { universeNamed } from "./universe.ts";

function run(job: Job): JobResult {
  const now = (): number => performance.now();
  if (job.kind === "explore") {
    return {
      kind: "explored",
      universe: job.name,
      exploration: explore(universeNamed(job.name), { step, now }),
    };
  }
  const law = runLaws.find(({ id }) => id === job.name);
  if (law === undefined) throw new RangeError(`no law of runs ${job.name}`);
  return { kind: "ran", law: law.id, check: checkRuns(law, step, now) };
}

parentPort?.postMessage(run(workerData as Job));
