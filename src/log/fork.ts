/** Forking: a new session that begins with the path of another one up to a message. */

import { createHash } from "node:crypto";
import { HANDOFF_RECOVERY_REQUEST_TYPE } from "../continuity/index.ts";
import type { ByteSource } from "../lines/index.ts";
import { shareBlob } from "./blobs.ts";
import { sourceOf } from "./bytes.ts";
import { LogDisk } from "./disk.ts";
import { LogError } from "./errors.ts";
import { emptyState } from "./fold.ts";
import { inspectHead } from "./inspect.ts";
import { canonicalText } from "./json.ts";
import { groupBytesMax } from "./limits.ts";
import { nodePorts } from "./node-ports.ts";
import { nowOf } from "./now.ts";
import { type SessionPaths, sessionPaths } from "./paths.ts";
import type { LogPorts } from "./ports.ts";
import { itemsForward, openToRead, type RecordItem } from "./reader.ts";
import {
  type BlobPlace,
  type ConversationEntry,
  type LogRecord,
  type SessionBody,
  type Stamp,
  toEntry,
} from "./records.ts";
import { Stamper } from "./stamper.ts";

export interface ForkOptions {
  /** The folder that holds the sessions. */
  readonly sessions: string;
  /** The session to fork. What its writer has not flushed is not seen. */
  readonly parentId: string;
  /** The message at which the fork ends. */
  readonly parentTurnId: string;
  /** Default: a new random id. */
  readonly id?: string;
  /** Default: the parent's. */
  readonly cwd?: string;
}

export interface Forked {
  readonly id: string;
  /** The new log's path. */
  readonly path: string;
  readonly session: SessionBody;
  /** Entries of the conversation that were copied. */
  readonly entries: number;
}

function badFork(message: string, details: Readonly<Record<string, unknown>> = {}): LogError {
  return new LogError("bad-fork", message, {
    next: "Nothing was made; the session to fork is as it was.",
    details,
  });
}

/** The records of a log, strictly: anything that is none refuses the fork. What an appending writer has not finished is no record yet. */
async function* recordsOf(source: ByteSource, size: number): AsyncGenerator<RecordItem> {
  let seq = 0;
  for await (const item of itemsForward(source, 0, size)) {
    if (item.type === "damage") {
      if (item.fault === "newer")
        throw new LogError("newer", `from byte ${item.start} on the log was written by a newer Hansard`);
      if (item.end === size && item.fault === "incomplete") return;
      throw badFork(`the log to fork is damaged at byte ${item.start}`, { ...item });
    }
    seq += 1;
    if (item.record.seq !== seq || item.problem !== undefined)
      throw badFork(
        `the log to fork is damaged at byte ${item.start}: ${item.problem ?? "a record is missing"}`,
        {
          start: item.start,
        },
      );
    yield item;
  }
}

/** What path selection asks of a record; a record of an unknown kind that has the envelope is a sidecar. */
interface Envelope {
  readonly turnId: string;
  readonly parentTurnId: string | null;
}

function envelopeOf({ record }: RecordItem): Envelope | undefined {
  const { turnId, parentTurnId } = record as Partial<Envelope>;
  const isEnvelope =
    typeof turnId === "string" && (typeof parentTurnId === "string" || parentTurnId === null);
  return isEnvelope ? { turnId, parentTurnId } : undefined;
}

/** The ids from a message back to the root, and where the message stands. */
interface Path {
  readonly ids: ReadonlySet<string>;
  readonly leafSeq: number;
}

/** Costs memory for the ids of the log, not for its contents. */
async function trace(source: ByteSource, size: number, leaf: string): Promise<Path> {
  const parents = new Map<string, string | null>();
  let leafSeq: number | undefined;
  for await (const item of recordsOf(source, size)) {
    const envelope = envelopeOf(item);
    if (envelope === undefined) continue;
    const known = parents.get(envelope.turnId);
    // An exact copy of an entry changes nothing; another entry under its id makes the ancestry ambiguous.
    if (known !== undefined && known !== envelope.parentTurnId)
      throw badFork(`two entries have the id ${envelope.turnId}`, { turnId: envelope.turnId });
    parents.set(envelope.turnId, envelope.parentTurnId);
    if (envelope.turnId === leaf && item.record.kind === "message") leafSeq ??= item.record.seq;
  }
  if (leafSeq === undefined) throw badFork(`there is no message ${leaf}`, { turnId: leaf });
  const ids = new Set<string>();
  for (let at: string | null = leaf; at !== null; ) {
    if (ids.has(at)) throw badFork(`the ancestry of ${leaf} is a circle at ${at}`, { turnId: at });
    ids.add(at);
    const parent: string | null | undefined = parents.get(at);
    if (parent === undefined)
      throw badFork(`the ancestry of ${leaf} is broken: ${at} is missing`, { turnId: at });
    at = parent;
  }
  return { ids, leafSeq };
}

