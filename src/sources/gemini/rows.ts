/**
 * The order of a Gemini CLI chat: which message stands where, and where its newest bytes are. Messages are replaced, rewound and
 * replaced all at once by later records, so the order needs the whole file; this keeps a small row for each message and no contents.
 */
import type { DamageReason } from "../../lines/index.ts";
import { type Fields, objectOf, stringOf, timeOf, wordOf } from "../fields.ts";
import type { SessionInfo } from "../types.ts";
import { type GeminiMessage, readMessage, type TurnStanding } from "./message.ts";

/** Longest message id that names its entry; a message with a longer one is named by its place. */
export const MESSAGE_ID_MAX = 200;

/** One message, or bytes that gave none, in its place in the chat. Never changed: a newer version replaces it in the list. */
export interface Row {
  /** The name of its first entry. */
  readonly name: string;
  readonly id: string | undefined;
  /** Its newest bytes. */
  readonly start: number;
  readonly end: number;
  /** Of those bytes, to see whether a rewritten file changed them. */
  readonly print: number;
  readonly entryCount: number;
  readonly standing: TurnStanding;
  readonly isPrompt: boolean;
  /** Rewound, or left out of a replaced history. */
  readonly isLeft: boolean;
  readonly damage: DamageReason | undefined;
}

/** A message's newest bytes. */
export interface MessageBytes {
  readonly value: unknown;
  readonly start: number;
  readonly end: number;
  readonly print: number;
}

export class Rows {
  readonly list: Row[] = [];
  /** Where in the list the messages stand that are on the conversation's path. */
  readonly #live = new Map<string, number>();
  readonly #uses = new Map<string, number>();
  #info: Partial<SessionInfo> = {};

  get info(): Partial<SessionInfo> {
    return this.#info;
  }

  /** A message by its id: the newest bytes win, the first one's place stays. */
  upsert(message: MessageBytes): GeminiMessage {
    const id = wordOf(objectOf(message.value)?.["id"]);
    const read = readMessage(message.value);
    const at = id === undefined ? undefined : this.#live.get(id);
    const known = at === undefined ? undefined : this.list[at];
    const row: Row = {
      name: known?.name ?? this.#nameFor(id, message.start),
      id,
      start: message.start,
      end: message.end,
      print: message.print,
      entryCount: read.entries.length,
      standing: read.standing,
      isPrompt: read.isPrompt,
      isLeft: false,
      damage: undefined,
    };
    if (at !== undefined) this.list[at] = row;
    else {
      if (id !== undefined) this.#live.set(id, this.list.length);
      this.list.push(row);
    }
    if (read.model !== undefined) this.#info = { ...this.#info, model: read.model };
    return read;
  }

  /** Bytes that gave no record keep their place. */
  damaged(start: number, end: number, reason: DamageReason): void {
    this.list.push({
      name: `@${start}`,
      id: undefined,
      start,
      end,
      print: end - start,
      entryCount: 1,
      standing: "same",
      isPrompt: false,
      isLeft: false,
      damage: reason,
    });
  }

  /** The message and all after it are left; an unknown id leaves all. */
  rewind(id: string): void {
    const from = this.#live.get(id) ?? 0;
    this.#leave((_, at) => at >= from);
  }

  /**
   * The history becomes the messages with these ids, which are told next. Those that stand in the same order stay; from the first on that
   * does not, all are told anew at the end, and every row that was not kept is left.
   */
  beginReplace(ids: readonly (string | undefined)[]): void {
    const kept = new Set<number>();
    let last = -1;
    for (const id of ids) {
      const at = id === undefined ? undefined : this.#live.get(id);
      if (at === undefined || at <= last) break;
      kept.add(at);
      last = at;
    }
    this.#leave((row, at) => row.id !== undefined && !kept.has(at));
  }

  /** Facts of a header, or of a `$set`. */
  facts(fields: Fields): void {
    const startedAt = timeOf(fields["startTime"]);
    const title = wordOf(fields["summary"]);
    this.#info = {
      ...this.#info,
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(title ? { title, titled: true } : {}),
    };
  }

  /** The n-th message of one id that the file holds is named `m:<id>`, then `m:<id>~2` and so on; one without an id by its place. */
  #nameFor(id: string | undefined, start: number): string {
    if (id === undefined || id.length > MESSAGE_ID_MAX) return `@${start}`;
    const use = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, use);
    // A dot would read as the start of an ordinal.
    const name = `m:${id.replaceAll("%", "%25").replaceAll(".", "%2E")}`;
    return use === 1 ? name : `${name}~${use}`;
  }

  #leave(isLeft: (row: Row, at: number) => boolean): void {
    for (const [at, row] of this.list.entries()) {
      if (row.isLeft || !isLeft(row, at)) continue;
      this.list[at] = { ...row, isLeft: true };
      if (row.id !== undefined && this.#live.get(row.id) === at) this.#live.delete(row.id);
    }
  }
}

/** Where the conversation stands at the end of some rows: is its turn open, and which row may still change. */
export function standingOf(rows: readonly Row[]): {
  readonly isOpen: boolean;
  readonly liveRow: Row | undefined;
} {
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at]!;
    if (row.isLeft || row.standing === "same") continue;
    const isOpen = row.standing === "open";
    return { isOpen, liveRow: isOpen && !row.isPrompt ? row : undefined };
  }
  return { isOpen: false, liveRow: undefined };
}

/** What a line of a chat is. */
export type RecordKind = "header" | "set" | "rewind" | "message" | "unknown";

export function recordKind(value: unknown): RecordKind {
  const fields = objectOf(value);
  if (!fields) return "unknown";
  if (stringOf(fields["$rewindTo"]) !== undefined) return "rewind";
  if (objectOf(fields["$set"])) return "set";
  if (wordOf(fields["sessionId"]) && !("type" in fields)) return "header";
  if (stringOf(fields["type"]) !== undefined && wordOf(fields["id"])) return "message";
  return "unknown";
}
