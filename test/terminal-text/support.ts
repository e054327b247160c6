/** What the tests of the text layer share: the hostile strings, and a reader that accepts only our own sequences. */
import { encodeLine, type Line, spansCells, type Theme } from "../../src/terminal/text/index.ts";

const ESC = "\x1b";
const BEL = "\x07";
const ST = `${ESC}\\`;

/** One string of each kind that a terminal could take for a command, or that hides something. */
export const hostile: Readonly<Record<string, string>> = {
  "OSC 52 with BEL": `${ESC}]52;c;QUJD${BEL}`,
  "OSC title": `${ESC}]0;x${BEL}`,
  "OSC 8 link": `${ESC}]8;;http://e.test${ST}click${ESC}]8;;${ST}`,
  DCS: `${ESC}Pq#0;2;0;0;0#0~~@@vv${ST}`,
  APC: `${ESC}_Gf=1;AAAA${ST}`,
  PM: `${ESC}^hidden${ST}`,
  SOS: `${ESC}Xhidden${ST}`,
  "cursor up": `${ESC}[10A`,
  "erase screen": `${ESC}[2J`,
  "erase history": `${ESC}[3J`,
  "alternate screen": `${ESC}[?1049h`,
  "cursor report": `${ESC}[6n`,
  reset: `${ESC}c`,
  charset: `${ESC}(0`,
  "OSC without end": `${ESC}]52;c;QUJD and on`,
  "DCS without end": `${ESC}Pq and on`,
  "CSI without end": `${ESC}[12;`,
  "ESC at the end": `text${ESC}`,
  "C1 CSI as a character": "\u009b2J",
  "C1 OSC as a character": "\u009d52;c;QUJD\u009c",
  "C1 CSI read as Latin-1": "\u00c2\u009b2J",
  "stray byte 9B": "\udc9b2J",
  "shift out": "\x0e abc \x0f",
  "BEL x 1000": BEL.repeat(1000),
  backspaces: `safe${"\b".repeat(4)}evil`,
  "carriage return": "safe\revil",
  "right-to-left override": "\u202etxet",
  "isolate without end": "\u2066 open",
  "zero width": "a\u200bb\u00adc\ufeffd",
  "line separators": "a\u2028b\u2029c\u0085d",
  tags: "x\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}",
  "lone surrogates": "a\ud99cb\udc00c",
  NUL: "a\0b",
  DEL: "a\x7fb",
  colours: `${ESC}[1;31mred${ESC}[0m ${ESC}[38;2;1;2;3mrgb`,
  "colour left open": `${ESC}[41;5mopen`,
  "marks without end": `a${"\u0301".repeat(200)}`,
  noncharacters: "a\ufdd0\ufdd2\ufdd1b\uffffc",
  tabs: "a\tb\t\tc",
  "line feeds": "one\ntwo\r\nthree",
  "VT and FF": "a\vb\fc",
  "a family":
    "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466} \u{1f44d}\u{1f3fd} \u{1f1ef}\u{1f1f5}\u{1f1ef}",
  wide: "\u6f22\u5b57\u304b\u306a\uff21\uff5e",
  scripts:
    "\u0915\u094d\u0937\u093f \u0e01\u0e33 \u05e9\u05dc\u05d5\u05dd \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
  "markdown that opens": '**bold `code [link](http://e.test "t" <b> | a | b |',
  "an empty text": "",
  blanks: "   ",
  "a deep quote": "> ".repeat(400),
  "a script link": "[x](javascript:alert(1)) <javascript:alert(1)> ![i](data:text/html,x)",
  "an object name": "constructor",
  "a prototype name": "__proto__",
};

const ownSequence = /^\x1b\[(?:0|[0-9]+(?:;[0-9]+)*)m/;
const forbidden =
  /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufdd0-\ufdef\u{e0000}-\u{e007f}]|\p{Cs}/u;

/** What is wrong with the bytes of one row, "" for nothing: only text and our own colour sequences may be there, and the end is plain. */
export function faultOf(encoded: string): string {
  let at = 0;
  let text = "";
  let last = "";
  while (at < encoded.length) {
    if (encoded[at] === "\x1b") {
      const match = ownSequence.exec(encoded.slice(at, at + 64));
      if (match === null) return `a foreign sequence at ${at}: ${JSON.stringify(encoded.slice(at, at + 16))}`;
      last = match[0];
      at += match[0].length;
      continue;
    }
    text += encoded[at];
    at += 1;
  }
  const bad = forbidden.exec(text);
  if (bad !== null) return `a forbidden character ${bad[0].codePointAt(0)!.toString(16)} at ${bad.index}`;
  if (last !== "" && last !== "\x1b[0m") return `the row ends in the style ${JSON.stringify(last)}`;
  return "";
}

export const themes: readonly Theme[] = [
  { depth: "none", background: "dark" },
  { depth: "16", background: "light" },
  { depth: "256", background: "dark" },
  { depth: "true", background: "light" },
];

/** What is wrong with a line at a width, "" for nothing. */
export function lineFault(line: Line, width: number): string {
  for (const theme of themes) {
    const fault = faultOf(encodeLine(line, theme));
    if (fault !== "") return fault;
  }
  if (line.wrap === "fit" && spansCells(line.spans) > width) {
    return `a row of ${spansCells(line.spans)} cells in ${width}: ${JSON.stringify(textOf(line))}`;
  }
  if (line.wrap === "flow" && width < 2) return "an unbroken line at width 1";
  return "";
}

export function textOf(line: Line): string {
  return line.spans.map((span) => span.text).join("");
}

export function screen(lines: readonly Line[]): string {
  return lines.map((line) => textOf(line).trimEnd()).join("\n");
}
