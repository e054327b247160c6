/** Entries of any agent's session as records of a log of ours, each with the place it was read from. Pure. */
import type {
  AttachmentPayload,
  CallPayload,
  ChangePayload,
  NotePayload,
  PromptPayload,
  RecordSpec,
  ResultPayload,
  SpokenPayload,
  SpokenPiece,
} from "../log/index.ts";
import type {
  Attachment,
  CallOutcome,
  ContentBlock,
  DeliveredEntry,
  Entry,
  FileChange,
  ModelEntry,
  ToolResultEntry,
  Wound,
} from "../transcript/index.ts";
import { isPrompt } from "./continuation.ts";

export interface Imported {
  readonly records: readonly RecordSpec[];
  /** Entries that have no record of their own: damage, unknown kinds, branches that were left, subagents' words. */
  readonly left: number;
}

/** Where an imported record comes from. */
interface Origin {
  readonly origin: {
    readonly entry: string;
    readonly start?: number;
    readonly end?: number;
    readonly file?: string;
  };
}

type CallBlock = Extract<ContentBlock, { kind: "tool-use" }>;

/**
 * The records of entries, oldest first, in turns: each prompt of the person begins one. The newest turn is committed where the model had the
 * last word, and interrupted where it had not.
 */
export function importEntries(entries: readonly Entry[]): Imported {
  const records: RecordSpec[] = [];
  let isOpen = false;
  let hasAnswer = false;
  let left = 0;
  const end = (): void => {
    if (!isOpen) return;
    records.push(
      hasAnswer ? { kind: "turnCommitted" } : { kind: "turnInterrupted", reason: "not answered before" },
    );
    isOpen = false;
  };
  for (const entry of entries) {
    const made = entry.offPath === true || entry.subagent !== undefined ? undefined : recordsOf(entry);
    if (made === undefined) {
      left += 1;
      continue;
    }
    if (isPrompt(entry)) end();
    if (!isOpen) {
      records.push({ kind: "turnStarted" });
      isOpen = true;
    }
    if (entry.kind === "wounded") hasAnswer = false;
    else if (entry.kind !== "delivered" || entry.sender !== "system") hasAnswer = isLastWord(entry);
    records.push(...made);
  }
  end();
  return { records, left };
}

function isLastWord(entry: Entry): boolean {
  if (entry.kind !== "model") return false;
  return entry.blocks.at(-1)?.kind !== "tool-use" && entry.blocks.some((block) => block.kind === "text");
}

function recordsOf(entry: Entry): readonly RecordSpec[] | undefined {
  switch (entry.kind) {
    case "delivered":
      return [deliveredRecord(entry)];
    case "model":
      return modelRecords(entry);
    case "tool-result":
      return resultRecords(entry);
    case "compacted":
      return [note(entry, { text: entry.summary, topic: "summary" })];
    case "wounded":
      return [note(entry, { text: woundWords(entry.wound), topic: "wound" })];
    case "streaming":
      return entry.text === "" ? [] : [said(entry, { content: [{ type: "text", text: entry.text }] })];
    case "raw":
      return undefined;
  }
}

function originOf({ name, place }: Entry): Origin {
  return { origin: { entry: name, ...place } };
}

function timestampOf({ time }: Entry): { readonly timestamp?: string } {
  return time === undefined || !Number.isFinite(time) || Math.abs(time) > 8.64e15
    ? {}
    : { timestamp: new Date(time).toISOString() };
}

function message(entry: Entry, role: "user" | "assistant" | "system", payload: object): RecordSpec {
  return { kind: "message", role, payload: { ...payload, ...originOf(entry) }, ...timestampOf(entry) };
}

function said(entry: Entry, payload: SpokenPayload): RecordSpec {
  return message(entry, "assistant", payload);
}

function note(entry: Entry, payload: NotePayload): RecordSpec {
  return message(entry, "system", payload);
}

