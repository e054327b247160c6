/** The writer of a log: one queue, group commit, and patience with a disk that refuses. */

import { type Batch, batchOf, recordsIn, sizeOf, type Waiter } from "./batch.ts";
import { keepBeside } from "./beside.ts";
import { type BlobRef, putBlob } from "./blobs.ts";
import { sourceOf, writeWhole } from "./bytes.ts";
import { type DiskEvent, type LogDisk, LogTruncated } from "./disk.ts";
import { errnoOf, LogError } from "./errors.ts";
import { emptyState, type TailState } from "./fold.ts";
import { inspectEnd } from "./inspect.ts";
import {
  groupBytesMax,
  heldBytesMax,
  heldRecordsMax,
  inlineBytesMax,
  inlineTightBytesMax,
  retryFirstMs,
  retryMaxMs,
  unsyncedBytesMax,
} from "./limits.ts";
import {
  closingWords,
  diskNotice,
  leaseLostNotice,
  missedNotice,
  recoveredNotice,
  truncatedNotice,
  writeFailedNotice,
} from "./notices.ts";
import { nowOf } from "./now.ts";
import type { LogPorts, OpenFile } from "./ports.ts";
import { advancePlan, fillIn, moveOut, type Prepared, type TurnPlan } from "./prepare.ts";
import type { RecordSpec, SessionBody } from "./records.ts";
import { type StampedLine, Stamper } from "./stamper.ts";
import type {
  Appended,
  Closed,
  Durability,
  Flushed,
  LogListener,
  LogNotice,
  LogWriter,
  OpenedState,
  RecordPlace,
  WriteProblem,
  WriterOptions,
  WriterStatus,
} from "./writer-types.ts";

const turnEnds: ReadonlySet<string> = new Set(["turnCommitted", "turnInterrupted"]);

export class FileLogWriter implements LogWriter {
  readonly mode = "saved";
  readonly id: string;
  readonly path: string;
  readonly session: SessionBody;
  readonly opened: OpenedState;
  readonly #ports: LogPorts;
  readonly #disk: LogDisk;
  readonly #stamper: Stamper;
  readonly #durability: Durability;
  readonly #listener: LogListener;
  #plan: TurnPlan;
  #leaf: string | undefined;
  #queue: Batch[] = [];
  #queueBytes = 0;
  #queueRecords = 0;
  #waiters: Waiter[] = [];
  #writtenSeq: number;
  #savedSeq: number;
  /** Records below this number are to be synced. */
  #syncSeq = 0;
  #running: Promise<void> | undefined;
  #problem: WriteProblem | undefined;
  #retryMs = retryFirstMs;
  #callOffRetry: (() => void) | undefined;
  #missed = 0;
  #missedInAll = 0;
  /** The log is being closed on a disk that refuses. */
  #isLastTry = false;
  /** Payloads that the last try left out. */
  #blobsLost = 0;
  #lost: LogError | undefined;
  #bug: unknown;
  #closing: Promise<Closed> | undefined;

  /** @internal */
  constructor(
    ports: LogPorts,
    disk: LogDisk,
    session: SessionBody,
    opened: OpenedState,
    options: WriterOptions,
  ) {
    this.#ports = ports;
    this.#disk = disk;
    this.id = session.id;
    this.path = disk.paths.log;
    this.session = session;
    this.opened = opened;
    this.#stamper = new Stamper(opened.tail);
    this.#durability = options.durability ?? "turn";
    this.#listener = options.listener ?? {};
    this.#plan = { open: opened.tail.openTurn?.turn, turns: opened.tail.turns };
    this.#leaf = opened.tail.leafTurnId;
    this.#writtenSeq = opened.tail.seqNext;
    this.#savedSeq = opened.tail.seqNext;
  }

  get tail(): TailState {
    return this.#stamper.state;
  }

