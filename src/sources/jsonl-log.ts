/** One open log of lines: pages, growth, check. What its records mean is the classifier's. */
import { stat } from "node:fs/promises";
import { type ByteSource, FileError, type FollowEvent, followFile, openFile } from "../lines/index.ts";
import type { Place } from "../transcript/index.ts";
import { isBorder } from "./border.ts";
import { Branches } from "./branches.ts";
import { checkLog } from "./check.ts";
import type { Classifier } from "./classifier.ts";
import { asSourceError, SourceError } from "./errors.ts";
import { isFileError } from "./file-errors.ts";
import { Growth } from "./growth.ts";
import { readNewer, readOlder, readTail } from "./pages.ts";
import { badPosition, formatSpot, parsePosition, type Spot } from "./position.ts";
import type { LogReader, RecordDecoder } from "./reader.ts";
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
} from "./types.ts";
import { unitOf } from "./unit.ts";

export interface JsonlLogOptions {
  readonly agent: AgentName;
  readonly path: string;
  readonly classifier: Classifier;
  /** How bytes become records. Default: as JSON. */
  readonly decoder?: RecordDecoder;
  /** Closed with the log. */
  readonly source: ByteSource;
  /** Whole records as they are written. Default: the file at `path` is followed. */
  readonly follow?: (from: number, signal: AbortSignal) => AsyncIterable<FollowEvent>;
  /** The source anew, once the file was replaced. Default: the file at `path` is opened. */
  readonly reopen?: () => Promise<ByteSource>;
  /** What is known of the session. Default: its name and its file's size and time. */
  readonly describe?: () => Promise<SessionInfo>;
}

/** Most bytes `raw` gives where no limit is told. */
export const RAW_BYTES_DEFAULT: number = 1024 * 1024;

/** The log over a source of bytes. Reads nothing yet; a page costs what the page costs. */
export function openJsonlLog(options: JsonlLogOptions): Promise<Log> {
  return Promise.resolve(new JsonlLog(options));
}

/** The log of the file at `path`, opened. Throws a FileError where it cannot be. */
export async function openJsonlFile(options: Omit<JsonlLogOptions, "source">): Promise<Log> {
  return openJsonlLog({ ...options, source: await openFile(options.path) });
}

class JsonlLog implements Log {
  readonly agent: AgentName;
  readonly path: string;
  readonly #options: JsonlLogOptions;
  #source: ByteSource;
  #reader: LogReader;
  #branches: Branches;
  #isClosed = false;

  constructor(options: JsonlLogOptions) {
    this.agent = options.agent;
    this.path = options.path;
    this.#options = options;
    this.#source = options.source;
    this.#reader = readerOf(options, options.source);
    this.#branches = new Branches(this.#reader);
  }

  async info(): Promise<SessionInfo> {
    const { describe } = this.#options;
    if (describe !== undefined) return describe();
    const { agent, path } = this;
    const name = path.split(/[/\\]/).at(-1) ?? path;
    const bare = { agent, id: name.replace(/\.jsonl$/, ""), path };
    try {
      const stats = await stat(path);
      return { ...bare, bytes: stats.size, modifiedAt: stats.mtimeMs };
    } catch (error) {
      if (isFileError(error)) return bare;
      throw error;
    }
  }

  tail(limit: number): Promise<TailPage> {
    return this.#read(() => readTail(this.#reader, this.#branches, limit));
  }

  older(from: Position, limit: number): Promise<Page> {
    return this.#read(async () => readOlder(this.#reader, this.#branches, await this.#spot(from), limit));
  }

  newer(from: Position, limit: number): Promise<Page> {
    return this.#read(async () => readNewer(this.#reader, this.#branches, await this.#spot(from), limit));
  }

  first(limit: number): Promise<Page> {
    return this.#read(() => readNewer(this.#reader, this.#branches, { offset: 0, ordinal: 0 }, limit));
  }

  check(signal?: AbortSignal): Promise<CheckReport> {
    return this.#read(() => checkLog(this.#reader, { agent: this.agent, path: this.path }, signal));
  }

  async raw(place: Place, limit: number = RAW_BYTES_DEFAULT): Promise<Uint8Array> {
    const length = Math.max(0, Math.min(place.end - place.start, limit));
    return this.#read(() => this.#source.read(place.start, length));
  }

  async *follow(after: Position, signal: AbortSignal): AsyncGenerator<LogEvent, void, undefined> {
    const spot = await this.#spot(after);
    const growth = new Growth(this.#reader, this.#branches);
    const { items, from } = await growth.begin(spot);
    if (items.length > 0) yield { type: "items", items, end: formatSpot({ offset: from, ordinal: 0 }) };
    const open = this.#options.follow ?? ((at, stop) => followFile(this.path, { from: at, signal: stop }));
    for await (const event of open(from, signal)) {
      if (event.type === "reset") {
        await this.#renew();
        yield { type: "reset", reason: tellReset(event.reason) };
        return;
      }
      yield* this.#told(event, growth);
      if (growth.hasRegained) {
        yield { type: "reset", reason: "an earlier branch was taken up again" };
        return;
      }
    }
  }

  async *#told(
    event: Exclude<FollowEvent, { type: "reset" }>,
    growth: Growth,
  ): AsyncGenerator<LogEvent, void, undefined> {
    switch (event.type) {
      case "items": {
        const units = [];
        for (const item of event.items) units.push(await unitOf(item, this.#reader));
        const items: readonly LogItem[] = await growth.add(units);
        yield { type: "items", items, end: formatSpot({ offset: event.end, ordinal: 0 }) };
        return;
      }
      case "gone":
        yield { type: "gone" };
        return;
      case "caughtUp":
        yield { type: "caughtUp" };
        return;
      case "resynced":
        yield {
          type: "notice",
          text: `Following began inside a record; it goes on from byte ${event.start}.`,
        };
        return;
      case "watcherFailed":
        yield {
          type: "notice",
          text: `The file system tells no changes (${event.message}); the file is looked at regularly instead.`,
        };
        return;
    }
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#source.close();
  }

  /** Opens the file that took the old one's place. */
  async #renew(): Promise<void> {
    const reopen = this.#options.reopen ?? (() => openFile(this.path));
    let source: ByteSource;
    try {
      source = await reopen();
    } catch (error) {
      // Gone again already: the old bytes stay readable, and the next reset tries anew.
      if (error instanceof FileError) return;
      throw error;
    }
    if (this.#isClosed) return source.close();
    const old = this.#source;
    this.#source = source;
    this.#reader = readerOf(this.#options, source);
    this.#branches = new Branches(this.#reader);
    await old.close();
  }

  /** The spot of a position; throws `bad-position` where no entry can begin or end there. */
  async #spot(position: Position): Promise<Spot> {
    const spot = parsePosition(position);
    if (!(await isBorder(this.#source, spot.offset)))
      throw badPosition(position, "no record begins or ends there");
    return spot;
  }

  async #read<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new SourceError("unreadable", `${this.path} was closed.`, { path: this.path });
    try {
      return await work();
    } catch (error) {
      throw asSourceError(error);
    }
  }
}

function readerOf({ classifier, decoder }: JsonlLogOptions, source: ByteSource): LogReader {
  return { source, classifier, ...(decoder === undefined ? {} : { decoder }) };
}

function tellReset(reason: "truncated" | "replaced" | "returned"): string {
  switch (reason) {
    case "truncated":
      return "the file became shorter";
    case "replaced":
      return "another file took its place";
    case "returned":
      return "the file came back";
  }
}
