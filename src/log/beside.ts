/** Bytes that are taken out of a log are kept beside it, under a name that says what they are and where they lay. */
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { copyRange } from "./bytes.ts";
import { errnoOf } from "./errors.ts";
import { copyChunkBytes } from "./limits.ts";
import type { Files, OpenFile } from "./ports.ts";

async function sumOf(file: OpenFile, start: number, end: number): Promise<string> {
  const chunk = Buffer.allocUnsafe(Math.min(copyChunkBytes, Math.max(1, end - start)));
  let sum = 0;
  for (let at = start; at < end; ) {
    const got = await file.read(chunk.subarray(0, Math.min(chunk.length, end - at)), at);
    if (got === 0) break;
    sum = crc32(chunk.subarray(0, got), sum);
    at += got;
  }
  return sum.toString(16).padStart(8, "0");
}

/**
 * Copies `[start, end)` of a log into a file beside it and returns its path once that is on stable storage. The name holds the place
 * and the checksum, so a second try after a crash makes no second file.
 */
export async function keepBeside(
  files: Files,
  log: string,
  file: OpenFile,
  start: number,
  end: number,
  what: "torn" | "foreign",
): Promise<string> {
  const sum = await sumOf(file, start, end);
  const path = `${log}.${what}-${start}-${sum}`;
  if ((await files.facts(path)) !== undefined) {
    if (await isKept(files, path, end - start, sum)) return path;
    await files.remove(path);
  }
  let made: OpenFile | undefined;
  try {
    made = await files.open(path, "create");
    await copyRange(file, made, start, end);
    await made.sync();
  } catch (error) {
    if (made !== undefined && errnoOf(error) !== undefined) await removeHalf(files, path);
    throw error;
  } finally {
    await made?.close();
  }
  await files.syncFolder(dirname(path));
  return path;
}

/** Whether an earlier try made the whole copy; if so it is brought to stable storage, which that try may not have come to. */
async function isKept(files: Files, path: string, size: number, sum: string): Promise<boolean> {
  const kept = await files.open(path, "read");
  try {
    const facts = await kept.facts();
    if (!facts.isFile || facts.size !== size || (await sumOf(kept, 0, size)) !== sum) return false;
    await kept.sync();
  } finally {
    await kept.close();
  }
  await files.syncFolder(dirname(path));
  return true;
}

/** A half-made copy would be taken for a whole one by nobody, but it uses up a full disk. */
async function removeHalf(files: Files, path: string): Promise<void> {
  try {
    await files.remove(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}
