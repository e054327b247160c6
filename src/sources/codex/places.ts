/** Where Codex keeps its rollouts. */
import { join } from "node:path";
import { wordOf } from "../fields.ts";
import type { SourcePlaces, Surroundings } from "../types.ts";

export function codexHome(around: Surroundings): string {
  return wordOf(around.env["CODEX_HOME"]) ?? join(around.home, ".codex");
}

export const codexPlaces: SourcePlaces = {
  agent: "codex",
  label: "Codex",
  roots: (around) => [join(codexHome(around), "sessions"), join(codexHome(around), "archived_sessions")],
};
