/** Messages of a session log as entries: the shapes that `hansard/log` names, and whatever else a recorder wrote. */
import type { Attachment, CallOutcome, CallState, ContentBlock, FileChange } from "../../transcript/index.ts";
import type { EntryDraft } from "../classifier.ts";
import {
  arrayOf,
  compactJson,
  countOf,
  type Fields,
  lineCount,
  noteDraft,
  numberOf,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  subjectOf,
  summarizeInput,
  timed,
  wordOf,
} from "../fields.ts";

/** The entries of a message. A payload of a shape that is not known is shown as its JSON. */
export function messageDrafts(
  role: string,
  payload: unknown,
  turnId: string,
  time: number | undefined,
): readonly EntryDraft[] {
  const fields: Fields = typeof payload === "string" ? { text: payload } : (objectOf(payload) ?? {});
  switch (role) {
    case "user":
      return [promptDraft(fields, payload, time)];
    case "assistant":
      return spokenDrafts(fields, payload, turnId, time);
    case "tool_call":
      return [callDraft(fields, time)];
    case "tool_result":
      return [resultDraft(fields, payload, time)];
    default:
      return [noteDraft(wordOf(fields["topic"]) ?? role, textOf(fields, payload), time)];
  }
}

/** The text of a payload: told as such, or by its pieces; the JSON of any other. */
function textOf(fields: Fields, payload: unknown): string {
  const text = stringOf(fields["text"]) ?? stringOf(fields["content"]);
  if (text !== undefined) return text;
  const pieces = arrayOf(fields["content"]) ?? arrayOf(payload);
  if (pieces === undefined) return compactJson(payload, RAW_TEXT_MAX);
  return pieces
    .map(
      (piece) => stringOf(piece) ?? stringOf(objectOf(piece)?.["text"]) ?? compactJson(piece, RAW_TEXT_MAX),
    )
    .join("\n");
}

function promptDraft(fields: Fields, payload: unknown, time: number | undefined): EntryDraft {
  const attachments = attachmentsOf(fields["attachments"]);
  return {
    kind: "delivered",
    sender: wordOf(fields["sender"]) ?? "user",
    body: textOf(fields, payload),
    ...(fields["queued"] === true ? { queued: true } : {}),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...timed(time),
  };
}

/** What was said, and a wound where it did not end of its own will. */
function spokenDrafts(
  fields: Fields,
  payload: unknown,
  turnId: string,
  time: number | undefined,
): readonly EntryDraft[] {
  const pieces = arrayOf(fields["content"]) ?? arrayOf(payload);
  const blocks: readonly ContentBlock[] =
    pieces === undefined ? textBlocks(textOf(fields, payload)) : pieces.flatMap(blocksOf);
  const stopReason = wordOf(fields["stopReason"]);
  const modelId = wordOf(fields["model"]);
  const wounded = woundedDraft(fields, stopReason, time);
  const entries: EntryDraft[] = [];
  if (blocks.length > 0 || wounded === undefined)
    entries.push({
      kind: "model",
      blocks,
      usage: usageOf(fields["usage"]),
      messageId: wordOf(fields["messageId"]) ?? turnId,
      ...(modelId === undefined ? {} : { modelId }),
      ...(stopReason === undefined ? {} : { stopReason }),
      ...timed(time),
    });
  if (wounded !== undefined) entries.push(wounded);
  return entries;
}

function textBlocks(text: string): readonly ContentBlock[] {
  return text === "" ? [] : [{ kind: "text", text }];
}

function blocksOf(piece: unknown): readonly ContentBlock[] {
  if (typeof piece === "string") return textBlocks(piece);
  const fields = objectOf(piece) ?? {};
  const type = stringOf(fields["type"]) ?? "";
  const text = stringOf(fields["text"]);
  if (type === "text" && text !== undefined) return textBlocks(text);
  if (type === "thinking" && text !== undefined) return text === "" ? [] : [{ kind: "thinking", text }];
  if (type === "attachment") {
    const attachment = attachmentOf(piece);
    if (attachment !== undefined) return [{ kind: "attachment", attachment }];
  }
  return [{ kind: "other", type, text: compactJson(piece, RAW_TEXT_MAX) }];
}

