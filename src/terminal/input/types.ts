/** What arrives from a terminal: keys, pasted text, and reports that answer queries. */

/**
 * One key press. `name` is the character in lower case, or one of: `enter`, `tab`, `escape`, `backspace`, `delete`, `insert`, `home`,
 * `end`, `pageup`, `pagedown`, `up`, `down`, `left`, `right`, `f1` … `f12`, `space`, `wheelup`, `wheeldown`, `paste`, `focus`, `blur`.
 */
export interface Key {
  readonly name: string;
  readonly ctrl?: true;
  readonly alt?: true;
  readonly shift?: true;
  /** What was typed, where the key is a character; what was pasted, for `paste`. */
  readonly text?: string;
  /** Units that a paste was longer than what is taken of one; absent where it is whole. */
  readonly leftOut?: number;
}

/** An answer of the terminal. Never a key, whatever it looks like. */
export type Report =
  | { readonly type: "cursor"; readonly row: number; readonly column: number }
  /** Any other answer: its bytes without the introducer, cut to a limit. */
  | { readonly type: "other"; readonly text: string };

/** `ctrl+o`, `alt+up`, `shift+tab`, `q`, `G`. */
export function keyName(key: Key): string {
  const base =
    key.text !== undefined && key.name.length === 1 && key.ctrl === undefined ? key.text : key.name;
  const isShiftSaid = key.shift === true && base.length > 1;
  return `${key.ctrl === true ? "ctrl+" : ""}${key.alt === true ? "alt+" : ""}${isShiftSaid ? "shift+" : ""}${base}`;
}
