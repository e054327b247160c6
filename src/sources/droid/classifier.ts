/** What the rows of a Factory Droid session mean. */
import type { RecordItem } from "../../lines/index.ts";
import type { ContentBlock } from "../../transcript/index.ts";
import { hasCall, modelBlocks, usageCounters, userContent } from "../anthropic.ts";
import type { Classified, Classifier, EntryDraft, Mark, TreeNode } from "../classifier.ts";
import { countOf, type Fields, noteDraft, objectOf, stringOf, timed, timeOf, wordOf } from "../fields.ts";
import { known, nameless, promptDraft, unknown } from "../kinds.ts";
import type { SessionInfo } from "../types.ts";

export const droidClassifier: Classifier = { agent: "droid", classify };

function classify(record: RecordItem): Classified {
  const value = objectOf(record.value);
  const type = stringOf(value?.["type"]);
  if (value === undefined || type === undefined) return nameless("type", record.value);
  const time = timeOf(value["timestamp"]);
  switch (type) {
    case "session_start":
      return known(type, [], [], startInfo(value));
    case "message":
      return message(value, time, record.start);
    case "session_settings":
      return known(type, [], [], settingsInfo(value));
    case "agent_turn_outcome":
    case "session_end":
      return known(type, [], [{ type: "turnEnded" }]);
    case "todo_state":
      return known(type, []);
    case "compaction_state":
      return known(type, [compactedDraft(value, time)], [{ type: "compacted" }]);
    default:
      return unknown(type, value, time);
  }
}

function startInfo(value: Fields): Partial<SessionInfo> {
  const own = wordOf(value["sessionTitle"]);
  const title = own ?? wordOf(value["title"]);
  const cwd = wordOf(value["cwd"]);
  const startedAt = timeOf(value["timestamp"]);
  const forkedFromId = wordOf(value["forkedFrom"]) ?? wordOf(value["parent"]);
  return {
    ...(title === undefined ? {} : { title }),
    ...(own === undefined ? {} : { titled: true }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(forkedFromId === undefined ? {} : { forkedFromId }),
  };
}

function settingsInfo(value: Fields): Partial<SessionInfo> {
  const model = wordOf(value["model"]) ?? wordOf(objectOf(value["settings"])?.["model"]);
  return model === undefined ? {} : { model };
}

function compactedDraft(value: Fields, time: number | undefined): EntryDraft {
  const tokensAfter = countOf(value["summaryTokens"]);
  return {
    kind: "compacted",
    summary: stringOf(value["summaryText"]) ?? stringOf(value["summary"]) ?? "",
    ...(tokensAfter === undefined ? {} : { tokensAfter }),
    ...timed(time),
  };
}

function message(value: Fields, time: number | undefined, start: number): Classified {
  const body = objectOf(value["message"]);
  const role = stringOf(body?.["role"]) ?? "";
  const kind = `message/${role}`;
  const id = wordOf(value["id"]);
  if (body === undefined || (role !== "user" && role !== "assistant")) return unknown(kind, value, time);
  const said =
    role === "user" ? userMessage(kind, body, time) : modelMessage(kind, body, time, id ?? `@${start}`);
  // Results stand beside the next call under one message: only prompts and messages of the model begin branches.
  const heads = role === "assistant" || said.marks !== undefined;
  const node: TreeNode | undefined =
    id === undefined || !("parentId" in value)
      ? undefined
      : { id, parentId: wordOf(value["parentId"]), heads };
  return node === undefined ? said : { ...said, node };
}

const INJECTED = /^\s*<(?:system-reminder|system-notification|context|environment_details)\b/;

function userMessage(kind: string, body: Fields, time: number | undefined): Classified {
  const { texts, attachments, results } = userContent(body["content"], time);
  const visibility = wordOf(body["visibility"]);
  // What only the person or only the model sees was not typed by a person.
  if (visibility !== undefined && visibility !== "both") {
    const topic = visibility === "llm_only" ? "context" : "notice";
    return { kind, known: true, entries: [...results, noteDraft(topic, texts.join("\n"), time)] };
  }
  const typed = texts.filter((text) => !INJECTED.test(text));
  const notes = texts.filter((text) => INJECTED.test(text)).map((text) => noteDraft("context", text, time));
  if (typed.length === 0 && attachments.length === 0)
    return { kind, known: true, entries: [...results, ...notes] };
  const prompt = promptDraft(typed.join("\n"), attachments, time);
  const mark: Mark = results.length > 0 ? { type: "turnStarted", implied: true } : { type: "turnStarted" };
  return { kind, known: true, entries: [...results, ...notes, prompt], marks: [mark] };
}

function modelMessage(kind: string, body: Fields, time: number | undefined, id: string): Classified {
  const blocks: readonly ContentBlock[] = modelBlocks(body["content"]);
  const model = wordOf(body["model"]);
  const usage = usageCounters(body["usage"]);
  const outputTokens = usage["output_tokens"];
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
    marks: hasCall(blocks) ? [begun] : [begun, { type: "turnEnded" }],
    ...(outputTokens === undefined ? {} : { usage: { scope: "message", key: id, outputTokens } }),
    ...(model === undefined ? {} : { info: { model } }),
  };
}
