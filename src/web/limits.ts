/** Bounds of the page. */

/** Sessions that the list shows at once. */
export const LIST_MAX = 50;
/** Entries of the first content of a session, and UTF-16 units of its HTML: what a slow link brings within a second. */
export const FIRST_ENTRIES_MAX = 40;
export const FIRST_UNITS_MAX = 60_000;
/** UTF-16 units of one text in the first content; the whole of it is asked for when it is opened. */
export const FIRST_TEXT_MAX = 4_000;
/** Entries that are asked for at once further back. */
export const OLDER_ENTRIES = 30;
export const OLDER_TEXT_MAX = 16_000;
/** Entries that the page holds; beyond it those that are furthest from what is read go. */
export const HELD_ENTRIES_MAX = 600;
/** Pauses before a broken lane is opened again: doubling from the first to the last. */
export const RETRY_FIRST_MS = 500;
export const RETRY_MAX_MS = 15_000;
/** A lane that is silent for so long is opened anew: the server says something at least every 15 seconds. */
export const SILENT_MS_MAX = 45_000;
/** A lane that brings nothing at all within so long is held up by something on the way: polls take its place. */
export const HELD_UP_MS = 20_000;
/** UTF-16 units of one event. */
export const EVENT_UNITS_MAX: number = 8 * 1024 * 1024;
/** Results of a search. */
export const HITS_MAX = 50;
/** Characters of a prompt. */
export const PROMPT_UNITS_MAX = 60_000;
/** How long a notice stands. */
export const NOTICE_MS = 8_000;
