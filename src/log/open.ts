/** Making a log and opening one for writing: lease, inspection, and what has to be put right before the first append. */
import { join } from "node:path";
import { keepBeside } from "./beside.ts";
import { sourceOf, writeWhole } from "./bytes.ts";
import { type DiskEvent, LogDisk } from "./disk.ts";
import { errnoOf, errnoWords, LogError } from "./errors.ts";
import { emptyState, type TailState } from "./fold.ts";
import { type Inspection, inspectEnd, inspectHead, type LogDamage } from "./inspect.ts";
import {
  busyError,
  type Lease,
  type LeaseHolder,
  readLease,
  releaseQuietly,
  type TakenLease,
  takeLease,
  waitForLease,
} from "./lease.ts";
import { nodePorts } from "./node-ports.ts";
import { type SessionPaths, sessionPaths } from "./paths.ts";
import type { LogPorts, OpenFile } from "./ports.ts";
import type { SessionBody } from "./records.ts";
import { recordProblem } from "./validate.ts";
import { FileLogWriter } from "./writer.ts";
import type { LogWriter, OpenedState, WriterOptions } from "./writer-types.ts";

export interface CreateOptions extends WriterOptions {
  /** The folder that holds the sessions; made where it is missing. */
  readonly sessions: string;
  /** Default: a new random id. */
  readonly id?: string;
  readonly cwd?: string;
  readonly agent?: string;
  readonly agentVersion?: string;
  readonly agentSessionId?: string;
  readonly link?: "fork" | "continuation";
  readonly parentSession?: string;
  readonly parentSessionId?: string;
  readonly parentTurnId?: string;
}

/** A writer that learns of what its disk does once it exists. */
function connect(
  makeDisk: (tell: (event: DiskEvent) => void) => LogDisk,
  make: (disk: LogDisk) => FileLogWriter,
): FileLogWriter {
  let writer: FileLogWriter | undefined;
  const disk = makeDisk((event) => writer?.diskEvent(event));
  writer = make(disk);
  return writer;
}

function sessionBody(id: string, options: CreateOptions): SessionBody {
  const fields = [
    "cwd",
    "agent",
    "agentVersion",
    "agentSessionId",
    "link",
    "parentSession",
    "parentSessionId",
    "parentTurnId",
  ] as const;
  const given = fields.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]));
  const body = { kind: "session", id, ...Object.fromEntries(given) } as SessionBody;
  const problem = recordProblem({ ...body });
  if (problem !== undefined) throw new LogError("invalid-record", `the session was refused: ${problem}`);
  return body;
}

/**
 * Makes a session and returns its writer once the session record is on stable storage under its name. Where the disk refuses, the
 * writer comes all the same, with `status().problem` set and the listener told: it holds what is appended and makes the session when
 * that is possible. Rejects with `exists` and `bad-id`.
 */
export async function createLog(options: CreateOptions, ports: LogPorts = nodePorts): Promise<LogWriter> {
  const id = options.id ?? ports.randomId();
  const paths = sessionPaths(options.sessions, id);
  const session = sessionBody(id, options);
  if ((await factsOrRefusal(ports, paths.folder)) === "there")
    throw new LogError("exists", `there is a session ${id} already`, {
      next: "Open it for writing, or take another id.",
    });
  await sweepAbandoned(options.sessions, ports);
  const opened: OpenedState = { state: "new", tail: emptyState };
  const writer = connect(
    (tell) => LogDisk.fresh(ports, paths, tell),
    (disk) => new FileLogWriter(ports, disk, session, opened, options),
  );
  try {
    await writer.begin([session]);
  } catch (error) {
    await writer.close();
    throw error;
  }
  return writer;
}

/** A folder that cannot even be looked at is left to the writer, which goes on trying. */
async function factsOrRefusal(ports: LogPorts, path: string): Promise<"there" | "absent"> {
  try {
    return (await ports.files.facts(path)) === undefined ? "absent" : "there";
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return "absent";
  }
}

const abandonedMs = 60_000;

