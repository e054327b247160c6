/** What a message of Goose means: a row of its database, or a line of the files it kept before. */
import type { Attachment, ContentBlock } from "../../transcript/index.ts";
import { callBlock } from "../calls.ts";
import type { Classified, EntryDraft, Mark } from "../classifier.ts";
import {
  arrayOf,
  base64Bytes,
  compactJson,
  type Fields,
  lineCount,
  noteDraft,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  timed,
  timeOf,
  wordOf,
} from "../fields.ts";
import { promptDraft, unknown, withParts } from "../kinds.ts";

const MODEL_PIECES: ReadonlySet<string> = new Set([
  "text",
  "thinking",
  "reasoning",
  "redactedThinking",
  "toolRequest",
  "frontendToolRequest",
  "image",
]);
const NOTES: Readonly<Record<string, string>> = {
  toolConfirmationRequest: "permission",
  actionRequired: "permission",
  systemNotification: "notice",
  contextLengthExceeded: "notice",
  summarizationRequested: "compaction",
  conversationCompacted: "compaction",
};

/** The meaning of one message under a key of its own: pure and total. */
export function classifyMessage(given: unknown, key: string): Classified {
  const value = objectOf(given);
  const role = stringOf(value?.["role"]) ?? "";
  const time = timeOf(value?.["created"]);
  if (value === undefined || (role !== "user" && role !== "assistant")) {
    const kind = role === "" ? "no role" : role;
    return unknown(kind, given, time);
  }
  const pieces = (arrayOf(value["content"]) ?? []).map(
    (piece) => objectOf(piece) ?? { type: "", value: piece },
  );
  const typeOf = (piece: Fields): string => stringOf(piece["type"]) ?? "";
  const notes = pieces.flatMap((piece) => {
    const topic = NOTES[typeOf(piece)];
    return topic === undefined ? [] : [noteDraft(topic, noteText(piece), time)];
  });
  const results = pieces
    .filter((piece) => typeOf(piece) === "toolResponse")
    .map((piece) => resultDraft(piece, time));
  const rest = pieces.filter((piece) => {
    const type = typeOf(piece);
    return type !== "toolResponse" && NOTES[type] === undefined;
  });
  const metadata = objectOf(value["metadata"]);
  // A summary is for the model alone; what was summed up stays for the person.
  const isForModel = metadata?.["userVisible"] === false;
  const said =
    role === "user" || isForModel
      ? userMessage(role, rest, results, notes, isForModel, time)
      : modelMessage(rest, results, notes, key, time);
  return withParts(said, role, rest.map(typeOf), (type) => MODEL_PIECES.has(type));
}

/** What is asked of the person stands in `data` in newer versions. */
function noteText(piece: Fields): string {
  const data = objectOf(piece["data"]);
  const asked = wordOf(data?.["message"]) ?? wordOf(data?.["prompt"]) ?? wordOf(data?.["toolName"]);
  if (asked !== undefined) return asked;
  return wordOf(piece["msg"]) ?? wordOf(piece["prompt"]) ?? compactJson(piece, RAW_TEXT_MAX);
}

function userMessage(
  role: string,
  pieces: readonly Fields[],
  results: readonly EntryDraft[],
  notes: readonly EntryDraft[],
  isForModel: boolean,
  time: number | undefined,
): Classified {
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const piece of pieces) {
    if (piece["type"] === "text") texts.push(stringOf(piece["text"]) ?? "");
    else if (piece["type"] === "image") attachments.push(imageOf(piece));
    else texts.push(compactJson(piece, RAW_TEXT_MAX));
  }
  const before = [...results, ...notes];
  if (texts.length === 0 && attachments.length === 0) return { kind: role, known: true, entries: before };
  const body = texts.join("\n");
  if (isForModel)
    return { kind: `${role}/hidden`, known: true, entries: [...before, noteDraft("context", body, time)] };
  const prompt = promptDraft(body, attachments, time);
  return { kind: role, known: true, entries: [...before, prompt], marks: [{ type: "turnStarted" }] };
}

function modelMessage(
  pieces: readonly Fields[],
  results: readonly EntryDraft[],
  notes: readonly EntryDraft[],
  key: string,
  time: number | undefined,
): Classified {
  const blocks = pieces.flatMap(blocksOf);
  if (blocks.length === 0) return { kind: "assistant", known: true, entries: [...results, ...notes] };
  const hasCall = blocks.some((block) => block.kind === "tool-use");
  const begun: Mark = { type: "turnStarted", automatic: true };
  return {
    kind: "assistant",
    known: true,
    modelMessage: key,
    entries: [{ kind: "model", blocks, usage: {}, messageId: key, ...timed(time) }, ...results, ...notes],
    marks: hasCall ? [begun] : [begun, { type: "turnEnded" }],
  };
}

function blocksOf(piece: Fields): readonly ContentBlock[] {
  const type = stringOf(piece["type"]) ?? "";
  switch (type) {
    case "text":
      return [{ kind: "text", text: stringOf(piece["text"]) ?? "" }];
    case "thinking":
    case "reasoning":
      return [{ kind: "thinking", text: stringOf(piece["thinking"]) ?? stringOf(piece["text"]) ?? "" }];
    case "redactedThinking":
      return [];
    case "image":
      return [{ kind: "attachment", attachment: imageOf(piece) }];
    case "toolRequest":
    case "frontendToolRequest": {
      const call = objectOf(piece["toolCall"]);
      const value = objectOf(call?.["value"]) ?? call ?? {};
      // A call that could not be understood has what was wrong with it in the place of its arguments.
      const input = value["arguments"] ?? call?.["error"];
      return [callBlock(wordOf(piece["id"]), wordOf(value["name"]), input)];
    }
    default:
      return [{ kind: "other", type, text: compactJson(piece, RAW_TEXT_MAX) }];
  }
}

function imageOf(piece: Fields): Attachment {
  const data = stringOf(piece["data"]);
  const mediaType = wordOf(piece["mimeType"]) ?? "image/*";
  return data === undefined ? { mediaType } : { mediaType, bytes: base64Bytes(data) };
}

/** The result's value is a list of pieces, in newer versions an object that holds the list. */
function resultDraft(piece: Fields, time: number | undefined): EntryDraft {
  const result = objectOf(piece["toolResult"]) ?? {};
  const value = objectOf(result["value"]);
  const pieces = arrayOf(result["value"]) ?? arrayOf(value?.["content"]) ?? [];
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const each of pieces) {
    const fields = objectOf(each) ?? {};
    if (fields["type"] === "image") attachments.push(imageOf(fields));
    else texts.push(stringOf(fields["text"]) ?? compactJson(each, RAW_TEXT_MAX));
  }
  const isError = result["status"] === "error" || value?.["isError"] === true;
  const content = texts.length === 0 && isError ? (stringOf(result["error"]) ?? "") : texts.join("\n");
  return {
    kind: "tool-result",
    toolUseId: wordOf(piece["id"]) ?? "",
    content,
    isError,
    outcome: { state: isError ? "failed" : "done", lines: lineCount(content) },
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
}
