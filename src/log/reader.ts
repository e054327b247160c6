/** Reading a log, by whoever does not write it: newest first by pages, by cycles, or from any place on. It never refuses a log. */
import type { ByteSource } from "../lines/index.ts";
import { type BlobRef, putText, readBlob } from "./blobs.ts";
import { linesBackward, linesForward, type RawLine, sourceOf } from "./bytes.ts";
import { errnoOf, errnoWords, LogError } from "./errors.ts";
import type { TailState } from "./fold.ts";
import { type Inspection, inspectEnd, judgeLine, type LogFault } from "./inspect.ts";
import { lineBytesMax } from "./limits.ts";
import { nodePorts } from "./node-ports.ts";
import { type SessionPaths, sessionPaths } from "./paths.ts";
import type { LogPorts, OpenFile } from "./ports.ts";
import type { BlobPlace, LogRecord, UnknownRecord } from "./records.ts";
import { isKnownKind, recordProblem } from "./validate.ts";

/** A record and its place: `[start, end)` are bytes of the log, the line feed included. */
export interface RecordItem {
  readonly type: "record";
  readonly start: number;
  readonly end: number;
  /** Of a kind that this version knows and with the fields it asks for, unless `problem` or `isUnknown` says otherwise. */
  readonly record: LogRecord | UnknownRecord;
  readonly isUnknown?: true;
  /** What is wrong with the fields of a record whose checksum is right. */
  readonly problem?: string;
}

/** Bytes that are no record. `newer`: a record of a later version of the format. */
export interface DamageItem {
  readonly type: "damage";
  readonly start: number;
  readonly end: number;
  readonly fault: LogFault | "newer";
}

export type LogItem = RecordItem | DamageItem;

export interface LogPage {
  /** Oldest first. */
  readonly items: readonly LogItem[];
  /** Bytes that the page covers; `older(start)` and `newer(end)` continue it without a gap. */
  readonly start: number;
  readonly end: number;
  readonly isAtStart: boolean;
  readonly isAtEnd: boolean;
}

/** One compaction cycle: what follows a compaction, up to the next one. */
export interface LogCycle {
  /** 0 before the first compaction. */
  readonly cycle: number;
  /** Where it starts: the compaction's own place, or the start of the turn that it splits. */
  readonly start: number;
  /** Where the next cycle's compaction starts; for the newest cycle the log's end. */
  readonly end: number;
}

/** Where a session is taken up again. */
export interface ResumePoint {
  readonly cycle: number;
  readonly start: number;
  readonly seqNext: number;
}

/** The newest compaction, or the start of the turn that it splits; the log's start where nothing was compacted. */
export function resumePoint(tail: TailState): ResumePoint {
  return { cycle: tail.cycle, start: tail.compactionTurn ?? tail.compaction ?? 0, seqNext: tail.seqNext };
}

function itemOf(line: RawLine): LogItem {
  const judged = judgeLine(line);
  const { start, end } = line;
  if (!judged.ok) return { type: "damage", start, end, fault: judged.fault };
  const { record } = judged;
  if (!isKnownKind(record.kind)) return { type: "record", start, end, record, isUnknown: true };
  const problem = recordProblem(record);
  return { type: "record", start, end, record, ...(problem === undefined ? {} : { problem }) };
}

/** The items of `[start, end)`, oldest first; `start` is the start of a line. A last line that may still grow is damage of its own. */
export async function* itemsForward(source: ByteSource, start: number, end: number): AsyncGenerator<LogItem> {
  for await (const line of linesForward(source, start, end)) yield itemOf(line);
}

export interface ReadOptions {
  /** The folder that holds the sessions. */
  readonly sessions: string;
  readonly id: string;
}

/**
 * A log opened for reading; nothing of it is touched or locked. Each call sees the log as it is at that moment. Offsets that are handed
 * in must be ones that were handed out: a page from the middle of a line shows the rest of the line as damage.
 */
export class LogReader {
  readonly path: string;
  readonly id: string;
  readonly #ports: LogPorts;
  readonly #blobs: string;
  readonly #file: OpenFile;
  readonly #source: ByteSource;

  /** @internal */
  constructor(paths: SessionPaths, ports: LogPorts, file: OpenFile) {
    this.id = paths.id;
    this.path = paths.log;
    this.#blobs = paths.blobs;
    this.#ports = ports;
    this.#file = file;
    this.#source = sourceOf(file);
  }

