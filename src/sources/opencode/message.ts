/** What a message of OpenCode with its parts means, as an export holds it and as the rows of its database are put together. */
import type {
  Attachment,
  CallOutcome,
  CallState,
  ContentBlock,
  Usage,
  Wound,
} from "../../transcript/index.ts";
import { callBlock, patchChange } from "../calls.ts";
import type { Classified, EntryDraft, Mark } from "../classifier.ts";
import type { DocumentElement } from "../document/format.ts";
import {
  arrayOf,
  attachmentOf,
  compactJson,
  countOf,
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
import { promptDraft, unknown, withParts } from "../kinds.ts";
import type { SessionInfo } from "../types.ts";

/** Parts that say nothing a reader of the conversation misses. */
const SILENT: ReadonlySet<string> = new Set(["step-start", "step-finish", "snapshot", "patch"]);
const SHOWN: ReadonlySet<string> = new Set([
  "text",
  "reasoning",
  "tool",
  "file",
  "agent",
  "subtask",
  "retry",
  "compaction",
]);

/** Ends of a message that say no more than that it ended. */
const QUIET_FINISHES: ReadonlySet<string> = new Set(["stop", "tool-calls"]);

/** The meaning of one message: pure and total. */
export function classifyMessage(element: DocumentElement): Classified {
  const value = objectOf(element.value);
  const info = objectOf(value?.["info"]);
  const role = stringOf(info?.["role"]) ?? "";
  const time = timeOf(objectOf(info?.["time"])?.["created"]);
  if (value === undefined || info === undefined || (role !== "user" && role !== "assistant")) {
    const kind = role === "" ? "no role" : role;
    return unknown(kind, element.value, time);
  }
  const parts = (arrayOf(value["parts"]) ?? []).map((part) => objectOf(part) ?? { type: "", value: part });
  const said =
    role === "user"
      ? userMessage(info, parts, time)
      : modelMessage(info, parts, time, nameOf(value) ?? `@${element.index}`);
  return withParts(said, role, parts.map(typeOf), (type) => SILENT.has(type) || SHOWN.has(type));
}

/** A message's id. */
export function nameOf(value: unknown): string | undefined {
  return wordOf(objectOf(objectOf(value)?.["info"])?.["id"]);
}

function typeOf(part: Fields): string {
  return stringOf(part["type"]) ?? "";
}

function userMessage(info: Fields, parts: readonly Fields[], time: number | undefined): Classified {
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  const notes: EntryDraft[] = [];
  let isCompaction = false;
  for (const part of parts) {
    const type = typeOf(part);
    if (SILENT.has(type)) continue;
    if (type === "text") {
      const text = stringOf(part["text"]) ?? "";
      const isTyped = part["synthetic"] !== true && part["ignored"] !== true;
      if (isTyped) texts.push(text);
      else notes.push(noteDraft(part["synthetic"] === true ? "context" : "notice", text, time));
    } else if (type === "file") attachments.push(fileOf(part));
    else if (type === "compaction") {
      isCompaction = true;
      notes.push(noteDraft("compaction", part["auto"] === true ? "automatic" : "asked for", time));
    } else notes.push(noteDraft(noteTopic(type), partText(part), time));
  }
  const model = modelOf(objectOf(info["model"]) ?? {});
  const facts = model === undefined ? {} : { info: { model } };
  if (texts.length === 0 && attachments.length === 0) {
    const marks: readonly Mark[] = isCompaction ? [{ type: "turnStarted", automatic: true }] : [];
    return { kind: "user", known: true, entries: notes, marks, ...facts };
  }
  const prompt = promptDraft(texts.join("\n"), attachments, time);
  return {
    kind: "user",
    known: true,
    entries: [prompt, ...notes],
    marks: [{ type: "turnStarted" }],
    ...facts,
  };
}

function modelMessage(
  info: Fields,
  parts: readonly Fields[],
  time: number | undefined,
  key: string,
): Classified {
  const wound = woundOf(objectOf(info["error"]));
  const isDone = timeOf(objectOf(info["time"])?.["completed"]) !== undefined || wound !== undefined;
  const finish = wordOf(info["finish"]);
  const usage = isDone ? usageOf(objectOf(info["tokens"])) : {};
  const model = modelOf(info);
  const isSummary = info["summary"] === true;
  const base = {
    messageId: key,
    ...(model === undefined ? {} : { modelId: model }),
    ...(finish === undefined || QUIET_FINISHES.has(finish) ? {} : { stopReason: finish }),
    ...(isDone ? {} : { unfinished: true }),
    ...timed(time),
  } as const;
  const entries = isSummary ? [summaryDraft(parts, time, isDone)] : modelEntries(parts, base, usage);
  if (wound !== undefined) entries.push({ kind: "wounded", wound, ...timed(time) });
  const begun: Mark = { type: "turnStarted", automatic: true };
  const isOver = wound !== undefined || (isDone && finish !== "tool-calls" && !isSummary);
  const marks: Mark[] = [...(isSummary ? ([{ type: "compacted" }] as const) : []), begun];
  if (isOver) marks.push({ type: "turnEnded" });
  const cwd = wordOf(objectOf(info["path"])?.["cwd"]);
  const outputTokens = usage["output"];
  return {
    kind: isSummary ? "assistant/summary" : "assistant",
    known: true,
    modelMessage: key,
    entries,
    marks,
    ...(outputTokens === undefined ? {} : { usage: { scope: "message", key, outputTokens } }),
    info: { ...(model === undefined ? {} : { model }), ...(cwd === undefined ? {} : { cwd }) },
  };
}

function summaryDraft(parts: readonly Fields[], time: number | undefined, isDone: boolean): EntryDraft {
  const texts = parts.filter((part) => typeOf(part) === "text").map((part) => stringOf(part["text"]) ?? "");
  const unfinished = isDone ? {} : { unfinished: true };
  return { kind: "compacted", summary: texts.join("\n"), ...unfinished, ...timed(time) };
}

/**
 * One entry for each step of the model, then the results of its calls in their order. A call's result is there from the beginning, as
 * running, so that no entry comes into being between others.
 */
function modelEntries(
  parts: readonly Fields[],
  base: Omit<Extract<EntryDraft, { kind: "model" }>, "kind" | "blocks" | "usage">,
  usage: Usage,
): EntryDraft[] {
  const entries: EntryDraft[] = [];
  let blocks: ContentBlock[] = [];
  let results: EntryDraft[] = [];
  let count = 0;
  const flush = (): void => {
    if (blocks.length === 0 && results.length === 0) return;
    entries.push({ kind: "model", blocks, usage: count === 0 ? usage : {}, ...base }, ...results);
    count += 1;
    blocks = [];
    results = [];
  };
  for (const part of parts) {
    const type = typeOf(part);
    if (type === "step-start") flush();
    if (SILENT.has(type)) continue;
    if (type === "tool") {
      const state = objectOf(part["state"]) ?? {};
      blocks.push(callBlock(wordOf(part["callID"]), wordOf(part["tool"]), state["input"]));
      results.push(resultDraft(part, state));
    } else blocks.push(blockOf(type, part));
  }
  flush();
  if (count === 0) entries.push({ kind: "model", blocks: [], usage, ...base });
  return entries;
}

function blockOf(type: string, part: Fields): ContentBlock {
  switch (type) {
    case "text":
      return { kind: "text", text: stringOf(part["text"]) ?? "" };
    case "reasoning":
      return { kind: "thinking", text: stringOf(part["text"]) ?? "" };
    case "file":
      return { kind: "attachment", attachment: fileOf(part) };
    default:
      return { kind: "other", type, text: partText(part) };
  }
}

const STATES: Readonly<Record<string, CallState>> = { completed: "done", error: "failed" };

function resultDraft(part: Fields, state: Fields): EntryDraft {
  const metadata = objectOf(state["metadata"]);
  const content = stringOf(state["output"]) ?? stringOf(state["error"]) ?? "";
  const exitCode = numberOf(metadata?.["exit"]);
  const said = STATES[stringOf(state["status"]) ?? ""] ?? "running";
  const isAborted = said === "failed" && (metadata?.["interrupted"] === true || /\baborted\b/i.test(content));
  const hasFailed = (exitCode !== undefined && exitCode !== 0) || part["tool"] === "invalid";
  const standing: CallState = isAborted ? "interrupted" : said === "done" && hasFailed ? "failed" : said;
  const times = objectOf(state["time"]);
  const start = timeOf(times?.["start"]);
  const end = timeOf(times?.["end"]);
  const change = patchChange(wordOf(metadata?.["diff"]));
  const attachments = (arrayOf(state["attachments"]) ?? []).map((each) => fileOf(objectOf(each) ?? {}));
  const outcome: CallOutcome = {
    state: standing,
    ...(exitCode !== undefined && Number.isSafeInteger(exitCode) ? { exitCode } : {}),
    ...(start !== undefined && end !== undefined && end >= start ? { durationMs: end - start } : {}),
    ...(standing === "running" ? {} : { lines: lineCount(content) }),
  };
  return {
    kind: "tool-result",
    toolUseId: wordOf(part["callID"]) ?? "",
    content,
    isError: standing === "failed" || standing === "interrupted",
    outcome,
    ...(standing === "running" ? { unfinished: true } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(change === undefined ? {} : { changes: [change] }),
    ...timed(end),
  };
}

function fileOf(part: Fields): Attachment {
  const mediaType = wordOf(part["mime"]) ?? "application/octet-stream";
  const url = wordOf(part["url"]);
  const name = wordOf(part["filename"]);
  const told = url === undefined ? { mediaType } : attachmentOf(url, mediaType);
  return { ...told, mediaType, ...(name === undefined ? {} : { name }) };
}

function noteTopic(type: string): string {
  return type === "" ? "note" : type;
}

function partText(part: Fields): string {
  const said = wordOf(part["prompt"]) ?? wordOf(part["description"]) ?? wordOf(part["name"]);
  return said ?? compactJson(part, RAW_TEXT_MAX);
}

function modelOf(fields: Fields): string | undefined {
  return wordOf(fields["modelID"]);
}

function usageOf(tokens: Fields | undefined): Usage {
  const usage: Record<string, number> = {};
  const cache = objectOf(tokens?.["cache"]);
  const named: readonly (readonly [string, unknown])[] = [
    ["total", tokens?.["total"]],
    ["input", tokens?.["input"]],
    ["output", tokens?.["output"]],
    ["reasoning", tokens?.["reasoning"]],
    ["cacheRead", cache?.["read"]],
    ["cacheWrite", cache?.["write"]],
  ];
  for (const [name, value] of named) {
    const count = countOf(value);
    if (count !== undefined) usage[name] = count;
  }
  return usage;
}

function woundOf(error: Fields | undefined): Wound | undefined {
  if (error === undefined) return undefined;
  const words = wordOf(objectOf(error["data"])?.["message"]) ?? wordOf(error["message"]);
  switch (error["name"]) {
    case "MessageAbortedError":
      return { kind: "interrupted" };
    case "MessageOutputLengthError":
      return { kind: "output-limit" };
    case "ProviderAuthError":
      return words === undefined ? { kind: "refused" } : { kind: "refused", words };
    default: {
      const said = words ?? wordOf(error["name"]);
      return said === undefined ? { kind: "mute" } : { kind: "spoke", words: said };
    }
  }
}

const PLACEHOLDER_TITLE = /^(?:New session|Child session) - \d{4}-/;

/** What a session's own record says of it. */
export function sessionFacts(info: Fields): Partial<SessionInfo> {
  const time = objectOf(info["time"]);
  const title = wordOf(info["title"]);
  const cwd = wordOf(info["directory"]);
  const agentVersion = wordOf(info["version"]);
  const startedAt = timeOf(time?.["created"]);
  const parentId = wordOf(info["parentID"]);
  const isArchived = timeOf(time?.["archived"]) !== undefined;
  return {
    ...(title === undefined || PLACEHOLDER_TITLE.test(title) ? {} : { title, titled: true }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(agentVersion === undefined ? {} : { agentVersion }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(parentId === undefined ? {} : { parentId }),
    ...(isArchived ? { archived: true } : {}),
  };
}
