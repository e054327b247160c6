/** Reads units of a line log in either direction, bounded. */
import { type ByteSource, type DamageReason, readBackward, readForward } from "../lines/index.ts";
import type { Classifier } from "./classifier.ts";
import { type Unit, unitOf } from "./unit.ts";

export type Decoded =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: DamageReason };

/** Reads records of a format that says more than JSON: that has checksums, or parts that lie elsewhere. */
export interface RecordDecoder {
  /**
   * The record of a JSON value, or what is wrong with it. `bytes` reads it as it stands in the log. Costs what the record costs, and the
   * parts that it names.
   */
  decode(value: unknown, bytes: () => Promise<Uint8Array>): Promise<Decoded>;
}

/** What every reading of one log needs. */
export interface LogReader {
  readonly source: ByteSource;
  readonly classifier: Classifier;
  /** Absent where every JSON value is a record. */
  readonly decoder?: RecordDecoder;
}

/** How far a look around may go: records, and bytes from where it begins. */
export interface Reach {
  readonly records: number;
  readonly bytes: number;
}

/** The units before `end`, newest first, down to `start`. What the end of a growing log does not settle yet is left out. */
export async function* unitsBefore(
  reader: LogReader,
  end: number,
  start = 0,
): AsyncGenerator<Unit, void, undefined> {
  for await (const item of readBackward(reader.source, { start, end, growing: true })) {
    yield await unitOf(item, reader);
  }
}

/** The units from `start` on, up to `end` or what the end of a growing log does not settle yet. */
export async function* unitsAfter(
  reader: LogReader,
  start: number,
  end?: number,
): AsyncGenerator<Unit, void, undefined> {
  const options = { start, growing: true, ...(end === undefined ? {} : { end }) };
  for await (const item of readForward(reader.source, options)) {
    yield await unitOf(item, reader);
  }
}

/** `unitsBefore` within a reach, until `visit` answers false. `isStart` is true where the log's start was met. */
export async function lookBack(
  reader: LogReader,
  from: number,
  reach: Reach,
  visit: (unit: Unit) => boolean,
): Promise<{ readonly isStart: boolean }> {
  const floor = Math.max(0, from - reach.bytes);
  let left = reach.records;
  for await (const unit of unitsBefore(reader, from, floor)) {
    if (left-- <= 0 || !visit(unit)) return { isStart: false };
  }
  return { isStart: floor === 0 };
}

/** `unitsAfter` within a reach, until `visit` answers false. `isEnd` is true where the log's end was met. */
export async function lookAhead(
  reader: LogReader,
  from: number,
  reach: Reach,
  visit: (unit: Unit) => boolean,
): Promise<{ readonly isEnd: boolean }> {
  const size = await reader.source.size();
  const ceiling = Math.min(size, from + reach.bytes);
  let left = reach.records;
  for await (const unit of unitsAfter(reader, from, ceiling)) {
    if (left-- <= 0 || !visit(unit)) return { isEnd: false };
  }
  return { isEnd: ceiling === size };
}
