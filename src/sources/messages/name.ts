/** The names of message files: `NNN-<origin>.<ext>`. */
import { compareText } from "../order.ts";

/** The reserved origin of a tool's result. */
export const TOOL_ORIGIN = "tool";

export interface MessageName {
  /** The counter; absent where it is too large to count with. */
  readonly seq: number | undefined;
  readonly origin: string;
  readonly extension: string;
}

/** What a file's name says: cut at the last dot, then at the first hyphen. Absent where it is no message's name. */
export function parseMessageName(name: string): MessageName | undefined {
  const dot = name.lastIndexOf(".");
  if (dot === -1) return undefined;
  const stem = name.slice(0, dot);
  const hyphen = stem.indexOf("-");
  if (hyphen === -1) return undefined;
  const digits = stem.slice(0, hyphen);
  const origin = stem.slice(hyphen + 1);
  if (!/^[0-9]+$/.test(digits) || origin === "") return undefined;
  const seq = Number(digits);
  return { seq: Number.isSafeInteger(seq) ? seq : undefined, origin, extension: name.slice(dot + 1) };
}

/** The counter of a message file's name; absent where it has none. */
export function seqOf(name: string): number | undefined {
  return parseMessageName(name)?.seq;
}

/**
 * The names in the order of the conversation: messages by counter, then name. (By name alone, `1000-x` would come before `101-x`; the two
 * orders agree up to 999.) Other names keep the place that their spelling gives them among the messages.
 */
export function orderNames(names: readonly string[]): readonly string[] {
  const messages: { readonly name: string; readonly seq: number }[] = [];
  const others: string[] = [];
  for (const name of names) {
    const parsed = parseMessageName(name);
    if (parsed) messages.push({ name, seq: parsed.seq ?? Number.POSITIVE_INFINITY });
    else others.push(name);
  }
  messages.sort((a, b) => (a.seq === b.seq ? compareText(a.name, b.name) : a.seq < b.seq ? -1 : 1));
  others.sort(compareText);
  const ordered: string[] = [];
  let next = 0;
  for (const { name } of messages) {
    while (next < others.length && compareText(others[next]!, name) < 0) ordered.push(others[next++]!);
    ordered.push(name);
  }
  return [...ordered, ...others.slice(next)];
}

/** A hole in the counters: entries that a compactor took out. */
export interface Gap {
  /** Index of the name it stands before. */
  readonly before: number;
  /** The missing counters, inclusive. */
  readonly first: number;
  readonly last: number;
}

/** The holes in the counters of these names, in order. Names without a counter neither open nor close one. */
export function findGaps(names: readonly string[]): readonly Gap[] {
  const gaps: Gap[] = [];
  let expected = 1;
  for (const [before, name] of names.entries()) {
    const seq = seqOf(name);
    if (seq === undefined) continue;
    if (seq > expected) gaps.push({ before, first: expected, last: seq - 1 });
    expected = seq + 1;
  }
  return gaps;
}

/** `«004»`, or `«001–003»`. */
export function gapName(first: number, last: number): string {
  const digits = (n: number): string => String(n).padStart(3, "0");
  return first === last ? `«${digits(first)}»` : `«${digits(first)}–${digits(last)}»`;
}

/** The first counter of a gap's name; absent for another name. */
export function gapFirst(name: string): number | undefined {
  const match = /^«(\d+)(?:–\d+)?»$/.exec(name);
  return match ? Number(match[1]) : undefined;
}
