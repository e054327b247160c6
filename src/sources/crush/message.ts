/** What a message of Crush means, with its parts as the row keeps them. */
import type { Attachment, ContentBlock, Wound } from "../../transcript/index.ts";
import { callBlock, parseArguments, patchChange } from "../calls.ts";
import type { Classified, EntryDraft, Mark } from "../classifier.ts";
import type { DocumentElement } from "../document/format.ts";
import {
  arrayOf,
  attachmentOf,
  base64Bytes,
  compactJson,
  type Fields,
  lineCount,
  noteDraft,
  numberOf,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  timed,
  timeOf,
  wordOf,
} from "../fields.ts";
import { unknown, withParts } from "../kinds.ts";

/** The meaning of one message: pure and total. */
export function classifyMessage(element: DocumentElement): Classified {
  const value = objectOf(element.value);
  const role = stringOf(value?.["role"]) ?? "";
  const time = timeOf(value?.["created_at"]);
  if (value === undefined || !["user", "assistant", "tool", "system"].includes(role)) {
    const kind = role === "" ? "no role" : role;
    return unknown(kind, element.value, time);
  }
  const parts = (arrayOf(value["parts"]) ?? []).map((part) => {
    const fields = objectOf(part) ?? {};
    return { type: stringOf(fields["type"]) ?? "", data: objectOf(fields["data"]) ?? {}, part };
  });
  const said =
    role === "assistant"
      ? modelMessage(value, parts, time, nameOf(value) ?? `@${element.index}`)
      : delivered(role, parts, time);
  const types = parts.map(({ type }) => type);
  return withParts(said, role, types, (type) => KNOWN.has(type));
}

const KNOWN: ReadonlySet<string> = new Set([
  "text",
  "reasoning",
  "tool_call",
  "tool_result",
  "finish",
  "binary",
  "image_url",
  "shell_command",
]);

interface Part {
  readonly type: string;
  readonly data: Fields;
  readonly part: unknown;
}

/** A message's id. */
export function nameOf(value: unknown): string | undefined {
  return wordOf(objectOf(value)?.["id"]);
}

