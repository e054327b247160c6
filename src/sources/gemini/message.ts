/** What one message of a Gemini CLI chat means: its entries, and how the turn stands after it. */
import type {
  Attachment,
  CallOutcome,
  CallState,
  ContentBlock,
  FileChange,
  Usage,
} from "../../transcript/index.ts";
import type { EntryDraft } from "../classifier.ts";
import {
  arrayOf,
  attachmentOf,
  base64Bytes,
  compactJson,
  countOf,
  type Fields,
  lineCount,
  noteDraft,
  objectOf,
  RAW_TEXT_MAX,
  rawDraft,
  stringOf,
  subjectOf,
  summarizeInput,
  timed,
  timeOf,
  wordOf,
} from "../fields.ts";

/**
 * How the turn stands after a message: a prompt or a finished tool leaves it open for the model, an answer without tools closes it, a
 * notice changes nothing.
 */
export type TurnStanding = "open" | "closed" | "same";

export interface GeminiMessage {
  readonly kind: string;
  readonly known: boolean;
  readonly entries: readonly EntryDraft[];
  readonly isPrompt: boolean;
  readonly standing: TurnStanding;
  readonly calls: readonly { readonly id: string; readonly isAnswered: boolean }[];
  readonly outputTokens?: number;
  readonly model?: string;
}

/** The meaning of one message, from it alone. Any value gives an answer. */
export function readMessage(value: unknown): GeminiMessage {
  const message = objectOf(value);
  const type = stringOf(message?.["type"]);
  const time = timeOf(message?.["timestamp"]);
  if (!message || type === undefined) return unknown("no type", value, time);
  switch (type) {
    case "user":
      return user(message, time);
    case "gemini":
      return gemini(message, time);
    case "info":
      return note(message, type, time, isCancelled(message) ? "closed" : "same");
    case "warning":
      return note(message, type, time, "same");
    case "error": {
      const words = textOf(message["content"]).text;
      const entries: readonly EntryDraft[] = [
        { kind: "wounded", wound: { kind: "spoke", words }, ...timed(time) },
      ];
      return { kind: type, known: true, entries, isPrompt: false, standing: "closed", calls: [] };
    }
    default:
      return unknown(type, value, time);
  }
}

function unknown(kind: string, value: unknown, time: number | undefined): GeminiMessage {
  const entries = [rawDraft(`unknown record kind ${kind}`, value, time)];
  return { kind, known: false, entries, isPrompt: false, standing: "same", calls: [] };
}

function note(
  message: Fields,
  type: string,
  time: number | undefined,
  standing: TurnStanding,
): GeminiMessage {
  const topic = type === "info" ? "notice" : type;
  const entries = [noteDraft(topic, textOf(message["content"]).text, time)];
  return { kind: type, known: true, entries, isPrompt: false, standing, calls: [] };
}

function isCancelled(message: Fields): boolean {
  return /^(request cancelled|user cancelled|operation cancelled)/i.test(textOf(message["content"]).text);
}

/** Texts the program puts in front of the first prompt. */
const INJECTED =
  /^\s*(<session_context>|This is the Gemini CLI\. We are setting up the context|<environment_context>|<hook_context>)/;

function user(message: Fields, time: number | undefined): GeminiMessage {
  const full = textOf(message["content"]);
  if (INJECTED.test(full.text))
    return {
      kind: "user",
      known: true,
      entries: [noteDraft("context", full.text, time)],
      isPrompt: false,
      standing: "same",
      calls: [],
    };
  // What was typed, where the program has put the contents of files in its place.
  const shown = message["displayContent"] === undefined ? full.text : textOf(message["displayContent"]).text;
  const entries: EntryDraft[] = [];
  const results = full.results.filter((r) => r.content !== "");
  if (shown !== "" || full.attachments.length > 0 || results.length === 0)
    entries.push({
      kind: "delivered",
      sender: "user",
      body: shown,
      ...(full.attachments.length > 0 ? { attachments: full.attachments } : {}),
      ...timed(time),
    });
  const isPrompt = entries.length > 0;
  for (const result of results)
    entries.push(resultDraft(result.id, result.content, undefined, result.isError, time));
  return { kind: "user", known: true, entries, isPrompt, standing: "open", calls: [] };
}

