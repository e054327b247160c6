/** The parts of messages, calls and results that both forms of Kimi's logs share. */
import type { Attachment, CallOutcome, ContentBlock, FileChange } from "../../transcript/index.ts";
import { callBlock, parseArguments } from "../calls.ts";
import type { EntryDraft } from "../classifier.ts";
import {
  arrayOf,
  attachmentOf,
  compactJson,
  type Fields,
  lineCount,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  timed,
  wordOf,
} from "../fields.ts";

/** The blocks of a model's content. Empty text and sealed thinking say nothing. */
export function contentBlocks(content: unknown): readonly ContentBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  return (arrayOf(content) ?? []).flatMap((part) => partBlocks(objectOf(part) ?? {}));
}

/** The block of one part; none where it says nothing. */
export function partBlocks(part: Fields): readonly ContentBlock[] {
  const type = stringOf(part["type"]) ?? "";
  if (type === "text") {
    const text = wordOf(part["text"]);
    return text === undefined ? [] : [{ kind: "text", text }];
  }
  if (type === "think") {
    const text = wordOf(part["think"]);
    return text === undefined ? [] : [{ kind: "thinking", text }];
  }
  const attachment = attachmentFrom(part);
  if (attachment !== undefined) return [{ kind: "attachment", attachment }];
  return [{ kind: "other", type, text: compactJson(part, RAW_TEXT_MAX) }];
}

const MEDIA: Readonly<Record<string, string>> = {
  image_url: "image/*",
  audio_url: "audio/*",
  video_url: "video/*",
};

function attachmentFrom(part: Fields): Attachment | undefined {
  const type = stringOf(part["type"]) ?? "";
  const mediaType = MEDIA[type];
  if (mediaType === undefined) return undefined;
  const source = objectOf(part[type]) ?? objectOf(part["imageUrl"]);
  const url = wordOf(source?.["url"]) ?? wordOf(part[type]);
  return url === undefined ? { mediaType } : attachmentOf(url, mediaType);
}

/** Text and attachments of what a person or a tool says. */
export function plainContent(content: unknown): {
  readonly text: string;
  readonly attachments: readonly Attachment[];
} {
  if (typeof content === "string") return { text: content, attachments: [] };
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const part of arrayOf(content) ?? []) {
    const fields = objectOf(part) ?? {};
    const attachment = attachmentFrom(fields);
    if (attachment !== undefined) attachments.push(attachment);
    else texts.push(stringOf(fields["text"]) ?? stringOf(part) ?? compactJson(part, RAW_TEXT_MAX));
  }
  return { text: texts.join("\n"), attachments };
}

/** A call as it is told within a message, or as an event of its own. */
export function toolCall(fields: Fields): ContentBlock {
  const called = objectOf(fields["function"]) ?? fields;
  const id = wordOf(fields["toolCallId"]) ?? wordOf(fields["id"]);
  const input = parseArguments(called["arguments"] ?? called["args"] ?? fields["args"]);
  return callBlock(id, wordOf(called["name"]) ?? wordOf(fields["name"]), input);
}

/** A result: what the tool gave back, what is shown of it, and whether it failed. */
export function toolResult(id: string | undefined, value: unknown, time: number | undefined): EntryDraft {
  const result = objectOf(value);
  const isError = result?.["is_error"] === true || result?.["isError"] === true;
  const given = plainContent(result === undefined ? value : (result["output"] ?? result["content"]));
  const words = wordOf(result?.["message"]);
  const content = given.text === "" ? (words ?? "") : given.text;
  const isDenied =
    isError &&
    /^(?:The tool call is rejected|User rejected|Rejected by (?:the )?user)/i.test(words ?? content);
  const changes = changesOf(arrayOf(result?.["display"]) ?? []);
  const outcome: CallOutcome = {
    state: isDenied ? "denied" : isError ? "failed" : "done",
    lines: lineCount(content),
  };
  return {
    kind: "tool-result",
    toolUseId: id ?? "",
    content,
    isError,
    outcome,
    ...(given.attachments.length > 0 ? { attachments: given.attachments } : {}),
    ...(changes.length > 0 ? { changes } : {}),
    ...timed(time),
  };
}

function changesOf(display: readonly unknown[]): readonly FileChange[] {
  return display.flatMap((shown) => {
    const block = objectOf(shown) ?? {};
    const path = wordOf(block["path"]);
    const oldText = stringOf(block["old_text"]) ?? stringOf(block["oldText"]);
    const newText = stringOf(block["new_text"]) ?? stringOf(block["newText"]);
    if (block["type"] !== "diff" || path === undefined || newText === undefined) return [];
    return [{ path, newText, ...(oldText === undefined ? {} : { oldText }) }];
  });
}
