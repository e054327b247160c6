/** Styled lines to bytes: the only place that writes escape sequences of colour, and only our own. */
import { isSafe, sanitize } from "./sanitize.ts";
import type { ColorDepth, Line, Span, Theme, Tone } from "./types.ts";

/** How a tone looks: SGR codes for 16 colours, a 256-colour index, an RGB triple, and attributes that hold at every depth. */
interface Look {
  readonly ansi?: string;
  readonly indexed?: number;
  readonly rgb?: readonly [number, number, number];
  readonly attributes?: string;
}

type Palette = Readonly<Record<Tone, Look>>;

const dark: Palette = {
  text: {},
  dim: { ansi: "90", indexed: 245, rgb: [138, 138, 138] },
  strong: { attributes: "1" },
  emphasis: { attributes: "3" },
  prompt: { ansi: "96", indexed: 117, rgb: [135, 206, 250], attributes: "1" },
  heading: { ansi: "97", indexed: 231, rgb: [255, 255, 255], attributes: "1" },
  link: { ansi: "94", indexed: 111, rgb: [122, 176, 255] },
  code: { ansi: "36", indexed: 152, rgb: [175, 215, 215] },
  good: { ansi: "32", indexed: 114, rgb: [126, 211, 133] },
  bad: { ansi: "91", indexed: 210, rgb: [255, 128, 128] },
  warn: { ansi: "33", indexed: 221, rgb: [240, 200, 90] },
  running: { ansi: "36", indexed: 80, rgb: [92, 207, 230] },
  rule: { ansi: "90", indexed: 240, rgb: [95, 95, 95] },
  added: { ansi: "32", indexed: 114, rgb: [126, 211, 133] },
  removed: { ansi: "31", indexed: 210, rgb: [255, 128, 128] },
  hunk: { ansi: "36", indexed: 109, rgb: [135, 175, 175] },
  danger: { ansi: "95", indexed: 213, rgb: [255, 135, 255], attributes: "1" },
  keyword: { ansi: "35", indexed: 183, rgb: [209, 165, 250] },
  string: { ansi: "32", indexed: 150, rgb: [170, 217, 148] },
  number: { ansi: "33", indexed: 216, rgb: [250, 179, 135] },
  comment: { ansi: "90", indexed: 244, rgb: [128, 128, 128] },
  name: { ansi: "94", indexed: 117, rgb: [137, 190, 250] },
  type: { ansi: "36", indexed: 116, rgb: [137, 220, 215] },
};

const light: Palette = {
  text: {},
  dim: { ansi: "90", indexed: 242, rgb: [104, 104, 104] },
  strong: { attributes: "1" },
  emphasis: { attributes: "3" },
  prompt: { ansi: "34", indexed: 25, rgb: [0, 84, 166], attributes: "1" },
  heading: { ansi: "30", indexed: 16, rgb: [0, 0, 0], attributes: "1" },
  link: { ansi: "34", indexed: 26, rgb: [0, 92, 197] },
  code: { ansi: "36", indexed: 24, rgb: [0, 90, 110] },
  good: { ansi: "32", indexed: 28, rgb: [22, 120, 40] },
  bad: { ansi: "31", indexed: 124, rgb: [176, 0, 20] },
  warn: { ansi: "33", indexed: 94, rgb: [138, 94, 0] },
  running: { ansi: "36", indexed: 30, rgb: [0, 122, 130] },
  rule: { ansi: "37", indexed: 248, rgb: [168, 168, 168] },
  added: { ansi: "32", indexed: 28, rgb: [22, 120, 40] },
  removed: { ansi: "31", indexed: 124, rgb: [176, 0, 20] },
  hunk: { ansi: "36", indexed: 30, rgb: [0, 105, 120] },
  danger: { ansi: "35", indexed: 127, rgb: [160, 0, 160], attributes: "1" },
  keyword: { ansi: "35", indexed: 91, rgb: [122, 40, 170] },
  string: { ansi: "32", indexed: 22, rgb: [30, 100, 30] },
  number: { ansi: "33", indexed: 130, rgb: [168, 80, 0] },
  comment: { ansi: "90", indexed: 243, rgb: [112, 112, 112] },
  name: { ansi: "34", indexed: 25, rgb: [0, 84, 166] },
  type: { ansi: "36", indexed: 24, rgb: [0, 96, 120] },
};

function colorOf(look: Look, depth: ColorDepth): string {
  if (depth === "true" && look.rgb !== undefined) return `38;2;${look.rgb.join(";")}`;
  if (depth === "256" && look.indexed !== undefined) return `38;5;${look.indexed}`;
  return look.ansi ?? "";
}

/** The SGR parameters of a span, "" for plain text. */
function parametersOf(span: Span, theme: Theme): string {
  const look = (theme.background === "light" ? light : dark)[span.tone ?? "text"];
  const codes = new Set<string>(look.attributes === undefined ? [] : [look.attributes]);
  if (span.bold === true) codes.add("1");
  if (span.italic === true) codes.add("3");
  if (span.underline === true) codes.add("4");
  if (span.inverse === true) codes.add("7");
  if (span.strike === true) codes.add("9");
  const color = colorOf(look, theme.depth);
  return [...codes, ...(color === "" ? [] : [color])].join(";");
}

/** The last guard: a text that came here without the filter goes through it now, on one row. */
function guarded(text: string): string {
  if (isSafe(text) && !text.includes("\n")) return text;
  return sanitize(text).replaceAll("\n", "␊");
}

/**
 * The bytes that show `line`: text and our own SGR sequences (`ESC [ digits and semicolons m`), nothing else, ending in the default
 * style. At depth `none` it is the text alone.
 */
export function encodeLine(line: Line, theme: Theme): string {
  let out = "";
  let current = "";
  for (const span of line.spans) {
    const text = guarded(span.text);
    if (text === "") continue;
    const parameters = theme.depth === "none" ? "" : parametersOf(span, theme);
    if (parameters !== current) {
      if (parameters === "") out += "\x1b[0m";
      else out += current === "" ? `\x1b[${parameters}m` : `\x1b[0;${parameters}m`;
      current = parameters;
    }
    out += text;
  }
  return current === "" ? out : `${out}\x1b[0m`;
}
