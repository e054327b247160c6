/**
 * What an agent tells while it works, read leniently: a field of the wrong shape is absent, an update of an unknown kind is kept as it
 * is. Pure and total: any JSON value gives an answer.
 */
import type { ApprovalOption, PlanStep } from "../session/index.ts";
import type { Attachment, FileChange } from "../transcript/index.ts";
import { compactJson, countOf, cutChars, type Fields, fieldsOf, headOf, listOf, wordOf } from "./input.ts";
import {
  changeCharsMax,
  changesMax,
  commandsMax,
  idCharsMax,
  modesMax,
  optionsMax,
  planStepsMax,
  summaryCharsMax,
  unknownBytesMax,
} from "./limits.ts";

/** How a call stands, as far as one update says; absent fields leave what was known. */
export interface CallNews {
  readonly id: string;
  /** True where the agent announces the call, false where it tells more of it. */
  readonly isNew: boolean;
  readonly kind?: string;
  readonly name?: string;
  readonly title?: string;
  readonly status?: "pending" | "running" | "done" | "failed";
  readonly input?: unknown;
  readonly subject?: string;
  /** Replaces all output that was told before. */
  readonly output?: string;
  readonly changes?: readonly FileChange[];
  readonly attachments?: readonly Attachment[];
  readonly exitCode?: number;
}

export type AgentUpdate =
  | { readonly type: "chunk"; readonly piece: Piece; readonly messageId?: string }
  /** What the person said, told back by the agent. */
  | { readonly type: "echo" }
  | { readonly type: "call"; readonly news: CallNews }
  | { readonly type: "plan"; readonly steps: readonly PlanStep[] }
  | { readonly type: "mode"; readonly id: string }
  | { readonly type: "commands"; readonly commands: readonly Command[] }
  | { readonly type: "title"; readonly title: string }
  | { readonly type: "usage"; readonly used: number }
  | { readonly type: "notice"; readonly tone: "information" | "warning" | "error"; readonly text: string }
  | {
      readonly type: "compaction";
      readonly id: string;
      readonly state: "running" | "done" | "failed";
      readonly summary?: string;
    }
  | { readonly type: "compactionText"; readonly id: string; readonly text: string }
  /** Known and of no use here. */
  | { readonly type: "nothing" }
  | { readonly type: "unknown"; readonly kind: string; readonly json: string };

export type Piece =
  | { readonly kind: "text" | "thinking"; readonly text: string }
  | { readonly kind: "attachment"; readonly attachment: Attachment };

export interface Command {
  readonly name: string;
  readonly description: string;
}

export interface Mode {
  readonly id: string;
  readonly name: string;
}

export function readUpdate(value: unknown): AgentUpdate {
  const update = fieldsOf(value);
  const kind = wordOf(update?.["sessionUpdate"]);
  if (update === undefined || kind === undefined) return unknownUpdate("without a name", value);
  return readKnown(kind, update) ?? unknownUpdate(kind, update);
}

function unknownUpdate(kind: string, value: unknown): AgentUpdate {
  return { type: "unknown", kind, json: cutChars(compactJson(value, unknownBytesMax), unknownBytesMax) };
}

function readKnown(kind: string, update: Fields): AgentUpdate | undefined {
  switch (kind) {
    case "agent_message_chunk":
      return chunkOf(update, "text");
    case "agent_thought_chunk":
      return chunkOf(update, "thinking");
    case "user_message_chunk":
      return { type: "echo" };
    case "tool_call":
    case "tool_call_update": {
      const news = readCall(update);
      return news === undefined ? undefined : { type: "call", news };
    }
    case "plan":
      return { type: "plan", steps: readPlan(update["entries"]) };
    case "current_mode_update": {
      const id = wordOf(update["currentModeId"], idCharsMax);
      return id === undefined ? undefined : { type: "mode", id };
    }
    case "available_commands_update":
      return { type: "commands", commands: readCommands(update["availableCommands"]) };
    case "session_info_update": {
      const title = wordOf(update["title"]);
      return title === undefined ? { type: "nothing" } : { type: "title", title };
    }
    case "usage_update": {
      const used = countOf(update["used"]);
      return used === undefined ? { type: "nothing" } : { type: "usage", used };
    }
    case "config_option_update":
      return { type: "nothing" };
    case "notice":
      return readNotice(update);
    case "compaction_update":
      return readCompaction(update);
    case "compaction_summary_chunk": {
      const id = wordOf(update["compactionId"], idCharsMax);
      const text = textOf(update["content"]);
      return id === undefined ? undefined : { type: "compactionText", id, text: text ?? "" };
    }
    default:
      return undefined;
  }
}

