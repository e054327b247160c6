/** Entries, content blocks, keys and pure projections of a transcript. @module */
export type {
  Attachment,
  CallOutcome,
  CallState,
  CompactedEntry,
  ContentBlock,
  DeliveredEntry,
  Entry,
  EntryBase,
  EntryKind,
  Epitaph,
  FileChange,
  ModelEntry,
  Place,
  RawEntry,
  StreamingEntry,
  ToolResultEntry,
  Usage,
  Wound,
  WoundedEntry,
} from "./entry.ts";
export {
  type CallSeat,
  callsOf,
  createPairer,
  outcomeOf,
  type Pairer,
  type PairingContext,
  type Pairs,
  pairCalls,
  withCall,
  withOutcome,
} from "./pairing.ts";
export { absorbStream, foldStream, type Stream } from "./stream.ts";
export { LIVE_NAME, liveEntry, WOUND_NAME, withLive, withWound, woundEntry } from "./tail.ts";
