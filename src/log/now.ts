/** The present, as records say it. */
import { clockMsMax } from "./limits.ts";
import type { Clock } from "./ports.ts";

/** Whole milliseconds since the epoch; 0 where the clock says what no record can: a time before the epoch, beyond year 9999, none. */
export function nowOf(clock: Clock): number {
  const now = Math.floor(clock.now());
  return Number.isSafeInteger(now) && now > 0 && now <= clockMsMax ? now : 0;
}
