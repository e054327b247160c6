/** Bounds of reading the tree of files. */

/** Newest messages whose parts are looked at anew each time; older ones when their bytes proved to be others, or all is read. */
export const TREE_FRESH_MESSAGES_MAX = 64;
/** Most parts of one message that are read; how many stand behind them is told. */
export const TREE_PARTS_MAX = 10_000;
/** A session's own record above this size is not read. */
export const TREE_RECORD_BYTES_MAX: number = 16 * 1024 * 1024;