function isRecoveryRequest(entry: ConversationEntry): boolean {
  return entry.kind === "custom" && entry.customType === HANDOFF_RECOVERY_REQUEST_TYPE;
}

const gatedKinds: ReadonlySet<string> = new Set([
  "compactionSummary",
  "handoffTransaction",
  "continuityCommit",
]);

/** Whether an entry belongs to the path. What speaks of the session's state after the fork message stays behind even where it is anchored. */
function isCarried(item: RecordItem, envelope: Envelope, path: Path): boolean {
  const entry = item.record as Stamp & ConversationEntry;
  const isAfter = entry.seq > path.leafSeq;
  if (isAfter && (gatedKinds.has(entry.kind) || isRecoveryRequest(entry))) return false;
  if (entry.kind === "message") return path.ids.has(envelope.turnId);
  if (entry.kind === "label") return path.ids.has(entry.targetTurnId);
  if (entry.kind === "compactionSummary" && path.ids.has(entry.firstKeptTurnId)) return true;
  return envelope.parentTurnId === null ? !isAfter : path.ids.has(envelope.parentTurnId);
}

/** Settings that are the parent's alone: the agent's own session, which a child must not go on with, and what was taken of the inbox. */
const parentsOwn: ReadonlySet<string> = new Set(["agentSessionId", "inbox"]);

/** Puts turn marks around what was chosen: a turn begins with its first carried message, and ends as it ended unless the fork cut it. */
class TurnMarks {
  readonly #leafSeq: number;
  #started: LogRecord | undefined;
  #isOpen = false;
  #isCut = false;
  #turns = 0;

  constructor(leafSeq: number) {
    this.#leafSeq = leafSeq;
  }

  /** The records to be written for a life-cycle record of the parent. */
  mark(record: LogRecord): readonly LogRecord[] {
    switch (record.kind) {
      case "turnStarted":
        this.#started = record;
        this.#isCut = false;
        return [];
      case "turnCommitted":
      case "turnInterrupted":
        this.#started = undefined;
        return this.#isOpen ? [this.#end(record)] : [];
      case "set":
        return parentsOwn.has(record.key) ? [] : [record];
      case "missed":
        return record.seq <= this.#leafSeq ? [record] : [];
      default:
        return [];
    }
  }

