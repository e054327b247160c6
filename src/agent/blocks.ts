/**
 * The blocks of a driven session that are not finished, in the order of the log, and the changes that they make. Pure.
 *
 * A block that is opened before it is recorded has a name of its own until its record has a place; from then on it has the name that a
 * reader of the log gives it. Blocks finish in the order in which they were opened: one that is done waits for those before it.
 */
import { type Change, PENDING_BLOCKS_MAX, type Position } from "../session/index.ts";
import type { Entry, EntryBase } from "../transcript/index.ts";

type WithoutName<T> = T extends EntryBase ? Omit<T, "name" | "place"> : never;

/** An entry before it has a name. A result names its call by the call's key. */
export type EntryDraft = WithoutName<Entry>;

/** The bytes of a block's record, and which of its record's blocks it is. */
export interface BlockPlace {
  readonly start: number;
  readonly end: number;
  readonly ordinal: number;
}

interface Block {
  readonly key: string;
  draft: EntryDraft;
  isLive: boolean;
  place: BlockPlace | undefined;
}

/** Blocks told of, with the places that a page needs. */
export interface LiveBlock {
  readonly entry: Entry;
  readonly isRecorded: boolean;
}

export class Blocks {
  #blocks: Block[] = [];
  /** Just after the newest record of a finished block. */
  #end: Position;
  /** Places of blocks that are not told of yet. */
  readonly #ahead = new Map<string, BlockPlace>();
  /** Names of calls that are finished, for the results that still come. */
  readonly #callNames = new Map<string, string>();

  /** `end`: where the log ends, for blocks whose records get no place. */
  constructor(end: Position = "0") {
    this.#end = end;
  }

  /** A block that may still change. */
  open(key: string, draft: EntryDraft): readonly Change[] {
    const out: Change[] = [];
    this.#makeRoom(out);
    const block: Block = { key, draft, isLive: true, place: undefined };
    this.#blocks.push(block);
    out.push({ type: "blockOpened", entry: this.#entryOf(block) });
    return out;
  }

  change(key: string, draft: EntryDraft): readonly Change[] {
    const block = this.#find(key);
    if (block === undefined) return [];
    block.draft = draft;
    return [{ type: "blockChanged", entry: this.#entryOf(block) }];
  }

  /** The block's record is in the log: it gets the name that readers of the log give it. Also before the block is told of. */
  placed(key: string, place: BlockPlace): readonly Change[] {
    // A place without bytes is one of a session that is not saved.
    if (place.end === place.start) return [];
    const block = this.#find(key);
    if (block === undefined) {
      this.#ahead.set(key, place);
      return [];
    }
    const was = nameOf(block);
    block.place = place;
    return [{ type: "blockChanged", entry: this.#entryOf(block), was }];
  }

  /** A block that will not change any more, opened before or not. */
  finish(key: string, draft: EntryDraft): readonly Change[] {
    const out: Change[] = [];
    const known = this.#find(key);
    if (known === undefined) {
      if (this.#blocks.length > 0) this.#makeRoom(out);
      const block: Block = { key, draft, isLive: false, place: this.#ahead.get(key) };
      this.#ahead.delete(key);
      if (this.#blocks.length > 0) out.push({ type: "blockOpened", entry: this.#entryOf(block) });
      this.#blocks.push(block);
    } else {
      known.draft = draft;
      known.isLive = false;
      if (this.#blocks[0] !== known) out.push({ type: "blockChanged", entry: this.#entryOf(known) });
    }
    this.#finishReady(out);
    return out;
  }

  /** The blocks that are not finished, in the order of the log. */
  live(): readonly LiveBlock[] {
    return this.#blocks.map((block) => ({
      entry: this.#entryOf(block),
      isRecorded: block.place !== undefined,
    }));
  }

  #find(key: string): Block | undefined {
    return this.#blocks.find((block) => block.key === key);
  }

  #makeRoom(out: Change[]): void {
    if (this.#blocks.length < PENDING_BLOCKS_MAX) return;
    const head = this.#blocks[0];
    if (head !== undefined) head.isLive = false;
    this.#finishReady(out);
  }

  #finishReady(out: Change[]): void {
    for (let head = this.#blocks[0]; head !== undefined && !head.isLive; head = this.#blocks[0]) {
      this.#blocks.shift();
      const start = head.place === undefined ? this.#end : spotOf(head.place.start, head.place.ordinal);
      const end = head.place === undefined ? this.#end : String(head.place.end);
      const entry = this.#entryOf(head);
      this.#end = end;
      this.#rememberCall(head);
      out.push({ type: "blockFinished", entry, start, end });
    }
  }

  #rememberCall(block: Block): void {
    if (block.draft.kind !== "model" || block.draft.blocks[0]?.kind !== "tool-use") return;
    this.#callNames.set(block.key, nameOf(block));
    const [oldest] = this.#callNames.keys();
    if (this.#callNames.size > PENDING_BLOCKS_MAX && oldest !== undefined) this.#callNames.delete(oldest);
  }

  #entryOf(block: Block): Entry {
    const { draft, place } = block;
    const placed = place === undefined ? {} : { place: { start: place.start, end: place.end } };
    const entry = { ...draft, name: nameOf(block), ...placed } as Entry;
    if (entry.kind !== "tool-result" || entry.call === undefined) return entry;
    const call = this.#find(entry.call.entry);
    const name = call === undefined ? this.#callNames.get(entry.call.entry) : nameOf(call);
    return { ...entry, call: { ...entry.call, entry: name ?? entry.call.entry } };
  }
}

/** As readers of the log name the entry of a record; a key of ours before that. */
function nameOf(block: Block): string {
  return block.place === undefined ? block.key : `@${spotOf(block.place.start, block.place.ordinal)}`;
}

function spotOf(offset: number, ordinal: number): Position {
  return ordinal === 0 ? String(offset) : `${offset}.${ordinal}`;
}
