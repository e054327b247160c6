/** Strict reading of values that came over a wire: each reader gives what it names, or refuses by the field's name. Pure. */

export type WireFields = Readonly<Record<string, unknown>>;

/** Why a value was refused. */
export type RefusalCode =
  /** Something that must be an object, or a list, is none. */
  | "bad-shape"
  /** A field is missing or of another type. */
  | "bad-field"
  /** A word that names a kind, a state or a half is not one of ours. */
  | "unknown-word"
  /** The other side answered that it refuses. */
  | "refused";

export interface Refusal {
  readonly code: RefusalCode;
  /** Names the offender. */
  readonly message: string;
  /** Where it is, as `rows[3].blocks[0]`; "" for the value itself. */
  readonly at: string;
}

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

/** Carries a refusal up to `decoding`; never seen outside of a decoder. */
class RefusedValue extends Error {
  readonly code: RefusalCode;
  readonly path: readonly string[];

  constructor(code: RefusalCode, message: string, path: readonly string[] = []) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

/** Ends the decoding it is called in with a refusal. */
export function refuse(code: RefusalCode, message: string): never {
  throw new RefusedValue(code, message);
}

/** Runs a decoder made of the readers below: its value, or the first refusal. Any other error is a bug and passes. */
export function decoding<T>(decode: () => T): Decoded<T> {
  try {
    return { ok: true, value: decode() };
  } catch (error) {
    if (!(error instanceof RefusedValue)) throw error;
    const at = error.path.join("").replace(/^\./, "");
    return { ok: false, refusal: { code: error.code, message: error.message, at } };
  }
}

/** Adds where it is (`.blocks`, `[2]`) to a refusal of what is read inside. */
export function within<T>(step: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof RefusedValue)
      throw new RefusedValue(error.code, error.message, [step, ...error.path]);
    throw error;
  }
}

/** The value as an object; `what` names it in the refusal. */
export function readObject(value: unknown, what: string): WireFields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as WireFields;
  return refuse("bad-shape", `${what}: not an object`);
}

export function readString(fields: WireFields, key: string): string {
  const value = own(fields, key);
  return typeof value === "string" ? value : refuse("bad-field", `missing or non-string field "${key}"`);
}

export function readBoolean(fields: WireFields, key: string): boolean {
  const value = own(fields, key);
  return typeof value === "boolean" ? value : refuse("bad-field", `missing or non-boolean field "${key}"`);
}

/** A whole number from 0 up. Above 2^53 it is the nearest number that JavaScript has. */
export function readCount(fields: WireFields, key: string): number {
  const value = own(fields, key);
  return isCount(value) ? value : refuse("bad-field", `missing or non-count field "${key}"`);
}

/** The fields of an object that must be there. */
export function readFields(fields: WireFields, key: string): WireFields {
  const value = own(fields, key);
  if (value === undefined || value === null)
    return refuse("bad-field", `missing or non-object field "${key}"`);
  return readObject(value, `"${key}"`);
}

/** The members of a list that must be there, each read by `read`, which is told where it is. */
export function readList<T>(fields: WireFields, key: string, read: (value: unknown) => T): readonly T[] {
  const value = own(fields, key);
  if (!Array.isArray(value)) return refuse("bad-field", `missing or non-list field "${key}"`);
  return value.map((member: unknown, index) => within(`.${key}[${index}]`, () => read(member)));
}

/** One of the words; any other is refused by its name. */
export function readWord<const W extends string>(fields: WireFields, key: string, words: readonly W[]): W {
  const text = readString(fields, key);
  return (
    words.find((word) => word === text) ?? refuse("unknown-word", `unknown ${key} ${JSON.stringify(text)}`)
  );
}

/** A field that may be absent: `{}` where it is absent or null, else `{ [name]: value }`, read strictly. */
export function readOptional<K extends string, T>(
  fields: WireFields,
  key: string,
  name: K,
  read: (fields: WireFields, key: string) => T,
): { readonly [P in K]?: T } {
  const value = own(fields, key);
  if (value === undefined || value === null) return {};
  return { [name]: read(fields, key) } as { readonly [P in K]?: T };
}

/** Whole counters under names of their own. */
export function readCounters(fields: WireFields, key: string): Readonly<Record<string, number>> {
  const counters = Object.entries(readFields(fields, key));
  for (const [name, count] of counters)
    if (!isCount(count)) return refuse("bad-field", `${key} "${name}": not a count`);
  return Object.fromEntries(counters) as Record<string, number>;
}

/** A number, whole or not. */
export function readNumber(fields: WireFields, key: string): number {
  const value = own(fields, key);
  if (typeof value === "number" && Number.isFinite(value)) return value;
  return refuse("bad-field", `missing or non-number field "${key}"`);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

/** A field of the object itself: `toString` and its like are none. */
function own(fields: WireFields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

/**
 * JSON in one line with the keys of every object sorted by code unit and fields that are undefined left out: equal values have equal
 * texts. For values of our own making, which are shallow.
 */
export function wireText(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = value as WireFields;
  // Integer-like keys come first in any object; there are none among the names of fields, and counters of such names still agree.
  return Object.fromEntries(
    Object.keys(fields)
      .sort()
      .map((key) => [key, sorted(fields[key])]),
  );
}