function delivered(role: string, parts: readonly Part[], time: number | undefined): Classified {
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  const results: EntryDraft[] = [];
  const notes: EntryDraft[] = [];
  for (const each of parts) {
    // Hidden texts were put in by the program, for the model.
    if (each.type === "text" && each.data["hidden"] === true)
      notes.push(noteDraft("context", stringOf(each.data["text"]) ?? "", time));
    else if (each.type === "shell_command") notes.push(noteDraft("command", commandText(each.data), time));
    else if (each.type === "text") texts.push(stringOf(each.data["text"]) ?? "");
    else if (each.type === "tool_result") results.push(resultDraft(each.data, time));
    else if (each.type === "binary" || each.type === "image_url") attachments.push(attachmentFrom(each));
    else if (each.type !== "finish") texts.push(compactJson(each.part, RAW_TEXT_MAX));
  }
  if (texts.length === 0 && attachments.length === 0)
    return { kind: role, known: true, entries: [...results, ...notes] };
  const isPrompt = role === "user";
  const entry: EntryDraft = {
    kind: "delivered",
    sender: isPrompt ? "user" : "system",
    ...(isPrompt ? {} : { topic: role === "system" ? "context" : "notice" }),
    body: texts.join("\n"),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
  const marks: readonly Mark[] = isPrompt ? [{ type: "turnStarted" }] : [];
  return { kind: role, known: true, entries: [...results, ...notes, entry], marks };
}

/** A command that the person ran, with what it printed. */
function commandText(data: Fields): string {
  const exitCode = numberOf(data["exit_code"]);
  const lines = [`$ ${stringOf(data["command"]) ?? ""}`, stringOf(data["output"]) ?? ""];
  if (exitCode !== undefined && exitCode !== 0) lines.push(`(exit code ${exitCode})`);
  return lines.filter((line) => line !== "").join("\n");
}

function attachmentFrom({ type, data }: Part): Attachment {
  const mediaType =
    wordOf(data["MIMEType"]) ??
    wordOf(data["mime_type"]) ??
    (type === "image_url" ? "image/*" : "application/octet-stream");
  const url = wordOf(data["url"]);
  if (url !== undefined) return attachmentOf(url, mediaType);
  const bytes = stringOf(data["Data"]) ?? stringOf(data["data"]);
  const name = wordOf(data["Path"]) ?? wordOf(data["path"]);
  return {
    mediaType,
    ...(bytes === undefined ? {} : { bytes: base64Bytes(bytes) }),
    ...(name === undefined ? {} : { name }),
  };
}

function resultDraft(data: Fields, time: number | undefined): EntryDraft {
  const content = stringOf(data["content"]) ?? "";
  const isError = data["is_error"] === true;
  const metadata = objectOf(parseArguments(data["metadata"]));
  const change = patchChange(wordOf(metadata?.["diff"]));
  const mediaType = wordOf(data["mime_type"]);
  const bytes = wordOf(data["data"]);
  const attachments: readonly Attachment[] =
    mediaType === undefined || bytes === undefined ? [] : [{ mediaType, bytes: base64Bytes(bytes) }];
  return {
    kind: "tool-result",
    toolUseId: wordOf(data["tool_call_id"]) ?? "",
    content,
    isError,
    outcome: { state: isError ? "failed" : "done", lines: lineCount(content) },
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(change === undefined ? {} : { changes: [change] }),
    ...timed(time),
  };
}

function modelMessage(
  value: Fields,
  parts: readonly Part[],
  time: number | undefined,
  key: string,
): Classified {
  const blocks: ContentBlock[] = [];
  let finish: Fields | undefined;
  for (const { type, data, part } of parts) {
    if (type === "finish") finish = data;
    else if (type === "text") blocks.push({ kind: "text", text: stringOf(data["text"]) ?? "" });
    else if (type === "reasoning") blocks.push({ kind: "thinking", text: stringOf(data["thinking"]) ?? "" });
    else if (type === "tool_call")
      blocks.push(callBlock(wordOf(data["id"]), wordOf(data["name"]), parseArguments(data["input"])));
    else blocks.push({ kind: "other", type, text: compactJson(part, RAW_TEXT_MAX) });
  }
  const said = blocks.filter((block) => !("text" in block) || block.text !== "");
  const reason = wordOf(finish?.["reason"]);
  const wound = woundOf(reason, finish);
  const model = wordOf(value["model"]);
  const isSummary = value["is_summary_message"] === 1 || value["is_summary_message"] === true;
  const unfinished = finish === undefined ? { unfinished: true } : {};
  const hasCall = said.some((block) => block.kind === "tool-use");
  const begun: Mark = { type: "turnStarted", automatic: true };
  const isOver = wound !== undefined || (finish !== undefined && !hasCall && reason !== "tool_use");
  const texts = said.flatMap((block) => (block.kind === "text" ? [block.text] : []));
  const entry: EntryDraft = isSummary
    ? { kind: "compacted", summary: texts.join("\n"), ...unfinished, ...timed(time) }
    : {
        kind: "model",
        blocks: said,
        usage: {},
        messageId: key,
        ...(model === undefined ? {} : { modelId: model }),
        ...(reason === undefined ? {} : { stopReason: reason }),
        ...unfinished,
        ...timed(time),
      };
  return {
    kind: isSummary ? "assistant/summary" : "assistant",
    known: true,
    modelMessage: key,
    entries: [entry, ...(wound === undefined ? [] : [{ kind: "wounded", wound, ...timed(time) } as const])],
    marks: [
      ...(isSummary ? ([{ type: "compacted" }] as const) : []),
      begun,
      ...(isOver ? ([{ type: "turnEnded" }] as const) : []),
    ],
    ...(model === undefined ? {} : { info: { model } }),
  };
}

function refusalWords(finish: Fields | undefined): { readonly words?: string } {
  const words = wordOf(finish?.["message"]);
  return words === undefined ? {} : { words };
}

function woundOf(reason: string | undefined, finish: Fields | undefined): Wound | undefined {
  if (reason === "canceled") return { kind: "interrupted" };
  if (reason === "max_tokens") return { kind: "output-limit" };
  if (reason === "content_filter") return { kind: "refused", ...refusalWords(finish) };
  if (reason === "permission_denied") return { kind: "interrupted", words: "permission denied" };
  if (reason !== "error") return undefined;
  const words = [wordOf(finish?.["message"]), wordOf(finish?.["details"])].filter(
    (word) => word !== undefined,
  );
  return words.length === 0 ? { kind: "mute" } : { kind: "spoke", words: words.join(": ") };
}
