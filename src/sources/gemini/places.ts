/** Where Gemini CLI keeps its chats. */
import { join } from "node:path";
import { wordOf } from "../fields.ts";
import type { SourcePlaces, Surroundings } from "../types.ts";

export function geminiHome(around: Surroundings): string {
  return join(wordOf(around.env["GEMINI_CLI_HOME"]) ?? around.home, ".gemini");
}

export const geminiPlaces: SourcePlaces = {
  agent: "gemini",
  label: "Gemini CLI",
  roots: (around) => [join(geminiHome(around), "tmp")],
};
