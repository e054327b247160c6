/** Where GitHub Copilot CLI keeps its sessions. */
import { join } from "node:path";
import { folderFrom } from "../folders.ts";
import type { SourcePlaces } from "../types.ts";

export const copilotPlaces: SourcePlaces = {
  agent: "copilot",
  label: "GitHub Copilot CLI",
  roots(around) {
    const home = folderFrom(around, "COPILOT_HOME") ?? join(around.home, ".copilot");
    return [join(home, "session-state"), join(home, "history-session-state")];
  },
};
