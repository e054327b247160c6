/** What the events of a GitHub Copilot CLI session mean. Unknown events pass as raw entries: the schema grows with every release. */
import type { RecordItem } from "../../lines/index.ts";
import type { Attachment, CallOutcome, ContentBlock, Usage, Wound } from "../../transcript/index.ts";
import { callBlock, parseArguments, patchChange } from "../calls.ts";
import type { Classified, Classifier, EntryDraft, Mark, TreeNode } from "../classifier.ts";
import {
  arrayOf,
  attachmentOf,
  base64Bytes,
  compactJson,
  countOf,
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
import { knownAs, nameless, unknown } from "../kinds.ts";
import type { SessionInfo } from "../types.ts";

export const copilotClassifier: Classifier = { agent: "copilot", classify };

/** Events that say nothing a reader of the conversation misses: what a hook or a permission did shows in what follows it. */
const SILENT: ReadonlySet<string> = new Set([
  "hook.start",
  "hook.end",
  "permission.requested",
  "permission.completed",
  "user_input.requested",
  "user_input.completed",
  "elicitation.requested",
  "elicitation.completed",
  "external_tool.requested",
  "external_tool.completed",
  "exit_plan_mode.requested",
  "exit_plan_mode.completed",
  "command.queued",
  "command.execute",
  "command.completed",
  "commands.changed",
  "pending_messages.modified",
  "assistant.intent",
  "assistant.message_start",
  "assistant.message_delta",
  "assistant.reasoning_delta",
  "assistant.streaming_delta",
  "assistant.usage",
  "assistant.turn_end",
  "tool.execution_start",
  "tool.execution_progress",
  "tool.execution_partial_result",
  "tool.user_requested",
  "session.idle",
  "session.mode_changed",
  "session.plan_changed",
  "session.tools_updated",
  "session.skills_loaded",
  "session.custom_agents_updated",
  "session.mcp_servers_loaded",
  "session.mcp_server_status_changed",
  "session.extensions_loaded",
  "session.background_tasks_changed",
  "session.workspace_file_changed",
  "session.remote_steerable_changed",
  "session.compaction_start",
  "session.truncation",
  "session.usage_info",
  "session.usage_checkpoint",
  "subagent.started",
  "subagent.completed",
  "subagent.failed",
  "subagent.selected",
  "subagent.deselected",
]);

interface Event {
  readonly type: string;
  readonly data: Fields;
  readonly time: number | undefined;
  readonly subagent: string | undefined;
  readonly key: string;
}

function classify(record: RecordItem): Classified {
  const value = objectOf(record.value);
  const type = stringOf(value?.["type"]);
  if (value === undefined || type === undefined) return nameless("type", record.value);
  const data = objectOf(value["data"]) ?? {};
  const event: Event = {
    type,
    data,
    time: timeOf(value["timestamp"]),
    subagent: wordOf(value["agentId"]) ?? wordOf(data["parentToolCallId"]),
    key: wordOf(value["id"]) ?? `@${record.start}`,
  };
  const said = told(event) ?? unknown(type, value, event.time);
  const node = nodeOf(value, type);
  return { ...withSubagent(said, event.subagent), ...(node === undefined ? {} : { node }) };
}

/** The events are one chain; where it goes on from an earlier event, what stands between was rewound. */
function nodeOf(value: Fields, type: string): TreeNode | undefined {
  const id = wordOf(value["id"]);
  if (id === undefined) return undefined;
  return { id, parentId: wordOf(value["parentId"]), heads: type === "user.message" };
}

/** A subagent's events have no say in the turns of the session. */
function withSubagent(said: Classified, subagent: string | undefined): Classified {
  if (subagent === undefined) return said;
  const { marks: _marks, ...rest } = said;
  return { ...rest, entries: said.entries.map((entry) => ({ ...entry, subagent }) as EntryDraft) };
}

const ENDED: readonly Mark[] = [{ type: "turnEnded" }];

function told(event: Event): Classified | undefined {
  const { type, data, time } = event;
  const known = knownAs(type);
  const note = (topic: string, ...fields: readonly string[]): Classified =>
    known([noteDraft(topic, firstText(data, fields), time)]);
  if (SILENT.has(type)) return known([]);
  switch (type) {
    case "session.start":
    case "session.resume":
      // What was at work when the program went away is over.
      return known([], type === "session.resume" ? ENDED : [], startInfo(data));
    case "session.context_changed":
      return known([], [], contextInfo(data));
    case "session.model_change":
      return known([], [], wordInfo("model", data["newModel"]));
    case "session.title_changed": {
      const title = wordOf(data["title"]);
      return known([], [], title === undefined ? {} : { title, titled: true });
    }
    case "session.shutdown":
      return known([], ENDED, wordInfo("model", data["currentModel"]));
    case "session.info":
      return note("notice", "message");
    case "session.warning":
      return note("warning", "message");
    case "session.error":
      return known([{ kind: "wounded", wound: woundOf(data), ...timed(time) }], ENDED);
    case "session.handoff":
      return note("handoff", "summary", "context");
    case "session.task_complete":
      return note("notice", "summary");
    case "session.snapshot_rewind":
      return note("rewind", "message");
    case "session.compaction_complete":
      return data["success"] === false
        ? note("warning", "error")
        : known([compactedDraft(data, time)], [{ type: "compacted" }]);
    case "system.message":
      return note("context", "content");
    case "system.notification":
      return note("notification", "content");
    case "skill.invoked":
      return note("skill", "content", "name");
    case "user.message":
      return known([promptDraft(data, time)], [promptMark(data)]);
    case "assistant.turn_start":
      return known([], [{ type: "turnStarted", automatic: true }]);
    case "assistant.reasoning":
      return known([{ kind: "model", blocks: thinkingBlocks(data["content"]), usage: {}, ...timed(time) }]);
    case "assistant.message":
      return message(event);
    case "tool.execution_complete":
      return known([resultDraft(data, time)], [], wordInfo("model", data["model"]));
    case "abort":
      return known([{ kind: "wounded", wound: interruption(data), ...timed(time) }], ENDED);
    default:
      return undefined;
  }
}

function firstText(data: Fields, fields: readonly string[]): string {
  for (const field of fields) {
    const text = wordOf(data[field]);
    if (text !== undefined) return text;
  }
  return Object.keys(data).length === 0 ? "" : compactJson(data, RAW_TEXT_MAX);
}

function wordInfo(name: "model", value: unknown): Partial<SessionInfo> {
  const word = wordOf(value);
  return word === undefined ? {} : { [name]: word };
}

function startInfo(data: Fields): Partial<SessionInfo> {
  const startedAt = timeOf(data["startTime"]);
  const agentVersion = wordOf(data["copilotVersion"]);
  return {
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(agentVersion === undefined ? {} : { agentVersion }),
    ...wordInfo("model", data["selectedModel"]),
    ...contextInfo(objectOf(data["context"]) ?? {}),
  };
}

function contextInfo(context: Fields): Partial<SessionInfo> {
  const cwd = wordOf(context["cwd"]);
  const gitBranch = wordOf(context["branch"]);
  return { ...(cwd === undefined ? {} : { cwd }), ...(gitBranch === undefined ? {} : { gitBranch }) };
}

/** A prompt that steers was typed into the turn that is open. */
function promptMark(data: Fields): Mark {
  if (isInjected(data)) return { type: "turnStarted", automatic: true };
  return data["delivery"] === "steering" ? { type: "turnStarted", implied: true } : { type: "turnStarted" };
}

/** What a skill or the program itself put in as a message of the user. */
function isInjected(data: Fields): boolean {
  const source = wordOf(data["source"]);
  return source !== undefined && source !== "user";
}

function promptDraft(data: Fields, time: number | undefined): EntryDraft {
  const source = wordOf(data["source"]);
  const attachments = (arrayOf(data["attachments"]) ?? []).map(attachmentFrom);
  const isQueued = data["delivery"] === "queued" || data["delivery"] === "steering";
  return {
    kind: "delivered",
    ...(isInjected(data) ? { sender: "system", topic: source ?? "context" } : { sender: "user" }),
    body: stringOf(data["content"]) ?? "",
    ...(isQueued ? { queued: true } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
}

function attachmentFrom(value: unknown): Attachment {
  const fields = objectOf(value) ?? {};
  const data = stringOf(fields["data"]);
  const name =
    wordOf(fields["displayName"]) ??
    wordOf(fields["path"]) ??
    wordOf(fields["filePath"]) ??
    wordOf(fields["title"]);
  const mediaType = wordOf(fields["mimeType"]) ?? wordOf(fields["type"]) ?? "file";
  return {
    mediaType,
    ...(data === undefined ? {} : { bytes: base64Bytes(data) }),
    ...(name === undefined ? {} : { name: attachmentOf(name).name ?? name }),
  };
}

function thinkingBlocks(value: unknown): readonly ContentBlock[] {
  const text = wordOf(value);
  return text === undefined ? [] : [{ kind: "thinking", text }];
}

/** One message of the model. Without a call it is the turn's last word. */
function message({ type, data, time, key }: Event): Classified {
  const text = wordOf(data["content"]);
  const calls = arrayOf(data["toolRequests"]) ?? [];
  const model = wordOf(data["model"]);
  const id = wordOf(data["messageId"]) ?? key;
  const outputTokens = countOf(data["outputTokens"]);
  const usage: Usage = outputTokens === undefined ? {} : { outputTokens };
  const isLast = calls.length === 0 && isLastPiece(data);
  return {
    kind: type,
    known: true,
    modelMessage: id,
    entries: [
      {
        kind: "model",
        blocks: [
          ...thinkingBlocks(data["reasoningText"]),
          ...(text === undefined ? [] : [{ kind: "text", text } as const]),
          ...calls.map(requestBlock),
        ],
        usage,
        messageId: id,
        ...(model === undefined ? {} : { modelId: model }),
        ...timed(time),
      },
    ],
    marks: [{ type: "turnStarted", automatic: true }, ...(isLast ? ENDED : [])],
    ...(outputTokens === undefined ? {} : { usage: { scope: "message", key: id, outputTokens } }),
    ...(model === undefined ? {} : { info: { model } }),
  };
}

/** Long messages may come in numbered pieces. */
function isLastPiece(data: Fields): boolean {
  const index = countOf(data["chunkIndex"]);
  const count = countOf(data["chunkCount"]);
  return index === undefined || count === undefined || index >= count - 1;
}

function requestBlock(value: unknown): ContentBlock {
  const fields = objectOf(value) ?? {};
  return callBlock(wordOf(fields["toolCallId"]), wordOf(fields["name"]), parseArguments(fields["arguments"]));
}

function resultDraft(data: Fields, time: number | undefined): EntryDraft {
  const result = objectOf(data["result"]);
  const error = objectOf(data["error"]);
  const isError = data["success"] === false;
  const content =
    wordOf(result?.["content"]) ??
    wordOf(error?.["message"]) ??
    wordOf(data["error"]) ??
    contentsText(result);
  const change = patchChange(stringOf(result?.["detailedContent"]));
  return {
    kind: "tool-result",
    toolUseId: stringOf(data["toolCallId"]) ?? "",
    content,
    isError,
    outcome: outcomeOf(content, isError, wordOf(error?.["code"])),
    ...(change === undefined ? {} : { changes: [change] }),
    ...timed(time),
  };
}

function contentsText(result: Fields | undefined): string {
  const detailed = wordOf(result?.["detailedContent"]);
  if (detailed !== undefined) return detailed;
  return (arrayOf(result?.["contents"]) ?? [])
    .map((piece) => stringOf(objectOf(piece)?.["text"]) ?? compactJson(piece, RAW_TEXT_MAX))
    .join("\n");
}

/** The shell tool says how its command ended on the last line of its text. */
function outcomeOf(content: string, isError: boolean, code: string | undefined): CallOutcome {
  const exit = /<exited with exit code (-?\d+)>\s*$/.exec(content.slice(-200));
  const exitCode = exit === null ? undefined : Number(exit[1]);
  const isDenied = isError && /^(?:denied|rejected)$/.test(code ?? "");
  const hasFailed = isError || (exitCode !== undefined && exitCode !== 0);
  return {
    state: isDenied ? "denied" : hasFailed ? "failed" : "done",
    ...(exitCode === undefined ? {} : { exitCode }),
    lines: lineCount(content),
  };
}

function compactedDraft(data: Fields, time: number | undefined): EntryDraft {
  const tokensBefore = countOf(data["preCompactionTokens"]);
  const tokensAfter = countOf(data["postCompactionTokens"]);
  return {
    kind: "compacted",
    summary: stringOf(data["summaryContent"]) ?? "",
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(tokensAfter === undefined ? {} : { tokensAfter }),
    ...timed(time),
  };
}

function woundOf(data: Fields): Wound {
  const words = wordOf(data["message"]);
  if (
    data["errorType"] === "authentication" ||
    data["errorType"] === "authorization" ||
    data["statusCode"] === 401
  )
    return { kind: "refused", ...(words === undefined ? {} : { words }) };
  return words === undefined ? { kind: "mute" } : { kind: "spoke", words };
}

function interruption(data: Fields): Wound {
  const words = wordOf(data["reason"]);
  return { kind: "interrupted", ...(words === undefined ? {} : { words }) };
}
