/** A committed turn of fx: the whole of it in one record, from the prompt to the last word. */
import type { Attachment, CallOutcome, ContentBlock } from "../../transcript/index.ts";
import { callBlock, parseArguments } from "../calls.ts";
import type { EntryDraft } from "../classifier.ts";
import {
  arrayOf,
  attachmentOf,
  countOf,
  type Fields,
  lineCount,
  noteDraft,
  objectOf,
  stringOf,
  timed,
  timeOf,
  wordOf,
} from "../fields.ts";

/** Bytes as fx writes them: a text, or base64 where they are no UTF-8. */
export function durableText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const fields = objectOf(value);
  const data = stringOf(fields?.["data"]);
  return fields?.["encoding"] === "base64" && data !== undefined
    ? Buffer.from(data, "base64").toString("utf8")
    : undefined;
}

function durableWord(value: unknown): string | undefined {
  const text = durableText(value);
  return text === "" ? undefined : text;
}

/** A prompt and its images. */
export function promptDraft(user: Fields, time: number | undefined): EntryDraft {
  const attachments = (arrayOf(user["images"]) ?? []).map(imageOf);
  return {
    kind: "delivered",
    sender: "user",
    body: durableText(user["text"]) ?? "",
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
}

function imageOf(value: unknown): Attachment {
  const fields = objectOf(value) ?? {};
  const mediaType = wordOf(fields["media_type"]) ?? "image/*";
  const path = durableWord(fields["path"]);
  return path === undefined ? { mediaType } : attachmentOf(path, mediaType);
}

/** Words typed while the agent was at work. */
export function steeringDraft(text: string, time: number | undefined): EntryDraft {
  return { kind: "delivered", sender: "user", body: text, queued: true, ...timed(time) };
}

/** The words and thoughts of a model's message: its parts in their order where they are kept, else its text. */
export function messageBlocks(text: unknown, parts: unknown): readonly ContentBlock[] {
  const blocks: ContentBlock[] = [];
  for (const part of arrayOf(parts) ?? []) {
    const fields = objectOf(part) ?? {};
    const said = durableWord(objectOf(fields["text"])?.["text"]);
    const thought = durableWord(objectOf(fields["reasoning"])?.["text"]);
    if (thought !== undefined) blocks.push({ kind: "thinking", text: thought });
    if (said !== undefined) blocks.push({ kind: "text", text: said });
  }
  if (blocks.some((block) => block.kind === "text")) return blocks;
  const whole = durableWord(text);
  return whole === undefined ? blocks : [...blocks, { kind: "text", text: whole }];
}

/** A call: within a turn, or as an event of its own. */
export function toolCall(value: Fields): ContentBlock {
  const id = wordOf(value["call_id"]) ?? wordOf(value["id"]);
  const name = wordOf(value["tool_name"]) ?? wordOf(value["name"]);
  return callBlock(id, name, parseArguments(durableText(value["arguments_json"]) ?? value["arguments_json"]));
}

/** A result: its output where it is kept, else the piece of it that is shown. */
export function toolResult(value: Fields, time: number | undefined): EntryDraft {
  const content = durableWord(value["output"]) ?? durableText(value["preview"]) ?? "";
  const isError = value["status"] === "failure";
  const kept = countOf(value["output_bytes"]);
  const isPartial = kept !== undefined && kept > Buffer.byteLength(content);
  const outcome: CallOutcome = {
    state: isError ? "failed" : "done",
    ...(isPartial
      ? { note: `${kept} bytes, of which this is the beginning` }
      : { lines: lineCount(content) }),
  };
  return {
    kind: "tool-result",
    toolUseId: wordOf(value["call_id"]) ?? wordOf(value["tool_call_id"]) ?? "",
    content,
    isError,
    outcome,
    ...timed(timeOf(value["created_at_ms"]) ?? time),
  };
}

/** How a turn was stopped. */
export function interruption(reason: unknown, time: number | undefined): EntryDraft {
  const wound = reason === "failed" ? ({ kind: "mute" } as const) : ({ kind: "interrupted" } as const);
  return { kind: "wounded", wound, ...timed(time) };
}

function modelDraft(blocks: readonly ContentBlock[], time: number | undefined): EntryDraft {
  return { kind: "model", blocks, usage: {}, ...timed(time) };
}

/** All that a committed turn holds, in order. */
export function turnDrafts(turn: Fields, time: number | undefined): readonly EntryDraft[] {
  const kind = stringOf(turn["kind"]) ?? "";
  if (kind === "compacted_summary")
    return [{ kind: "compacted", summary: durableText(turn["summary"]) ?? "", ...timed(time) }];
  const drafts: EntryDraft[] = [promptDraft(objectOf(turn["user"]) ?? {}, time)];
  drafts.push(...stepDrafts(objectOf(turn["execution"]) ?? {}, time));
  const last = objectOf(turn["tool_call"]);
  if (last !== undefined) drafts.push(modelDraft([toolCall(last)], time));
  const words = messageBlocks(turn["assistant"], turn["assistant_parts"]);
  if (words.length > 0) drafts.push(modelDraft(words, time));
  if (kind === "interrupted") drafts.push(interruption(turn["terminal_reason"], time));
  if (kind === "background_command") {
    const log = durableText(turn["log_path"]) ?? "";
    drafts.push(noteDraft("background", durableWord(turn["url"]) ?? log, time));
  }
  return drafts;
}

/** Steps of tools, with the words that were typed between them. */
function stepDrafts(execution: Fields, time: number | undefined): readonly EntryDraft[] {
  const drafts: EntryDraft[] = [];
  const steering = (arrayOf(execution["steering"]) ?? []).map((typed) => objectOf(typed) ?? {});
  const addSteering = (steps: number): void => {
    for (const typed of steering) {
      if ((countOf(typed["after_tool_step_count"]) ?? 0) !== steps) continue;
      const before = messageBlocks(typed["assistant_prefix"], typed["assistant_prefix_parts"]);
      if (before.length > 0) drafts.push(modelDraft(before, time));
      const text = durableWord(typed["text"]);
      if (text !== undefined) drafts.push(steeringDraft(text, time));
    }
  };
  addSteering(0);
  for (const [at, value] of (arrayOf(execution["tool_steps"]) ?? []).entries()) {
    const step = objectOf(value) ?? {};
    const blocks = [
      ...messageBlocks(step["assistant"], step["assistant_parts"]),
      ...(arrayOf(step["tool_calls"]) ?? []).map((call) => toolCall(objectOf(call) ?? {})),
    ];
    if (blocks.length > 0) drafts.push(modelDraft(blocks, time));
    for (const result of arrayOf(step["tool_results"]) ?? [])
      drafts.push(toolResult(objectOf(result) ?? {}, time));
    addSteering(at + 1);
  }
  return drafts;
}
