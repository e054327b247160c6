/** JSON whose numbers are kept as they are written, where a JavaScript number would not print as the same text. */

/** Deepest nesting that is read, in arrays and objects: deeper is as no JSON. */
export const EXACT_DEPTH_MAX = 127;

/** A number as its text: one past 2^53, with a fraction that ends in 0, with an exponent. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * The value of a JSON text: numbers that do not print as they are written are `ExactNumber`. Undefined where the text is no JSON, or
 * nested deeper than `EXACT_DEPTH_MAX`. Linear; text without suspicious digits costs what `JSON.parse` costs, and the look at its depth.
 */
export function parseExactJson(text: string): { readonly value: unknown } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (isTooDeep(text)) return undefined;
  return { value: hasInexactNumber(text) ? readAll(text) : value };
}

/** A text that has none of this prints all its numbers as they are written; digits in strings are looked at again in vain. */
function hasInexactNumber(text: string): boolean {
  return /\d[.eE]|\d{16}|-0/.test(text);
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = stringEnd(text, at) - 1;
    else if (unit === 0x5b || unit === 0x7b) {
      depth += 1;
      if (depth > EXACT_DEPTH_MAX) return true;
    } else if (unit === 0x5d || unit === 0x7d) depth -= 1;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Just behind the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** The text is valid JSON of bounded depth; so nothing is checked again. */
function readAll(text: string): unknown {
  let at = 0;

  function skip(): void {
    while (/[\s,:]/.test(text[at] ?? "")) at += 1;
  }

  function read(): unknown {
    skip();
    const first = text[at];
    if (first === "{") return readObject();
    if (first === "[") return readArray();
    if (first === '"') return readString();
    const start = at;
    while (/[-+.\w]/.test(text[at] ?? "")) at += 1;
    const word = text.slice(start, at);
    const value: unknown = JSON.parse(word);
    return typeof value === "number" && String(value) !== word ? new ExactNumber(word) : value;
  }

  function readString(): string {
    const start = at;
    at = stringEnd(text, at);
    return JSON.parse(text.slice(start, at)) as string;
  }

  function readArray(): unknown[] {
    const members: unknown[] = [];
    for (at += 1, skip(); text[at] !== "]"; skip()) members.push(read());
    at += 1;
    return members;
  }

  function readObject(): Record<string, unknown> {
    const fields: [string, unknown][] = [];
    for (at += 1, skip(); text[at] !== "}"; skip()) fields.push([readString(), read()]);
    at += 1;
    return Object.fromEntries(fields);
  }

  return read();
}
