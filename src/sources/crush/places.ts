/** Where Crush keeps its sessions: a database in each project, and a list of the projects. */
import { join } from "node:path";
import { dataHome, folderFrom } from "../folders.ts";
import type { SourcePlaces } from "../types.ts";

export const crushPlaces: SourcePlaces = {
  agent: "crush",
  label: "Crush",
  roots: (around) => [folderFrom(around, "CRUSH_GLOBAL_DATA") ?? join(dataHome(around), "crush")],
};
