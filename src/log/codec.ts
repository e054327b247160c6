/** A record as a line and back. The checksum covers every byte before it, so a line that passes is the line that was written. */
import { crc32 } from "node:zlib";
import { jsonText } from "./json.ts";
import { lineBytesMax } from "./limits.ts";
import { logVersion, type Stamp, type UnknownRecord } from "./records.ts";

/** `,"crc":"xxxxxxxx"}` */
const tailBytes = 18;
const crcMark = ',"crc":"';

/** The bytes of a record's line, its line feed included. `record` holds its fields in their order, without the checksum. */
export function encodeRecord(record: Stamp & { readonly kind: string }): Buffer {
  const text = jsonText(record);
  const headBytes = Buffer.byteLength(text) - 1;
  const line = Buffer.allocUnsafe(headBytes + tailBytes + 1);
  line.write(text, 0, headBytes, "utf8");
  const sum = crc32(line.subarray(0, headBytes)).toString(16).padStart(8, "0");
  line.write(`${crcMark}${sum}"}\n`, headBytes, "latin1");
  return line;
}

/** Why bytes are no record. `newer`: a record of a later version of the format, perhaps under other rules. */
export type LineFault = "crc" | "not-json" | "not-a-record" | "too-large" | "newer";

export type DecodedLine =
  | { readonly ok: true; readonly record: UnknownRecord }
  | { readonly ok: false; readonly fault: LineFault; readonly version?: number };

function isCount(value: unknown, min: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min;
}

/** What a value of a line with a right checksum is. */
function readStamp(value: unknown): DecodedLine {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { ok: false, fault: "not-a-record" };
  const record = value as Record<string, unknown>;
  if (isCount(record["v"], logVersion + 1)) return { ok: false, fault: "newer", version: record["v"] };
  if (record["v"] !== logVersion || !isCount(record["seq"], 1) || !isCount(record["ts"], 0))
    return { ok: false, fault: "not-a-record" };
  if (record["synced"] !== undefined && !isCount(record["synced"], 0))
    return { ok: false, fault: "not-a-record" };
  if (typeof record["kind"] !== "string" || record["kind"] === "")
    return { ok: false, fault: "not-a-record" };
  return { ok: true, record: record as UnknownRecord };
}

/**
 * The same for a line that was parsed already: a checksum that fits the value's own text is the line's. Undefined where that does not
 * tell, as with a line that another program wrote in another way: then the line itself must be asked.
 */
export function decodeParsed(value: unknown): DecodedLine | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { crc, ...record } = value as Record<string, unknown>;
  if (typeof crc !== "string" || !/^[0-9a-f]{8}$/.test(crc)) return undefined;
  if (crc32(jsonText(record).slice(0, -1)) !== Number.parseInt(crc, 16)) return undefined;
  return readStamp(record);
}

/** A bad line that says of itself that it is of a newer version, whose checksum may follow other rules. */
function newerIn(text: string): number | undefined {
  const match = /^\{"v":(\d{1,9})[,}]/.exec(text);
  const version = match === null ? 0 : Number(match[1]);
  if (version <= logVersion) return undefined;
  try {
    JSON.parse(text);
    return version;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Reads one line, without its line feed. Total: any bytes give an answer. */
export function decodeLine(bytes: Uint8Array): DecodedLine {
  if (bytes.length + 1 > lineBytesMax) return { ok: false, fault: "too-large" };
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headBytes = line.length - tailBytes;
  const tail = headBytes > 0 ? line.toString("latin1", headBytes) : "";
  const sum = /^,"crc":"([0-9a-f]{8})"\}$/.exec(tail)?.[1];
  if (sum === undefined || Number.parseInt(sum, 16) !== crc32(line.subarray(0, headBytes))) {
    const version = line.length > 0 && line[0] === 0x7b ? newerIn(line.toString("utf8")) : undefined;
    return version === undefined ? { ok: false, fault: "crc" } : { ok: false, fault: "newer", version };
  }
  try {
    return readStamp(JSON.parse(`${line.toString("utf8", 0, headBytes)}}`));
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, fault: "not-json" };
    throw error;
  }
}
