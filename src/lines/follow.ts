/** Following a log while other programs write it. */
import { Alarm } from "./alarm.ts";
import { type ResolvedLimits, resolveLimits } from "./limits.ts";
import { type FollowPorts, realPorts } from "./ports.ts";
import { FileError, type FileSource, type FileState } from "./source.ts";
import { type Step, Tail } from "./tail.ts";
import type { FollowEvent, LineLimits } from "./types.ts";

export interface FollowOptions {
  /** Where to begin: 0, or the end of an item given before. Default 0. */
  readonly from?: number;
  /** Ends the following: the iteration finishes, and files, watchers and timer are closed at once. */
  readonly signal: AbortSignal;
  readonly limits?: LineLimits;
  /** Default: this computer's files, watcher and timer. */
  readonly ports?: FollowPorts;
}

/**
 * All that a log holds after `from`, and then what is appended, for ever. Each event is given when the consumer asks for it: a slow
 * consumer holds the reading back, and memory stays at one read, one line and one split record. Watchers are a hint, a sweep of
 * `stat` is the truth. Rejects with a FileError where the path is no regular file, or cannot be read, at the start; a missing file is
 * waited for.
 *
 * An in-place rewrite is noticed by size, time and the bytes at the file's head and before the read offset; one that keeps all of
 * these is not.
 */
export async function* followFile(
  path: string,
  options: FollowOptions,
): AsyncGenerator<FollowEvent, void, undefined> {
  const follower = new Follower(path, options);
  yield* follower.events();
}

class Follower {
  readonly #path: string;
  readonly #limits: ResolvedLimits;
  readonly #signal: AbortSignal;
  readonly #ports: FollowPorts;
  readonly #alarm: Alarm;
  #from: number;
  #tail: Tail | undefined;
  /** What the file was like before the last reading. */
  #seen: FileState | undefined;
  #isGone = false;
  #isCaughtUp = false;
  #isFirstLook = true;

  constructor(path: string, options: FollowOptions) {
    this.#path = path;
    this.#limits = resolveLimits(options.limits);
    this.#signal = options.signal;
    this.#ports = options.ports ?? realPorts;
    this.#alarm = new Alarm(path, this.#ports);
    this.#from = options.from ?? 0;
  }

