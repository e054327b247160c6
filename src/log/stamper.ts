/** Gives records their number, their place in the chain of compactions and their bytes, with a snapshot where one is due. */
import { encodeRecord } from "./codec.ts";
import { LogError } from "./errors.ts";
import { isSnapshotDue, observe, snapshotOf, type TailState } from "./fold.ts";
import { lineBytesMax, settingsMax } from "./limits.ts";
import { type LogRecord, logVersion, type RecordBody } from "./records.ts";

/** One line ready to be written. */
export interface StampedLine {
  readonly record: LogRecord;
  readonly bytes: Buffer;
  /** Its place in the log, the line feed included. */
  readonly start: number;
  readonly end: number;
}

type Unchained = { readonly kind: string };

const ownFields: ReadonlySet<string> = new Set(["v", "seq", "ts", "synced", "kind", "chain", "__proto__"]);

/** The fields of a record in the order of its line. */
function arrange(
  state: TailState,
  body: Unchained,
  ts: number,
  mark: { readonly synced?: number },
): LogRecord {
  const { kind } = body;
  const record: Record<string, unknown> = { v: logVersion, seq: state.seqNext, ts, ...mark, kind };
  // A loop, because this runs for each record and rest and spread cost several times as much.
  for (const key of Object.keys(body)) {
    if (!ownFields.has(key)) record[key] = (body as Readonly<Record<string, unknown>>)[key];
  }
  if (kind !== "compactionSummary") return record as unknown as LogRecord;
  const chain = {
    cycle: state.cycle + 1,
    ...(state.compaction === undefined ? {} : { previous: state.compaction }),
    ...(state.openTurn === undefined ? {} : { turn: state.openTurn.offset }),
  };
  return { ...record, chain } as unknown as LogRecord;
}

/**
 * Stamps records one after the other. `state` is the fold of the log with all that was stamped; a batch that is refused leaves it as
 * it was.
 */
export class Stamper {
  #state: TailState;
  /** The mark of stable storage that was stamped last. */
  #marked = 0;
  constructor(state: TailState) {
    this.#state = state;
  }

  get state(): TailState {
    return this.#state;
  }

  /** Goes on from another state: what was stamped and not written is void. */
  reset(state: TailState): void {
    this.#state = state;
    this.#marked = 0;
  }

  /**
   * The lines of one record: a snapshot first where it is due. `syncedEnd`: bytes of the log that are on stable storage. Throws
   * `too-large` for a record above the limit and for one setting too many; then nothing changed.
   */
  stamp(body: RecordBody | Unchained, ts: number, syncedEnd: number): readonly StampedLine[] {
    const lines: StampedLine[] = [];
    let state = this.#state;
    const synced = { synced: syncedEnd };
    const add = (record: LogRecord): void => {
      const bytes = encodeRecord(record);
      if (bytes.length > lineBytesMax)
        throw new LogError(
          "too-large",
          `a ${record.kind} record of ${bytes.length} bytes is above the ${lineBytesMax} of a line`,
          {
            next: "Put large contents into a blob.",
            details: { bytes: bytes.length },
          },
        );
      const start = state.end;
      state = observe(state, record, start, start + bytes.length);
      lines.push({ record, bytes, start, end: state.end });
    };
    const isDue = isSnapshotDue(state);
    if (isDue) add(snapshotOf(state, ts, syncedEnd));
    add(arrange(state, body, ts, !isDue && syncedEnd > this.#marked ? synced : {}));
    if (Object.keys(state.settings).length > settingsMax)
      throw new LogError("too-large", `a log keeps at most ${settingsMax} settings`);
    this.#state = state;
    this.#marked = syncedEnd;
    return lines;
  }
}
