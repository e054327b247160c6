/** Small readings of foreign values: what is no text is absent, never "". Pure. */
import { inputSummaryMax, wordCharsMax } from "./limits.ts";

export type Fields = { readonly [key: string]: unknown };

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text within its bound; absent where it is none or says nothing. */
export function wordOf(value: unknown, charsMax: number = wordCharsMax): string | undefined {
  return typeof value === "string" && value !== "" ? cutChars(value, charsMax) : undefined;
}

export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The start of a text, cut between code points, with an ellipsis where something is left out. */
export function cutChars(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${headOf(text, charsMax)}…`;
}

/** At most so many UTF-16 units of the start of a text, cut between code points; shares no memory with the text. */
export function headOf(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const last = text.charCodeAt(charsMax - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? charsMax - 1 : charsMax;
  return Buffer.from(text.slice(0, end), "utf16le").toString("utf16le");
}

const depthMax = 32;

/** Compact JSON with sorted keys; cost is bounded by `charsMax`, not by the value. */
export function compactJson(value: unknown, charsMax: number): string {
  let out = "";
  const write = (node: unknown, depth: number): void => {
    if (out.length > charsMax) return;
    if (typeof node === "string") {
      out += JSON.stringify(node.length > charsMax ? headOf(node, charsMax) : node);
      return;
    }
    if (typeof node !== "object" || node === null) {
      out += JSON.stringify(node) ?? "null";
      return;
    }
    if (depth >= depthMax) {
      out += "…";
      return;
    }
    const entries = Array.isArray(node)
      ? node.map((item): [string, unknown] => ["", item])
      : Object.entries(node).sort(([a], [b]) => (a < b ? -1 : 1));
    out += Array.isArray(node) ? "[" : "{";
    for (const [index, [key, item]] of entries.entries()) {
      if (out.length > charsMax) return;
      if (index > 0) out += ",";
      if (!Array.isArray(node)) out += `${JSON.stringify(key)}:`;
      write(item, depth + 1);
    }
    out += Array.isArray(node) ? "]" : "}";
  };
  write(value, 0);
  return out.length <= charsMax ? out : headOf(out, charsMax);
}

/** One line of compact JSON of a call's input, at most `inputSummaryMax` code points and an ellipsis; "" for none. */
export function summarizeInput(input: unknown): string {
  if (input === undefined) return "";
  const points = [...compactJson(input, inputSummaryMax * 2 + 2)];
  return points.length <= inputSummaryMax ? points.join("") : `${points.slice(0, inputSummaryMax).join("")}…`;
}

const subjectKeys = [
  "file_path",
  "path",
  "absolute_path",
  "dir_path",
  "notebook_path",
  "filename",
  "pattern",
  "query",
  "q",
  "url",
  "uri",
];

/** The argument that tells most: the command, the path, the query, the address. Absent where none of the usual names is there. */
export function subjectOf(input: unknown): string | undefined {
  const fields = fieldsOf(input);
  if (fields === undefined) return undefined;
  const command = fields["command"] ?? fields["cmd"];
  const words = Array.isArray(command)
    ? command.filter((part) => typeof part === "string").join(" ")
    : command;
  const told = wordOf(words, inputSummaryMax);
  if (told !== undefined) return told;
  for (const key of subjectKeys) {
    const value = wordOf(fields[key], inputSummaryMax);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The lines of a text: a final newline begins no further one. */
export function lineCount(text: string): number {
  if (text === "") return 0;
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < text.length - 1; at = text.indexOf("\n", at + 1))
    count += 1;
  return count;
}
