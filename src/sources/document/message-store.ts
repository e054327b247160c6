/** The index of a session whose messages are put together from pieces that lie apart: rows of tables, or files of a tree. */
import type { Census } from "../census.ts";
import { printOf } from "../print.ts";
import { titleFromPrompt } from "../prompt-title.ts";
import type { DamageNote, SessionInfo } from "../types.ts";
import type { DocumentFormat, ElementStore } from "./format.ts";
import {
  DAMAGE_NOTES_MAX,
  ELEMENT_BYTES_MAX,
  ELEMENTS_MAX,
  TITLE_BYTES_MAX,
  TITLE_MESSAGES_MAX,
} from "./limits.ts";
import { damagedRow, Names, type Row, rowOf, type Standing, standingOf } from "./rows.ts";

/**
 * A message has no place in bytes of its own: each begins at its number times this, so that one that grows moves no other. Larger than
 * any message, and small enough for `ELEMENTS_MAX` of them.
 */
export const MESSAGE_STRIDE: number = 2 ** 28;

/** A message by what is known of it without its contents. */
export interface MessageRow {
  readonly key: string | number;
  /** What it is called, where that is not its key. */
  readonly name?: string;
  /** Differs where anything of the message does. */
  readonly stamp: string;
  /** Of all that the message is put together from. */
  readonly bytes: number;
}

/** Where the pieces lie. */
export interface MessageShelf {
  readonly format: DocumentFormat;
  /** What to watch. */
  readonly watched: readonly string[];
  readonly modifiedAt: number;
  /** Grows with every change that was taken over. */
  readonly version: number;
  /** Takes over what is there by now; `isForced` where what was taken over before proved to be old. */
  refresh(isForced: boolean): Promise<"same" | "changed" | "gone">;
  /** What is known of the session; undefined where it is not there. */
  facts(): Promise<Partial<SessionInfo> | undefined>;
  /** The messages in their order. */
  messages(): Promise<readonly MessageRow[]>;
  /** A message put together, as the format classifies it; undefined where it is gone or its pieces cannot be read. */
  message(key: string | number): Promise<unknown>;
  close(): Promise<void>;
}

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

export class MessageStore implements ElementStore {
  readonly format: DocumentFormat;
  readonly #shelf: MessageShelf;
  #reading: Reading;

  private constructor(shelf: MessageShelf, reading: Reading) {
    this.format = shelf.format;
    this.#shelf = shelf;
    this.#reading = reading;
  }

  /** Reads the messages once. Undefined where the session is not there; the shelf is closed then, and where reading fails. */
  static async open(shelf: MessageShelf): Promise<MessageStore | undefined> {
    let store: MessageStore | undefined;
    try {
      const reading = await readSession(shelf);
      if (reading !== undefined) store = new MessageStore(shelf, reading);
      return store;
    } finally {
      if (store === undefined) await shelf.close();
    }
  }

  get watched(): readonly string[] {
    return this.#shelf.watched;
  }

  get standing(): Standing {
    return this.#reading.standing;
  }

  get info(): Partial<SessionInfo> {
    return this.#reading.info;
  }

