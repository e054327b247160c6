/** Where an agent of a workspace runs its steps, and whether somebody drives it. */
import { join } from "node:path";
import { fileStateAt } from "../file-errors.ts";
import { placeOf } from "./listing.ts";
import { IN_FLIGHT_MS, isLocked, latestStep } from "./step-folder.ts";

export interface MessagesDriving {
  /** The folder of its steps; it need not be there. */
  readonly steps: string;
  /** Whether a driver is at work, as far as can be told: its lock is seen, or its newest step is not settled and grew of late. */
  isDriven(nowMs: number): Promise<boolean>;
}

/** Of the agent whose messages a path holds; undefined where it is in no workspace. */
export function messagesDriving(messages: string, locksPath?: string): MessagesDriving | undefined {
  const { steps, inbox } = placeOf(messages);
  if (steps === undefined || inbox === undefined) return undefined;
  return {
    steps,
    async isDriven(nowMs) {
      if ((await isLocked(inbox, locksPath)) === true) return true;
      const name = await latestStep(steps);
      if (name === undefined) return false;
      const step = join(steps, name);
      if ((await fileStateAt(join(step, "meta.json"))) !== undefined) return false;
      const changed =
        (await fileStateAt(join(step, "response.json"))) ?? (await fileStateAt(join(step, "request.json")));
      return changed !== undefined && nowMs - Number(changed.modified / 1_000_000n) < IN_FLIGHT_MS;
    },
  };
}
