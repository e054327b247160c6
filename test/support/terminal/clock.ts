/** A clock that stands still until it is moved. */
import type { Clock } from "../../../src/terminal/port.ts";

interface Alarm {
  readonly at: number;
  readonly order: number;
  readonly call: () => void;
}

export interface VirtualClock extends Clock {
  /** Moves on by `ms`; alarms ring in order, and `between` is awaited after each. */
  advance(ms: number): Promise<void>;
  /** Moves on by `ms` at once; alarms that are due ring with the next advance. */
  jump(ms: number): void;
  /** Alarms that are set. */
  readonly pending: number;
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await Promise.resolve();
}

export function createVirtualClock(between: () => Promise<void> = settle): VirtualClock {
  let now = 0;
  let order = 0;
  const alarms = new Set<Alarm>();
  return {
    now: () => now,
    after(ms, call) {
      const alarm: Alarm = { at: now + Math.max(0, ms), order: order++, call };
      alarms.add(alarm);
      return () => void alarms.delete(alarm);
    },
    async advance(ms) {
      const end = now + ms;
      await between();
      for (;;) {
        const next = [...alarms]
          .filter((a) => a.at <= end)
          .sort((a, b) => a.at - b.at || a.order - b.order)[0];
        if (next === undefined) break;
        alarms.delete(next);
        now = Math.max(now, next.at);
        next.call();
        await between();
      }
      now = end;
    },
    jump(ms) {
      now += ms;
    },
    get pending() {
      return alarms.size;
    },
  };
}
