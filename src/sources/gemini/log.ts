/** A Gemini CLI chat as a log: pages by the index, following by comparing the index with what it was. */
import { dirname } from "node:path";
import type { Entry, Place } from "../../transcript/index.ts";
import { pairCalls } from "../../transcript/index.ts";
import { capDraft } from "../cap.ts";
import { endOf, entryName, locate, pageAfter, pageBefore, type RowReader } from "../named-log.ts";
import { parseNamedPosition } from "../named-position.ts";
import { createStates } from "../named-states.ts";
import { damagedEntry, followStates, nameEntry, readFresh, refreshed, StaleError } from "../state-log.ts";
import type { CheckReport, Log, LogEvent, Page, Position, SessionInfo, TailPage } from "../types.ts";
import type { WatchPorts } from "../watch.ts";
import { Chat } from "./chat.ts";
import { checkChat } from "./check.ts";
import { diffSnapshots, type Snapshot, snapshotOf } from "./follow.ts";
import { readMessage } from "./message.ts";
import { type Row, standingOf } from "./rows.ts";

export interface GeminiLogOptions {
  readonly path: string;
  /** What is known of the session from elsewhere (its id, its project's folder). */
  readonly info: SessionInfo;
  readonly ports?: WatchPorts;
}

/** Opens a chat. The file is read once to know the order of its messages; pages then cost what they hold. */
export async function openGeminiLog(options: GeminiLogOptions): Promise<Log> {
  return new GeminiLog(options, await Chat.open(options.path));
}

class GeminiLog implements Log {
  readonly agent = "gemini";
  readonly path: string;
  readonly #options: GeminiLogOptions;
  readonly #chat: Chat;
  readonly #states = createStates<Snapshot>();

  constructor(options: GeminiLogOptions, chat: Chat) {
    this.path = options.path;
    this.#options = options;
    this.#chat = chat;
  }

  async info(): Promise<SessionInfo> {
    await refreshed(() => this.#chat.refresh());
    const modifiedAt = this.#chat.modifiedAt;
    return {
      ...this.#options.info,
      ...this.#chat.info,
      bytes: this.#chat.bytes,
      ...(modifiedAt === undefined ? {} : { modifiedAt }),
    };
  }

  async tail(limit: number): Promise<TailPage> {
    return this.#reading(async (reader) => {
      const page = await pageBefore(reader, endOf(reader.rows), limit);
      const { isOpen, liveRow } = standingOf(reader.rows);
      const live = page.entries
        .filter((e) => liveRow !== undefined && e.name === entryName(liveRow, 0))
        .map((e) => e.name);
      return { ...page, turnOpen: isOpen, live };
    });
  }

  older(from: Position, limit: number): Promise<Page> {
    return this.#reading((reader) => pageBefore(reader, locate(reader.rows, from), limit));
  }

  newer(from: Position, limit: number): Promise<Page> {
    return this.#reading((reader) => pageAfter(reader, locate(reader.rows, from), limit));
  }

  first(limit: number): Promise<Page> {
    return this.#reading((reader) => pageAfter(reader, { row: 0, ordinal: 0 }, limit));
  }

  follow(after: Position, signal: AbortSignal): AsyncGenerator<LogEvent, void, undefined> {
    const chat = this.#chat;
    return followStates<Snapshot>(
      {
        ports: this.#options.ports,
        watched: () => [this.path, dirname(this.path)],
        refresh: () => chat.refresh(),
        state: () => snapshotOf(chat.rows),
        info: () => chat.info,
        between: (before, now) =>
          diffSnapshots(
            before,
            now,
            (row, isLive) => this.#entries(row, isLive),
            (row) =>
              row.damage === undefined ? [] : [{ start: row.start, end: row.end, reason: row.damage }],
          ),
        end: (state) => this.#endPosition(state),
      },
      this.#seenAt(after),
      signal,
    );
  }

  check(signal?: AbortSignal): Promise<CheckReport> {
    return checkChat(this.#chat, signal);
  }

  async raw(place: Place, limit = Number.MAX_SAFE_INTEGER): Promise<Uint8Array> {
    return this.#chat.readBytes(place.start, Math.max(0, Math.min(place.end - place.start, limit)));
  }

  async close(): Promise<void> {
    await this.#chat.close();
  }

  /** The state a position was read from, or what stood before it where that is not known any more. */
  #seenAt(after: Position): Snapshot {
    const parsed = parseNamedPosition(after);
    const known = parsed.type === "before" ? undefined : this.#states.get(parsed.state);
    if (known) return known;
    const rows = this.#chat.rows;
    const cursor = locate(rows, after);
    // Inside a row: it is taken as told up to there, and what it has more is told now.
    const told = rows.slice(0, cursor.row);
    if (cursor.ordinal > 0) told.push({ ...rows[cursor.row]!, entryCount: cursor.ordinal, print: -1 });
    return snapshotOf(told);
  }

  #endPosition(snapshot: Snapshot): Position {
    const last = snapshot.rows.at(-1);
    const name = last && entryName(last, last.entryCount - 1);
    return this.#states.position(name, snapshot);
  }

  #reading<T extends Page>(work: (reader: RowReader<Row>) => Promise<T>): Promise<T> {
    return readFresh(
      this.path,
      (isForced) => this.#chat.refresh(isForced),
      () => work(this.#reader()),
    );
  }

  #reader(): RowReader<Row> {
    const rows = this.#chat.rows.slice();
    const { liveRow } = standingOf(rows);
    const snapshot = snapshotOf(rows);
    return {
      rows,
      read: (row) => this.#entries(row, row === liveRow),
      damage: (shown) => {
        const last = shown.at(-1);
        const isEnd = last === rows.at(-1);
        const start =
          last === undefined ? 0 : shown.reduce((least, r) => Math.min(least, r.start), last.start);
        const end = isEnd ? this.#chat.bytes : shown.reduce((most, r) => Math.max(most, r.end), 0);
        const notes = this.#chat.damageIn(start, end);
        const { unfinished } = this.#chat;
        return isEnd && unfinished ? [...notes, unfinished] : notes;
      },
      state: () => this.#states.name(snapshot),
    };
  }

  async #entries(row: Row, isLive: boolean): Promise<readonly Entry[]> {
    if (row.damage !== undefined)
      return [await damagedEntry(row, (at, length) => this.#chat.readBytes(at, length))];
    const value = await this.#chat.read(row);
    if (value === undefined) throw new StaleError();
    const { entries } = readMessage(value);
    if (entries.length !== row.entryCount && row.print !== -1) throw new StaleError();
    const named = entries.map((draft, ordinal) => nameEntry(capDraft(draft), row, ordinal, row.isLeft));
    return pairCalls(named, { standing: () => (isLive ? "running" : "unanswered") });
  }
}
