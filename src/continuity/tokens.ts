/** The price of a context in tokens: four characters a token, and a fixed cost a message. An approximation, the same one everywhere. */
import { canonicalJson } from "./canonical.ts";
import type { ContinuityProjection } from "./projection.ts";
import { continuityReplayText, inheritedContinuityReplayText } from "./replay.ts";
import { type Fields, fieldsOf } from "./values.ts";

const charactersPerToken = 4;
const tokensPerMessage = 16;
const imageCharacters = 4800;

export interface EstimatedMessage {
  readonly role: string;
  readonly payload?: unknown;
  /** Taken where there is no payload. */
  readonly content?: unknown;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly errorMessage?: string;
}

/** Tokens of one message as it is sent: its role, its content and its labels, and what each message costs besides. */
export function estimateAgentMessageTokens(message: EstimatedMessage): number {
  const { role, payload, content, toolCallId, toolName, errorMessage } = message;
  const labels = role.length + lengthOf(toolCallId) + lengthOf(toolName) + lengthOf(errorMessage);
  return tokensOf(labels + contentLength(payload === undefined ? content : payload));
}

function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersPerToken) + tokensPerMessage;
}

/** UTF-16 units of a text; 0 for what is none. */
function lengthOf(text: unknown): number {
  return typeof text === "string" ? text.length : 0;
}

function jsonLength(value: unknown): number {
  return value === undefined ? 0 : canonicalJson(value).length;
}

function contentLength(content: unknown): number {
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return jsonLength(content);
  let characters = 0;
  // A list and no recursion: blocks may hold blocks to any depth.
  const pending: unknown[] = [...content];
  for (let i = 0; i < pending.length; i += 1) {
    const block = pending[i];
    const nested = fieldsOf(block)?.["content"];
    if (Array.isArray(nested) && !hasOwnLength(block as Fields)) pending.push(...nested);
    else characters += blockLength(block);
  }
  return characters;
}

function hasOwnLength(block: Fields): boolean {
  const type = block["type"];
  return type === "text" || type === "thinking" || type === "image" || type === "toolCall";
}

function blockLength(block: unknown): number {
  const fields = fieldsOf(block);
  if (fields === undefined) return typeof block === "string" ? block.length : jsonLength(block);
  const { type, text, thinking, content, id, name } = fields;
  if (type === "image") return imageCharacters;
  if (type === "toolCall") return lengthOf(id) + lengthOf(name) + jsonLength(fields["arguments"]);
  if (type === "thinking" && typeof text !== "string") return lengthOf(thinking);
  if (type === "text" || type === "thinking") return lengthOf(text);
  if (typeof content === "string") return content.length;
  return typeof text === "string" ? text.length : jsonLength(block);
}

/**
 * Tokens of one entry of a ledger in a context. Bookkeeping costs nothing: transactions, commits, recovery requests, evictions and a
 * summary's carry are never sent.
 */
export function estimateEntryTokens(value: unknown): number {
  const entry = fieldsOf(value);
  if (entry?.["kind"] === "message") {
    const payload = entry["payload"];
    const fields = fieldsOf(payload);
    return estimateAgentMessageTokens({
      role: String(entry["role"]),
      payload: fields === undefined ? payload : { ...fields, contextUsageInvalidated: undefined },
    });
  }
  if (entry?.["kind"] !== "compactionSummary") return 0;
  const kept = contentLength(entry["userContext"]) + contentLength(entry["skillContext"]);
  return tokensOf(lengthOf(entry["summary"]) + kept);
}

/** Tokens of exactly the blocks that are replayed, each a message of its own. */
export function continuityProjectionTokens(projection: ContinuityProjection): number {
  return continuityCharges(projection).reduce((total, charge) => total + charge.tokens, 0);
}

/** The price of some replayed blocks, and which measurements have it in them. */
export interface ContinuityCharge {
  readonly tokens: number;
  readonly anchorTurnId: string | null;
  /** Whether a measurement taken at the anchor itself has counted the blocks already, as opposed to one taken behind it. */
  readonly isMeasuredAtAnchor: boolean;
}

