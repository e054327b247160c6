/** The records of Kimi Code: `{ type, time, … }`. */
import type { ContentBlock } from "../../transcript/index.ts";
import { usageCounters } from "../anthropic.ts";
import type { Classified, EntryDraft, Mark } from "../classifier.ts";
import {
  arrayOf,
  compactJson,
  countOf,
  type Fields,
  noteDraft,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  timed,
  wordOf,
} from "../fields.ts";
import { knownAs } from "../kinds.ts";
import { contentBlocks, partBlocks, plainContent, toolCall, toolResult } from "./content.ts";

/** Records of the program's own state: what they say shows in the messages, or nowhere. */
const SILENT =
  /^(?:cron|file_history|goal|interaction|interruptionReminder|llm|mcp|permission|plan_mode|plugin|profile|prompt|runtime|swarm_mode|task|token_counting|tools|tower_mode|full_compaction|micro_compaction|staleGuard)\.[a-zA-Z_]+$/;
const SILENT_NAMES: ReadonlySet<string> = new Set([
  "forked",
  "context.update_token_count",
  "turn.step.interrupted",
]);

const BEGUN: Mark = { type: "turnStarted", automatic: true };

/** The meaning of a record; undefined for a type no reader knows. */
export function classifyRecord(
  type: string,
  value: Fields,
  time: number | undefined,
  key: string,
): Classified | undefined {
  const known = knownAs(type);
  if (SILENT.test(type) || SILENT_NAMES.has(type)) return known([]);
  switch (type) {
    case "metadata":
      return known([], [], time === undefined ? {} : { startedAt: time });
    case "config.update": {
      const model = wordOf(value["model"]) ?? wordOf(value["modelAlias"]);
      return known([], [], model === undefined ? {} : { model });
    }
    // The prompt itself is the message that comes next.
    case "turn.prompt":
      return known([], [{ type: "turnStarted" }]);
    case "turn.steer":
      return known([], [{ type: "turnStarted", implied: true }]);
    case "turn.ended":
      return known(failure(value, time), [{ type: "turnEnded" }]);
    case "turn.cancel":
      return known(
        [{ kind: "wounded", wound: { kind: "interrupted" }, ...timed(time) }],
        [{ type: "turnEnded" }],
      );
    case "turn.step.retrying":
      return known([noteDraft("retry", errorWords(value), time)]);
    case "plan.revision":
      return known([noteDraft("plan", wordOf(value["content"]) ?? jsonOf(value), time)]);
    case "context.append_message":
      return message(type, objectOf(value["message"]) ?? {}, time, key);
    case "context.append_loop_event":
      return loopEvent(objectOf(value["event"]) ?? {}, time, key);
    case "context.apply_compaction":
      return known([compactedDraft(value, time)], [{ type: "compacted" }]);
    case "context.clear":
      return known([noteDraft("clear", "", time)]);
    case "context.undo": {
      const turns = countOf(value["count"]);
      return known(
        [noteDraft("undo", jsonOf(value), time)],
        turns === undefined ? [] : [{ type: "rolledBack", turns }],
      );
    }
    case "usage.record":
      return usageRecord(type, value, time, key);
    default:
      return undefined;
  }
}

function jsonOf(value: Fields): string {
  const { type: _type, time: _time, ...rest } = value;
  return Object.keys(rest).length === 0 ? "" : compactJson(rest, RAW_TEXT_MAX);
}

function errorWords(value: Fields): string {
  const error = objectOf(value["error"]);
  return (
    wordOf(error?.["message"]) ?? wordOf(value["errorMessage"]) ?? wordOf(value["error"]) ?? jsonOf(value)
  );
}

function failure(value: Fields, time: number | undefined): readonly EntryDraft[] {
  if (value["error"] === undefined || value["error"] === null) return [];
  return [{ kind: "wounded", wound: { kind: "spoke", words: errorWords(value) }, ...timed(time) }];
}