interface Parts {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly calls: readonly Fields[];
  readonly results: readonly { readonly id: string; readonly content: string; readonly isError: boolean }[];
}

/** Content is a text, a part, or a list of parts. */
function textOf(content: unknown): Parts {
  if (typeof content === "string") return { text: content, attachments: [], calls: [], results: [] };
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  const calls: Fields[] = [];
  const results: { id: string; content: string; isError: boolean }[] = [];
  const parts = arrayOf(content) ?? (content === undefined || content === null ? [] : [content]);
  for (const part of parts) {
    const fields = objectOf(part);
    const text = typeof part === "string" ? part : stringOf(fields?.["text"]);
    const inline = objectOf(fields?.["inlineData"]);
    const file = objectOf(fields?.["fileData"]);
    const call = objectOf(fields?.["functionCall"]);
    const response = objectOf(fields?.["functionResponse"]);
    if (text !== undefined) texts.push(text);
    else if (inline) attachments.push(inlineAttachment(inline));
    else if (file) attachments.push(attachmentOf(stringOf(file["fileUri"]) ?? "", wordOf(file["mimeType"])));
    else if (call) calls.push(call);
    else if (response) results.push({ id: stringOf(response["id"]) ?? "", ...responseText(response) });
    else texts.push(compactJson(part, RAW_TEXT_MAX));
  }
  return { text: texts.join("\n"), attachments, calls, results };
}

function inlineAttachment(inline: Fields): Attachment {
  const data = stringOf(inline["data"]);
  return {
    mediaType: wordOf(inline["mimeType"]) ?? "application/octet-stream",
    ...(data === undefined ? {} : { bytes: base64Bytes(data) }),
  };
}

/** A function's answer: its `output` or `error` text, else the whole as JSON. */
function responseText(response: Fields): { content: string; isError: boolean } {
  const body = response["response"];
  const fields = objectOf(body);
  const error = fields?.["error"];
  if (typeof error === "string") return { content: error, isError: true };
  const output = fields?.["output"];
  if (typeof output === "string") return { content: output, isError: false };
  return { content: body === undefined ? "" : compactJson(body, RAW_TEXT_MAX), isError: error !== undefined };
}

function gemini(message: Fields, time: number | undefined): GeminiMessage {
  const usage = usageOf(message["tokens"]);
  const model = wordOf(message["model"]);
  const id = wordOf(message["id"]);
  const parts = textOf(message["content"]);
  const blocks: ContentBlock[] = [...thoughtBlocks(message["thoughts"])];
  if (parts.text !== "") blocks.push({ kind: "text", text: parts.text });
  for (const attachment of parts.attachments) blocks.push({ kind: "attachment", attachment });
  const results: EntryDraft[] = [];
  const calls: { id: string; isAnswered: boolean }[] = [];
  const toolCalls = (arrayOf(message["toolCalls"]) ?? []).map((c) => objectOf(c) ?? {});
  for (const call of [...toolCalls, ...parts.calls]) {
    const read = readCall(call);
    blocks.push(read.block);
    calls.push({ id: read.id, isAnswered: read.isAnswered });
    if (read.result) results.push(read.result);
  }
  const entry: EntryDraft = {
    kind: "model",
    blocks,
    usage,
    ...(model ? { modelId: model } : {}),
    ...(id ? { messageId: id } : {}),
    ...timed(time),
  };
  const isCut = toolCalls.some((c) => c["status"] === "cancelled");
  const hasTokens = objectOf(message["tokens"]) !== undefined;
  const standing = isCut ? "closed" : calls.length > 0 || !hasTokens ? "open" : "closed";
  const outputTokens = usage["output"];
  return {
    kind: "gemini",
    known: true,
    entries: [entry, ...results],
    isPrompt: false,
    standing,
    calls,
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(model ? { model } : {}),
  };
}

