/** Bounds of the fold, the tool window and the lane. */

/** Bytes that one look reads of a response; the rest waits for the next look, so that no frame grows beyond `FRAME_BYTES_MAX`. */
export const READ_BYTES_MAX: number = 1024 * 1024;
/** Longest event line that is folded; a longer one is stepped over. */
export const LINE_BYTES_MAX: number = 1024 * 1024;
/** Bytes before the offset that are compared at each read, to tell a file that was rewritten. */
export const GUARD_BYTES = 64;

/** Characters of a call's input in an event; the middle of a longer one is left out. */
export const EVENT_INPUT_MAX = 240;
/** Shortest text that leaving out the middle may make. */
export const ELIDE_MIN = 16;
/** Characters of names, ids, reasons and labels in an event. */
export const EVENT_WORDS_MAX = 1024;
/** Options of one parked call that an event carries. */
export const EVENT_OPTIONS_MAX = 16;
/** Events of one frame; the rest comes with the next. */
export const FRAME_EVENTS_MAX = 256;
/** Calls of one step that a read tells of. */
export const WINDOW_CALLS_MAX = 10_000;

/** Largest frame on the wire, in bytes. */
export const FRAME_BYTES_MAX: number = 16 * 1024 * 1024;

/** Time between two looks where nothing tells of changes, in milliseconds. */
export const HOLD_TICK_MS = 16;
/** A read that stays quiet for this long ends. */
export const HOLD_MS = 30_000;
/** After a read that told nothing, the next one begins this much later. */
export const REASK_MS = 500;
/** Looks of an answer at once. */
export const ONCE_LOOKS_MAX = 64;
