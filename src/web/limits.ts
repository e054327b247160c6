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
/** Entries that go beyond those that have to, so that not each new one lets one go. */
export const TRIMMED_ENTRIES = 60;
/** Pages that one scroll to the top, or a jump to an earlier prompt, reads at most. */
export const SCROLL_PAGES_MAX = 5;
export const JUMP_PAGES_MAX = 20;
/** A growing block whose drawing took no longer is drawn with each frame; else after so many times what it took. */
export const CHEAP_DRAW_MS = 8;
export const DRAW_PAUSES = 4;
/** Between two drawings of a page that is not seen. */
export const HIDDEN_FRAME_MS = 250;
/** A movement of the page so soon after the reader's hand was at it is the reader's. */
export const HAND_MS = 1_000;
/** Pauses before a broken lane is opened again: doubling from the first to the last. */
export const RETRY_FIRST_MS = 500;
export const RETRY_MAX_MS = 15_000;
/** A lane that is silent for so long is opened anew: the server says something at least every 15 seconds. */
export const SILENT_MS_MAX = 45_000;
/** A lane that is silent for so long is told to be: the server's sign of life is overdue. */
export const QUIET_MS = 20_000;
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
