/** The index of one session in a database: its messages, put together as the elements of a document. */
import { dirname } from "node:path";
import type { Census } from "../census.ts";
import type { DocumentFormat, ElementStore } from "../document/format.ts";
import { DAMAGE_NOTES_MAX, ELEMENT_BYTES_MAX, ELEMENTS_MAX } from "../document/limits.ts";
import { damagedRow, Names, type Row, rowOf, type Standing, standingOf } from "../document/rows.ts";
import { SourceError } from "../errors.ts";
import { printOf } from "../print.ts";
import type { DamageNote, SessionInfo } from "../types.ts";
import { acquireCopy, type DatabaseCopy, releaseCopy } from "./copy.ts";
import type { DatabaseFormat, MessageRow } from "./format.ts";

/**
 * A message has no place in bytes of its own: each begins at its number times this, so that one that grows moves no other. Larger than
 * any message, and small enough for `ELEMENTS_MAX` of them.
 */
export const MESSAGE_STRIDE: number = 2 ** 28;

interface Indexed {
  readonly message: MessageRow;
  readonly row: Row;
  /** What the message says of the session. */
  readonly info: Partial<SessionInfo>;
}

interface Reading {
  readonly indexed: readonly Indexed[];
  readonly standing: Standing;
  readonly info: Partial<SessionInfo>;
  readonly damage: readonly DamageNote[];
  readonly version: number;
}

export class SessionStore implements ElementStore {
  readonly format: DocumentFormat;
  readonly watched: readonly string[];
  readonly #copy: DatabaseCopy;
  readonly #tables: DatabaseFormat;
  readonly #id: string;
  #reading: Reading;

  private constructor(copy: DatabaseCopy, tables: DatabaseFormat, id: string, reading: Reading) {
    this.format = tables.document;
    this.watched = [copy.path, `${copy.path}-wal`, dirname(copy.path)];
    this.#copy = copy;
    this.#tables = tables;
    this.#id = id;
    this.#reading = reading;
  }

  /** Opens a session of a database; reads its messages once. Throws a SourceError where there is none of that id. */
  static async open(path: string, tables: DatabaseFormat, id: string): Promise<SessionStore> {
    const copy = await acquireCopy(path);
    try {
      const reading = readSession(copy, tables, id);
      if (reading === undefined)
        throw new SourceError("not-found", `${path} holds no session ${id}.`, {
          path,
          next: "`hansard list` shows the sessions that were found, with their ids.",
        });
      return new SessionStore(copy, tables, id, reading);
    } catch (error) {
      await releaseCopy(copy);
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
    return this.#reading.indexed.reduce((sum, { row }) => sum + (row.end - row.start), 0);
  }

  get modifiedAt(): number {
    return this.#copy.modifiedAt;
  }

  damageIn(start: number, end: number): readonly DamageNote[] {
    return this.#reading.damage.filter((note) => note.start < end && note.end > start);
  }

  async refresh(isForced = false): Promise<"same" | "changed" | "gone"> {
    if ((await this.#copy.refresh()) === "gone") return "gone";
    if (!isForced && this.#copy.version === this.#reading.version) return "same";
    const fresh = readSession(this.#copy, this.#tables, this.#id, isForced ? undefined : this.#reading);
    if (fresh === undefined) return "gone";
    this.#reading = fresh;
    return "changed";
  }

  async read(row: Row): Promise<Uint8Array | undefined> {
    const key = this.#reading.indexed[row.index]?.message.key;
    const bytes = key === undefined ? undefined : this.#bytesOf(key);
    return bytes !== undefined && printOf(bytes) === row.print ? bytes : undefined;
  }

  async readBytes(start: number, length: number): Promise<Uint8Array> {
    const found = this.#reading.indexed[Math.floor(start / MESSAGE_STRIDE)];
    // A message too large to be one is not put together to show where it began.
    if (found === undefined || found.row.damage === "too-large") return new Uint8Array(0);
    const offset = start % MESSAGE_STRIDE;
    return this.#bytesOf(found.message.key)?.subarray(offset, offset + length) ?? new Uint8Array(0);
  }

  async count(
    census: Census,
    signal?: AbortSignal,
  ): Promise<{ readonly bytes: number; readonly damaged: readonly DamageNote[] }> {
    await this.#copy.refresh();
    const reading = readSession(this.#copy, this.#tables, this.#id, undefined, census, signal);
    const rows = reading?.indexed ?? [];
    return {
      bytes: rows.reduce((sum, { row }) => sum + (row.end - row.start), 0),
      damaged: reading?.damage ?? [],
    };
  }

  async close(): Promise<void> {
    await releaseCopy(this.#copy);
  }

  #bytesOf(key: string | number): Uint8Array | undefined {
    return this.#copy.read((database) => encoded(this.#tables.message(database, this.#id, key)));
  }
}

function encoded(value: unknown): Uint8Array | undefined {
  return value === undefined ? undefined : new TextEncoder().encode(JSON.stringify(value));
}

/** Reads the messages that are not as they were. */
function readSession(
  copy: DatabaseCopy,
  tables: DatabaseFormat,
  id: string,
  known?: Reading,
  census?: Census,
  signal?: AbortSignal,
): Reading | undefined {
  return copy.read((database) => {
    const facts = tables.facts(database, id);
    if (facts === undefined) return undefined;
    const indexed: Indexed[] = [];
    const damage: DamageNote[] = [];
    const names = new Names();
    let info: Partial<SessionInfo> = {};
    for (const [index, message] of tables.messages(database, id).slice(0, ELEMENTS_MAX).entries()) {
      signal?.throwIfAborted();
      const name = names.next(String(message.key), index);
      const old = known?.indexed[index];
      const isKept =
        old?.message.key === message.key && old.message.stamp === message.stamp && old.row.name === name;
      const read = isKept
        ? old
        : indexMessage(tables.document, message, index, name, census, () =>
            encoded(tables.message(database, id, message.key)),
          );
      indexed.push(read);
      info = { ...info, ...read.info };
      const { start, end, damage: reason } = read.row;
      if (reason !== undefined && damage.length < DAMAGE_NOTES_MAX) damage.push({ start, end, reason });
    }
    const rows = indexed.map(({ row }) => row);
    return {
      indexed,
      standing: standingOf(rows),
      info: { ...info, ...facts },
      damage,
      version: copy.version,
    };
  });
}

function indexMessage(
  format: DocumentFormat,
  message: MessageRow,
  index: number,
  name: string,
  census: Census | undefined,
  read: () => Uint8Array | undefined,
): Indexed {
  const start = index * MESSAGE_STRIDE;
  const isLarge = message.bytes > ELEMENT_BYTES_MAX;
  const bytes = isLarge ? undefined : read();
  if (bytes === undefined || bytes.length >= MESSAGE_STRIDE) {
    const end = start + Math.max(1, Math.min(message.bytes, MESSAGE_STRIDE - 1));
    return {
      message,
      row: { ...damagedRow({ index, start, end }, isLarge ? "too-large" : "not-json"), name },
      info: {},
    };
  }
  const place = { index, start, end: start + bytes.length };
  const said = format.classify({ ...place, value: format.parse(bytes) });
  census?.add(said);
  return { message, row: rowOf(place, name, bytes, said), info: said.info ?? {} };
}
