/** What the records of our own session log mean. */
import { handoffDraft } from "../../transcript/index.ts";
import type { Classified, Classifier, EntryDraft, Mark, TreeNode } from "../classifier.ts";
import {
  countOf,
  type Fields,
  noteDraft,
  objectOf,
  rawDraft,
  stringOf,
  timed,
  timeOf,
  wordOf,
} from "../fields.ts";
import type { SessionInfo } from "../types.ts";
import { messageDrafts, usageOf } from "./payload.ts";

/** The version of the format that is known. */
const VERSION = 1;

export const hansardClassifier: Classifier = {
  agent: "hansard",
  classify: ({ value }) => classify(value),
};

function classify(value: unknown): Classified {
  const record = objectOf(value);
  const kind = stringOf(record?.["kind"]);
  if (record === undefined || kind === undefined)
    return { kind: "", known: false, entries: [rawDraft("no record of a session log", value)] };
  const time = timeOf(record["timestamp"]) ?? timeOf(record["ts"]);
  if (record["v"] !== VERSION)
    return {
      kind: `${kind}/v${String(record["v"])}`,
      known: false,
      entries: [rawDraft(`a ${kind} record of a newer version`, value, time)],
    };
  return conversation(kind, record, time) ?? lifeCycle(kind, record, time) ?? unknown(kind, value, time);
}

function unknown(kind: string, value: unknown, time: number | undefined): Classified {
  return { kind, known: false, entries: [rawDraft(`unknown record kind ${kind}`, value, time)] };
}

interface Saying {
  readonly marks?: readonly Mark[];
  readonly info?: Partial<SessionInfo>;
}

function known(kind: string, entries: readonly EntryDraft[], saying: Saying = {}): Classified {
  return { kind, known: true, entries, ...saying };
}

function conversation(kind: string, record: Fields, time: number | undefined): Classified | undefined {
  switch (kind) {
    case "message":
      return message(record, time);
    case "compactionSummary":
      return known(kind, [compactedDraft(record, time)], { marks: [{ type: "compacted" }] });
    case "contextEviction":
      return known(kind, [noteDraft("eviction", evictionWords(record), time)]);
    case "custom": {
      if (record["display"] !== true) return known(kind, []);
      const data = record["data"];
      const text = stringOf(data) ?? stringOf(objectOf(data)?.["text"]);
      const topic = wordOf(record["customType"]) ?? "note";
      return known(kind, [text === undefined ? rawDraft(topic, data, time) : noteDraft(topic, text, time)]);
    }
    case "label":
      return known(kind, []);
    case "handoffTransaction": {
      const draft = handoffDraft(record);
      return known(kind, draft === undefined ? [] : [{ ...draft, ...timed(time) }]);
    }
    case "continuityCommit":
      return known(kind, []);
    default:
      return undefined;
  }
}

function message(record: Fields, time: number | undefined): Classified {
  const role = stringOf(record["role"]) ?? "";
  const turnId = stringOf(record["turnId"]) ?? "";
  const payload = record["payload"];
  const node: TreeNode = {
    id: turnId,
    parentId: wordOf(record["parentTurnId"]),
    heads: role === "user" || role === "assistant",
  };
  const said = { ...known(`message/${role}`, messageDrafts(role, payload, turnId, time)), node };
  if (role !== "assistant") return said;
  const fields = objectOf(payload);
  const model = wordOf(fields?.["model"]);
  const key = wordOf(fields?.["messageId"]) ?? turnId;
  const usage = usageOf(fields?.["usage"]);
  const outputTokens = usage["output"] ?? usage["output_tokens"] ?? usage["outputTokens"];
  return {
    ...said,
    modelMessage: key,
    ...(model === undefined ? {} : { info: { model } }),
    ...(outputTokens === undefined ? {} : { usage: { scope: "message", key, outputTokens } }),
  };
}

