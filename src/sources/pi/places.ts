/** Where pi and its relatives keep their sessions. */
import { join } from "node:path";
import { wordOf } from "../fields.ts";
import type { SourcePlaces, Surroundings } from "../types.ts";

function folderOf(around: Surroundings, variable: string): string | undefined {
  const folder = wordOf(around.env[variable]);
  return folder === undefined ? undefined : folder.replace(/^~(?=$|[/\\])/, () => around.home);
}

export const piPlaces: SourcePlaces = {
  agent: "pi",
  label: "pi",
  roots: (around) => [
    folderOf(around, "PI_CODING_AGENT_SESSION_DIR") ??
      join(folderOf(around, "PI_CODING_AGENT_DIR") ?? join(around.home, ".pi", "agent"), "sessions"),
    join(around.home, ".omp", "agent", "sessions"),
    join(around.home, ".openclaw", "agents"),
  ],
};
