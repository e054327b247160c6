/** Readers of the agents' own logs. @module */
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