function chunkOf(update: Fields, kind: "text" | "thinking"): AgentUpdate | undefined {
  const content = fieldsOf(update["content"]);
  if (content === undefined) return undefined;
  const messageId = wordOf(update["messageId"], idCharsMax);
  const named = messageId === undefined ? {} : { messageId };
  const text = content["text"];
  if (content["type"] === "text")
    return typeof text === "string" ? { type: "chunk", piece: { kind, text }, ...named } : undefined;
  const attachment = readAttachment(content);
  return attachment === undefined
    ? undefined
    : { type: "chunk", piece: { kind: "attachment", attachment }, ...named };
}

/** The text of a content block, where it has one. */
function textOf(value: unknown): string | undefined {
  const content = fieldsOf(value);
  if (content === undefined) return undefined;
  if (typeof content["text"] === "string") return content["text"];
  const resource = fieldsOf(content["resource"]);
  return typeof resource?.["text"] === "string" ? resource["text"] : undefined;
}

function readAttachment(content: Fields): Attachment | undefined {
  const mediaType = wordOf(content["mimeType"]);
  const data = content["data"];
  switch (content["type"]) {
    case "image":
    case "audio": {
      const bytes = typeof data === "string" ? Math.floor((data.length * 3) / 4) : undefined;
      return {
        mediaType: mediaType ?? `${content["type"]}/*`,
        ...(bytes === undefined ? {} : { bytes }),
      };
    }
    case "resource_link":
    case "resource": {
      const resource = fieldsOf(content["resource"]) ?? content;
      const name = wordOf(content["name"]) ?? wordOf(resource["uri"]);
      const bytes = countOf(content["size"]);
      return {
        mediaType: mediaType ?? wordOf(resource["mimeType"]) ?? "application/octet-stream",
        ...(name === undefined ? {} : { name }),
        ...(bytes === undefined ? {} : { bytes }),
      };
    }
    default:
      return undefined;
  }
}

const statuses: Readonly<Record<string, CallNews["status"]>> = {
  pending: "pending",
  in_progress: "running",
  completed: "done",
  failed: "failed",
};

