/** What the rows of a Qwen Code chat mean. */
import type { RecordItem } from "../../lines/index.ts";
import { usageCounters } from "../anthropic.ts";
import type { Classified, Classifier, EntryDraft, Mark, TreeNode } from "../classifier.ts";
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
  timeOf,
  wordOf,
} from "../fields.ts";
import { knownAs, nameless, ofSession, unknown } from "../kinds.ts";
import type { SessionInfo } from "../types.ts";
import { modelParts, readParts, resultDrafts } from "./parts.ts";

export const qwenClassifier: Classifier = { agent: "qwen", classify };

/** Rows of the program's own bookkeeping, which nothing of the conversation is lost with. */
const SILENT: ReadonlySet<string> = new Set([
  "session_notes",
  "ui_telemetry",
  "attribution_snapshot",
  "session_source",
  "session_execution_engine",
  "omni_recall",
  "session_approval_mode",
  "agent_bootstrap",
  "agent_launch_prompt",
  "agent_retry",
  "agent_session_ready",
  "file_history_snapshot",
  "user_text_elements",
  "session_artifact_event",
  "session_artifact_snapshot",
  "session_sources_snapshot",
  "branch_checkpoint",
  "goal_state",
  "goal_turn_end",
  "background_task_completed",
]);

function classify(record: RecordItem): Classified {
  const value = objectOf(record.value);
  const type = stringOf(value?.["type"]);
  if (value === undefined || type === undefined) return nameless("type", record.value);
  const subtype = wordOf(value["subtype"]);
  const kind = subtype === undefined ? type : `${type}/${subtype}`;
  const time = timeOf(value["timestamp"]);
  const said: Classified = told(kind, type, subtype, value, time, record.start) ?? unknown(kind, value, time);
  const node = nodeOf(value, type);
  const info = { ...rowInfo(value), ...said.info };
  const whole: Classified = {
    ...said,
    ...(node === undefined ? {} : { node }),
    ...(Object.keys(info).length === 0 ? {} : { info }),
  };
  return ofSession(whole, wordOf(value["sessionId"]));
}

/** Fragments of one message have one id. */
function nodeOf(value: Fields, type: string): TreeNode | undefined {
  const id = wordOf(value["uuid"]);
  if (id === undefined) return undefined;
  const heads = type === "user" || type === "assistant" || value["subtype"] === "rewind";
  return { id, parentId: wordOf(value["parentUuid"]), heads, group: id };
}

function rowInfo(value: Fields): Partial<SessionInfo> {
  const cwd = wordOf(value["cwd"]);
  const gitBranch = wordOf(value["gitBranch"]);
  const agentVersion = wordOf(value["version"]);
  const startedAt = value["parentUuid"] === null ? timeOf(value["timestamp"]) : undefined;
  const forkedFromId = wordOf(objectOf(value["forkedFrom"])?.["sessionId"]);
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(gitBranch === undefined ? {} : { gitBranch }),
    ...(agentVersion === undefined ? {} : { agentVersion }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(forkedFromId === undefined ? {} : { forkedFromId }),
  };
}

function told(
  kind: string,
  type: string,
  subtype: string | undefined,
  value: Fields,
  time: number | undefined,
  start: number,
): Classified | undefined {
  switch (type) {
    case "user":
      return userRow(kind, subtype, value, time);
    case "assistant":
      return modelRow(kind, value, time, start);
    case "tool_result":
      return { kind, known: true, entries: resultDrafts(value, time) };
    case "system":
      return systemRow(kind, subtype, objectOf(value["systemPayload"]) ?? {}, time);
    default:
      return undefined;
  }
}

