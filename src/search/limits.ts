/** Bounds of a search. */

/** Terms of a query, and characters of one. */
export const TERMS_MAX = 32;
export const TERM_UNITS_MAX = 200;
/** Entries of a session that are read at once. */
export const SCAN_PAGE_ENTRIES = 200;
/** Hits that one session gives: a word that is everywhere in one hides no other session. */
export const SESSION_HITS_MAX = 20;
/** UTF-16 units of an excerpt. */
export const EXCERPT_UNITS_MAX = 200;
/** Bytes of a file that are looked through at once before its records are read. */
export const SIFT_BYTES: number = 1024 * 1024;
/** UTF-16 units of text that are put into the index at once. */
export const BATCH_UNITS_MAX: number = 4 * 1024 * 1024;
/** Entries that are put into the index at once. */
export const BATCH_ENTRIES_MAX = 4_000;
/** Entries of one session that the index can number; those behind are found by reading. */
export const SESSION_ENTRIES_MAX = 10_000_000;
/** Newest entries of a session that are read again when it has grown: what was appended may have changed them. */
export const REREAD_ENTRIES = 16;
/** Bytes before the known end that must still be there for a file to have only grown. */
export const GROWN_CHECK_BYTES = 1024;
/** How long one process waits for another that writes to the index; then it reads the session instead. */
export const BUSY_MS = 2_000;
