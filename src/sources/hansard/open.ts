/**
 * Our own log as a `Log`: pages, following, check, and its cycles. A record counts only where its checksum is right; what is no record is
 * shown as damage, with its place. Nothing is locked or touched, so a session can be read while it is written.
 *
 * A recorder that wants the history of the session it writes opens the writer's own path: `openHansardLog(writer.path)`. Positions are
 * the offsets that the writer's `append` answers in `places` (`String(place.start)`), and the entry of a record is named `@<start>`
 * (a second entry of one record, such as a wound, `@<start>.1`). A record is seen here once `append` has resolved with `written` or `saved`.
 */
import { basename, dirname, join } from "node:path";
import { type DamageReason, openFile } from "../../lines/index.ts";
import { checkLog, LogError, type LogFault, openLogForRead } from "../../log/index.ts";
import { SourceError } from "../errors.ts";
import { openJsonlLog } from "../jsonl-log.ts";
import { formatSpot } from "../position.ts";
import type { CheckReport, DamageNote, Log, Position, SessionInfo } from "../types.ts";
import { hansardClassifier } from "./classifier.ts";
import { hansardDecoder } from "./decoder.ts";

/** A span between compactions, as positions of the log. */
export interface Cycle {
  /** 0 before the first compaction. */
  readonly cycle: number;
  readonly start: Position;
  readonly end: Position;
}

export interface HansardLog extends Log {
  /** The cycles, newest first, by the chain of compactions: one read each, whatever lies between. Throws `unreadable` where the chain is broken. */
  cycles(): AsyncIterable<Cycle>;
}

/** Opens the log at a path. Throws a FileError where it cannot be read. */
export async function openHansardLog(
  path: string,
  describe?: () => Promise<SessionInfo>,
): Promise<HansardLog> {
  const log = await openJsonlLog({
    agent: "hansard",
    path,
    classifier: hansardClassifier,
    decoder: hansardDecoder(join(dirname(path), "blobs")),
    source: await openFile(path),
    ...(describe === undefined ? {} : { describe }),
  });
  return {
    agent: log.agent,
    path,
    info: () => log.info(),
    tail: (limit) => log.tail(limit),
    older: (from, limit) => log.older(from, limit),
    newer: (from, limit) => log.newer(from, limit),
    first: (limit) => log.first(limit),
    follow: (after, signal) => log.follow(after, signal),
    raw: (place, limit) => log.raw(place, limit),
    check: async (signal) => withLogFaults(await log.check(signal)),
    cycles: () => cyclesOf(path),
    close: () => log.close(),
  };
}

async function* cyclesOf(path: string): AsyncGenerator<Cycle, void, undefined> {
  const folder = dirname(path);
  try {
    const reader = await openLogForRead({ sessions: dirname(folder), id: basename(folder) });
    try {
      for await (const { cycle, start, end } of reader.cycles())
        yield { cycle, start: positionOf(start), end: positionOf(end) };
    } finally {
      await reader.close();
    }
  } catch (error) {
    throw asReaderError(error, path);
  }
}

async function ofLog<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asReaderError(error, path);
  }
}

function asReaderError(error: unknown, path: string): unknown {
  if (!(error instanceof LogError)) return error;
  const { message, next } = error;
  return new SourceError("unreadable", `${message}.`, { path, ...(next === undefined ? {} : { next }) });
}

function positionOf(offset: number): Position {
  return formatSpot({ offset, ordinal: 0 });
}

const reasons: Readonly<Record<LogFault, DamageReason>> = {
  crc: "checksum",
  "not-json": "not-json",
  "not-a-record": "not-json",
  "too-large": "too-large",
  incomplete: "torn",
  hole: "nul-run",
  seq: "sequence",
  moved: "sequence",
  chain: "sequence",
  "no-session": "sequence",
  empty: "torn",
};

/** The report with what only the log's own rules tell: records that are missing, doubled or moved, and payloads that are not there. */
async function withLogFaults(report: CheckReport): Promise<CheckReport> {
  const { damage } = await ofLog(report.path, () => checkLog(report.path));
  const notes = [...report.damaged];
  for (const { start, end, fault } of damage) {
    const isTold = report.damaged.some((note) => note.start < end && start < note.end);
    if (!isTold) notes.push({ start, end, reason: reasons[fault] });
  }
  return { ...report, damaged: notes.sort((a: DamageNote, b: DamageNote) => a.start - b.start) };
}
