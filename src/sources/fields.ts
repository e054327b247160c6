/** Reads fields of parsed JSON of unknown shape: each answers `undefined` where the field is absent or of another type. */
import type { Attachment, RawEntry } from "../transcript/index.ts";
import type { EntryDraft } from "./classifier.ts";
import { ExactNumber } from "./exact-json.ts";
import { compareText } from "./order.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Most code points of an input summary, before the ellipsis. */
export const INPUT_SUMMARY_MAX = 200;
/** Most code points of the piece of JSON a raw entry or an unknown block carries. */
export const RAW_TEXT_MAX = 2000;
/** Deepest level of a value that compact JSON writes out; deeper values become `…`. */
export const JSON_DEPTH_MAX = 128;

/** The value as an object; arrays and null are none. */
export function objectOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function arrayOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A string with something in it. */
export function wordOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A count: a non-negative safe integer. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Milliseconds since the epoch of an ISO text, or of a number of seconds, milliseconds or microseconds. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === "string") {
    if (!/^\d{4}-\d\d-\d\d/.test(value)) return undefined;
    const ms = Date.parse(value);
    return Number.isNaN(ms) ? undefined : ms;
  }
  const n = numberOf(value);
  if (n === undefined || n <= 0) return undefined;
  if (n < 1e11) return Math.round(n * 1000);
  return n < 1e14 ? Math.round(n) : Math.round(n / 1000);
}

/** The first `max` code points of a text, with an ellipsis where something was cut. Never splits a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  let units = 0;
  let points = 0;
  while (units < text.length && points < max) {
    const code = text.codePointAt(units) ?? 0;
    units += code > 0xffff ? 2 : 1;
    points += 1;
  }
  return units >= text.length ? text : `${text.slice(0, units)}…`;
}

/**
 * One line of compact JSON with the keys of every object in code point order, cut at `max` code points. The cost is bounded by
 * `max`, not by the value, apart from sorting the keys of the objects that are reached.
 */
export function compactJson(value: unknown, max: number): string {
  const parts: string[] = [];
  let room = max * 2 + 2;
  const put = (text: string): void => {
    parts.push(text);
    room -= text.length;
  };
  const write = (v: unknown, depth: number): void => {
    if (room <= 0) return;
    if (typeof v === "string") {
      put(JSON.stringify(v.length > room ? v.slice(0, room) : v));
      return;
    }
    if (typeof v !== "object" || v === null) {
      put(JSON.stringify(v) ?? "null");
      return;
    }
    if (v instanceof ExactNumber) {
      put(v.text);
      return;
    }
    if (depth >= JSON_DEPTH_MAX) {
      put("…");
      return;
    }
    const isArray = Array.isArray(v);
    put(isArray ? "[" : "{");
    const keys = isArray ? v.keys() : Object.keys(v).sort(compareText).values();
    let isFirst = true;
    for (const key of keys) {
      if (room <= 0) return;
      if (!isFirst) put(",");
      isFirst = false;
      if (!isArray) put(`${JSON.stringify(key)}:`);
      write((v as Record<string | number, unknown>)[key], depth + 1);
    }
    put(isArray ? "]" : "}");
  };
  write(value, 0);
  return cutText(parts.join(""), max);
}

/** The input of a tool call as one short line. An absent input gives "". */
export function summarizeInput(input: unknown): string {
  return input === undefined ? "" : compactJson(input, INPUT_SUMMARY_MAX);
}

/** A raw entry for a record no reader knows. */
export function rawDraft(
  reason: string,
  value: unknown,
  time?: number,
): Omit<RawEntry, "name" | "place" | "offPath"> {
  return {
    kind: "raw",
    reason,
    text: compactJson(value, RAW_TEXT_MAX),
    ...(time === undefined ? {} : { time }),
  };
}

/** A note of the agent's program: delivered by `system` under a topic. */
export function noteDraft(topic: string, body: string, time: number | undefined): EntryDraft {
  return { kind: "delivered", sender: "system", topic, body, ...timed(time) };
}

/** `{ time }`, or nothing where it is not known. */
export function timed(time: number | undefined): { readonly time?: number } {
  return time === undefined ? {} : { time };
}

/** Size in bytes of what a base64 text decodes to. */
export function base64Bytes(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((text.length * 3) / 4) - padding);
}

/** An attachment told from a data URL, a web address or a path; the bytes are not kept. */
export function attachmentOf(url: string, mediaType = "image/*"): Attachment {
  const head = /^data:([^;,]*)[^,]{0,100},/.exec(url.slice(0, 300));
  if (head) {
    const payload = url.length - head[0].length;
    const isBase64 = head[0].endsWith(";base64,");
    return {
      mediaType: head[1] || mediaType,
      bytes: isBase64 ? base64Bytes(url) - base64Bytes(head[0]) : payload,
    };
  }
  return { mediaType, name: cutText(url, INPUT_SUMMARY_MAX) };
}

/** The number of lines of a text: a final newline begins no further one. */
export function lineCount(text: string): number {
  if (text === "") return 0;
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < text.length - 1; at = text.indexOf("\n", at + 1))
    count += 1;
  return count;
}

/**
 * The argument of a tool call that tells most, as people say it: the command, the path, the query, the address. Absent where none of
 * the usual names is there.
 */
export function subjectOf(input: unknown): string | undefined {
  const fields = objectOf(input);
  if (!fields) return undefined;
  const command = commandOf(fields["command"] ?? fields["cmd"]);
  if (command) return cutText(command, INPUT_SUMMARY_MAX);
  for (const key of SUBJECT_KEYS) {
    const value = fields[key];
    const text = wordOf(value) ?? wordOf(arrayOf(value)?.[0]);
    if (text) return cutText(text, INPUT_SUMMARY_MAX);
  }
  return undefined;
}

const SUBJECT_KEYS = [
  "file_path",
  "filePath",
  "path",
  "absolute_path",
  "dir_path",
  "notebook_path",
  "filename",
  "pattern",
  "query",
  "queries",
  "q",
  "url",
  "uri",
  "prompt",
  "description",
  "name",
  "id",
];

/** A command as typed: a shell wrapper (`bash -lc …`) is taken off. */
export function commandOf(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  const words = arrayOf(value)?.filter((w): w is string => typeof w === "string");
  if (!words || words.length === 0) return undefined;
  const [shell = "", flag = "", script] = words;
  if (
    script !== undefined &&
    words.length === 3 &&
    /(^|[/\\])(ba|z|da|fi|k)?sh(\.exe)?$|powershell|pwsh|cmd/i.test(shell)
  )
    if (/^[-/]/.test(flag)) return script;
  return words.map((w) => (/^[\w@%+=:,./-]+$/.test(w) ? w : JSON.stringify(w))).join(" ");
}
