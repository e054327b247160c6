/** A transcript as rows: one for each thing said or done, with a preview and what stands behind it. Pure. */
import type {
  Attachment,
  ContentBlock,
  DeliveredEntry,
  Entry,
  ModelEntry,
  ToolResultEntry,
} from "./entry.ts";
import { type Expansion, isExpanded, type RowClass } from "./expansion.ts";
import { rowKey } from "./key.ts";
import { PREVIEW_MAX } from "./limits.ts";
import { answeredIds, resultsOf } from "./query.ts";
import { countPoints, cutPoints, plural } from "./text.ts";
import { woundBanner } from "./wound.ts";

export type RowTone = "plain" | "weak" | "good" | "bad" | "live" | "in-flight";
/** Who speaks; machinery has none. `ended`: a child that tells how it ended. */
export type RowRole = "user" | "peer" | "ended" | "model";
/** What a row is to the turn it is in; at a boundary a turn ends and the next one begins. */
export type RowPart = "boundary" | "model" | "thinking" | "call" | "plain";

export interface Row {
  readonly key: string;
  /** The entry it shows (a part of); the first one of those that a rolled-up turn hides. */
  readonly entry: Entry;
  /** Always visible. */
  readonly prefix: string;
  /** The first line of the payload, cut at `PREVIEW_MAX` code points. */
  readonly preview: string;
  /** The whole payload, where the preview does not tell all of it. A row without one has nothing to open. */
  readonly body?: string;
  readonly hover?: string;
  readonly class: RowClass;
  readonly tone: RowTone;
  readonly role?: RowRole;
  readonly part: RowPart;
  /** What opening it shows: its body, or the rows of a turn. */
  readonly fold: "payload" | "steps";
  readonly isExpanded: boolean;
}

export interface RowOptions extends Expansion {
  /** Whom the model's words are said by: the conversation's name, never the model's. */
  readonly speaker: string;
}

type Draft = Omit<Row, "key" | "entry" | "preview" | "body" | "fold" | "isExpanded"> & {
  readonly block: number;
  readonly payload: string;
};

/**
 * The rows of the entries, in order. Nothing is dropped but empty halves of a stream. A call is running where its outcome says so; where
 * none is known, while the entries hold no result of it. Linear in the texts.
 */
export function rowsOf(entries: readonly Entry[], options: RowOptions): readonly Row[] {
  const answered = answeredIds(entries);
  return entries.flatMap((entry) =>
    draftsOf(entry, options.speaker, answered).map((draft) =>
      finish(entry, entry.subagent === undefined ? draft : inner(draft, entry.subagent), options),
    ),
  );
}

/** A payload's first line as a preview, and the whole of it where the preview does not say all. */
export function splitPayload(payload: string): { readonly preview: string; readonly body?: string } {
  const newline = payload.indexOf("\n");
  const line = (newline === -1 ? payload : payload.slice(0, newline)).replace(/\r$/, "");
  const preview = cutPoints(line, PREVIEW_MAX);
  const hasMore = preview !== line || (newline !== -1 && newline < payload.length - 1);
  return hasMore ? { preview, body: payload } : { preview };
}

/** Whether what the row shows is still under way: it stands open, and its turn is not rolled up. */
export function isUnderWay(row: { readonly tone: RowTone }): boolean {
  return row.tone === "live" || row.tone === "in-flight";
}

function finish(entry: Entry, draft: Draft, options: RowOptions): Row {
  const { block, payload, ...rest } = draft;
  const key = rowKey(entry.name, block);
  return {
    key,
    entry,
    ...rest,
    ...splitPayload(payload),
    fold: "payload",
    isExpanded: isExpanded({ key, class: draft.class, isUnderWay: isUnderWay(draft) }, options),
  };
}

/** A row of a subagent: it belongs to the turn of the call that started it, and is machinery to who reads the conversation. */
function inner(draft: Draft, subagent: string): Draft {
  const { role: _, ...rest } = draft;
  const part = draft.part === "boundary" ? "plain" : draft.part;
  return { ...rest, prefix: `[${subagent}] ${draft.prefix}`, class: "other", part };
}

function draftsOf(entry: Entry, speaker: string, answered: ReadonlySet<string>): readonly Draft[] {
  switch (entry.kind) {
    case "delivered":
      return deliveredDrafts(entry);
    case "model":
      return modelDrafts(entry, speaker, answered);
    case "tool-result":
      return resultDrafts(entry);
    case "streaming":
      return [
        machinery({ block: 0, prefix: "thinking:", payload: entry.thinking, tone: "live" }),
        {
          block: 1,
          prefix: "live:",
          payload: entry.text,
          class: "response" as const,
          tone: "live" as const,
          role: "model" as const,
          part: "plain" as const,
        },
      ].filter((half) => half.payload !== "");
    case "wounded":
      return [machinery({ block: 0, prefix: "stopped:", payload: woundBanner(entry.wound), tone: "bad" })];
    case "compacted":
      return [
        machinery({
          block: 0,
          prefix: compactedPrefix(entry),
          payload: entry.summary === "" ? "(no summary on this mark)" : entry.summary,
          ...(entry.first === undefined
            ? {}
            : { hover: "nothing on disk says which summary belongs to which of the missing spans" }),
          part: "boundary",
        }),
      ];
    case "raw":
      return [machinery({ block: 0, prefix: entry.name, payload: entry.text, hover: entry.reason })];
  }
}

