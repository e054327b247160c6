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
  FurtherResult,
  ModelEntry,
  Place,
  RawEntry,
  StreamingEntry,
  ToolResultEntry,
  Usage,
  Wound,
  WoundedEntry,
} from "./entry.ts";
export { DEFAULT_KNOBS, type Expansion, type Knobs, type RowClass, toggleRow } from "./expansion.ts";
export {
  type HandoffDraft,
  handoffDraft,
  handoffNoteLabel,
  handoffNoteTopic,
  isHandoffEntry,
} from "./handoff-note.ts";
export { rowKey, turnKey } from "./key.ts";
export { PREVIEW_MAX } from "./limits.ts";
export { type Orphan, orphanedTail, type Standing } from "./orphan.ts";
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
export { answeredIds, isToolInProgress, resultsOf, type ToolResultPart } from "./query.ts";
export {
  isUnderWay,
  type Row,
  type RowOptions,
  type RowPart,
  type RowRole,
  type RowTone,
  rowsOf,
  splitPayload,
} from "./rows.ts";
export {
  type Card,
  type Child,
  type Cohort,
  cohortsOf,
  type Notch,
  pinEntries,
  type Seat,
  type SpineStep,
  spineOf,
} from "./spine.ts";
export { absorbStream, foldStream, type Stream } from "./stream.ts";
export { LIVE_NAME, liveEntry, WOUND_NAME, withLive, withWound, woundEntry } from "./tail.ts";
export { countTurn, rollUp, type Segment, segmentRows, type TurnCounts, turnTerms } from "./turns.ts";
export {
  decodeEntry,
  decodeReply,
  decodeRow,
  decodeStream,
  decodeTranscript,
  encodeRefusal,
  encodeReply,
  encodeRow,
  encodeStream,
  encodeTranscript,
  readStream,
  virtualRaw,
  type WireRow,
} from "./wire.ts";
export { encodeEntry } from "./wire-entry.ts";
export {
  type Decoded,
  decoding,
  type Refusal,
  type RefusalCode,
  readBoolean,
  readCount,
  readFields,
  readList,
  readNumber,
  readObject,
  readOptional,
  readString,
  readWord,
  refuse,
  type WireFields,
  wireText,
  within,
} from "./wire-fields.ts";
export { woundBanner } from "./wound.ts";
