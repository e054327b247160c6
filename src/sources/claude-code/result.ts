/** Results of tools: the text the model got, and what Claude Code noted beside it. */
import type { Attachment, CallOutcome, CallState, FileChange } from "../../transcript/index.ts";
import type { EntryDraft } from "../classifier.ts";
import {
  arrayOf,
  compactJson,
  countOf,
  type Fields,
  lineCount,
  numberOf,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  timed,
  wordOf,
} from "../fields.ts";
import { fileOf } from "./files.ts";

/** `row` is the whole row where it holds this result alone: what is noted beside the message belongs to it. */
export function resultDraft(block: Fields, row: Fields | undefined, time: number | undefined): EntryDraft {
  const { content, attachments } = contentOf(block["content"]);
  const isError = block["is_error"] === true;
  const noted = objectOf(row?.["toolUseResult"]);
  const changes = noted === undefined ? [] : changesOf(noted);
  return {
    kind: "tool-result",
    toolUseId: stringOf(block["tool_use_id"]) ?? "",
    content,
    isError,
    outcome: outcomeOf(content, isError, noted, wordOf(row?.["toolDenialKind"])),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(changes.length === 0 ? {} : { changes }),
    ...timed(time),
  };
}

function contentOf(content: unknown): {
  readonly content: string;
  readonly attachments: readonly Attachment[];
} {
  if (typeof content === "string") return { content, attachments: [] };
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const piece of arrayOf(content) ?? (content === undefined || content === null ? [] : [content])) {
    const block = objectOf(piece);
    const type = stringOf(block?.["type"]);
    if (block !== undefined && (type === "image" || type === "document")) attachments.push(fileOf(block));
    else if (type === "tool_reference") texts.push(wordOf(block?.["tool_name"]) ?? "tool");
    else
      texts.push(
        stringOf(block?.["text"]) ?? (typeof piece === "string" ? piece : compactJson(piece, RAW_TEXT_MAX)),
      );
  }
  return { content: texts.join("\n"), attachments };
}

function stateOf(
  content: string,
  isError: boolean,
  noted: Fields | undefined,
  denial: string | undefined,
): CallState {
  if (
    denial !== undefined ||
    (isError && /^The user doesn't want to (?:proceed|take this action)/.test(content))
  )
    return "denied";
  if (noted?.["interrupted"] === true || /^\[Request interrupted by user/.test(content)) return "interrupted";
  return isError ? "failed" : "done";
}

function outcomeOf(
  content: string,
  isError: boolean,
  noted: Fields | undefined,
  denial: string | undefined,
): CallOutcome {
  const exit = isError ? /^(?:Error: )?Exit code (-?\d+)/.exec(content)?.[1] : undefined;
  const durationMs = numberOf(noted?.["durationMs"]) ?? numberOf(noted?.["totalDurationMs"]);
  const note = noteOf(noted);
  const lines = linesOf(content, noted);
  return {
    state: stateOf(content, isError, noted, denial),
    ...(exit === undefined ? {} : { exitCode: Number(exit) }),
    ...(durationMs === undefined ? {} : { durationMs: Math.round(durationMs) }),
    ...(lines === undefined ? {} : { lines }),
    ...(note === undefined ? {} : { note }),
  };
}

function linesOf(content: string, noted: Fields | undefined): number | undefined {
  const file = objectOf(noted?.["file"]);
  const read = countOf(file?.["numLines"]);
  if (read !== undefined) return read;
  return content === "" ? undefined : lineCount(content);
}

/** A few words where the text is not what counts. */
function noteOf(noted: Fields | undefined): string | undefined {
  if (noted === undefined) return undefined;
  const uses = countOf(noted["totalToolUseCount"]);
  if (uses !== undefined) return `${uses} tool ${uses === 1 ? "use" : "uses"}`;
  if (noted["isAsync"] === true || wordOf(noted["backgroundTaskId"]) !== undefined)
    return "in the background";
  const matches = countOf(noted["totalMatches"]);
  const files = countOf(noted["numFiles"]);
  if (matches !== undefined) return `${matches} ${matches === 1 ? "match" : "matches"}`;
  return files === undefined ? undefined : `${files} ${files === 1 ? "file" : "files"}`;
}

/** The file changes noted beside a result: patches where they are, else old and new text. */
function changesOf(noted: Fields): readonly FileChange[] {
  const path = wordOf(noted["filePath"]);
  if (path === undefined) return [];
  const patch = patchText(noted["structuredPatch"]);
  if (patch !== "") return [{ path, patch }];
  const newText = stringOf(noted["newString"]) ?? stringOf(noted["content"]);
  const oldText = stringOf(noted["oldString"]) ?? (noted["type"] === "create" ? "" : undefined);
  if (newText === undefined && oldText === undefined) return [];
  return [
    { path, ...(oldText === undefined ? {} : { oldText }), ...(newText === undefined ? {} : { newText }) },
  ];
}

/** Hunks as the text of a unified patch. */
function patchText(patch: unknown): string {
  const parts: string[] = [];
  for (const piece of arrayOf(patch) ?? []) {
    const hunk = objectOf(piece);
    const lines = arrayOf(hunk?.["lines"])?.filter((line): line is string => typeof line === "string");
    if (hunk === undefined || lines === undefined) continue;
    const from = (key: string): number => countOf(hunk[key]) ?? 0;
    parts.push(
      `@@ -${from("oldStart")},${from("oldLines")} +${from("newStart")},${from("newLines")} @@\n`,
      ...lines.map((line) => `${line}\n`),
    );
  }
  return parts.join("");
}
