/** What a log's end says of the whole: a small value that each record moves on, and that a snapshot record holds. Pure. */
import { snapshotEveryBytes, snapshotShare } from "./limits.ts";
import {
  isConversation,
  type Json,
  type LogRecord,
  logVersion,
  type SnapshotBody,
  type Stamp,
  type UnknownRecord,
} from "./records.ts";

export interface OpenTurn {
  readonly turn: number;
  /** Byte offset of its start. */
  readonly offset: number;
}

/** The fold of a log up to `end`. */
export interface TailState {
  /** The number of the next record. */
  readonly seqNext: number;
  /** Bytes of the log. */
  readonly end: number;
  /** Turns started. */
  readonly turns: number;
  readonly openTurn: OpenTurn | undefined;
  /** Compactions: the number of the current cycle, 0 before the first. */
  readonly cycle: number;
  /** Byte offset of the newest compaction. */
  readonly compaction: number | undefined;
  /** Start of the turn that it splits. */
  readonly compactionTurn: number | undefined;
  /** The newest message. */
  readonly leafTurnId: string | undefined;
  readonly settings: { readonly [key: string]: Json | undefined };
  /** Whether the newest record says that the log was closed. */
  readonly closed: boolean;
  /** Just after the newest snapshot, and its bytes; 0 where there is none. */
  readonly snapshotEnd: number;
  readonly snapshotBytes: number;
  /** When the newest record was appended. */
  readonly ts: number | undefined;
}

export const emptyState: TailState = {
  seqNext: 1,
  end: 0,
  turns: 0,
  openTurn: undefined,
  cycle: 0,
  compaction: undefined,
  compactionTurn: undefined,
  leafTurnId: undefined,
  settings: {},
  closed: false,
  snapshotEnd: 0,
  snapshotBytes: 0,
  ts: undefined,
};

function applySetting(settings: TailState["settings"], key: string, value: Json): TailState["settings"] {
  if (value !== null) return { ...settings, [key]: value };
  const { [key]: _gone, ...rest } = settings;
  return rest;
}

/** What a snapshot record restores. */
function restore(state: TailState, body: SnapshotBody, start: number): TailState {
  return {
    ...state,
    turns: body.turns,
    openTurn: body.openTurn,
    cycle: body.cycle,
    compaction: body.compaction,
    compactionTurn: body.compactionTurn,
    leafTurnId: body.leafTurnId,
    settings: body.settings,
    snapshotEnd: state.end,
    snapshotBytes: state.end - start,
  };
}

/** The state after one more record, which lies at `[start, end)`, its line feed included. Takes any record; an unknown kind only counts. */
export function observe(
  before: TailState,
  record: LogRecord | UnknownRecord,
  start: number,
  end: number,
): TailState {
  const state: TailState = { ...before, seqNext: record.seq + 1, end, ts: record.ts, closed: false };
  const known = record as LogRecord;
  if (isConversation(known)) {
    if (known.kind === "message") return { ...state, leafTurnId: known.turnId };
    if (known.kind !== "compactionSummary") return state;
    const turn = known.chain === undefined ? before.openTurn?.offset : known.chain.turn;
    return {
      ...state,
      cycle: known.chain?.cycle ?? before.cycle + 1,
      compaction: start,
      compactionTurn: turn,
    };
  }
  switch (known.kind) {
    case "turnStarted":
      return { ...state, turns: known.turn, openTurn: { turn: known.turn, offset: start } };
    case "turnCommitted":
    case "turnInterrupted":
      return { ...state, openTurn: undefined };
    case "set":
      return { ...state, settings: applySetting(before.settings, known.key, known.value as Json) };
    case "closed":
      return { ...state, closed: true };
    case "snapshot":
      return { ...restore(state, known, start), closed: before.closed };
    default:
      return state;
  }
}

/** Whether a snapshot should come before the next record. */
export function isSnapshotDue(state: TailState): boolean {
  return state.end - state.snapshotEnd >= Math.max(snapshotEveryBytes, snapshotShare * state.snapshotBytes);
}

/** The snapshot record of a state, to be appended at its end. */
export function snapshotOf(state: TailState, ts: number, syncedEnd: number): Stamp & SnapshotBody {
  return {
    v: logVersion,
    seq: state.seqNext,
    ts,
    synced: syncedEnd,
    kind: "snapshot",
    offset: state.end,
    turns: state.turns,
    ...(state.openTurn === undefined ? {} : { openTurn: state.openTurn }),
    cycle: state.cycle,
    ...(state.compaction === undefined ? {} : { compaction: state.compaction }),
    ...(state.compactionTurn === undefined ? {} : { compactionTurn: state.compactionTurn }),
    ...(state.leafTurnId === undefined ? {} : { leafTurnId: state.leafTurnId }),
    settings: state.settings,
  };
}
