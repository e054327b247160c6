/** Cuts Aider's history into sections: runs of lines of one kind. Every line begins as its kind does, and blank ones belong to what is above. */
import type { ByteSource } from "../../lines/index.ts";
import type { DocumentPart } from "../document/format.ts";

export type SectionKind = "run" | "prompt" | "note" | "answer";

const CHUNK_BYTES: number = 256 * 1024;
/** Bytes of a line that tell its kind. */
const LINE_HEAD_BYTES = 32;
const NEWLINE = 0x0a;

/** The kind of a line from its first characters; undefined for a blank one. */
export function kindOf(line: string): SectionKind | undefined {
  if (line.startsWith("# aider chat started at ")) return "run";
  if (/^####(?:[ \r]|$)/.test(line)) return "prompt";
  if (/^>(?:[ \r]|$)/.test(line)) return "note";
  return line.trim() === "" ? undefined : "answer";
}

/**
 * The sections between two offsets. A last line without its line feed may go on and is held back. The file is read once, in pieces, and
 * a section of any size costs its first bytes.
 */
export async function* scanSections(
  source: ByteSource,
  start: number,
  end: number,
): AsyncIterable<readonly DocumentPart[]> {
  let sectionStart = start;
  let sectionKind: SectionKind | undefined;
  let head = Buffer.alloc(0);
  let lineStart = start;
  let at = start;
  while (at < end) {
    const chunk = await source.read(at, Math.min(CHUNK_BYTES, end - at));
    if (chunk.length === 0) break;
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const parts: DocumentPart[] = [];
    let from = 0;
    for (let feed = bytes.indexOf(NEWLINE); feed !== -1; feed = bytes.indexOf(NEWLINE, from)) {
      const rest = bytes.subarray(from, Math.min(feed, from + LINE_HEAD_BYTES - head.length));
      const kind = kindOf(lineHead(Buffer.concat([head, rest]), lineStart));
      if (kind !== undefined && (kind !== sectionKind || kind === "run")) {
        if (sectionKind !== undefined) {
          parts.push({ type: "element", start: sectionStart, end: lineStart });
          sectionStart = lineStart;
        }
        sectionKind = kind;
      }
      head = Buffer.alloc(0);
      from = feed + 1;
      lineStart = at + from;
    }
    if (head.length < LINE_HEAD_BYTES)
      head = Buffer.concat([head, bytes.subarray(from, from + LINE_HEAD_BYTES - head.length)]);
    at += chunk.length;
    if (parts.length > 0) yield parts;
  }
  const parts: DocumentPart[] = [];
  if (sectionKind !== undefined && lineStart > sectionStart)
    parts.push({ type: "element", start: sectionStart, end: lineStart });
  parts.push({ type: "end", end: lineStart, isWhole: true });
  yield parts;
}

function lineHead(bytes: Uint8Array, offset: number): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return offset === 0 ? text.replace(/^\uFEFF/, "") : text;
}
