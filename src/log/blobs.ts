/** Payloads beside the log, named by their SHA-256: written once, read-only, verified whenever they are read. */
import { createHash, type Hash } from "node:crypto";
import { dirname, join } from "node:path";
import { writeWhole } from "./bytes.ts";
import { errnoOf, LogError } from "./errors.ts";
import { ensureFolder } from "./lease.ts";
import { blobBytesMax, copyChunkBytes } from "./limits.ts";
import type { Files, LogPorts, OpenFile } from "./ports.ts";
import { isSha256 } from "./validate.ts";

export interface BlobRef {
  readonly sha256: string;
  readonly bytes: number;
}

const blobMode = 0o400;

function tooLarge(): LogError {
  return new LogError("too-large", `a blob is at most ${blobBytesMax} bytes`, {
    next: "Keep the contents in a file and record its path.",
  });
}

export function blobRefOf(bytes: Uint8Array): BlobRef {
  return { sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
}

/** Whether the file of a blob is there and holds what its name says. */
async function isIntact(files: Files, path: string, ref: BlobRef): Promise<boolean> {
  const facts = await files.facts(path);
  if (facts === undefined || !facts.isFile || facts.size !== ref.bytes) return false;
  const file = await files.open(path, "read");
  try {
    return (await digestOf(file, ref.bytes)) === ref.sha256;
  } finally {
    await file.close();
  }
}

async function digestOf(file: OpenFile, size: number): Promise<string> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(Math.min(copyChunkBytes, Math.max(1, size)));
  for (let at = 0; at < size; ) {
    const got = await file.read(chunk.subarray(0, Math.min(chunk.length, size - at)), at);
    if (got === 0) break;
    hash.update(chunk.subarray(0, got));
    at += got;
  }
  return hash.digest("hex");
}

/** Gives a finished file its name. A file of that name that is not what it should be is replaced. */
async function publish(files: Files, folder: string, made: string, ref: BlobRef): Promise<void> {
  const path = join(folder, ref.sha256);
  if (await isIntact(files, path, ref)) await files.remove(made);
  else await files.rename(made, path);
  // Also where it was there: whoever made it may have died before its name was safe.
  await files.syncFolder(folder);
}

/** Makes the folder of the blobs, its name on stable storage. */
async function ensureBlobFolder(files: Files, folder: string): Promise<void> {
  await ensureFolder(files, folder);
  await files.syncFolder(dirname(folder));
}

