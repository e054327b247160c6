/** The parts of a message in the form of the Gemini API. */
import type { Attachment, CallOutcome, ContentBlock, FileChange } from "../../transcript/index.ts";
import { callBlock } from "../calls.ts";
import type { EntryDraft } from "../classifier.ts";
import {
  arrayOf,
  attachmentOf,
  base64Bytes,
  compactJson,
  type Fields,
  lineCount,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  timed,
  wordOf,
} from "../fields.ts";

/** Texts and attachments of a person's message; a call or a result is not among them. */
export function readParts(parts: unknown): {
  readonly text: string;
  readonly attachments: readonly Attachment[];
} {
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const part of arrayOf(parts) ?? []) {
    const fields = objectOf(part) ?? {};
    const text = stringOf(fields["text"]);
    const attachment = attachmentFrom(fields);
    if (text !== undefined) texts.push(text);
    else if (attachment !== undefined) attachments.push(attachment);
    else if (!("functionResponse" in fields)) texts.push(compactJson(part, RAW_TEXT_MAX));
  }
  return { text: texts.join("\n"), attachments };
}

function attachmentFrom(fields: Fields): Attachment | undefined {
  const inline = objectOf(fields["inlineData"]);
  const file = objectOf(fields["fileData"]);
  const mediaType = wordOf(inline?.["mimeType"]) ?? wordOf(file?.["mimeType"]) ?? "application/octet-stream";
  if (inline !== undefined) return { mediaType, bytes: base64Bytes(stringOf(inline["data"]) ?? "") };
  const uri = wordOf(file?.["fileUri"]);
  return uri === undefined ? undefined : attachmentOf(uri, mediaType);
}

/** The blocks of a model's message. Empty texts say nothing. */
export function modelParts(parts: unknown): readonly ContentBlock[] {
  const blocks: ContentBlock[] = [];
  for (const part of arrayOf(parts) ?? []) {
    const fields = objectOf(part) ?? {};
    const text = stringOf(fields["text"]);
    const call = objectOf(fields["functionCall"]);
    const attachment = attachmentFrom(fields);
    if (text !== undefined) {
      if (text !== "") blocks.push({ kind: fields["thought"] === true ? "thinking" : "text", text });
    } else if (call !== undefined)
      blocks.push(callBlock(wordOf(call["id"]), wordOf(call["name"]), call["args"]));
    else if (attachment !== undefined) blocks.push({ kind: "attachment", attachment });
    else
      blocks.push({
        kind: "other",
        type: Object.keys(fields)[0] ?? "",
        text: compactJson(part, RAW_TEXT_MAX),
      });
  }
  return blocks;
}

/** The results that a row's message holds, with what is noted beside them. */
export function resultDrafts(value: Fields, time: number | undefined): readonly EntryDraft[] {
  const noted = objectOf(value["toolCallResult"]);
  const parts = (arrayOf(objectOf(value["message"])?.["parts"]) ?? []).map((part) => objectOf(part) ?? {});
  const responses = parts.flatMap((part): readonly Fields[] => {
    const response = objectOf(part["functionResponse"]);
    return response === undefined ? [] : [response];
  });
  const attachments = parts.flatMap((part) => attachmentFrom(part) ?? []);
  const answers: readonly Fields[] =
    responses.length === 0 && noted !== undefined ? [{ id: noted["callId"] }] : responses;
  return answers.map((response: Fields, at): EntryDraft => {
    const isNoted = noted !== undefined && answers.length === 1;
    const content = responseText(response["response"], isNoted ? noted : undefined);
    const outcome = outcomeOf(objectOf(response["response"]), isNoted ? noted : undefined, content);
    const changes = isNoted ? changesOf(objectOf(noted["resultDisplay"])) : [];
    return {
      kind: "tool-result",
      toolUseId: wordOf(response["id"]) ?? wordOf(noted?.["callId"]) ?? "",
      content,
      isError: outcome.state === "failed",
      outcome,
      ...(at === 0 && attachments.length > 0 ? { attachments } : {}),
      ...(changes.length > 0 ? { changes } : {}),
      ...timed(time),
    };
  });
}

function responseText(response: unknown, noted: Fields | undefined): string {
  const fields = objectOf(response);
  const text = wordOf(fields?.["output"]) ?? wordOf(fields?.["error"]) ?? wordOf(response);
  if (text !== undefined) return text;
  const shown = wordOf(noted?.["resultDisplay"]);
  if (shown !== undefined) return shown;
  return fields === undefined || Object.keys(fields).length === 0 || fields["output"] === ""
    ? ""
    : compactJson(fields, RAW_TEXT_MAX);
}

function outcomeOf(response: Fields | undefined, noted: Fields | undefined, content: string): CallOutcome {
  const status = wordOf(noted?.["status"]);
  const isFailed = status === "error" || (status === undefined && response?.["error"] !== undefined);
  const exit = /(?:^|\n)Exit Code: (-?\d+)/.exec(content.slice(0, 64 * 1024));
  const state = status === "cancelled" ? "interrupted" : isFailed ? "failed" : "done";
  return {
    state,
    ...(exit === null ? {} : { exitCode: Number(exit[1]) }),
    lines: lineCount(content),
  };
}

function changesOf(display: Fields | undefined): readonly FileChange[] {
  const patch = wordOf(display?.["fileDiff"]);
  const path = wordOf(display?.["fileName"]);
  return patch === undefined || path === undefined ? [] : [{ path, patch }];
}
