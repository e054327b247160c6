/** A repaired copy of another program's log of lines: its records as they stand, the saved ones written out, what is no record left out. */
import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { type ByteSource, type LineItem, openFile, readForward } from "../lines/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";

export interface RepairedCopy {
  readonly records: number;
  /** Of them, those that were saved from bad lines. */
  readonly recovered: number;
  /** Bytes that no record could be made of. */
  readonly bytesLeft: number;
}

/** Bytes gathered before they are written. */
const WRITE_BYTES = 1024 * 1024;

function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" && (error as NodeJS.ErrnoException).syscall !== undefined
    ? code
    : undefined;
}

/** The record's bytes as they stand, or, where it had to be saved, its JSON anew. */
async function bytesOf(
  item: LineItem & { readonly type: "record" },
  source: ByteSource,
): Promise<Uint8Array> {
  const isVerbatim =
    item.recovered === undefined || item.recovered === "glued" || item.recovered === "resync";
  if (!isVerbatim) return Buffer.from(JSON.stringify(item.value));
  const parts: Uint8Array[] = [];
  for (let at = item.start; at < item.end; ) {
    const part = await source.read(at, item.end - at);
    if (part.length === 0) break;
    parts.push(part);
    at += part.length;
  }
  return Buffer.concat(parts);
}

/**
 * Writes the copy to a new file and reads it back before it counts; the original is only read. Memory holds one record. Throws a
 * CommandError where the file is there already or cannot be written; then nothing is left of it.
 */
export async function writeRepairedCopy(from: string, to: string): Promise<RepairedCopy> {
  const source = await openFile(from);
  let file: FileHandle | undefined;
  try {
    file = await open(to, "wx", 0o600);
    const copy = await copyRecords(source, file);
    await file.sync();
    await verify(to, copy.digest, copy.records);
    const { digest: _digest, ...rest } = copy;
    return rest;
  } catch (error) {
    const code = errnoOf(error);
    if (file !== undefined) await rm(to, { force: true });
    if (code === undefined || error instanceof CommandError) throw error;
    if (code === "EEXIST")
      throw new CommandError(
        exitCodes.unreadable,
        `${to} is there already; a repair writes a new file only.`,
        ["Give another path with --out."],
      );
    throw new CommandError(exitCodes.unreadable, `${to} cannot be written: ${code}.`);
  } finally {
    await file?.close();
    await source.close();
  }
}

async function copyRecords(
  source: ByteSource,
  file: FileHandle,
): Promise<RepairedCopy & { readonly digest: string }> {
  const hash = createHash("sha256");
  let parts: Uint8Array[] = [];
  let held = 0;
  let records = 0;
  let recovered = 0;
  let bytesLeft = 0;
  const flush = async (): Promise<void> => {
    const bytes = Buffer.concat(parts);
    hash.update(bytes);
    await file.appendFile(bytes);
    parts = [];
    held = 0;
  };
  for await (const item of readForward(source)) {
    if (item.type === "damage") {
      bytesLeft += item.end - item.start;
      continue;
    }
    const bytes = await bytesOf(item, source);
    parts.push(bytes, Buffer.from("\n"));
    held += bytes.length + 1;
    records += 1;
    if (item.recovered !== undefined) recovered += 1;
    if (held >= WRITE_BYTES) await flush();
  }
  await flush();
  return { records, recovered, bytesLeft, digest: hash.digest("hex") };
}

/** The copy holds what was written, and every line of it is a whole record. */
async function verify(path: string, digest: string, records: number): Promise<void> {
  const source = await openFile(path);
  try {
    const hash = createHash("sha256");
    const size = await source.size();
    for (let at = 0; at < size; ) {
      const part = await source.read(at, Math.min(WRITE_BYTES, size - at));
      if (part.length === 0) break;
      hash.update(part);
      at += part.length;
    }
    let found = 0;
    let isWhole = true;
    for await (const item of readForward(source)) {
      found += 1;
      isWhole &&= item.type === "record" && item.recovered === undefined;
    }
    if (hash.digest("hex") === digest && found === records && isWhole) return;
    throw new CommandError(exitCodes.unreadable, `${path} does not hold what was written to it.`, [
      "The disk may be failing.",
    ]);
  } finally {
    await source.close();
  }
}
