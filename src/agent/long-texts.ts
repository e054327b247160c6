/** Cuts the long texts of a JSON message while its bytes come by, so that a message of any length is read whole but for the middle of what is too long. */

const quote = 0x22;
const backslash = 0x5c;
const unicodeEscape = 0x75;

/**
 * A filter over the bytes of one JSON text: each string above `textBytesMax` bytes, as written, keeps its start and says how many bytes
 * were left out. Cuts fall between characters. What is no string goes through. Cost linear; memory bounded by `bytesMax`: a text that is
 * longer than that without its long strings is given up.
 */
export class LongTextCutter {
  readonly #textBytesMax: number;
  readonly #bytesMax: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #isTooLong = false;
  #isInString = false;
  /** Bytes of an escape that are still to come. */
  #escape: "none" | "started" | number = "none";
  #textBytes = 0;
  #leftOut = 0;

  constructor(textBytesMax: number, bytesMax: number) {
    this.#textBytesMax = textBytesMax;
    this.#bytesMax = bytesMax;
  }

  add(part: Uint8Array): void {
    if (this.#isTooLong) return;
    // Where the bytes that are kept began; -1 while a text's rest is passed over.
    let from = this.#leftOut > 0 ? -1 : 0;
    for (let at = 0; at < part.length; at++) {
      const byte = part[at] ?? 0;
      if (!this.#isInString) {
        if (byte === quote) this.#begin();
        continue;
      }
      const isBoundary = this.#escape === "none" && (byte & 0xc0) !== 0x80;
      if (isBoundary && byte === quote) {
        if (from < 0) {
          this.#keep(Buffer.from(`… [${this.#leftOut} bytes left out]`));
          from = at;
        }
        this.#isInString = false;
        this.#leftOut = 0;
        continue;
      }
      if (from >= 0 && isBoundary && this.#textBytes >= this.#textBytesMax) {
        this.#keep(part.subarray(from, at));
        from = -1;
      }
      if (from < 0) this.#leftOut += 1;
      else this.#textBytes += 1;
      this.#step(byte);
    }
    if (from >= 0) this.#keep(part.subarray(from));
  }

  /** All that was kept; undefined where that is too much too. */
  take(): Buffer | undefined {
    return this.#isTooLong ? undefined : Buffer.concat(this.#parts);
  }

  #begin(): void {
    this.#isInString = true;
    this.#escape = "none";
    this.#textBytes = 0;
    this.#leftOut = 0;
  }

  #step(byte: number): void {
    if (this.#escape === "started") this.#escape = byte === unicodeEscape ? 4 : "none";
    else if (this.#escape !== "none") this.#escape = this.#escape === 1 ? "none" : this.#escape - 1;
    else if (byte === backslash) this.#escape = "started";
  }

  /** Copied, so that the bytes it came in can go. */
  #keep(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#bytesMax) {
      this.#isTooLong = true;
      this.#parts = [];
    } else if (part.length > 0) this.#parts.push(Buffer.from(part));
  }
}
