/** Prompts sent before: each can be brought back and changed; the draft waits meanwhile. */
import { historyPromptsMax } from "./limits.ts";
import type { Draft, Editor } from "./types.ts";

/** The prompt before or after the one that is shown; nothing at the ends. What was changed in the shown one is kept until one is sent. */
export function recall(editor: Editor, way: "older" | "newer"): Editor {
  const next = editor.shown + (way === "older" ? -1 : 1);
  if (next < 0 || next > editor.history.length) return editor;
  const kept = new Map(editor.kept);
  const { text, cursor, shown } = editor;
  if (shown === editor.history.length || text !== editor.history[shown]) kept.set(shown, { text, cursor });
  const stored = editor.history[next] ?? "";
  const draft: Draft = kept.get(next) ?? { text: stored, cursor: stored.length };
  const { aim: _, yanked: _yanked, ...rest } = editor;
  return { ...rest, ...draft, act: "moving", shown: next, kept, past: [], future: [] };
}

/** The text goes to the history, once where it is there already as the newest; the editor is empty. */
export function putAway(editor: Editor): Editor {
  const { text, history } = editor;
  const isNew = text.trim() !== "" && history.at(-1) !== text;
  const longer = isNew ? [...history, text].slice(-historyPromptsMax) : history;
  const { aim: _, yanked: _yanked, ...rest } = editor;
  return {
    ...rest,
    text: "",
    cursor: 0,
    act: "none",
    past: [],
    future: [],
    history: longer,
    shown: longer.length,
    kept: new Map(),
  };
}
