/** The whole of a log judged: what it holds, what is damaged, and whether the payloads beside it are there. Only reads. */
import { dirname, join } from "node:path";
import { readBlob } from "./blobs.ts";
import { sourceOf } from "./bytes.ts";
import { errnoOf, LogError } from "./errors.ts";
import { emptyState, observe, snapshotOf, type TailState } from "./fold.ts";
import { inspectEnd, isNext, type LogDamage, type LogFault, type Verdict } from "./inspect.ts";
import { canonicalText } from "./json.ts";
import { type LeaseHolder, readLease } from "./lease.ts";
import { damageListMax } from "./limits.ts";
import { nodePorts } from "./node-ports.ts";
import type { LogPorts } from "./ports.ts";
import { itemsForward, openToRead, type RecordItem } from "./reader.ts";
import type { BlobPlace, CompactionChain, LogRecord, SessionRecord, UnknownRecord } from "./records.ts";
import { isSha256 } from "./validate.ts";

/** A record whose checksum is right and whose fields are not what its kind asks for. */
export interface InvalidRecord {
  readonly seq: number;
  readonly start: number;
  readonly end: number;
  readonly problem: string;
}

export interface LogReport {
  readonly path: string;
  readonly bytes: number;
  /** Absent where line 1 is no session record. */
  readonly session?: SessionRecord;
  /** What a writer finds at the end: only `clean` and `torn` logs can be written on. */
  readonly verdict: Verdict;
  readonly records: number;
  readonly recordKinds: Readonly<Record<string, number>>;
  readonly turns: number;
  /** The number of the turn that stands open. */
  readonly openTurn?: number;
  readonly compactions: number;
  /** The first 1,000 of `damageCount`. */
  readonly damage: readonly LogDamage[];
  readonly damageCount: number;
  /** The first 1,000 of `invalidCount`. */
  readonly invalid: readonly InvalidRecord[];
  readonly invalidCount: number;
  readonly blobs: {
    /** Different payloads that the records name. */
    readonly named: number;
    readonly missing: readonly string[];
    readonly damaged: readonly string[];
    /** Payloads that no record names: stored by their owner's own hand, or left by a crash. */
    readonly unnamed: readonly string[];
  };
  /** Files beside the log that keep bytes taken out of it. */
  readonly kept: readonly string[];
  /** Who writes it now. */
  readonly holder: LeaseHolder;
}

/** Follows the records of a log and notes what does not fit. */
class Survey {
  readonly kinds = new Map<string, number>();
  readonly damage: LogDamage[] = [];
  readonly invalid: InvalidRecord[] = [];
  readonly blobs = new Map<string, number>();
  damageCount = 0;
  invalidCount = 0;
  records = 0;
  turns = 0;
  compactions = 0;
  tail: TailState = emptyState;
  /** Nothing is missing so far: what snapshots and compactions say can be held against the fold. */
  #isFoldKnown = true;
  /** The newest line was no record. */
  #isAfterBad = false;

  bad(start: number, end: number, fault: LogFault): void {
    this.damageCount += 1;
    this.#isFoldKnown = false;
    this.#isAfterBad = fault !== "seq" && fault !== "moved" && fault !== "chain";
    if (this.damage.length < damageListMax) this.damage.push({ start, end, fault });
  }