function woundedDraft(
  fields: Fields,
  stopReason: string | undefined,
  time: number | undefined,
): EntryDraft | undefined {
  const words = wordOf(fields["errorMessage"]);
  switch (stopReason) {
    case "aborted":
    case "interrupted":
    case "cancelled":
      return {
        kind: "wounded",
        wound: { kind: "interrupted", ...(words === undefined ? {} : { words }) },
        ...timed(time),
      };
    case "max_tokens":
    case "length":
      return { kind: "wounded", wound: { kind: "output-limit" }, ...timed(time) };
    case "refusal":
      return {
        kind: "wounded",
        wound: { kind: "refused", ...(words === undefined ? {} : { words }) },
        ...timed(time),
      };
    default:
      if (words !== undefined) return { kind: "wounded", wound: { kind: "spoke", words }, ...timed(time) };
      return stopReason === "error"
        ? { kind: "wounded", wound: { kind: "mute" }, ...timed(time) }
        : undefined;
  }
}

/** Counters as they were reported. */
export function usageOf(value: unknown): Readonly<Record<string, number>> {
  const usage: Record<string, number> = {};
  for (const [name, count] of Object.entries(objectOf(value) ?? {})) {
    const n = countOf(count);
    if (n !== undefined) usage[name] = n;
  }
  return usage;
}

function callDraft(fields: Fields, time: number | undefined): EntryDraft {
  const input = fields["input"];
  const id = stringOf(fields["toolCallId"]) ?? "";
  const subject = wordOf(fields["subject"]) ?? subjectOf(input);
  const changes = changesOf(fields["changes"]);
  return {
    kind: "model",
    usage: {},
    blocks: [
      {
        kind: "tool-use",
        id,
        name: stringOf(fields["toolName"]) ?? "",
        inputSummary: summarizeInput(input),
        ...(subject === undefined ? {} : { subject }),
        ...(changes.length === 0 ? {} : { changes }),
      },
    ],
    ...timed(time),
  };
}

const endStates: ReadonlySet<unknown> = new Set<CallState>(["done", "failed", "denied", "interrupted"]);

function resultDraft(fields: Fields, payload: unknown, time: number | undefined): EntryDraft {
  const content = textOf(fields, payload);
  const told = fields["state"];
  const isError = fields["isError"] === true || told === "failed";
  const state = endStates.has(told) ? (told as CallState) : isError ? "failed" : "done";
  const exitCode = numberOf(fields["exitCode"]);
  const durationMs = countOf(fields["durationMs"]);
  const note = wordOf(fields["note"]);
  const attachments = attachmentsOf(fields["attachments"]);
  const changes = changesOf(fields["changes"]);
  const outcome: CallOutcome = {
    state,
    ...(content === "" ? {} : { lines: lineCount(content) }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(note === undefined ? {} : { note }),
  };
  return {
    kind: "tool-result",
    toolUseId: stringOf(fields["toolCallId"]) ?? "",
    content,
    isError,
    outcome,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(changes.length === 0 ? {} : { changes }),
    ...timed(time),
  };
}

function attachmentOf(value: unknown): Attachment | undefined {
  const fields = objectOf(value);
  const mediaType = wordOf(fields?.["mediaType"]);
  if (fields === undefined || mediaType === undefined) return undefined;
  const bytes = countOf(fields["bytes"]);
  const name = wordOf(fields["name"]);
  return {
    mediaType,
    ...(bytes === undefined ? {} : { bytes }),
    ...(name === undefined ? {} : { name }),
  };
}

function attachmentsOf(value: unknown): readonly Attachment[] {
  return (arrayOf(value) ?? []).flatMap((each) => attachmentOf(each) ?? []);
}

function changesOf(value: unknown): readonly FileChange[] {
  return (arrayOf(value) ?? []).flatMap((each) => {
    const fields = objectOf(each);
    const path = wordOf(fields?.["path"]);
    if (fields === undefined || path === undefined) return [];
    const oldText = stringOf(fields["oldText"]);
    const newText = stringOf(fields["newText"]);
    const patch = stringOf(fields["patch"]);
    return [
      {
        path,
        ...(oldText === undefined ? {} : { oldText }),
        ...(newText === undefined ? {} : { newText }),
        ...(patch === undefined ? {} : { patch }),
      },
    ];
  });
}
