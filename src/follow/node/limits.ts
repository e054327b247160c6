/** Bounds of the files that following reads and writes. */

/** Largest record of a call that is read; what a longer one says is not known. */
export const RECORD_BYTES_MAX: number = 1024 * 1024;
/** Bytes of records that one look reads; the rest waits for the next look. */
export const LOOK_RECORD_BYTES_MAX: number = 8 * 1024 * 1024;
/** Folders of calls that are watched; of further ones the steady look finds what changed. */
export const WATCHED_CALLS_MAX = 64;
/** Time between two looks where everything is watched, in milliseconds. */
export const WATCHED_TICK_MS = 250;
/** Newest steps in which the answer of a call is looked for, so that who is late is told who answered. */
export const LATE_STEPS_MAX = 8;
/** Longest text of a prompt from another process, in bytes. */
export const PROMPT_BYTES_MAX: number = 1024 * 1024;
/** Prompts that may wait in an inbox. */
export const INBOX_PROMPTS_MAX = 100;
