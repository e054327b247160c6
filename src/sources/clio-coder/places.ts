/** Where clio-coder keeps its sessions. */
import { join } from "node:path";
import { folderFrom } from "../folders.ts";
import type { SourcePlaces, Surroundings } from "../types.ts";

export const clioCoderPlaces: SourcePlaces = {
  agent: "clio-coder",
  label: "clio-coder",
  roots: (around) => [join(stateFolder(around), "sessions")],
};

function stateFolder(around: Surroundings): string {
  const own = folderFrom(around, "CLIO_CODER_STATE_DIR");
  if (own !== undefined) return own;
  const home = folderFrom(around, "CLIO_CODER_HOME");
  if (home !== undefined) return join(home, "state");
  switch (around.platform) {
    case "darwin":
      return join(around.home, "Library", "Application Support", "clio-coder", "state");
    case "win32":
      return join(
        folderFrom(around, "LOCALAPPDATA") ?? join(around.home, "AppData", "Local"),
        "clio-coder",
        "state",
      );
    default:
      return join(folderFrom(around, "XDG_STATE_HOME") ?? join(around.home, ".local", "state"), "clio-coder");
  }
}
