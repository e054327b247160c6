/** Bytes to a JSON value: strictly, and with the repairs that need no other bytes than these. */
import { isAscii, isUtf8 } from "node:buffer";
import type { DamageReason } from "./types.ts";

export type Parsed =
  | { readonly ok: true; readonly value: unknown; readonly repaired?: DamageReason }
  | { readonly ok: false };

const failed: Parsed = { ok: false };

function tryJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return failed;
    throw error;
  }
}

/** What a raw control character in a string is written as. NULs are what a lost block of a disk reads as: they are left out. */
function escapeOne(code: number): string {
  if (code === 0) return "";
  if (code === 0x0a) return "\\n";
  if (code === 0x0d) return "\\r";
  if (code === 0x09) return "\\t";
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/** `text` with raw control characters inside strings escaped and all NULs left out, or undefined where there are none. */
function escapeControls(text: string): string | undefined {
  const parts: string[] = [];
  let kept = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x22) inString = !inString;
    else if (code === 0x5c && inString && text.charCodeAt(index + 1) > 0x1f) index += 1;
    else if (code < 0x20 && (inString || code === 0)) {
      parts.push(text.slice(kept, index), escapeOne(code));
      kept = index + 1;
    }
  }
  if (parts.length === 0) return undefined;
  parts.push(text.slice(kept));
  return parts.join("");
}

/**
 * Parses `bytes` as one JSON value: as they are, and where that fails with raw control characters in strings escaped and NULs left
 * out. Invalid UTF-8 reads as U+FFFD. `repaired` names what was done. Never throws for what the bytes hold.
 */
export function parseJson(bytes: Buffer): Parsed {
  const plain = isAscii(bytes);
  const text = plain ? bytes.toString("latin1") : bytes.toString("utf8");
  const strict = tryJson(text);
  if (strict.ok) return plain || isUtf8(bytes) ? strict : { ...strict, repaired: "invalid-utf8" };
  const escaped = escapeControls(text);
  if (escaped === undefined) return failed;
  const lenient = tryJson(escaped);
  if (!lenient.ok) return failed;
  return { ...lenient, repaired: bytes.includes(0) ? "nul-run" : "control-characters" };
}