  get bytes(): number {
    return bytesOf(this.#reading);
  }

  get modifiedAt(): number {
    return this.#shelf.modifiedAt;
  }

  damageIn(start: number, end: number): readonly DamageNote[] {
    return this.#reading.damage.filter((note) => note.start < end && note.end > start);
  }

  async refresh(isForced = false): Promise<"same" | "changed" | "gone"> {
    if ((await this.#shelf.refresh(isForced)) === "gone") return "gone";
    if (!isForced && this.#shelf.version === this.#reading.version) return "same";
    const fresh = await readSession(this.#shelf, isForced ? undefined : this.#reading);
    if (fresh === undefined) return "gone";
    this.#reading = fresh;
    return "changed";
  }

  async read(row: Row): Promise<Uint8Array | undefined> {
    const key = this.#reading.indexed[row.index]?.message.key;
    const bytes = key === undefined ? undefined : encoded(await this.#shelf.message(key));
    return bytes !== undefined && printOf(bytes) === row.print ? bytes : undefined;
  }

  async readBytes(start: number, length: number): Promise<Uint8Array> {
    const found = this.#reading.indexed[Math.floor(start / MESSAGE_STRIDE)];
    // A message too large to be one is not put together to show where it began.
    if (found === undefined || found.row.damage === "too-large") return new Uint8Array(0);
    const offset = start % MESSAGE_STRIDE;
    const bytes = encoded(await this.#shelf.message(found.message.key));
    return bytes?.subarray(offset, offset + length) ?? new Uint8Array(0);
  }

  async count(
    census: Census,
    signal?: AbortSignal,
  ): Promise<{ readonly bytes: number; readonly damaged: readonly DamageNote[] }> {
    await this.#shelf.refresh(true);
    const reading = await readSession(this.#shelf, undefined, census, signal);
    return { bytes: reading === undefined ? 0 : bytesOf(reading), damaged: reading?.damage ?? [] };
  }

  async close(): Promise<void> {
    await this.#shelf.close();
  }
}

/** What is known of a session, with its first prompt for a title where it has no other. Undefined where it is not there. */
export async function describeShelf(shelf: MessageShelf): Promise<Partial<SessionInfo> | undefined> {
  const facts = await shelf.facts();
  if (facts === undefined || facts.title !== undefined) return facts;
  const { format } = shelf;
  for (const [index, { key, bytes }] of (await shelf.messages()).slice(0, TITLE_MESSAGES_MAX).entries()) {
    const value = bytes > TITLE_BYTES_MAX ? undefined : await shelf.message(key);
    if (value === undefined) continue;
    const { entries } = format.classify({ value, index, start: 0, end: bytes });
    const prompt = entries.find((entry) => entry.kind === "delivered" && entry.sender === "user");
    const title = prompt?.kind === "delivered" ? titleFromPrompt(prompt.body) : undefined;
    if (title !== undefined) return { ...facts, title };
  }
  return facts;
}

function bytesOf(reading: Reading): number {
  return reading.indexed.reduce((sum, { row }) => sum + (row.end - row.start), 0);
}

function encoded(value: unknown): Uint8Array | undefined {
  return value === undefined ? undefined : new TextEncoder().encode(JSON.stringify(value));
}

/** Reads the messages that are not as they were. */
async function readSession(
  shelf: MessageShelf,
  known?: Reading,
  census?: Census,
  signal?: AbortSignal,
): Promise<Reading | undefined> {
  // First: what changes while we read is seen as a change the next time.
  const { version } = shelf;
  const facts = await shelf.facts();
  if (facts === undefined) return undefined;
  const indexed: Indexed[] = [];
  const damage: DamageNote[] = [];
  const names = new Names();
  let info: Partial<SessionInfo> = {};
  const messages = await shelf.messages();
  for (const [index, message] of messages.slice(0, ELEMENTS_MAX).entries()) {
    signal?.throwIfAborted();
    const name = names.next(message.name ?? String(message.key), index);
    const old = known?.indexed[index];
    const isKept =
      old?.message.key === message.key && old.message.stamp === message.stamp && old.row.name === name;
    const fresh = isKept ? old : await indexMessage(shelf, message, index, name, census);
    // One met half written stays as it was told; what ends the writing is a change of its own.
    const isTorn = fresh.row.damage === "not-json" && old?.row.name === name && old.row.damage === undefined;
    const read = isTorn ? { ...old, message } : fresh;
    indexed.push(read);
    info = { ...info, ...read.info };
    const { start, end, damage: reason } = read.row;
    if (reason !== undefined && damage.length < DAMAGE_NOTES_MAX) damage.push({ start, end, reason });
  }
  if (messages.length > ELEMENTS_MAX) {
    const start = ELEMENTS_MAX * MESSAGE_STRIDE;
    damage.push({ start, end: messages.length * MESSAGE_STRIDE, reason: "too-large" });
  }
  const standing = standingOf(indexed.map(({ row }) => row));
  return { indexed, standing, info: { ...info, ...facts }, damage, version };
}

async function indexMessage(
  shelf: MessageShelf,
  message: MessageRow,
  index: number,
  name: string,
  census: Census | undefined,
): Promise<Indexed> {
  const { format } = shelf;
  const start = index * MESSAGE_STRIDE;
  const isLarge = message.bytes > ELEMENT_BYTES_MAX;
  const bytes = isLarge ? undefined : encoded(await shelf.message(message.key));
  if (bytes === undefined || bytes.length >= MESSAGE_STRIDE) {
    const end = start + Math.max(1, Math.min(message.bytes, MESSAGE_STRIDE - 1));
    const row = damagedRow({ index, start, end }, isLarge ? "too-large" : "not-json");
    return { message, row: { ...row, name }, info: {} };
  }
  const place = { index, start, end: start + bytes.length };
  const said = format.classify({ ...place, value: format.parse(bytes) });
  census?.add(said);
  return { message, row: rowOf(place, name, bytes, said), info: said.info ?? {} };
}