  async *events(): AsyncGenerator<FollowEvent, void, undefined> {
    const closeNow = (): void => {
      this.#alarm.close();
      this.#drop();
    };
    this.#signal.addEventListener("abort", closeNow, { once: true });
    try {
      if (!this.#signal.aborted) this.#alarm.watch();
      while (!this.#signal.aborted) {
        let isChanged = false;
        for await (const event of this.#look()) {
          isChanged = true;
          if (this.#signal.aborted) return;
          yield event;
        }
        const failure = this.#alarm.takeFailure();
        if (failure !== undefined) yield { type: "watcherFailed", message: failure };
        await this.#alarm.wait(isChanged);
      }
    } catch (error) {
      // A read that the abort cut off under its feet.
      if (!this.#signal.aborted) throw error;
    } finally {
      this.#signal.removeEventListener("abort", closeNow);
      closeNow();
    }
  }

  #drop(): void {
    const tail = this.#tail;
    this.#tail = undefined;
    this.#seen = undefined;
    // The file is only read: a failure to close it loses nothing.
    tail?.source.close().catch(() => undefined);
  }

  async *#look(): AsyncGenerator<FollowEvent, void, undefined> {
    const state = await this.#stat();
    if (this.#signal.aborted) return;
    if (state === undefined) {
      yield* this.#leave();
      return;
    }
    if (this.#tail !== undefined && state.identity !== this.#tail.identity) {
      yield* this.#restart("replaced");
    }
    if (this.#tail === undefined && !(yield* this.#enter())) return;
    yield* this.#readOn(state);
  }

  /** The state under the name. Only the first look fails for what is no readable file: later that is a file that went away. */
  async #stat(): Promise<FileState | undefined> {
    try {
      const { statNow } = this.#ports;
      return this.#alarm.wasHinted && statNow ? statNow(this.#path) : await this.#ports.stat(this.#path);
    } catch (error) {
      if (this.#isFirstLook || !(error instanceof FileError)) throw error;
      return undefined;
    }
  }

  /** The file lost its name: what was appended before that is read to its end. */
  async *#leave(): AsyncGenerator<FollowEvent, void, undefined> {
    this.#isFirstLook = false;
    if (this.#isGone) return;
    if (this.#tail !== undefined) {
      const size = await this.#tail.source.size();
      if (await this.#tail.isSame(size)) yield* this.#drain(this.#tail, size);
    }
    this.#drop();
    this.#isGone = true;
    this.#isCaughtUp = false;
    yield { type: "gone" };
  }

  async *#restart(
    reason: "truncated" | "replaced" | "returned",
  ): AsyncGenerator<FollowEvent, void, undefined> {
    this.#drop();
    this.#from = 0;
    this.#isCaughtUp = false;
    yield { type: "reset", reason };
  }

  /** Opens the file; false where it went away meanwhile. */
  async *#enter(): AsyncGenerator<FollowEvent, boolean, undefined> {
    let source: FileSource;
    try {
      source = await this.#ports.open(this.#path);
    } catch (error) {
      if (!(error instanceof FileError) || (this.#isFirstLook && error.code !== "not-found")) throw error;
      yield* this.#leave();
      return false;
    }
    const isReturn = this.#isGone;
    let tail: Tail;
    let isShort = false;
    try {
      const state = await source.state();
      isShort = state.size < this.#from;
      tail = await Tail.at(source, state, isShort || isReturn ? 0 : this.#from, this.#limits);
    } catch (error) {
      await source.close();
      throw error;
    }
    this.#tail = tail;
    if (this.#signal.aborted) {
      this.#drop();
      return false;
    }
    if (!this.#isFirstLook) this.#alarm.watch();
    this.#isFirstLook = false;
    this.#isGone = false;
    this.#from = 0;
    if (isReturn) yield { type: "reset", reason: "returned" };
    else if (isShort) yield { type: "reset", reason: "truncated" };
    return true;
  }

  /** Reads what is new, after making sure that it comes after what was read. */
  async *#readOn(state: FileState): AsyncGenerator<FollowEvent, void, undefined> {
    const tail = this.#tail;
    const seen = this.#seen;
    if (tail === undefined) return;
    if (
      seen !== undefined &&
      seen.size === state.size &&
      seen.modified === state.modified &&
      state.size <= tail.offset
    ) {
      return;
    }
    this.#seen = state;
    if (seen !== undefined) {
      const isShort = state.size < tail.offset;
      if (isShort || !(await tail.isSame(state.size, this.#alarm.wasHinted))) {
        yield* this.#restart(isShort ? "truncated" : "replaced");
        if (!(yield* this.#enter())) return;
        this.#seen = state;
      }
    }
    const current = this.#tail;
    if (current !== undefined) yield* this.#drain(current, state.size);
  }

  /** All that the file holds now. */
  async *#drain(tail: Tail, size: number): AsyncGenerator<FollowEvent, void, undefined> {
    for (let step = await tail.step(size); step !== undefined; step = await tail.step(size)) {
      this.#isCaughtUp = false;
      yield* this.#given(tail, step);
      if (this.#signal.aborted) return;
    }
    if (this.#isCaughtUp) return;
    yield* this.#given(tail, tail.early());
    this.#isCaughtUp = true;
    yield { type: "caughtUp", end: tail.end, partialBytes: Math.max(0, tail.offset - tail.end) };
  }

  *#given(tail: Tail, step: Step): Generator<FollowEvent, void, undefined> {
    if (step.resyncedAt !== undefined) yield { type: "resynced", from: tail.asked, start: step.resyncedAt };
    if (step.items.length > 0) yield { type: "items", items: step.items, end: tail.end };
  }
}
