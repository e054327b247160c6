/** Reads the files of a messages directory, bounded; a file that cannot be read is as one without bytes. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type ByteSource, openFile } from "../../lines/index.ts";
import { readFully } from "../ends.ts";
import { isFileError } from "../file-errors.ts";
import { compareText } from "../order.ts";

/** Bytes of summaries that the record of the compactions is made of. */
const SUMMARY_BYTES_MAX = 4 * 1024 * 1024;

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

/** What `work` gives of an open file; absent where it cannot be read. */
export async function withFile<T>(
  path: string,
  work: (source: ByteSource) => Promise<T>,
): Promise<T | undefined> {
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