/** Writes chunks into a new file, then names it by what was written. */
async function store(
  folder: string,
  ports: LogPorts,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<BlobRef> {
  const { files } = ports;
  await ensureBlobFolder(files, folder);
  const made = join(folder, `${ports.randomId()}.tmp`);
  const hash: Hash = createHash("sha256");
  let bytes = 0;
  const file = await files.open(made, "create");
  try {
    try {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > blobBytesMax) throw tooLarge();
        hash.update(chunk);
        await writeWhole(file, chunk);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await files.setMode(made, blobMode);
    const ref = { sha256: hash.digest("hex"), bytes };
    await publish(files, folder, made, ref);
    return ref;
  } catch (error) {
    await removeIfThere(files, made);
    throw error;
  }
}

async function removeIfThere(files: Files, path: string): Promise<void> {
  try {
    await files.remove(path);
  } catch (error) {
    // The write has failed already, and that is what is told; a leftover bears no blob's name.
    if (errnoOf(error) === undefined) throw error;
  }
}

/**
 * Stores a payload and returns its name once it is on stable storage. The same payload is stored once. Throws `too-large` above 512 MiB,
 * and the system's error where the disk refuses; then nothing is left behind.
 */
export async function putBlob(
  folder: string,
  ports: LogPorts,
  payload: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<BlobRef> {
  if (!(payload instanceof Uint8Array)) return await store(folder, ports, payload);
  if (payload.length > blobBytesMax) throw tooLarge();
  const ref = blobRefOf(payload);
  if (await isIntact(ports.files, join(folder, ref.sha256), ref)) {
    await ensureBlobFolder(ports.files, folder);
    await ports.files.syncFolder(folder);
    return ref;
  }
  return await store(folder, ports, [payload]);
}

/** The bytes of a blob, verified. Throws `blob-missing` or `blob-damaged`: damage is not the same as absence. */
export async function readBlob(folder: string, ports: LogPorts, ref: BlobRef): Promise<Buffer> {
  if (!isSha256(ref.sha256)) throw new LogError("blob-missing", "not the name of a blob");
  const path = join(folder, ref.sha256);
  const facts = await ports.files.facts(path);
  const details = { sha256: ref.sha256 };
  if (facts === undefined || !facts.isFile)
    throw new LogError("blob-missing", `blob ${ref.sha256} is not there`, { details });
  if (facts.size !== ref.bytes)
    throw new LogError("blob-damaged", `blob ${ref.sha256} has ${facts.size} bytes instead of ${ref.bytes}`, {
      details,
    });
  const file = await ports.files.open(path, "read");
  try {
    const bytes = Buffer.alloc(ref.bytes);
    const got = await file.read(bytes, 0);
    if (got !== ref.bytes || blobRefOf(bytes).sha256 !== ref.sha256)
      throw new LogError("blob-damaged", `blob ${ref.sha256} is not what was stored`, { details });
    return bytes;
  } finally {
    await file.close();
  }
}

/** Gives another session the same blob: a second name for the file, or a copy where that is not possible. Verified before it counts. */
export async function shareBlob(from: string, to: string, ports: LogPorts, ref: BlobRef): Promise<void> {
  const { files } = ports;
  const source = join(from, ref.sha256);
  if (!(await isIntact(files, source, ref))) {
    // Reading it says which of the two it is.
    await readBlob(from, ports, ref);
  }
  await ensureBlobFolder(files, to);
  try {
    await files.link(source, join(to, ref.sha256));
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    if (code !== "EEXIST") await store(to, ports, chunksOf(files, source, ref.bytes));
  }
  await files.syncFolder(to);
}

async function* chunksOf(files: Files, path: string, size: number): AsyncGenerator<Uint8Array> {
  const file = await files.open(path, "read");
  try {
    for (let at = 0; at < size; ) {
      const chunk = Buffer.alloc(Math.min(copyChunkBytes, size - at));
      const got = await file.read(chunk, at);
      if (got === 0) return;
      yield chunk.subarray(0, got);
      at += got;
    }
  } finally {
    await file.close();
  }
}

/** A text found too long for its line, with where it stands. */
export interface MovedText {
  readonly at: string;
  readonly text: string;
}

/** JSON pointer of a key (RFC 6901). */
export function pointerPart(key: string): string {
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/**
 * A copy of a value in which each text above `bytesMax` is cut to `replace(text)`; shares what it does not change. `found` is told of
 * each, with its JSON pointer.
 */
export function moveTexts(
  value: unknown,
  at: string,
  bytesMax: number,
  replace: (moved: MovedText) => string,
): unknown {
  if (typeof value === "string") {
    // A UTF-16 unit is at most 3 bytes: most texts need no measuring.
    if (value.length * 3 <= bytesMax || Buffer.byteLength(value) <= bytesMax) return value;
    return replace({ at, text: value });
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    let changed: unknown[] | undefined;
    for (const [index, item] of value.entries()) {
      const moved = moveTexts(item, `${at}/${index}`, bytesMax, replace);
      if (moved === item) continue;
      changed ??= [...value];
      changed[index] = moved;
    }
    return changed ?? value;
  }
  let changed: Record<string, unknown> | undefined;
  for (const [key, item] of Object.entries(value)) {
    const moved = moveTexts(item, at + pointerPart(key), bytesMax, replace);
    if (moved === item) continue;
    changed ??= { ...value };
    changed[key] = moved;
  }
  return changed ?? value;
}

/** A copy of a value with `text` at a JSON pointer; undefined where the pointer does not lead to a text. */
export function putText(value: unknown, pointer: string, text: string): unknown {
  const parts = pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const put = (node: unknown, depth: number): unknown => {
    if (depth === parts.length) return typeof node === "string" ? text : undefined;
    if (typeof node !== "object" || node === null) return undefined;
    const key = parts[depth] ?? "";
    if (!Object.hasOwn(node, key)) return undefined;
    const child = put((node as Record<string, unknown>)[key], depth + 1);
    if (child === undefined) return undefined;
    if (Array.isArray(node)) return node.map((item, index) => (String(index) === key ? child : item));
    return { ...node, [key]: child };
  };
  return put(value, 0);
}
