/** Tool calls as the agents of today write them: what a call is about, and which files it changes. */
import type { ContentBlock, FileChange } from "../transcript/index.ts";
import { arrayOf, type Fields, objectOf, stringOf, subjectOf, summarizeInput, wordOf } from "./fields.ts";

const PATH_KEYS = ["file_path", "path", "filePath", "absolute_path", "filename"];
const OLD_KEYS = ["old_string", "old_str", "oldText", "oldString", "old_text", "old"];
const NEW_KEYS = ["new_string", "new_str", "newText", "newString", "new_text", "new"];
const CONTENT_KEYS = ["content", "file_text", "contents", "text"];
const WRITES = /^(?:create|write|new)(?:$|_|file)|(?:^|_)(?:create|write)(?:_?file)?$|writefile/i;

/** A call's block. An absent id is "", which pairs with nothing. */
export function callBlock(id: string | undefined, name: string | undefined, input: unknown): ContentBlock {
  const subject = subjectOf(input);
  const changes = changesOf(name ?? "", objectOf(input));
  return {
    kind: "tool-use",
    id: id ?? "",
    name: name ?? "",
    inputSummary: summarizeInput(input),
    ...(subject === undefined ? {} : { subject }),
    ...(changes.length > 0 ? { changes } : {}),
  };
}

/** The changes of files that a call's own input tells: a part replaced by another, or a whole file written. */
function changesOf(name: string, input: Fields | undefined): readonly FileChange[] {
  const path = input && firstWord(input, PATH_KEYS);
  if (input === undefined || path === undefined) return [];
  const changes: FileChange[] = [];
  for (const edit of arrayOf(input["edits"]) ?? arrayOf(input["changes"]) ?? [input]) {
    const fields = objectOf(edit) ?? {};
    const oldText = firstString(fields, OLD_KEYS);
    const newText = firstString(fields, NEW_KEYS);
    if (oldText !== undefined && newText !== undefined) changes.push({ path, oldText, newText });
  }
  if (changes.length > 0 || !WRITES.test(name)) return changes;
  const newText = firstString(input, CONTENT_KEYS);
  return newText === undefined ? [] : [{ path, newText }];
}

function firstWord(fields: Fields, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const word = wordOf(fields[key]);
    if (word !== undefined) return word;
  }
  return undefined;
}

function firstString(fields: Fields, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = stringOf(fields[key]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The arguments of a call that are written as a JSON text; the text itself where it is none. */
export function parseArguments(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return value;
    throw error;
  }
}

/** A unified patch told as a change of the file its head names; absent where the text is none. */
export function patchChange(text: string | undefined): FileChange | undefined {
  if (text === undefined) return undefined;
  const head = /(?:^|\n)--- ([^\n]*)\n\+\+\+ ([^\n]*)\n@@ /.exec(text);
  if (head === null) return undefined;
  const named = [head[2], head[1]].find((name) => name !== undefined && name !== "/dev/null") ?? "";
  const path = named.replace(/\t.*$/, "").replace(/^[ab]\//, "");
  return path === "" ? undefined : { path, patch: text.replace(/^\n/, "") };
}
