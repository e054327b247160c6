/** What a file seems to be that no source reads: for the words of the error. */
import { parseLine, textLines } from "./ends.ts";
import { objectOf, stringOf } from "./fields.ts";

export interface FormatGuess {
  readonly name?: string;
  readonly isBinary: boolean;
}

const magic: readonly (readonly [string, string])[] = [
  ["SQLite format 3\0", "an SQLite database"],
  ["\x89PNG", "a PNG image"],
  ["\xff\xd8\xff", "a JPEG image"],
  ["GIF8", "a GIF image"],
  ["%PDF-", "a PDF document"],
  ["PK\x03\x04", "a ZIP archive"],
  ["\x1f\x8b", "gzip data"],
  ["\x28\xb5\x2f\xfd", "zstd data that holds no session"],
  ["\x7fELF", "a program"],
  ["MZ", "a Windows program"],
];

/** Told from the first bytes. */
export function guessFormat(head: Uint8Array): FormatGuess {
  const start = Buffer.from(head.subarray(0, 16)).toString("latin1");
  const known = magic.find(([bytes]) => start.startsWith(bytes));
  if (known !== undefined) return { name: known[1], isBinary: true };
  const sample = head.subarray(0, 4096);
  const controls = sample.reduce((count, byte) => count + (byte < 9 || (byte > 13 && byte < 27) ? 1 : 0), 0);
  if (controls * 10 > sample.length) return { name: "binary data", isBinary: true };
  const name = agentName(head);
  return name === undefined ? { isBinary: false } : { name, isBinary: false };
}

/** The agent whose format the first records look like. */
function agentName(head: Uint8Array): string | undefined {
  for (const line of textLines(head, true)) {
    const value = parseLine(line.replace(/^\uFEFF/, "").trim());
    if (value === undefined) break;
    if (
      /^(?:user|assistant)$/.test(stringOf(value["role"]) ?? "") &&
      objectOf(value["message"]) !== undefined
    )
      return "a transcript of Cursor";
  }
  const text = new TextDecoder().decode(head.subarray(0, 4096));
  if (/^\s*\{\s*"info"\s*:/.test(text) && /"id"\s*:\s*"ses_/.test(text)) return "an export of OpenCode";
  return undefined;
}
