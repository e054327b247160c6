/** One session of any agent, as every front end sees it. @module */
export { PENDING_BLOCKS_MAX } from "./limits.ts";
export { createSession } from "./session.ts";
export { createTracker, type Tracker } from "./tracker.ts";
export type { Change, Session } from "./types.ts";
