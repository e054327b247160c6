/** What a messages directory that changed says, as items of a growing log. */
import type { Entry, StreamingEntry, WoundedEntry } from "../../transcript/index.ts";
import { afterName, beforeName } from "../named-position.ts";
import type { LogItem } from "../types.ts";
import type { MessageRow } from "./listing.ts";
import type { StepState } from "./steps.ts";

/** How a directory and its newest step stood at one look. */
export interface MessagesState {
  readonly rows: readonly MessageRow[];
  /** The entry of the virtual row, where there is one. */
  readonly virtual: StreamingEntry | WoundedEntry | undefined;
  /** A driver is at work, as far as can be told. */
  readonly isOpen: boolean;
  readonly isGone: boolean;
  readonly step: StepState | undefined;
}

/** Newest rows whose calls may get their result now. */
const OPEN_ROWS = 64;

/**
 * The items that lead from one state to the next, or why nothing but a new start does. `running` holds the names of the entries told
 * before whose calls still run, and is brought up to date; `read` gives the entries of neighbouring rows of the newer state, paired.
 */
export async function diffMessages(
  before: MessagesState,
  after: MessagesState,
  running: Set<string>,
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
  items.push(...(await changedItems(before, after, committed.slice(0, lastKnown + 1), running, read)));
  let isOpen = before.isOpen;
  for (const entry of await read(fresh)) {
    if (entry.kind === "delivered") {
      if (isOpen) items.push({ type: "turnEnded" });
      items.push({ type: "turnStarted", ...(entry.time === undefined ? {} : { time: entry.time }) });
      isOpen = true;
    }
    if (after.isOpen && isRunning(entry)) running.add(entry.name);
    items.push(entryItem(entry, after.isOpen, entry.name === successor?.name ? oldVirtual?.name : undefined));
  }
  const isReplaced = successor !== undefined;
  if (hadStream && !isReplaced && after.virtual === undefined) return "the stream ended without a message";
  if (after.virtual) {
    if (!isOpen && after.virtual.kind === "streaming") {
      items.push({ type: "turnStarted" });
      isOpen = true;
    }
    items.push(...virtualItems(oldVirtual, isReplaced, after.virtual));
  } else if (oldVirtual?.kind === "wounded" && fresh.length === 0)
    return "the notice of a failure does not hold any more";
  if (isOpen && !after.isOpen) items.push({ type: "turnEnded" });
  return items;
}

/** The order of files is not the order of kinds: a tool's result or a delivered text never follows from a stream. */
function isModelName(name: string): boolean {
  return name.endsWith(".json") && !/^\d+-tool\.json$/.test(name);
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

/** Files that were not whole when they were first read, and calls that got their result or will get none. */
async function changedItems(
  before: MessagesState,
  after: MessagesState,
  rows: readonly MessageRow[],
  running: Set<string>,
  read: (rows: readonly MessageRow[]) => Promise<readonly Entry[]>,
): Promise<readonly LogItem[]> {
  const known = new Map(before.rows.map((r) => [r.name, r]));
  const touched = new Set<string>();
  for (const row of rows) {
    const old = known.get(row.name)?.print;
    if (old !== undefined && row.print !== undefined && old !== row.print) touched.add(row.name);
  }
  const mayAnswer =
    running.size > 0 &&
    (after.rows.at(-1)?.name !== before.rows.at(-1)?.name || before.isOpen !== after.isOpen);
  if (!mayAnswer && touched.size === 0) return [];
  const recent = rows.filter((r) => !r.gap).slice(-OPEN_ROWS);
  const items: LogItem[] = [];
  for (const entry of await read(recent)) {
    if (!touched.has(entry.name) && !(mayAnswer && running.has(entry.name))) continue;
    const live = after.isOpen && isRunning(entry);
    items.push({ type: "changed", entry, live });
    if (!live) running.delete(entry.name);
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
