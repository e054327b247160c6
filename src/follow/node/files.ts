/** Reads and places small files; what is missing or cannot be read is absent. */
import { constants } from "node:fs";
import { type FileHandle, link, open, readdir, unlink } from "node:fs/promises";
import { isContinued, READ_BYTES_MAX } from "../index.ts";
import type { Growth, ReaderState } from "../reader.ts";

/** Codes of a file or folder that is not there, or not to be read: what the lane calls "nothing yet". */
const readCodes = new Set([
  "ENOENT",
  "ENOTDIR",
  "EACCES",
  "EPERM",
  "EISDIR",
  "ELOOP",
  "ENAMETOOLONG",
  "EIO",
  "ESTALE",
  "ENXIO",
  "ENODEV",
  "EBUSY",
  "EMFILE",
  "ENFILE",
]);

export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** What `read` gives, or undefined where the disk refuses. Anything else is a bug and passes. */
async function orAbsent<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || !readCodes.has(code)) throw error;
    return undefined;
  }
}

/** Opens for reading without waiting for a FIFO's writer and, where that is permitted, without touching the access time. */
async function openQuietly(path: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  if (typeof constants.O_NOATIME !== "number") return open(path, flags);
  try {
    return await open(path, flags | constants.O_NOATIME);
  } catch (error) {
    if (codeOf(error) !== "EPERM") throw error;
    return open(path, flags);
  }
}

/** What `work` makes of an open regular file; undefined where there is none. */
async function withFile<T>(
  path: string,
  work: (file: FileHandle, identity: string) => Promise<T>,
): Promise<T | undefined> {
  return orAbsent(async () => {
    const file = await openQuietly(path);
    try {
      const facts = await file.stat({ bigint: true });
      return facts.isFile() ? await work(file, `${facts.dev}:${facts.ino}`) : undefined;
    } finally {
      await file.close();
    }
  });
}

/** At most `length` bytes from `start`: fewer only where the file ends. */
async function readAt(file: FileHandle, start: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** What a response says behind a reader's offset, at most `READ_BYTES_MAX`; from its first byte where it is not the file that was read. */
export function readGrowthOf(path: string, reader: ReaderState): Promise<Growth | undefined> {
  return withFile(path, async (file, identity) => {
    const guard = reader.guard.length;
    const read = await readAt(file, reader.offset - guard, guard + READ_BYTES_MAX);
    const isSame = isContinued(reader, identity, read.subarray(0, guard));
    const start = isSame ? reader.offset : 0;
    const bytes = isSame ? read.subarray(guard) : await readAt(file, 0, READ_BYTES_MAX);
    return { identity, start, bytes, isEnd: bytes.length < READ_BYTES_MAX };
  });
}

/** The text of a small file, at most `bytesMax` bytes of it. */
export function readText(path: string, bytesMax: number): Promise<string | undefined> {
  return withFile(path, async (file) => {
    const { size } = await file.stat();
    return new TextDecoder().decode(await readAt(file, 0, Math.min(size, bytesMax)));
  });
}

/** Names in a folder; none where it is not there. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return (await orAbsent(() => readdir(folder))) ?? [];
}

/** Names of the folders in a folder. */
export async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = (await orAbsent(() => readdir(folder, { withFileTypes: true }))) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/**
 * Makes a file with its whole content, unless one of its name is there: false then. A reader never sees a part of it, and of several who
 * try at once one alone makes it. `temporary` is a name in the same folder that nobody else takes.
 */
export async function createWhole(path: string, temporary: string, text: string): Promise<boolean> {
  const file = await open(temporary, "wx", 0o600);
  try {
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(temporary, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(temporary);
  }
}
