/** What logs have in common whose file is written whole again, and whose index is compared with what it was: reading, following, damage. */
import type { Entry, RawEntry } from "../transcript/index.ts";
import type { EntryDraft } from "./classifier.ts";
import { SourceError } from "./errors.ts";
import { isFileError } from "./file-errors.ts";
import { DAMAGE_TEXT_BYTES_MAX } from "./limits.ts";
import { entryName, type NamedRow } from "./named-log.ts";
import type { LogEvent, LogItem, Position, SessionInfo } from "./types.ts";
import { createLooker, nodeWatchPorts, type WatchPorts } from "./watch.ts";

/** The bytes of a row are not its message any more. */
export class StaleError extends Error {}

type Status = "same" | "changed" | "gone";

/** The index brought up to date. What is open can still be read; a file that cannot be opened any more counts as gone. */
export async function refreshed(refresh: () => Promise<Status>): Promise<Status> {
  try {
    return await refresh();
  } catch (error) {
    if (isFileError(error)) return "gone";
    throw error;
  }
}

/** Reads with an index that is up to date. Where the bytes changed under it, the index is made anew, once. */
export async function readFresh<T>(
  path: string,
  refresh: (isForced: boolean) => Promise<Status>,
  work: () => Promise<T>,
): Promise<T> {
  await refreshed(() => refresh(false));
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StaleError)) throw error;
  }
  await refresh(true);
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StaleError)) throw error;
    throw new SourceError("unreadable", `${path} is being rewritten`, { path, next: "Try again." });
  }
}

/** A log as it is followed: its states, and what leads from one to the next. */
export interface FollowedLog<State> {
  readonly ports: WatchPorts | undefined;
  watched(): readonly string[];
  refresh(): Promise<Status>;
  state(): State;
  info(): Partial<SessionInfo>;
  /** The items between two states, or why nothing but a new start is. Throws a StaleError where the file changed under the reading. */
  between(before: State, after: State): Promise<readonly LogItem[] | string>;
  end(state: State): Position;
}

/** What is new since a state, for ever, until aborted. */
export async function* followStates<State>(
  log: FollowedLog<State>,
  after: State,
  signal: AbortSignal,
): AsyncGenerator<LogEvent, void, undefined> {
  const looker = createLooker(signal, log.ports ?? nodeWatchPorts);
  let seen = after;
  let info = JSON.stringify(log.info());
  let isGone = false;
  let isCaughtUp = false;
  let changed = true;
  try {
    do {
      const status = await refreshed(() => log.refresh());
      looker.setPaths(log.watched());
      const failure = looker.failure();
      if (failure !== undefined)
        yield {
          type: "notice",
          text: `Watching the file failed (${failure}); it is looked at regularly instead.`,
        };
      if (status === "gone" && !isGone) yield { type: "gone" };
      isGone = status === "gone";
      const next = log.state();
      const items = isGone ? [] : await itemsBetween(log, seen, next);
      if (typeof items === "string") {
        yield { type: "reset", reason: items };
        return;
      }
      if (items === undefined) {
        changed = true;
        continue;
      }
      const all: LogItem[] = [...items];
      const told = JSON.stringify(log.info());
      if (!isGone && told !== info) all.push({ type: "info", info: log.info() });
      info = told;
      changed = all.length > 0;
      if (!isGone) seen = next;
      if (changed) yield { type: "items", items: all, end: log.end(next) };
      if (changed || !isCaughtUp) yield { type: "caughtUp" };
      isCaughtUp = true;
    } while (await looker.next(changed));
  } finally {
    looker.close();
  }
}

/** Undefined where the file changed under the reading: the next look sees more. */
async function itemsBetween<State>(
  log: FollowedLog<State>,
  before: State,
  after: State,
): Promise<readonly LogItem[] | string | undefined> {
  try {
    return await log.between(before, after);
  } catch (error) {
    if (error instanceof StaleError) return undefined;
    throw error;
  }
}

/** A row with its place in the file. */
interface PlacedRow extends NamedRow {
  readonly start: number;
  readonly end: number;
}

/** A row's entry under its name, in its place. */
export function nameEntry(draft: EntryDraft, row: PlacedRow, ordinal: number, isLeft = false): Entry {
  const { mergeKey: _m, unfinished: _u, ...entry } = draft;
  return {
    ...entry,
    name: entryName(row, ordinal),
    place: { start: row.start, end: row.end },
    ...(isLeft ? { offPath: true } : {}),
  } as Entry;
}

/** The entry of a row whose bytes are no message. */
export async function damagedEntry(
  row: PlacedRow & { readonly damage: string | undefined },
  readBytes: (start: number, length: number) => Promise<Uint8Array>,
): Promise<RawEntry> {
  const length = row.end - row.start;
  const bytes = await readBytes(row.start, Math.min(length, DAMAGE_TEXT_BYTES_MAX));
  return {
    kind: "raw",
    name: row.name,
    place: { start: row.start, end: row.end },
    reason: `${length} bytes that are no message (${row.damage})`,
    text: new TextDecoder().decode(bytes),
    damaged: true,
  };
}
