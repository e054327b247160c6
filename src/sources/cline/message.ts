/** What the rows of a task mean as the editor shows them: each is something said, or something asked of the person. */
import type { Attachment, ContentBlock, Usage } from "../../transcript/index.ts";
import { usageCounters } from "../anthropic.ts";
import { parseArguments } from "../calls.ts";
import type { Classified, EntryDraft, Mark } from "../classifier.ts";
import type { DocumentElement } from "../document/format.ts";
import {
  arrayOf,
  attachmentOf,
  countOf,
  type Fields,
  noteDraft,
  objectOf,
  stringOf,
  timed,
  timeOf,
  wordOf,
} from "../fields.ts";
import { unknown } from "../kinds.ts";
import { classifyTurn } from "./history.ts";
import { browserBlock, commandBlock, mcpBlock, toolEntries } from "./tools.ts";

/** Rows that say nothing a reader of the conversation misses. */
const SILENT: ReadonlySet<string> = new Set([
  "say/api_req_finished",
  "say/api_req_retried",
  "say/api_req_retry_delayed",
  "say/api_req_rate_limit_wait",
  "say/api_req_deleted",
  "say/deleted_api_reqs",
  "say/subagent_usage",
  "say/checkpoint_created",
  "say/checkpoint_saved",
  "say/mcp_server_request_started",
  "say/load_mcp_documentation",
  "say/hook_status",
  "say/hook_output_stream",
  "say/conditional_rules_applied",
  "say/user_edit_todos",
  "ask/command_output",
  "ask/completion_result",
]);

/** Rows of the program that are shown as notes, with their topic. */
const NOTES: Readonly<Record<string, string>> = {
  "say/error": "error",
  "say/error_retry": "error",
  "say/diff_error": "error",
  "say/clineignore_error": "error",
  "say/rooignore_error": "error",
  "say/command_permission_denied": "error",
  "say/command_output": "output",
  "say/mcp_server_response": "output",
  "say/mcp_notification": "notification",
  "say/info": "notice",
  "say/shell_integration_warning": "warning",
  "say/shell_integration_warning_with_suggestion": "warning",
  "say/user_feedback_diff": "edit",
  "say/task_progress": "progress",
  "say/generate_explanation": "notice",
  "say/subagent": "subagent",
  "say/use_subagents": "subagent",
  "ask/use_subagents": "subagent",
  "say/subtask_result": "subagent",
  "say/codebase_search_result": "output",
  "say/condense_context_error": "error",
  "ask/auto_approval_max_req_reached": "warning",
};

/** Rows that stop the agent until the person answers. */
const STOPS: ReadonlySet<string> = new Set([
  "ask/resume_task",
  "ask/resume_completed_task",
  "ask/completion_result",
  "ask/auto_approval_max_req_reached",
]);

/** The meaning of one row of either file of a task: pure and total. */
export function classifyRow(element: DocumentElement): Classified {
  const value = objectOf(element.value);
  if (value !== undefined && wordOf(value["role"]) !== undefined) return classifyTurn(element, value);
  const type = stringOf(value?.["type"]) ?? "";
  const name = stringOf(value?.[type]) ?? "";
  const kind = type === "" ? "no type" : `${type}/${name}`;
  const time = timeOf(value?.["ts"]);
  const said = value === undefined ? undefined : told(kind, value, time, element.index);
  return said ?? unknown(kind, element.value, time);
}

/** A row's time is its name. A turn of the other file has none. */
export function nameOf(value: unknown): string | undefined {
  const row = objectOf(value);
  const time = row?.["ts"];
  return row !== undefined && !("role" in row) && typeof time === "number" && Number.isFinite(time)
    ? String(time)
    : undefined;
}

const BEGUN: Mark = { type: "turnStarted", automatic: true };
const ENDED: Mark = { type: "turnEnded" };

function told(kind: string, value: Fields, time: number | undefined, index: number): Classified | undefined {
  const text = stringOf(value["text"]) ?? "";
  const known = (entries: readonly EntryDraft[], ...marks: readonly Mark[]): Classified => ({
    kind,
    known: true,
    entries,
    ...(marks.length > 0 ? { marks } : {}),
    ...modelInfo(value),
  });
  const model = (blocks: readonly ContentBlock[], ...marks: readonly Mark[]): Classified =>
    known([modelDraft(value, blocks, time)], BEGUN, ...marks);
  if (index === 0 && kind === "say/text") return known([promptDraft(value, time)], { type: "turnStarted" });
  const topic = NOTES[kind];
  if (topic !== undefined) {
    const note = { ...noteDraft(topic, text, time), ...unfinished(value) } as EntryDraft;
    return STOPS.has(kind) ? known([note], ENDED) : known([note]);
  }
  if (SILENT.has(kind) || STOPS.has(kind)) return STOPS.has(kind) ? known([], ENDED) : known([]);
  switch (kind) {
    case "say/task":
    case "say/user_feedback":
      return known([promptDraft(value, time)], { type: "turnStarted" });
    case "say/text":
      return model(textBlocks(text));
    case "say/reasoning":
      return model(text === "" ? [] : [{ kind: "thinking", text }]);
    case "say/api_req_started":
      return request(kind, value, time);
    case "say/completion_result":
      return model(textBlocks(text.replace(/HAS_CHANGES$/, "")), ENDED);
    case "ask/followup":
    case "ask/plan_mode_respond":
    case "ask/act_mode_respond":
    case "ask/new_task":
    case "ask/condense":
    case "ask/report_bug":
      return model(textBlocks(question(text)), ENDED);
    case "ask/api_req_failed":
    case "ask/mistake_limit_reached":
      return known(
        [
          {
            kind: "wounded",
            wound: text === "" ? { kind: "mute" } : { kind: "spoke", words: text },
            ...timed(time),
          },
        ],
        ENDED,
      );
    case "say/tool":
    case "ask/tool":
      return known(
        toolEntries(text, wordOf(String(value["ts"])) ?? "", (b) => modelDraft(value, b, time), time),
        BEGUN,
      );
    case "say/command":
    case "ask/command":
      return model([commandBlock(text, value["partial"] === true)]);
    case "say/use_mcp_server":
    case "ask/use_mcp_server":
      return model([mcpBlock(text)]);
    case "say/browser_action":
    case "say/browser_action_launch":
    case "ask/browser_action_launch":
      return model([browserBlock(text)]);
    case "say/browser_action_result":
      return known([browserResult(text, time)]);
    case "say/condense_context":
    case "say/summarize_task":
    case "ask/summarize_task":
      return known([compactedDraft(value, text, time)], { type: "compacted" });
    default:
      return undefined;
  }
}

