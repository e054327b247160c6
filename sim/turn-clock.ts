/**
 * The time of a run: one millisecond a turn of the event loop. Nothing of a run waits for a real clock, and the server's own times (of
 * heartbeats, of clients that take nothing, of hubs that linger) go by in it as well.
 */
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../src/server/index.ts";

interface Timer {
  readonly at: number;
  readonly act: () => void;
}

export class TurnClock implements Clock {
  #now: number = Date.UTC(2026, 7, 10);
  #timers = new Set<Timer>();
  #isStopped = false;

  readonly now = (): number => this.#now;

  readonly after = (delayMs: number, act: () => void): (() => void) => {
    const timer = { at: this.#now + delayMs, act };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  };

  /** Resolves after the time, or as soon as `isEnough`, which is asked each millisecond. */
  wait(ms: number, isEnough: () => boolean = () => false): Promise<void> {
    const end = this.#now + ms;
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#isStopped || this.#now >= end || isEnough()) resolve();
        else this.after(1, look);
      };
      look();
    });
  }

  /** Lets the time go by until stopped. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      await turn();
      this.#now += 1;
      for (const timer of [...this.#timers]) {
        if (timer.at > this.#now) continue;
        this.#timers.delete(timer);
        timer.act();
      }
    }
  }

  stop(): void {
    this.#isStopped = true;
  }
}
