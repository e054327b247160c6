/** What the records of a pi session mean: version 1 (a plain list) to version 3 (a tree in a list), and relatives that share the format. */
import type { RecordItem } from "../../lines/index.ts";
import type {
  Attachment,
  CallOutcome,
  ContentBlock,
  FileChange,
  Usage,
  Wound,
} from "../../transcript/index.ts";
import type { Classified, Classifier, EntryDraft, Mark, TreeNode } from "../classifier.ts";
import {
  arrayOf,
  base64Bytes,
  compactJson,
  countOf,
  type Fields,
  lineCount,
  noteDraft,
  objectOf,
  RAW_TEXT_MAX,
  rawDraft,
  stringOf,
  subjectOf,
  summarizeInput,
  timed,
  timeOf,
  wordOf,
} from "../fields.ts";
import type { SessionInfo } from "../types.ts";

export const piClassifier: Classifier = { agent: "pi", classify };

function classify(record: RecordItem): Classified {
  const value = objectOf(record.value);
  const type = stringOf(value?.["type"]);
  if (!value || type === undefined) {
    return { kind: "no type", known: false, entries: [rawDraft("a record without a type", record.value)] };
  }
  const time = timeOf(value["timestamp"]);
  const node = nodeOf(type, value);
  return { ...classifyTyped(type, value, time, record.start), ...(node ? { node } : {}) };
}

/** Every line with an id has a seat in the tree. Only tool results never begin a branch of their own. */
function nodeOf(type: string, value: Fields): TreeNode | undefined {
  const id = wordOf(value["id"]);
  if (id === undefined || type === "session" || type === "title") return undefined;
  const isResult = objectOf(value["message"])?.["role"] === "toolResult";
  return { id, parentId: wordOf(value["parentId"]), heads: !isResult };
}

function classifyTyped(type: string, value: Fields, time: number | undefined, start: number): Classified {
  const known = (entries: readonly EntryDraft[], info?: Partial<SessionInfo>): Classified => ({
    kind: type,
    known: true,
    entries,
    ...(info && Object.keys(info).length > 0 ? { info } : {}),
  });
  switch (type) {
    case "session":
      return known([], headerInfo(value));
    case "title":
    case "session_info": {
      const title = wordOf(value["name"]) ?? wordOf(value["title"]);
      return known([], title ? { title, titled: true } : undefined);
    }
    case "message":
      return classifyMessage(value, time, start);
    case "model_change": {
      const model = wordOf(value["modelId"]);
      return known([], model ? { model } : undefined);
    }
    case "thinking_level_change":
    case "label":
    case "custom":
      return known([]);
    case "custom_message":
      return known([
        noteDraft(wordOf(value["customType"]) ?? "note", readContent(value["content"]).text, time),
      ]);
    case "branch_summary":
      return known([noteDraft("branch", stringOf(value["summary"]) ?? "", time)]);
    case "compaction":
      return { ...known([compactedDraft(value, time)]), marks: [{ type: "compacted" }] };
    default:
      return { kind: type, known: false, entries: [rawDraft(`unknown record kind ${type}`, value, time)] };
  }
}

/** The facts of a header line. */
function headerInfo(header: Fields): Partial<SessionInfo> {
  const startedAt = timeOf(header["timestamp"]);
  const cwd = wordOf(header["cwd"]);
  const model = wordOf(header["modelId"]);
  const origin = wordOf(header["parentSession"]) ?? wordOf(header["branchedFrom"]);
  return {
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(cwd ? { cwd } : {}),
    ...(model ? { model } : {}),
    ...(origin ? { forkedFromId: idOfPath(origin) } : {}),
  };
}

/** The session's id from its file's path: what follows the last `_` of the name, else the name without its ending. */
export function idOfPath(path: string): string {
  const name = path.split(/[/\\]/).at(-1) ?? path;
  const stem = name.replace(/\.jsonl$/, "");
  const cut = stem.lastIndexOf("_");
  return cut === -1 || cut === stem.length - 1 ? stem : stem.slice(cut + 1);
}

function compactedDraft(value: Fields, time: number | undefined): EntryDraft {
  const tokensBefore = countOf(value["tokensBefore"]);
  const trigger = value["fromHook"] === true ? "hook" : undefined;
  return {
    kind: "compacted",
    summary: stringOf(value["summary"]) ?? "",
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(trigger === undefined ? {} : { trigger }),
    ...timed(time),
  };
}

