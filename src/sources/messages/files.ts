/** Reads the files of a messages directory, bounded; a file that cannot be read is as one without bytes. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type ByteSource, openFile } from "../../lines/index.ts";
import type { Entry, RawEntry } from "../../transcript/index.ts";
import { readFully } from "../ends.ts";
import { isFileError } from "../file-errors.ts";
import { DAMAGE_TEXT_BYTES_MAX } from "../limits.ts";
import { compareText } from "../order.ts";
import { classifyMessage } from "./classify.ts";

/** A message file above this size is shown as a placeholder. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/** Bytes of summaries that the record of the compactions is made of. */
const SUMMARY_BYTES_MAX = 4 * 1024 * 1024;

/** The entry of a message file; one above `bytesMax` is told by its size and its first bytes. */
export async function readMessage(folder: string, name: string, bytesMax: number): Promise<Entry> {
  let size = 0;
  const bytes = await withFile(join(folder, name), async (source) => {
    size = await source.size();
    return readFully(source, 0, size > bytesMax ? DAMAGE_TEXT_BYTES_MAX : size);
  });
  const content = bytes ?? new Uint8Array(0);
  const entry = size > bytesMax ? tooLarge(name, content, size) : classifyMessage(name, content);
  return { ...entry, place: { start: 0, end: bytes === undefined ? 0 : size, file: name } };
}

function tooLarge(name: string, head: Uint8Array, size: number): RawEntry {
  const text = new TextDecoder().decode(head);
  return { kind: "raw", name, reason: `a message of ${size} bytes, too large to read`, text, damaged: true };
}

/** At most `length` bytes of a file; absent where it cannot be read. */
export async function readStretch(
  path: string,
  start: number,
  length: number,
): Promise<Uint8Array | undefined> {
  return withFile(path, async (source) =>
    readFully(source, start, Math.min(length, (await source.size()) - start)),
  );
}

/** The last bytes of a file, at most `length`; absent where it cannot be read. */
export async function readEnd(
  path: string,
  length: number,
): Promise<{ readonly bytes: Uint8Array; readonly isWhole: boolean } | undefined> {
  return withFile(path, async (source) => {
    const size = await source.size();
    const start = Math.max(0, size - length);
    return { bytes: await readFully(source, start, size - start), isWhole: start === 0 };
  });
}

/** The whole record of the compactions: the texts of a folder in path order, a blank line between them, up to the bound. */
export async function readSummaries(folder: string, bytesMax: number = SUMMARY_BYTES_MAX): Promise<string> {
  const texts: string[] = [];
  let room = bytesMax;
  for (const name of await summaryNames(folder)) {
    const bytes = await withFile(join(folder, name), async (source) =>
      readFully(source, 0, Math.min(await source.size(), room)),
    );
    if (bytes === undefined) continue;
    room -= bytes.length;
    texts.push(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
    if (room <= 0) break;
  }
  return texts.join("\n\n");
}

async function summaryNames(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => /[^.].*\.md$/.test(name)).sort(compareText);
  } catch (error) {
    if (isFileError(error)) return [];
    throw error;
  }
}

async function withFile<T>(path: string, work: (source: ByteSource) => Promise<T>): Promise<T | undefined> {
  try {
    const source = await openFile(path);
    try {
      return await work(source);
    } finally {
      await source.close();
    }
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}
