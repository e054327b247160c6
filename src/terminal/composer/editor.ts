/** The editing of a prompt: a pure function from a state and an event to the next state. Each event costs the text at most. */
import {
  borderAfter,
  borderBefore,
  borderFrom,
  cleanText,
  expandChips,
  lineEnd,
  lineStart,
  wordEnd,
  wordStart,
} from "./atoms.ts";
import { addChip, isLarge } from "./chips.ts";
import { putAway, recall } from "./history.ts";
import { layOut, offsetAt, placeOf } from "./layout.ts";
import { historyPromptsMax, killsMax, textUnitsMax, undoStepsMax } from "./limits.ts";
import type { Act, Draft, Editor, EditorEvent } from "./types.ts";

/** An empty editor. `history`: prompts sent before, the oldest first; only the newest are kept. */
export function createEditor(history: readonly string[] = []): Editor {
  const kept = history
    .map((text) => cleanText(text).slice(0, textUnitsMax))
    .filter((text) => text.trim() !== "")
    .slice(-historyPromptsMax);
  return {
    text: "",
    cursor: 0,
    act: "none",
    chips: new Map(),
    past: [],
    future: [],
    kills: [],
    history: kept,
    shown: kept.length,
    kept: new Map(),
  };
}

/** The prompt as it is sent: chips are what they stand for. */
export function promptOf(editor: Editor): string {
  return expandChips(editor.text, editor.chips);
}

/** The editor after `event`. What cannot be done changes nothing; what was cut or refused is said in `refused`. */
export function edit(before: Editor, event: EditorEvent): Editor {
  const { refused: _, ...editor } = before;
  switch (event.type) {
    case "typed":
      return insert(editor, cleanText(event.text), "typing");
    case "pasted":
      return paste(editor, cleanText(event.text));
    case "moved":
      return event.to === "up" || event.to === "down"
        ? moveRow(editor, event.to, event.width)
        : moveTo(editor, targetOf(editor, event.to));
    case "recalled":
      return recall(editor, event.way);
    case "deleted":
      return event.way === "back"
        ? remove(editor, borderBefore(editor.text, editor.cursor), editor.cursor, "deleting")
        : remove(editor, editor.cursor, borderAfter(editor.text, editor.cursor), "deleting");
    case "killed":
      return kill(editor, event.reach);
    case "yanked":
      return yank(editor, editor.kills.length - 1);
    case "yankedOlder":
      return yankOlder(editor);
    case "undone":
      return goBack(editor);
    case "redone":
      return goForth(editor);
    case "replaced":
      return replace(editor, event.start, event.end, event.text);
    case "put away":
      return putAway(editor);
  }
}

/** `editor` with another text: a step of undo, unless it goes on with what the last event did. */
function change(editor: Editor, next: Draft, act: Act): Editor {
  const { aim: _aim, yanked: _yanked, ...rest } = editor;
  const { text, cursor } = editor;
  const isSameStep = act === editor.act && (act === "typing" || act === "deleting");
  const past = isSameStep ? editor.past : [...editor.past, { text, cursor }].slice(-undoStepsMax);
  return {
    ...rest,
    text: next.text,
    cursor: borderFrom(next.text, next.cursor),
    act,
    past,
    future: [],
  };
}

function insert(editor: Editor, text: string, act: Act): Editor {
  const room = textUnitsMax - editor.text.length;
  const fits = text.length <= room ? text : text.slice(0, borderBefore(text, Math.max(0, room) + 1));
  if (text === "" || fits === "") return text === "" ? editor : refuse(editor);
  const { cursor } = editor;
  const whole = editor.text.slice(0, cursor) + fits + editor.text.slice(cursor);
  // A new word is a new step of undo.
  const isNewStep = act === "typing" && /^\s/.test(fits) && !/\s$/.test(editor.text.slice(0, cursor));
  const changed = change(
    isNewStep ? { ...editor, act: "none" } : editor,
    { text: whole, cursor: cursor + fits.length },
    act,
  );
  return fits === text ? changed : refuse(changed);
}

function refuse(editor: Editor): Editor {
  return { ...editor, refused: `a prompt holds ${textUnitsMax} characters at most; the rest was left out` };
}

function paste(editor: Editor, text: string): Editor {
  if (!isLarge(text)) return insert(editor, text, "none");
  const added = addChip(editor, text);
  if (added === undefined)
    return { ...editor, refused: "no further large pastes can be kept; send or clear this prompt first" };
  return insert(added.editor, added.character, "none");
}

function remove(editor: Editor, start: number, end: number, act: Act): Editor {
  if (start >= end) return editor;
  return change(editor, { text: editor.text.slice(0, start) + editor.text.slice(end), cursor: start }, act);
}

