/** The jobs of `npm run spec`, two at a time, the longest first. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { ExplorationOf, RunCheckOf } from "./report.ts";

export interface Job {
  readonly kind: "explore" | "runs";
  /** Of the universe or of the law. */
  readonly name: string;
}

export type JobResult =
  | ({ readonly kind: "explored" } & ExplorationOf)
  | ({ readonly kind: "ran" } & RunCheckOf);

const THREADS_MAX = 2;

function start(job: Job): Promise<JobResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: job });
    let result: JobResult | undefined;
    worker.on("message", (message: JobResult) => {
      result = message;
    });
    worker.on("error", reject);
    worker.on("exit", (code) => {
      if (result === undefined) reject(new Error(`the thread of ${job.name} ended with ${code}`));
      else resolve(result);
    });
  });
}

/** Runs jobs in the order given, as many at a time as there are processors, at most two; calls back as each ends. */
export async function runJobs(
  jobs: readonly Job[],
  onResult: (result: JobResult) => void,
): Promise<readonly JobResult[]> {
  const waiting = [...jobs];
  const results: JobResult[] = [];
  const serve = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const result = await start(job);
      results.push(result);
      onResult(result);
    }
  };
  await Promise.all(Array.from({ length: Math.min(THREADS_MAX, availableParallelism()) }, serve));
  return results;
}
