/** Content blocks in the form of the Anthropic API, as several agents keep them. */
import type { Attachment, CallOutcome, ContentBlock, Usage } from "../transcript/index.ts";
import { callBlock } from "./calls.ts";
import type { EntryDraft } from "./classifier.ts";
import {
  arrayOf,
  attachmentOf,
  base64Bytes,
  compactJson,
  countOf,
  type Fields,
  lineCount,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  timed,
  wordOf,
} from "./fields.ts";

/** The blocks of a model's message. Thinking that is only signed, and empty text, say nothing. */
export function modelBlocks(content: unknown): readonly ContentBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  const blocks: ContentBlock[] = [];
  for (const piece of arrayOf(content) ?? []) {
    const fields = objectOf(piece) ?? {};
    const type = stringOf(fields["type"]) ?? "";
    switch (type) {
      case "text": {
        const text = wordOf(fields["text"]);
        if (text !== undefined) blocks.push({ kind: "text", text });
        break;
      }
      case "thinking":
      case "reasoning": {
        const text = wordOf(fields["thinking"]) ?? wordOf(fields["text"]);
        if (text !== undefined) blocks.push({ kind: "thinking", text });
        break;
      }
      case "redacted_thinking":
      case "reasoning_details":
        break;
      case "tool_use":
      case "server_tool_use":
        blocks.push(callBlock(wordOf(fields["id"]), wordOf(fields["name"]), fields["input"]));
        break;
      case "image":
      case "document":
        blocks.push({ kind: "attachment", attachment: attachmentFrom(fields, type) });
        break;
      default:
        blocks.push({ kind: "other", type, text: compactJson(piece, RAW_TEXT_MAX) });
    }
  }
  return blocks;
}

/** A user message taken apart. */
export interface UserContent {
  readonly texts: readonly string[];
  readonly attachments: readonly Attachment[];
  readonly results: readonly EntryDraft[];
}

/** The texts, attachments and tool results of a user message. A block of another kind is a text of its JSON. */
export function userContent(content: unknown, time: number | undefined): UserContent {
  if (typeof content === "string") return { texts: [content], attachments: [], results: [] };
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  const results: EntryDraft[] = [];
  for (const piece of arrayOf(content) ?? []) {
    const fields = objectOf(piece) ?? {};
    const type = stringOf(fields["type"]) ?? "";
    if (type === "text") texts.push(stringOf(fields["text"]) ?? "");
    else if (type === "image" || type === "document" || type === "file")
      attachments.push(attachmentFrom(fields, type));
    else if (type === "tool_result") results.push(resultDraft(fields, time));
    else texts.push(typeof piece === "string" ? piece : compactJson(piece, RAW_TEXT_MAX));
  }
  return { texts, attachments, results };
}

function attachmentFrom(fields: Fields, type: string): Attachment {
  const source = objectOf(fields["source"]) ?? fields;
  const data = stringOf(source["data"]);
  const url = wordOf(source["url"]) ?? wordOf(source["path"]);
  const mediaType =
    wordOf(source["media_type"]) ?? wordOf(source["mediaType"]) ?? (type === "image" ? "image/*" : type);
  if (data !== undefined) return { mediaType, bytes: base64Bytes(data) };
  return url === undefined ? { mediaType } : attachmentOf(url, mediaType);
}

function resultDraft(fields: Fields, time: number | undefined): EntryDraft {
  const inner = userContent(fields["content"], time);
  const isError = fields["is_error"] === true || fields["isError"] === true;
  const content = inner.texts.join("\n");
  const outcome: CallOutcome = { state: isError ? "failed" : "done", lines: lineCount(content) };
  return {
    kind: "tool-result",
    toolUseId: wordOf(fields["tool_use_id"]) ?? wordOf(fields["toolUseId"]) ?? "",
    content,
    isError,
    outcome,
    ...(inner.attachments.length > 0 ? { attachments: inner.attachments } : {}),
    ...timed(time),
  };
}

/** The counters of an object, under its own names; what is no count stays out. */
export function usageCounters(value: unknown): Usage {
  const usage: Record<string, number> = {};
  for (const [name, count] of Object.entries(objectOf(value) ?? {})) {
    const n = countOf(count);
    if (n !== undefined) usage[name] = n;
  }
  return usage;
}

/** Whether any block calls a tool. */
export function hasCall(blocks: readonly ContentBlock[]): boolean {
  return blocks.some((block) => block.kind === "tool-use");
}
