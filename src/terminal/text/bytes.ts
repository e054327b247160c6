/** Bytes to text without loss: what is no UTF-8 stays visible. */
import { binarySampleUnits } from "./limits.ts";
import { byteBase } from "./stand-ins.ts";

function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0x80) return 1;
  const length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + length > bytes.length) return 0;
  const second = bytes[at + 1]!;
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let offset = 2; offset < length; offset++) {
    if ((bytes[at + offset]! & 0xc0) !== 0x80) return 0;
  }
  return length;
}

/** `bytes` as text; each byte that is no part of a UTF-8 sequence becomes a lone surrogate that the sanitiser shows as `‹9B›`. */
export function decodeBytes(bytes: Uint8Array): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parts: string[] = [];
  let from = 0;
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    if (at > from) parts.push(decoder.decode(bytes.subarray(from, at)));
    parts.push(String.fromCharCode(byteBase + bytes[at]!));
    at += 1;
    from = at;
  }
  if (at > from) parts.push(decoder.decode(bytes.subarray(from, at)));
  return parts.join("");
}

const unprintable = /[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]/g;

/** True where a text that was decoded leniently is mostly no text: a NUL, or a tenth of unprintable characters, in its first part. */
export function looksBinary(text: string): boolean {
  const sample = text.length > binarySampleUnits ? text.slice(0, binarySampleUnits) : text;
  let count = 0;
  let nuls = 0;
  for (const [char] of sample.matchAll(unprintable)) {
    count += 1;
    if (char === "\0") nuls += 1;
  }
  return nuls > 0 && nuls * 50 > sample.length ? true : count * 10 > sample.length && count > 3;
}

const kinds: readonly (readonly [RegExp, string])[] = [
  [/^.?PNG\r?\n/s, "PNG image"],
  [/^GIF8[79]a/, "GIF image"],
  [/^\ufffd{3,4}.{0,4}(?:JFIF|Exif)/s, "JPEG image"],
  [/^RIFF.{4,8}WEBP/s, "WebP image"],
  [/^%PDF-/, "PDF document"],
  [/^PK\x03\x04/, "ZIP archive"],
  [/^\x1f\ufffd/, "gzip data"],
  [/^\x7fELF/, "ELF program"],
  [/^MZ/, "Windows program"],
  [/^SQLite format 3\0/, "SQLite database"],
  [/^\0asm/, "WebAssembly"],
];

/** What a binary text seems to be, by its first characters. */
export function binaryKind(text: string): string {
  const head = text.slice(0, 32);
  return kinds.find(([pattern]) => pattern.test(head))?.[1] ?? "binary data";
}
