/** Where Cursor keeps the transcripts of its agent. */
import { join } from "node:path";
import type { SourcePlaces } from "../types.ts";

export const cursorPlaces: SourcePlaces = {
  agent: "cursor",
  label: "Cursor",
  roots: (around) => [join(around.home, ".cursor", "projects")],
};
