/** From a line of our own log to its record: the checksum held against it, and the texts that lie in blobs put back. */
import { decodeLine, decodeParsed, LogError, nodePorts, putText, readBlob } from "../../log/index.ts";
import { arrayOf, countOf, type Fields, objectOf, stringOf } from "../fields.ts";
import type { Decoded, RecordDecoder } from "../reader.ts";

/** Bytes of blobs that are read for one record; of a longer text its beginning is shown, which the record holds itself. */
export const SHOWN_BLOB_BYTES_MAX: number = 2 * 1024 * 1024;

/** Decodes lines of the log whose blobs lie in `blobs`. */
export function hansardDecoder(blobs: string): RecordDecoder {
  return { decode: (value, bytes) => decode(value, bytes, blobs) };
}

async function decode(value: unknown, bytes: () => Promise<Uint8Array>, blobs: string): Promise<Decoded> {
  const decoded = decodeParsed(value) ?? decodeLine(await bytes());
  if (decoded.ok) return { ok: true, value: await inflate(decoded.record, blobs) };
  switch (decoded.fault) {
    case "newer":
      // Its checksum may follow other rules: shown raw, as what it says it is.
      return { ok: true, value };
    case "crc":
      return { ok: false, reason: "checksum" };
    case "too-large":
      return { ok: false, reason: "too-large" };
    case "not-json":
    case "not-a-record":
      return { ok: false, reason: "not-json" };
  }
}

/** The record with the texts that lie in blobs; in the place of one that cannot be had stands its beginning, and why. */
async function inflate(record: Fields, blobs: string): Promise<unknown> {
  let whole: unknown = record;
  let room = SHOWN_BLOB_BYTES_MAX;
  for (const place of arrayOf(record["blobs"]) ?? []) {
    const fields = objectOf(place);
    const at = stringOf(fields?.["at"]);
    const sha256 = stringOf(fields?.["sha256"]);
    const bytes = countOf(fields?.["bytes"]);
    if (at === undefined || sha256 === undefined || bytes === undefined) continue;
    const head = textAt(whole, at);
    if (head === undefined) continue;
    const text =
      bytes <= room
        ? await readText(blobs, { sha256, bytes }, head)
        : `${head}\n… [the whole text of ${bytes} bytes is in blob ${sha256.slice(0, 12)}]`;
    if (bytes <= room) room -= bytes;
    whole = putText(whole, at, text) ?? whole;
  }
  return whole;
}

async function readText(
  folder: string,
  ref: { readonly sha256: string; readonly bytes: number },
  head: string,
): Promise<string> {
  try {
    return (await readBlob(folder, nodePorts, ref)).toString("utf8");
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    return `${head}\n… [the rest of ${ref.bytes} bytes cannot be shown: ${error.message}]`;
  }
}

/** The text that a JSON pointer leads to. */
function textAt(value: unknown, pointer: string): string | undefined {
  let node = value;
  for (const part of pointer.split("/").slice(1)) {
    if (typeof node !== "object" || node === null) return undefined;
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    node = Object.hasOwn(node, key) ? (node as Record<string, unknown>)[key] : undefined;
  }
  return typeof node === "string" ? node : undefined;
}
