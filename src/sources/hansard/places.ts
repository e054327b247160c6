/** Where Hansard keeps its own sessions. */
// Not through the log's door: a list of sessions should not load all that writes a log.
import { sessionsFolder, stateFolder } from "../../log/paths.ts";
import type { SourcePlaces } from "../types.ts";

export const hansardPlaces: SourcePlaces = {
  agent: "hansard",
  label: "Hansard",
  roots: (around) => [sessionsFolder(stateFolder(around))],
};
