/** Where Factory Droid keeps its sessions. */
import { join } from "node:path";
import type { SourcePlaces } from "../types.ts";

export const droidPlaces: SourcePlaces = {
  agent: "droid",
  label: "Factory Droid",
  roots: (around) => [join(around.home, ".factory", "sessions")],
};
