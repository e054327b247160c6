/** What the records of a Claude Code transcript mean. */
import type { RecordItem } from "../../lines/index.ts";
import type { Classified, Classifier, EntryDraft, Mark, TreeNode } from "../classifier.ts";
import { countOf, type Fields, noteDraft, objectOf, stringOf, timed, timeOf, wordOf } from "../fields.ts";
import { nameless, ofSession, unknown } from "../kinds.ts";
import type { SessionInfo } from "../types.ts";
import { classifyAssistant } from "./assistant.ts";
import { classifyAttachment } from "./attachment.ts";
import { classifyUser } from "./user.ts";
import { commandWords } from "./words.ts";

/** What is known of a record before its own content is looked at. */
export interface Envelope {
  readonly value: Fields;
  readonly time: number | undefined;
  /** The subagent that wrote it, in the file of another. */
  readonly subagent: string | undefined;
}

/** What a record says beyond its envelope. */
export type Said = Pick<Classified, "entries" | "marks" | "usage" | "modelMessage"> & {
  readonly info?: Partial<SessionInfo>;
};

/** In the file of a subagent, its records are the session's own. */
export function createClaudeClassifier(isSubagentFile: boolean): Classifier {
  return { agent: "claude-code", classify: (record) => classify(record, isSubagentFile) };
}

/** Rows that say something beside the conversation; known, and without an entry. */
const sideKinds: ReadonlySet<string> = new Set([
  "agent-color",
  "agent-setting",
  "attribution-snapshot",
  "bridge-session",
  "content-replacement",
  "file-history-snapshot",
  "frame-link",
  "last-prompt",
  "marble-origami-commit",
  "marble-origami-snapshot",
  "mode",
  "permission-mode",
  "pr-link",
  "progress",
  "queue-operation",
  "saved_hook_context",
  "speculation-accept",
  "tag",
  "task-summary",
  "worktree-state",
]);

function classify(record: RecordItem, isSubagentFile: boolean): Classified {
  const session = wordOf(objectOf(record.value)?.["sessionId"]);
  return ofSession(meaningOf(record, isSubagentFile), session);
}

function meaningOf(record: RecordItem, isSubagentFile: boolean): Classified {
  const value = objectOf(record.value);
  const type = stringOf(value?.["type"]);
  if (value === undefined || type === undefined) return nameless("type", record.value);
  const subtype = type === "system" ? wordOf(value["subtype"]) : undefined;
  const kind = subtype === undefined ? type : `${type}/${subtype}`;
  const isSide = value["isSidechain"] === true && !isSubagentFile;
  const time = timeOf(value["timestamp"]);
  const subagent = isSide ? (wordOf(value["agentId"]) ?? "subagent") : undefined;
  const said = saidBy(type, subtype, { value, time, subagent });
  if (said === undefined) return unknown(kind, value, time);
  // A subagent's rows are shown, and have no say in the course of the session.
  const node = isSide ? undefined : nodeOf(type, value, said.entries);
  const info = { ...envelopeInfo(value, isSide), ...said.info };
  return {
    kind,
    known: true,
    entries: said.entries.map((draft) => (subagent === undefined ? draft : { ...draft, subagent })),
    ...(said.marks === undefined || isSide ? {} : { marks: said.marks }),
    ...(node === undefined ? {} : { node }),
    ...(Object.keys(info).length === 0 ? {} : { info }),
    ...(said.usage === undefined ? {} : { usage: said.usage }),
    ...(said.modelMessage === undefined ? {} : { modelMessage: said.modelMessage }),
  };
}

/** Undefined for a kind that is not known. */
function saidBy(type: string, subtype: string | undefined, envelope: Envelope): Said | undefined {
  switch (type) {
    case "user":
      return classifyUser(envelope);
    case "assistant":
      return classifyAssistant(envelope);
    case "attachment":
      return classifyAttachment(envelope);
    case "system":
      return classifySystem(subtype, envelope);
    case "summary":
    case "ai-title":
    case "custom-title":
    case "agent-name":
      return { entries: [], ...titleInfo(type, envelope.value) };
  }
  return sideKinds.has(type) ? { entries: [] } : undefined;
}

function titleInfo(type: string, value: Fields): { readonly info?: Partial<SessionInfo> } {
  const title =
    type === "custom-title"
      ? wordOf(value["customTitle"])
      : type === "agent-name"
        ? wordOf(value["agentName"])
        : type === "ai-title"
          ? wordOf(value["aiTitle"])
          : undefined;
  // A `summary` may be of another session: only describing looks at where its leaf is.
  return title === undefined ? {} : { info: { title, titled: true } };
}

