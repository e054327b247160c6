/** Where bytes come from: a file opened to be read without leaving a trace, or memory. */
import { constants, readSync, statSync } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import type { ByteSource } from "./types.ts";

export type FileErrorCode = "not-found" | "directory" | "not-a-file" | "permission" | "unreadable";

/** A file that cannot be read: a person's error, told by a stable code. */
export class FileError extends Error {
  readonly code: FileErrorCode;
  readonly path: string;
  constructor(code: FileErrorCode, path: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "FileError";
    this.code = code;
    this.path = path;
  }
}

/** The identity and the state of a file, from its descriptor or its name. */
export interface FileState {
  /** Device and inode: another file under the same name has another. */
  readonly identity: string;
  readonly size: number;
  /** Changes with each write, as finely as the file system tells. */
  readonly modified: bigint;
}

/** An open file. Its identity cannot be taken by another file while it is open. */
export interface FileSource extends ByteSource {
  readonly path: string;
  state(): Promise<FileState>;
  /** `read` at once, without a way through other threads: for what is known to be in memory. */
  readNow?(offset: number, length: number): Uint8Array;
}

interface StatNumbers {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
}

function fileState(numbers: StatNumbers): FileState {
  return { identity: `${numbers.dev}:${numbers.ino}`, size: Number(numbers.size), modified: numbers.mtimeNs };
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** The person's error for what the file system said; anything that it did not say is thrown on. */
function asFileError(error: unknown, path: string): FileError {
  if (error instanceof FileError) return error;
  const code = codeOf(error);
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return new FileError("not-found", path, `${path}: there is no such file`, { cause: error });
    case "EISDIR":
      return new FileError("directory", path, `${path} is a directory`, { cause: error });
    case "EACCES":
    case "EPERM":
      return new FileError("permission", path, `${path}: permission to read it is missing`, { cause: error });
    default:
      if (code === undefined || (error as NodeJS.ErrnoException).syscall === undefined) throw error;
      return new FileError("unreadable", path, `${path} cannot be read (${code})`, { cause: error });
  }
}

function refuse(path: string, what: { isDirectory(): boolean; isFile(): boolean }): void {
  if (what.isDirectory()) throw new FileError("directory", path, `${path} is a directory`);
  if (!what.isFile()) throw new FileError("not-a-file", path, `${path} is no regular file`);
}

/** Opens for reading; on Linux so that not even the access time changes, where that is permitted (own files). */
async function openQuietly(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a FIFO that took the file's place would wait for a writer.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const quiet = constants.O_NOATIME;
  if (typeof quiet !== "number") return open(path, flags);
  try {
    return await open(path, flags | quiet);
  } catch (error) {
    if (codeOf(error) !== "EPERM") throw error;
    return open(path, flags);
  }
}

/**
 * Opens a regular file, read only. Nothing is created, locked or touched. Rejects with a FileError for what is missing, is no regular
 * file, or cannot be read.
 */
export async function openFile(path: string): Promise<FileSource> {
  let handle: FileHandle | undefined;
  try {
    // Devices can act when they are opened: they are refused by name first.
    refuse(path, await stat(path));
    handle = await openQuietly(path);
    refuse(path, await handle.stat());
    return fileSource(path, handle);
  } catch (error) {
    await handle?.close();
    throw asFileError(error, path);
  }
}

function fileSource(path: string, handle: FileHandle): FileSource {
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw asFileError(error, path);
    }
  };
  let closing: Promise<void> | undefined;
  return {
    path,
    size: async () => (await guarded(handle.stat())).size,
    state: async () => fileState(await guarded(handle.stat({ bigint: true }))),
    readNow: (offset, length) => {
      if (length <= 0) return new Uint8Array(0);
      const buffer = Buffer.allocUnsafeSlow(length);
      try {
        return buffer.subarray(0, readSync(handle.fd, buffer, 0, length, offset));
      } catch (error) {
        throw asFileError(error, path);
      }
    },
    read: async (offset, length) => {
      if (length <= 0) return new Uint8Array(0);
      // Not from the pool: a kept line must not keep strangers' bytes.
      const buffer = Buffer.allocUnsafeSlow(length);
      const { bytesRead } = await guarded(handle.read(buffer, 0, length, offset));
      return buffer.subarray(0, bytesRead);
    },
    close: () => {
      closing ??= handle.close();
      return closing;
    },
  };
}

/** The state of the file under a name; undefined where there is none. Rejects with a FileError for what is no regular file. */
export async function fileStateAt(path: string): Promise<FileState | undefined> {
  try {
    const numbers = await stat(path, { bigint: true });
    refuse(path, numbers);
    return fileState(numbers);
  } catch (error) {
    return absentOrThrow(error, path);
  }
}

/** The same at once, without a way through other threads: for what is known to be in memory. */
export function fileStateNow(path: string): FileState | undefined {
  try {
    const numbers = statSync(path, { bigint: true });
    refuse(path, numbers);
    return fileState(numbers);
  } catch (error) {
    return absentOrThrow(error, path);
  }
}

function absentOrThrow(error: unknown, path: string): undefined {
  const failure = asFileError(error, path);
  if (failure.code !== "not-found") throw failure;
}

/** A source over bytes in memory. The bytes are not copied and must not change. */
export function bytesOf(bytes: Uint8Array): ByteSource {
  return {
    size: () => Promise.resolve(bytes.length),
    read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + Math.max(0, length))),
    close: () => Promise.resolve(),
  };
}
