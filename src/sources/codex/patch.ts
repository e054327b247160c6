/** The file changes of an `apply_patch` text. */
import type { FileChange } from "../../transcript/index.ts";

/** Most files of one patch that are told apart. */
export const PATCH_FILES_MAX = 200;

const FILE_LINE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;

/**
 * The changes a patch text asks for, one per file: a new file's text, or the hunks of an update. A text that is no patch, or is cut
 * before its first file, gives none. Linear in the text.
 */
export function patchChanges(text: string): readonly FileChange[] {
  const begin = text.indexOf("*** Begin Patch");
  if (begin === -1) return [];
  const changes: FileChange[] = [];
  let path: string | undefined;
  let verb = "";
  let lines: string[] = [];
  const close = (): void => {
    if (path === undefined || changes.length >= PATCH_FILES_MAX) return;
    if (verb === "Add") {
      changes.push({ path, newText: lines.map((l) => `${l.startsWith("+") ? l.slice(1) : l}\n`).join("") });
    } else if (verb === "Delete") changes.push({ path, newText: "" });
    else changes.push({ path, patch: lines.map((l) => `${l}\n`).join("") });
  };
  for (const raw of text.slice(begin).split("\n")) {
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    const file = FILE_LINE.exec(line);
    if (file) {
      close();
      verb = file[1] ?? "";
      path = (file[2] ?? "").trim();
      lines = [];
    } else if (line.startsWith("*** Move to: ") && path !== undefined)
      path = `${path} → ${line.slice(13).trim()}`;
    else if (line.startsWith("*** End Patch")) break;
    else if (path !== undefined && !line.startsWith("*** ")) lines.push(line);
  }
  close();
  return changes;
}
