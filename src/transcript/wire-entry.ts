/** One entry on a wire. The fields that every reader of a transcript knows, and beside them what only some agents record. Pure. */
import type {
  Attachment,
  CallOutcome,
  CallState,
  ContentBlock,
  Entry,
  EntryBase,
  EntryKind,
  FileChange,
  FurtherResult,
  ToolResultEntry,
  Wound,
} from "./entry.ts";
import {
  readBoolean,
  readCount,
  readCounters,
  readFields,
  readList,
  readNumber,
  readObject,
  readOptional,
  readString,
  readWord,
  refuse,
  type WireFields,
  within,
} from "./wire-fields.ts";

const KINDS: readonly EntryKind[] = [
  "delivered",
  "model",
  "tool-result",
  "streaming",
  "wounded",
  "compacted",
  "raw",
];
const STATES: readonly CallState[] = ["running", "done", "failed", "denied", "interrupted", "unanswered"];

/** The entry without its bytes, losslessly; keys with nothing in them are absent. */
export function encodeEntry(entry: Entry): WireFields {
  return { name: entry.name, kind: entry.kind, ...encodeBase(entry), ...encodeKind(entry) };
}

/** Reads an entry strictly; for use inside a decoder. */
export function readEntry(fields: WireFields): Entry {
  const base = { name: readString(fields, "name"), ...readBase(fields) };
  const kind = readWord(fields, "kind", KINDS);
  switch (kind) {
    case "delivered":
      return {
        kind,
        ...base,
        sender: readString(fields, "sender"),
        ...readOptional(fields, "sender_name", "senderName", readString),
        ...readOptional(fields, "epitaph", "epitaph", readString),
        body: readString(fields, "body"),
        ...readOptional(fields, "topic", "topic", readString),
        ...readOptional(fields, "queued", "queued", readBoolean),
        ...readOptional(fields, "attachments", "attachments", readAttachments),
      };
    case "model":
      return {
        kind,
        ...base,
        ...readOptional(fields, "model_id", "modelId", readString),
        blocks: readList(fields, "blocks", readBlock),
        usage: readCounters(fields, "usage"),
        ...readOptional(fields, "message_id", "messageId", readString),
        ...readOptional(fields, "request_id", "requestId", readString),
        ...readOptional(fields, "stop_reason", "stopReason", readString),
      };
    case "tool-result":
      return {
        kind,
        ...base,
        toolUseId: readString(fields, "tool_use_id"),
        content: readString(fields, "content"),
        isError: readBoolean(fields, "is_error"),
        ...readOptional(fields, "attachments", "attachments", readAttachments),
        ...readOptional(fields, "changes", "changes", readChanges),
        ...readOptional(fields, "outcome", "outcome", readOutcome),
        ...readOptional(fields, "call", "call", readCall),
        ...readOptional(fields, "further", "further", readFurther),
      };
    case "streaming":
      return { kind, ...base, thinking: readString(fields, "thinking"), text: readString(fields, "text") };
    case "wounded":
      return { kind, ...base, wound: readWound(fields) };
    case "compacted":
      return {
        kind,
        ...base,
        ...readOptional(fields, "first", "first", readCount),
        ...readOptional(fields, "last", "last", readCount),
        summary: readString(fields, "summary"),
        ...readOptional(fields, "trigger", "trigger", readString),
        ...readOptional(fields, "tokens_before", "tokensBefore", readCount),
        ...readOptional(fields, "tokens_after", "tokensAfter", readCount),
      };
    case "raw":
      return {
        kind,
        ...base,
        reason: fields["reason"] === undefined ? "not a message" : readString(fields, "reason"),
        text: fields["text"] === undefined ? readString(fields, "raw") : readString(fields, "text"),
        ...readOptional(fields, "damaged", "damaged", readBoolean),
      };
  }
}

function encodeBase(entry: EntryBase): WireFields {
  return present({
    place: entry.place,
    time: entry.time,
    subagent: entry.subagent,
    off_path: entry.offPath,
  });
}

