/** Attachment rows: what Claude Code put beside the conversation. A queued prompt among them is the person's own. */
import type { EntryDraft, Mark } from "../classifier.ts";
import {
  arrayOf,
  compactJson,
  type Fields,
  noteDraft,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  timed,
  wordOf,
} from "../fields.ts";
import type { Envelope, Said } from "./classifier.ts";
import { taskWords } from "./words.ts";

/** Lists for the model alone: known, and no words of the conversation. */
const silent: ReadonlySet<string> = new Set([
  "agent_listing_delta",
  "auto_mode",
  "command_permissions",
  "companion_intro",
  "deferred_tools_delta",
  "mcp_instructions_delta",
  "skill_listing",
  "task_reminder",
  "todo_reminder",
]);

export function classifyAttachment({ value, time }: Envelope): Said {
  const attachment = objectOf(value["attachment"]) ?? {};
  const type = stringOf(attachment["type"]) ?? "unknown";
  if (type === "queued_command") return queued(attachment, time);
  if (silent.has(type)) return { entries: [] };
  const words = wordsOf(type, attachment)?.trim();
  return { entries: words === undefined || words === "" ? [] : [noteDraft(topicOf(type), words, time)] };
}

/** Typed while the agent was at work. */
function queued(attachment: Fields, time: number | undefined): Said {
  const prompt = attachment["prompt"];
  const body =
    stringOf(prompt) ??
    (arrayOf(prompt) ?? [])
      .map((piece) => stringOf(objectOf(piece)?.["text"]))
      .filter((text) => text !== undefined)
      .join("\n\n");
  const mode = wordOf(attachment["commandMode"]);
  if (mode === "task-notification" || /^\s*<task-notification>/.test(body)) {
    const marks: readonly Mark[] = [{ type: "turnStarted", implied: true, automatic: true }];
    return { entries: [noteDraft("task", taskWords(body), time)], marks };
  }
  const draft: EntryDraft = { kind: "delivered", sender: "user", body, queued: true, ...timed(time) };
  return { entries: [draft] };
}

function topicOf(type: string): string {
  return type.startsWith("hook_")
    ? type.includes("error")
      ? "hook error"
      : "hook"
    : type.replaceAll("_", " ");
}

function wordsOf(type: string, attachment: Fields): string | undefined {
  const path =
    wordOf(attachment["filename"]) ?? wordOf(attachment["path"]) ?? wordOf(attachment["displayPath"]);
  switch (type) {
    case "hook_success":
      // A hook that said nothing is not worth a row.
      return wordOf(attachment["content"]) ?? wordOf(attachment["stderr"]);
    case "nested_memory":
    case "file":
    case "already_read_file":
    case "compact_file_reference":
    case "edited_text_file":
    case "opened_file_in_ide":
      return path ?? compactJson(attachment, RAW_TEXT_MAX);
  }
  const content = attachment["content"];
  const text =
    wordOf(content) ?? (arrayOf(content) ?? []).filter((part) => typeof part === "string").join("\n");
  return text === "" ? compactJson(attachment, RAW_TEXT_MAX) : text;
}
