/** The hubs that run: at most one a session and kind, opened when the first client comes and kept a while after the last has gone. */
import type { Hub } from "./lane.ts";
import { HUB_LINGER_MS, HUBS_MAX } from "./limits.ts";
import type { Clock } from "./types.ts";

/** A hub that is held open until released, once. */
export interface HeldHub {
  readonly hub: Hub;
  release(): void;
}

interface Kept {
  readonly hub: Promise<Hub>;
  holders: number;
  cancelLinger: (() => void) | undefined;
}

export class Hubs {
  readonly #clock: Clock;
  readonly #hubsMax: number;
  readonly #kept = new Map<string, Kept>();
  readonly #closing = new Set<Promise<void>>();

  constructor(clock: Clock, hubsMax: number = HUBS_MAX) {
    this.#clock = clock;
    this.#hubsMax = hubsMax;
  }

  get count(): number {
    return this.#kept.size;
  }

  /**
   * The hub under a name, opened with `open` where none runs. Undefined where as many as may be are held. Rejects as `open` does, and
   * then the next one who asks tries anew.
   */
  async hold(name: string, open: () => Promise<Hub>): Promise<HeldHub | undefined> {
    let kept = this.#kept.get(name);
    if (kept === undefined) {
      if (this.#kept.size >= this.#hubsMax && !this.#dropLingering()) return undefined;
      kept = { hub: open(), holders: 0, cancelLinger: undefined };
      this.#kept.set(name, kept);
    }
    kept.holders += 1;
    kept.cancelLinger?.();
    kept.cancelLinger = undefined;
    const mine = kept;
    let hub: Hub;
    try {
      hub = await mine.hub;
    } catch (error) {
      if (this.#kept.get(name) === mine) this.#kept.delete(name);
      throw error;
    }
    // An ended lane is left to those that still read it; who comes now gets a new one.
    if (hub.lane.isOver && this.#kept.get(name) === mine) this.#kept.delete(name);
    if (hub.lane.isOver) {
      this.#release(name, mine);
      return this.hold(name, open);
    }
    let isReleased = false;
    return {
      hub,
      release: () => {
        if (!isReleased) this.#release(name, mine);
        isReleased = true;
      },
    };
  }

  /** Closes all hubs; resolves once they are. */
  async close(): Promise<void> {
    for (const [name, kept] of [...this.#kept]) this.#drop(name, kept);
    await Promise.all(this.#closing);
  }

  #release(name: string, kept: Kept): void {
    kept.holders -= 1;
    if (kept.holders > 0) return;
    if (this.#kept.get(name) !== kept) {
      this.#drop(name, kept);
      return;
    }
    kept.cancelLinger = this.#clock.after(HUB_LINGER_MS, () => this.#drop(name, kept));
  }

  /** Makes room: closes the hub that has been without a holder longest. */
  #dropLingering(): boolean {
    for (const [name, kept] of this.#kept) {
      if (kept.holders > 0) continue;
      this.#drop(name, kept);
      return true;
    }
    return false;
  }

  #drop(name: string, kept: Kept): void {
    kept.cancelLinger?.();
    if (this.#kept.get(name) === kept) this.#kept.delete(name);
    // A hub that could not be opened was told to whoever asked for it.
    const closing = kept.hub.then(
      (hub) => hub.close(),
      () => undefined,
    );
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}
