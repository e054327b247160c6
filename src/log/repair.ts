/** Making a damaged log writable again: what is good is written anew, what is not is said, and the original stays beside it. */
import { sourceOf, writeWhole } from "./bytes.ts";
import { errnoOf, errnoWords, LogError } from "./errors.ts";
import { emptyState } from "./fold.ts";
import { inspectEnd } from "./inspect.ts";
import { busyError, releaseQuietly, takeLease } from "./lease.ts";
import { groupBytesMax } from "./limits.ts";
import { nodePorts } from "./node-ports.ts";
import { type SessionPaths, sessionPaths } from "./paths.ts";
import type { LogPorts, OpenFile } from "./ports.ts";
import { itemsForward, openToRead } from "./reader.ts";
import type { LogRecord, MissedBody, SessionBody } from "./records.ts";
import { Stamper } from "./stamper.ts";

export interface RepairOptions {
  readonly sessions: string;
  readonly id: string;
}

export type Repaired =
  /** Nothing was wrong, or no more than opening for writing puts right; the log is as it was. */
  | { readonly state: "sound" }
  | {
      readonly state: "repaired";
      /** The file that is the log as it was. */
      readonly keptAs: string;
      /** Records of the log as it is now. */
      readonly records: number;
      /** Places of the log at which something is missing, each said by a `missed` record. */
      readonly gaps: number;
    };

/** The good records of a damaged log, with `missed` in place of what is not there. */
async function* mended(
  file: OpenFile,
  id: string,
): AsyncGenerator<{
  readonly body: { readonly kind: string };
  readonly ts: number;
}> {
  const source = sourceOf(file);
  const size = await source.size();
  let seqNext = 1;
  let ts = 0;
  let hasSession = false;
  let bad: { readonly start: number; end: number } | undefined;
  for await (const item of itemsForward(source, 0, size)) {
    const isRecord = item.type === "record" && item.record.seq >= seqNext;
    if (!isRecord) {
      // A number that was there before: a copy of an older block, not a record of its own.
      if (bad === undefined) bad = { start: item.start, end: item.end };
      else bad.end = item.end;
      continue;
    }
    const record = item.record as LogRecord;
    if (!hasSession) {
      hasSession = true;
      const session: SessionBody = { kind: "session", id };
      yield { body: record.kind === "session" ? record : session, ts: record.ts };
    }
    const records = record.seq - seqNext;
    if (bad !== undefined || records > 0) {
      const missed: MissedBody = {
        kind: "missed",
        reason: "damage",
        ...(records === 0 ? {} : { records }),
        ...(bad === undefined ? {} : { bytes: bad.end - bad.start, start: bad.start }),
      };
      yield { body: missed, ts: record.ts };
    }
    bad = undefined;
    seqNext = record.seq + 1;
    ts = record.ts;
    if (record.kind !== "snapshot" && record.kind !== "session") yield { body: record, ts };
  }
  if (bad !== undefined)
    yield {
      body: { kind: "missed", reason: "damage", bytes: bad.end - bad.start, start: bad.start } as MissedBody,
      ts,
    };
}

async function isSound(file: OpenFile): Promise<boolean> {
  const source = sourceOf(file);
  const { verdict } = await inspectEnd(source);
  if (verdict.state === "newer")
    throw new LogError("newer", "the log was written by a newer Hansard; this one does not repair it");
  if (verdict.state === "damaged") return false;
  const end = verdict.state === "torn" ? verdict.start : await source.size();
  let seqNext = 1;
  for await (const item of itemsForward(source, 0, end)) {
    if (item.type === "damage" || item.record.seq !== seqNext) return false;
    seqNext += 1;
  }
  return true;
}

async function writeMended(
  from: OpenFile,
  to: OpenFile,
  id: string,
): Promise<{ readonly records: number; readonly gaps: number }> {
  const stamper = new Stamper(emptyState);
  let gaps = 0;
  let parts: Buffer[] = [];
  let held = 0;
  const flush = async (): Promise<void> => {
    await writeWhole(to, Buffer.concat(parts));
    parts = [];
    held = 0;
  };
  for await (const { body, ts } of mended(from, id)) {
    if (body.kind === "missed" && (body as MissedBody).reason === "damage") gaps += 1;
    for (const { bytes } of stamper.stamp(body, ts, 0)) {
      parts.push(bytes);
      held += bytes.length;
    }
    if (held >= groupBytesMax) await flush();
  }
  await flush();
  await to.sync();
  const { verdict } = await inspectEnd(sourceOf(to));
  if (verdict.state !== "clean") throw new LogError("damaged", "nothing of the log can be saved");
  return { records: stamper.state.seqNext - 1, gaps };
}

async function replace(paths: SessionPaths, ports: LogPorts, file: OpenFile): Promise<Repaired> {
  const { files, randomId } = ports;
  const temporary = `${paths.log}.${randomId()}.tmp`;
  const keptAs = `${paths.log}.damaged-${randomId()}`;
  try {
    const made = await files.open(temporary, "create");
    let counts: { readonly records: number; readonly gaps: number };
    try {
      counts = await writeMended(file, made, paths.id);
    } finally {
      await made.close();
    }
    await files.link(paths.log, keptAs);
    await files.syncFolder(paths.folder);
    await files.rename(temporary, paths.log);
    await files.syncFolder(paths.folder);
    return { state: "repaired", keptAs, ...counts };
  } catch (error) {
    await removeQuietly(temporary, ports);
    throw error;
  }
}

/** What is told is why the repair failed; a leftover bears no log's name. */
async function removeQuietly(path: string, ports: LogPorts): Promise<void> {
  try {
    await ports.files.remove(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

/**
 * Repairs the log of a session that nobody writes. Every good record is kept, in its order and with its time, under a new number; where
 * something is missing a `missed` record says how much. The log as it was stays beside it under another name; where anything fails, the
 * log is the one or the other, whole. Rejects with `not-found`, `busy`, `newer`, `damaged` (nothing can be saved), `not-writable`. Reads the whole log.
 */
export async function repairLog(options: RepairOptions, ports: LogPorts = nodePorts): Promise<Repaired> {
  const paths = sessionPaths(options.sessions, options.id);
  const file = await openToRead(paths.log, ports);
  try {
    if (await isSound(file)) return { state: "sound" };
    const taken = await takeLease(paths.lease, ports);
    if (!taken.ok) throw busyError(paths.id, taken.holder);
    try {
      return await replace(paths, ports, file);
    } finally {
      await releaseQuietly(taken.lease);
    }
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    throw new LogError("not-writable", `session ${paths.id} cannot be repaired: ${errnoWords(code)}`, {
      cause: error,
      details: { code },
    });
  } finally {
    await file.close();
  }
}
