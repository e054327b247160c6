/** What a file seems to be that no source reads: for the words of the error. */

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
  return { isBinary: false };
}
