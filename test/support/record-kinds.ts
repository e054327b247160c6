/** Which kinds of records some sessions hold, and what a reader makes of them: what it silently left out, or did not know, is seen. */
import type { Classified } from "../../src/sources/classifier.ts";

export interface RecordKinds {
  /** Kinds that gave an entry. */
  readonly shown: readonly string[];
  /** Kinds that gave none; on purpose, where they are named. */
  readonly silent: readonly string[];
  /** Kinds that the reader does not know. */
  readonly unknown: readonly string[];
}

/** The kinds of some records, each list in order. A kind whose records are not all alike is in more than one. */
export function recordKinds(records: Iterable<Classified>): RecordKinds {
  const shown = new Set<string>();
  const silent = new Set<string>();
  const unknown = new Set<string>();
  for (const { kind, known, entries } of records) {
    if (!known) unknown.add(kind);
    else if (entries.length > 0) shown.add(kind);
    else silent.add(kind);
  }
  return { shown: [...shown].sort(), silent: [...silent].sort(), unknown: [...unknown].sort() };
}