  /** The session record, the fold of the end, and a writer's verdict on it. Costs the same at any length. */
  inspect(): Promise<Inspection> {
    return inspectEnd(this.#source);
  }

  /** The newest `limit` items. Costs what they cost, whatever lies before them. */
  async tail(limit: number): Promise<LogPage> {
    return await this.older(await this.#source.size(), limit);
  }

  /** The `limit` items before the byte `before`. */
  async older(before: number, limit: number): Promise<LogPage> {
    const size = await this.#source.size();
    const end = Math.min(before, size);
    const items: LogItem[] = [];
    for await (const line of linesBackward(this.#source, end)) {
      if (items.length >= limit) break;
      items.push(itemOf(line));
    }
    items.reverse();
    const start = items[0]?.start ?? end;
    return { items, start, end, isAtStart: start === 0, isAtEnd: end >= size };
  }

  /** The `limit` items from the byte `after` on. */
  async newer(after: number, limit: number): Promise<LogPage> {
    const size = await this.#source.size();
    const start = Math.min(after, size);
    const items: LogItem[] = [];
    if (limit > 0) {
      for await (const item of itemsForward(this.#source, start, size)) {
        items.push(item);
        if (items.length >= limit) break;
      }
    }
    const end = items.at(-1)?.end ?? start;
    return { items, start, end, isAtStart: start === 0, isAtEnd: end >= size };
  }

  /** All items of `[start, end)`, oldest first, in bounded memory. Default: the whole log as it is now. */
  async *items(range: { readonly start?: number; readonly end?: number } = {}): AsyncGenerator<LogItem> {
    const size = await this.#source.size();
    yield* itemsForward(this.#source, range.start ?? 0, Math.min(range.end ?? size, size));
  }

  /**
   * The cycles, newest first, by the chain of compactions: one read a cycle, and no scanning. Ends early, with `LogError` `damaged`,
   * where a compaction is not at the place that its successor names.
   */
  async *cycles(): AsyncGenerator<LogCycle> {
    const { tail } = await this.inspect();
    let { cycle, end } = tail;
    let at = tail.compaction;
    while (at !== undefined) {
      const { previous, turn } = await this.#chainAt(at, cycle);
      if (previous !== undefined && previous >= at) throw this.#brokenChain(at);
      yield { cycle, start: turn ?? at, end };
      end = at;
      cycle -= 1;
      at = previous;
    }
    yield { cycle: 0, start: 0, end };
  }

  async #chainAt(at: number, cycle: number): Promise<{ readonly previous?: number; readonly turn?: number }> {
    const { items } = await this.newer(at, 1);
    const record = items[0]?.type === "record" ? (items[0].record as LogRecord) : undefined;
    if (record?.kind !== "compactionSummary" || record.chain?.cycle !== cycle) throw this.#brokenChain(at);
    return record.chain;
  }

  #brokenChain(at: number): LogError {
    return new LogError("damaged", `the chain of compactions of session ${this.id} is broken at byte ${at}`, {
      next: "The log can be read by pages.",
      details: { at },
    });
  }

  /** The bytes of one record's line as they lie in the log, its line feed included: for an export that loses nothing. */
  async raw(place: { readonly start: number; readonly end: number }): Promise<Buffer> {
    const length = place.end - place.start;
    if (!(length > 0 && length <= lineBytesMax))
      throw new RangeError(`no place of a record: ${length} bytes`);
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, await this.#file.read(bytes, place.start));
  }

  /** The record with the texts that lie in blobs put back. Throws `blob-missing` and `blob-damaged`. Costs the texts' bytes. */
  async inflate(record: LogRecord): Promise<LogRecord> {
    const places = (record as { readonly blobs?: readonly BlobPlace[] }).blobs ?? [];
    let whole: unknown = record;
    for (const { at, sha256, bytes } of places) {
      const text = (await this.blob({ sha256, bytes })).toString("utf8");
      whole = putText(whole, at, text);
      if (whole === undefined)
        throw new LogError("damaged", `record ${record.seq} has no text at ${at}`, { details: { at } });
    }
    if (places.length === 0) return record;
    const { blobs: _blobs, ...rest } = whole as Record<string, unknown>;
    return rest as unknown as LogRecord;
  }

  /** A payload beside the log, verified. Throws `blob-missing` and `blob-damaged`. */
  blob(ref: BlobRef): Promise<Buffer> {
    return readBlob(this.#blobs, this.#ports, ref);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Opens a log's file for reading. Rejects with `not-found`, `not-a-log` (a folder) or `unreadable`. */
export async function openToRead(path: string, ports: LogPorts): Promise<OpenFile> {
  let file: OpenFile | undefined;
  try {
    file = await ports.files.open(path, "read");
    const facts = await file.facts();
    if (facts.isFile) return file;
    throw new LogError("not-a-log", `${path} is no regular file`);
  } catch (error) {
    await file?.close();
    const code = errnoOf(error);
    if (code === undefined) throw error;
    if (code === "ENOENT" || code === "ENOTDIR")
      throw new LogError("not-found", `there is no log at ${path}`);
    throw new LogError("unreadable", `${path} cannot be read: ${errnoWords(code)}`, {
      cause: error,
      details: { code },
    });
  }
}

/** Opens a session for reading, whatever state its log is in. Rejects with `not-found`, `not-a-log`, `unreadable` or `bad-id`. */
export async function openLogForRead(options: ReadOptions, ports: LogPorts = nodePorts): Promise<LogReader> {
  const paths = sessionPaths(options.sessions, options.id);
  return new LogReader(paths, ports, await openToRead(paths.log, ports));
}