function compactedDraft(value: Fields, time: number | undefined): EntryDraft {
  const tokensBefore = countOf(value["tokensBefore"]);
  const tokensAfter = countOf(value["tokensAfter"]);
  return {
    kind: "compacted",
    summary: stringOf(value["summary"]) ?? "",
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(tokensAfter === undefined ? {} : { tokensAfter }),
    ...timed(time),
  };
}

/** The counts of a request stand in a record of their own. */
function usageRecord(kind: string, value: Fields, time: number | undefined, key: string): Classified {
  const usage = usageCounters(value["usage"]);
  const model = wordOf(value["model"]);
  const outputTokens = usage["output"];
  return {
    kind,
    known: true,
    entries: [
      {
        kind: "model",
        blocks: [],
        usage,
        ...(model === undefined ? {} : { modelId: model }),
        ...timed(time),
      },
    ],
    modelMessage: key,
    ...(outputTokens === undefined ? {} : { usage: { scope: "message", key, outputTokens } }),
    ...(model === undefined ? {} : { info: { model } }),
  };
}

/** A whole message, put into the context: a prompt, what the program put in, or one copied from another session. */
function message(type: string, body: Fields, time: number | undefined, key: string): Classified | undefined {
  const role = stringOf(body["role"]) ?? "";
  const kind = `${type}/${role}`;
  const { text, attachments } = plainContent(body["content"]);
  const origin = wordOf(objectOf(body["origin"])?.["kind"]);
  switch (role) {
    case "user": {
      const isPerson = origin === undefined || origin === "user";
      const draft: EntryDraft = {
        kind: "delivered",
        ...(isPerson ? { sender: "user" } : { sender: "system", topic: origin }),
        body: text,
        ...(attachments.length > 0 ? { attachments } : {}),
        ...timed(time),
      };
      const marks: readonly Mark[] = isPerson ? [{ type: "turnStarted", implied: true }] : [];
      return { kind, known: true, entries: [draft], ...(marks.length > 0 ? { marks } : {}) };
    }
    case "assistant": {
      const blocks = [
        ...contentBlocks(body["content"]),
        ...(arrayOf(body["toolCalls"]) ?? []).map((call) => toolCall(objectOf(call) ?? {})),
      ];
      const isLast = !blocks.some((block) => block.kind === "tool-use");
      return {
        kind,
        known: true,
        entries: [{ kind: "model", blocks, usage: {}, messageId: key, ...timed(time) }],
        ...(isLast ? { marks: [{ type: "turnEnded", implied: true }] } : {}),
      };
    }
    case "tool":
      return { kind, known: true, entries: [toolResult(wordOf(body["toolCallId"]), body, time)] };
    case "system":
      return { kind, known: true, entries: [noteDraft("context", text, time)] };
    default:
      return undefined;
  }
}

/** One event of a step of the model. */
function loopEvent(event: Fields, time: number | undefined, key: string): Classified | undefined {
  const type = stringOf(event["type"]) ?? "";
  const kind = `context.append_loop_event/${type}`;
  const messageId = wordOf(event["stepUuid"]) ?? key;
  const model = (blocks: readonly ContentBlock[]): Classified => ({
    kind,
    known: true,
    entries: [{ kind: "model", blocks, usage: {}, messageId, ...timed(time) }],
  });
  switch (type) {
    case "step.begin":
      return { kind, known: true, entries: [], marks: [BEGUN] };
    case "step.end": {
      // A step that calls tools is followed by another one.
      const reason = wordOf(event["finishReason"]);
      const isLast = reason === "end_turn" || reason === "stop" || reason === "completed";
      return { kind, known: true, entries: [], ...(isLast ? { marks: [{ type: "turnEnded" }] } : {}) };
    }
    case "content.part":
      return model(partBlocks(objectOf(event["part"]) ?? {}));
    case "tool.call":
      return model([toolCall(event)]);
    case "tool.result":
      return { kind, known: true, entries: [toolResult(wordOf(event["toolCallId"]), event["result"], time)] };
    default:
      return undefined;
  }
}
