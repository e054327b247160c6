/** Arriving text to keys: a state machine over single characters, so that chunk borders mean nothing. */
import type { Clock, Unsubscribe } from "../port.ts";
import { characterKey, controlKey, csiKey, mouseKey, ss3Key } from "./keys.ts";
import {
  brokenOffMs,
  escapeMs,
  pastePauseMs,
  pasteUnitsMax,
  sequenceUnitsMax,
  stringUnitsMax,
} from "./limits.ts";
import type { Key, Report } from "./types.ts";

export interface InputDecoder {
  /** Takes text in as it arrives; keys and reports are told at once, a lone Escape and what is broken off after a while. */
  push(text: string): void;
}

export interface InputDecoderOptions {
  readonly clock: Clock;
  readonly onKey: (key: Key) => void;
  readonly onReport: (report: Report) => void;
}

type State = "ground" | "escape" | "csi" | "linux" | "ss3" | "x10" | "string" | "stringEscape" | "paste";

const pasteEnd = "\x1b[201~";

export function createInputDecoder(options: InputDecoderOptions): InputDecoder {
  return new Decoder(options);
}

class Decoder implements InputDecoder {
  readonly #options: InputDecoderOptions;
  #state: State = "ground";
  #isAlt = false;
  #sequence = "";
  #paste: string[] = [];
  /** Units that have come of it, taken or not. */
  #pasteUnits = 0;
  #isPasteWhole = true;
  /** What of the paste's end mark has come. */
  #endMark = "";
  #skip = 0;
  #cancelAlarm: Unsubscribe | undefined;

  constructor(options: InputDecoderOptions) {
    this.#options = options;
  }

