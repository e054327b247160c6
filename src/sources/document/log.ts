/** A document as a log: pages by its index, following by comparing the index with what it was. */
import { dirname } from "node:path";
import type { Entry, Place } from "../../transcript/index.ts";
import { pairCalls } from "../../transcript/index.ts";
import { capDraft } from "../cap.ts";
import { Census } from "../census.ts";
import { asSourceError, SourceError } from "../errors.ts";
import { endOf, entryName, locate, pageAfter, pageBefore, type RowReader } from "../named-log.ts";
import { parseNamedPosition } from "../named-position.ts";
import { createStates } from "../named-states.ts";
import { damagedEntry, followStates, nameEntry, readFresh, refreshed, StaleError } from "../state-log.ts";
import type {
  AgentName,
  CheckReport,
  Log,
  LogEvent,
  Page,
  Position,
  SessionInfo,
  TailPage,
} from "../types.ts";
import type { WatchPorts } from "../watch.ts";
import { isLive, itemsBetween } from "./changes.ts";
import { Document } from "./document.ts";
import type { DocumentFormat, ElementStore } from "./format.ts";
import { PARTNERS_MAX } from "./limits.ts";
import { type Row, type Standing, type StandingRow, standingOf } from "./rows.ts";

export interface DocumentLogOptions {
  readonly path: string;
  readonly format: DocumentFormat;
  /** What is known of the session from elsewhere: its name, files beside it. What the document says wins. */
  readonly describe: () => Promise<SessionInfo>;
  readonly ports?: WatchPorts;
}

/** A log over a store that is open. */
export function logOfStore(options: DocumentLogOptions, store: ElementStore): Log {
  return new DocumentLog(options, store);
}

/** Opens a document. The file is read once to know its order; pages then cost what they hold. */
export async function openDocumentLog(options: DocumentLogOptions): Promise<Log> {
  return new DocumentLog(options, await Document.open(options.path, options.format));
}

class DocumentLog implements Log {
  readonly agent: AgentName;
  readonly path: string;
  readonly #options: DocumentLogOptions;
  readonly #document: ElementStore;
  readonly #states = createStates<Standing>();
  #isClosed = false;

  constructor(options: DocumentLogOptions, document: ElementStore) {
    this.agent = options.format.agent;
    this.path = options.path;
    this.#options = options;
    this.#document = document;
  }

  async info(): Promise<SessionInfo> {
    await refreshed(() => this.#document.refresh());
    const { info, bytes, modifiedAt } = this.#document;
    return { ...(await this.#options.describe()), ...info, bytes, modifiedAt };
  }

  tail(limit: number): Promise<TailPage> {
    return this.#reading(async (reader, standing) => {
      const page = await pageBefore(reader, endOf(reader.rows), limit);
      const shown = new Set(page.entries);
      const live: string[] = [];
      for (const row of standing.rows) {
        if (!row.isLive) continue;
        for (let ordinal = 0; ordinal < row.row.entryCount; ordinal++) {
          const name = entryName(row.row, ordinal);
          const entry = [...shown].find((e) => e.name === name);
          if (entry !== undefined && isLive(row, entry)) live.push(name);
        }
      }
      return { ...page, turnOpen: standing.isOpen, live };
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
    const document = this.#document;
    return followStates<Standing>(
      {
        ports: this.#options.ports,
        watched: () => document.watched ?? [this.path, dirname(this.path)],
        refresh: () => document.refresh(),
        state: () => document.standing,
        info: () => document.info,
        between: (before, now) =>
          itemsBetween(before, now, {
            entries: (row) => this.#entries(row),
            damage: (row) =>
              row.damage === undefined ? [] : [{ start: row.start, end: row.end, reason: row.damage }],
          }),
        end: (state) => this.#endPosition(state),
      },
      this.#seenAt(after),
      signal,
    );
  }

  async check(signal?: AbortSignal): Promise<CheckReport> {
    try {
      const census = new Census();
      const { bytes, damaged } = await this.#document.count(census, signal);
      return census.report({ agent: this.agent, path: this.path, bytes, damaged });
    } catch (error) {
      throw asSourceError(error);
    }
  }

  async raw(place: Place, limit: number = Number.MAX_SAFE_INTEGER): Promise<Uint8Array> {
    return this.#document.readBytes(place.start, Math.max(0, Math.min(place.end - place.start, limit)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#document.close();
  }

  /** The state a position was read from, or what stood before it where that is not known any more. */
  #seenAt(after: Position): Standing {
    const parsed = parseNamedPosition(after);
    const known = parsed.type === "before" ? undefined : this.#states.get(parsed.state);
    if (known !== undefined) return known;
    const rows = this.#document.standing.rows.map(({ row }) => row);
    const cursor = locate(rows, after);
    const told = rows.slice(0, cursor.row);
    const inside = rows[cursor.row];
    // Inside a row: it is taken as told up to there, and what it has more is told now.
    if (cursor.ordinal > 0 && inside !== undefined)
      told.push({ ...inside, entryCount: cursor.ordinal, print: -1, marks: [] });
    return standingOf(told);
  }

  #endPosition(standing: Standing): Position {
    const last = standing.rows.findLast(({ row }) => row.entryCount > 0)?.row;
    const name = last === undefined ? undefined : entryName(last, last.entryCount - 1);
    return this.#states.position(name, standing);
  }

  async #reading<T>(work: (reader: RowReader<StandingRow>, standing: Standing) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new SourceError("unreadable", `${this.path} was closed.`, { path: this.path });
    const document = this.#document;
    const read = (): Promise<T> => work(this.#reader(), document.standing);
    try {
      return await readFresh(this.path, (isForced) => document.refresh(isForced), read);
    } catch (error) {
      throw asSourceError(error);
    }
  }

  #reader(): RowReader<StandingRow> {
    const { standing } = this.#document;
    const { rows } = standing;
    return {
      rows,
      read: (row) => this.#entries(row),
      damage: (shown) => {
        const isEnd = shown.at(-1) === rows.at(-1);
        const start = shown[0]?.row.start ?? 0;
        const last = shown.at(-1)?.row.end ?? 0;
        const end = isEnd ? Math.max(this.#document.bytes, last) : last;
        return this.#document.damageIn(start, Math.max(start + 1, end));
      },
      state: () => this.#states.name(standing),
    };
  }

  async #entries({ row, isLive: mayChange, partners }: StandingRow): Promise<readonly Entry[]> {
    const own = await this.#named(row);
    const before: Entry[] = [];
    const after: Entry[] = [];
    for (const partner of partners.slice(0, PARTNERS_MAX))
      (partner.index < row.index ? before : after).push(...(await this.#named(partner)));
    return pairCalls(own, { before, after, standing: () => (mayChange ? "running" : "unanswered") });
  }

  /** A row's entries as the element alone tells them. */
  async #named(row: Row): Promise<readonly Entry[]> {
    if (row.damage !== undefined)
      return [await damagedEntry(row, (at, length) => this.#document.readBytes(at, length))];
    const bytes = await this.#document.read(row);
    if (bytes === undefined) throw new StaleError();
    const { format } = this.#document;
    const { index, start, end } = row;
    const { entries } = format.classify({ value: format.parse(bytes), index, start, end });
    return entries.map((draft, ordinal) => nameEntry(capDraft(draft), row, ordinal));
  }
}
