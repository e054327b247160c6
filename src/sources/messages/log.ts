/** A messages directory as a log: one file is one entry, a hole in the counters is a compaction, and a running step streams at the end. */
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Place, StreamingEntry, WoundedEntry } from "../../transcript/index.ts";
import {
  callsOf,
  type Entry,
  LIVE_NAME,
  liveEntry,
  pairCalls,
  resultsOf,
  WOUND_NAME,
  woundEntry,
} from "../../transcript/index.ts";
import { capDraft } from "../cap.ts";
import { SourceError } from "../errors.ts";
import { fileStateAt, isFileError } from "../file-errors.ts";
import { endOf, locate, pageAfter, pageBefore, type RowReader } from "../named-log.ts";
import { parseNamedPosition } from "../named-position.ts";
import { createStates } from "../named-states.ts";
import { compareText } from "../order.ts";
import type { CheckReport, Log, LogEvent, Page, Position, SessionInfo, TailPage } from "../types.ts";
import { createLooker, nodeWatchPorts, type WatchPorts } from "../watch.ts";
import { checkMessages } from "./check.ts";
import { readStretch, readSummaries } from "./files.ts";
import { diffMessages, isModelName, isRunning, type MessagesState } from "./follow.ts";
import { listRows, type MessageRow, type MessagesPlace } from "./listing.ts";
import { gapFirst, seqOf } from "./name.ts";
import { MESSAGE_BYTES_MAX, readMessage } from "./read-message.ts";
import { IN_FLIGHT_MS, isLocked } from "./step-folder.ts";
import { StepReader, type StepState } from "./steps.ts";
import { woundOf } from "./wounds.ts";

/** Rows around a page that are looked at for the other half of a call and its result. */
export const PAIR_ROWS_MAX = 64;

export interface MessagesLogOptions {
  readonly place: MessagesPlace;
  readonly info: SessionInfo;
  readonly ports?: WatchPorts;
  /** The present, in milliseconds since the epoch. */
  readonly now?: () => number;
  /** Where the system lists its locks. */
  readonly locksPath?: string;
  /** Largest message file that is read; `MESSAGE_BYTES_MAX` where absent. */
  readonly fileBytesMax?: number;
}

/** Opens the log of one agent's messages. Reading costs one listing of the directory, and the files of the page. */
export async function openMessagesLog(options: MessagesLogOptions): Promise<Log> {
  return new MessagesLog(options);
}

class MessagesLog implements Log {
  readonly agent = "messages";
  readonly path: string;
  readonly #options: MessagesLogOptions;
  readonly #place: MessagesPlace;
  readonly #states = createStates<MessagesState>();

  constructor(options: MessagesLogOptions) {
    this.path = options.place.messages;
    this.#options = options;
    this.#place = options.place;
  }

  async info(): Promise<SessionInfo> {
    return this.#options.info;
  }

