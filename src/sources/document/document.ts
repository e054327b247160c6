/** The index of one document: its rows, kept up to date with a file that is written whole again, or grows, and may be met half written. */
import { bytesOf, type FileSource, type FileState, openFile } from "../../lines/index.ts";
import type { Census } from "../census.ts";
import { readFully } from "../ends.ts";
import { fileStateAt } from "../file-errors.ts";
import { printOf } from "../print.ts";
import type { DamageNote, SessionInfo } from "../types.ts";
import type { DocumentFormat, ElementStore } from "./format.ts";
import {
  DAMAGE_NOTES_MAX,
  ELEMENT_BYTES_MAX,
  ELEMENTS_MAX,
  GROWN_PRINT_BYTES,
  MEMBER_BYTES_MAX,
} from "./limits.ts";
import { damagedRow, Names, type Row, rowOf, type Standing, standingOf } from "./rows.ts";

/** What one reading of a document gave. */
interface Reading {
  readonly rows: readonly Row[];
  readonly standing: Standing;
  readonly info: Partial<SessionInfo>;
  readonly damage: readonly DamageNote[];
  readonly state: FileState;
  readonly isWhole: boolean;
  /** Where the last element begins, and a print of the bytes before it: what a file that only grew still has. */
  readonly settled: number;
  readonly settledPrint: number;
}

export class Document implements ElementStore {
  readonly path: string;
  readonly format: DocumentFormat;
  #source: FileSource;
  #reading: Reading;

  private constructor(path: string, format: DocumentFormat, source: FileSource, reading: Reading) {
    this.path = path;
    this.format = format;
    this.#source = source;
    this.#reading = reading;
  }