function readBase(fields: WireFields): Omit<EntryBase, "name"> {
  return {
    ...readOptional(fields, "place", "place", (f, key) => {
      const place = readFields(f, key);
      return within(`.${key}`, () => ({
        start: readCount(place, "start"),
        end: readCount(place, "end"),
        ...readOptional(place, "file", "file", readString),
      }));
    }),
    ...readOptional(fields, "time", "time", readNumber),
    ...readOptional(fields, "subagent", "subagent", readString),
    ...readOptional(fields, "off_path", "offPath", readBoolean),
  };
}

function encodeKind(entry: Entry): WireFields {
  switch (entry.kind) {
    case "delivered":
      return present({
        sender: entry.sender,
        sender_name: entry.senderName,
        epitaph: entry.epitaph,
        body: entry.body,
        topic: entry.topic,
        queued: entry.queued,
        attachments: entry.attachments?.map(encodeAttachment),
      });
    case "model":
      return present({
        model_id: entry.modelId,
        blocks: entry.blocks.map(encodeBlock),
        usage: entry.usage,
        message_id: entry.messageId,
        request_id: entry.requestId,
        stop_reason: entry.stopReason,
      });
    case "tool-result":
      return present({
        tool_use_id: entry.toolUseId,
        content: entry.content,
        is_error: entry.isError,
        attachments: entry.attachments?.map(encodeAttachment),
        changes: entry.changes?.map(encodeChange),
        outcome: entry.outcome && encodeOutcome(entry.outcome),
        call: entry.call && encodeCall(entry.call),
        further: entry.further?.map(encodeFurther),
      });
    case "streaming":
      return { thinking: entry.thinking, text: entry.text };
    case "wounded":
      return encodeWound(entry.wound);
    case "compacted":
      return present({
        first: entry.first,
        last: entry.last,
        summary: entry.summary,
        trigger: entry.trigger,
        tokens_before: entry.tokensBefore,
        tokens_after: entry.tokensAfter,
      });
    case "raw":
      return present({ reason: entry.reason, text: entry.text, damaged: entry.damaged });
  }
}

/** The sentence does not cross: the words of a notice are the reader's. */
function encodeWound(wound: Wound): WireFields {
  switch (wound.kind) {
    case "mute":
      return { wound: "no_response" };
    case "spoke":
      return present({ wound: "no_response", wound_reason: wound.words, wound_source: wound.source });
    case "output-limit":
      return { wound: "output_limit" };
    case "refused":
      return present({ wound: "refused", wound_reason: wound.words, auth_row: wound.authRow });
    case "interrupted":
      return present({ wound: "interrupted", wound_reason: wound.words });
  }
}

function readWound(fields: WireFields): Wound {
  const word = readWord(fields, "wound", ["none", "no_response", "output_limit", "refused", "interrupted"]);
  const reason = readOptional(fields, "wound_reason", "words", readString);
  switch (word) {
    case "none":
      return refuse("bad-field", 'a wounded row whose "wound" is none');
    case "no_response":
      return reason.words === undefined
        ? { kind: "mute" }
        : {
            kind: "spoke",
            words: reason.words,
            ...readOptional(fields, "wound_source", "source", readString),
          };
    case "output_limit":
      return { kind: "output-limit" };
    case "refused":
      return { kind: "refused", ...reason, ...readOptional(fields, "auth_row", "authRow", readString) };
    case "interrupted":
      return { kind: "interrupted", ...reason };
  }
}

function encodeBlock(block: ContentBlock): WireFields {
  switch (block.kind) {
    case "text":
    case "thinking":
      return { kind: block.kind, text: block.text };
    case "tool-use":
      return present({
        kind: block.kind,
        id: block.id,
        name: block.name,
        input: block.inputSummary,
        subject: block.subject,
        changes: block.changes?.map(encodeChange),
        outcome: block.outcome && encodeOutcome(block.outcome),
      });
    case "attachment":
      return { kind: block.kind, attachment: encodeAttachment(block.attachment) };
    case "other":
      return { kind: block.kind, type: block.type, text: block.text };
  }
}