function deliveredRecord(entry: DeliveredEntry): RecordSpec {
  if (entry.sender === "system")
    return note(entry, { text: entry.body, ...(entry.topic === undefined ? {} : { topic: entry.topic }) });
  const payload: PromptPayload = {
    text: entry.body,
    ...(entry.sender === "user" ? {} : { sender: entry.sender }),
    ...(entry.queued === true ? { queued: true } : {}),
    ...attachments(entry.attachments),
  };
  return message(entry, "user", payload);
}

function modelRecords(entry: ModelEntry): readonly RecordSpec[] {
  const content = entry.blocks.flatMap(piecesOf);
  const calls = entry.blocks.filter((block): block is CallBlock => block.kind === "tool-use");
  const records: RecordSpec[] = [];
  if (content.length > 0)
    records.push(
      said(entry, {
        content,
        ...(entry.modelId === undefined ? {} : { model: entry.modelId }),
        ...(entry.messageId === undefined ? {} : { messageId: entry.messageId }),
        ...(entry.stopReason === undefined ? {} : { stopReason: entry.stopReason }),
        ...(Object.keys(entry.usage).length === 0 ? {} : { usage: entry.usage }),
      }),
    );
  for (const call of calls) {
    const payload: CallPayload & Origin = {
      toolCallId: call.id,
      toolName: call.name,
      ...(call.subject === undefined ? {} : { subject: call.subject }),
      ...(call.inputSummary === "" ? {} : { input: inputOf(call.inputSummary) }),
      ...changes(call.changes),
      ...originOf(entry),
    };
    records.push({ kind: "message", role: "tool_call", payload, ...timestampOf(entry) });
  }
  return records;
}

function piecesOf(block: ContentBlock): readonly SpokenPiece[] {
  switch (block.kind) {
    case "text":
    case "thinking":
      return [{ type: block.kind, text: block.text }];
    case "attachment":
      return [{ type: "attachment", ...block.attachment }];
    case "other":
      return [{ type: block.type, text: block.text }];
    case "tool-use":
      return [];
  }
}

/** The input as JSON where its summary is whole; else its summary. */
function inputOf(summary: string): unknown {
  try {
    return JSON.parse(summary) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return summary;
    throw error;
  }
}

function resultRecords(entry: ToolResultEntry): readonly RecordSpec[] {
  return [entry, ...(entry.further ?? [])].map((result) => {
    const { outcome } = result;
    const payload: ResultPayload & Origin = {
      toolCallId: result.toolUseId,
      text: result.content,
      ...(result.isError ? { isError: true } : {}),
      ...endOf(outcome),
      ...(result === entry ? { ...attachments(entry.attachments), ...changes(entry.changes) } : {}),
      ...originOf(entry),
    };
    return { kind: "message", role: "tool_result", payload, ...timestampOf(entry) };
  });
}

function endOf(outcome: CallOutcome | undefined): Partial<ResultPayload> {
  if (outcome === undefined) return {};
  const { state, exitCode, durationMs, note: words } = outcome;
  return {
    ...(state === "running" || state === "unanswered" ? {} : { state }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(words === undefined ? {} : { note: words }),
  };
}

function attachments(list: readonly Attachment[] | undefined): {
  readonly attachments?: readonly AttachmentPayload[];
} {
  return list === undefined || list.length === 0 ? {} : { attachments: list };
}

function changes(list: readonly FileChange[] | undefined): { readonly changes?: readonly ChangePayload[] } {
  return list === undefined || list.length === 0 ? {} : { changes: list };
}

function woundWords(wound: Wound): string {
  switch (wound.kind) {
    case "mute":
      return "the turn ended without a word";
    case "output-limit":
      return "the turn ended at the output limit";
    case "spoke":
      return wound.words;
    case "refused":
      return wound.words ?? "the model refused";
    case "interrupted":
      return wound.words ?? "the turn was interrupted";
  }
}
