/** What a message of Cursor's editor means: a prompt, or a piece of the model's work, with at most one call and its result. */
import type { Attachment, CallOutcome, CallState, ContentBlock, Usage } from "../../transcript/index.ts";
import { callBlock, parseArguments } from "../calls.ts";
import type { Classified, EntryDraft, Mark } from "../classifier.ts";
import type { DocumentElement } from "../document/format.ts";
import {
  arrayOf,
  compactJson,
  countOf,
  type Fields,
  lineCount,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  timed,
  timeOf,
  wordOf,
} from "../fields.ts";
import { unknown } from "../kinds.ts";
import { promptOf } from "./user-text.ts";

/** The types of messages, which are numbers. */
const USER = 1;
const MODEL = 2;

/** The meaning of one message: pure and total. */
export function classifyBubble(element: DocumentElement): Classified {
  const value = objectOf(element.value);
  const type = value?.["type"];
  const time = timeOf(value?.["createdAt"]);
  if (value === undefined || (type !== USER && type !== MODEL)) {
    const kind = typeof type === "number" ? `type ${type}` : "no type";
    return unknown(kind, element.value, time);
  }
  if (type === USER) return promptOf([stringOf(value["text"]) ?? ""], attachmentsOf(value), [], time);
  return modelMessage(value, time, bubbleNameOf(value) ?? `@${element.index}`);
}

export function bubbleNameOf(value: unknown): string | undefined {
  return wordOf(objectOf(value)?.["bubbleId"]);
}

function attachmentsOf(value: Fields): readonly Attachment[] {
  return (arrayOf(value["images"]) ?? []).map((image) => {
    const name = wordOf(objectOf(image)?.["path"]) ?? wordOf(objectOf(image)?.["uuid"]);
    return { mediaType: "image/*", ...(name === undefined ? {} : { name }) };
  });
}

function modelMessage(value: Fields, time: number | undefined, key: string): Classified {
  const blocks: ContentBlock[] = thinkingOf(value).map((text) => ({ kind: "thinking", text }));
  const text = wordOf(value["text"]);
  if (text !== undefined) blocks.push({ kind: "text", text });
  const tool = objectOf(value["toolFormerData"]);
  const results: EntryDraft[] = [];
  if (
    tool !== undefined &&
    (wordOf(tool["name"]) !== undefined || wordOf(tool["toolCallId"]) !== undefined)
  ) {
    const id = wordOf(tool["toolCallId"]) ?? key;
    const input = parseArguments(wordOf(tool["rawArgs"]) ?? wordOf(tool["params"]));
    blocks.push(callBlock(id, wordOf(tool["name"]), input));
    results.push(resultDraft(id, tool, time));
  }
  const tokens = objectOf(value["tokenCount"]);
  const outputTokens = countOf(tokens?.["outputTokens"]);
  const inputTokens = countOf(tokens?.["inputTokens"]);
  // Nothing is counted where both are 0: the editor writes that where it was not told.
  const isCounted = (outputTokens ?? 0) + (inputTokens ?? 0) > 0;
  const named = wordOf(objectOf(value["modelInfo"])?.["modelName"]);
  const model = named === "default" ? undefined : named;
  const begun: Mark = { type: "turnStarted", automatic: true };
  return {
    kind: "assistant",
    known: true,
    modelMessage: key,
    entries: [
      {
        kind: "model",
        blocks,
        usage: isCounted ? counted({ input: inputTokens, output: outputTokens }) : {},
        messageId: key,
        ...(model === undefined ? {} : { modelId: model }),
        ...(value["isLast"] === true && value["isRunning"] === true ? { unfinished: true } : {}),
        ...timed(time),
      },
      ...results,
    ],
    marks: value["isLast"] === true && value["isRunning"] !== true ? [begun, { type: "turnEnded" }] : [begun],
    ...(isCounted && outputTokens !== undefined ? { usage: { scope: "message", key, outputTokens } } : {}),
    ...(model === undefined ? {} : { info: { model } }),
  };
}

function counted(counts: Readonly<Record<string, number | undefined>>): Usage {
  const usage: Record<string, number> = {};
  for (const [name, count] of Object.entries(counts)) if (count !== undefined) usage[name] = count;
  return usage;
}

function thinkingOf(value: Fields): readonly string[] {
  const one = wordOf(objectOf(value["thinking"])?.["text"]);
  const all = (arrayOf(value["allThinkingBlocks"]) ?? []).map((block) => wordOf(objectOf(block)?.["text"]));
  const texts = one === undefined ? all : [one];
  return texts.filter((text) => text !== undefined);
}

const STATES: Readonly<Record<string, CallState>> = {
  completed: "done",
  error: "failed",
  cancelled: "interrupted",
  canceled: "interrupted",
};

function resultDraft(id: string, tool: Fields, time: number | undefined): EntryDraft {
  const said = STATES[stringOf(tool["status"]) ?? ""] ?? "running";
  const state: CallState = tool["userDecision"] === "rejected" ? "interrupted" : said;
  const content = resultText(tool["error"]) || resultText(tool["result"]);
  const outcome: CallOutcome = {
    state,
    ...(state === "running" ? {} : { lines: lineCount(content) }),
  };
  return {
    kind: "tool-result",
    toolUseId: id,
    content,
    isError: state === "failed" || state === "interrupted",
    outcome,
    ...(state === "running" ? { unfinished: true } : {}),
    ...timed(time),
  };
}

/** A result is a text, or an object as JSON, which may hold the text. */
function resultText(value: unknown): string {
  const parsed = parseArguments(value);
  if (typeof parsed === "string") return parsed;
  const fields = objectOf(parsed);
  if (fields === undefined) return parsed === undefined || parsed === null ? "" : String(value);
  for (const key of ["output", "contents", "clientVisibleErrorMessage", "message"]) {
    const text = wordOf(fields[key]);
    if (text !== undefined) return text;
  }
  return Object.keys(fields).length === 0 ? "" : compactJson(fields, RAW_TEXT_MAX);
}
