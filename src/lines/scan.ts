/** Finding where a JSON object ends in bytes, without parsing it. */

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Follows strings, escapes and nesting over bytes that come in any cuts. It starts at an object's `{` and knows when the bracket
 * that closes it has passed; whether what lies between is JSON is for the parser to say.
 */
export class ObjectScanner {
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** Whether the bytes fed so far end inside a string. */
  get inString(): boolean {
    return this.#inString;
  }

  /** Takes `bytes` from `start` to `end`; returns the index after the closing bracket, or -1 where the object goes on. */
  feed(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
    let depth = this.#depth;
    let inString = this.#inString;
    let index = start;
    if (this.#escaped && index < end) {
      index += 1;
      this.#escaped = false;
    }
    for (; index < end; index += 1) {
      const byte = bytes[index];
      if (inString) {
        if (byte === backslash) index += 1;
        else if (byte === quote) inString = false;
      } else if (byte === quote) inString = true;
      else if (byte === openBrace || byte === openBracket) depth += 1;
      else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1;
        if (depth <= 0) {
          this.#depth = 0;
          this.#inString = false;
          return index + 1;
        }
      }
    }
    this.#escaped = index > end;
    this.#depth = depth;
    this.#inString = inString;
    return -1;
  }

  /** A scanner in the same state. */
  copy(): ObjectScanner {
    const other = new ObjectScanner();
    other.#depth = this.#depth;
    other.#inString = this.#inString;
    other.#escaped = this.#escaped;
    return other;
  }
}

/** The index after the object that opens at `start`, or -1 where it does not end before `end`. */
export function objectEnd(bytes: Uint8Array, start: number, end: number): number {
  return new ObjectScanner().feed(bytes, start, end);
}
