/** Compressed copies of files: written beside, read back and compared before they count. */
import { createHash } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { createGunzip, gzip } from "node:zlib";
import { openFile } from "../../lines/index.ts";
import { SourceError } from "../errors.ts";
import { ARCHIVE_CHUNK_BYTES } from "./format.ts";

const compress = promisify(gzip);

export interface Packed {
  readonly sha256: string;
  readonly bytes: number;
  /** Bytes of the compressed file. */
  readonly stored: number;
}

/**
 * Packs the first `bytes` of a file into `folder` under its checksum, once the copy was read back and is on stable storage. The file is
 * only read. Memory holds a chunk.
 */
export async function packFile(path: string, bytes: number, folder: string, token: string): Promise<Packed> {
  const made = join(folder, `.new-${token}`);
  const source = await openFile(path);
  let out: FileHandle | undefined;
  try {
    out = await open(made, "wx", 0o600);
    const hash = createHash("sha256");
    let stored = 0;
    let at = 0;
    while (at < bytes) {
      const chunk = await source.read(at, Math.min(ARCHIVE_CHUNK_BYTES, bytes - at));
      if (chunk.length === 0) break;
      hash.update(chunk);
      const packed = await compress(chunk);
      await out.appendFile(packed);
      stored += packed.length;
      at += chunk.length;
    }
    await out.sync();
    const sha256 = hash.digest("hex");
    await verify(made, { sha256, bytes: at });
    await rename(made, join(folder, `${sha256}.gz`));
    return { sha256, bytes: at, stored };
  } catch (error) {
    if (out !== undefined) await rm(made, { force: true });
    throw error;
  } finally {
    await out?.close();
    await source.close();
  }
}

async function verify(
  made: string,
  expected: { readonly sha256: string; readonly bytes: number },
): Promise<void> {
  for await (const _chunk of unpacked(made, expected));
}

/** The bytes of a packed file, in pieces. Throws `unreadable` at its end where they are not what was packed: take nothing for good before. */
export async function* unpacked(
  path: string,
  expected: { readonly sha256: string; readonly bytes: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    // An empty file is packed as nothing at all.
    if (expected.bytes > 0)
      for await (const chunk of Readable.from(piecesOf(path)).pipe(createGunzip()) as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > expected.bytes) break;
        hash.update(chunk);
        yield chunk;
      }
  } catch (error) {
    if (!(error instanceof Error) || !/^Z_/.test((error as NodeJS.ErrnoException).code ?? "")) throw error;
    throw spoiled(path, error);
  }
  if (bytes !== expected.bytes || hash.digest("hex") !== expected.sha256) throw spoiled(path);
}

async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  const source = await openFile(path);
  try {
    for (let at = 0; ; ) {
      const piece = await source.read(at, ARCHIVE_CHUNK_BYTES);
      if (piece.length === 0) return;
      at += piece.length;
      yield piece;
    }
  } finally {
    await source.close();
  }
}

function spoiled(path: string, cause?: unknown): SourceError {
  return new SourceError("unreadable", `${path} is not what was archived.`, {
    path,
    next: "The archive is damaged; if the original is still there, archive it again.",
    ...(cause === undefined ? {} : { cause }),
  });
}
