/** Values that are opened once for all who need them, and kept a while after the last has gone: the hubs. */
import { HUB_LINGER_MS, HUBS_MAX } from "./limits.ts";
import type { Clock } from "./types.ts";

/** A value that is held open until released, once. */
export interface Held<T> {
  readonly value: T;
  release(): void;
}

export interface SharedOptions<T> {
  readonly close: (value: T) => Promise<void>;
  /** Whether a value has run its course: who comes then gets a new one. */
  readonly isSpent: (value: T) => boolean;
  readonly clock: Clock;
  /** Most values at once. */
  readonly countMax?: number;
}

interface Kept<T> {
  readonly value: Promise<T>;
  holders: number;
  cancelLinger: (() => void) | undefined;
}

export class Shared<T> {
  readonly #options: SharedOptions<T>;
  readonly #kept = new Map<string, Kept<T>>();
  readonly #closing = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: SharedOptions<T>) {
    this.#options = options;
  }

  get count(): number {
    return this.#kept.size;
  }

  /**
   * The value under a name, opened with `open` where none runs. Undefined where as many as may be are held, or all are closed. Rejects as `open` does, and
   * then the next one who asks tries anew.
   */
  async hold(name: string, open: () => Promise<T>): Promise<Held<T> | undefined> {
    if (this.#isClosed) return undefined;
    let kept = this.#kept.get(name);
    const isNew = kept === undefined;
    if (kept === undefined) {
      if (this.#kept.size >= (this.#options.countMax ?? HUBS_MAX) && !this.#dropLingering()) return undefined;
      kept = { value: open(), holders: 0, cancelLinger: undefined };
      this.#kept.set(name, kept);
    }
    kept.holders += 1;
    kept.cancelLinger?.();
    kept.cancelLinger = undefined;
    const mine = kept;
    let value: T;
    try {
      value = await mine.value;
    } catch (error) {
      if (this.#kept.get(name) === mine) this.#kept.delete(name);
      throw error;
    }
    // One that ran its course while it was opened is given as it is: a further one would fare no better.
    if (!isNew && this.#options.isSpent(value)) {
      // It is left to those that still hold it.
      if (this.#kept.get(name) === mine) this.#kept.delete(name);
      this.#release(name, mine);
      return this.hold(name, open);
    }
    let isReleased = false;
    return {
      value,
      release: () => {
        if (!isReleased) this.#release(name, mine);
        isReleased = true;
      },
    };
  }

  /** Closes all, and opens no more; resolves once they are closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [name, kept] of [...this.#kept]) this.#drop(name, kept);
    await Promise.all(this.#closing);
  }

  #release(name: string, kept: Kept<T>): void {
    kept.holders -= 1;
    if (kept.holders > 0) return;
    if (this.#kept.get(name) !== kept) {
      this.#drop(name, kept);
      return;
    }
    kept.cancelLinger = this.#options.clock.after(HUB_LINGER_MS, () => this.#drop(name, kept));
  }

  /** Makes room: closes the one that has been without a holder longest. */
  #dropLingering(): boolean {
    for (const [name, kept] of this.#kept) {
      if (kept.holders > 0) continue;
      this.#drop(name, kept);
      return true;
    }
    return false;
  }

  #drop(name: string, kept: Kept<T>): void {
    kept.cancelLinger?.();
    if (this.#kept.get(name) === kept) this.#kept.delete(name);
    // One that could not be opened was told to whoever asked for it.
    const closing = kept.value.then(
      (value) => this.#options.close(value),
      () => undefined,
    );
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}
