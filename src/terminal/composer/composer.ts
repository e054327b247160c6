/** The composer: what each key does to the prompt, and what it asks of the shell. Pure. */
import { type Key, keyName } from "../input/index.ts";
import { type Completion, completionAt } from "./completion.ts";
import { createEditor, edit, promptOf } from "./editor.ts";
import type { CommandOffer, Editor, EditorEvent } from "./types.ts";

export interface Composer {
  readonly editor: Editor;
  /** Which offer of the menu is chosen; absent: none yet. */
  readonly chosen?: number;
  /** The menu was closed for this text. */
  readonly closedFor?: string;
  /** A first key of two was pressed. */
  readonly prefix?: "ctrl+x";
}

/** What a key asks of the shell. */
export type ComposerAct =
  /** The prompt is whole; it is in the history already. */
  | { readonly type: "send"; readonly text: string }
  /** Esc, where nothing of the composer's own was to be closed. */
  | { readonly type: "cancel" }
  /** Ctrl+C on an empty prompt. */
  | { readonly type: "interrupt" }
  /** Ctrl+D on an empty prompt. */
  | { readonly type: "leave" }
  | { readonly type: "openEditor" }
  | { readonly type: "nextMode" }
  /** Not the composer's key. */
  | { readonly type: "pass" };

export interface Pressed {
  readonly composer: Composer;
  readonly act?: ComposerAct;
}

export interface ComposerSurroundings {
  /** Cells that a row of the prompt has. */
  readonly width: number;
  readonly commands: readonly CommandOffer[];
}

const editorKeys: Readonly<Record<string, EditorEvent>> = {
  left: { type: "moved", to: "left" },
  right: { type: "moved", to: "right" },
  "ctrl+b": { type: "moved", to: "left" },
  "ctrl+f": { type: "moved", to: "right" },
  "alt+left": { type: "moved", to: "wordLeft" },
  "alt+right": { type: "moved", to: "wordRight" },
  "ctrl+left": { type: "moved", to: "wordLeft" },
  "ctrl+right": { type: "moved", to: "wordRight" },
  "alt+b": { type: "moved", to: "wordLeft" },
  "alt+f": { type: "moved", to: "wordRight" },
  home: { type: "moved", to: "lineStart" },
  end: { type: "moved", to: "lineEnd" },
  "ctrl+a": { type: "moved", to: "lineStart" },
  "ctrl+e": { type: "moved", to: "lineEnd" },
  "ctrl+home": { type: "moved", to: "start" },
  "ctrl+end": { type: "moved", to: "end" },
  "alt+<": { type: "moved", to: "start" },
  "alt+>": { type: "moved", to: "end" },
  "alt+up": { type: "recalled", way: "older" },
  "alt+down": { type: "recalled", way: "newer" },
  backspace: { type: "deleted", way: "back" },
  "shift+backspace": { type: "deleted", way: "back" },
  delete: { type: "deleted", way: "forward" },
  "alt+backspace": { type: "killed", reach: "wordBack" },
  "ctrl+backspace": { type: "killed", reach: "wordBack" },
  "ctrl+w": { type: "killed", reach: "blankBack" },
  "alt+d": { type: "killed", reach: "wordForward" },
  "alt+delete": { type: "killed", reach: "wordForward" },
  "ctrl+delete": { type: "killed", reach: "wordForward" },
  "ctrl+u": { type: "killed", reach: "lineStart" },
  "ctrl+k": { type: "killed", reach: "lineEnd" },
  "ctrl+y": { type: "yanked" },
  "alt+y": { type: "yankedOlder" },
  "ctrl+_": { type: "undone" },
  "ctrl+/": { type: "undone" },
  "ctrl+-": { type: "undone" },
  "alt+_": { type: "redone" },
  "alt+/": { type: "redone" },
  "alt+enter": { type: "typed", text: "\n" },
  "shift+enter": { type: "typed", text: "\n" },
  "ctrl+enter": { type: "typed", text: "\n" },
  "ctrl+j": { type: "typed", text: "\n" },
};

const rowKeys: Readonly<Record<string, "up" | "down">> = {
  up: "up",
  down: "down",
  "ctrl+p": "up",
  "ctrl+n": "down",
};

/** An empty composer. `history`: prompts sent before, the oldest first. */
export function createComposer(history: readonly string[] = []): Composer {
  return { editor: createEditor(history) };
}

/** The composer with prompts of before to bring back; the draft stays. Only where it has none yet. */
export function seedHistory(composer: Composer, history: readonly string[]): Composer {
  const { editor } = composer;
  if (editor.history.length > 0) return composer;
  const { history: kept, shown } = createEditor(history);
  return { ...composer, editor: { ...editor, history: kept, shown } };
}

