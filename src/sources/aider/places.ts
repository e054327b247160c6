/** Where Aider keeps its chats: in the folder it works in, so that only the home itself can be looked at without being told. */
import type { SourcePlaces } from "../types.ts";

export const aiderPlaces: SourcePlaces = {
  agent: "aider",
  label: "Aider",
  roots: (around) => [around.home],
};
