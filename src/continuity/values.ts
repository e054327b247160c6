/** Guarded reading of values of which nothing is known. */

export type Fields = Readonly<Record<string, unknown>>;

/** The value's fields, or undefined where it is no object (an array is none). */
export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** Ids are non-empty strings. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

export function isNullableId(value: unknown): value is string | null {
  return value === null || isId(value);
}

/** A safe integer of at least `min` and at most `max`. */
export function isInteger(value: unknown, min = 0, max: number = Number.MAX_SAFE_INTEGER): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

const isoInstant = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|([+-])(\d\d):(\d\d))$/;

/**
 * Milliseconds since the epoch of an ISO 8601 instant, or undefined. An offset is required: without one the text names a different
 * instant on every computer, and a deadline hangs on it.
 */
export function parseInstant(text: unknown): number | undefined {
  const match = typeof text === "string" ? isoInstant.exec(text) : null;
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const millisecond = Math.floor(Number(`0.${match[7] ?? "0"}`) * 1000);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // A day that does not exist rolls over into the next month; an hour past 23 or a minute past 59 would roll the same way.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetHours = Number(match[10] ?? "0");
  const offsetMinutes = Number(match[11] ?? "0");
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;
  const sign = match[9] === "-" ? -1 : 1;
  date.setUTCHours(hour, minute, second, millisecond);
  return date.getTime() - sign * (offsetHours * 60 + offsetMinutes) * 60_000;
}