  record({ record: raw, start, end, problem }: RecordItem): void {
    const record = raw as LogRecord;
    this.records += 1;
    this.kinds.set(record.kind, (this.kinds.get(record.kind) ?? 0) + 1);
    if (record.kind === "turnStarted") this.turns += 1;
    if (record.kind === "compactionSummary") this.compactions += 1;
    if (!isNext(raw as UnknownRecord, this.tail, this.#isAfterBad)) this.bad(start, end, "seq");
    this.#isAfterBad = false;
    if (problem !== undefined) {
      this.invalidCount += 1;
      if (this.invalid.length < damageListMax) this.invalid.push({ seq: record.seq, start, end, problem });
    } else this.#holdAgainstFold(record, start, end);
    for (const place of (raw as { readonly blobs?: readonly Partial<BlobPlace>[] }).blobs ?? []) {
      if (isSha256(place.sha256)) this.blobs.set(place.sha256, place.bytes ?? 0);
    }
    this.tail = observe(this.tail, record, start, end);
  }

  #holdAgainstFold(record: LogRecord, start: number, end: number): void {
    if (record.kind === "snapshot") {
      if (record.offset !== start) this.bad(start, end, "moved");
      else if (this.#isFoldKnown) {
        const { synced = 0 } = record;
        const own = snapshotOf({ ...this.tail, seqNext: record.seq }, record.ts, synced);
        if (canonicalText(own) !== canonicalText(record)) this.bad(start, end, "chain");
      }
    } else if (record.kind === "compactionSummary" && record.chain !== undefined && this.#isFoldKnown) {
      const own: CompactionChain = {
        cycle: this.tail.cycle + 1,
        ...(this.tail.compaction === undefined ? {} : { previous: this.tail.compaction }),
        ...(this.tail.openTurn === undefined ? {} : { turn: this.tail.openTurn.offset }),
      };
      if (canonicalText(own) !== canonicalText(record.chain)) this.bad(start, end, "chain");
    }
  }
}

async function namesIn(folder: string, ports: LogPorts): Promise<readonly string[]> {
  try {
    return await ports.files.list(folder);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

async function checkBlobs(
  folder: string,
  named: ReadonlyMap<string, number>,
  ports: LogPorts,
): Promise<LogReport["blobs"]> {
  const missing: string[] = [];
  const damaged: string[] = [];
  for (const [sha256, bytes] of named) {
    try {
      await readBlob(folder, ports, { sha256, bytes });
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      (error.code === "blob-missing" ? missing : damaged).push(sha256);
    }
  }
  const unnamed = (await namesIn(folder, ports)).filter((name) => isSha256(name) && !named.has(name));
  return { named: named.size, missing, damaged, unnamed };
}

/**
 * Reads a log from its first byte to its last, with every payload it names, and reports. A log of any state gets a report; memory holds
 * the names of its payloads, and the first 1,000 faults. Rejects with `not-found`, `not-a-log` (no regular file), `unreadable`.
 */
export async function checkLog(path: string, ports: LogPorts = nodePorts): Promise<LogReport> {
  const folder = dirname(path);
  const file = await openToRead(path, ports);
  try {
    const source = sourceOf(file);
    const bytes = await source.size();
    const survey = new Survey();
    const { verdict, session } = await inspectEnd(source);
    for await (const item of itemsForward(source, 0, bytes)) {
      if (item.type === "record") survey.record(item);
      else if (item.fault !== "newer") survey.bad(item.start, item.end, item.fault);
    }
    const { openTurn } = survey.tail;
    return {
      path,
      bytes,
      ...(session === undefined ? {} : { session }),
      verdict,
      records: survey.records,
      recordKinds: Object.fromEntries([...survey.kinds].sort(([a], [b]) => (a < b ? -1 : 1))),
      turns: survey.turns,
      ...(openTurn === undefined ? {} : { openTurn: openTurn.turn }),
      compactions: survey.compactions,
      damage: survey.damage,
      damageCount: survey.damageCount,
      invalid: survey.invalid,
      invalidCount: survey.invalidCount,
      blobs: await checkBlobs(join(folder, "blobs"), survey.blobs, ports),
      kept: (await namesIn(folder, ports)).filter((name) => isKeptName(name)).sort(),
      holder: await readLease(join(folder, "lease"), ports),
    };
  } finally {
    await file.close();
  }
}

function isKeptName(name: string): boolean {
  return /^log\.jsonl\.(torn|foreign|replaced|damaged)-/.test(name);
}
