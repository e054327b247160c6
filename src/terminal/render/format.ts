/** Numbers as people read them, each with its unit. */

/** Writes a time of day; what zone and style is the maker's choice. */
export type TimeFormat = (timeMs: number) => string;

/** A 24-hour clock in a time zone, the computer's own where absent. A time that is no date gives "". */
export function createClock(timeZone?: string): TimeFormat {
  const format = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(timeZone === undefined ? {} : { timeZone }),
  });
  return (timeMs) => (Math.abs(timeMs) <= 8.64e15 ? format.format(timeMs) : "");
}

/** `0.1 s`, `12 s`, `3 min 4 s`, `2 h 5 min`. */
export function formatDuration(durationMs: number): string {
  if (!Number.isFinite(durationMs)) return "";
  const seconds = Math.max(0, durationMs) / 1000;
  if (seconds < 0.05) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** A running clock: `0:42`, `1:02:03`. */
export function formatElapsed(durationMs: number): string {
  const whole = Number.isFinite(durationMs) ? Math.max(0, Math.floor(durationMs / 1000)) : 0;
  const two = (value: number): string => String(value).padStart(2, "0");
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** Two digits at least: `4`, `1.2`, `61`. */
function shortened(value: number): string {
  return value < 9.95 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}

/** `812 B`, `4 kB`, `61 kB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes;
  let unit = -1;
  while (value >= 999.5 && unit < 4) {
    value /= 1000;
    unit += 1;
  }
  return `${shortened(value)} ${["kB", "MB", "GB", "TB", "PB"][unit]}`;
}

/** `812`, `1.2k`, `61k`, `1.3M`: a count of tokens without its unit. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_500) {
    const value = tokens / 1000;
    return `${shortened(value)}k`;
  }
  const value = tokens / 1_000_000;
  return `${shortened(value)}M`;
}

/** `1,204`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 line`, `42 lines`. */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}
