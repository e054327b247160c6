/** The events of Kimi CLI's wire: `{ timestamp, message: { type, payload } }`. */
import type { ContentBlock, Usage } from "../../transcript/index.ts";
import { usageCounters } from "../anthropic.ts";
import type { Classified, EntryDraft, Mark } from "../classifier.ts";
import { type Fields, noteDraft, objectOf, stringOf, timed, wordOf } from "../fields.ts";
import { unknown } from "../kinds.ts";
import { partBlocks, plainContent, toolCall, toolResult } from "./content.ts";

/** Events that say nothing a reader of the conversation misses. */
const SILENT: ReadonlySet<string> = new Set([
  "HookTriggered",
  "HookResolved",
  "MCPLoadingBegin",
  "MCPLoadingEnd",
  "ApprovalRequest",
  "ApprovalResponse",
  "ApprovalRequestResolved",
  "QuestionRequest",
  "QuestionResponse",
  "ToolCallRequest",
  "ToolCallPart",
  "CompactionBegin",
]);

const BEGUN: Mark = { type: "turnStarted", automatic: true };

/** The meaning of an event; undefined for a type no reader knows. */
export function classifyEvent(
  message: Fields,
  time: number | undefined,
  key: string,
): Classified | undefined {
  const type = stringOf(message["type"]) ?? "";
  const payload = objectOf(message["payload"]) ?? {};
  const known = (entries: readonly EntryDraft[], ...marks: readonly Mark[]): Classified => ({
    kind: type,
    known: true,
    entries,
    ...(marks.length > 0 ? { marks } : {}),
  });
  if (SILENT.has(type)) return known([]);
  switch (type) {
    case "TurnBegin":
      return known([promptDraft(payload, time, false)], { type: "turnStarted" });
    case "SteerInput":
      return known([promptDraft(payload, time, true)], { type: "turnStarted", implied: true });
    case "TurnEnd":
      return known([], { type: "turnEnded" });
    case "StepBegin":
      return known([], BEGUN);
    case "StepInterrupted":
      return known([{ kind: "wounded", wound: { kind: "interrupted" }, ...timed(time) }], {
        type: "turnEnded",
      });
    case "ContentPart":
    case "TextPart":
    case "ThinkPart":
      return known([modelDraft(partBlocks(payload), {}, time)]);
    case "ToolCall":
      return known([modelDraft([toolCall(payload)], {}, time)]);
    case "ToolResult":
      return known([
        toolResult(wordOf(payload["tool_call_id"]), payload["return_value"] ?? payload["result"], time),
      ]);
    case "StatusUpdate":
      return status(type, payload, time, key);
    case "CompactionEnd":
      return known([{ kind: "compacted", summary: "", ...timed(time) }], { type: "compacted" });
    case "Notification": {
      const words = [wordOf(payload["title"]), wordOf(payload["body"])].filter((word) => word !== undefined);
      return known([noteDraft("notification", words.join("\n"), time)]);
    }
    case "PlanDisplay":
      return known([noteDraft("plan", stringOf(payload["content"]) ?? "", time)]);
    case "SubagentEvent":
      return subagentEvent(payload, time, key);
    default:
      return undefined;
  }
}

function promptDraft(payload: Fields, time: number | undefined, isQueued: boolean): EntryDraft {
  const { text, attachments } = plainContent(payload["user_input"]);
  return {
    kind: "delivered",
    sender: "user",
    body: text,
    ...(isQueued ? { queued: true } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
}

function modelDraft(blocks: readonly ContentBlock[], usage: Usage, time: number | undefined): EntryDraft {
  return { kind: "model", blocks, usage, ...timed(time) };
}

/** The counts of a step stand in an event of their own; a status without them says nothing. */
function status(kind: string, payload: Fields, time: number | undefined, key: string): Classified {
  const usage = usageCounters(payload["token_usage"]);
  if (Object.keys(usage).length === 0) return { kind, known: true, entries: [] };
  const id = wordOf(payload["message_id"]) ?? key;
  const outputTokens = usage["output"];
  return {
    kind,
    known: true,
    entries: [{ kind: "model", blocks: [], usage, ...timed(time) }],
    modelMessage: id,
    ...(outputTokens === undefined ? {} : { usage: { scope: "message", key: id, outputTokens } }),
  };
}

/** What a subagent did, under its own name; it has no say in the turns of the session. */
function subagentEvent(payload: Fields, time: number | undefined, key: string): Classified {
  const event = objectOf(payload["event"]) ?? {};
  const subagent =
    wordOf(payload["agent_id"]) ??
    wordOf(payload["parent_tool_call_id"]) ??
    wordOf(payload["task_tool_call_id"]) ??
    "subagent";
  const kind = `SubagentEvent/${stringOf(event["type"]) ?? ""}`;
  // One within another is told by its own name alone.
  const inner = event["type"] === "SubagentEvent" ? undefined : classifyEvent(event, time, key);
  if (inner === undefined) return unknown(kind, payload, time);
  const { marks: _marks, usage, ...rest } = inner;
  return {
    ...rest,
    kind,
    entries: inner.entries.map((entry) => asSubagent(entry, subagent)),
    ...(usage === undefined ? {} : { usage }),
  };
}

/** A subagent's prompt was not typed by the person. */
function asSubagent(entry: EntryDraft, subagent: string): EntryDraft {
  if (entry.kind === "delivered" && entry.sender === "user")
    return { ...entry, sender: "system", topic: "subagent", subagent };
  return { ...entry, subagent };
}
