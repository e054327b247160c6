/** What one message file is, from its name and its bytes alone. */
import type {
  ContentBlock,
  DeliveredEntry,
  Entry,
  FurtherResult,
  ModelEntry,
  RawEntry,
  ToolResultEntry,
  Usage,
} from "../../transcript/index.ts";
import { ExactNumber, parseExactJson } from "../exact-json.ts";
import {
  arrayOf,
  compactJson,
  countOf,
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
import { compareText } from "../order.ts";
import { readDeposit } from "./deposit.ts";
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
  const parsedJson = parseStrictly(bytes);
  if (parsedJson === undefined) return rawEntry(name, bytes, "not JSON");
  const { value } = parsedJson;
  if (parsed.origin !== TOOL_ORIGIN) return model(name, parsed.origin, value);
  return toolResult(name, value) ?? rawEntry(name, bytes, "no tool result in it");
}

function rawEntry(name: string, bytes: Uint8Array, reason: string): RawEntry {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, DAMAGE_TEXT_BYTES_MAX));
  return { kind: "raw", name, reason, text, ...(reason === "not JSON" ? { damaged: true } : {}) };
}

/** The value of JSON in valid UTF-8 without a byte order mark; absent for anything else. */
function parseStrictly(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return parseExactJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function delivered(name: string, sender: string, bytes: Uint8Array): DeliveredEntry {
  const { senderName, epitaph, depositedAt, body } = readDeposit(bytes);
  const time = timeOf(depositedAt);
  return {
    kind: "delivered",
    name,
    sender,
    body,
    ...(senderName === undefined ? {} : { senderName }),
    ...(epitaph === undefined ? {} : { epitaph }),
    ...(time === undefined ? {} : { time }),
  };
}

/** Where the blocks are, for both kinds of file: the value itself, or its `content`. */
function blockArray(value: unknown): readonly unknown[] | undefined {
  return arrayOf(value) ?? arrayOf(objectOf(value)?.["content"]);
}

function model(name: string, modelId: string, value: unknown): ModelEntry {
  const content = objectOf(value)?.["content"];
  const blocks =
    blockArray(value)?.flatMap(blockOf) ?? (typeof content === "string" ? [textBlock(content)] : []);
  return { kind: "model", name, modelId, blocks, usage: usageOf(value) };
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
function usageOf(value: unknown): Usage {
  const counters = objectOf(objectOf(value)?.["usage"]) ?? {};
  const usage = Object.keys(counters)
    .sort(compareText)
    .flatMap((name): readonly (readonly [string, number])[] => {
      const count = counterOf(counters[name]);
      return count === undefined ? [] : [[name, count]];
    });
  return Object.fromEntries(usage);
}

const COUNTER_END = 1n << 64n;

/** A count of at most 64 bits; past 2^53 the nearest number that JavaScript has. */
function counterOf(value: unknown): number | undefined {
  if (value instanceof ExactNumber)
    return /^\d+$/.test(value.text) && BigInt(value.text) < COUNTER_END ? Number(value.text) : undefined;
  return countOf(value);
}

/** The results of a file: the value itself where it is one, else every block that is one. The first gives the entry its name and call. */
function toolResult(name: string, value: unknown): ToolResultEntry | undefined {
  const blocks = isResult(value) ? [value] : (blockArray(value)?.filter(isResult) ?? []);
  const [first, ...further] = blocks.map(resultOf);
  if (first === undefined) return undefined;
  return { kind: "tool-result", name, ...first, ...(further.length === 0 ? {} : { further }) };
}

function isResult(value: unknown): value is Fields {
  const fields = objectOf(value);
  return fields !== undefined && Object.hasOwn(fields, "tool_use_id");
}

function resultOf(fields: Fields): FurtherResult {
  const content = flatten(fields["content"]);
  const isError = fields["is_error"] === true;
  return {
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
