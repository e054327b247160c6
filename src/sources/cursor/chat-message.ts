/** What a message of a chat of Cursor's command line means: it is kept as it is sent to the model. */
import type { Attachment, ContentBlock } from "../../transcript/index.ts";
import { hasCall } from "../anthropic.ts";
import { callBlock } from "../calls.ts";
import type { Classified, EntryDraft, Mark } from "../classifier.ts";
import type { DocumentElement } from "../document/format.ts";
import {
  arrayOf,
  attachmentOf,
  compactJson,
  type Fields,
  lineCount,
  noteDraft,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  wordOf,
} from "../fields.ts";
import { unknown, withParts } from "../kinds.ts";
import { promptOf } from "./user-text.ts";

const ROLES: ReadonlySet<string> = new Set(["system", "user", "assistant", "tool"]);
const PIECES: ReadonlySet<string> = new Set([
  "text",
  "reasoning",
  "redacted-reasoning",
  "tool-call",
  "tool-result",
  "image",
  "file",
]);

/** The meaning of one message: pure and total. */
export function classifyChatMessage(element: DocumentElement): Classified {
  const value = objectOf(element.value);
  const role = stringOf(value?.["role"]) ?? "";
  if (value === undefined || !ROLES.has(role)) {
    const kind = role === "" ? "no role" : role;
    return unknown(kind, element.value);
  }
  const content = value["content"];
  const pieces =
    typeof content === "string"
      ? [{ type: "text", text: content }]
      : (arrayOf(content) ?? []).map((piece) => objectOf(piece) ?? { type: "", value: piece });
  const said = meaningOf(role, pieces, chatNameOf(value) ?? `@${element.index}`);
  return withParts(said, role, pieces.map(typeOf), (type) => PIECES.has(type));
}

/** The name of the bytes that hold the message. */
export function chatNameOf(value: unknown): string | undefined {
  return wordOf(objectOf(value)?.["blob"]);
}

function typeOf(piece: Fields): string {
  return stringOf(piece["type"]) ?? "";
}

function meaningOf(role: string, pieces: readonly Fields[], key: string): Classified {
  switch (role) {
    case "system":
      return {
        kind: role,
        known: true,
        entries: [noteDraft("context", textsOf(pieces).join("\n"), undefined)],
      };
    case "user": {
      const attachments = pieces.flatMap(attachmentsOf);
      return promptOf(textsOf(pieces), attachments, [], undefined);
    }
    case "tool":
      return { kind: role, known: true, entries: pieces.map(resultDraft) };
    default: {
      const blocks = pieces.flatMap(blocksOf);
      const begun: Mark = { type: "turnStarted", automatic: true };
      return {
        kind: role,
        known: true,
        modelMessage: key,
        entries: [{ kind: "model", blocks, usage: {}, messageId: key }],
        marks: hasCall(blocks) ? [begun] : [begun, { type: "turnEnded" }],
      };
    }
  }
}

function textsOf(pieces: readonly Fields[]): readonly string[] {
  return pieces.flatMap((piece) => {
    const type = typeOf(piece);
    if (type === "text") return [stringOf(piece["text"]) ?? ""];
    return type === "image" || type === "file" ? [] : [compactJson(piece, RAW_TEXT_MAX)];
  });
}

function attachmentsOf(piece: Fields): readonly Attachment[] {
  const type = typeOf(piece);
  if (type !== "image" && type !== "file") return [];
  const mediaType =
    wordOf(piece["mimeType"]) ?? wordOf(piece["mediaType"]) ?? (type === "image" ? "image/*" : "");
  const url = wordOf(piece["image"]) ?? wordOf(piece["data"]) ?? wordOf(piece["url"]);
  return [url === undefined ? { mediaType } : { ...attachmentOf(url, mediaType), mediaType }];
}

function blocksOf(piece: Fields): readonly ContentBlock[] {
  const type = typeOf(piece);
  switch (type) {
    case "text": {
      const text = wordOf(piece["text"]);
      return text === undefined ? [] : [{ kind: "text", text }];
    }
    case "reasoning": {
      const text = wordOf(piece["text"]);
      return text === undefined ? [] : [{ kind: "thinking", text }];
    }
    case "redacted-reasoning":
      return [];
    case "tool-call":
      return [
        callBlock(wordOf(piece["toolCallId"]), wordOf(piece["toolName"]), piece["args"] ?? piece["input"]),
      ];
    default:
      return [{ kind: "other", type, text: compactJson(piece, RAW_TEXT_MAX) }];
  }
}

function resultDraft(piece: Fields): EntryDraft {
  const result = piece["result"] ?? objectOf(piece["output"])?.["value"] ?? piece["output"];
  const content =
    typeof result === "string" ? result : result === undefined ? "" : compactJson(result, RAW_TEXT_MAX);
  const isError = piece["isError"] === true;
  return {
    kind: "tool-result",
    toolUseId: wordOf(piece["toolCallId"]) ?? "",
    content,
    isError,
    outcome: { state: isError ? "failed" : "done", lines: lineCount(content) },
  };
}
