/**
 * The index of one chat file: rows kept up to date with the file. Two shapes are read: one record a line, which grows at its end, and
 * the older single object, pretty-printed, which is written whole again each time and may be met half written.
 */
import {
  type FileSource,
  type FileState,
  forwardBatches,
  type LineItem,
  openFile,
  parseRecord,
} from "../../lines/index.ts";
import { readFully } from "../ends.ts";
import { arrayOf, objectOf, stringOf, wordOf } from "../fields.ts";
import { fileStateAt } from "../file-errors.ts";
import { scanObject } from "../json-scan.ts";
import { printOf } from "../print.ts";
import type { DamageNote, SessionInfo } from "../types.ts";
import type { GeminiMessage } from "./message.ts";
import { type Row, Rows, recordKind } from "./rows.ts";

/** First bytes that tell the two shapes apart. */
const HEAD_BYTES = 64 * 1024;
/** A message of a document above this size is kept as a placeholder. */
const ELEMENT_BYTES_MAX = 64 * 1024 * 1024;
/** Members of a document above this size are not read for facts. */
const MEMBER_BYTES_MAX = 64 * 1024;
/** Bytes before the indexed end that must still be there for the file to have only grown. */
const PRINT_BYTES = 1024;
/** Most damage notes one chat keeps. */
export const DAMAGE_NOTES_MAX = 10_000;

/** Sees every record as it is indexed. */
export interface ChatObserver {
  record?(kind: string, isKnown: boolean): void;
  message?(message: GeminiMessage, id: string | undefined): void;
  recovered?(): void;
  damage?(note: DamageNote): void;
}

export class Chat {
  readonly path: string;
  #source: FileSource;
  #rows = new Rows();
  #state: FileState | undefined;
  #end = 0;
  #print = 0;
  #isDocument = false;
  #isWhole = true;
  #tail: DamageNote | undefined;
  #damage: DamageNote[] = [];

  private constructor(path: string, source: FileSource) {
    this.path = path;
    this.#source = source;
  }

  /** Opens and indexes the file: one forward read. */
  static async open(path: string): Promise<Chat> {
    const chat = new Chat(path, await openFile(path));
    try {
      await chat.#build();
      return chat;
    } catch (error) {
      await chat.close();
      throw error;
    }
  }

  get rows(): readonly Row[] {
    return this.#rows.list;
  }

  get info(): Partial<SessionInfo> {
    return this.#rows.info;
  }

  get bytes(): number {
    return this.#state?.size ?? 0;
  }

  get modifiedAt(): number | undefined {
    return this.#state === undefined ? undefined : Number(this.#state.modified / 1_000_000n);
  }

  /** Damage within `[start, end)`. */
  damageIn(start: number, end: number): readonly DamageNote[] {
    return this.#damage.filter((d) => d.start < end && d.end > start);
  }

