/** What a message of an Amp thread means. */
import type { CallOutcome, CallState, Wound } from "../../transcript/index.ts";
import { modelBlocks, usageCounters, userContent } from "../anthropic.ts";
import { patchChange } from "../calls.ts";
import type { Classified, EntryDraft, Mark } from "../classifier.ts";
import type { DocumentElement } from "../document/format.ts";
import {
  arrayOf,
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
import { promptDraft, unknown } from "../kinds.ts";

/** The meaning of one message: pure and total. */
export function classifyMessage(element: DocumentElement): Classified {
  const value = objectOf(element.value);
  const role = stringOf(value?.["role"]) ?? "";
  const meta = objectOf(value?.["meta"]);
  const time = timeOf(meta?.["sentAt"]) ?? timeOf(objectOf(value?.["usage"])?.["timestamp"]);
  if (value !== undefined) {
    if (role === "user") return userMessage(value, time);
    if (role === "assistant") return modelMessage(value, time, nameOf(value) ?? `@${element.index}`);
    if (role === "info") return infoMessage(value, time);
  }
  const kind = role === "" ? "no role" : role;
  return unknown(kind, element.value, time);
}

/** A message's number within its thread. */
export function nameOf(value: unknown): string | undefined {
  const id = objectOf(value)?.["messageId"];
  return typeof id === "number" && Number.isSafeInteger(id) ? String(id) : wordOf(id);
}

function userMessage(value: Fields, time: number | undefined): Classified {
  const pieces = arrayOf(value["content"]) ?? [];
  const isResult = (piece: unknown): boolean => objectOf(piece)?.["type"] === "tool_result";
  const results = pieces.filter(isResult).map((piece) => resultDraft(objectOf(piece) ?? {}, time));
  const content =
    typeof value["content"] === "string" ? value["content"] : pieces.filter((piece) => !isResult(piece));
  const { texts, attachments } = userContent(content, time);
  if (texts.length === 0 && attachments.length === 0) return { kind: "user", known: true, entries: results };
  const prompt = promptDraft(texts.join("\n"), attachments, time);
  // A prompt beside results was typed while the tools ran.
  const mark: Mark = results.length > 0 ? { type: "turnStarted", implied: true } : { type: "turnStarted" };
  return { kind: "user", known: true, entries: [...results, prompt], marks: [mark] };
}

const STATES: Readonly<Record<string, CallState>> = {
  done: "done",
  error: "failed",
  cancelled: "interrupted",
  "rejected-by-user": "denied",
};

function resultDraft(fields: Fields, time: number | undefined): EntryDraft {
  const run = objectOf(fields["run"]) ?? {};
  const result = objectOf(run["result"]);
  const error = objectOf(run["error"]);
  const content =
    textOf(run["result"]) ??
    wordOf(error?.["message"]) ??
    wordOf(run["error"]) ??
    textOf(run["progress"]) ??
    "";
  const exitCode = result?.["exitCode"];
  const hasFailed = typeof exitCode === "number" && exitCode !== 0;
  const said = STATES[stringOf(run["status"]) ?? ""] ?? "running";
  const state = said === "done" && hasFailed ? "failed" : said;
  const change = patchChange(wordOf(result?.["diff"]) ?? stringOf(run["result"]));
  const outcome: CallOutcome = {
    state,
    ...(typeof exitCode === "number" && Number.isSafeInteger(exitCode) ? { exitCode } : {}),
    ...(state === "running" ? {} : { lines: lineCount(content) }),
  };
  return {
    kind: "tool-result",
    toolUseId: wordOf(fields["toolUseID"]) ?? wordOf(fields["tool_use_id"]) ?? "",
    content,
    isError: state === "failed",
    outcome,
    ...(state === "running" ? { unfinished: true } : {}),
    ...(change === undefined ? {} : { changes: [change] }),
    ...timed(time),
  };
}

/** A result as text: as it is, its output, its pieces, or its JSON. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  const fields = objectOf(value);
  const output = stringOf(fields?.["output"]) ?? stringOf(fields?.["content"]) ?? stringOf(fields?.["diff"]);
  if (output !== undefined) return output;
  const pieces = arrayOf(value);
  if (pieces === undefined) return compactJson(value, RAW_TEXT_MAX);
  return pieces
    .map(
      (piece) => stringOf(piece) ?? stringOf(objectOf(piece)?.["text"]) ?? compactJson(piece, RAW_TEXT_MAX),
    )
    .join("\n");
}

function modelMessage(value: Fields, time: number | undefined, key: string): Classified {
  const state = objectOf(value["state"]);
  const standing = stringOf(state?.["type"]) ?? "complete";
  const stopReason = wordOf(state?.["stopReason"]);
  const blocks = modelBlocks(value["content"]);
  const usage = usageCounters(value["usage"]);
  const model = wordOf(objectOf(value["usage"])?.["model"]);
  const wound = woundOf(standing, state);
  const outputTokens = usage["outputTokens"];
  const hasCall = blocks.some((block) => block.kind === "tool-use");
  const isStreaming = standing === "streaming" || standing === "running";
  const isOver = wound !== undefined || (!isStreaming && !hasCall);
  const begun: Mark = { type: "turnStarted", automatic: true };
  const { timestamp: _when, ...counters } = usage;
  return {
    kind: "assistant",
    known: true,
    modelMessage: key,
    entries: [
      {
        kind: "model",
        blocks,
        usage: counters,
        messageId: key,
        ...(model === undefined ? {} : { modelId: model }),
        ...(stopReason === undefined ? {} : { stopReason }),
        ...(isStreaming ? { unfinished: true } : {}),
        ...timed(time),
      },
      ...(wound === undefined ? [] : [{ kind: "wounded", wound, ...timed(time) } as const]),
    ],
    marks: isOver ? [begun, { type: "turnEnded" }] : [begun],
    ...(outputTokens === undefined ? {} : { usage: { scope: "message", key, outputTokens } }),
    ...(model === undefined ? {} : { info: { model } }),
  };
}

function woundOf(standing: string, state: Fields | undefined): Wound | undefined {
  if (standing === "cancelled") return { kind: "interrupted" };
  if (standing !== "error") return undefined;
  const error = objectOf(state?.["error"]);
  const words = wordOf(error?.["message"]) ?? wordOf(state?.["error"]);
  return words === undefined ? { kind: "mute" } : { kind: "spoke", words };
}

/** What the program put in: the summary of a thread, or a command that the person ran by hand. */
function infoMessage(value: Fields, time: number | undefined): Classified {
  const entries: EntryDraft[] = [];
  let hasSummary = false;
  for (const piece of arrayOf(value["content"]) ?? []) {
    const fields = objectOf(piece) ?? {};
    const summary = objectOf(fields["summary"]);
    const words = wordOf(summary?.["summary"]);
    if (fields["type"] === "summary" && words !== undefined) {
      hasSummary = true;
      entries.push({ kind: "compacted", summary: words, ...timed(time) });
    } else {
      const topic = wordOf(fields["type"]) ?? "info";
      entries.push(noteDraft(topic, wordOf(fields["text"]) ?? compactJson(piece, RAW_TEXT_MAX), time));
    }
  }
  return { kind: "info", known: true, entries, ...(hasSummary ? { marks: [{ type: "compacted" }] } : {}) };
}
