/** The lines of an export: where each entry stands, under which position, and what the first line says. */
import type { ByteSource, DamageReason } from "../../lines/index.ts";
import { decodeEntry, type Entry, encodeEntry } from "../../transcript/index.ts";
import { parseJson } from "../document/json.ts";
import { readFully } from "../ends.ts";
import { SourceError } from "../errors.ts";
import { type Fields, objectOf } from "../fields.ts";
import { EXPORT_CHUNK_BYTES, EXPORT_ENTRIES_MAX, EXPORT_LINE_BYTES_MAX } from "./limits.ts";

/** The version of the form that is read. */
const VERSION = 1;

export interface ExportLine {
  readonly start: number;
  /** Behind the value, before the comma. */
  readonly end: number;
  readonly position: string;
  readonly damage?: DamageReason;
}

export interface ExportLines {
  readonly session: Fields;
  readonly lines: readonly ExportLine[];
  /** Set where the file ended before its end was written: where what is missing would begin. */
  readonly torn?: number;
  readonly bytes: number;
}

export function isExport(head: Uint8Array): boolean {
  return new TextDecoder().decode(head.subarray(0, 32)).startsWith('{"hansardExport":');
}

/** Finds the lines: one forward read. Throws a SourceError where the first line is not that of an export that is read here. */
export async function indexExport(source: ByteSource, path: string): Promise<ExportLines> {
  const bytes = await source.size();
  const lines: ExportLine[] = [];
  const seen = new Set<string>();
  let session: Fields | undefined;
  for await (const { start, end } of linesOf(source, bytes)) {
    const isTooLarge = end - start > EXPORT_LINE_BYTES_MAX;
    const line = isTooLarge ? new Uint8Array() : await readFully(source, start, end - start);
    if (session === undefined) {
      session = headOf(line, path);
      continue;
    }
    const text = new TextDecoder().decode(line);
    if (text === "]}") return { session, lines, bytes };
    if (text === "" && !isTooLarge) continue;
    const last = start + line.length - (text.endsWith(",") ? 1 : 0);
    const entry = isTooLarge ? undefined : entryOf(line.subarray(0, last - start));
    const own = entry?.position;
    const position =
      own === undefined || own === "" || own === "end" || seen.has(own) ? `~${lines.length}` : own;
    seen.add(position);
    const damage = isTooLarge ? "too-large" : "not-json";
    lines.push({ start, end: isTooLarge ? end : last, position, ...(entry === undefined ? { damage } : {}) });
    if (lines.length >= EXPORT_ENTRIES_MAX) break;
  }
  if (session === undefined) throw notExport(path);
  return { session, lines, torn: lines.at(-1)?.end ?? bytes, bytes };
}

/** An entry as it was exported; undefined where the bytes hold none. */
export function entryOf(
  bytes: Uint8Array,
): { readonly position: string; readonly entry: Entry; readonly raw?: string } | undefined {
  const fields = objectOf(parseJson(bytes));
  if (fields === undefined) return undefined;
  const { position, raw, ...entry } = fields;
  if (typeof position !== "string" || !isEntry(entry)) return undefined;
  return { position, entry, ...(typeof raw === "string" ? { raw } : {}) };
}

/** What is strict about an entry is one thing: how it is told over a wire. */
function isEntry(value: unknown): value is Entry {
  try {
    return decodeEntry(encodeEntry(value as Entry)).ok;
  } catch (error) {
    // What has not even the shape of an entry cannot be told at all.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

function headOf(line: Uint8Array, path: string): Fields {
  const head = objectOf(parseJson(Buffer.concat([line, Buffer.from("]}")])));
  const session = objectOf(head?.["session"]);
  const version = head?.["hansardExport"];
  if (typeof version === "number" && version > VERSION)
    throw new SourceError("unknown-format", `${path} was exported by a later version of Hansard.`, {
      path,
      next: "A newer version of Hansard opens it.",
    });
  if (session === undefined || version !== VERSION) throw notExport(path);
  return session;
}

function notExport(path: string): SourceError {
  return new SourceError("unknown-format", `${path} begins as an export of Hansard does, but is none.`, {
    path,
    next: "Export the session again; a file that was cut or written anew by another program is not read.",
  });
}

async function* linesOf(
  source: ByteSource,
  bytes: number,
): AsyncGenerator<{ readonly start: number; readonly end: number }> {
  let start = 0;
  for (let at = 0; at < bytes; ) {
    const chunk = await readFully(source, at, Math.min(EXPORT_CHUNK_BYTES, bytes - at));
    if (chunk.length === 0) break;
    for (let from = 0; ; ) {
      const next = chunk.indexOf(0x0a, from);
      if (next < 0) break;
      yield { start, end: at + next };
      start = at + next + 1;
      from = next + 1;
    }
    at += chunk.length;
  }
  if (start < bytes) yield { start, end: bytes };
}
