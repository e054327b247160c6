/** Units: what one record, or one stretch of damage, is to the reader of a line log. */
import type { DamageReason, LineItem } from "../lines/index.ts";
import type { Entry, Place } from "../transcript/index.ts";
import { capDraft } from "./cap.ts";
import type { Classified, EntryDraft, Mark, TreeNode } from "./classifier.ts";
import { readFully } from "./ends.ts";
import { DAMAGE_TEXT_BYTES_MAX, MERGE_CELL_BYTES } from "./limits.ts";
import { formatSpot, nameAt, type Spot } from "./position.ts";
import type { LogReader } from "./reader.ts";
import type { DamageNote, Position } from "./types.ts";

export interface Unit {
  readonly start: number;
  readonly end: number;
  readonly drafts: readonly EntryDraft[];
  readonly marks: readonly Mark[];
  readonly said?: Classified;
  readonly damage?: DamageNote;
}

const noMarks: readonly Mark[] = [];

/** The item as the format's own rules see it: a record that does not keep them is damage. */
export async function judged(item: LineItem, { source, decoder }: LogReader): Promise<LineItem> {
  if (item.type === "damage" || decoder === undefined) return item;
  const { start, end, recovered } = item;
  const decoded = await decoder.decode(item.value, () => readFully(source, start, end - start));
  if (!decoded.ok) return { type: "damage", start, end, reason: recovered ?? decoded.reason };
  return {
    type: "record",
    start,
    end,
    value: decoded.value,
    ...(recovered === undefined ? {} : { recovered }),
  };
}

/** The unit of an item. Reads a piece of the bytes where they are damaged, to show it. */
export async function unitOf(found: LineItem, reader: LogReader): Promise<Unit> {
  const item = await judged(found, reader);
  const { start, end } = item;
  if (item.type === "record") {
    const said = reader.classifier.classify(item);
    const damage: DamageNote | undefined = item.recovered && { start, end, reason: item.recovered };
    return {
      start,
      end,
      drafts: said.entries.map(capDraft),
      marks: said.marks ?? noMarks,
      said,
      ...(damage === undefined ? {} : { damage }),
    };
  }
  const damage = { start, end, reason: item.reason };
  // A byte order mark is no part of a conversation: it is noted and gives no entry.
  if (item.reason === "bom") return { start, end, drafts: [], marks: noMarks, damage };
  const length = Math.min(end - start, DAMAGE_TEXT_BYTES_MAX);
  const head =
    item.reason === "nul-run" ? undefined : (item.head ?? (await reader.source.read(start, length)));
  const text = head === undefined ? "" : new TextDecoder().decode(head.subarray(0, length));
  const draft: EntryDraft = {
    kind: "raw",
    reason: tellDamage(item.reason, end - start),
    text,
    damaged: true,
  };
  return { start, end, drafts: [capDraft(draft)], marks: noMarks, damage };
}

function tellDamage(reason: DamageReason, bytes: number): string {
  switch (reason) {
    case "nul-run":
      return `${bytes} NUL bytes where a record should be`;
    case "torn":
      return `an incomplete record of ${bytes} bytes`;
    case "too-large":
      return `a line of ${bytes} bytes, too large to read`;
    case "checksum":
      return `${bytes} bytes that are not what was written: their checksum is wrong`;
    case "resync":
      return `${bytes} bytes of an incomplete record before a whole one`;
    default:
      return `${bytes} bytes that are no record`;
  }
}

/** One entry of a unit, before it is merged, paired and marked. */
export interface Slot {
  readonly spot: Spot;
  /** The spot just after it: before the unit's next entry, or at the record's end. */
  readonly after: Spot;
  readonly place: Place;
  readonly draft: EntryDraft;
}

export function slotsOf(unit: Unit): readonly Slot[] {
  const place = { start: unit.start, end: unit.end };
  const last = unit.drafts.length - 1;
  return unit.drafts.map((draft, ordinal) => ({
    spot: { offset: unit.start, ordinal },
    after: ordinal === last ? { offset: unit.end, ordinal: 0 } : { offset: unit.start, ordinal: ordinal + 1 },
    place,
    draft,
  }));
}

/** Neighbouring slots that are one entry, told again as it grew: the first one's name with the last one's content. */
export interface Run {
  readonly first: Slot;
  readonly last: Slot;
  readonly draft: EntryDraft;
}

export function runOf(slot: Slot): Run {
  return { first: slot, last: slot, draft: slot.draft };
}

/** The run of both where the two are one entry; undefined where they are not. */
export function joinRuns(earlier: Run, later: Run): Run | undefined {
  const a = earlier.last;
  const b = later.first;
  const key = b.draft.mergeKey;
  if (key === undefined || a.draft.mergeKey !== key) return undefined;
  if (cellOf(a) !== cellOf(b) || !continues(a.draft, b.draft)) return undefined;
  return { first: earlier.first, last: later.last, draft: mergeDrafts(earlier.draft, later.draft) };
}

function cellOf(slot: Slot): number {
  return Math.floor(slot.spot.offset / MERGE_CELL_BYTES);
}

/** Whether `b` tells `a` again, or more of it. */
function continues(a: EntryDraft, b: EntryDraft): boolean {
  if (a.subagent !== b.subagent) return false;
  if (a.kind === "model" && b.kind === "model") {
    return (
      a.blocks.length <= b.blocks.length &&
      a.blocks.every((block, i) => {
        const next = b.blocks[i];
        if (next === undefined || block.kind !== next.kind) return false;
        if (block.kind === "text" || block.kind === "thinking")
          return "text" in next && next.text.startsWith(block.text);
        if (block.kind === "tool-use")
          return "id" in next && next.id === block.id && next.name === block.name;
        return true;
      })
    );
  }
  if (a.kind === "delivered" && b.kind === "delivered")
    return a.sender === b.sender && b.body.startsWith(a.body);
  if (a.kind === "tool-result" && b.kind === "tool-result")
    return a.toolUseId === b.toolUseId && b.content.startsWith(a.content);
  if (a.kind === "streaming" && b.kind === "streaming")
    return b.text.startsWith(a.text) && b.thinking.startsWith(a.thinking);
  return a.kind === "compacted" && b.kind === "compacted";
}

/** The newer telling, with what only the older one knew. Associative, so that it is the same from either end of a run. */
function mergeDrafts(older: EntryDraft, newer: EntryDraft): EntryDraft {
  if (older.kind === "compacted" && newer.kind === "compacted") {
    return { ...older, ...newer, summary: newer.summary === "" ? older.summary : newer.summary };
  }
  return { ...older, ...newer } as EntryDraft;
}

/** The entry of a run, not yet paired. */
export function entryOf(run: Run): Entry {
  const { mergeKey: _key, unfinished: _unfinished, ...rest } = run.draft;
  return { name: nameAt(run.first.spot), place: run.last.place, ...rest } as Entry;
}

export function startOf(run: Run): Position {
  return formatSpot(run.first.spot);
}

export function endOf(run: Run): Position {
  return formatSpot(run.last.after);
}

/** A record's seat in the course of the conversation: what branches and turns are told from. Small, kept for many records. */
export interface Seat {
  readonly start: number;
  readonly end: number;
  readonly node?: TreeNode;
  readonly marks: readonly Mark[];
}

export function seatOf(unit: Unit): Seat {
  const { start, end, marks } = unit;
  const node = unit.said?.node;
  return { start, end, marks, ...(node === undefined ? {} : { node }) };
}