function unfinished(value: Fields): { readonly unfinished?: true } {
  return value["partial"] === true ? { unfinished: true } : {};
}

function modelOf(value: Fields): string | undefined {
  return wordOf(objectOf(value["modelInfo"])?.["modelId"]);
}

function modelInfo(value: Fields): Pick<Classified, "info"> {
  const model = modelOf(value);
  return model === undefined ? {} : { info: { model } };
}

function modelDraft(value: Fields, blocks: readonly ContentBlock[], time: number | undefined): EntryDraft {
  const model = modelOf(value);
  return {
    kind: "model",
    blocks: [
      ...blocks,
      ...imagesOf(value).map((attachment) => ({ kind: "attachment", attachment }) as const),
    ],
    usage: {},
    ...(model === undefined ? {} : { modelId: model }),
    ...unfinished(value),
    ...timed(time),
  };
}

function textBlocks(text: string): readonly ContentBlock[] {
  return text === "" ? [] : [{ kind: "text", text }];
}

function promptDraft(value: Fields, time: number | undefined): EntryDraft {
  const files = (arrayOf(value["files"]) ?? []).flatMap((file) => wordOf(file) ?? []);
  const attachments = [...imagesOf(value), ...files.map((file) => attachmentOf(file, "file"))];
  return {
    kind: "delivered",
    sender: "user",
    body: stringOf(value["text"]) ?? "",
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
}

function imagesOf(value: Fields): readonly Attachment[] {
  return (arrayOf(value["images"]) ?? []).flatMap((image) => {
    const url = wordOf(image);
    return url === undefined ? [] : [attachmentOf(url)];
  });
}

/** One request to the model: its counts, which come when it is over. Its words are rows of their own. */
function request(kind: string, value: Fields, time: number | undefined): Classified {
  const fields = objectOf(parseArguments(value["text"])) ?? {};
  const { cost: _cost, ...usage }: Usage = usageCounters(fields);
  const stopReason = wordOf(fields["cancelReason"]);
  const model = modelOf(value);
  const key = wordOf(String(value["ts"])) ?? "";
  const outputTokens = countOf(fields["tokensOut"]);
  return {
    kind,
    known: true,
    modelMessage: key,
    entries: [
      {
        kind: "model",
        blocks: [],
        usage,
        messageId: key,
        ...(model === undefined ? {} : { modelId: model }),
        ...(stopReason === undefined ? {} : { stopReason }),
        ...timed(time),
      },
    ],
    marks: [BEGUN],
    ...(outputTokens === undefined ? {} : { usage: { scope: "message", key, outputTokens } }),
    ...modelInfo(value),
  };
}

/** A question with the answers it offers. */
function question(text: string): string {
  const fields = objectOf(parseArguments(text));
  const words = wordOf(fields?.["question"]) ?? wordOf(fields?.["response"]) ?? wordOf(fields?.["context"]);
  if (words === undefined) return text;
  const answers = (arrayOf(fields?.["options"]) ?? arrayOf(fields?.["suggest"]) ?? []).flatMap((option) => {
    const answer = wordOf(option) ?? wordOf(objectOf(option)?.["answer"]);
    return answer === undefined ? [] : [`- ${answer}`];
  });
  return [words, ...answers].join("\n");
}

function browserResult(text: string, time: number | undefined): EntryDraft {
  const fields = objectOf(parseArguments(text)) ?? {};
  const screenshot = wordOf(fields["screenshot"]);
  return {
    ...noteDraft("browser", wordOf(fields["logs"]) ?? wordOf(fields["currentUrl"]) ?? "", time),
    ...(screenshot === undefined ? {} : { attachments: [attachmentOf(screenshot)] }),
  } as EntryDraft;
}

function compactedDraft(value: Fields, text: string, time: number | undefined): EntryDraft {
  const condensed = objectOf(value["contextCondense"]) ?? {};
  const tokensBefore = countOf(condensed["prevContextTokens"]);
  const tokensAfter = countOf(condensed["newContextTokens"]);
  return {
    kind: "compacted",
    summary: stringOf(condensed["summary"]) ?? text,
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(tokensAfter === undefined ? {} : { tokensAfter }),
    ...timed(time),
  };
}
