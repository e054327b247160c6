/** Where fx keeps its sessions. */
import { join } from "node:path";
import { folderFrom } from "../folders.ts";
import type { SourcePlaces } from "../types.ts";

export const fxPlaces: SourcePlaces = {
  agent: "fx",
  label: "fx",
  roots: (around) => [join(folderFrom(around, "FX_HOME") ?? join(around.home, ".fx"), "sessions")],
};
