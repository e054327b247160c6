/** What is shown in place of characters that are not let through. */

const names: Readonly<Record<number, string>> = {
  173: "SHY",
  847: "CGJ",
  1564: "ALM",
  6158: "MVS",
  8203: "ZWSP",
  8204: "ZWNJ",
  8205: "ZWJ",
  8206: "LRM",
  8207: "RLM",
  8232: "LS",
  8233: "PS",
  8234: "LRE",
  8235: "RLE",
  8236: "PDF",
  8237: "LRO",
  8238: "RLO",
  8288: "WJ",
  8294: "LRI",
  8295: "RLI",
  8296: "FSI",
  8297: "PDI",
  65038: "VS15",
  65039: "VS16",
  65279: "BOM",
};

/** Bytes that are no UTF-8 travel as these code points (a lone low surrogate a byte) from `decodeBytes` to the sanitiser. */
export const byteBase = 0xdc00;

/** A visible, harmless text for one code point: `␛`, `‹RLO›`, `‹U+009B›`; with `asBytes`, `‹9B›` for a stray byte. */
export function standIn(codePoint: number, asBytes: boolean): string {
  if (codePoint < 0x20) return String.fromCodePoint(0x2400 + codePoint);
  if (codePoint === 0x7f) return "␡";
  const hex = codePoint.toString(16).toUpperCase();
  if (asBytes && codePoint >= byteBase + 0x80 && codePoint <= byteBase + 0xff) return `‹${hex.slice(-2)}›`;
  return `‹${names[codePoint] ?? `U+${hex.padStart(4, "0")}`}›`;
}
