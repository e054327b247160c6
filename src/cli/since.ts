/** A point in time as people give it: a date, a date with a time, or how long ago. */
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";

const units: Readonly<Record<string, number>> = {
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Milliseconds since the epoch. A date without a time is its first moment here; `2h`, `3d` and `1w` are before `now`. */
export function parseSince(text: string, now: number): number {
  const ago = /^(\d{1,6})\s*(m|min|h|d|w)$/.exec(text.trim());
  const unit = units[ago?.[2] ?? ""];
  if (ago !== null && unit !== undefined) return now - Number(ago[1]) * unit;
  const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text.trim());
  const time =
    day === null
      ? /^\d{4}-\d\d-\d\d[T ]\d/.test(text.trim())
        ? Date.parse(text.trim())
        : Number.NaN
      : new Date(Number(day[1]), Number(day[2]) - 1, Number(day[3])).getTime();
  if (Number.isNaN(time))
    throw new CommandError(exitCodes.usage, `"${text}" is no time.`, [
      "Give a date (2026-03-01), a date and a time (2026-03-01T09:30), or how long ago (90m, 2h, 3d, 1w).",
    ]);
  return time;
}
