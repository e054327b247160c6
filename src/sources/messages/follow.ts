/** What a messages directory that changed says, as items of a growing log. */
import { type Entry, resultsOf, type StreamingEntry, type WoundedEntry } from "../../transcript/index.ts";
import { afterName, beforeName } from "../named-position.ts";
import type { LogItem } from "../types.ts";
import type { MessageRow } from "./listing.ts";
import { parseMessageName, TOOL_ORIGIN } from "./name.ts";
import type { StepState } from "./steps.ts";

/** How a directory and its newest step stood at one look. */
export interface MessagesState {
  readonly rows: readonly MessageRow[];
  /** The entry of the virtual row, where there is one. */
  readonly virtual: StreamingEntry | WoundedEntry | undefined;
  /** A driver is at work, as far as can be told. */
  readonly isOpen: boolean;
  /** The model message whose calls may still be answered. */
  readonly awaiting: string | undefined;
  readonly isGone: boolean;
  readonly step: StepState | undefined;
}

/** Newest rows that are told again where the bytes of one of them changed. */
const RETOLD_ROWS = 64;

/**
 * The items that lead from one state to the next, or why nothing but a new start does. `read` gives the entries of neighbouring rows of
 * the newer state, paired.
 */
export async function diffMessages(
  before: MessagesState,
  after: MessagesState,
  read: (rows: readonly MessageRow[]) => Promise<readonly Entry[]>,
): Promise<readonly LogItem[] | string> {
  const items: LogItem[] = [];
  const known = new Map(before.rows.map((r) => [r.name, r]));
  const present = new Set(after.rows.map((r) => r.name));
  const isTaken = before.rows.some((r) => !r.isVirtual && !r.gap && !present.has(r.name));
  if (isTaken) items.push({ type: "compacted" });
  const committed = after.rows.filter((r) => !r.isVirtual);
  const lastKnown = committed.findLastIndex((r) => known.has(r.name) && !r.gap);
  const between = committed.slice(0, lastKnown).find((r) => !r.gap && !known.has(r.name));
  if (between) return `a message came between others (${between.name})`;
  const fresh = committed.slice(lastKnown + 1).filter((r) => !(r.gap && known.has(r.name)));
  const oldVirtual = before.virtual;
  const hadStream = oldVirtual?.kind === "streaming";
  // A stream becomes the message that is committed from it; anything else in its place cannot be told in order.
  const successor = hadStream ? fresh[0] : undefined;
  if (successor && !isModelName(successor.name)) return "a message came in the place of the stream";
  const entries = await read(fresh);
  items.push(...(await changedItems(before, after, committed.slice(0, lastKnown + 1), entries, read)));
  let isOpen = before.isOpen;
  for (const entry of entries) {
    if (entry.kind === "delivered") {
      if (isOpen) items.push({ type: "turnEnded" });
      items.push({ type: "turnStarted", ...(entry.time === undefined ? {} : { time: entry.time }) });
      isOpen = true;
    }
    items.push(entryItem(entry, after.isOpen, entry.name === successor?.name ? oldVirtual?.name : undefined));
  }
  const isReplaced = successor !== undefined;
  if (hadStream && !isReplaced && after.virtual === undefined) return "the stream ended without a message";
  // A driver at work is a turn, also where nothing is said yet.
  if (!isOpen && after.isOpen) {
    items.push({ type: "turnStarted" });
    isOpen = true;
  }
  if (after.virtual) {
    items.push(...virtualItems(oldVirtual, isReplaced, after.virtual));
  } else if (oldVirtual?.kind === "wounded" && fresh.length === 0)
    return "the notice of a failure does not hold any more";
  if (isOpen && !after.isOpen) items.push({ type: "turnEnded" });
  return items;
}

/** Whether a file of that name holds what a model said. */
export function isModelName(name: string): boolean {
  const parsed = parseMessageName(name);
  return parsed !== undefined && parsed.extension === "json" && parsed.origin !== TOOL_ORIGIN;
}

function virtualItems(
  old: StreamingEntry | WoundedEntry | undefined,
  isReplaced: boolean,
  now: StreamingEntry | WoundedEntry,
): readonly LogItem[] {
  const live = now.kind === "streaming";
  if (old === undefined || isReplaced) return [entryItem(now, live, undefined)];
  if (old.kind !== now.kind) return [entryItem(now, live, old.name)];
  return isSameVirtual(old, now) ? [] : [{ type: "changed", entry: now, live }];
}

function isSameVirtual(a: StreamingEntry | WoundedEntry, b: StreamingEntry | WoundedEntry): boolean {
  if (a.kind === "streaming" && b.kind === "streaming") return a.text === b.text && a.thinking === b.thinking;
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Entries told before that say more now: calls that got their result with the new entries, that are waited for now or not any more, and
 * all the newest ones where a file was not whole when it was first read.
 */
async function changedItems(
  before: MessagesState,
  after: MessagesState,
  rows: readonly MessageRow[],
  fresh: readonly Entry[],
  read: (rows: readonly MessageRow[]) => Promise<readonly Entry[]>,
): Promise<readonly LogItem[]> {
  const prints = new Map(before.rows.map((r) => [r.name, r.print]));
  const recent = rows.filter((r) => !r.gap && prints.has(r.name)).slice(-RETOLD_ROWS);
  const isRewritten = recent.some(
    (r) => r.print !== undefined && prints.get(r.name) !== undefined && r.print !== prints.get(r.name),
  );
  const touched = new Set<string | undefined>();
  if (before.awaiting !== after.awaiting) touched.add(before.awaiting).add(after.awaiting);
  for (const entry of fresh)
    if (entry.kind === "tool-result") for (const { call } of resultsOf(entry)) touched.add(call?.entry);
  const items: LogItem[] = [];
  for (const row of recent) {
    if (!isRewritten && !touched.has(row.name)) continue;
    for (const entry of await read([row]))
      items.push({ type: "changed", entry, live: after.isOpen && isRunning(entry) });
  }
  return items;
}

/** Whether a call of the entry still runs. */
export function isRunning(entry: Entry): boolean {
  return (
    entry.kind === "model" &&
    entry.blocks.some((b) => b.kind === "tool-use" && b.outcome?.state === "running")
  );
}

function entryItem(entry: Entry, isOpen: boolean, replaces: string | undefined): LogItem {
  const live = entry.kind === "streaming" || (isOpen && isRunning(entry));
  return {
    type: "entry",
    entry,
    start: beforeName(entry.name),
    end: afterName(entry.name),
    live,
    ...(replaces === undefined ? {} : { replaces }),
  };
}