  push(text: string): void {
    this.#cancelAlarm?.();
    this.#cancelAlarm = undefined;
    for (const character of text) this.#take(character);
    if (this.#state === "ground") return;
    const delayMs =
      this.#state === "escape" ? escapeMs : this.#state === "paste" ? pastePauseMs : brokenOffMs;
    this.#cancelAlarm = this.#options.clock.after(delayMs, () => {
      this.#cancelAlarm = undefined;
      this.#breakOff();
    });
  }

  /** Nothing came for a while: what there is, is all. */
  #breakOff(): void {
    const state = this.#state;
    const isAlt = this.#isAlt;
    const sequence = this.#sequence;
    if (state === "paste") {
      this.#addPaste(this.#endMark);
      this.#endPaste();
      return;
    }
    this.#reset();
    if (state === "escape") this.#key({ name: "escape", ...(isAlt ? { alt: true as const } : {}) });
    // A key with Alt looks like the start of a sequence.
    else if (state === "csi" && sequence === "") this.#key(characterKey("[", { alt: true }));
    else if (state === "ss3" && sequence === "") this.#key(characterKey("O", { alt: true }));
    else if (state === "string" && sequence.length === 1) this.#key(characterKey(sequence, { alt: true }));
  }

  #reset(): void {
    this.#state = "ground";
    this.#isAlt = false;
    this.#sequence = "";
  }

  #key(key: Key | undefined): void {
    if (key !== undefined) this.#options.onKey(key);
  }

  #take(character: string): void {
    const code = character.codePointAt(0)!;
    switch (this.#state) {
      case "ground":
        this.#ground(character, code);
        return;
      case "escape":
        this.#escape(character, code);
        return;
      case "csi":
        this.#csi(character, code);
        return;
      case "linux":
        // The Linux console's F1 to F5: CSI [ A to E.
        this.#reset();
        if (code >= 65 && code <= 69) this.#key({ name: `f${code - 64}` });
        return;
      case "ss3":
        this.#ss3(character, code);
        return;
      case "x10":
        this.#skip -= 1;
        if (this.#skip === 0) this.#reset();
        return;
      case "string":
      case "stringEscape":
        this.#string(character, code);
        return;
      case "paste":
        this.#takePaste(character);
        return;
    }
  }

  #ground(character: string, code: number): void {
    if (code === 27) {
      this.#state = "escape";
      return;
    }
    if (code < 32 || code === 127) this.#key(controlKey(code));
    // C1 controls are no keys in UTF-8.
    else if (code < 0x80 || code > 0x9f) this.#key(characterKey(character));
  }

  #escape(character: string, code: number): void {
    const modifiers = { alt: true as const };
    switch (character) {
      case "\x1b":
        // Escape and then a sequence: the sequence's key with Alt. Two Escapes are one with Alt, told when nothing follows.
        if (this.#isAlt) {
          this.#key({ name: "escape", alt: true });
          this.#isAlt = false;
          return;
        }
        this.#isAlt = true;
        return;
      case "[":
        this.#state = "csi";
        return;
      case "O":
        this.#state = "ss3";
        return;
      case "]":
      case "P":
      case "_":
      case "^":
      case "X":
        this.#state = "string";
        this.#sequence = character;
        return;
    }
    this.#reset();
    this.#key(code < 32 || code === 127 ? controlKey(code, modifiers) : characterKey(character, modifiers));
  }

  #alt(key: Key | undefined): Key | undefined {
    return key !== undefined && this.#isAlt ? { ...key, alt: true } : key;
  }

  #csi(character: string, code: number): void {
    if (this.#sequence === "" && character === "[") {
      this.#state = "linux";
      return;
    }
    // A control inside breaks the sequence off; what comes is taken anew.
    if (code < 32) {
      this.#reset();
      this.#take(character);
      return;
    }
    // `$` ends rxvt's shifted keys, and stands before the final of mode reports.
    const isFinal = code >= 64 && code <= 126;
    if (!isFinal && !(character === "$" && /^\d+$/.test(this.#sequence))) {
      if (this.#sequence.length < sequenceUnitsMax) this.#sequence += character;
      return;
    }
    const parameters = this.#sequence;
    if (parameters === "" && character === "M") {
      // The old mouse form: three bytes follow.
      this.#state = "x10";
      this.#skip = 3;
      return;
    }
    const isTooLong = parameters.length >= sequenceUnitsMax;
    const key = isTooLong ? undefined : this.#sequenceKey(parameters, character);
    const told = this.#alt(key);
    if (this.#state === "csi") this.#reset();
    this.#key(told);
  }

  /** The key of a whole control sequence; reports and the start of a paste are dealt with here. */
  #sequenceKey(parameters: string, final: string): Key | undefined {
    if (final === "~" && parameters === "200") {
      this.#reset();
      this.#state = "paste";
      this.#paste = [];
      this.#pasteUnits = 0;
      this.#isPasteWhole = true;
      this.#endMark = "";
      return undefined;
    }
    const place = final === "R" ? /^(\d{1,6});(\d{1,6})$/.exec(parameters) : null;
    // F3 with modifiers looks like a cursor in row 1; terminals that say so send it only with modifiers above 1.
    if (place !== null) {
      this.#options.onReport({ type: "cursor", row: Number(place[1]), column: Number(place[2]) });
      return undefined;
    }
    if (/^[?>=]/.test(parameters) || final === "c" || final === "y" || final === "n" || final === "t") {
      this.#options.onReport({ type: "other", text: `${parameters}${final}` });
      return undefined;
    }
    if (parameters.startsWith("<")) return final === "M" ? mouseKey(parameters.slice(1)) : undefined;
    return csiKey(parameters, final);
  }

  #ss3(character: string, code: number): void {
    // Some terminals put modifiers between: ESC O 5 A.
    if (code >= 48 && code <= 57 && this.#sequence.length < sequenceUnitsMax) {
      this.#sequence += character;
      return;
    }
    const parameters = this.#sequence;
    const key = parameters === "" ? ss3Key(character) : csiKey(`1;${parameters}`, character);
    const isNothing = key === undefined && parameters === "";
    const told = this.#alt(key);
    this.#reset();
    if (told !== undefined) this.#key(told);
    else if (isNothing && code >= 32) {
      // Alt+O and then another key.
      this.#key({ name: "o", alt: true, text: "O" });
      this.#take(character);
    }
  }

  #string(character: string, code: number): void {
    if (this.#state === "stringEscape") {
      if (character === "\\") {
        this.#endString();
        return;
      }
      // The string was broken off; a new sequence begins.
      this.#reset();
      this.#state = "escape";
      this.#escape(character, code);
      return;
    }
    if (code === 27) this.#state = "stringEscape";
    else if (code === 7 && this.#sequence.startsWith("]")) this.#endString();
    // No answer holds other controls: the string was never ended, and this is a key.
    else if (code < 32 && code !== 7) {
      this.#reset();
      this.#take(character);
    } else if (this.#sequence.length < stringUnitsMax) this.#sequence += character;
  }

  #endString(): void {
    const text = this.#sequence;
    this.#reset();
    this.#options.onReport({ type: "other", text });
  }

  #takePaste(character: string): void {
    const mark = this.#endMark + character;
    if (pasteEnd.startsWith(mark)) {
      this.#endMark = mark;
      if (mark !== pasteEnd) return;
      this.#endPaste();
      return;
    }
    // Not the end mark after all: what looked like its start is text, and this character may start it again.
    const held = this.#endMark;
    this.#endMark = "";
    this.#addPaste(held);
    if (pasteEnd.startsWith(character)) this.#endMark = character;
    else this.#addPaste(character);
  }

  #endPaste(): void {
    const text = this.#paste.join("");
    const leftOut = this.#pasteUnits - text.length;
    this.#reset();
    this.#paste = [];
    this.#endMark = "";
    this.#key({ name: "paste", text, ...(leftOut === 0 ? {} : { leftOut }) });
  }

  #addPaste(text: string): void {
    if (text === "") return;
    // Once something was left out all behind it is: what is taken is the start, with no gap in it.
    const isWhole = this.#isPasteWhole && this.#pasteUnits + text.length <= pasteUnitsMax;
    this.#pasteUnits += text.length;
    if (isWhole) this.#paste.push(text);
    else this.#isPasteWhole = false;
  }
}
