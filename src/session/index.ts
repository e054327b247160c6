/** One session of any agent, as every front end sees it. @module */

/** The types of pages, so that front ends need to know sessions alone. */
export type { AgentName, DamageNote, Page, Position, SessionInfo, TailPage } from "../sources/index.ts";
/** How a session that cannot be read, or a position that is void, is told. */
export { SourceError, type SourceErrorCode } from "../sources/index.ts";
export { followSession, readSessionOnce, type StepPlace, stepPlaceOf } from "./lane.ts";
export { createLaneTeller, type LaneTeller } from "./lane-teller.ts";
export { PENDING_BLOCKS_MAX } from "./limits.ts";
export { createSession, tornEnd } from "./session.ts";
export { createTracker, type Tracker } from "./tracker.ts";
export type {
  Answered,
  Approval,
  ApprovalOption,
  Change,
  DrivenSession,
  DriverState,
  PlanStep,
  Session,
} from "./types.ts";