/** The menu as it is open now: undefined where it is not. */
export function menuOf(composer: Composer, commands: readonly CommandOffer[]): Completion | undefined {
  return composer.closedFor === composer.editor.text ? undefined : completionAt(composer.editor, commands);
}

export function isEmpty({ editor }: Composer): boolean {
  return editor.text === "";
}

/** The composer after a key, and what the key asks of the shell. */
export function pressKey(composer: Composer, key: Key, around: ComposerSurroundings): Pressed {
  const name = keyName(key);
  if (composer.prefix === "ctrl+x") {
    const { prefix: _, ...rest } = composer;
    if (name === "ctrl+e") return { composer: rest, act: { type: "openEditor" } };
    return pressKey(rest, key, around);
  }
  if (key.name === "paste") return edited(composer, { type: "pasted", text: key.text ?? "" });
  const inMenu = pressInMenu(composer, name, around);
  if (inMenu !== undefined) return inMenu;
  if (key.text !== undefined && key.ctrl === undefined && key.alt === undefined)
    return edited(composer, { type: "typed", text: key.text });
  const to = rowKeys[name];
  if (to !== undefined) return edited(composer, { type: "moved", to, width: around.width });
  const event = editorKeys[name];
  if (event !== undefined) return edited(composer, event);
  return pressCommand(composer, name);
}

/** The composer with `text` in place of the prompt, as it came back from an editor. */
export function replacePrompt(composer: Composer, text: string): Composer {
  const { editor } = composer;
  return edited(composer, { type: "replaced", start: 0, end: editor.text.length, text }).composer;
}

function edited(composer: Composer, event: EditorEvent): Pressed {
  const { chosen: _, ...rest } = composer;
  return { composer: { ...rest, editor: edit(composer.editor, event) } };
}

function pressInMenu(composer: Composer, name: string, around: ComposerSurroundings): Pressed | undefined {
  const menu = menuOf(composer, around.commands);
  if (menu === undefined) return undefined;
  const count = menu.offers.length;
  const { chosen } = composer;
  switch (name) {
    case "up":
    case "ctrl+p":
      return { composer: { ...composer, chosen: ((chosen ?? 0) + count - 1) % count } };
    case "down":
    case "ctrl+n":
      return { composer: { ...composer, chosen: chosen === undefined ? 0 : (chosen + 1) % count } };
    case "tab":
      return complete(composer, menu, chosen ?? 0);
    case "enter":
      return chosen === undefined ? undefined : complete(composer, menu, chosen);
    case "escape": {
      const { chosen: _, ...rest } = composer;
      return { composer: { ...rest, closedFor: composer.editor.text } };
    }
  }
  return undefined;
}

function complete(composer: Composer, { start, end, offers }: Completion, index: number): Pressed {
  const name = offers[index]?.name;
  if (name === undefined) return { composer };
  const rest = composer.editor.text.slice(end);
  return edited(composer, { type: "replaced", start, end, text: `/${name}${/^\s/.test(rest) ? "" : " "}` });
}

function pressCommand(composer: Composer, name: string): Pressed {
  switch (name) {
    case "enter":
      return pressEnter(composer);
    case "escape":
      return { composer, act: { type: "cancel" } };
    case "ctrl+c":
      return isEmpty(composer)
        ? { composer, act: { type: "interrupt" } }
        : edited(composer, { type: "put away" });
    case "ctrl+d":
      return isEmpty(composer)
        ? { composer, act: { type: "leave" } }
        : edited(composer, { type: "deleted", way: "forward" });
    case "ctrl+g":
      return { composer, act: { type: "openEditor" } };
    case "ctrl+x":
      return { composer: { ...composer, prefix: "ctrl+x" } };
    case "shift+tab":
      return { composer, act: { type: "nextMode" } };
    case "tab":
      return { composer };
  }
  return { composer, act: { type: "pass" } };
}

/** A backslash before the cursor makes it a new line; a prompt of blanks alone is not sent. */
function pressEnter(composer: Composer): Pressed {
  const { editor } = composer;
  const { text, cursor } = editor;
  if (text[cursor - 1] === "\\")
    return edited(composer, { type: "replaced", start: cursor - 1, end: cursor, text: "\n" });
  const prompt = promptOf(editor);
  if (prompt.trim() === "") return { composer };
  return { ...edited(composer, { type: "put away" }), act: { type: "send", text: prompt } };
}
