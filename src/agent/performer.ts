/**
 * Does what the fold wants, one thing after the other: records first, then tells. So what is told of a block is true of the log, and what
 * a page shows and what the changes say meet without a gap.
 */
import type { Appended, LogError, LogWriter, RecordPlace, RecordSpec } from "../log/index.ts";
import type { Change, DriverState, SessionInfo, TailPage } from "../session/index.ts";
import { Blocks, type EntryDraft, type LiveBlock } from "./blocks.ts";
import { ChangeHub } from "./change-hub.ts";
import type { Effect, WholeText } from "./effects.ts";
import { errnoOf } from "./errors.ts";
import { earlyMax } from "./limits.ts";
import type { StepWriter } from "./step-writer.ts";

type Notice = Change & { readonly type: "notice" };

export interface PerformerParts {
  readonly log: LogWriter;
  readonly info: SessionInfo;
  readonly state: DriverState;
  readonly steps?: StepWriter;
}

export class Performer {
  info: SessionInfo;
  state: DriverState;
  readonly #log: LogWriter;
  readonly #steps: StepWriter | undefined;
  readonly #blocks: Blocks;
  readonly #hub = new ChangeHub();
  readonly #after = new WeakMap<TailPage, number>();
  #work: Promise<unknown> = Promise.resolve();
  #pending = 0;
  /** What was said before anybody read, for whoever reads first. */
  #early: Notice[] | undefined = [];
  #recordedSeqEnd = 0;
  #finishedSeqEnd = 0;
  #savedTold = 0;
  #appended = 0;

  constructor({ log, info, state, steps }: PerformerParts) {
    this.#log = log;
    this.#steps = steps;
    this.info = info;
    this.state = state;
    this.#blocks = new Blocks(String(log.tail.end));
  }

  /** Pieces of work that are not done. */
  get pending(): number {
    return this.#pending;
  }

  /** Whether whoever reads the changes is far behind. */
  get isBehind(): boolean {
    return this.#hub.isBehind;
  }

  /** Resolves once they are not any more, or when `signal` aborts. */
  async caughtUp(signal: AbortSignal): Promise<void> {
    await this.#hub.caughtUp(signal);
  }

