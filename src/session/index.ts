/** One session of any agent, as every front end sees it. @module */
export type { Change, Session } from "./types.ts";
