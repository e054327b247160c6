/** Where Cursor keeps the sessions of its agent and its editor. */
import { join } from "node:path";
import { editorsHome } from "../folders.ts";
import type { SourcePlaces, Surroundings } from "../types.ts";

/** The editor's chats, the command line's chats, and the transcripts of both. */
export const editorFolder = (around: Surroundings): string =>
  join(editorsHome(around), "Cursor", "User", "globalStorage");
export const chatsFolder = (around: Surroundings): string => join(around.home, ".cursor", "chats");
export const transcriptsFolder = (around: Surroundings): string => join(around.home, ".cursor", "projects");

export const cursorPlaces: SourcePlaces = {
  agent: "cursor",
  label: "Cursor",
  roots: (around) => [transcriptsFolder(around), chatsFolder(around), editorFolder(around)],
};
