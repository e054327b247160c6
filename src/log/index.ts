/** The session log: an append-only record on disk that loses nothing it acknowledged. @module */
export type { LogRecord } from "./records.ts";