/** Facts that every row of the conversation carries; the last one counts. */
function envelopeInfo(value: Fields, isSide: boolean): Partial<SessionInfo> {
  const cwd = wordOf(value["cwd"]);
  const gitBranch = wordOf(value["gitBranch"]);
  const agentVersion = wordOf(value["version"]);
  const message = objectOf(value["message"]);
  const model = value["type"] === "assistant" ? wordOf(message?.["model"]) : undefined;
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(gitBranch === undefined ? {} : { gitBranch }),
    ...(agentVersion === undefined ? {} : { agentVersion }),
    ...(model === undefined || model === "<synthetic>" || isSide ? {} : { model }),
  };
}

/** Only two prompts, or two answers of the model, under one parent are branches: other rows are its trail. */
function nodeOf(type: string, value: Fields, entries: readonly EntryDraft[]): TreeNode | undefined {
  const id = wordOf(value["uuid"]);
  if (id === undefined) return undefined;
  const parentId = wordOf(value["parentUuid"]) ?? wordOf(value["logicalParentUuid"]);
  const isPrompt = entries.some(
    (draft) => draft.kind === "delivered" && draft.sender === "user" && draft.queued !== true,
  );
  const messageId = type === "assistant" ? wordOf(objectOf(value["message"])?.["id"]) : undefined;
  return {
    id,
    parentId,
    heads: isPrompt || type === "assistant",
    ...(messageId === undefined ? {} : { group: messageId }),
  };
}

const turnEnd: readonly Mark[] = [{ type: "turnEnded" }];

function classifySystem(subtype: string | undefined, { value, time }: Envelope): Said | undefined {
  const content = stringOf(value["content"]) ?? "";
  switch (subtype) {
    case "compact_boundary":
      return { entries: [boundaryDraft(value, time)], marks: [{ type: "compacted" }] };
    case "microcompact_boundary":
      return { entries: [noteDraft("microcompact", microcompactWords(value), time)] };
    case "turn_duration":
    case "stop_hook_summary":
      return { entries: hookErrors(value, time), marks: turnEnd };
    case "api_error":
      return { entries: [noteDraft("api_error", retryWords(value), time)] };
    case "local_command":
      return { entries: content === "" ? [] : [noteDraft("command", commandWords(content), time)] };
    default: {
      const level = wordOf(value["level"]);
      const topic = subtype ?? (level === "error" ? "error" : "note");
      return content === "" && subtype === undefined
        ? undefined
        : { entries: content === "" ? [] : [noteDraft(topic, content, time)] };
    }
  }
}

function boundaryDraft(value: Fields, time: number | undefined): EntryDraft {
  const facts = objectOf(value["compactMetadata"]);
  const trigger = wordOf(facts?.["trigger"]);
  const tokensBefore = countOf(facts?.["preTokens"]);
  const tokensAfter = countOf(facts?.["postTokens"]);
  const uuid = wordOf(value["uuid"]);
  return {
    kind: "compacted",
    summary: "",
    ...(trigger === undefined ? {} : { trigger }),
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(tokensAfter === undefined ? {} : { tokensAfter }),
    ...timed(time),
    // The summary comes in the next row, which names this one as its parent.
    ...(uuid === undefined ? {} : { mergeKey: `compaction ${uuid}` }),
  };
}

function microcompactWords(value: Fields): string {
  const facts = objectOf(value["microcompactMetadata"]);
  const saved = countOf(facts?.["tokensSaved"]);
  const words = stringOf(value["content"]) || "older tool results were cleared";
  return saved === undefined ? words : `${words} (${saved} tokens saved)`;
}

function hookErrors(value: Fields, time: number | undefined): readonly EntryDraft[] {
  const errors = Array.isArray(value["hookErrors"])
    ? value["hookErrors"].filter((e) => typeof e === "string" && e !== "")
    : [];
  return errors.length === 0 ? [] : [noteDraft("hook error", errors.join("\n"), time)];
}

/** What went wrong with a request that is tried again. Its shape is the provider's. */
function retryWords(value: Fields): string {
  const error = value["error"];
  const fields = objectOf(error);
  const inner = objectOf(fields?.["error"]);
  const cause = objectOf(fields?.["cause"]);
  const words =
    stringOf(error) ??
    wordOf(objectOf(inner?.["error"])?.["message"]) ??
    wordOf(inner?.["message"]) ??
    wordOf(fields?.["message"]) ??
    wordOf(cause?.["code"]) ??
    "the request failed";
  const status = countOf(fields?.["status"]);
  const attempt = countOf(value["retryAttempt"]);
  const max = countOf(value["maxRetries"]);
  const tries = attempt === undefined ? "" : ` (try ${attempt}${max === undefined ? "" : ` of ${max}`})`;
  return `${status === undefined ? "" : `${status} `}${words}${tries}`;
}
