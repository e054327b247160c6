/** The values of the composer: all of it is data, replaced and never changed. */

/** A text and a place in it, always a border between two atoms. */
export interface Draft {
  readonly text: string;
  readonly cursor: number;
}

/** What the last event did: equal acts in a row are one step of undo, or one killed text. */
export type Act = "none" | "typing" | "deleting" | "killing" | "yanking" | "moving";

export interface Editor extends Draft {
  /** The column that moves between rows aim at; absent where the cursor's own counts. */
  readonly aim?: number;
  readonly act: Act;
  /** What chips in the text, in undo, in the kill ring and in the history stand for. */
  readonly chips: ReadonlyMap<number, string>;
  readonly past: readonly Draft[];
  readonly future: readonly Draft[];
  /** The newest last. */
  readonly kills: readonly string[];
  /** The text yanked last: where it stands, and which one it is. */
  readonly yanked?: { readonly start: number; readonly kill: number };
  /** Prompts sent before, the newest last. */
  readonly history: readonly string[];
  /** Which of them is shown; the length of the history for the person's own draft. */
  readonly shown: number;
  /** Prompts of the history as the person has changed them, and the draft, while another is shown. */
  readonly kept: ReadonlyMap<number, Draft>;
  /** Why the last event could not be taken whole; absent where it could. */
  readonly refused?: string;
}

export type EditorEvent =
  | { readonly type: "typed"; readonly text: string }
  /** A text that is to stand as it is, as a chip where it is large. */
  | { readonly type: "pasted"; readonly text: string }
  | { readonly type: "moved"; readonly to: "left" | "right" | "wordLeft" | "wordRight" }
  | { readonly type: "moved"; readonly to: "lineStart" | "lineEnd" | "start" | "end" }
  /** To the row above or below in a layout of `width` cells; at the edge to the prompt before or after. */
  | { readonly type: "moved"; readonly to: "up" | "down"; readonly width: number }
  | { readonly type: "recalled"; readonly way: "older" | "newer" }
  | { readonly type: "deleted"; readonly way: "back" | "forward" }
  | {
      readonly type: "killed";
      readonly reach: "wordBack" | "blankBack" | "wordForward" | "lineStart" | "lineEnd";
    }
  | { readonly type: "yanked" }
  /** Directly after a yank: the killed text before it instead. */
  | { readonly type: "yankedOlder" }
  | { readonly type: "undone" }
  | { readonly type: "redone" }
  /** `text` takes the place of units `[start, end)`; the cursor stands behind it. */
  | { readonly type: "replaced"; readonly start: number; readonly end: number; readonly text: string }
  /** The prompt was sent, or given up: it goes to the history, and the text is empty. */
  | { readonly type: "put away" };

/** A command that the agent offers. */
export interface CommandOffer {
  readonly name: string;
  readonly description: string;
}
