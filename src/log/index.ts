/**
 * The session log: one append-only file a session that loses nothing it acknowledged. One process writes it (`createLog`,
 * `openLogForWrite`, `takeOverLog`); any number read it (`openLogForRead`), fork it (`forkLog`) and judge it (`checkLog`). The format and
 * the promises are in docs/log.md.
 * @module
 */
export { type BlobRef, putText, readBlob } from "./blobs.ts";
export { checkLog, type InvalidRecord, type LogReport } from "./check.ts";
export { type DecodedLine, decodeLine, decodeParsed, type LineFault } from "./codec.ts";
export { LogError, type LogErrorCode } from "./errors.ts";
export type { OpenTurn, TailState } from "./fold.ts";
export { type Forked, type ForkOptions, forkLog } from "./fork.ts";
export {
  type ContinuityOrigin,
  type ContinuityPortsOptions,
  createContinuityPersistencePorts,
  readContinuityLedger,
  readContinuityRecordExact,
  type SessionLedger,
} from "./handoff-ports.ts";
export type { Inspection, LogDamage, LogFault, Verdict } from "./inspect.ts";
export type { LeaseHolder, LeaseOwner } from "./lease.ts";
export { blobBytesMax, inlineBytesMax, lineBytesMax, settingBytesMax } from "./limits.ts";
export { nodePorts } from "./node-ports.ts";
export {
  type CreateOptions,
  createLog,
  type OpenOptions,
  openLogForWrite,
  readHolder,
  takeOverLog,
  writeRefusal,
} from "./open.ts";
export { isSessionId, type StateSurroundings, sessionsFolder, stateFolder } from "./paths.ts";
export type {
  AttachmentPayload,
  CallPayload,
  ChangePayload,
  NotePayload,
  PromptPayload,
  ResultPayload,
  SpokenPayload,
  SpokenPiece,
} from "./payloads.ts";
export type { Clock, FileFacts, Files, Host, LogPorts, OpenFile, OpenMode, ProcessFacts } from "./ports.ts";
export {
  type DamageItem,
  type LogCycle,
  type LogItem,
  type LogPage,
  type LogReader,
  openLogForRead,
  type ReadOptions,
  type RecordItem,
  type ResumePoint,
  resumePoint,
} from "./reader.ts";
export {
  type BlobPlace,
  type CompactionChain,
  type ConversationEntry,
  conversationKinds,
  isConversation,
  type Json,
  type LifecycleBody,
  type LogRecord,
  type MessageRole,
  type RecordKind,
  type RecordSpec,
  type SessionBody,
  type SessionRecord,
  type Stamp,
  toEntry,
  type UnknownRecord,
} from "./records.ts";
export { type Repaired, type RepairOptions, repairLog } from "./repair.ts";
export { createUnsavedLog } from "./unsaved.ts";
export { recordProblem } from "./validate.ts";
export type {
  Appended,
  Closed,
  Durability,
  Flushed,
  LogListener,
  LogNotice,
  LogWriter,
  OpenedState,
  RecordPlace,
  WriteProblem,
  WriterOptions,
  WriterStatus,
} from "./writer-types.ts";