  /** The records to be written before a message that is carried. */
  before(): readonly LogRecord[] {
    if (this.#isOpen || this.#started === undefined) return [];
    this.#isOpen = true;
    this.#turns += 1;
    const { v, seq, ts } = this.#started;
    return [{ v, seq, ts, kind: "turnStarted", turn: this.#turns }];
  }

  /** A message stays behind. */
  leave(message: LogRecord): void {
    if (message.seq > this.#leafSeq) this.#isCut = true;
  }

  #end(record: LogRecord): LogRecord {
    this.#isOpen = false;
    const { v, seq, ts } = record;
    return this.#isCut
      ? { v, seq, ts, kind: "turnInterrupted", turn: this.#turns, reason: "fork" }
      : ({ ...record, turn: this.#turns } as LogRecord);
  }

  /** The records to be written at the end of the parent's log. */
  finish(ts: number): readonly LogRecord[] {
    if (!this.#isOpen) return [];
    return [{ v: 1, seq: 1, ts, kind: "turnInterrupted", turn: this.#turns, reason: "fork" }];
  }
}

/** A running sum over entries, for comparing two logs by what they say. */
class EntrySum {
  readonly #hash = createHash("sha256");
  entries = 0;

  add(record: LogRecord): void {
    const entry = toEntry(record as Stamp & ConversationEntry);
    const { blobs } = record as { readonly blobs?: readonly BlobPlace[] };
    this.#hash.update(`${canonicalText({ ...entry, blobs })}\n`);
    this.entries += 1;
  }

  digest(): string {
    return this.#hash.digest("hex");
  }
}

/** Writes records into a new log, in bounded memory. */
class ChildWriter {
  readonly #disk: LogDisk;
  readonly #stamper = new Stamper(emptyState);
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(disk: LogDisk) {
    this.#disk = disk;
  }

  async add(body: { readonly kind: string }, ts: number): Promise<void> {
    for (const { bytes } of this.#stamper.stamp(body, ts, this.#disk.syncedEnd)) {
      this.#parts.push(bytes);
      this.#bytes += bytes.length;
    }
    if (this.#bytes >= groupBytesMax) await this.flush();
  }

  async flush(): Promise<void> {
    await this.#disk.guard();
    await this.#disk.write(Buffer.concat(this.#parts));
    await this.#disk.syncData();
    this.#parts = [];
    this.#bytes = 0;
  }
}

interface Parent {
  readonly source: ByteSource;
  readonly size: number;
  readonly paths: SessionPaths;
}

async function copyPath(
  parent: Parent,
  path: Path,
  disk: LogDisk,
  session: SessionBody,
  ports: LogPorts,
): Promise<EntrySum> {
  const child = new ChildWriter(disk);
  const sum = new EntrySum();
  const marks = new TurnMarks(path.leafSeq);
  let ts = nowOf(ports.clock);
  await child.add(session, ts);
  await child.flush();
  for await (const item of recordsOf(parent.source, parent.size)) {
    const record = item.record as LogRecord;
    const envelope = envelopeOf(item);
    ts = record.ts;
    if (envelope === undefined) {
      for (const mark of marks.mark(record)) await child.add(mark, ts);
      continue;
    }
    if (!isCarried(item, envelope, path)) {
      if (record.kind === "message") marks.leave(record);
      continue;
    }
    if (record.kind === "message") {
      for (const mark of marks.before()) await child.add(mark, mark.ts);
    }
    for (const { sha256, bytes } of (record as { readonly blobs?: readonly BlobPlace[] }).blobs ?? [])
      await shareBlob(parent.paths.blobs, disk.paths.blobs, ports, { sha256, bytes });
    await child.add(record, ts);
    sum.add(record);
  }
  for (const mark of marks.finish(ts)) await child.add(mark, ts);
  await child.flush();
  return sum;
}

/** Reads the child back: it holds the entries that were copied, and nothing else of a conversation. */
async function verify(disk: LogDisk, expected: EntrySum): Promise<void> {
  if (disk.file === undefined) throw new Error("a fork without a file");
  const found = new EntrySum();
  for await (const item of recordsOf(sourceOf(disk.file), disk.end)) {
    if (envelopeOf(item) !== undefined) found.add(item.record as LogRecord);
  }
  if (found.entries !== expected.entries || found.digest() !== expected.digest())
    throw badFork("what was written is not what was copied", {
      expected: expected.entries,
      found: found.entries,
    });
}

/**
 * Makes a session with the path that leads to a message of another one: its messages, and the sidecars that belong to them, in their
 * order and as they were (ids, parents, times). The parent is only read. The child has its name once it was read back and is on stable
 * storage; a fork that fails leaves nothing.
 *
 * Rejects with `not-found`, `bad-fork` (no such message, a broken or circular ancestry, a damaged parent), `newer`, `exists`, `bad-id`,
 * `blob-missing`, `blob-damaged`, and the system's error where the disk refuses. Reads the parent twice; memory holds its ids.
 */
export async function forkLog(options: ForkOptions, ports: LogPorts = nodePorts): Promise<Forked> {
  const parentPaths = sessionPaths(options.sessions, options.parentId);
  const id = options.id ?? ports.randomId();
  const paths = sessionPaths(options.sessions, id);
  const file = await openToRead(parentPaths.log, ports);
  try {
    const source = sourceOf(file);
    const size = await source.size();
    const head = await inspectHead(source, size);
    if (!head.ok) {
      if (head.verdict.state === "newer")
        throw new LogError("newer", `the log of session ${options.parentId} was written by a newer Hansard`);
      throw badFork(`the log of session ${options.parentId} has no session record`);
    }
    const path = await trace(source, size, options.parentTurnId);
    const { agent, agentVersion } = head.session;
    const cwd = options.cwd ?? head.session.cwd;
    const session: SessionBody = {
      kind: "session",
      id,
      ...(cwd === undefined ? {} : { cwd }),
      ...(agent === undefined ? {} : { agent }),
      ...(agentVersion === undefined ? {} : { agentVersion }),
      link: "fork",
      parentSession: parentPaths.log,
      parentSessionId: options.parentId,
      parentTurnId: options.parentTurnId,
    };
    const disk = LogDisk.fresh(ports, paths, () => {});
    try {
      const sum = await copyPath({ source, size, paths: parentPaths }, path, disk, session, ports);
      await verify(disk, sum);
      await disk.sync();
      return { id, path: paths.log, session, entries: sum.entries };
    } finally {
      await disk.close();
    }
  } finally {
    await file.close();
  }
}