/**
 * The prices of a projection's blocks with their own anchors: the own note's is the first record of its transaction; inherited blocks
 * begin to be sent behind the fork's message, whatever the parent had measured.
 */
export function continuityCharges(projection: ContinuityProjection): ContinuityCharge[] {
  const { note, inherited, noteAnchorTurnId, inheritedAnchorTurnId } = projection;
  const charges: ContinuityCharge[] = [];
  const price = (text: string): number => estimateAgentMessageTokens({ role: "user", payload: { text } });
  if (inherited.length > 0) {
    const tokens = inherited.reduce((total, each) => total + price(inheritedContinuityReplayText(each)), 0);
    charges.push({ tokens, anchorTurnId: inheritedAnchorTurnId, isMeasuredAtAnchor: false });
  }
  if (note !== null && note.authority !== "none") {
    const tokens = price(continuityReplayText(note));
    charges.push({ tokens, anchorTurnId: noteAnchorTurnId, isMeasuredAtAnchor: true });
  }
  return charges;
}

/**
 * Tokens of a context: the newest measurement that its provider reported, what was added behind it, and the replayed notes that it had
 * not counted; without a measurement, the estimate of everything. A charge whose anchor is not among the entries is counted: one note
 * too many is a smaller error than a hidden one. `usage`, where given, is a measurement of all the entries.
 */
export function calculateContextTokens(
  entries: readonly unknown[],
  usage?: unknown,
  charges: readonly ContinuityCharge[] = [],
): number {
  const given = usageTokens(usage);
  const found =
    given === undefined ? newestMeasurement(entries) : { index: entries.length - 1, tokens: given };
  const measuredAt = found?.index ?? -1;
  let total = found?.tokens ?? 0;
  for (const entry of entries.slice(measuredAt + 1)) total += estimateEntryTokens(entry);
  for (const { tokens, anchorTurnId, isMeasuredAtAnchor } of charges) {
    const anchor = entries.findIndex((entry) => fieldsOf(entry)?.["turnId"] === anchorTurnId);
    const isMeasured = anchor >= 0 && (isMeasuredAtAnchor ? anchor <= measuredAt : anchor < measuredAt);
    if (!isMeasured) total += tokens;
  }
  return total;
}

function newestMeasurement(entries: readonly unknown[]): { index: number; tokens: number } | undefined {
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = fieldsOf(entries[index]);
    if (entry?.["kind"] !== "message" || entry["role"] !== "assistant") continue;
    const payload = fieldsOf(entry["payload"]);
    const stop = payload?.["stopReason"];
    if (
      payload === undefined ||
      payload["contextUsageInvalidated"] ||
      stop === "aborted" ||
      stop === "error"
    ) {
      continue;
    }
    const tokens = usageTokens(payload["usage"]);
    if (tokens !== undefined) return { index, tokens };
  }
  return undefined;
}

/** The total a provider reported, or the sum of its parts; undefined where it reported nothing. */
function usageTokens(value: unknown): number | undefined {
  const usage = fieldsOf(value);
  if (usage === undefined) return undefined;
  if (isCount(usage["totalTokens"])) return usage["totalTokens"];
  const parts = [usage["input"], usage["output"], usage["cacheRead"], usage["cacheWrite"]].filter(isCount);
  return parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/**
 * Tokens of a context after a compaction: what is left of the measured context, and never less than the summary with the notes. The
 * notes are in the measured side already.
 */
export function tokensAfterCompaction(sizes: {
  readonly tokensBefore: number;
  readonly droppedTokens: number;
  readonly summaryTokens: number;
  readonly noteTokens: number;
}): number {
  const { tokensBefore, droppedTokens, summaryTokens, noteTokens } = sizes;
  return Math.max(summaryTokens + noteTokens, tokensBefore - droppedTokens + summaryTokens);
}
