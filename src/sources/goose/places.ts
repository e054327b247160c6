/** Where Goose keeps its sessions. */
import { join } from "node:path";
import { dataHome, folderFrom } from "../folders.ts";
import type { SourcePlaces } from "../types.ts";

export const goosePlaces: SourcePlaces = {
  agent: "goose",
  label: "Goose",
  roots(around) {
    const moved = folderFrom(around, "GOOSE_PATH_ROOT");
    if (moved !== undefined) return [join(moved, "data", "sessions")];
    const appData = folderFrom(around, "APPDATA");
    if (around.platform === "win32" && appData !== undefined)
      return [join(appData, "Block", "goose", "data", "sessions")];
    return [join(dataHome(around), "goose", "sessions")];
  },
};