function compactedDraft(record: Fields, time: number | undefined): EntryDraft {
  const trigger = wordOf(record["trigger"]);
  const tokensBefore = countOf(record["tokensBefore"]);
  const tokensAfter = countOf(record["tokensAfter"]);
  return {
    kind: "compacted",
    summary: stringOf(record["summary"]) ?? "",
    ...(trigger === undefined ? {} : { trigger }),
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(tokensAfter === undefined ? {} : { tokensAfter }),
    ...timed(time),
  };
}

function evictionWords(record: Fields): string {
  const before = countOf(record["tokensBefore"]);
  const after = countOf(record["tokensAfter"]);
  const evicted = record["evicted"];
  const items = Array.isArray(evicted) ? evicted.length : 0;
  return `${items} ${items === 1 ? "item" : "items"} left the context (${before ?? "?"} to ${after ?? "?"} tokens)`;
}

/** Reasons of an interrupted turn that the log itself gives, as people say them. */
const interruptions: Readonly<Record<string, string>> = {
  crash: "Hansard ended in the middle of the turn; a tool that ran may have partly run",
  "taken-over":
    "another process took the session over in the middle of the turn; a tool that ran may have partly run",
  closed: "the session was closed in the middle of the turn",
  fork: "the session was forked in the middle of the turn",
  missed: "the rest of the turn was not recorded",
};

function lifeCycle(kind: string, record: Fields, time: number | undefined): Classified | undefined {
  switch (kind) {
    case "session":
      return known(kind, [], { info: sessionInfo(record) });
    case "turnStarted":
      return known(kind, [], { marks: [{ type: "turnStarted" }] });
    case "turnCommitted":
      return known(kind, [], { marks: [{ type: "turnEnded" }] });
    case "turnInterrupted": {
      const reason = stringOf(record["reason"]) ?? "";
      const words = interruptions[reason] ?? reason;
      return known(
        kind,
        [
          {
            kind: "wounded",
            wound: { kind: "interrupted", ...(words === "" ? {} : { words }) },
            ...timed(time),
          },
        ],
        { marks: [{ type: "turnEnded" }] },
      );
    }
    case "set":
      return known(kind, [], { info: settingInfo({ [String(record["key"])]: record["value"] }) });
    case "snapshot":
      return known(kind, [], { info: settingInfo(objectOf(record["settings"]) ?? {}) });
    case "closed":
      return known(kind, []);
    case "missed":
      return known(kind, [noteDraft("missed", missedWords(record), time)]);
    default:
      return undefined;
  }
}

/** What a session record says of its session. */
function sessionInfo(record: Fields): Partial<SessionInfo> {
  const startedAt = timeOf(record["ts"]);
  const cwd = wordOf(record["cwd"]);
  const agentVersion = wordOf(record["agentVersion"]);
  const forkedFromId = wordOf(record["parentSessionId"]);
  return {
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(agentVersion === undefined ? {} : { agentVersion }),
    ...(forkedFromId === undefined ? {} : { forkedFromId }),
  };
}

/** The settings that describe a session. */
export function settingInfo(settings: Fields): Partial<SessionInfo> {
  const title = wordOf(settings["title"]);
  const model = wordOf(settings["model"]);
  return {
    ...(title === undefined ? {} : { title, titled: true }),
    ...(model === undefined ? {} : { model }),
  };
}

function missedWords(record: Fields): string {
  const records = countOf(record["records"]);
  const bytes = countOf(record["bytes"]);
  const isOne = records === 1 || (records === undefined && bytes === 1);
  const amount =
    records !== undefined
      ? `${records} ${isOne ? "record" : "records"}`
      : bytes === undefined
        ? "records"
        : `${bytes} ${isOne ? "byte" : "bytes"}`;
  const are = isOne ? "is" : "are";
  switch (record["reason"]) {
    case "held-limit":
      return `${amount} could not be written and ${are} missing here: the disk refused for too long`;
    case "truncated":
      return `${amount} ${are} missing here: another program cut the log`;
    case "damage":
      return `${amount} ${are} missing here: ${isOne ? "it was" : "they were"} damaged`;
    default:
      return `${amount} ${are} missing here`;
  }
}