interface Content {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** Content is a text or a list of pieces: texts are joined by newlines, images told by kind and size. */
function readContent(content: unknown): Content {
  if (typeof content === "string") return { text: content, attachments: [] };
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const piece of arrayOf(content) ?? []) {
    const fields = objectOf(piece);
    const text = stringOf(fields?.["text"]);
    if (fields?.["type"] === "image") attachments.push(imageOf(fields));
    else texts.push(text ?? compactJson(piece, RAW_TEXT_MAX));
  }
  return { text: texts.join("\n"), attachments };
}

function imageOf(fields: Fields): Attachment {
  const data = stringOf(fields["data"]);
  return {
    mediaType: wordOf(fields["mimeType"]) ?? "image/*",
    ...(data === undefined ? {} : { bytes: base64Bytes(data) }),
  };
}

function classifyMessage(value: Fields, lineTime: number | undefined, start: number): Classified {
  const message = objectOf(value["message"]);
  const role = stringOf(message?.["role"]) ?? "";
  const kind = `message/${role}`;
  if (!message)
    return { kind, known: false, entries: [rawDraft("a message without content", value, lineTime)] };
  const time = lineTime ?? timeOf(message["timestamp"]);
  const known = (entries: readonly EntryDraft[], marks?: readonly Mark[]): Classified => ({
    kind,
    known: true,
    entries,
    ...(marks ? { marks } : {}),
  });
  switch (role) {
    case "user":
      return known([promptDraft(message, time)], [{ type: "turnStarted" }]);
    case "assistant":
      return assistant(message, time, wordOf(value["id"]) ?? `@${start}`);
    case "toolResult":
      return known([resultDraft(message, time)]);
    case "bashExecution":
      return known([noteDraft("command", bashWords(message), time)]);
    case "custom":
    case "hookMessage":
      return known([
        noteDraft(wordOf(message["customType"]) ?? "note", readContent(message["content"]).text, time),
      ]);
    case "branchSummary":
      return known([noteDraft("branch", stringOf(message["summary"]) ?? "", time)]);
    case "compactionSummary":
      return known([compactedDraft(message, time)], [{ type: "compacted" }]);
    default:
      return { kind, known: false, entries: [rawDraft(`unknown record kind ${kind}`, value, time)] };
  }
}

function promptDraft(message: Fields, time: number | undefined): EntryDraft {
  const { text, attachments } = readContent(message["content"]);
  return {
    kind: "delivered",
    sender: "user",
    body: text,
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
}

/** After an error pi tries again without a new prompt: the turn that the error ended goes on. */
const AT_WORK: Mark = { type: "turnStarted", automatic: true };

/** A whole model message: its blocks, then a wound where it did not end of its own will. */
function assistant(message: Fields, time: number | undefined, key: string): Classified {
  const usage = usageOf(message["usage"]);
  const stopReason = wordOf(message["stopReason"]);
  const model = wordOf(message["model"]);
  const wound = woundOf(stopReason, message);
  const blocks = blocksOf(message["content"]);
  const entries: EntryDraft[] = [];
  if (blocks.length > 0 || !wound)
    entries.push({
      kind: "model",
      blocks,
      usage,
      messageId: wordOf(message["responseId"]) ?? key,
      ...(model ? { modelId: model } : {}),
      ...(stopReason ? { stopReason } : {}),
      ...timed(time),
    });
  if (wound) entries.push({ kind: "wounded", wound, ...timed(time) });
  const outputTokens = usage["output"];
  return {
    kind: "message/assistant",
    known: true,
    entries,
    modelMessage: key,
    ...(outputTokens === undefined ? {} : { usage: { scope: "message", key, outputTokens } }),
    marks:
      stopReason === undefined || stopReason === "toolUse" ? [AT_WORK] : [AT_WORK, { type: "turnEnded" }],
    ...(model ? { info: { model } } : {}),
  };
}

const AUTH =
  /\b(401|403)\b|unauthori[sz]ed|unauthenticated|forbidden|permission.denied|credential|authenticat|api.?key/i;

function woundOf(stopReason: string | undefined, message: Fields): Wound | undefined {
  const words = wordOf(message["errorMessage"]);
  switch (stopReason) {
    case "aborted":
      return { kind: "interrupted", ...(words ? { words } : {}) };
    case "length":
      return { kind: "output-limit" };
    case "error":
      if (!words) return { kind: "mute" };
      return AUTH.test(words) ? { kind: "refused", words } : { kind: "spoke", words };
    default:
      return undefined;
  }
}

/** Counters as pi names them; costs are no counters and stay out. */
function usageOf(value: unknown): Usage {
  const usage: Record<string, number> = {};
  for (const [name, count] of Object.entries(objectOf(value) ?? {})) {
    const n = countOf(count);
    if (n !== undefined) usage[name] = n;
  }
  return usage;
}

function blocksOf(content: unknown): readonly ContentBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  const blocks: ContentBlock[] = [];
  for (const piece of arrayOf(content) ?? []) {
    const fields = objectOf(piece) ?? {};
    const type = stringOf(fields["type"]) ?? "";
    if (type === "text") blocks.push({ kind: "text", text: stringOf(fields["text"]) ?? "" });
    else if (type === "thinking") {
      // Some providers sign a thought without telling it: there is nothing to show then.
      const text = stringOf(fields["thinking"]) ?? "";
      if (text !== "") blocks.push({ kind: "thinking", text });
    } else if (type === "toolCall") blocks.push(callBlock(fields));
    else if (type === "image") blocks.push({ kind: "attachment", attachment: imageOf(fields) });
    else blocks.push({ kind: "other", type, text: compactJson(piece, RAW_TEXT_MAX) });
  }
  return blocks;
}

