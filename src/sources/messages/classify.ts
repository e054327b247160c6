/** What one message file is, from its name and its bytes alone. */
import type {
  ContentBlock,
  DeliveredEntry,
  Entry,
  ModelEntry,
  RawEntry,
  ToolResultEntry,
  Usage,
} from "../../transcript/index.ts";
import {
  arrayOf,
  compactJson,
  type Fields,
  lineCount,
  objectOf,
  stringOf,
  subjectOf,
  summarizeInput,
  timeOf,
  wordOf,
} from "../fields.ts";
import { DAMAGE_TEXT_BYTES_MAX } from "../limits.ts";
import { parseMessageName, TOOL_ORIGIN } from "./name.ts";

/**
 * The entry of one message file. A name or bytes that cannot be read as a message give a raw entry, never nothing. Cost: what the bytes
 * cost.
 */
export function classifyMessage(name: string, bytes: Uint8Array): Entry {
  const parsed = parseMessageName(name);
  if (!parsed) return rawEntry(name, bytes, "not the name of a message");
  if (parsed.extension === "md") return delivered(name, parsed.origin, bytes);
  if (parsed.extension !== "json")
    return rawEntry(name, bytes, `a message of an unknown kind (.${parsed.extension})`);
  const value = parseStrictly(bytes);
  if (value === undefined) return rawEntry(name, bytes, "not JSON");
  if (parsed.origin !== TOOL_ORIGIN) return model(name, parsed.origin, value.value, value.text);
  return toolResult(name, value.value) ?? rawEntry(name, bytes, "no tool result in it");
}

function rawEntry(name: string, bytes: Uint8Array, reason: string): RawEntry {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, DAMAGE_TEXT_BYTES_MAX));
  return { kind: "raw", name, reason, text, ...(reason === "not JSON" ? { damaged: true } : {}) };
}

/** The value of JSON in valid UTF-8 without a byte order mark; absent for anything else. */
function parseStrictly(bytes: Uint8Array): { readonly value: unknown; readonly text: string } | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { value: JSON.parse(text), text };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

export interface Deposit {
  readonly body: string;
  /** The value of a field of the envelope; absent where there is no envelope or no such field. */
  field(key: string): string | undefined;
}

/**
 * A delivered text without its envelope. An envelope is there only where the text begins with `---` on a line of its own and a later such
 * line closes it; the first one does, and all behind it is the body.
 */
export function readDeposit(text: string): Deposit {
  const opener = "---\n";
  const closer = "\n---\n";
  const end = text.startsWith(opener) ? text.indexOf(closer, opener.length) : -1;
  if (end === -1) return { body: text, field: () => undefined };
  const lines = text.slice(opener.length, end).split("\n");
  return {
    body: text.slice(end + closer.length),
    field(key) {
      for (const line of lines) {
        const colon = line.indexOf(": ");
        if (colon !== -1 && line.slice(0, colon) === key) return line.slice(colon + 2).replace(/\r$/, "");
      }
      return undefined;
    },
  };
}

function delivered(name: string, sender: string, bytes: Uint8Array): DeliveredEntry {
  const deposit = readDeposit(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  const senderName = deposit.field("from_name");
  const epitaph = deposit.field("epitaph");
  const time = timeOf(deposit.field("deposited_at"));
  return {
    kind: "delivered",
    name,
    sender,
    body: deposit.body,
    ...(senderName === undefined ? {} : { senderName }),
    ...(epitaph === undefined ? {} : { epitaph }),
    ...(time === undefined ? {} : { time }),
  };
}

/** Where the blocks are, for both kinds of file: the value itself, or its `content`. */
function blockArray(value: unknown): readonly unknown[] | undefined {
  return arrayOf(value) ?? arrayOf(objectOf(value)?.["content"]);
}

function model(name: string, modelId: string, value: unknown, text: string): ModelEntry {
  const content = objectOf(value)?.["content"];
  const blocks =
    blockArray(value)?.flatMap(blockOf) ?? (typeof content === "string" ? [textBlock(content)] : []);
  return { kind: "model", name, modelId, blocks, usage: usageOf(value, text) };
}

function textBlock(text: string): ContentBlock {
  return { kind: "text", text };
}

/** Blocks of other kinds are passed over: the file's bytes still show them. */
function blockOf(value: unknown): readonly ContentBlock[] {
  const fields = objectOf(value);
  switch (fields?.["type"]) {
    case "text":
      return [textBlock(stringOf(fields["text"]) ?? "")];
    case "thinking":
      return [{ kind: "thinking", text: stringOf(fields["thinking"]) ?? "" }];
    case "tool_use":
      return [callBlock(fields)];
    default:
      return [];
  }
}

function callBlock(fields: Fields): ContentBlock {
  const input = fields["input"];
  const subject = subjectOf(input);
  return {
    kind: "tool-use",
    id: stringOf(fields["id"]) ?? "",
    name: stringOf(fields["name"]) ?? "",
    inputSummary: summarizeInput(input),
    ...(subject === undefined ? {} : { subject }),
  };
}

/** Counters that are whole numbers as written, under their own names, in name order. Nothing is made up. */
function usageOf(value: unknown, text: string): Usage {
  const usage: Record<string, number> = {};
  const counters = objectOf(objectOf(value)?.["usage"]) ?? {};
  for (const name of Object.keys(counters).sort()) {
    const count = counters[name];
    if (typeof count !== "number" || !Number.isInteger(count) || count < 0 || count >= 2 ** 64) continue;
    if (isWrittenWhole(text, name)) usage[name] = count;
  }
  return usage;
}

/** True unless the counter is only ever written with a fraction or an exponent (`5.0` is a whole number, and not a count). */
function isWrittenWhole(text: string, name: string): boolean {
  const key = JSON.stringify(name);
  for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + key.length)) {
    const number = /^\s*:\s*\d+([.eE])?/.exec(text.slice(at + key.length, at + key.length + 100));
    if (number && number[1] === undefined) return true;
  }
  // Spelled with escapes: the value decides.
  return !text.includes(key);
}

function toolResult(name: string, value: unknown): ToolResultEntry | undefined {
  const hasId = (v: unknown): boolean => objectOf(v) !== undefined && "tool_use_id" in (v as Fields);
  const fields = objectOf(hasId(value) ? value : blockArray(value)?.find(hasId));
  if (!fields) return undefined;
  const content = flatten(fields["content"]);
  const isError = fields["is_error"] === true;
  return {
    kind: "tool-result",
    name,
    toolUseId: stringOf(fields["tool_use_id"]) ?? "",
    content,
    isError,
    outcome: { state: isError ? "failed" : "done", lines: lineCount(content) },
  };
}

/** A result's content as one text: texts as they are, anything else as compact JSON, joined without a separator. */
function flatten(content: unknown): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  const pieces = arrayOf(content);
  if (!pieces) return wholeJson(content);
  return pieces
    .map((piece) => {
      const fields = objectOf(piece);
      return fields?.["type"] === "text" ? (wordOf(fields["text"]) ?? "") : wholeJson(piece);
    })
    .join("");
}

function wholeJson(value: unknown): string {
  return compactJson(value, Number.MAX_SAFE_INTEGER);
}
