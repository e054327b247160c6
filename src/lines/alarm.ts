/** When a follower looks again: the sweep is sure to come, a hint makes it sooner. */
import { basename, dirname } from "node:path";
import { hintPauseFirstMs, hintPauseMaxMs, sweepAloneMs, sweepFirstMs, sweepIdleMs } from "./limits.ts";
import type { FollowPorts, Watch } from "./ports.ts";

/**
 * The watchers and the one timer of a follower. Hints that keep meaning nothing are answered ever more slowly, so that a watcher that
 * fires on reads, or floods, costs a few looks a second.
 */
export class Alarm {
  readonly #path: string;
  readonly #ports: FollowPorts;
  #folder: Watch | undefined;
  #file: Watch | undefined;
  #failure: string | undefined;
  #isAlone = false;
  #isClosed = false;
  #isHinted = false;
  #wasHinted = false;
  #pauseMs = 0;
  #sweepMs: number = sweepFirstMs;
  #cancelTimer: (() => void) | undefined;
  #wake: (() => void) | undefined;

  constructor(path: string, ports: FollowPorts) {
    this.#path = path;
    this.#ports = ports;
  }

  /** Whether the last wait ended by a hint: only a write on this computer gives one, so what was written is in its memory. */
  get wasHinted(): boolean {
    return this.#wasHinted && !this.#isAlone;
  }

  /** Why the watcher does not work, once. */
  takeFailure(): string | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** Watches the folder, and the file that now has the name. */
  watch(): void {
    this.#file?.close();
    this.#file = this.#open(this.#path);
    this.#folder ??= this.#open(dirname(this.#path), basename(this.#path));
  }

  /** Ends when it is time to look again, or when closed. `changed` is what the last look found. */
  async wait(changed: boolean): Promise<void> {
    if (this.#isClosed) return;
    if (changed || !this.#wasHinted) this.#pauseMs = 0;
    else this.#pauseMs = Math.min(this.#pauseMs === 0 ? hintPauseFirstMs : this.#pauseMs * 2, hintPauseMaxMs);
    const longest = this.#isAlone ? sweepAloneMs : sweepIdleMs;
    this.#sweepMs = changed ? sweepFirstMs : Math.min(this.#sweepMs * 2, longest);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#arm(this.#isHinted ? Math.min(this.#pauseMs, this.#sweepMs) : this.#sweepMs);
    });
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#wake = undefined;
    // Hints that come during the look count for the next one.
    this.#wasHinted = this.#isHinted;
    this.#isHinted = false;
  }

  close(): void {
    this.#isClosed = true;
    this.#closeWatches();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#wake?.();
  }

  #closeWatches(): void {
    this.#file?.close();
    this.#folder?.close();
    this.#file = undefined;
    this.#folder = undefined;
  }

  #open(path: string, entry?: string): Watch | undefined {
    if (this.#isAlone || this.#isClosed) return undefined;
    try {
      const hint = (name: string | undefined): void => {
        if (entry === undefined || name === undefined || name === entry) this.#hint();
      };
      return this.#ports.watch(path, hint, (error) => this.#fail(error), entry);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      // Not there (yet) is no failure of the watcher: it is set up when the file comes.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.#fail(error);
      return undefined;
    }
  }

  #fail(error: Error): void {
    if (this.#isAlone) return;
    this.#isAlone = true;
    this.#failure = error.message;
    this.#closeWatches();
    this.#hint();
  }

  #hint(): void {
    if (this.#isHinted || this.#isClosed) return;
    this.#isHinted = true;
    if (this.#wake !== undefined) this.#arm(Math.min(this.#pauseMs, this.#sweepMs));
  }

  /** A change is told by both watchers: one look is for both hints. */
  #wakeSoon(): void {
    const { soon } = this.#ports;
    if (soon === undefined) this.#wake?.();
    else soon(() => this.#wake?.());
  }

  #arm(delayMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (delayMs === 0) this.#wakeSoon();
    else this.#cancelTimer = this.#ports.after(delayMs, () => this.#wake?.());
  }
}
