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
