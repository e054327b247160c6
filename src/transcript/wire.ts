/** The transcript on a wire: rows of entries, a stream, and the envelope of a reply. Encoding is exact, decoding strict. Pure. */

import type { Entry } from "./entry.ts";
import type { Stream } from "./stream.ts";
import { encodeEntry, readEntry } from "./wire-entry.ts";
import {
  type Decoded,
  decoding,
  readList,
  readObject,
  readOptional,
  readString,
  readWord,
  refuse,
  type WireFields,
} from "./wire-fields.ts";
import { woundBanner } from "./wound.ts";

/** An entry with its verbatim bytes as text, each byte that is no UTF-8 as U+FFFD. */
export interface WireRow {
  readonly entry: Entry;
  readonly raw: string;
}

/** The text behind an entry that no file backs: what was streamed, the notice, the summary. Absent for any other entry. */
export function virtualRaw(entry: Entry): string | undefined {
  switch (entry.kind) {
    case "streaming":
      return entry.thinking + entry.text;
    case "wounded":
      return woundBanner(entry.wound);
    case "compacted":
      return entry.place === undefined ? entry.summary : undefined;
    case "delivered":
    case "model":
    case "tool-result":
    case "raw":
      return undefined;
  }
}

export function encodeRow(row: WireRow): WireFields {
  return { ...encodeEntry(row.entry), raw: row.raw };
}

/** The row, or why it is none. Fields of names unknown to us are passed over. */
export function decodeRow(value: unknown): Decoded<WireRow> {
  return decoding(() => readRow(value));
}

function readRow(value: unknown): WireRow {
  const fields = readObject(value, "row");
  return { entry: readEntry(fields), raw: readString(fields, "raw") };
}

/** An entry without its bytes. */
export function decodeEntry(value: unknown): Decoded<Entry> {
  return decoding(() => readEntry(readObject(value, "row")));
}

/** The reply to a question: its kind, then its fields. */
export function encodeReply(kind: string, fields: WireFields): WireFields {
  return { ...fields, ok: true, kind };
}

export function encodeRefusal(error: string): WireFields {
  return { ok: false, error };
}

/** The fields of a reply of that kind. A reply that refuses, or of another kind, is a refusal here. */
export function decodeReply(value: unknown, kind: string): Decoded<WireFields> {
  return decoding(() => readReply(value, kind));
}

function readReply(value: unknown, kind: string): WireFields {
  const fields = readObject(value, "reply");
  if (fields["ok"] === false) return refuse("refused", readString(fields, "error"));
  if (fields["ok"] !== true) return refuse("bad-field", 'missing or non-boolean field "ok"');
  readWord(fields, "kind", [kind]);
  return fields;
}

export function encodeTranscript(rows: readonly WireRow[]): WireFields {
  return encodeReply("transcript", { rows: rows.map(encodeRow) });
}

export function decodeTranscript(value: unknown): Decoded<readonly WireRow[]> {
  return decoding(() => readList(readReply(value, "transcript"), "rows", readRow));
}

/** A stream's halves and the one that moved last; what is absent has no key. */
export function encodeStream(stream: Stream): WireFields {
  return {
    ...(stream.text === undefined ? {} : { text: stream.text }),
    ...(stream.thinking === undefined ? {} : { thinking: stream.thinking }),
    ...(stream.lastDelta === undefined ? {} : { delta: stream.lastDelta }),
  };
}

export function decodeStream(value: unknown): Decoded<Stream> {
  return decoding(() => readStream(value));
}

/** As `decodeStream`, for use inside a decoder. */
export function readStream(value: unknown): Stream {
  const fields = readObject(value, "stream");
  return {
    ...readOptional(fields, "text", "text", readString),
    ...readOptional(fields, "thinking", "thinking", readString),
    ...readOptional(fields, "delta", "lastDelta", (f, key) => readWord(f, key, ["text", "thinking"])),
  };
}