  /** A document of which not all is there yet: down to nothing, where it is emptied before it is written again. */
  get #isHalfWritten(): boolean {
    return !this.#isWhole || (this.rows.length === 0 && (this.bytes === 0 || this.#tail !== undefined));
  }

  /** What the file's end leaves unfinished. */
  get unfinished(): DamageNote | undefined {
    return this.#tail;
  }

  /** Brings the index up to date. A document met half written is left for the next time, unless forced. */
  async refresh(isForced = false): Promise<"same" | "changed" | "gone"> {
    const state = await fileStateAt(this.path);
    if (state === undefined) return "gone";
    const known = this.#state;
    if (known && !isForced && isSame(state, known)) return "same";
    if (
      known &&
      !isForced &&
      !this.#isDocument &&
      state.identity === known.identity &&
      (await this.#onlyGrew(state.size))
    ) {
      await this.#grow(state);
      return "changed";
    }
    const fresh = new Chat(this.path, await openFile(this.path));
    await fresh.#build();
    if (!isForced && this.#isDocument && this.#isWhole && this.rows.length > 0 && fresh.#isHalfWritten) {
      await fresh.close();
      return "same";
    }
    await this.#become(fresh);
    return "changed";
  }

  /** The newest bytes of a row as a value; undefined where they are not that message any more. */
  async read(row: Row): Promise<unknown> {
    const bytes = await readFully(this.#source, row.start, row.end - row.start);
    const value = readValue(bytes, row.start);
    const id = objectOf(value)?.["id"];
    return row.id === undefined || id === row.id ? value : undefined;
  }

  readBytes(start: number, length: number): Promise<Uint8Array> {
    return readFully(this.#source, start, length);
  }

  async close(): Promise<void> {
    await this.#source.close();
  }

  /** Indexes the file anew, telling every record, and leaves this index as it is. */
  async observe(
    observer: ChatObserver,
    signal?: AbortSignal,
  ): Promise<{ readonly rows: readonly Row[]; readonly bytes: number }> {
    const fresh = new Chat(this.path, await openFile(this.path));
    try {
      await fresh.#build(observer, signal);
      return { rows: fresh.rows, bytes: fresh.bytes };
    } finally {
      await fresh.close();
    }
  }

  async #become(fresh: Chat): Promise<void> {
    const old = this.#source;
    this.#source = fresh.#source;
    this.#rows = fresh.#rows;
    this.#state = fresh.#state;
    this.#end = fresh.#end;
    this.#print = fresh.#print;
    this.#isDocument = fresh.#isDocument;
    this.#isWhole = fresh.#isWhole;
    this.#tail = fresh.#tail;
    this.#damage = fresh.#damage;
    await old.close();
  }

  async #onlyGrew(size: number): Promise<boolean> {
    if (size < this.#end) return false;
    return (await this.#printAt(this.#end)) === this.#print;
  }

  async #printAt(end: number): Promise<number> {
    const start = Math.max(0, end - PRINT_BYTES);
    return printOf(await readFully(this.#source, start, end - start));
  }

  async #build(observer: ChatObserver = {}, signal?: AbortSignal): Promise<void> {
    // The state first: what is written while we read is seen as a change the next time.
    const state = await this.#source.state();
    const head = await readFully(this.#source, 0, Math.min(HEAD_BYTES, state.size));
    this.#isDocument = isDocument(head, state.size);
    let start = 0;
    if (this.#isDocument) start = await this.#indexDocument(state.size, observer, signal);
    if (this.#isWhole) await this.#indexLines(start, state.size, observer, signal);
    this.#state = state;
  }

  async #grow(state: FileState): Promise<void> {
    await this.#indexLines(this.#end, state.size, {});
    this.#state = state;
  }

  #note(note: DamageNote, observer: ChatObserver): void {
    observer.damage?.(note);
    if (this.#damage.length < DAMAGE_NOTES_MAX) this.#damage.push(note);
  }

  /** The object at the file's start. Returns where it ends. */
  async #indexDocument(size: number, observer: ChatObserver, signal?: AbortSignal): Promise<number> {
    observer.record?.("session", true);
    let end = 0;
    for await (const batch of scanObject(this.#source, 0, size)) {
      signal?.throwIfAborted();
      for (const item of batch) {
        if (item.type === "member") await this.#fact(item.key, item.start, item.end);
        else if (item.type === "element") await this.#element(item.start, item.end, observer);
        else if (item.type === "end") {
          this.#isWhole = item.isWhole;
          if (item.isWhole) end = item.end;
        }
        if (item.type === "element") end = item.end;
      }
    }
    if (!this.#isWhole) {
      this.#tail = { start: end, end: size, reason: "torn" };
      observer.damage?.(this.#tail);
    }
    return end;
  }

  async #fact(key: string, start: number, end: number): Promise<void> {
    if (!/^(\$set\.)?(sessionId|startTime|summary|kind)$/.test(key) || end - start > MEMBER_BYTES_MAX) return;
    const value = readValue(await readFully(this.#source, start, end - start), start);
    this.#rows.facts({ [key.replace("$set.", "")]: value });
  }

  async #element(start: number, end: number, observer: ChatObserver): Promise<void> {
    const bytes =
      end - start > ELEMENT_BYTES_MAX ? undefined : await readFully(this.#source, start, end - start);
    const value = bytes && readValue(bytes, start);
    if (bytes === undefined || value === undefined) {
      const reason = bytes === undefined ? "too-large" : "not-json";
      this.#rows.damaged(start, end, reason);
      this.#note({ start, end, reason }, observer);
      return;
    }
    const { kind, known } = this.#message(value, start, end, printOf(bytes), observer);
    observer.record?.(kind, known);
  }

  #message(value: unknown, start: number, end: number, print: number, observer: ChatObserver): GeminiMessage {
    const message = this.#rows.upsert({ value, start, end, print });
    observer.message?.(message, wordOf(objectOf(value)?.["id"]));
    return message;
  }

  async #indexLines(
    start: number,
    size: number,
    observer: ChatObserver,
    signal?: AbortSignal,
  ): Promise<void> {
    let end = start;
    const options = { start, end: size, growing: true, ...(signal ? { signal } : {}) };
    for await (const batch of forwardBatches(this.#source, options)) {
      for (const item of batch) {
        await this.#line(item, observer);
        end = item.end;
      }
    }
    this.#end = end;
    this.#print = await this.#printAt(end);
    this.#tail = await this.#unfinished(end, size);
    if (this.#tail) observer.damage?.(this.#tail);
  }

  /** What stands behind the indexed end and is more than white space: the beginning of a record. */
  async #unfinished(end: number, size: number): Promise<DamageNote | undefined> {
    if (end >= size) return undefined;
    const rest = await readFully(this.#source, end, Math.min(size - end, 4096));
    const first = rest.findIndex((b) => b !== 0x0a && b !== 0x0d && b !== 0x20 && b !== 0x09);
    return first === -1 ? undefined : { start: end + first, end: size, reason: "torn" };
  }

  async #line(item: LineItem, observer: ChatObserver): Promise<void> {
    if (item.type === "damage") {
      const note = { start: item.start, end: item.end, reason: item.reason };
      if (item.reason !== "bom") this.#rows.damaged(item.start, item.end, item.reason);
      this.#note(note, observer);
      return;
    }
    if (item.recovered) {
      observer.recovered?.();
      this.#note({ start: item.start, end: item.end, reason: item.recovered }, observer);
    }
    const fields = objectOf(item.value) ?? {};
    const kind = recordKind(item.value);
    switch (kind) {
      case "rewind":
        observer.record?.("$rewindTo", true);
        this.#rows.rewind(stringOf(fields["$rewindTo"]) ?? "");
        return;
      case "set":
      case "header": {
        observer.record?.(kind === "set" ? "$set" : "session", true);
        const set = kind === "set" ? (objectOf(fields["$set"]) ?? {}) : fields;
        this.#rows.facts(set);
        const messages = arrayOf(set["messages"]);
        if (messages) await this.#replace(messages, item.start, item.end, observer);
        return;
      }
      default: {
        const message = this.#message(item.value, item.start, item.end, 0, observer);
        observer.record?.(message.kind, message.known);
      }
    }
  }

  /** A record that carries the whole history: its messages, each with its own bytes within the record. */
  async #replace(
    messages: readonly unknown[],
    start: number,
    end: number,
    observer: ChatObserver,
  ): Promise<void> {
    this.#rows.beginReplace(messages.map((m) => wordOf(objectOf(m)?.["id"])));
    let at = 0;
    for await (const batch of scanObject(this.#source, start, end))
      for (const item of batch)
        if (item.type === "element") this.#message(messages[at++], item.start, item.end, 0, observer);
  }
}

function isSame(a: FileState, b: FileState): boolean {
  return a.identity === b.identity && a.size === b.size && a.modified === b.modified;
}

/** True for one pretty-printed object: a first line that is no record, and is not one cut by the end of the file. */
function isDocument(head: Uint8Array, size: number): boolean {
  const text = new TextDecoder()
    .decode(head)
    .replace(/^\uFEFF/, "")
    .trimStart();
  if (!text.startsWith("{")) return false;
  const newline = text.indexOf("\n");
  if (newline === -1) return size > head.length;
  return text.slice(0, newline).trim() === "{";
}

function readValue(bytes: Uint8Array, start: number): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // A record that was saved from a bad line is saved from it again.
    return parseRecord(bytes, start).find((item) => item.type === "record")?.value;
  }
}
