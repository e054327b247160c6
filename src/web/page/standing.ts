/** The last line: whether what is shown is how it is, and what the agent does. Pure. */
import type { DriverState } from "../../session/types.ts";
import type { Standing } from "./lane.ts";
import { clockWords } from "./times.ts";

export interface Stand {
  readonly standing: Standing;
  /** Why the lane is over. */
  readonly words: string;
  /** Since something was last heard. */
  readonly silentMs: number;
  /** Nothing was heard for longer than the server is silent. */
  readonly isQuiet: boolean;
  readonly isTurnOpen: boolean;
  readonly now: number;
  readonly driver: DriverState | undefined;
}

export function standingWords(stand: Stand): string {
  switch (stand.standing) {
    case "live":
      return stand.isQuiet
        ? `As it was ${clockWords(stand.silentMs)} ago; nothing is heard`
        : ["Live", ...agentWords(stand)].join(" · ");
    case "connecting":
      return "Connecting …";
    case "away":
      return `No connection: as it was ${clockWords(stand.silentMs)} ago. It is tried again.`;
    case "over":
      return stand.words === "" ? "Ended." : stand.words;
  }
}

function agentWords({ driver, isTurnOpen, now }: Stand): readonly string[] {
  if (driver === undefined) return isTurnOpen ? ["at work"] : [];
  const queued = driver.queued === 0 ? [] : [`${driver.queued} waiting`];
  if (driver.approvals.length > 0) return ["waits for you", ...queued];
  switch (driver.phase) {
    case "working": {
      const since = driver.turnStartedAt;
      return [since === undefined ? "at work" : `at work ${clockWords(now - since)}`, ...queued];
    }
    case "cancelling":
      return ["stopping", ...queued];
    case "starting":
      return ["starting", ...queued];
    case "ready":
      return ["ready", ...queued];
    case "ended":
      return [
        driver.failure === undefined ? "the agent has ended" : `the agent has ended: ${driver.failure}`,
      ];
  }
}