type Target = "left" | "right" | "wordLeft" | "wordRight" | "lineStart" | "lineEnd" | "start" | "end";

function targetOf({ text, cursor }: Editor, to: Target): number {
  switch (to) {
    case "left":
      return borderBefore(text, cursor);
    case "right":
      return borderAfter(text, cursor);
    case "wordLeft":
      return wordStart(text, cursor, "letters");
    case "wordRight":
      return wordEnd(text, cursor, "letters");
    case "lineStart":
      return lineStart(text, cursor);
    case "lineEnd":
      return lineEnd(text, cursor);
    case "start":
      return 0;
    case "end":
      return text.length;
  }
}

function moveTo(editor: Editor, cursor: number): Editor {
  const { aim: _, yanked: _yanked, ...rest } = editor;
  return { ...rest, cursor, act: "moving" };
}

function moveRow(editor: Editor, to: "up" | "down", width: number): Editor {
  const rows = layOut(editor, width);
  const place = placeOf(rows, editor.cursor);
  const row = place.row + (to === "up" ? -1 : 1);
  if (row < 0) return recall(editor, "older");
  if (row >= rows.length) return recall(editor, "newer");
  const aim = editor.aim ?? place.column;
  return { ...moveTo(editor, offsetAt(rows, row, aim)), aim };
}

type Reach = (EditorEvent & { readonly type: "killed" })["reach"];

function reachOf({ text, cursor }: Editor, reach: Reach): readonly [start: number, end: number] {
  switch (reach) {
    case "wordBack":
      return [wordStart(text, cursor, "letters"), cursor];
    case "blankBack":
      return [wordStart(text, cursor, "blanks"), cursor];
    case "wordForward":
      return [cursor, wordEnd(text, cursor, "letters")];
    case "lineStart": {
      const start = lineStart(text, cursor);
      return [start === cursor ? borderBefore(text, cursor) : start, cursor];
    }
    case "lineEnd": {
      const end = lineEnd(text, cursor);
      return [cursor, end === cursor ? borderAfter(text, cursor) : end];
    }
  }
}

/** What is killed in a row is one text, in the order in which it stood. */
function kill(editor: Editor, reach: Reach): Editor {
  const [start, end] = reachOf(editor, reach);
  if (start >= end) return editor;
  const killed = editor.text.slice(start, end);
  const isForward = end > editor.cursor;
  const last = editor.act === "killing" ? editor.kills.at(-1) : undefined;
  const joined = last === undefined ? killed : isForward ? last + killed : killed + last;
  const older = last === undefined ? editor.kills : editor.kills.slice(0, -1);
  return {
    ...remove(editor, start, end, "killing"),
    kills: [...older, joined.slice(0, textUnitsMax)].slice(-killsMax),
  };
}

function yank(editor: Editor, index: number): Editor {
  const text = editor.kills[index];
  if (text === undefined) return editor;
  const start = editor.cursor;
  return { ...insert(editor, text, "yanking"), yanked: { start, kill: index } };
}

function yankOlder(editor: Editor): Editor {
  const { yanked } = editor;
  if (yanked === undefined || editor.kills.length < 2) return editor;
  const kill = (yanked.kill + editor.kills.length - 1) % editor.kills.length;
  return yank(remove(editor, yanked.start, editor.cursor, "yanking"), kill);
}

function goBack(editor: Editor): Editor {
  const draft = editor.past.at(-1);
  if (draft === undefined) return editor;
  const { text, cursor } = editor;
  return {
    ...moveTo(editor, draft.cursor),
    text: draft.text,
    act: "none",
    past: editor.past.slice(0, -1),
    future: [...editor.future, { text, cursor }],
  };
}

function goForth(editor: Editor): Editor {
  const draft = editor.future.at(-1);
  if (draft === undefined) return editor;
  const { text, cursor } = editor;
  return {
    ...moveTo(editor, draft.cursor),
    text: draft.text,
    act: "none",
    past: [...editor.past, { text, cursor }],
    future: editor.future.slice(0, -1),
  };
}

function replace(editor: Editor, start: number, end: number, text: string): Editor {
  const from = borderFrom(editor.text, start);
  const to = Math.max(from, borderFrom(editor.text, end));
  const rest = editor.text.slice(0, from) + editor.text.slice(to);
  const cut = { ...editor, text: rest, cursor: borderFrom(rest, from), act: "none" } as const;
  const inserted =
    isLarge(text) && text.length > textUnitsMax - rest.length
      ? paste(cut, cleanText(text))
      : insert(cut, cleanText(text), "none");
  const { text: old, cursor } = editor;
  return { ...inserted, past: [...editor.past, { text: old, cursor }].slice(-undoStepsMax), future: [] };
}