  append(specs: RecordSpec | readonly RecordSpec[]): Promise<Appended> {
    try {
      if (this.#closing !== undefined)
        throw new LogError("closed", `the log of session ${this.id} is closed`);
      this.#throwIfOver();
      return this.#take(Array.isArray(specs) ? (specs as readonly RecordSpec[]) : [specs as RecordSpec]);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #throwIfOver(): void {
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#bug !== undefined) throw this.#bug;
  }

  /** Checks, stamps and queues records: all of it at once, so that call order is log order. */
  #take(specs: readonly RecordSpec[]): Promise<Appended> {
    const nowMs = this.#now();
    let plan = this.#plan;
    let leafTurnId = this.#leaf;
    const bodies: { readonly kind: string }[] = [];
    for (const spec of specs) {
      const body = fillIn(spec, {
        nowMs,
        leafTurnId,
        plan,
        randomId: this.#ports.randomId,
      });
      bodies.push(body);
      plan = advancePlan(plan, body.kind);
      if (body.kind === "message") leafTurnId = (body as { readonly turnId?: string }).turnId;
    }
    if (bodies.length === 0) return Promise.resolve({ state: "written", places: [] });
    const { batch, places } = this.#stampAll(bodies, nowMs);
    this.#plan = plan;
    this.#leaf = leafTurnId;
    if (batch === undefined) {
      this.#miss(bodies.length);
      return Promise.resolve({ state: "missed", places: [] });
    }
    this.#enqueue(batch);
    return this.#await(batch, batch.needsSync).then((state) => ({ state, places }));
  }

  /** Stamps a batch; undefined where it would go above what may be held. On a refusal nothing has changed. */
  #stampAll(
    bodies: readonly { readonly kind: string }[],
    nowMs: number,
  ): { readonly batch: Batch | undefined; readonly places: readonly RecordPlace[] } {
    const before = this.#stamper.state;
    const lines: StampedLine[] = [];
    const blobs: { ref: BlobRef; bytes: Buffer }[] = [];
    const places: RecordPlace[] = [];
    let needsSync = this.#durability === "record";
    try {
      for (const body of bodies) {
        const { stamped, prepared } = this.#stampOne(body, nowMs);
        lines.push(...stamped);
        blobs.push(...prepared.blobs);
        needsSync ||= turnEnds.has(body.kind);
        const own = stamped.at(-1);
        if (own === undefined) throw new Error("a record without a line");
        places.push({
          seq: own.record.seq,
          start: own.start,
          end: own.end,
          ...(prepared.turnId === undefined ? {} : { turnId: prepared.turnId }),
        });
      }
    } catch (error) {
      this.#stamper.reset(before);
      throw error;
    }
    const batch = batchOf(lines, needsSync, blobs);
    const isTooMuch =
      this.#missed > 0 ||
      this.#queueBytes + sizeOf(batch) > heldBytesMax ||
      this.#queueRecords + batch.records > heldRecordsMax;
    // A queue that is empty takes anything: its limits are those of records and blobs.
    if (!isTooMuch || (this.#queue.length === 0 && this.#missed === 0)) return { batch, places };
    this.#stamper.reset(before);
    return { batch: undefined, places: [] };
  }

  #stamp(body: { readonly kind: string }, tsMs: number): readonly StampedLine[] {
    return this.#stamper.stamp(body, tsMs, this.#disk.syncedEnd);
  }

  #stampOne(
    body: { readonly kind: string },
    nowMs: number,
  ): { readonly stamped: readonly StampedLine[]; readonly prepared: Prepared } {
    const prepared = moveOut(body, inlineBytesMax);
    try {
      return { stamped: this.#stamp(prepared.body, nowMs), prepared };
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== "too-large") throw error;
      const tight = moveOut(body, inlineTightBytesMax);
      if (tight.blobs.length === prepared.blobs.length) throw error;
      return { stamped: this.#stamp(tight.body, nowMs), prepared: tight };
    }
  }

  #now(): number {
    return nowOf(this.#ports.clock);
  }

  #enqueue(batch: Batch): void {
    this.#queue.push(batch);
    this.#queueBytes += sizeOf(batch);
    this.#queueRecords += batch.records;
    if (batch.needsSync) this.#syncSeq = Math.max(this.#syncSeq, batch.seqEnd);
  }

  #await(batch: { readonly seqEnd: number }, isForSync: boolean): Promise<"saved" | "written" | "held"> {
    if (this.#problem !== undefined) return Promise.resolve("held");
    const settled = new Promise<"saved" | "written" | "held">((settle, fail) => {
      this.#waiters.push({ seqEnd: batch.seqEnd, isForSync, settle, fail });
    });
    this.#kick();
    return settled;
  }

  /** Starts the pump where it does not run. */
  #kick(): void {
    if (this.#running !== undefined || this.#problem !== undefined) return;
    this.#running = this.#pump();
  }

