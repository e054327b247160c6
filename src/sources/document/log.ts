/** A document as a log: pages by its index, following by comparing the index with what it was. */
import { dirname } from "node:path";
import type { Entry, Place, RawEntry } from "../../transcript/index.ts";
import { pairCalls } from "../../transcript/index.ts";
import { capDraft } from "../cap.ts";
import { Census } from "../census.ts";
import type { EntryDraft } from "../classifier.ts";
import { asSourceError, SourceError } from "../errors.ts";
import { isFileError } from "../file-errors.ts";
import { DAMAGE_TEXT_BYTES_MAX } from "../limits.ts";
import { endOf, entryName, locate, pageAfter, pageBefore, type RowReader } from "../named-log.ts";
import { parseNamedPosition } from "../named-position.ts";
import { createStates } from "../named-states.ts";
import type {
  AgentName,
  CheckReport,
  Log,
  LogEvent,
  LogItem,
  Page,
  Position,
  SessionInfo,
  TailPage,
} from "../types.ts";
import { createLooker, nodeWatchPorts, type WatchPorts } from "../watch.ts";
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
    await this.#refresh();
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

  async *follow(after: Position, signal: AbortSignal): AsyncGenerator<LogEvent, void, undefined> {
    const looker = createLooker(signal, this.#options.ports ?? nodeWatchPorts);
    let seen = this.#seenAt(after);
    let info = this.#document.info;
    let isGone = false;
    let isCaughtUp = false;
    let changed = true;
    try {
      do {
        const status = await this.#refresh();
        looker.setPaths(this.#document.watched ?? [this.path, dirname(this.path)]);
        const failure = looker.failure();
        if (failure !== undefined)
          yield {
            type: "notice",
            text: `Watching the file failed (${failure}); it is looked at regularly instead.`,
          };
        if (status === "gone" && !isGone) yield { type: "gone" };
        isGone = status === "gone";
        const next = this.#document.standing;
        const items = isGone ? [] : await this.#itemsBetween(seen, next);
        if (typeof items === "string") {
          yield { type: "reset", reason: items };
          return;
        }
        if (items === undefined) {
          changed = true;
          continue;
        }
        const all: LogItem[] = [...items];
        if (!isGone && !isEqualInfo(this.#document.info, info))
          all.push({ type: "info", info: this.#document.info });
        info = this.#document.info;
        changed = all.length > 0;
        if (!isGone) seen = next;
        if (changed) yield { type: "items", items: all, end: this.#endPosition(next) };
        if (changed || !isCaughtUp) yield { type: "caughtUp" };
        isCaughtUp = true;
      } while (await looker.next(changed));
    } finally {
      looker.close();
    }
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

  /** Undefined where the file changed under the reading: the next look sees more. */
  async #itemsBetween(before: Standing, after: Standing): Promise<readonly LogItem[] | string | undefined> {
    try {
      return await itemsBetween(before, after, {
        entries: (row) => this.#entries(row),
        damage: (row) =>
          row.damage === undefined ? [] : [{ start: row.start, end: row.end, reason: row.damage }],
      });
    } catch (error) {
      if (error instanceof StaleError) return undefined;
      throw error;
    }
  }

  async #refresh(): Promise<"same" | "changed" | "gone"> {
    try {
      return await this.#document.refresh();
    } catch (error) {
      // What is open can still be read; a file that cannot be opened any more counts as gone.
      if (isFileError(error)) return "gone";
      throw error;
    }
  }

  /** Reads with an index that is up to date. Where the bytes changed under it, the index is made anew, once. */
  async #reading<T>(work: (reader: RowReader<StandingRow>, standing: Standing) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new SourceError("unreadable", `${this.path} was closed.`, { path: this.path });
    await this.#refresh();
    try {
      return await work(this.#reader(), this.#document.standing);
    } catch (error) {
      if (!(error instanceof StaleError)) throw asSourceError(error);
    }
    await this.#document.refresh(true);
    try {
      return await work(this.#reader(), this.#document.standing);
    } catch (error) {
      if (!(error instanceof StaleError)) throw asSourceError(error);
      throw new SourceError("unreadable", `${this.path} is being rewritten`, {
        path: this.path,
        next: "Try again.",
      });
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
    if (row.damage !== undefined) return [await this.#damaged(row)];
    const bytes = await this.#document.read(row);
    if (bytes === undefined) throw new StaleError();
    const { format } = this.#document;
    const { index, start, end } = row;
    const { entries } = format.classify({ value: format.parse(bytes), index, start, end });
    return entries.map((draft, ordinal) => nameEntry(capDraft(draft), row, ordinal));
  }

  async #damaged(row: Row): Promise<RawEntry> {
    const length = row.end - row.start;
    const bytes = await this.#document.readBytes(row.start, Math.min(length, DAMAGE_TEXT_BYTES_MAX));
    return {
      kind: "raw",
      name: row.name,
      place: { start: row.start, end: row.end },
      reason: `${length} bytes that are no message (${row.damage})`,
      text: new TextDecoder().decode(bytes),
      damaged: true,
    };
  }
}

/** The bytes of a row are not its element any more. */
class StaleError extends Error {}

function nameEntry(draft: EntryDraft, row: Row, ordinal: number): Entry {
  const { mergeKey: _m, unfinished: _u, ...entry } = draft;
  return { ...entry, name: entryName(row, ordinal), place: { start: row.start, end: row.end } } as Entry;
}

function isEqualInfo(a: Partial<SessionInfo>, b: Partial<SessionInfo>): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
