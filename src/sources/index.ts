/** Readers of the agents' own logs. @module */
export { SourceError, type SourceErrorCode } from "./errors.ts";
export type { Deposit, WaitingMessage } from "./messages/deposit.ts";
export { type MessagesDriving, messagesDriving } from "./messages/driving.ts";
export type { Ending } from "./messages/framing.ts";
export { type MessagesPlace, placeOf } from "./messages/listing.ts";
export type { StepRecord, WoundStanding } from "./messages/wounds.ts";
export {
  type DiscoverOptions,
  describeSession,
  detectSource,
  discoverAll,
  openLog,
  piecesOf,
  sourceRoots,
  sources,
} from "./registry.ts";
export type {
  AgentName,
  CheckReport,
  DamageNote,
  FoundSession,
  Log,
  LogEvent,
  LogItem,
  Page,
  Position,
  SessionInfo,
  Source,
  Surroundings,
  TailPage,
} from "./types.ts";
export { loadWorkspaceReaders, type WorkspaceReaders } from "./workspace.ts";
