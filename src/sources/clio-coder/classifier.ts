/** What the entries of a clio-coder session mean. */
import type { RecordItem } from "../../lines/index.ts";
import type { CallOutcome, ContentBlock } from "../../transcript/index.ts";
import { modelBlocks, usageCounters, userContent } from "../anthropic.ts";
import { callBlock, parseArguments } from "../calls.ts";
import type { Classified, Classifier, EntryDraft, Mark, TreeNode } from "../classifier.ts";
import {
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
import { known, nameless, unknown } from "../kinds.ts";
import type { SessionInfo } from "../types.ts";

export const clioCoderClassifier: Classifier = { agent: "clio-coder", classify };

/** Entries of the program's own ledgers, which nothing of the conversation is lost with. */
const SILENT: ReadonlySet<string> = new Set([
  "thinkingLevelChange",
  "label",
  "protectedArtifact",
  "skillActivation",
  "taskLedger",
  "decisionLedger",
  "workerRun",
  "fileEntry",
  "custom",
]);

function classify(record: RecordItem): Classified {
  const value = objectOf(record.value);
  const kind = stringOf(value?.["kind"]) ?? (value?.["type"] === "session" ? "session" : undefined);
  if (value === undefined || kind === undefined) return nameless("kind", record.value);
  const time = timeOf(value["timestamp"]);
  const said = told(kind, value, time, `@${record.start}`) ?? unknown(kind, value, time);
  const node = nodeOf(value, kind);
  return node === undefined ? said : { ...said, node };
}

function nodeOf(value: Fields, kind: string): TreeNode | undefined {
  const id = wordOf(value["turnId"]);
  if (id === undefined) return undefined;
  const role = value["role"];
  const heads = kind === "message" && (role === "user" || role === "assistant");
  return { id, parentId: wordOf(value["parentTurnId"]), heads };
}

function told(kind: string, value: Fields, time: number | undefined, start: string): Classified | undefined {
  if (SILENT.has(kind)) return known(kind, []);
  switch (kind) {
    case "session":
      return known(kind, [], [], headerInfo(value, time));
    case "message":
      return message(value, time, wordOf(value["turnId"]) ?? start);
    case "bashExecution":
      return known(kind, [noteDraft("command", commandWords(value), time)]);
    case "modelChange": {
      const model = wordOf(value["modelId"]);
      return known(kind, [], [], model === undefined ? {} : { model });
    }
    case "sessionInfo": {
      const title = wordOf(value["name"]);
      return known(kind, [], [], title === undefined ? {} : { title, titled: true });
    }
    case "branchSummary":
      return known(kind, [noteDraft("branch", stringOf(value["summary"]) ?? "", time)]);
    case "compactionSummary":
      return known(kind, [compactedDraft(value, time)], [{ type: "compacted" }]);
    default:
      return undefined;
  }
}

function headerInfo(value: Fields, time: number | undefined): Partial<SessionInfo> {
  const cwd = wordOf(value["cwd"]);
  const forkedFromId = wordOf(value["parentSession"]);
  return {
    ...(time === undefined ? {} : { startedAt: time }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(forkedFromId === undefined ? {} : { forkedFromId }),
  };
}

function compactedDraft(value: Fields, time: number | undefined): EntryDraft {
  const tokensBefore = countOf(value["tokensBefore"]);
  const tokensAfter = countOf(value["tokensAfter"]);
  const trigger = wordOf(value["trigger"]);
  return {
    kind: "compacted",
    summary: stringOf(value["summary"]) ?? "",
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(tokensAfter === undefined ? {} : { tokensAfter }),
    ...(trigger === undefined ? {} : { trigger }),
    ...timed(time),
  };
}

function commandWords(value: Fields): string {
  const lines = [`$ ${stringOf(value["command"]) ?? ""}`];
  const output = (stringOf(value["output"]) ?? "").trimEnd();
  const exitCode = value["exitCode"];
  if (output !== "") lines.push(output);
  if (value["cancelled"] === true) lines.push("(cancelled)");
  else if (typeof exitCode === "number" && exitCode !== 0) lines.push(`(exit ${exitCode})`);
  if (value["truncated"] === true) lines.push("(output cut by the agent)");
  return lines.join("\n");
}

function message(value: Fields, time: number | undefined, key: string): Classified {
  const role = stringOf(value["role"]) ?? "";
  const kind = `message/${role}`;
  const payload = objectOf(value["payload"]) ?? { text: stringOf(value["payload"]) };
  switch (role) {
    case "user":
      return prompt(kind, payload, time);
    case "assistant":
      return answer(kind, payload, time, key);
    case "tool_call": {
      const id = wordOf(payload["toolCallId"]) ?? wordOf(payload["id"]);
      const name = wordOf(payload["name"]) ?? wordOf(payload["toolName"]);
      const input = parseArguments(payload["args"] ?? payload["arguments"] ?? payload["input"]);
      const block = callBlock(id, name, input);
      return known(kind, [{ kind: "model", blocks: [block], usage: {}, ...timed(time) }], [BEGUN]);
    }
    case "tool_result":
      return known(kind, [resultDraft(payload, time)]);
    case "system":
      return known(kind, [noteDraft("context", textOf(payload), time)]);
    case "checkpoint":
      return known(kind, []);
    default:
      return unknown(kind, value, time);
  }
}

const BEGUN: Mark = { type: "turnStarted", automatic: true };

/** What the program goes on with by itself is no prompt. */
function prompt(kind: string, payload: Fields, time: number | undefined): Classified {
  const content = userContent(payload["content"], time);
  const body = wordOf(payload["operatorText"]) ?? textOf(payload);
  if (payload["synthetic"] === true) return known(kind, [noteDraft("context", body, time)], [BEGUN]);
  const draft: EntryDraft = {
    kind: "delivered",
    sender: "user",
    body,
    ...(content.attachments.length > 0 ? { attachments: content.attachments } : {}),
    ...timed(time),
  };
  return known(kind, [draft], [{ type: "turnStarted" }]);
}

function textOf(payload: Fields): string {
  const { texts } = userContent(payload["content"] ?? [], undefined);
  return texts.length > 0 ? texts.join("\n") : (stringOf(payload["text"]) ?? "");
}

/** A message of the model. Its calls are entries of their own, which take its turn up again. */
function answer(kind: string, payload: Fields, time: number | undefined, key: string): Classified {
  const blocks = modelBlocks(payload["content"]).filter((block) => !isCallTwice(block));
  const text = wordOf(payload["text"]);
  const shown: readonly ContentBlock[] =
    blocks.length > 0 || text === undefined ? blocks : [{ kind: "text", text }];
  const usage = usageCounters(payload["usage"]);
  const model = wordOf(payload["model"]) ?? wordOf(payload["modelId"]);
  const stopReason = wordOf(payload["stopReason"]);
  const words = wordOf(payload["errorMessage"]) ?? wordOf(payload["error"]);
  const outputTokens = usage["output"] ?? usage["outputTokens"];
  const isCalling = stopReason === "toolUse" || blocks.length < modelBlocks(payload["content"]).length;
  const wound: readonly EntryDraft[] =
    stopReason === "aborted"
      ? [{ kind: "wounded", wound: { kind: "interrupted" }, ...timed(time) }]
      : words === undefined
        ? []
        : [{ kind: "wounded", wound: { kind: "spoke", words }, ...timed(time) }];
  return {
    kind,
    known: true,
    modelMessage: key,
    entries: [
      {
        kind: "model",
        blocks: shown,
        usage,
        ...(model === undefined ? {} : { modelId: model }),
        ...(stopReason === undefined ? {} : { stopReason }),
        ...timed(time),
      },
      ...wound,
    ],
    marks: isCalling ? [BEGUN] : [BEGUN, { type: "turnEnded" }],
    ...(outputTokens === undefined ? {} : { usage: { scope: "message", key, outputTokens } }),
    ...(model === undefined ? {} : { info: { model } }),
  };
}

/** A call within a message is told again as an entry of its own. */
function isCallTwice(block: ContentBlock): boolean {
  return block.kind === "tool-use" || (block.kind === "other" && block.type === "toolCall");
}

function resultDraft(payload: Fields, time: number | undefined): EntryDraft {
  const { result } = payload;
  const fields = objectOf(result);
  const { texts, attachments } = userContent(fields?.["content"] ?? [], time);
  const content =
    stringOf(result) ??
    (texts.length > 0
      ? texts.join("\n")
      : (stringOf(fields?.["output"]) ?? (result === undefined ? "" : compactJson(result, RAW_TEXT_MAX))));
  const isDenied = payload["outcome"] === "blocked";
  const isError = payload["isError"] === true || payload["outcome"] === "error" || isDenied;
  const outcome: CallOutcome = {
    state: isDenied ? "denied" : isError ? "failed" : "done",
    lines: lineCount(content),
  };
  return {
    kind: "tool-result",
    toolUseId: wordOf(payload["toolCallId"]) ?? "",
    content,
    isError,
    outcome,
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
}