  /** Opens and indexes the file: one forward read. */
  static async open(path: string, format: DocumentFormat): Promise<Document> {
    const source = await openFile(path);
    try {
      return new Document(path, format, source, await readDocument(source, format));
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  get standing(): Standing {
    return this.#reading.standing;
  }

  get info(): Partial<SessionInfo> {
    return this.#reading.info;
  }

  get bytes(): number {
    return this.#reading.state.size;
  }

  get modifiedAt(): number {
    return Number(this.#reading.state.modified / 1_000_000n);
  }

  /** Damage within `[start, end)`. */
  damageIn(start: number, end: number): readonly DamageNote[] {
    return this.#reading.damage.filter((note) => note.start < end && note.end > start);
  }

  /** Brings the index up to date. A document met half written is left for the next time, unless forced. */
  async refresh(isForced = false): Promise<"same" | "changed" | "gone"> {
    const state = await fileStateAt(this.path);
    if (state === undefined) return "gone";
    if (!isForced && isSame(state, this.#reading.state)) return "same";
    const source = await openFile(this.path);
    try {
      const fresh = await readDocument(source, this.format, isForced ? undefined : this.#reading);
      const isHalf = !fresh.isWhole || (fresh.rows.length === 0 && this.#reading.rows.length > 0);
      if (!isForced && isHalf && this.#reading.isWhole) {
        await source.close();
        return "same";
      }
      const old = this.#source;
      this.#source = source;
      this.#reading = fresh;
      await old.close();
      return "changed";
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  /** The bytes of a row; undefined where the file has other ones there by now. */
  async read(row: Row): Promise<Uint8Array | undefined> {
    const bytes = await readFully(this.#source, row.start, row.end - row.start);
    return printOf(bytes) === row.print ? bytes : undefined;
  }

  readBytes(start: number, length: number): Promise<Uint8Array> {
    return readFully(this.#source, start, length);
  }

  /** Reads the file anew, counting, and leaves this index as it is. */
  async count(
    census: Census,
    signal?: AbortSignal,
  ): Promise<{ readonly bytes: number; readonly damaged: readonly DamageNote[] }> {
    const source = await openFile(this.path);
    try {
      const reading = await readDocument(source, this.format, undefined, census, signal);
      return { bytes: reading.state.size, damaged: reading.damage };
    } finally {
      await source.close();
    }
  }

  async close(): Promise<void> {
    await this.#source.close();
  }
}

/** What the first bytes of a document say of it: its facts, and those of its whole elements there. */
export async function readHead(
  format: DocumentFormat,
  head: Uint8Array,
): Promise<{ readonly info: Partial<SessionInfo>; readonly prompt: string | undefined }> {
  const source = bytesOf(head);
  let info: Partial<SessionInfo> = {};
  let prompt: string | undefined;
  let index = 0;
  for await (const batch of format.scan(source, 0, head.length)) {
    for (const part of batch) {
      if (part.type === "end" || part.end - part.start > ELEMENT_BYTES_MAX) continue;
      const value = format.parse(head.subarray(part.start, part.end));
      if (part.type === "member") {
        info = { ...info, ...format.factsOf?.(part.key, value) };
        continue;
      }
      const said = format.classify({ value, index, start: part.start, end: part.end });
      index += 1;
      info = { ...info, ...said.info };
      const first = said.entries.find((entry) => entry.kind === "delivered" && entry.sender === "user");
      if (prompt === undefined && first?.kind === "delivered") prompt = first.body;
    }
  }
  return { info, prompt };
}

async function readDocument(
  source: FileSource,
  format: DocumentFormat,
  known?: Reading,
  census?: Census,
  signal?: AbortSignal,
): Promise<Reading> {
  // The state first: what is written while we read is seen as a change the next time.
  const state = await source.state();
  const kept = known === undefined ? undefined : await keptRows(source, format, known, state);
  const rows: Row[] = [...(kept?.rows ?? [])];
  const damage: DamageNote[] = [...(kept?.damage ?? [])];
  const names = new Names();
  let info: Partial<SessionInfo> = kept?.info ?? {};
  let isWhole = true;
  let settled = kept?.start ?? 0;
  const note = (given: DamageNote): void => {
    if (damage.length < DAMAGE_NOTES_MAX) damage.push(given);
  };
  for await (const batch of format.scan(source, kept?.start ?? 0, state.size)) {
    signal?.throwIfAborted();
    for (const part of batch) {
      const { end } = part;
      if (part.type === "end") {
        isWhole = part.isWhole;
        if (!isWhole && state.size > 0)
          note({ start: rows.at(-1)?.end ?? 0, end: Math.max(end, state.size), reason: "torn" });
        continue;
      }
      const { start } = part;
      if (part.type === "member") {
        if (format.factsOf === undefined || end - start > MEMBER_BYTES_MAX) continue;
        const value = format.parse(await readFully(source, start, end - start));
        info = { ...info, ...format.factsOf(part.key, value) };
        continue;
      }
      const place = { index: rows.length, start, end };
      if (rows.length >= ELEMENTS_MAX) {
        note({ start, end, reason: "too-large" });
        continue;
      }
      settled = start;
      const bytes = end - start > ELEMENT_BYTES_MAX ? undefined : await readFully(source, start, end - start);
      const value = bytes === undefined ? undefined : format.parse(bytes);
      if (bytes === undefined || value === undefined) {
        const reason = bytes === undefined ? "too-large" : "not-json";
        rows.push(damagedRow(place, reason));
        note({ start, end, reason });
        continue;
      }
      const said = format.classify({ ...place, value });
      census?.add(said);
      info = { ...info, ...said.info };
      rows.push(rowOf(place, names.next(format.nameOf?.(value), place.index), bytes, said));
    }
  }
  const settledPrint = await printBefore(source, settled);
  return { rows, standing: standingOf(rows), info, damage, state, isWhole, settled, settledPrint };
}

/** What a file that only grew still has: all rows but the last, which may go on. */
async function keptRows(
  source: FileSource,
  format: DocumentFormat,
  known: Reading,
  state: FileState,
): Promise<
  | {
      readonly rows: readonly Row[];
      readonly damage: readonly DamageNote[];
      readonly info: Partial<SessionInfo>;
      readonly start: number;
    }
  | undefined
> {
  if (format.grows !== true || known.rows.length < 2) return undefined;
  if (state.identity !== known.state.identity || state.size < known.state.size) return undefined;
  if ((await printBefore(source, known.settled)) !== known.settledPrint) return undefined;
  return {
    rows: known.rows.slice(0, -1),
    damage: known.damage.filter((note) => note.end <= known.settled),
    info: known.info,
    start: known.settled,
  };
}

async function printBefore(source: FileSource, end: number): Promise<number> {
  const start = Math.max(0, end - GROWN_PRINT_BYTES);
  return printOf(await readFully(source, start, end - start));
}

function isSame(a: FileState, b: FileState): boolean {
  return a.identity === b.identity && a.size === b.size && a.modified === b.modified;
}