  get #hasWork(): boolean {
    return this.#queue.length > 0 || this.#syncSeq > this.#savedSeq;
  }

  async #pump(): Promise<void> {
    // All that is appended in this tick goes into the first group.
    await Promise.resolve();
    try {
      while (this.#hasWork && this.#lost === undefined) await this.#round();
    } catch (error) {
      this.#failed(error);
    }
    // In the same breath as the look for work: whoever finds the pump running may count on it.
    this.#running = undefined;
  }

  /** One group: its blobs, one write, and a sync where one is due. */
  async #round(): Promise<void> {
    await this.#guard();
    const group: Batch[] = [];
    let bytes = 0;
    for (const batch of this.#queue) {
      if (group.length > 0 && bytes + batch.bytes.length > groupBytesMax) break;
      group.push(batch);
      bytes += batch.bytes.length;
    }
    await this.#storeBlobs(group);
    const last = group.at(-1);
    if (last !== undefined) {
      await this.#disk.write(group.length === 1 ? last.bytes : Buffer.concat(group.map((b) => b.bytes)));
      this.#queue.splice(0, group.length);
      for (const batch of group) {
        this.#queueBytes -= sizeOf(batch);
        this.#queueRecords -= batch.records;
      }
      this.#writtenSeq = last.seqEnd;
    }
    if (this.#queue.length === 0) this.#tellMissed();
    // A session without a name is found by nobody: until then nothing of it counts as written.
    if (this.#disk.isPublished) this.#settle(this.#writtenSeq, false);
    const isSyncDue =
      this.#syncSeq > this.#savedSeq && (this.#syncSeq <= this.#writtenSeq || this.#queue.length === 0);
    if (!isSyncDue && this.#disk.unsyncedBytes < unsyncedBytesMax) return;
    await this.#disk.sync();
    if (this.#queue.length === 0) this.#syncSeq = Math.min(this.#syncSeq, this.#writtenSeq);
    this.#saved(this.#writtenSeq);
  }

  /**
   * Stores what the group's records name. Where the disk refuses one, the records before it are written all the same: `group` is cut to
   * them. At the last try of all, records are written without what they name, which is counted.
   */
  async #storeBlobs(group: Batch[]): Promise<void> {
    for (const [at, batch] of group.entries()) {
      for (const blob of batch.blobs) {
        try {
          await putBlob(this.#disk.paths.blobs, this.#ports, blob.bytes);
        } catch (error) {
          if (errnoOf(error) === undefined) throw error;
          if (this.#isLastTry) this.#blobsLost += 1;
          else if (at === 0) throw error;
          else {
            group.length = at;
            return;
          }
        }
      }
    }
  }

  /** The disk's guard, and what to do where the log was cut from outside. */
  async #guard(): Promise<void> {
    try {
      await this.#disk.guard();
    } catch (error) {
      if (!(error instanceof LogTruncated)) throw error;
      await this.#renumber();
    }
  }

  #saved(seqEnd: number): void {
    if (seqEnd <= this.#savedSeq) return;
    this.#savedSeq = seqEnd;
    this.#settle(seqEnd, true);
    this.#tell(() => this.#listener.saved?.(seqEnd));
  }

  #settle(seqEnd: number, isSynced: boolean): void {
    const rest: Waiter[] = [];
    for (const waiter of this.#waiters) {
      if (waiter.seqEnd > seqEnd || (waiter.isForSync && !isSynced)) rest.push(waiter);
      else waiter.settle(isSynced ? "saved" : "written");
    }
    this.#waiters = rest;
  }

  #failed(error: unknown): void {
    if (error instanceof LogError && error.code === "lease-lost") {
      this.#lose(error);
      return;
    }
    const code = errnoOf(error);
    if (code === undefined) {
      // Not the disk's fault: whoever waits learns of it, and so does every later append.
      this.#bug = error;
      this.#failWaiters(error);
      return;
    }
    this.#hold(code, error as Error);
  }

  #failWaiters(error: unknown): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.fail(error);
  }

  #lose(error: LogError): void {
    this.#lost = error;
    this.#callOffRetry?.();
    this.#failWaiters(error);
    this.#notice(leaseLostNotice(error));
  }

  /** The disk refuses: what is queued is held, and tried again. */
  #hold(code: string, error: Error): void {
    const isNew = this.#problem === undefined || this.#problem.code !== code;
    const since = this.#problem?.since ?? this.#now();
    this.#problem = { code, message: error.message, since };
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.settle("held");
    if (isNew) this.#notice(writeFailedNotice(code, this.path));
    this.#callOffRetry?.();
    this.#callOffRetry = this.#ports.clock.after(this.#retryMs, () => this.#retry());
    this.#retryMs = Math.min(this.#retryMs * 2, retryMaxMs);
  }

  #retry(): void {
    if (this.#lost !== undefined) return;
    if (this.#running !== undefined) {
      void this.#running.then(() => this.#retry());
      return;
    }
    this.#running = this.#attempt();
  }

  /** Tries to write all that is held, and syncs it. */
  async #attempt(): Promise<void> {
    await Promise.resolve();
    const before = this.#savedSeq;
    try {
      this.#syncSeq = Math.max(this.#syncSeq, this.#stamper.state.seqNext);
      while (this.#hasWork && this.#lost === undefined) await this.#round();
    } catch (error) {
      this.#failed(error);
      this.#running = undefined;
      return;
    }
    this.#running = undefined;
    if (this.#lost !== undefined) return;
    this.#problem = undefined;
    this.#retryMs = retryFirstMs;
    this.#callOffRetry?.();
    this.#callOffRetry = undefined;
    this.#notice(recoveredNotice(this.#savedSeq - before));
  }

  #miss(records: number): void {
    if (this.#missed === 0)
      this.#notice(missedNotice(this.#problem !== undefined, this.#queueRecords, this.#queueBytes));
    this.#missed += records;
    this.#missedInAll += records;
  }

  /** Says in the log what it does not hold. */
  #tellMissed(): void {
    if (this.#missed === 0) return;
    const missed = { kind: "missed", reason: "held-limit", records: this.#missed };
    this.#missed = 0;
    this.#enqueueOwn([missed, ...this.#aligning()]);
    this.#leaf = this.#stamper.state.leafTurnId;
  }

  /** The turn marks that make the log's turns fit the conversation's, after records were lost between them. */
  #aligning(): { readonly kind: string }[] {
    const bodies: { readonly kind: string; readonly turn: number; readonly reason?: string }[] = [];
    const { openTurn } = this.#stamper.state;
    if (openTurn?.turn === this.#plan.open) return bodies;
    if (openTurn !== undefined)
      bodies.push({ kind: "turnInterrupted", turn: openTurn.turn, reason: "missed" });
    if (this.#plan.open !== undefined) bodies.push({ kind: "turnStarted", turn: this.#plan.open });
    return bodies;
  }

  /** Queues the writer's own records. */
  #enqueueOwn(bodies: readonly { readonly kind: string }[]): Batch {
    const nowMs = this.#now();
    const lines = bodies.flatMap((body) => this.#stamp(body, nowMs));
    const batch = batchOf(lines, true, []);
    this.#enqueue(batch);
    return batch;
  }

  /**
   * The log was cut from outside, below what was on stable storage. What is left of it is the log now: it is taken up at its last good
   * record, says what it misses, and what was not written yet follows under new numbers.
   */
  async #renumber(): Promise<void> {
    const { file } = this.#disk;
    if (file === undefined) throw new Error("no file to renumber");
    const pending = [...this.#disk.unsynced, ...this.#queue.map((batch) => batch.bytes)].flatMap(recordsIn);
    const base = await this.#takeUp(file);
    const missing = Math.max(0, this.#savedSeq - base.seqNext);
    const blobs = this.#queue.flatMap((batch) => batch.blobs);
    this.#disk.resetTo(base.end);
    this.#stamper.reset(base);
    this.#queue = [];
    this.#queueBytes = 0;
    this.#queueRecords = 0;
    this.#writtenSeq = base.seqNext;
    this.#savedSeq = Math.min(this.#savedSeq, base.seqNext);
    // Numbers mean other records now: who waits for one is told that it is held, which is true.
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.settle("held");
    const truncated = { kind: "missed", reason: "truncated", records: missing };
    this.#enqueueOwn(base.end === 0 ? [this.session, truncated] : [truncated]);
    const rest = pending.filter((record) => record.kind !== "snapshot" && record.kind !== "session");
    if (rest.length > 0) {
      const lines = rest.flatMap((record) => this.#stamp(record, record.ts));
      this.#enqueue(batchOf(lines, true, blobs));
    }
    const aligning = this.#aligning();
    if (aligning.length > 0) this.#enqueueOwn(aligning);
    this.#leaf = this.#stamper.state.leafTurnId;
    this.#syncSeq = this.#stamper.state.seqNext;
    this.#notice(truncatedNotice(this.path, missing));
  }

  /** What is left of a log that was cut: its fold, with everything behind its last good record kept beside and taken out. */
  async #takeUp(file: OpenFile): Promise<TailState> {
    const { verdict, tail } = await inspectEnd(sourceOf(file));
    const isUsable = verdict.state === "clean" || verdict.state === "torn";
    const base = isUsable ? tail : emptyState;
    if (verdict.state === "clean" && verdict.missesFeed) await writeWhole(file, Buffer.from("\n"));
    const { size } = await file.facts();
    if (size > base.end) {
      await keepBeside(this.#ports.files, this.path, file, base.end, size, "torn");
      await file.truncate(base.end);
    }
    return base;
  }

  flush(): Promise<Flushed> {
    try {
      this.#throwIfOver();
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#barrier();
  }

  async #barrier(): Promise<Flushed> {
    const seqEnd = this.#stamper.state.seqNext;
    if (this.#problem === undefined && this.#savedSeq < seqEnd) {
      this.#syncSeq = Math.max(this.#syncSeq, seqEnd);
      await this.#await({ seqEnd }, true);
    }
    return {
      saved: this.#savedSeq >= seqEnd && this.#missed === 0,
      savedSeqEnd: this.#savedSeq,
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
    };
  }

  async putBlob(payload: Uint8Array | AsyncIterable<Uint8Array>): Promise<BlobRef> {
    this.#throwIfOver();
    return await putBlob(this.#disk.paths.blobs, this.#ports, payload);
  }

  status(): WriterStatus {
    const unsynced = this.#stamper.state.seqNext - this.#savedSeq;
    return {
      savedSeqEnd: this.#savedSeq,
      seqNext: this.#stamper.state.seqNext,
      heldRecords: this.#problem === undefined ? 0 : unsynced,
      heldBytes: this.#problem === undefined ? 0 : this.#queueBytes + this.#disk.unsyncedBytes,
      missedRecords: this.#missedInAll,
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
      isLost: this.#lost !== undefined,
    };
  }

  close(): Promise<Closed> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<Closed> {
    // The records of the closing itself are nobody's loss.
    const { seqNext } = this.#stamper.state;
    if (!this.#isOver) {
      const bodies: { readonly kind: string; readonly turn?: number; readonly reason?: string }[] = [];
      if (this.#plan.open !== undefined)
        bodies.push({ kind: "turnInterrupted", turn: this.#plan.open, reason: "closed" });
      bodies.push({ kind: "closed" });
      if (this.#missed === 0) this.#enqueueOwn(bodies);
      await this.#finishWriting();
    }
    this.#callOffRetry?.();
    const { problem, isLost, missedRecords } = this.status();
    const isPublished = this.#disk.isPublished;
    await this.#closeDisk();
    const unsavedRecords = Math.max(0, seqNext - this.#savedSeq) + missedRecords;
    const blobsLost = this.#blobsLost;
    const saved = unsavedRecords === 0 && blobsLost === 0 && !isLost && this.#bug === undefined;
    return {
      saved,
      unsavedRecords,
      ...(problem === undefined ? {} : { problem }),
      message: closingWords({ id: this.id, saved, unsavedRecords, blobsLost, isLost, isPublished, problem }),
    };
  }

  get #isOver(): boolean {
    return this.#lost !== undefined || this.#bug !== undefined;
  }

  /** Waits for what runs, then tries once more what was refused. Never rejects: what went wrong is in the fields. */
  async #finishWriting(): Promise<void> {
    await this.#running;
    if (this.#isOver) return;
    if (this.#problem === undefined) {
      this.#syncSeq = this.#stamper.state.seqNext;
      this.#kick();
      await this.#running;
    }
    for (const isLastTry of [false, true]) {
      if (this.#isOver || this.#problem === undefined) return;
      this.#isLastTry = isLastTry;
      this.#callOffRetry?.();
      this.#retry();
      await this.#running;
    }
  }

  async #closeDisk(): Promise<void> {
    try {
      await this.#disk.close();
    } catch (error) {
      // All that matters was synced or is told as unsaved; a descriptor that will not close ends with the process.
      if (errnoOf(error) === undefined) throw error;
    }
  }

  #notice(notice: LogNotice): void {
    this.#tell(() => this.#listener.notice?.(notice));
  }

  /** A listener that throws has a fault of its own: it must not look like one of the disk. */
  #tell(say: () => void): void {
    try {
      say();
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  /** @internal What the disk found and did. */
  diskEvent(event: DiskEvent): void {
    this.#notice(diskNotice(event, this.path));
  }

  /** @internal Queues records of the one who opens the log, and brings them to stable storage if that is possible. */
  async begin(bodies: readonly { readonly kind: string }[]): Promise<Flushed> {
    if (bodies.length > 0) {
      this.#enqueueOwn(bodies);
      for (const body of bodies) this.#plan = advancePlan(this.#plan, body.kind);
    }
    return await this.#barrier();
  }
}
