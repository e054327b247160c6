/** What the records of a Codex rollout mean. */
import type { RecordItem } from "../../lines/index.ts";
import type { Classified, Classifier } from "../classifier.ts";
import {
  compactJson,
  type Fields,
  noteDraft,
  objectOf,
  RAW_TEXT_MAX,
  rawDraft,
  stringOf,
  timed,
  timeOf,
  wordOf,
} from "../fields.ts";
import type { SessionInfo } from "../types.ts";
import { classifyEvent } from "./events.ts";
import { classifyItem } from "./items.ts";

/** A record this near to the start of the file is its first: a byte order mark may come before it. */
const FIRST_START_MAX = 3;

const ITEM_TYPES =
  /^(message|reasoning|function_call(_output)?|custom_tool_call(_output)?|local_shell_call(_output)?|web_search_call|tool_search_(call|output)|image_generation_call|agent_message|ghost_snapshot|compaction(_summary)?|context_compaction|additional_tools)$/;

export const codexClassifier: Classifier = { agent: "codex", classify };

function classify(record: RecordItem): Classified {
  const value = objectOf(record.value);
  if (!value) return unknown("not an object", record.value);
  const type = stringOf(value["type"]);
  const payload = objectOf(value["payload"]);
  if (payload && type !== undefined) return classifyWrapped(type, payload, value, record.start);
  return classifyBare(type, value, record);
}

function unknown(kind: string, value: unknown, time?: number): Classified {
  return { kind, known: false, entries: [rawDraft(`unknown record kind ${kind}`, value, time)] };
}

function classifyWrapped(type: string, payload: Fields, value: Fields, start: number): Classified {
  const time = timeOf(value["timestamp"]);
  const subtype = stringOf(payload["type"]);
  const kind =
    subtype !== undefined && (type === "response_item" || type === "event_msg") ? `${type}/${subtype}` : type;
  switch (type) {
    case "session_meta":
      return {
        kind,
        known: true,
        entries: [],
        ...(start <= FIRST_START_MAX ? { info: metaInfo(payload) } : {}),
      };
    case "turn_context":
      return { kind, known: true, entries: [], info: contextInfo(payload) };
    case "response_item":
      return classifyItem(payload, { kind, time, start, isBare: false });
    case "event_msg":
      return classifyEvent(payload, kind, time);
    case "compacted":
      return {
        kind,
        known: true,
        entries: [{ kind: "compacted", summary: stringOf(payload["message"]) ?? "", ...timed(time) }],
        marks: [{ type: "compacted" }],
      };
    case "inter_agent_communication":
      return {
        kind,
        known: true,
        entries: [noteDraft("agent", wordOf(payload["content"]) ?? compactJson(payload, RAW_TEXT_MAX), time)],
      };
    case "inter_agent_communication_metadata":
    case "world_state":
      return { kind, known: true, entries: [] };
    default:
      return unknown(kind, value, time);
  }
}

/** The oldest files: a bare first line, bare items, and rows of state. */
function classifyBare(type: string | undefined, value: Fields, record: RecordItem): Classified {
  const time = timeOf(value["timestamp"]);
  if (type !== undefined && ITEM_TYPES.test(type))
    return classifyItem(value, { kind: type, time, start: record.start, isBare: true });
  const rowKind = stringOf(value["record_type"]);
  if (rowKind !== undefined) {
    if (rowKind === "state") return { kind: "state", known: true, entries: [] };
    return unknown(`record_type/${rowKind}`, value, time);
  }
  if (type === undefined && wordOf(value["id"]) && time !== undefined)
    return {
      kind: "header",
      known: true,
      entries: [],
      ...(record.start <= FIRST_START_MAX ? { info: metaInfo(value) } : {}),
    };
  return unknown(type ?? "no type", value, time);
}

/** The session's facts from its first `session_meta`. */
export function metaInfo(meta: Fields): Partial<SessionInfo> {
  const startedAt = timeOf(meta["timestamp"]);
  const cwd = wordOf(meta["cwd"]);
  const agentVersion = wordOf(meta["cli_version"]);
  const gitBranch = wordOf(objectOf(meta["git"])?.["branch"]);
  const parentId = parentOf(meta);
  const forkedFromId = wordOf(meta["forked_from_id"]);
  return {
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(cwd ? { cwd } : {}),
    ...(agentVersion ? { agentVersion } : {}),
    ...(gitBranch ? { gitBranch } : {}),
    ...(parentId ? { parentId } : {}),
    ...(forkedFromId ? { forkedFromId } : {}),
  };
}

/** The session a subagent belongs to. */
function parentOf(meta: Fields): string | undefined {
  const spawn = objectOf(objectOf(objectOf(meta["source"])?.["subagent"])?.["thread_spawn"]);
  return wordOf(spawn?.["parent_thread_id"]) ?? wordOf(meta["parent_thread_id"]);
}

/** What a turn's context says from here on: where it works, with which model. */
export function contextInfo(context: Fields): Partial<SessionInfo> {
  const cwd = wordOf(context["cwd"]);
  const model = wordOf(context["model"]);
  return { ...(cwd ? { cwd } : {}), ...(model ? { model } : {}) };
}
