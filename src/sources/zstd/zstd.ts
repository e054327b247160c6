/** Random access to the decoded bytes of a zstd archive. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ByteSource, openFile } from "../../lines/index.ts";
import { SourceError } from "../errors.ts";
import { isFileError } from "../file-errors.ts";
import { type ArchiveDamage, type ByteFeed, type DecodeLimits, decodeFrames } from "./frames.ts";

/** Decoded bytes kept in memory; a larger archive goes to a private temporary file. */
const ZSTD_MEMORY_MAX = 8 * 1024 * 1024;

const READ_BYTES = 256 * 1024;
/** Decoded pieces are gathered to this size before they are written. */
const WRITE_BYTES = 1024 * 1024;

export interface ZstdSource extends ByteSource {
  /** What of the archive could not be read. */
  readonly damage: readonly ArchiveDamage[];
}

export interface ZstdOptions extends DecodeLimits {
  readonly signal?: AbortSignal;
  readonly memoryMax?: number;
  /** Folder for the temporary file; the system's own where absent. */
  readonly temporaryFolder?: string;
}

/** True where the bytes begin like a zstd archive. */
export function isZstd(head: Uint8Array): boolean {
  if (head.length < 4) return false;
  const number = (head[0]! | (head[1]! << 8) | (head[2]! << 16) | (head[3]! << 24)) >>> 0;
  return number === 0xfd2fb528 || number >>> 4 === 0x184d2a5;
}

/**
 * Decodes the archive once and gives random access to the result. A cut or damaged archive gives what can be read, with `damage`
 * saying what is missing. Small results are kept in memory; others lie in a temporary file that only its owner can read and that has
 * no name by the time it holds anything, so that nothing is left behind however the program ends. Throws `unreadable` where there is no
 * room to unpack, and the error of a file that cannot be opened.
 */
export async function openZstd(path: string, options: ZstdOptions = {}): Promise<ZstdSource> {
  const archive = await openFile(path);
  const folder = options.temporaryFolder ?? tmpdir();
  const store = createStore(options.memoryMax ?? ZSTD_MEMORY_MAX, folder);
  try {
    const damage = await decodeFrames(
      feedOf(archive),
      async (piece) => {
        options.signal?.throwIfAborted();
        await keeping(path, folder, store.append(piece));
      },
      options,
    );
    await keeping(path, folder, store.settle());
    return { damage, size: async () => store.size(), read: store.read, close: store.close };
  } catch (error) {
    await store.close();
    throw error;
  } finally {
    await archive.close();
  }
}

/** A failure to keep the decoded bytes, told apart from a failure to read the archive. */
async function keeping(path: string, folder: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isFileError(error)) throw error;
    throw new SourceError("unreadable", `${path} could not be unpacked into ${folder}: ${error.message}.`, {
      path,
      cause: error,
      next: "Make room there, or name another folder for temporary files (TMPDIR).",
    });
  }
}

/** The first decoded bytes of an archive whose own first bytes are given: enough to tell what it holds. */
export async function zstdHead(head: Uint8Array, length: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let filled = 0;
  const feed = bytesFeed(head);
  await decodeFrames(
    feed,
    async (piece) => {
      pieces.push(piece);
      filled += piece.length;
    },
    { outputMax: length + 128 * 1024 },
  );
  const out = new Uint8Array(Math.min(filled, length));
  let at = 0;
  for (const piece of pieces) {
    const part = piece.subarray(0, out.length - at);
    out.set(part, at);
    at += part.length;
  }
  return out;
}

function bytesFeed(bytes: Uint8Array): ByteFeed {
  let position = 0;
  return {
    async take(length) {
      const piece = bytes.subarray(position, position + length);
      position += piece.length;
      return piece;
    },
    async skip(length) {
      position += length;
      return position <= bytes.length;
    },
    get position() {
      return position;
    },
  };
}

function feedOf(archive: ByteSource): ByteFeed {
  const buffer = new Uint8Array(READ_BYTES);
  let start = 0;
  let end = 0;
  let offset = 0;
  async function fill(length: number): Promise<void> {
    if (end - start >= length) return;
    buffer.copyWithin(0, start, end);
    end -= start;
    start = 0;
    while (end < length) {
      const piece = await archive.read(offset, buffer.length - end);
      if (piece.length === 0) return;
      buffer.set(piece, end);
      end += piece.length;
      offset += piece.length;
    }
  }
  return {
    async take(length) {
      await fill(length);
      const piece = buffer.subarray(start, Math.min(end, start + length));
      start += piece.length;
      return piece;
    },
    async skip(length) {
      const buffered = Math.min(length, end - start);
      start += buffered;
      offset += length - buffered;
      if (length === buffered) return true;
      return offset <= (await archive.size());
    },
    get position() {
      return offset - (end - start);
    },
  };
}

interface Store {
  append(piece: Uint8Array): Promise<void>;
  settle(): Promise<void>;
  size(): number;
  read(offset: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

function createStore(memoryMax: number, folder: string): Store {
  let pieces: Uint8Array[] = [];
  let held = 0;
  let written = 0;
  let memory: Uint8Array | undefined;
  let file: TemporaryFile | undefined;

  async function spill(): Promise<void> {
    file ??= await createTemporary(folder);
    for (const piece of pieces) {
      let at = 0;
      while (at < piece.length) {
        const { bytesWritten } = await file.handle.write(piece, at, piece.length - at, written);
        at += bytesWritten;
        written += bytesWritten;
      }
    }
    pieces = [];
    held = 0;
  }

  return {
    async append(piece) {
      pieces.push(piece);
      held += piece.length;
      if (held > (file ? WRITE_BYTES : memoryMax)) await spill();
    },
    async settle() {
      if (file) return spill();
      memory = new Uint8Array(held);
      let at = 0;
      for (const piece of pieces) {
        memory.set(piece, at);
        at += piece.length;
      }
      pieces = [];
    },
    size: () => (memory ? memory.length : written),
    async read(offset, length) {
      if (memory) return memory.slice(offset, offset + length);
      if (!file || length <= 0 || offset >= written) return new Uint8Array(0);
      const bytes = new Uint8Array(Math.min(length, written - offset));
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await file.handle.read(bytes, filled, bytes.length - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    },
    async close() {
      pieces = [];
      memory = undefined;
      await file?.close();
      file = undefined;
    },
  };
}

interface TemporaryFile {
  readonly handle: FileHandle;
  close(): Promise<void>;
}

/** A file only its owner can read, without a name where the system allows that; otherwise removed when it is closed. */
async function createTemporary(folder: string): Promise<TemporaryFile> {
  const path = join(folder, `hansard-${process.pid}-${randomUUID()}.tmp`);
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  let isNamed = true;
  try {
    await unlink(path);
    isNamed = false;
  } catch (error) {
    // Windows keeps the name of an open file: it goes when the file is closed.
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "EBUSY" && code !== "EPERM" && code !== "EACCES") {
      await handle.close();
      throw error;
    }
  }
  return {
    handle,
    async close() {
      await handle.close();
      if (isNamed) await unlink(path);
    },
  };
}
