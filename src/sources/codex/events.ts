/** The user-interface facts of a rollout: `event_msg` payloads. Most repeat an item and are folded; the rest are told here. */
import type { Attachment, Wound } from "../../transcript/index.ts";
import type { Classified, EntryDraft, Mark } from "../classifier.ts";
import {
  arrayOf,
  attachmentOf,
  compactJson,
  countOf,
  type Fields,
  noteDraft,
  objectOf,
  RAW_TEXT_MAX,
  rawDraft,
  stringOf,
  timed,
  wordOf,
} from "../fields.ts";

/** Events that repeat what an item says, or say nothing that lasts. */
const FOLDED = new Set([
  "agent_message",
  "agent_reasoning",
  "agent_reasoning_raw_content",
  "agent_reasoning_section_break",
  "agent_message_delta",
  "agent_reasoning_delta",
  "agent_reasoning_raw_content_delta",
  "agent_message_content_delta",
  "reasoning_content_delta",
  "reasoning_raw_content_delta",
  "plan_delta",
  "context_compacted",
  "exec_command_begin",
  "exec_command_end",
  "exec_command_output_delta",
  "terminal_interaction",
  "exec_approval_request",
  "apply_patch_approval_request",
  "request_user_input",
  "request_permissions",
  "elicitation_request",
  "patch_apply_begin",
  "patch_apply_updated",
  "patch_apply_end",
  "mcp_tool_call_begin",
  "mcp_tool_call_end",
  "mcp_startup_update",
  "mcp_startup_complete",
  "web_search_begin",
  "web_search_end",
  "image_generation_begin",
  "image_generation_end",
  "view_image_tool_call",
  "dynamic_tool_call_request",
  "dynamic_tool_call_response",
  "collab_agent_spawn_begin",
  "collab_agent_spawn_end",
  "collab_agent_interaction_begin",
  "collab_agent_interaction_end",
  "collab_waiting_begin",
  "collab_waiting_end",
  "collab_close_begin",
  "collab_close_end",
  "collab_resume_begin",
  "collab_resume_end",
  "sub_agent_activity",
  "raw_response_item",
  "item_started",
  "turn_diff",
  "plan_update",
  "session_configured",
  "skills_update_available",
  "shutdown_complete",
  "thread_settings_applied",
]);

/** Events shown as a note, with its topic and the fields its words may be in. */
const NOTES: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  background_event: ["notice", ["message"]],
  deprecation_notice: ["notice", ["summary", "details"]],
  guardian_assessment: ["notice", ["rationale", "status"]],
  guardian_warning: ["warning", ["message"]],
  hook_completed: ["hook", ["message"]],
  hook_started: ["hook", ["message"]],
  model_reroute: ["model", ["reason", "to_model"]],
  model_verification: ["model", ["message"]],
  stream_error: ["api_error", ["message"]],
  thread_goal_updated: ["goal", ["objective", "goal", "status"]],
  warning: ["warning", ["message"]],
};

