/** The model-visible items of a rollout: `response_item` payloads, and the bare lines of the oldest files. */
import type { Attachment, ContentBlock, FileChange } from "../../transcript/index.ts";
import type { Classified, EntryDraft, Mark } from "../classifier.ts";
import {
  arrayOf,
  attachmentOf,
  base64Bytes,
  commandOf,
  compactJson,
  cutText,
  type Fields,
  INPUT_SUMMARY_MAX,
  noteDraft,
  objectOf,
  RAW_TEXT_MAX,
  rawDraft,
  stringOf,
  subjectOf,
  summarizeInput,
  timed,
  wordOf,
} from "../fields.ts";
import { injectedTopic } from "./injected.ts";
import { readOutput, readPieces } from "./output.ts";
import { patchChanges } from "./patch.ts";

export interface ItemPlace {
  readonly kind: string;
  readonly time: number | undefined;
  readonly start: number;
  /** A line of the oldest files: no events tell the prompts, so the items themselves do. */
  readonly isBare: boolean;
}

/** Kinds that say nothing to show: encrypted or repeated context, snapshots for undo. */
const SILENT = new Set([
  "ghost_snapshot",
  "compaction",
  "compaction_summary",
  "context_compaction",
  "additional_tools",
]);

/** In files whose turns have no events, a call shows that the answer before it was not the last one. */
const WORKING: readonly Mark[] = [{ type: "turnStarted", implied: true, automatic: true }];

/** What one item means. Unknown types give a raw entry. */
export function classifyItem(item: Fields, at: ItemPlace): Classified {
  const type = stringOf(item["type"]) ?? "";
  const { kind, time } = at;
  const known = (entries: readonly EntryDraft[]): Classified => ({ kind, known: true, entries });
  switch (type) {
    case "message":
      return classifyMessage(item, at);
    case "reasoning":
      return known(reasoningDrafts(item, time));
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
    case "tool_search_call":
    case "web_search_call":
      return { ...known([callDraft(type, item, time)]), marks: WORKING };
    case "function_call_output":
    case "custom_tool_call_output":
    case "local_shell_call_output":
      return known([outputDraft(item, item["output"], time)]);
    case "tool_search_output":
      return known([outputDraft(item, foundTools(item), time)]);
    case "image_generation_call":
      return known([imageDraft(item, time)]);
    case "agent_message":
      return known([agentMessageDraft(item, time)]);
    default:
      if (SILENT.has(type)) return known([]);
      return { kind, known: false, entries: [rawDraft(`unknown record kind ${kind}`, item, time)] };
  }
}

function classifyMessage(item: Fields, at: ItemPlace): Classified {
  const { kind, time } = at;
  const role = stringOf(item["role"]) ?? "";
  const content = item["content"];
  const pieces = arrayOf(content) ?? (content === undefined || content === null ? [] : [content]);
  if (role === "assistant") {
    const id = wordOf(item["id"]);
    const { texts, attachments } = readPieces(pieces);
    const blocks: ContentBlock[] = texts.map((text) => ({ kind: "text", text }));
    for (const attachment of attachments) blocks.push({ kind: "attachment", attachment });
    const marks: readonly Mark[] = item["phase"] === undefined ? [{ type: "turnEnded", implied: true }] : [];
    return {
      kind,
      known: true,
      entries: [{ kind: "model", blocks, usage: {}, ...(id ? { messageId: id } : {}), ...timed(time) }],
      marks,
      modelMessage: id ?? `@${at.start}`,
    };
  }
  if (role !== "user") {
    const { texts } = readPieces(pieces);
    return { kind, known: true, entries: [noteDraft("instructions", texts.join("\n\n"), time)] };
  }
  return userMessage(pieces, at);
}

/** Injected context becomes notes; the prompt itself is shown from its event, or from here where a file has no events. */
function userMessage(pieces: readonly unknown[], at: ItemPlace): Classified {
  const { kind, time } = at;
  const entries: EntryDraft[] = [];
  const own: unknown[] = [];
  let note: { topic: string; texts: string[] } | undefined;
  for (const piece of pieces) {
    const text = typeof piece === "string" ? piece : stringOf(objectOf(piece)?.["text"]);
    const topic = text === undefined ? undefined : injectedTopic(text);
    if (topic === undefined || text === undefined) {
      own.push(piece);
      continue;
    }
    note ??= { topic, texts: [] };
    note.texts.push(text);
  }
  if (note) entries.push(noteDraft(note.topic, note.texts.join("\n\n"), time));
  if (!at.isBare || own.length === 0) return { kind, known: true, entries };
  const { texts, attachments } = readPieces(own);
  entries.push({
    kind: "delivered",
    sender: "user",
    body: texts.join("\n"),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  });
  return { kind, known: true, entries, marks: [{ type: "turnStarted", implied: true }] };
}

function reasoningDrafts(item: Fields, time: number | undefined): readonly EntryDraft[] {
  const text = textsOf(item["summary"]) || textsOf(item["content"]);
  if (text === "") return [];
  return [{ kind: "model", blocks: [{ kind: "thinking", text }], usage: {}, ...timed(time) }];
}

function textsOf(value: unknown): string {
  if (typeof value === "string") return value;
  const texts = (arrayOf(value) ?? []).map((p) =>
    typeof p === "string" ? p : stringOf(objectOf(p)?.["text"]),
  );
  return texts.filter((t) => t !== undefined && t !== "").join("\n\n");
}