function thoughtBlocks(value: unknown): readonly ContentBlock[] {
  const blocks: ContentBlock[] = [];
  for (const thought of arrayOf(value) ?? []) {
    const fields = objectOf(thought);
    const subject = wordOf(fields?.["subject"]);
    const description = wordOf(fields?.["description"]);
    const text = [subject && `**${subject}**`, description].filter((t) => t !== undefined).join("\n\n");
    if (text !== "") blocks.push({ kind: "thinking", text });
  }
  return blocks;
}

function usageOf(value: unknown): Usage {
  const usage: Record<string, number> = {};
  for (const [name, count] of Object.entries(objectOf(value) ?? {})) {
    const n = countOf(count);
    if (n !== undefined) usage[name] = n;
  }
  return usage;
}

const STATES: Readonly<Record<string, CallState>> = {
  success: "done",
  error: "failed",
  cancelled: "interrupted",
};

interface ReadCall {
  readonly id: string;
  readonly block: ContentBlock;
  readonly isAnswered: boolean;
  readonly result: EntryDraft | undefined;
}

/** A call with its result: Gemini keeps both in one object. */
function readCall(call: Fields): ReadCall {
  const id = stringOf(call["id"]) ?? "";
  const name = stringOf(call["name"]) ?? "";
  const state = STATES[stringOf(call["status"]) ?? ""];
  const time = timeOf(call["timestamp"]);
  const input = call["args"];
  const subject = subjectOf(input);
  const changes = changesOf(call);
  const content = resultText(call);
  const result =
    state === undefined ? undefined : resultDraft(id, content.content, state, content.isError, time);
  const outcome = result?.kind === "tool-result" ? result.outcome : undefined;
  return {
    id,
    isAnswered: state !== undefined,
    result,
    block: {
      kind: "tool-use",
      id,
      name,
      inputSummary: summarizeInput(input),
      ...(subject === undefined ? {} : { subject }),
      ...(changes.length > 0 ? { changes } : {}),
      ...(outcome === undefined ? {} : { outcome }),
    },
  };
}

function resultText(call: Fields): { content: string; isError: boolean } {
  const { text, results } = textOf(call["result"]);
  const texts = results.map((r) => r.content);
  if (text !== "") texts.push(text);
  const display = stringOf(call["resultDisplay"]);
  const content = texts.join("\n") || (display ?? "");
  return { content, isError: results.some((r) => r.isError) };
}

/** Gemini's shell tool tells the exit code on a line of its text. */
function exitCodeOf(content: string): number | undefined {
  const match = /(?:^|\n)Exit Code: (-?\d+)(?:\n|$)/.exec(content);
  return match ? Number(match[1]) : undefined;
}

function resultDraft(
  id: string,
  content: string,
  state: CallState | undefined,
  isError: boolean,
  time: number | undefined,
): EntryDraft {
  const exitCode = exitCodeOf(content);
  const isFailed = isError || (exitCode !== undefined && exitCode !== 0);
  const outcome: CallOutcome = {
    state: isFailed && (state === "done" || state === undefined) ? "failed" : (state ?? "done"),
    ...(exitCode === undefined ? {} : { exitCode }),
    lines: lineCount(content),
  };
  return {
    kind: "tool-result",
    toolUseId: id,
    content,
    isError: outcome.state !== "done",
    outcome,
    ...timed(time),
  };
}

function changesOf(call: Fields): readonly FileChange[] {
  const args = objectOf(call["args"]);
  const display = objectOf(call["resultDisplay"]);
  const path = wordOf(args?.["file_path"]) ?? wordOf(display?.["fileName"]);
  if (path === undefined) return [];
  const patch = wordOf(display?.["fileDiff"]);
  if (patch) return [{ path, patch }];
  const oldText = stringOf(args?.["old_string"]);
  const newText =
    stringOf(args?.["new_string"]) ??
    (call["name"] === "write_file" ? stringOf(args?.["content"]) : undefined);
  if (newText === undefined) return [];
  return [{ path, newText, ...(oldText === undefined ? {} : { oldText }) }];
}
