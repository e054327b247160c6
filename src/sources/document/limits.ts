/** Bounds of reading documents. */

/** An element above this size is kept as a placeholder. */
export const ELEMENT_BYTES_MAX: number = 64 * 1024 * 1024;
/** Most elements one document is read to; what stands behind them is told as damage. */
export const ELEMENTS_MAX = 200_000;
/** A fact of the document above this size is not read. */
export const MEMBER_BYTES_MAX: number = 64 * 1024;
/** Longest name of an element; one with a longer name is named by its place in the order. */
export const ELEMENT_NAME_MAX = 200;
/** Most damage notes one document keeps. */
export const DAMAGE_NOTES_MAX = 10_000;
/** Bytes before the last element that must still be there for the file to have only grown. */
export const GROWN_PRINT_BYTES = 1024;
/** Most elements read beside one element for the other halves of its calls and results. */
export const PARTNERS_MAX = 64;
/** Messages that are looked into for a prompt that can be a session's title. */
export const TITLE_MESSAGES_MAX = 8;
/** A message above this size is not looked into for one. */
export const TITLE_BYTES_MAX: number = 1024 * 1024;
