/** Colours found in tool output, told again in our own tones. */
import type { Span, Tone } from "./types.ts";

/** The style that SGR sequences of a text have built up; an empty object is the default. */
export type TextStyle = Omit<Span, "text">;

/** Tones of the eight colours: black, red, green, yellow, blue, magenta, cyan, white. */
const colorTones: readonly (Tone | undefined)[] = [
  "dim",
  "bad",
  "good",
  "warn",
  "link",
  "keyword",
  "type",
  undefined,
];

function toneOfRgb(red: number, green: number, blue: number): Tone | undefined {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 40) return most < 160 ? "dim" : undefined;
  const isOn = (value: number): number => (value - least > (most - least) / 2 ? 1 : 0);
  return colorTones[isOn(red) + 2 * isOn(green) + 4 * isOn(blue)];
}

function toneOf256(index: number): Tone | undefined {
  if (index < 8) return colorTones[index];
  if (index === 8) return "dim";
  if (index < 16) return colorTones[index - 8];
  if (index >= 232) return index < 248 ? "dim" : undefined;
  const cube = index - 16;
  const level = (value: number): number => (value === 0 ? 0 : 55 + value * 40);
  return toneOfRgb(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function without(style: TextStyle, ...keys: readonly (keyof TextStyle)[]): TextStyle {
  return Object.fromEntries(
    Object.entries(style).filter(([key]) => !keys.includes(key as keyof TextStyle)),
  ) as TextStyle;
}

function withTone(style: TextStyle, tone: Tone | undefined): TextStyle {
  return tone === undefined ? without(style, "tone") : { ...style, tone };
}

/** Reads `38;5;n` and `38;2;r;g;b` (and 48): the tone, and how many further parameters belong to it. */
function extendedColor(codes: readonly number[], at: number): { tone: Tone | undefined; used: number } {
  const mode = codes[at + 1];
  if (mode === 5) return { tone: toneOf256(Math.min(255, codes[at + 2] ?? 0)), used: 2 };
  if (mode !== 2) return { tone: undefined, used: 1 };
  return { tone: toneOfRgb(codes[at + 2] ?? 0, codes[at + 3] ?? 0, codes[at + 4] ?? 0), used: 4 };
}

/** `style` after the SGR sequence with these parameters. Backgrounds, blinking and concealment are ignored: text stays readable. */
export function applySgr(style: TextStyle, parameters: string): TextStyle {
  const codes = parameters.split(/[;:]/, 32).map((part) => (part === "" ? 0 : Number(part)));
  let next = style;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!;
    if (code === 0) next = {};
    else if (code === 1) next = { ...next, bold: true };
    else if (code === 2) next = { ...next, tone: "dim" };
    else if (code === 3) next = { ...next, italic: true };
    else if (code === 4) next = { ...next, underline: true };
    else if (code === 7) next = { ...next, inverse: true };
    else if (code === 9) next = { ...next, strike: true };
    else if (code === 22) next = next.tone === "dim" ? without(next, "bold", "tone") : without(next, "bold");
    else if (code === 23) next = without(next, "italic");
    else if (code === 24) next = without(next, "underline");
    else if (code === 27) next = without(next, "inverse");
    else if (code === 29) next = without(next, "strike");
    else if (code >= 30 && code <= 37) next = withTone(next, colorTones[code - 30]);
    else if (code >= 90 && code <= 97) next = withTone(next, code === 90 ? "dim" : colorTones[code - 90]);
    else if (code === 39) next = without(next, "tone");
    else if (code === 38 || code === 48) {
      const color = extendedColor(codes, at);
      if (code === 38) next = withTone(next, color.tone);
      at += color.used;
    }
  }
  return next;
}
