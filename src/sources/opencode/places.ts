/** Where OpenCode keeps its sessions. */
import { join } from "node:path";
import { dataHome } from "../folders.ts";
import type { SourcePlaces } from "../types.ts";

export const openCodePlaces: SourcePlaces = {
  agent: "opencode",
  label: "OpenCode",
  roots: (around) => [join(dataHome(around), "opencode")],
};