/** What one event means. Unknown types give a raw entry. */
export function classifyEvent(event: Fields, kind: string, time: number | undefined): Classified {
  const type = stringOf(event["type"]) ?? "";
  const of = (entries: readonly EntryDraft[], marks?: readonly Mark[]): Classified => ({
    kind,
    known: true,
    entries,
    ...(marks ? { marks } : {}),
  });
  switch (type) {
    case "user_message":
      return of([promptDraft(event, time)], [{ type: "turnStarted", implied: true }]);
    case "task_started":
    case "turn_started":
      return of([], [{ type: "turnStarted" }]);
    case "task_complete":
    case "turn_complete":
      return of([], [{ type: "turnEnded" }]);
    case "turn_aborted":
      return of([{ kind: "wounded", wound: abortWound(event), ...timed(time) }], [{ type: "turnEnded" }]);
    case "error":
      return of([{ kind: "wounded", wound: errorWound(event), ...timed(time) }], [{ type: "turnEnded" }]);
    case "token_count":
      return tokenCount(event, kind);
    case "thread_rolled_back": {
      const turns = countOf(event["num_turns"]) ?? 0;
      const words = turns === 1 ? "The last turn was undone." : `The last ${turns} turns were undone.`;
      return of(
        [noteDraft("rollback", words, time)],
        turns > 0 ? [{ type: "rolledBack", turns }] : undefined,
      );
    }
    case "thread_name_updated": {
      const title = wordOf(event["thread_name"]);
      return { ...of([]), ...(title ? { info: { title, titled: true } } : {}) };
    }
    case "entered_review_mode":
      return of([
        noteDraft("review", `Review began. ${stringOf(event["user_facing_hint"]) ?? ""}`.trim(), time),
      ]);
    case "exited_review_mode":
      return of([noteDraft("review", reviewWords(event), time)]);
    case "item_completed":
      return of(completedItem(event, time));
  }
  if (FOLDED.has(type)) return of([]);
  const note = NOTES[type];
  if (note) return of([noteDraft(note[0], wordsOf(event, note[1]), time)]);
  return { kind, known: false, entries: [rawDraft(`unknown record kind ${kind}`, event, time)] };
}

function promptDraft(event: Fields, time: number | undefined): EntryDraft {
  const attachments: Attachment[] = [];
  for (const key of ["images", "local_images"])
    for (const image of arrayOf(event[key]) ?? []) {
      const url =
        stringOf(image) ?? stringOf(objectOf(image)?.["image_url"]) ?? stringOf(objectOf(image)?.["path"]);
      if (url !== undefined) attachments.push(attachmentOf(url));
    }
  return {
    kind: "delivered",
    sender: "user",
    body: stringOf(event["message"]) ?? "",
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
}

function abortWound(event: Fields): Wound {
  const reason = wordOf(event["reason"]);
  return reason === undefined || reason === "interrupted"
    ? { kind: "interrupted" }
    : { kind: "interrupted", words: reason };
}

const AUTH =
  /\b(401|403)\b|unauthori[sz]ed|unauthenticated|forbidden|permission.denied|credential|authenticat|api.?key/i;

function errorWound(event: Fields): Wound {
  const words = stringOf(event["message"]) ?? compactJson(event, RAW_TEXT_MAX);
  return AUTH.test(words) ? { kind: "refused", words } : { kind: "spoke", words };
}

/** The running total is told; a count whose `info` is null only reports limits. */
function tokenCount(event: Fields, kind: string): Classified {
  const total = countOf(objectOf(objectOf(event["info"])?.["total_token_usage"])?.["output_tokens"]);
  return {
    kind,
    known: true,
    entries: [],
    ...(total === undefined ? {} : { usage: { scope: "total", outputTokens: total } }),
  };
}

function wordsOf(event: Fields, keys: readonly string[]): string {
  const words = keys.map((k) => wordOf(event[k])).filter((w) => w !== undefined);
  if (words.length > 0) return words.join(": ");
  const { type: _, ...rest } = event;
  return compactJson(rest, RAW_TEXT_MAX);
}

function reviewWords(event: Fields): string {
  const output = objectOf(event["review_output"]);
  if (!output) return "Review ended.";
  const lines = [wordOf(output["overall_explanation"]) ?? "Review ended."];
  for (const finding of arrayOf(output["findings"]) ?? []) {
    const fields = objectOf(finding);
    const title = wordOf(fields?.["title"]);
    if (title) lines.push(`- ${title}`, stringOf(fields?.["body"]) ?? "");
  }
  return lines.join("\n").trimEnd();
}

/** Items that have no response item of their own: a plan's text. Others repeat one. */
function completedItem(event: Fields, time: number | undefined): readonly EntryDraft[] {
  const item = objectOf(event["item"]);
  const type = stringOf(item?.["type"])?.toLowerCase();
  const text = wordOf(item?.["text"]);
  return type === "plan" && text ? [noteDraft("plan", text, time)] : [];
}
