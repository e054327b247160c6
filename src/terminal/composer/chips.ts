/** Pasted texts that are shown as chips: kept once, let go when nothing can bring them back. */
import { chipCharacter, chipsIn } from "./atoms.ts";
import { chipsMax, chipUnitsMax, pasteShownLinesMax, pasteShownUnitsMax } from "./limits.ts";
import type { Editor } from "./types.ts";

export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** Whether a paste is large enough to be shown as a chip. */
export function isLarge(text: string): boolean {
  return text.length > pasteShownUnitsMax || countLines(text) > pasteShownLinesMax;
}

function unitsOf(chips: ReadonlyMap<number, string>): number {
  let units = 0;
  for (const text of chips.values()) units += text.length;
  return units;
}

/** The chips that the text, undo, the kill ring or the history can still show. */
function reachable(editor: Editor): ReadonlyMap<number, string> {
  const used = new Set<number>();
  const look = (text: string): void => {
    for (const index of chipsIn(text)) used.add(index);
  };
  look(editor.text);
  for (const { text } of [...editor.past, ...editor.future, ...editor.kept.values()]) look(text);
  for (const text of [...editor.kills, ...editor.history]) look(text);
  return new Map([...editor.chips].filter(([index]) => used.has(index)));
}

function hasRoom(chips: ReadonlyMap<number, string>, units: number): boolean {
  return chips.size < chipsMax && unitsOf(chips) + units <= chipUnitsMax;
}

/** The editor with one chip more, and the character for it; undefined where there is no room for it. */
export function addChip(
  editor: Editor,
  text: string,
): { readonly editor: Editor; readonly character: string } | undefined {
  let { chips } = editor;
  if (!hasRoom(chips, text.length)) chips = reachable(editor);
  if (!hasRoom(chips, text.length)) return undefined;
  let index = 0;
  while (chips.has(index)) index += 1;
  return {
    editor: { ...editor, chips: new Map(chips).set(index, text) },
    character: chipCharacter(index),
  };
}