function callBlock(fields: Fields): ContentBlock {
  const input = fields["arguments"];
  const name = stringOf(fields["name"]) ?? "";
  const subject = subjectOf(input);
  const changes = changesOf(name, objectOf(input) ?? {});
  return {
    kind: "tool-use",
    id: stringOf(fields["id"]) ?? "",
    name,
    inputSummary: summarizeInput(input),
    ...(subject === undefined ? {} : { subject }),
    ...(changes.length > 0 ? { changes } : {}),
  };
}

function changesOf(name: string, input: Fields): readonly FileChange[] {
  const path = wordOf(input["path"]) ?? wordOf(input["file_path"]);
  if (path === undefined) return [];
  if (name === "write") {
    const newText = stringOf(input["content"]);
    return newText === undefined ? [] : [{ path, newText }];
  }
  if (name !== "edit") return [];
  const edits = arrayOf(input["edits"]) ?? [input];
  const changes: FileChange[] = [];
  for (const edit of edits) {
    const oldText = stringOf(objectOf(edit)?.["oldText"]);
    const newText = stringOf(objectOf(edit)?.["newText"]);
    if (oldText !== undefined && newText !== undefined) changes.push({ path, oldText, newText });
  }
  return changes;
}

function resultDraft(message: Fields, time: number | undefined): EntryDraft {
  const { text, attachments } = readContent(message["content"]);
  const isError = message["isError"] === true;
  return {
    kind: "tool-result",
    toolUseId: stringOf(message["toolCallId"]) ?? "",
    content: text,
    isError,
    outcome: outcomeOf(text, isError),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...timed(time),
  };
}

/** pi's shell tool says a bad exit on the last line of its text. */
function outcomeOf(text: string, isError: boolean): CallOutcome {
  const end = text.slice(-200);
  const exit = /(?:^|\n)Command exited with code (-?\d+)\s*$/.exec(end);
  const isAborted = isError && /(?:^|\n)(Command aborted|Operation aborted)\s*$/.test(end);
  return {
    state: isAborted ? "interrupted" : isError ? "failed" : "done",
    ...(exit ? { exitCode: Number(exit[1]) } : {}),
    lines: lineCount(text),
  };
}

function bashWords(message: Fields): string {
  const output = (stringOf(message["output"]) ?? "").trimEnd();
  const exitCode = message["exitCode"];
  const lines = [`$ ${stringOf(message["command"]) ?? ""}`];
  if (output !== "") lines.push(output);
  if (message["cancelled"] === true) lines.push("(cancelled)");
  else if (typeof exitCode === "number" && exitCode !== 0) lines.push(`(exit ${exitCode})`);
  if (message["truncated"] === true) lines.push("(output cut by the agent)");
  return lines.join("\n");
}