/** Prompts begin a turn; one typed while the agent was at work belongs to the turn that is open; all else the program put in. */
function userRow(
  kind: string,
  subtype: string | undefined,
  value: Fields,
  time: number | undefined,
): Classified {
  const payload = objectOf(value["systemPayload"]);
  const content = readParts(objectOf(value["message"])?.["parts"]);
  const results = resultDrafts(value, time);
  const { attachments } = content;
  const isTyped = subtype === undefined || subtype === "mid_turn_user_message";
  const isPerson = isTyped && (value["provenance"] === undefined || value["provenance"] === "real_user");
  const body = wordOf(payload?.["displayText"]) ?? content.text;
  if (body === "" && attachments.length === 0) return { kind, known: true, entries: results };
  const isQueued = subtype === "mid_turn_user_message";
  const draft: EntryDraft = {
    kind: "delivered",
    ...(isPerson ? { sender: "user" } : { sender: "system", topic: subtype ?? "context" }),
    body,
    ...(isQueued ? { queued: true } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
  const mark: Mark = isPerson
    ? isQueued
      ? { type: "turnStarted", implied: true }
      : { type: "turnStarted" }
    : { type: "turnStarted", automatic: true };
  return { kind, known: true, entries: [...results, draft], marks: [mark] };
}

function modelRow(kind: string, value: Fields, time: number | undefined, start: number): Classified {
  const blocks = modelParts(objectOf(value["message"])?.["parts"]);
  const usage = usageCounters(value["usageMetadata"]);
  const model = wordOf(value["model"]);
  const id = wordOf(value["uuid"]) ?? `@${start}`;
  const outputTokens = usage["candidatesTokenCount"];
  const hasCall = blocks.some((block) => block.kind === "tool-use");
  const begun: Mark = { type: "turnStarted", automatic: true };
  return {
    kind,
    known: true,
    modelMessage: id,
    entries: [
      {
        kind: "model",
        blocks,
        usage,
        messageId: id,
        ...(model === undefined ? {} : { modelId: model }),
        ...timed(time),
      },
    ],
    marks: hasCall ? [begun] : [begun, { type: "turnEnded" }],
    ...(outputTokens === undefined ? {} : { usage: { scope: "message", key: id, outputTokens } }),
    ...(model === undefined ? {} : { info: { model } }),
  };
}

function systemRow(
  kind: string,
  subtype: string | undefined,
  payload: Fields,
  time: number | undefined,
): Classified | undefined {
  const known = knownAs(kind);
  if (subtype !== undefined && SILENT.has(subtype)) return known([]);
  switch (subtype) {
    case "chat_compression":
      return known([compactedDraft(payload, time)], [{ type: "compacted" }]);
    case "custom_title": {
      const title = wordOf(payload["customTitle"]);
      return known([], [], title === undefined ? {} : { title, titled: true });
    }
    case "parent_session": {
      const parentId = wordOf(payload["parentSessionId"]);
      return known([], [], parentId === undefined ? {} : { parentId });
    }
    case "session_model": {
      const model = wordOf(payload["modelId"]);
      return known([], [], model === undefined ? {} : { model });
    }
    case "slash_command":
      return known([noteDraft("command", commandWords(payload), time)]);
    case "at_command":
      return known([noteDraft("files", fileWords(payload), time)]);
    case "notification":
    case "cron":
      return known([noteDraft(subtype, wordOf(payload["displayText"]) ?? jsonOf(payload), time)]);
    case "rewind":
      return known([noteDraft("rewind", jsonOf(payload), time)]);
    case "turn_result":
      return known(turnFailure(payload, time), [{ type: "turnEnded" }]);
    default:
      return undefined;
  }
}

function jsonOf(payload: Fields): string {
  return Object.keys(payload).length === 0 ? "" : compactJson(payload, RAW_TEXT_MAX);
}

function turnFailure(payload: Fields, time: number | undefined): readonly EntryDraft[] {
  const error = objectOf(payload["error"]);
  if (error === undefined) return [];
  const words = wordOf(error["message"]);
  return [
    {
      kind: "wounded",
      wound: words === undefined ? { kind: "mute" } : { kind: "spoke", words },
      ...timed(time),
    },
  ];
}

/** The summary that took the history's place stands first in it. */
function compactedDraft(payload: Fields, time: number | undefined): EntryDraft {
  const info = objectOf(payload["info"]) ?? {};
  const first = objectOf(arrayOf(payload["compressedHistory"])?.[0]);
  const tokensBefore = countOf(info["originalTokenCount"]);
  const tokensAfter = countOf(info["newTokenCount"]);
  const trigger = wordOf(info["trigger"]);
  return {
    kind: "compacted",
    summary: readParts(first?.["parts"]).text,
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(tokensAfter === undefined ? {} : { tokensAfter }),
    ...(trigger === undefined ? {} : { trigger }),
    ...timed(time),
  };
}

function commandWords(payload: Fields): string {
  const command = wordOf(payload["rawCommand"]) ?? "";
  if (payload["phase"] !== "result") return command;
  const shown = (arrayOf(payload["outputHistoryItems"]) ?? [])
    .map((item) => wordOf(objectOf(item)?.["text"]) ?? compactJson(item, RAW_TEXT_MAX))
    .join("\n");
  return shown === "" ? command : `${command}\n${shown}`;
}

function fileWords(payload: Fields): string {
  const files = (arrayOf(payload["filesRead"]) ?? []).map((file) => stringOf(file) ?? "").join("\n");
  return wordOf(payload["message"]) ?? files;
}