/** Takes away the beginnings of sessions whose makers died before they had a name. Failing to is no failure of anything. */
async function sweepAbandoned(sessions: string, ports: LogPorts): Promise<void> {
  try {
    if ((await ports.files.facts(sessions)) === undefined) return;
    for (const name of await ports.files.list(sessions)) {
      if (!name.startsWith(".new-")) continue;
      const folder = join(sessions, name);
      const facts = await ports.files.facts(folder);
      if (facts === undefined || Math.abs(ports.clock.now() - facts.modifiedMs) < abandonedMs) continue;
      const holder = await readLease(join(folder, "lease"), ports);
      if (holder.state === "free") await ports.files.removeFolder(folder);
    }
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

export interface OpenOptions extends WriterOptions {
  readonly sessions: string;
  readonly id: string;
  /** Takes the lease from whoever holds it, alive or not to be seen from here. Its writer stops at its next append. */
  readonly steal?: boolean;
}

/** The system's refusal, in words. */
function notWritable(id: string, code: string, error: unknown): LogError {
  return new LogError("not-writable", `session ${id} cannot be written: ${errnoWords(code)}`, {
    next: "It can still be read.",
    cause: error,
    details: { code },
  });
}

function damagedError(id: string, damage: readonly LogDamage[]): LogError {
  const first = damage[0];
  const where = first === undefined ? "" : `; first at bytes ${first.start}-${first.end} (${first.fault})`;
  return new LogError("damaged", `the log of session ${id} is damaged before its end${where}`, {
    next: `It can be read. \`hansard doctor ${id}\` says what is damaged and can repair it, keeping the original.`,
    details: { damage },
  });
}

function newerError(id: string, version: number): LogError {
  return new LogError(
    "newer",
    `the log of session ${id} was written by a newer Hansard (format ${version})`,
    {
      next: "It can be read. Update Hansard to go on with it.",
      details: { version },
    },
  );
}

/** Opens the log's file for appending; the file is untouched. */
async function openFileOf(paths: SessionPaths, ports: LogPorts): Promise<OpenFile> {
  try {
    const facts = await ports.files.facts(paths.log);
    if (facts === undefined)
      throw new LogError("not-found", `there is no session ${paths.id} in ${paths.sessions}`);
    if (facts.isFolder) throw new LogError("not-a-log", `${paths.log} is a folder`);
    return await ports.files.open(paths.log, "append");
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    throw notWritable(paths.id, code, error);
  }
}

/** Refuses what must not be written, before anything of the session is touched. */
async function refuseNewer(paths: SessionPaths, file: OpenFile): Promise<void> {
  const source = sourceOf(file);
  const head = await inspectHead(source, await source.size());
  if (!head.ok && head.verdict.state === "newer") throw newerError(paths.id, head.verdict.version);
}

async function lockFor(
  paths: SessionPaths,
  ports: LogPorts,
  steal: boolean,
): Promise<TakenLease & { readonly ok: true }> {
  const taken = await takeLease(paths.lease, ports, { steal });
  if (!taken.ok) throw busyError(paths.id, taken.holder);
  return taken;
}

/** Cuts what is no record from the end, or ends the last line, and syncs. */
async function mendEnd(
  paths: SessionPaths,
  ports: LogPorts,
  file: OpenFile,
  { verdict, tail }: Inspection,
): Promise<{ readonly end: number; readonly cut?: OpenedState["cut"] }> {
  if (verdict.state === "torn") {
    const keptAs = await keepBeside(ports.files, paths.log, file, verdict.start, verdict.end, "torn");
    await file.truncate(verdict.start);
    await syncAll(paths, ports, file);
    return { end: verdict.start, cut: { start: verdict.start, end: verdict.end, keptAs } };
  }
  if (verdict.state === "clean" && verdict.missesFeed) await writeWhole(file, Buffer.from("\n"));
  await syncAll(paths, ports, file);
  return { end: tail.end };
}

/** What an earlier process wrote and named and did not sync counts from here on as saved. */
async function syncAll(paths: SessionPaths, ports: LogPorts, file: OpenFile): Promise<void> {
  await file.sync();
  await ports.files.syncFolder(paths.folder);
  await ports.files.syncFolder(paths.sessions);
}

/** Why a log whose end was inspected cannot be written; undefined where it can. Errors: `damaged`, `newer`, `not-a-log`. */
export function writeRefusal(id: string, { verdict, session }: Inspection): LogError | undefined {
  if (verdict.state === "damaged") return damagedError(id, verdict.damage);
  if (verdict.state === "newer") return newerError(id, verdict.version);
  if (session === undefined) return new LogError("not-a-log", `the log of session ${id} is no session log`);
  if (session.id === id) return undefined;
  return new LogError("not-a-log", `the log in the folder ${id} is of session ${session.id}`, {
    next: "A session's folder must bear its id.",
  });
}

interface Ready {
  readonly file: OpenFile;
  readonly inode: string;
  readonly lease: Lease;
  readonly end: number;
  readonly session: SessionBody;
  readonly opened: OpenedState;
}

async function makeReady(paths: SessionPaths, ports: LogPorts, file: OpenFile, lease: Lease): Promise<Ready> {
  const { id } = paths;
  const inspection = await inspectEnd(sourceOf(file));
  const { session } = inspection;
  const refusal = writeRefusal(id, inspection);
  if (refusal !== undefined || session === undefined) throw refusal;
  const { end, cut } = await mendEnd(paths, ports, file, inspection);
  const tail: TailState = inspection.tail;
  const opened: OpenedState = {
    state: cut === undefined ? "clean" : "torn",
    ...(cut === undefined ? {} : { cut }),
    ...(tail.openTurn === undefined ? {} : { interruptedTurn: tail.openTurn.turn }),
    tail,
  };
  const { v: _v, seq: _seq, ts: _ts, synced: _synced, ...body } = session;
  return { file, inode: (await file.facts()).inode, lease, end, session: body, opened };
}

/**
 * Opens a session for writing: takes its lease, inspects its end, cuts a torn record (its bytes stay beside the log), and closes a turn
 * that was left open as interrupted by a crash, or as taken over where its owner still held it. What was written by then is on stable storage. Costs the same at any length of the log.
 * Rejects with `not-found`, `busy` (who writes it), `damaged` (the file is untouched), `newer`, `not-a-log`, `not-writable`.
 */
export async function openLogForWrite(options: OpenOptions, ports: LogPorts = nodePorts): Promise<LogWriter> {
  const paths = sessionPaths(options.sessions, options.id);
  const file = await openFileOf(paths, ports);
  let lease: Lease | undefined;
  try {
    await refuseNewer(paths, file);
    const taken = await lockFor(paths, ports, options.steal === true);
    ({ lease } = taken);
    const ready = await makeReady(paths, ports, file, lease);
    const writer = connect(
      (tell) => LogDisk.opened(ports, paths, tell, ready),
      (disk) => new FileLogWriter(ports, disk, ready.session, ready.opened, options),
    );
    const turn = ready.opened.interruptedTurn;
    await writer.begin(
      turn === undefined
        ? []
        : [{ kind: "turnInterrupted", turn, reason: taken.isTakenOver ? "taken-over" : "crash" } as never],
    );
    return writer;
  } catch (error) {
    await file.close();
    if (lease !== undefined) await releaseQuietly(lease);
    const code = errnoOf(error);
    throw code === undefined ? error : notWritable(options.id, code, error);
  }
}

/**
 * Waits until nobody who lives writes the session, then opens it for writing: within a second of its owner's end. Rejects as
 * `openLogForWrite` does (but for `busy`), and with the signal's reason.
 */
export async function takeOverLog(
  options: OpenOptions & { readonly signal?: AbortSignal },
  ports: LogPorts = nodePorts,
): Promise<LogWriter> {
  const paths = sessionPaths(options.sessions, options.id);
  for (;;) {
    await waitForLease(paths.lease, ports, options.signal);
    try {
      return await openLogForWrite(options, ports);
    } catch (error) {
      // Another one who waited was faster.
      if (!(error instanceof LogError) || error.code !== "busy") throw error;
      options.signal?.throwIfAborted();
    }
  }
}

/** Who writes a session now, without touching it: nobody, a process of this computer, or one that cannot be seen from here. */
export async function readHolder(
  options: { readonly sessions: string; readonly id: string },
  ports: LogPorts = nodePorts,
): Promise<LeaseHolder> {
  return await readLease(sessionPaths(options.sessions, options.id).lease, ports);
}