function readBlock(value: unknown): ContentBlock {
  const fields = readObject(value, "block");
  const kind = readWord(fields, "kind", ["text", "thinking", "tool-use", "attachment", "other"]);
  switch (kind) {
    case "text":
    case "thinking":
      return { kind, text: readString(fields, "text") };
    case "tool-use":
      return {
        kind,
        id: readString(fields, "id"),
        name: readString(fields, "name"),
        inputSummary: readString(fields, "input"),
        ...readOptional(fields, "subject", "subject", readString),
        ...readOptional(fields, "changes", "changes", readChanges),
        ...readOptional(fields, "outcome", "outcome", readOutcome),
      };
    case "attachment":
      return { kind, attachment: within(".attachment", () => readAttachment(fields["attachment"])) };
    case "other":
      return { kind, type: readString(fields, "type"), text: readString(fields, "text") };
  }
}

function encodeAttachment(attachment: Attachment): WireFields {
  return present({ media_type: attachment.mediaType, bytes: attachment.bytes, name: attachment.name });
}

function readAttachments(fields: WireFields, key: string): readonly Attachment[] {
  return readList(fields, key, readAttachment);
}

function readAttachment(value: unknown): Attachment {
  const fields = readObject(value, "attachment");
  return {
    mediaType: readString(fields, "media_type"),
    ...readOptional(fields, "bytes", "bytes", readCount),
    ...readOptional(fields, "name", "name", readString),
  };
}

function encodeChange(change: FileChange): WireFields {
  return present({
    path: change.path,
    old_text: change.oldText,
    new_text: change.newText,
    patch: change.patch,
  });
}

function readChanges(fields: WireFields, key: string): readonly FileChange[] {
  return readList(fields, key, (value) => {
    const change = readObject(value, "change");
    return {
      path: readString(change, "path"),
      ...readOptional(change, "old_text", "oldText", readString),
      ...readOptional(change, "new_text", "newText", readString),
      ...readOptional(change, "patch", "patch", readString),
    };
  });
}

function encodeOutcome(outcome: CallOutcome): WireFields {
  return present({
    state: outcome.state,
    exit_code: outcome.exitCode,
    duration_ms: outcome.durationMs,
    lines: outcome.lines,
    note: outcome.note,
  });
}

function readOutcome(fields: WireFields, key: string): CallOutcome {
  const outcome = readFields(fields, key);
  return within(`.${key}`, () => ({
    state: readWord(outcome, "state", STATES),
    ...readOptional(outcome, "exit_code", "exitCode", readNumber),
    ...readOptional(outcome, "duration_ms", "durationMs", readNumber),
    ...readOptional(outcome, "lines", "lines", readCount),
    ...readOptional(outcome, "note", "note", readString),
  }));
}

function encodeFurther(result: FurtherResult): WireFields {
  return present({
    tool_use_id: result.toolUseId,
    content: result.content,
    is_error: result.isError,
    outcome: result.outcome && encodeOutcome(result.outcome),
    call: result.call && encodeCall(result.call),
  });
}

function readFurther(fields: WireFields, key: string): readonly FurtherResult[] {
  return readList(fields, key, (value) => {
    const result = readObject(value, "result");
    return {
      toolUseId: readString(result, "tool_use_id"),
      content: readString(result, "content"),
      isError: readBoolean(result, "is_error"),
      ...readOptional(result, "outcome", "outcome", readOutcome),
      ...readOptional(result, "call", "call", readCall),
    };
  });
}

type AnsweredCall = NonNullable<ToolResultEntry["call"]>;

function encodeCall(call: AnsweredCall): WireFields {
  return present({ name: call.name, subject: call.subject, input: call.inputSummary, entry: call.entry });
}

function readCall(fields: WireFields, key: string): AnsweredCall {
  const call = readFields(fields, key);
  return within(`.${key}`, () => ({
    name: readString(call, "name"),
    ...readOptional(call, "subject", "subject", readString),
    inputSummary: readString(call, "input"),
    entry: readString(call, "entry"),
  }));
}

function present(fields: WireFields): WireFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
