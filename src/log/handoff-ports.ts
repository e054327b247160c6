/** The ports on which handoff records are written into a session log, and the strict reading that says whether one is there. */
import {
  type ContinuityForkBinding,
  type ContinuityPersistencePorts,
  type ContinuityReadback,
  canonicalJson,
  type WritableEntry,
} from "../continuity/index.ts";
import { sourceOf } from "./bytes.ts";
import { LogError } from "./errors.ts";
import { nodePorts } from "./node-ports.ts";
import { sessionPaths } from "./paths.ts";
import type { LogPorts } from "./ports.ts";
import { itemsForward, openToRead, type RecordItem } from "./reader.ts";
import {
  type ConversationEntry,
  isConversation,
  type LogRecord,
  type RecordSpec,
  type SessionRecord,
  toEntry,
} from "./records.ts";
import type { LogWriter } from "./writer-types.ts";

/** Which log is read: names, not an open session, so that nothing that moves on moves this too. */
export interface ContinuityOrigin {
  /** The folder that holds the sessions. */
  readonly sessions: string;
  readonly id: string;
}

/** Whether a record is one that this version judges sound, at its place: the session's own record first, and only there. */
function isSound({ record, problem }: RecordItem, seq: number, id: string): boolean {
  if (record.seq !== seq || problem !== undefined) return false;
  return seq === 1
    ? record.kind === "session" && (record as { id?: unknown }).id === id
    : record.kind !== "session";
}

/** The ledger that continuity folds, as a session's log has it. */
export interface SessionLedger {
  /** The conversation's entries in file order, as they were appended. Long texts are their first characters. */
  readonly entries: readonly ConversationEntry[];
  /** Lines that are no sound record, and places where the log says that records were lost. Any at all makes a handoff recall-only. */
  readonly unreadableRecords: number;
  /** Where the session was forked from another one. */
  readonly fork?: ContinuityForkBinding;
}

/** Reads the ledger of a session's log, whatever state it is in. Rejects as `openLogForRead` does. Memory and cost grow with the log. */
export async function readContinuityLedger(
  origin: ContinuityOrigin,
  ports: LogPorts = nodePorts,
): Promise<SessionLedger> {
  const { log } = sessionPaths(origin.sessions, origin.id);
  const file = await openToRead(log, ports);
  try {
    const source = sourceOf(file);
    const entries: ConversationEntry[] = [];
    let session: SessionRecord | undefined;
    let unreadableRecords = 0;
    let seq = 0;
    for await (const item of itemsForward(source, 0, await source.size())) {
      seq += 1;
      if (item.type !== "record" || !isSound(item, seq, origin.id)) unreadableRecords += 1;
      else if (item.record.kind === "session") session = item.record as SessionRecord;
      else if (isLoss(item.record as LogRecord)) unreadableRecords += 1;
      else if (isConversation(item.record)) entries.push(toEntry(item.record));
      // A gap is one fault, not one for each record behind it.
      if (item.type === "record") seq = item.record.seq;
    }
    const fork = forkBindingOf(session);
    // A log without its first record is nobody's.
    if (session === undefined && unreadableRecords === 0) unreadableRecords = 1;
    return { entries, unreadableRecords, ...(fork === undefined ? {} : { fork }) };
  } finally {
    await file.close();
  }
}

/** What a full memory kept from the log was never said to be written; what was cut or damaged was. */
function isLoss(record: LogRecord): boolean {
  return record.kind === "missed" && record.reason !== "held-limit";
}

function forkBindingOf(session: SessionRecord | undefined): ContinuityForkBinding | undefined {
  const { link, parentSessionId, parentTurnId } = session ?? {};
  if (link !== "fork" || parentSessionId === undefined || parentTurnId === undefined) return undefined;
  return { parentSessionId, parentTurnId };
}

/**
 * Whether the very record is in a session's log. Reads the whole log, strictly, and makes nothing: a log that is missing, torn, damaged,
 * or of another session is `unresolved`. Something else under the record's id anywhere is `conflicting`, also behind a match.
 */
export async function readContinuityRecordExact(
  origin: ContinuityOrigin,
  expected: WritableEntry,
  ports: LogPorts = nodePorts,
): Promise<ContinuityReadback> {
  const { log } = sessionPaths(origin.sessions, origin.id);
  const file = await openToRead(log, ports).catch((error: unknown) => {
    if (error instanceof LogError) return undefined;
    throw error;
  });
  if (file === undefined) return "unresolved";
  try {
    const source = sourceOf(file);
    const text = canonicalJson(expected);
    let seq = 0;
    let found: ContinuityReadback = "absent";
    for await (const item of itemsForward(source, 0, await source.size())) {
      seq += 1;
      if (item.type !== "record" || !isSound(item, seq, origin.id)) return "unresolved";
      const { record } = item;
      if ((record as { readonly turnId?: unknown }).turnId !== expected.turnId) continue;
      const isEqual = isConversation(record) && canonicalJson(toEntry(record)) === text;
      if (!isEqual) found = "conflicting";
      else if (found === "absent") found = "matching";
    }
    return seq === 0 ? "unresolved" : found;
  } finally {
    await file.close();
  }
}

export interface ContinuityPortsOptions extends ContinuityOrigin {
  readonly writer: Pick<LogWriter, "id" | "mode" | "status" | "flush" | "append">;
  /** False once the driver has gone on to another session. Default: it never does. */
  readonly isCurrent?: () => boolean;
}

function refused(message: string): LogError {
  return new LogError("not-writable", message, { next: "Nothing of the handoff goes on until it is." });
}

/**
 * The ports for one session that this process writes. An append counts only once it is in the log itself: what the writer merely holds for
 * a disk that refuses is `unresolved`, so that it is not written twice. Both barriers are the writer's sync; the checkpoint also asks that
 * nothing is held or missed. The origin is taken by value.
 */
export function createContinuityPersistencePorts(
  options: ContinuityPortsOptions,
  ports: LogPorts = nodePorts,
): ContinuityPersistencePorts {
  const { writer, sessions, id, isCurrent = () => true } = options;
  const paths = sessionPaths(sessions, id);
  const isOriginCurrent = (): boolean => writer.id === id && !writer.status().isLost && isCurrent();
  const demandCurrent = (): void => {
    if (!isOriginCurrent()) throw refused(`session ${id} is not the one that is written any more`);
  };
  const flushAppends = async (): Promise<void> => {
    demandCurrent();
    const { saved, problem } = await writer.flush();
    if (!saved) throw refused(problem?.message ?? "the log is not on stable storage");
  };
  return {
    async append(entry) {
      demandCurrent();
      // The writer fills in what is missing, and a record under a made-up name is not the one that was reserved.
      const { turnId, timestamp, parentTurnId } = entry as Partial<WritableEntry>;
      if (!turnId || !timestamp || parentTurnId === undefined)
        throw refused("a handoff record without its own id and time is not written");
      const { state } = await writer.append(entry as WritableEntry & RecordSpec);
      if (state !== "saved" && state !== "written") throw refused(`the record is ${state}, not in the log`);
    },
    async readExact(entry) {
      if (writer.mode === "unsaved" || writer.status().heldRecords > 0) return "unresolved";
      return await readContinuityRecordExact({ sessions, id }, entry, ports);
    },
    flushAppends,
    async checkpoint() {
      await flushAppends();
      const { heldRecords, missedRecords } = writer.status();
      if (heldRecords + missedRecords > 0)
        throw refused(`${heldRecords + missedRecords} records are not in the log`);
    },
    async isStateRemoved() {
      return (await ports.files.facts(paths.log)) === undefined;
    },
    isOriginCurrent,
  };
}
