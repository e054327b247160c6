/**
 * The log's file under a writer: appends whole groups, syncs, and sees to it before each write that the file is still the one it was
 * left as. Errors of the system are thrown as they are; what they leave behind is put right by the next `guard`.
 */
import { dirname, join } from "node:path";
import { keepBeside } from "./beside.ts";
import { copyRange, writeWhole } from "./bytes.ts";
import { errnoOf, LogError } from "./errors.ts";
import { ensureFolder, type Lease, releaseQuietly, takeLease } from "./lease.ts";
import { pathsIn, type SessionPaths } from "./paths.ts";
import type { LogPorts, OpenFile } from "./ports.ts";

/** What happened to the file from outside, and what was done. */
export type DiskEvent =
  | { readonly type: "removed" }
  | { readonly type: "replaced"; readonly keptAs: string }
  | { readonly type: "foreign"; readonly start: number; readonly bytes: number; readonly keptAs: string };

/** The file lost bytes that were on stable storage: only its reader can say what is left. */
export class LogTruncated extends Error {
  constructor() {
    super("the log was cut by another program");
    this.name = "LogTruncated";
  }
}

function errno(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

interface Held {
  readonly file: OpenFile;
  readonly inode: string;
}

export class LogDisk {
  readonly #ports: LogPorts;
  readonly #tell: (event: DiskEvent) => void;
  /** Where the session lies now: before it is published, in a folder of another name. */
  #paths: SessionPaths;
  readonly #target: SessionPaths;
  #held: Held | undefined;
  #lease: Lease | undefined;
  #isPublished: boolean;
  /** The folder's name is on stable storage. */
  #isNameSafe: boolean;
  #end: number;
  #syncedEnd: number;
  /** The bytes of `[syncedEnd, end)`, for a disk that fails a sync and then forgets them. */
  #unsynced: Buffer[] = [];
  #unsyncedBytes = 0;
  /** A sync failed: what was not synced has to be written again. */
  #mustRewrite = false;
  /** What a write that failed was writing: a part of it may lie behind the end. */
  #attempted: Buffer | undefined;

  private constructor(
    ports: LogPorts,
    target: SessionPaths,
    tell: (event: DiskEvent) => void,
    from?: { readonly held: Held; readonly lease: Lease; readonly end: number },
  ) {
    this.#ports = ports;
    this.#target = target;
    this.#paths = target;
    this.#tell = tell;
    this.#held = from?.held;
    this.#lease = from?.lease;
    this.#end = from?.end ?? 0;
    this.#syncedEnd = this.#end;
    this.#isPublished = from !== undefined;
    this.#isNameSafe = this.#isPublished;
  }

  /** A session that does not exist yet. Nothing is touched before the first `guard`; it appears, whole, with the first `sync`. */
  static fresh(ports: LogPorts, paths: SessionPaths, tell: (event: DiskEvent) => void): LogDisk {
    return new LogDisk(ports, paths, tell);
  }

  /** A log that was opened for appending and ends, clean and synced, at `end`. */
  static opened(
    ports: LogPorts,
    paths: SessionPaths,
    tell: (event: DiskEvent) => void,
    from: { readonly file: OpenFile; readonly inode: string; readonly lease: Lease; readonly end: number },
  ): LogDisk {
    return new LogDisk(ports, paths, tell, {
      held: { file: from.file, inode: from.inode },
      lease: from.lease,
      end: from.end,
    });
  }

  get end(): number {
    return this.#end;
  }
  /** Bytes that are on stable storage. */
  get syncedEnd(): number {
    return this.#syncedEnd;
  }
  get unsyncedBytes(): number {
    return this.#unsyncedBytes;
  }
  get isPublished(): boolean {
    return this.#isPublished;
  }
  get file(): OpenFile | undefined {
    return this.#held?.file;
  }
  get paths(): SessionPaths {
    return this.#paths;
  }
  /** What was written and not synced. */
  get unsynced(): readonly Buffer[] {
    return this.#unsynced;
  }

  /**
   * Makes sure that the lease is held and that the file at the log's path is the one that was left, and puts right what is not. Throws
   * `lease-lost`, `LogTruncated`, or the system's error; then nothing may be written.
   */
  async guard(): Promise<void> {
    if (this.#held === undefined) await this.#begin();
    const held = this.#held as Held | undefined;
    const lease = this.#lease;
    if (held === undefined || lease === undefined) throw new Error("a log without a file");
    const [facts, standing] = await Promise.all([this.#ports.files.facts(this.#paths.log), lease.check()]);
    if (standing === "lost") throw leaseLost(this.#target.id);
    const isAsLeft = facts?.inode === held.inode && facts.size === this.#end;
    if (isAsLeft && standing === "held" && !this.#mustRewrite) return;
    await this.#putRight(held, lease, standing === "gone");
  }

  async #putRight(held: Held, lease: Lease, isLeaseGone: boolean): Promise<void> {
    const { files } = this.#ports;
    const folder = await files.facts(this.#paths.folder);
    if (folder === undefined) {
      await this.#rebuildFolder(held, lease);
      return;
    }
    if (isLeaseGone && (await lease.restore()) !== "held") throw leaseLost(this.#target.id);
    const facts = await files.facts(this.#paths.log);
    if (facts === undefined || facts.inode !== held.inode) {
      await this.#rebuildFile(held, facts !== undefined);
      return;
    }
    // Only the one who may write may cut: asked for again, because time has passed.
    if ((await lease.check()) === "lost") throw leaseLost(this.#target.id);
    if (facts.size > this.#end) await this.#cutExcess(held.file, facts.size);
    if (facts.size < this.#end) await this.#refill(held.file, facts.size);
    if (this.#mustRewrite) await this.#rewrite(held);
  }

  /** Makes the folder of a new session under a name that no listing shows, with its file and its lease. */
  async #begin(): Promise<void> {
    const { files, randomId } = this.#ports;
    const { id, sessions } = this.#target;
    await ensureSafeFolders(this.#ports, sessions);
    const folder = join(sessions, `.new-${id}-${randomId()}`);
    const paths = pathsIn(sessions, id, folder);
    await files.makeFolder(folder);
    let file: OpenFile | undefined;
    try {
      const taken = await takeLease(paths.lease, this.#ports);
      if (!taken.ok) throw new Error("a folder that nobody knows has a lease");
      file = await files.open(paths.log, "create");
      this.#held = { file, inode: (await file.facts()).inode };
      this.#lease = taken.lease;
      this.#paths = paths;
    } catch (error) {
      await file?.close();
      await this.#discard(folder);
      throw error;
    }
  }

  /** Gives the new session its name. */
  async #publish(): Promise<void> {
    const { files } = this.#ports;
    if (this.#isPublished) await files.syncFolder(this.#target.folder);
    else await this.#name();
    await files.syncFolder(this.#target.sessions);
    this.#isNameSafe = true;
  }

  async #name(): Promise<void> {
    const { files } = this.#ports;
    if ((await files.facts(this.#target.folder)) !== undefined) throw existsError(this.#target.id);
    try {
      await files.syncFolder(this.#paths.folder);
      await files.rename(this.#paths.folder, this.#target.folder);
    } catch (error) {
      const code = errnoOf(error);
      if (code === "ENOTEMPTY" || code === "EEXIST" || code === "ENOTDIR") throw existsError(this.#target.id);
      throw error;
    }
    this.#paths = this.#target;
    this.#lease?.moveTo(this.#target.lease);
    this.#isPublished = true;
  }

  /** Writes the log anew, whole, from the file that lost its name. */
  async #rebuildFolder(held: Held, lease: Lease): Promise<void> {
    const { files, randomId } = this.#ports;
    const { id, sessions } = this.#target;
    // The folder above is not made again: where a disk is not mounted any more, the place under it is not ours.
    if ((await files.facts(sessions)) === undefined) throw errno("ENOENT", `${sessions} is gone`);
    const folder = join(sessions, `.back-${id}-${randomId()}`);
    const paths = pathsIn(sessions, id, folder);
    await files.makeFolder(folder);
    let made: Held | undefined;
    try {
      made = await this.#copyInto(held.file, paths.log);
      lease.moveTo(paths.lease);
      await lease.restore();
      await files.syncFolder(folder);
      await files.rename(folder, this.#paths.folder);
    } catch (error) {
      await made?.file.close();
      await this.#discard(folder);
      throw error;
    } finally {
      lease.moveTo(this.#paths.lease);
    }
    await this.#adopt(made);
    this.#isNameSafe = false;
    await files.syncFolder(sessions);
    this.#isNameSafe = this.#isPublished;
    if (this.#isPublished) this.#tell({ type: "removed" });
  }

  async #rebuildFile(held: Held, isReplaced: boolean): Promise<void> {
    const { files, randomId } = this.#ports;
    const path = this.#paths.log;
    const temporary = `${path}.${randomId()}.tmp`;
    const made = await this.#copyInto(held.file, temporary);
    let keptAs: string | undefined;
    try {
      if (isReplaced) {
        keptAs = `${path}.replaced-${randomId()}`;
        await files.rename(path, keptAs);
      }
      await files.link(temporary, path);
    } catch (error) {
      await made.file.close();
      throw error;
    } finally {
      await files.remove(temporary);
    }
    await this.#adopt(made);
    this.#isNameSafe = false;
    await files.syncFolder(dirname(path));
    this.#isNameSafe = this.#isPublished;
    this.#tell(keptAs === undefined ? { type: "removed" } : { type: "replaced", keptAs });
  }

  async #copyInto(from: OpenFile, path: string): Promise<Held> {
    const file = await this.#ports.files.open(path, "create");
    try {
      if (!(await copyRange(from, file, 0, this.#end))) throw new LogTruncated();
      await file.sync();
      return { file, inode: (await file.facts()).inode };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async #adopt(made: Held): Promise<void> {
    const old = this.#held;
    this.#held = made;
    this.#mustRewrite = false;
    this.#attempted = undefined;
    this.#markSynced();
    await old?.file.close();
  }

  /** Bytes behind the end: the rest of a write that failed, or another program's, which are kept. */
  async #cutExcess(file: OpenFile, size: number): Promise<void> {
    const start = this.#end;
    if (!(await this.#isOwnRest(file, size))) {
      const keptAs = await keepBeside(this.#ports.files, this.#paths.log, file, start, size, "foreign");
      this.#tell({ type: "foreign", start, bytes: size - start, keptAs });
    }
    await file.truncate(start);
    this.#attempted = undefined;
  }

  async #isOwnRest(file: OpenFile, size: number): Promise<boolean> {
    const length = size - this.#end;
    if (this.#attempted === undefined || length > this.#attempted.length) return false;
    const bytes = Buffer.alloc(length);
    const got = await file.read(bytes, this.#end);
    return got === length && bytes.equals(this.#attempted.subarray(0, length));
  }

  async #refill(file: OpenFile, size: number): Promise<void> {
    if (size < this.#syncedEnd) throw new LogTruncated();
    await file.truncate(this.#syncedEnd);
    await writeWhole(file, Buffer.concat(this.#unsynced));
  }

  /** After a failed sync the system may have dropped the pages as if they were written: they are written once more, in place. */
  async #rewrite(held: Held): Promise<void> {
    const file = await this.#ports.files.open(this.#paths.log, "patch");
    try {
      if ((await file.facts()).inode !== held.inode) throw errno("EIO", "the log was replaced");
      await writeWhole(file, Buffer.concat(this.#unsynced), this.#syncedEnd);
      await file.sync();
    } finally {
      await file.close();
    }
    this.#mustRewrite = false;
  }

  /** Appends a group in one write, after a `guard`. The bytes are kept until they are synced. */
  async write(bytes: Buffer): Promise<void> {
    const held = this.#held;
    const lease = this.#lease;
    if (held === undefined || lease === undefined) throw new Error("write before guard");
    this.#attempted = bytes;
    await writeWhole(held.file, bytes);
    const [facts, standing] = await Promise.all([held.file.facts(), lease.check()]);
    if (standing === "lost") throw leaseLost(this.#target.id);
    // Somebody appended between the guard and the write: ours does not lie where it is said to lie.
    if (facts.size !== this.#end + bytes.length) throw errno("EIO", "another program wrote into the log");
    this.#attempted = undefined;
    this.#end += bytes.length;
    this.#unsynced.push(bytes);
    this.#unsyncedBytes += bytes.length;
  }

  /** Brings all that was written to stable storage; a new session keeps its provisional name. */
  async syncData(): Promise<void> {
    const held = this.#held;
    if (held === undefined) throw new Error("sync before guard");
    try {
      await held.file.sync();
    } catch (error) {
      this.#mustRewrite = true;
      throw error;
    }
    this.#markSynced();
  }

  /** Brings all that was written, and the session's name, to stable storage; a new session gets its name then. */
  async sync(): Promise<void> {
    await this.syncData();
    if (!this.#isNameSafe) await this.#publish();
  }

  #markSynced(): void {
    this.#syncedEnd = this.#end;
    this.#unsynced = [];
    this.#unsyncedBytes = 0;
  }

  /** Goes on behind another end, after the file was cut from outside. */
  resetTo(end: number): void {
    this.#end = end;
    this.#attempted = undefined;
    this.#mustRewrite = false;
    this.#markSynced();
  }

  /** Gives the lease back and closes the file. A new session that never got its name is taken away again. */
  async close(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    try {
      if (this.#lease !== undefined && this.#isPublished) await releaseQuietly(this.#lease);
    } finally {
      await held?.file.close();
      if (held !== undefined && !this.#isPublished) await this.#discard(this.#paths.folder);
    }
  }

  async #discard(folder: string): Promise<void> {
    try {
      await this.#ports.files.removeFolder(folder);
    } catch (error) {
      // It bears no session's name: no listing shows it.
      if (errnoOf(error) === undefined) throw error;
    }
  }
}

function leaseLost(id: string): LogError {
  return new LogError("lease-lost", `another process has taken over the writing of session ${id}`, {
    next: "What it writes can be followed; this process writes no more of it.",
  });
}

function existsError(id: string): LogError {
  return new LogError("exists", `there is a session ${id} already`, {
    next: "Open it for writing, or take another id.",
  });
}

/** Makes a folder and those above it, each for its owner only. */
async function ensureFolders(ports: LogPorts, path: string): Promise<void> {
  // A link to a folder is a folder to whoever set it up; what is none fails by itself in a moment.
  if ((await ports.files.facts(path)) !== undefined) return;
  const above = dirname(path);
  if (above !== path) await ensureFolders(ports, above);
  await ensureFolder(ports.files, path);
  await ports.files.syncFolder(above);
}

/** Makes the folder of the sessions, with its name and that of the state folder on stable storage. */
async function ensureSafeFolders(ports: LogPorts, sessions: string): Promise<void> {
  await ensureFolders(ports, sessions);
  const state = dirname(sessions);
  // Also where they were there: whoever made them may have died before their names were safe.
  for (const folder of [state, dirname(state)]) {
    try {
      await ports.files.syncFolder(folder);
    } catch (error) {
      const code = errnoOf(error);
      // A folder that we may not even read is not one that we made.
      if (code !== "EACCES" && code !== "EPERM") throw error;
    }
  }
}
