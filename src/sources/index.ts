/** Readers of the agents' own logs. @module */
export { SourceError, type SourceErrorCode } from "./errors.ts";
export {
  type DiscoverOptions,
  describeSession,
  detectSource,
  discoverAll,
  openLog,
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
