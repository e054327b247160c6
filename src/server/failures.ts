/** How often each client failed lately, in a bounded table. Pure but for the clock that is handed in. */
import { FAILURE_ADDRESSES_MAX, FAILURES_WINDOW_MS } from "./limits.ts";

interface Count {
  readonly since: number;
  failures: number;
}

export class Failures {
  readonly #now: () => number;
  readonly #failuresMax: number;
  readonly #addressesMax: number;
  /** In the order of their first failure within their window. */
  readonly #counts = new Map<string, Count>();

  constructor(now: () => number, failuresMax: number, addressesMax: number = FAILURE_ADDRESSES_MAX) {
    this.#now = now;
    this.#failuresMax = failuresMax;
    this.#addressesMax = addressesMax;
  }

  get size(): number {
    return this.#counts.size;
  }

  /** Milliseconds until a client may fail again; 0 where it may now. */
  blockedMs(address: string): number {
    const count = this.#counts.get(address);
    if (count === undefined) return 0;
    const left = count.since + FAILURES_WINDOW_MS - this.#now();
    if (left <= 0) {
      this.#counts.delete(address);
      return 0;
    }
    return count.failures >= this.#failuresMax ? left : 0;
  }

  fail(address: string): void {
    if (this.blockedMs(address) > 0) return;
    const count = this.#counts.get(address);
    if (count !== undefined) {
      count.failures += 1;
      return;
    }
    if (this.#counts.size >= this.#addressesMax) {
      const [oldest] = this.#counts.keys();
      if (oldest !== undefined) this.#counts.delete(oldest);
    }
    this.#counts.set(address, { since: this.#now(), failures: 1 });
  }
}