/** The call's arguments: parsed where they are JSON in a string, as they are otherwise. */
function inputOf(type: string, item: Fields): unknown {
  if (type === "local_shell_call" || type === "web_search_call") return item["action"];
  if (type === "custom_tool_call") return item["input"];
  const text = item["arguments"];
  if (typeof text !== "string") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    // Cut or not JSON: the text itself is the input.
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

function nameOf(type: string, item: Fields): string {
  const name = wordOf(item["name"]);
  if (type === "local_shell_call") return name ?? "local_shell";
  if (type === "web_search_call") return name ?? "web_search";
  if (type === "tool_search_call") return name ?? "tool_search";
  const space = wordOf(item["namespace"]);
  return space === undefined ? (name ?? "") : `${space}__${(name ?? "").replace(/^_+/, "")}`;
}

function callDraft(type: string, item: Fields, time: number | undefined): EntryDraft {
  const input = inputOf(type, item);
  const name = nameOf(type, item);
  const changes = changesOf(input);
  const subject = callSubject(name, input, changes);
  // A web search keeps call and result in one record without an id, so its outcome is here and nothing else will answer it.
  const isAnswered = type === "web_search_call";
  const status = stringOf(item["status"]);
  const block: ContentBlock = {
    kind: "tool-use",
    id: stringOf(item["call_id"]) ?? (isAnswered ? "" : (stringOf(item["id"]) ?? "")),
    name,
    inputSummary: summarizeInput(input),
    ...(subject === undefined ? {} : { subject }),
    ...(changes.length > 0 ? { changes } : {}),
    ...(isAnswered && status !== "in_progress"
      ? { outcome: { state: status === "failed" ? "failed" : "done" } }
      : {}),
  };
  return { kind: "model", blocks: [block], usage: {}, ...timed(time) };
}

/** A patch may be the whole input, one of the words of a shell command, or within its text. */
function changesOf(input: unknown): readonly FileChange[] {
  const fields = objectOf(input);
  const command = fields?.["command"] ?? fields?.["cmd"] ?? fields?.["input"] ?? fields?.["patch"];
  const words = arrayOf(command) ?? [command, input];
  for (const word of words) {
    if (typeof word !== "string" || !word.includes("*** Begin Patch")) continue;
    const changes = patchChanges(word);
    if (changes.length > 0) return changes;
  }
  return [];
}

function callSubject(name: string, input: unknown, changes: readonly FileChange[]): string | undefined {
  const [first] = changes;
  if (first) return changes.length === 1 ? first.path : `${first.path} and ${changes.length - 1} more`;
  if (typeof input === "string")
    return cutText((input.split("\n", 1)[0] ?? "").trim(), INPUT_SUMMARY_MAX) || undefined;
  const fields = objectOf(input);
  if (!fields) return undefined;
  if (name === "update_plan") {
    const steps = (arrayOf(fields["plan"]) ?? []).map(objectOf);
    const current =
      steps.find((s) => s?.["status"] === "in_progress") ??
      steps.findLast((s) => s?.["status"] === "completed");
    return wordOf(current?.["step"]);
  }
  if (name === "write_stdin") {
    const chars = stringOf(fields["chars"]) ?? "";
    const process = fields["session_id"];
    const words =
      typeof process === "number" || typeof process === "string" ? `process ${process}` : "process";
    return chars === "" ? words : cutText(`${words}: ${JSON.stringify(chars)}`, INPUT_SUMMARY_MAX);
  }
  return subjectOf(fields) ?? commandOf(fields["script"]);
}

function outputDraft(item: Fields, output: unknown, time: number | undefined): EntryDraft {
  const read = readOutput(output);
  return {
    kind: "tool-result",
    toolUseId: stringOf(item["call_id"]) ?? stringOf(item["id"]) ?? "",
    content: read.content,
    isError: read.isError,
    outcome: read.outcome,
    ...(read.attachments ? { attachments: read.attachments } : {}),
    ...timed(time),
  };
}

/** The names of the tools a tool search found, one a line. */
function foundTools(item: Fields): string {
  const names: string[] = [];
  const add = (tools: readonly unknown[], prefix: string): void => {
    for (const tool of tools) {
      const fields = objectOf(tool);
      const name = wordOf(fields?.["name"]);
      const inner = arrayOf(fields?.["tools"]);
      if (inner && name && prefix === "") add(inner, `${name}: `);
      else if (name) names.push(`${prefix}${name}`);
    }
  };
  add(arrayOf(item["tools"]) ?? [], "");
  return names.join("\n");
}

function imageDraft(item: Fields, time: number | undefined): EntryDraft {
  const blocks: ContentBlock[] = [];
  const prompt = wordOf(item["revised_prompt"]);
  if (prompt) blocks.push({ kind: "text", text: prompt });
  const result = stringOf(item["result"]);
  if (result) {
    const attachment: Attachment = /^(data:|https?:)/.test(result)
      ? attachmentOf(result)
      : { mediaType: "image/png", bytes: base64Bytes(result) };
    blocks.push({ kind: "attachment", attachment });
  }
  if (blocks.length === 0)
    blocks.push({ kind: "other", type: "image_generation_call", text: compactJson(item, RAW_TEXT_MAX) });
  return { kind: "model", blocks, usage: {}, ...timed(time) };
}

/** A message between agents: from its author, or from the model itself where none is named. */
function agentMessageDraft(item: Fields, time: number | undefined): EntryDraft {
  const { texts, attachments } = readPieces(arrayOf(item["content"]) ?? []);
  const body = texts.join("\n") || (stringOf(item["message"]) ?? "");
  const sender = wordOf(item["author"]) ?? wordOf(item["sender"]) ?? "agent";
  return {
    kind: "delivered",
    sender,
    body,
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
}