/** What an update, or a permission request, says of a call; absent without an id. */
export function readCall(value: unknown): CallNews | undefined {
  const update = fieldsOf(value);
  // An id is compared with those of later updates, so it is never cut.
  const id = update?.["toolCallId"];
  if (update === undefined || typeof id !== "string" || id.length > idCharsMax) return undefined;
  const name = wordOf(update["name"]);
  const title = wordOf(update["title"]);
  const kind = wordOf(update["kind"]);
  const status = typeof update["status"] === "string" ? statuses[update["status"]] : undefined;
  const input = update["rawInput"];
  const path = wordOf(fieldsOf(listOf(update["locations"])[0])?.["path"]);
  const exitCode = exitCodeOf(update["rawOutput"]);
  return {
    id,
    isNew: update["sessionUpdate"] === "tool_call",
    ...(kind === undefined ? {} : { kind }),
    ...(name === undefined ? {} : { name }),
    ...(title === undefined ? {} : { title }),
    ...(status === undefined ? {} : { status }),
    ...(input === undefined || input === null ? {} : { input }),
    ...(path === undefined ? {} : { subject: path }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...readCallContent(update["content"], update["rawOutput"]),
  };
}

function readCallContent(
  content: unknown,
  rawOutput: unknown,
): Pick<CallNews, "output" | "changes" | "attachments"> {
  const texts: string[] = [];
  const changes: FileChange[] = [];
  const attachments: Attachment[] = [];
  for (const item of listOf(content)) {
    const part = fieldsOf(item);
    if (part?.["type"] === "diff") {
      const change = readDiff(part);
      if (change !== undefined && changes.length < changesMax) changes.push(change);
    } else if (part?.["type"] === "content") {
      const text = textOf(part["content"]);
      const inner = fieldsOf(part["content"]);
      const attachment = text === undefined && inner !== undefined ? readAttachment(inner) : undefined;
      if (text !== undefined) texts.push(text);
      if (attachment !== undefined && attachments.length < changesMax) attachments.push(attachment);
    }
  }
  const output = texts.length > 0 ? texts.join("\n") : outputOf(rawOutput);
  return {
    ...(output === undefined ? {} : { output }),
    ...(changes.length === 0 ? {} : { changes }),
    ...(attachments.length === 0 ? {} : { attachments }),
  };
}

function readDiff(part: Fields): FileChange | undefined {
  const path = wordOf(part["path"]);
  if (path === undefined) return undefined;
  const { oldText, newText } = part;
  return {
    path,
    ...(typeof oldText === "string" ? { oldText: cutChars(oldText, changeCharsMax) } : {}),
    ...(typeof newText === "string" ? { newText: cutChars(newText, changeCharsMax) } : {}),
  };
}

/** The text in a tool's raw output, under the names that agents use. */
function outputOf(rawOutput: unknown): string | undefined {
  if (typeof rawOutput === "string") return rawOutput;
  const fields = fieldsOf(rawOutput);
  if (fields === undefined) return undefined;
  const stdout = ["output", "stdout", "formatted_output", "aggregated_output", "message", "content"]
    .map((key) => fields[key])
    .find((value) => typeof value === "string" && value !== "");
  const stderr = fields["stderr"] ?? fields["error"];
  const parts = [stdout, stderr].filter((part): part is string => typeof part === "string" && part !== "");
  return parts.length === 0 ? undefined : parts.join("\n");
}

function exitCodeOf(rawOutput: unknown): number | undefined {
  const fields = fieldsOf(rawOutput);
  const metadata = fieldsOf(fields?.["metadata"]);
  const code = fields?.["exitCode"] ?? fields?.["exit_code"] ?? metadata?.["exit_code"] ?? metadata?.["exit"];
  return Number.isInteger(code) ? (code as number) : undefined;
}

function readPlan(value: unknown): readonly PlanStep[] {
  return listOf(value)
    .slice(0, planStepsMax)
    .flatMap((item) => {
      const entry = fieldsOf(item);
      const text = wordOf(entry?.["content"]);
      if (text === undefined) return [];
      const status = entry?.["status"];
      const state = status === "completed" ? "done" : status === "in_progress" ? "at-work" : "waiting";
      return [{ text, state } satisfies PlanStep];
    });
}

function readCommands(value: unknown): readonly Command[] {
  return listOf(value)
    .slice(0, commandsMax)
    .flatMap((item) => {
      const command = fieldsOf(item);
      const name = wordOf(command?.["name"]);
      return name === undefined ? [] : [{ name, description: wordOf(command?.["description"]) ?? "" }];
    });
}

function readNotice(update: Fields): AgentUpdate | undefined {
  const title = wordOf(update["title"]);
  if (title === undefined) return undefined;
  const description = wordOf(update["description"]);
  const tone =
    update["severity"] === "error" ? "error" : update["severity"] === "warning" ? "warning" : "information";
  return { type: "notice", tone, text: description === undefined ? title : `${title}: ${description}` };
}

function readCompaction(update: Fields): AgentUpdate | undefined {
  const id = wordOf(update["compactionId"], idCharsMax);
  if (id === undefined) return undefined;
  const status = update["status"];
  const state = status === "completed" ? "done" : status === "failed" ? "failed" : "running";
  const texts = listOf(update["summary"]).flatMap((block) => textOf(block) ?? []);
  return {
    type: "compaction",
    id,
    state,
    ...(texts.length === 0 ? {} : { summary: headOf(texts.join("\n"), summaryCharsMax) }),
  };
}

/** The modes of a session, as `session/new` and `session/load` tell them. */
export function readModes(value: unknown): { readonly modes: readonly Mode[]; readonly modeId?: string } {
  const fields = fieldsOf(value);
  const modes = listOf(fields?.["availableModes"])
    .slice(0, modesMax)
    .flatMap((item) => {
      const mode = fieldsOf(item);
      const id = wordOf(mode?.["id"], idCharsMax);
      return id === undefined ? [] : [{ id, name: wordOf(mode?.["name"]) ?? id }];
    });
  const modeId = wordOf(fields?.["currentModeId"], idCharsMax);
  return { modes, ...(modeId === undefined ? {} : { modeId }) };
}

const optionKinds: Readonly<Record<string, ApprovalOption["kind"]>> = {
  allow_once: "allow-once",
  allow_always: "allow-always",
  reject_once: "reject-once",
  reject_always: "reject-always",
};

/** The options of a permission request. A kind that is not known counts as allowing once, so that nothing is allowed for longer. */
export function readOptions(value: unknown): readonly ApprovalOption[] {
  return listOf(value)
    .slice(0, optionsMax)
    .flatMap((item) => {
      const option = fieldsOf(item);
      const id = option?.["optionId"];
      if (option === undefined || typeof id !== "string" || id.length > idCharsMax) return [];
      const told = option["kind"];
      const kind = (typeof told === "string" ? optionKinds[told] : undefined) ?? "allow-once";
      return [{ id, label: wordOf(option["name"]) ?? id, kind }];
    });
}