  async tail(limit: number): Promise<TailPage> {
    const state = await this.#state(this.#stepReader());
    const page = await pageBefore(this.#reader(state), endOf(state.rows), limit);
    return { ...page, turnOpen: state.isOpen, live: liveNames(page.entries, state) };
  }

  async older(from: Position, limit: number): Promise<Page> {
    const state = await this.#state(this.#stepReader());
    return pageBefore(this.#reader(state), this.#locate(state.rows, from), limit);
  }

  async newer(from: Position, limit: number): Promise<Page> {
    const state = await this.#state(this.#stepReader());
    return pageAfter(this.#reader(state), this.#locate(state.rows, from), limit);
  }

  async first(limit: number): Promise<Page> {
    const state = await this.#state(this.#stepReader());
    return pageAfter(this.#reader(state), { row: 0, ordinal: 0 }, limit);
  }

  async *follow(after: Position, signal: AbortSignal): AsyncGenerator<LogEvent> {
    const looker = createLooker(signal, this.#options.ports ?? nodeWatchPorts);
    const steps = this.#stepReader();
    let seen = this.#seenAt(after);
    let isGone = false;
    let isCaughtUp = false;
    let changed = true;
    try {
      do {
        const next = await this.#state(steps);
        seen ??= this.#toldBefore(next, after);
        looker.setPaths(this.#watched(next.step));
        const failure = looker.failure();
        if (failure)
          yield {
            type: "notice",
            text: `Watching the folder failed (${failure}); it is looked at regularly instead.`,
          };
        if (next.isGone && !isGone) yield { type: "gone" };
        isGone = next.isGone;
        const items = isGone ? [] : await diffMessages(seen, next, (rows) => this.#pairedEntries(next, rows));
        if (typeof items === "string") {
          yield { type: "reset", reason: items };
          return;
        }
        changed = items.length > 0;
        if (!isGone) seen = next;
        if (changed) yield { type: "items", items, end: this.#states.position(next.rows.at(-1)?.name, next) };
        if (changed || !isCaughtUp) yield { type: "caughtUp" };
        isCaughtUp = true;
      } while (await looker.next(changed));
    } finally {
      looker.close();
    }
  }

  check(signal?: AbortSignal): Promise<CheckReport> {
    return checkMessages(this.path, (name) => this.#fileEntry(name), signal);
  }

  async raw(place: Place, limit = Number.MAX_SAFE_INTEGER): Promise<Uint8Array> {
    if (place.file === undefined) return new Uint8Array(0);
    // A place names a file of this directory and nothing else.
    if (basename(place.file) !== place.file)
      throw new SourceError("not-found", `"${place.file}" is no file of ${this.path}`, { path: this.path });
    const length = Math.min(place.end - place.start, limit);
    return (await readStretch(join(this.path, place.file), place.start, length)) ?? new Uint8Array(0);
  }

  async close(): Promise<void> {}

  #stepReader(): StepReader | undefined {
    return this.#place.steps === undefined ? undefined : new StepReader(this.#place.steps);
  }

  #watched(step: StepState | undefined): readonly string[] {
    const { steps } = this.#place;
    return [this.path, ...(steps === undefined ? [] : [steps]), ...(step === undefined ? [] : [step.path])];
  }

  /** What the directory and the newest step say now. */
  async #state(steps: StepReader | undefined): Promise<MessagesState> {
    const committed = await listRows(this.path);
    const isGone = committed.length === 0 && !(await isFolder(this.path));
    const step = await steps?.read();
    const age = step === undefined ? 0 : this.#now() - step.changedAt;
    const held =
      this.#place.inbox === undefined
        ? undefined
        : await isLocked(this.#place.inbox, this.#options.locksPath);
    const isRunning = held === true || (step !== undefined && !step.isSettled && age < IN_FLIGHT_MS);
    const isInFlight =
      isRunning &&
      step !== undefined &&
      !step.isSettled &&
      step.responseBytes > 0 &&
      !(await this.#isCommitted(step, committed));
    const virtual = isInFlight && step ? liveEntry(step.stream) : undefined;
    const wound = step && (await woundOf(step, { isDriven: isRunning, now: this.#now() }));
    const last = virtual ?? (wound && woundEntry(wound));
    const rows: MessageRow[] = [...committed];
    if (last) rows.push({ name: last.name, entryCount: 1, isVirtual: true });
    const awaiting = isRunning && last === undefined ? awaitingRow(committed) : undefined;
    return { rows, virtual: last, isOpen: isRunning, awaiting, isGone, step };
  }

  /** Whether what the step has said stands in the directory already: it is committed a moment before the step is settled. */
  async #isCommitted(step: StepState, rows: readonly MessageRow[]): Promise<boolean> {
    if (step.ending.type !== "whole") return false;
    const name = rows.findLast((r) => !r.gap && isModelName(r.name))?.name;
    const state = name === undefined ? undefined : await fileStateAt(join(this.path, name));
    return state !== undefined && Number(state.modified / 1_000_000n) >= step.changedAt;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  #seenAt(after: Position): MessagesState | undefined {
    const parsed = parseNamedPosition(after);
    return parsed.type === "before" ? undefined : this.#states.get(parsed.state);
  }

  /** Everything before the position counts as told. */
  #toldBefore(state: MessagesState, after: Position): MessagesState {
    const rows = state.rows.slice(0, this.#locate(state.rows, after).row);
    return { rows, virtual: undefined, isOpen: false, awaiting: undefined, isGone: false, step: undefined };
  }

  /** Names that a compaction took away still have their place, told by their counter; the virtual entries are at the end. */
  #locate(
    rows: readonly MessageRow[],
    position: Position,
  ): { readonly row: number; readonly ordinal: number } {
    return locate(rows, position, (name) => {
      if (name === LIVE_NAME || name === WOUND_NAME) return { row: rows.length, ordinal: 0 };
      const seq = gapFirst(name) ?? seqOf(name);
      if (seq === undefined) return undefined;
      const row = rows.findIndex((r) => {
        const other = r.gap?.last ?? seqOf(r.name);
        return other !== undefined && (other > seq || (other === seq && compareText(r.name, name) > 0));
      });
      return { row: row === -1 ? rows.filter((r) => !r.isVirtual).length : row, ordinal: 0 };
    });
  }

  #reader(state: MessagesState): RowReader<MessageRow> {
    let page: ReadonlyMap<string, Entry> = new Map();
    return {
      rows: state.rows,
      prepare: async (rows) => {
        page = new Map((await this.#pairedEntries(state, rows)).map((e) => [e.name, e]));
      },
      read: async (row) => {
        const entry = page.get(row.name);
        return entry === undefined ? [] : [entry];
      },
      damage: () => [],
      state: () => this.#states.name(state),
    };
  }

  /** The entries of neighbouring rows, paired with what is around them. */
  async #pairedEntries(state: MessagesState, rows: readonly MessageRow[]): Promise<readonly Entry[]> {
    const [first] = rows;
    const last = rows.at(-1);
    if (first === undefined || last === undefined) return [];
    const entries = await this.#entries(state, rows);
    const before = await this.#callsBefore(state, state.rows.indexOf(first), entries);
    const after = await this.#resultsAfter(state, state.rows.indexOf(last) + 1, entries);
    return pairCalls(entries, {
      before,
      after,
      standing: ({ entry }) => (entry.name === state.awaiting ? "running" : "unanswered"),
    });
  }

  async #callsBefore(
    state: MessagesState,
    from: number,
    entries: readonly Entry[],
  ): Promise<readonly Entry[]> {
    const wanted = new Set<string>();
    const called = new Set<string>();
    for (const entry of entries) {
      if (entry.kind === "model") for (const call of callsOf(entry)) called.add(call.id);
      else if (entry.kind === "tool-result")
        for (const { toolUseId } of resultsOf(entry)) if (!called.has(toolUseId)) wanted.add(toolUseId);
    }
    const found: Entry[] = [];
    for (let at = from - 1; at >= 0 && at >= from - PAIR_ROWS_MAX && wanted.size > 0; at--) {
      const [entry] = await this.#entries(state, state.rows.slice(at, at + 1));
      if (entry?.kind !== "model") continue;
      found.unshift(entry);
      for (const call of callsOf(entry)) wanted.delete(call.id);
    }
    return found;
  }

  async #resultsAfter(
    state: MessagesState,
    from: number,
    entries: readonly Entry[],
  ): Promise<readonly Entry[]> {
    const wanted = new Set<string>();
    for (const entry of entries) {
      if (entry.kind === "model") for (const call of callsOf(entry)) wanted.add(call.id);
      else if (entry.kind === "tool-result")
        for (const { toolUseId } of resultsOf(entry)) wanted.delete(toolUseId);
    }
    const found: Entry[] = [];
    for (let at = from; at < state.rows.length && at < from + PAIR_ROWS_MAX && wanted.size > 0; at++) {
      const [entry] = await this.#entries(state, state.rows.slice(at, at + 1));
      if (entry?.kind !== "tool-result") continue;
      found.push(entry);
      for (const { toolUseId } of resultsOf(entry)) wanted.delete(toolUseId);
    }
    return found;
  }

  async #entries(state: MessagesState, rows: readonly MessageRow[]): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    for (const row of rows) {
      if (row.isVirtual) entries.push(state.virtual as StreamingEntry | WoundedEntry);
      else if (row.gap) {
        const summary = row.gap.isEarliest ? await readSummaries(this.#place.summary) : "";
        entries.push({
          kind: "compacted",
          name: row.name,
          first: row.gap.first,
          last: row.gap.last,
          summary,
        });
      } else entries.push(await this.#fileEntry(row.name));
    }
    return entries.map((entry) => capDraft(entry) as Entry);
  }

  async #fileEntry(name: string): Promise<Entry> {
    return readMessage(this.path, name, this.#options.fileBytesMax ?? MESSAGE_BYTES_MAX);
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    await readdir(path);
    return true;
  } catch (error) {
    if (isFileError(error)) return false;
    throw error;
  }
}

/** The message whose calls may still be answered: the last one that a model said, where nobody has spoken since. */
function awaitingRow(rows: readonly MessageRow[]): string | undefined {
  const last = rows.findLast((r) => !r.gap && (isModelName(r.name) || r.name.endsWith(".md")));
  return last !== undefined && isModelName(last.name) ? last.name : undefined;
}

/** The streaming entry, and calls that still run. */
function liveNames(entries: readonly Entry[], state: MessagesState): readonly string[] {
  if (!state.isOpen) return [];
  return entries.filter((e) => e.kind === "streaming" || isRunning(e)).map((e) => e.name);
}
