/** Rows of the model: one content block a row, most often, of a message that spans several. */
import type { ContentBlock, Usage, Wound } from "../../transcript/index.ts";
import type { EntryDraft, Mark } from "../classifier.ts";
import {
  arrayOf,
  compactJson,
  countOf,
  type Fields,
  objectOf,
  RAW_TEXT_MAX,
  stringOf,
  subjectOf,
  summarizeInput,
  timed,
  wordOf,
} from "../fields.ts";
import type { Envelope, Said } from "./classifier.ts";
import { fileOf } from "./files.ts";

const working: Mark = { type: "turnStarted", implied: true, automatic: true };
const ended: Mark = { type: "turnEnded" };

export function classifyAssistant({ value, time }: Envelope): Said {
  const message = objectOf(value["message"]) ?? {};
  const all = blocksOf(message["content"]);
  // Thinking that is kept as a signature alone says nothing.
  const blocks = all.filter((block) => block.kind !== "thinking" || block.text !== "");
  if (value["isApiErrorMessage"] === true || message["model"] === "<synthetic>")
    return failure(value, blocks, time);
  const messageId = wordOf(message["id"]);
  const requestId = wordOf(value["requestId"]);
  const modelId = wordOf(message["model"]);
  const stopReason = wordOf(message["stop_reason"]);
  const usage = usageOf(objectOf(message["usage"]));
  const key = messageId === undefined ? undefined : `${messageId} ${requestId ?? ""}`;
  const endsInText = blocks.at(-1)?.kind === "text";
  const draft: EntryDraft = {
    kind: "model",
    blocks,
    usage,
    ...(modelId === undefined ? {} : { modelId }),
    ...(messageId === undefined ? {} : { messageId }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...timed(time),
    ...(key === undefined ? {} : { mergeKey: key }),
    ...(stopReason === undefined && endsInText ? { unfinished: true } : {}),
  };
  const outputTokens = usage["output_tokens"];
  return {
    entries: blocks.length === 0 && all.length > 0 ? [] : [draft],
    // A message of thinking first and text then says twice how it stopped: only the text ends the turn.
    marks: stopReason === "end_turn" && endsInText ? [working, ended] : [working],
    ...(key === undefined ? {} : { modelMessage: key }),
    ...(key === undefined || outputTokens === undefined
      ? {}
      : { usage: { scope: "message", key, outputTokens } as const }),
  };
}

/** What Claude Code says in the model's place when a request failed. */
function failure(value: Fields, blocks: readonly ContentBlock[], time: number | undefined): Said {
  const words = blocks
    .flatMap((block) => (block.kind === "text" ? [block.text] : []))
    .join("\n")
    .trim();
  if (words === "No response requested.") return { entries: [] };
  const wound: Wound =
    value["error"] === "max_output_tokens"
      ? { kind: "output-limit" }
      : words === ""
        ? { kind: "mute" }
        : { kind: "spoke", words };
  return { entries: [{ kind: "wounded", wound, ...timed(time) }], marks: [ended] };
}

function blocksOf(content: unknown): readonly ContentBlock[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  return (arrayOf(content) ?? []).flatMap((piece) => {
    const block = objectOf(piece);
    return block === undefined ? [] : [blockOf(block)];
  });
}

function blockOf(block: Fields): ContentBlock {
  const type = stringOf(block["type"]) ?? "unknown";
  switch (type) {
    case "text":
      return { kind: "text", text: stringOf(block["text"]) ?? "" };
    case "thinking":
      return { kind: "thinking", text: stringOf(block["thinking"]) ?? "" };
    case "redacted_thinking":
      return { kind: "thinking", text: "" };
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use": {
      const subject = subjectOf(block["input"]);
      return {
        kind: "tool-use",
        id: stringOf(block["id"]) ?? "",
        name: stringOf(block["name"]) ?? "tool",
        inputSummary: summarizeInput(block["input"]),
        ...(subject === undefined ? {} : { subject }),
      };
    }
    case "image":
    case "document":
      return { kind: "attachment", attachment: fileOf(block) };
    default:
      return { kind: "other", type, text: compactJson(block, RAW_TEXT_MAX) };
  }
}

/** The counters of the message under the provider's names; subsets and nested ones are left out. */
export function usageOf(usage: Fields | undefined): Usage {
  const counts: Record<string, number> = {};
  for (const name of [
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
  ]) {
    const count = countOf(usage?.[name]);
    if (count !== undefined) counts[name] = count;
  }
  return counts;
}
