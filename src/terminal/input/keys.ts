/** The keys that control sequences stand for. */
import type { Key } from "./types.ts";

const byLetter: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  E: "clear",
  F: "end",
  H: "home",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
};

/** Lower-case finals of rxvt, with the modifier they stand for. */
const rxvtLetters: Readonly<Record<string, string>> = { a: "up", b: "down", c: "right", d: "left" };

const byNumber: Readonly<Record<number, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};

const byCode: Readonly<Record<number, string>> = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  32: "space",
  127: "backspace",
  57417: "left",
  57418: "right",
  57419: "up",
  57420: "down",
  57421: "pageup",
  57422: "pagedown",
  57423: "home",
  57424: "end",
  57425: "insert",
  57426: "delete",
  57414: "enter",
};

type Modifiers = Pick<Key, "ctrl" | "alt" | "shift">;

/** Modifiers of the parameter that xterm adds: 1 and a bit for each. */
function modifiersOf(parameter: number | undefined): Modifiers {
  const bits = parameter === undefined || parameter < 1 ? 0 : parameter - 1;
  return {
    ...((bits & 1) !== 0 ? { shift: true as const } : {}),
    ...((bits & 2) !== 0 || (bits & 8) !== 0 ? { alt: true as const } : {}),
    ...((bits & 4) !== 0 ? { ctrl: true as const } : {}),
  };
}

/** The key of a character, as typed with `modifiers`. */
export function characterKey(character: string, modifiers: Modifiers = {}): Key {
  if (character === " ") return { name: "space", ...modifiers, text: " " };
  return { name: character.toLowerCase(), ...modifiers, text: character };
}

/** The key of a C0 control or DEL; undefined for those that are no key. */
export function controlKey(code: number, modifiers: Modifiers = {}): Key | undefined {
  switch (code) {
    case 0:
      return { name: "space", ...modifiers, ctrl: true };
    case 8:
    case 127:
      return { name: "backspace", ...modifiers };
    case 9:
      return { name: "tab", ...modifiers };
    case 10:
      // Enter is a carriage return; a line feed is typed as Ctrl+J.
      return { name: "j", ...modifiers, ctrl: true };
    case 13:
      return { name: "enter", ...modifiers };
    case 27:
      return { name: "escape", ...modifiers };
  }
  if (code < 27) return { name: String.fromCharCode(96 + code), ...modifiers, ctrl: true };
  return code < 32
    ? { name: String.fromCharCode(64 + code).toLowerCase(), ...modifiers, ctrl: true }
    : undefined;
}

/** A key told by its code point and modifiers (kitty's CSI u, xterm's modifyOtherKeys). */
function codeKey(code: number, modifiers: Modifiers): Key | undefined {
  const name = byCode[code];
  if (name !== undefined)
    return name === "space" && modifiers.ctrl === undefined
      ? characterKey(" ", modifiers)
      : { name, ...modifiers };
  // The private-use codes are keys we do nothing with (modifiers alone, media keys).
  if (code < 32 || (code >= 57_344 && code <= 63_743) || code > 0x10ffff) return undefined;
  const character = String.fromCodePoint(code);
  if (modifiers.ctrl === true || modifiers.alt === true)
    return { name: character.toLowerCase(), ...modifiers };
  const typed = modifiers.shift === true ? character.toUpperCase() : character;
  return characterKey(typed, modifiers);
}

/** The key of `CSI parameters final`; undefined for one that is none. */
export function csiKey(parameters: string, final: string): Key | undefined {
  // Sub-parameters (kitty's alternate codes and event types) come after a colon.
  const fields = parameters.split(";").map((field) => field.split(":").map(Number));
  const first = fields[0]?.[0] ?? 0;
  const second = fields[1]?.[0];
  // Kitty tells releases with event type 3: only presses and repeats are keys.
  if (fields[1]?.[1] === 3) return undefined;
  const modifiers = modifiersOf(second);
  switch (final) {
    case "~":
      if (first === 27 && fields[2]?.[0] !== undefined) return codeKey(fields[2][0], modifiers);
      return byNumber[first] === undefined ? undefined : { name: byNumber[first], ...modifiers };
    case "$":
      return byNumber[first] === undefined ? undefined : { name: byNumber[first], shift: true };
    case "^":
      return byNumber[first] === undefined ? undefined : { name: byNumber[first], ctrl: true };
    case "u":
      return codeKey(first, modifiers);
    case "Z":
      return { name: "tab", shift: true };
    case "I":
      return { name: "focus" };
    case "O":
      return { name: "blur" };
  }
  if (rxvtLetters[final] !== undefined) return { name: rxvtLetters[final], shift: true };
  return byLetter[final] === undefined ? undefined : { name: byLetter[final], ...modifiers };
}

/** The key of `ESC O final` (application cursor keys, keypad). */
export function ss3Key(final: string): Key | undefined {
  if (final === "M") return { name: "enter" };
  if (rxvtLetters[final] !== undefined) return { name: rxvtLetters[final], ctrl: true };
  return byLetter[final] === undefined ? undefined : { name: byLetter[final] };
}

/** The key of an SGR mouse event (`CSI < button;column;row M`): only the wheel is one. */
export function mouseKey(parameters: string): Key | undefined {
  const button = Number(parameters.split(";")[0]);
  if ((button & 64) === 0) return undefined;
  return (button & 3) === 0 ? { name: "wheelup" } : (button & 3) === 1 ? { name: "wheeldown" } : undefined;
}