function machinery(draft: Partial<Draft> & Pick<Draft, "block" | "prefix" | "payload">): Draft {
  return { class: "other", tone: "weak", part: "plain", ...draft };
}

function deliveredDrafts(entry: DeliveredEntry): readonly Draft[] {
  const attachments = (entry.attachments ?? []).map((a, i) => attachmentDraft(a, i + 1));
  if (entry.sender === "system" && entry.topic !== undefined)
    return [machinery({ block: 0, prefix: `${entry.topic}:`, payload: entry.body }), ...attachments];
  const who = entry.senderName ?? entry.sender;
  const message: Draft = {
    block: 0,
    prefix: entry.epitaph === undefined ? `${who}:` : `${who} ended: ${entry.epitaph}`,
    payload: entry.body === "" ? "(no message body)" : entry.body,
    ...(entry.senderName === undefined ? {} : { hover: `sent by ${entry.sender}` }),
    class: "response",
    tone: entry.body === "" ? "weak" : "plain",
    role: entry.epitaph !== undefined ? "ended" : entry.sender === "user" ? "user" : "peer",
    part: "boundary",
  };
  return [message, ...attachments.map((draft): Draft => ({ ...draft, part: "boundary" }))];
}

function attachmentDraft({ mediaType, bytes, name }: Attachment, block: number): Draft {
  const size = bytes === undefined ? undefined : plural(bytes, "byte");
  const payload = [mediaType, size, name].filter((word) => word !== undefined).join(" · ");
  return machinery({ block, prefix: "attachment:", payload });
}

function modelDrafts(entry: ModelEntry, speaker: string, answered: ReadonlySet<string>): readonly Draft[] {
  const hover = entry.modelId === undefined ? {} : { hover: `ran on ${entry.modelId}` };
  if (entry.blocks.length === 0) {
    const draft = { block: 0, prefix: `${speaker}:`, payload: "(no content blocks)", ...hover };
    return [machinery({ ...draft, role: "model", part: "model" })];
  }
  return entry.blocks.map((content, block) => blockDraft(content, block, speaker, hover, answered));
}

function blockDraft(
  content: ContentBlock,
  block: number,
  speaker: string,
  hover: { readonly hover?: string },
  answered: ReadonlySet<string>,
): Draft {
  switch (content.kind) {
    case "text":
      return {
        block,
        prefix: `${speaker}:`,
        payload: content.text,
        ...hover,
        class: "response",
        tone: "plain",
        role: "model",
        part: "model",
      };
    case "thinking":
      return machinery({ block, prefix: "thinking:", payload: content.text, part: "thinking" });
    case "tool-use": {
      const state = content.outcome?.state ?? (answered.has(content.id) ? undefined : "running");
      return machinery({
        block,
        prefix: `⚙ ${content.name}${callSuffix(state)}`,
        payload: content.inputSummary,
        tone: state === "running" ? "in-flight" : "plain",
        part: "call",
      });
    }
    case "attachment":
      return attachmentDraft(content.attachment, block);
    case "other":
      return machinery({ block, prefix: `${content.type}:`, payload: content.text });
  }
}

/** How a call stands, where its result does not tell. */
function callSuffix(state: string | undefined): string {
  return state === undefined || state === "done" || state === "failed" ? "" : ` — ${state}`;
}

function resultDrafts(entry: ToolResultEntry): readonly Draft[] {
  const results = resultsOf(entry);
  const attachments = (entry.attachments ?? []).map((a, i) => attachmentDraft(a, results.length + i));
  return [
    ...results.map((result, block) => {
      const { body } = splitPayload(result.content);
      const size = body === undefined ? "" : ` · ${countPoints(body)} chars`;
      return machinery({
        block,
        prefix: `${result.isError ? "✖ tool result — error" : "✔ tool result — ok"}${size}`,
        payload: result.content,
        tone: result.isError ? "bad" : "good",
      });
    }),
    ...attachments,
  ];
}

function compactedPrefix(entry: Extract<Entry, { kind: "compacted" }>): string {
  const { first, last, tokensBefore, tokensAfter } = entry;
  if (first === undefined || last === undefined) {
    const before = tokensBefore === undefined ? "" : ` — ${plural(tokensBefore, "token")}`;
    return `✂ earlier entries compacted away${before}${tokensAfter === undefined ? "" : ` to ${tokensAfter}`}`;
  }
  const digits = (n: number): string => String(n).padStart(3, "0");
  const span = first === last ? digits(first) : `${digits(first)}–${digits(last)}`;
  return `✂ ${plural(last - first + 1, "entry", "entries")} compacted away — ${span}`;
}