  /** Runs work behind all that was given before; what it throws is its caller's. */
  run<T>(work: () => Promise<T> | T): Promise<T> {
    this.#pending += 1;
    const result = this.#work.then(work).finally(() => {
      this.#pending -= 1;
    });
    this.#work = result.then(nothing, nothing);
    return result;
  }

  /** Resolves once all that was given is done. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** Does effects in order; resolves once they are done. */
  async perform(effects: readonly Effect[]): Promise<void> {
    if (effects.length === 0) return;
    await this.run(async () => {
      for (const effect of effects) await this.#do(effect);
      this.tellSaved();
    });
  }

  /** Changes the state behind all that was given before. */
  async setState(state: Partial<DriverState>): Promise<void> {
    await this.run(() => this.#setState(state));
  }

  /** Tells at once, not behind the work that may wait for the disk, that the log cannot be written, or (undefined) that it can again. */
  setNotSaved(words: string | undefined): void {
    const { notSaved: _before, ...rest } = this.state;
    this.state = rest;
    this.#setState(words === undefined ? {} : { notSaved: words });
  }

  /** The state after a turn. Part of a piece of work. */
  endTurn(state: Partial<DriverState>): void {
    const { turnStartedAt: _over, ...rest } = this.state;
    this.state = rest;
    this.#setState(state);
  }

  /** Everything before is on stable storage, or the log has said why not. */
  async flush(): Promise<void> {
    await this.run(async () => {
      await this.#log.flush();
    });
  }

  /** Appends records in order with all else; a draft, where one is given for a record, is shown as its block. */
  async append(specs: readonly RecordSpec[], drafts: readonly (EntryDraft | undefined)[]): Promise<Appended> {
    return await this.run(async () => {
      const appended = await this.#log.append(specs);
      this.#recordedSeqEnd = (appended.places.at(-1)?.seq ?? 0) + 1;
      for (const [index, draft] of drafts.entries()) {
        const place = appended.places[index];
        if (draft === undefined || place === undefined) continue;
        this.#appended += 1;
        const key = `+${this.#appended}`;
        this.#tell(this.#blocks.placed(key, { start: place.start, end: place.end, ordinal: 0 }));
        this.#tell(this.#blocks.finish(key, draft));
      }
      this.tellSaved();
      return appended;
    });
  }

  /** Tells a notice at once. */
  tellNotice(tone: Notice["tone"], text: string): void {
    const notice: Notice = { type: "notice", tone, text };
    if (this.#early === undefined) this.#hub.tell(notice);
    else if (this.#early.length < earlyMax) this.#early.push(notice);
  }

  /** Told once all that is finished is on stable storage. */
  tellSaved(): void {
    if (this.#log.mode === "unsaved") return;
    const seqEnd = this.#finishedSeqEnd;
    if (seqEnd <= this.#savedTold || this.#log.status().savedSeqEnd < seqEnd) return;
    this.#savedTold = seqEnd;
    this.#hub.tell({ type: "saved" });
  }

  /** A page that was read between two pieces of work, so that `changes` of it continue it. */
  async page(read: (live: readonly LiveBlock[]) => Promise<TailPage>): Promise<TailPage> {
    return await this.run(async () => {
      const page = await read(this.#blocks.live());
      this.#after.set(page, this.#hub.claim());
      const early = this.#early ?? [];
      this.#early = undefined;
      for (const { tone, text } of early) this.tellNotice(tone, text);
      return page;
    });
  }

  changes(after: TailPage, signal: AbortSignal): AsyncIterable<Change> {
    return this.#hub.from(this.#after.get(after) ?? this.#hub.claim(), signal);
  }

  /** Nothing comes any more: those who read changes are done. */
  close(): void {
    this.#hub.close();
  }

  async #do(effect: Effect): Promise<void> {
    switch (effect.type) {
      case "open":
        return this.#tell(this.#blocks.open(effect.key, effect.draft));
      case "change":
        return this.#tell(this.#blocks.change(effect.key, effect.draft));
      case "finish":
        return this.#tell(this.#blocks.finish(effect.key, effect.draft));
      case "record":
        return await this.#record(effect);
      case "turnEnded":
        this.tellSaved();
        return this.#hub.tell(effect);
      case "turnStarted":
      case "compacted":
        return this.#hub.tell(effect);
      case "title":
        this.info = { ...this.info, title: effect.title, titled: true };
        return this.#hub.tell({ type: "info", info: this.info });
      case "notice":
        return this.tellNotice(effect.tone, effect.text);
      case "state":
        return this.#setState(effect.state);
      case "step":
        return await this.#steps?.publish(effect.event);
    }
  }

  #tell(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#hub.tell(change);
      if (change.type === "blockFinished") this.#finishedSeqEnd = this.#recordedSeqEnd;
    }
  }

  #setState(state: Partial<DriverState>): void {
    this.state = { ...this.state, ...state };
    this.#hub.tell({ type: "driver", driver: this.state });
  }

  async #record(effect: Effect & { readonly type: "record" }): Promise<void> {
    const specs =
      effect.whole === undefined ? effect.specs : await this.#withWhole(effect.specs, effect.whole);
    let places: readonly RecordPlace[];
    try {
      places = (await this.#log.append(specs)).places;
    } catch (error) {
      if (!isLogError(error)) throw error;
      // A lost lease is told by the log itself.
      if (error.code === "invalid-record" || error.code === "too-large")
        this.tellNotice("error", `It is not in the log: ${error.message}.`);
      return;
    }
    this.#recordedSeqEnd = (places.at(-1)?.seq ?? 0) + 1;
    for (const { key, record, ordinal = 0 } of effect.blocks) {
      const place = places[record];
      if (place !== undefined)
        this.#tell(this.#blocks.placed(key, { start: place.start, end: place.end, ordinal }));
    }
  }

  /** Stores a long text whole and names it in its record. Where the disk refuses, only the start is kept, and that is said. */
  async #withWhole(
    specs: (Effect & { readonly type: "record" })["specs"],
    whole: WholeText,
  ): Promise<typeof specs> {
    try {
      const bytes = Buffer.from(whole.text, "utf8");
      const { sha256 } = await this.#log.putBlob(bytes);
      const attachment = { mediaType: "text/plain", bytes: bytes.length, name: "whole output", sha256 };
      return specs.map((spec, index) => {
        if (index !== whole.record || spec.kind !== "message") return spec;
        const payload = spec.payload as { readonly attachments?: readonly unknown[] };
        return {
          ...spec,
          payload: { ...payload, attachments: [...(payload.attachments ?? []), attachment] },
        };
      });
    } catch (error) {
      const code = errnoOf(error) ?? (isLogError(error) ? error.code : undefined);
      if (code === undefined) throw error;
      this.tellNotice("warning", `Only the start of a long output could be kept (${code}).`);
      return specs;
    }
  }
}

function nothing(): void {
  // The work's own promise tells how it went.
}

function isLogError(error: unknown): error is LogError {
  return error instanceof Error && error.name === "LogError";
}
