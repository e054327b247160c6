/** Bounds of reading an export. */

/** A line above this size is told as damage. */
export const EXPORT_LINE_BYTES_MAX: number = 64 * 1024 * 1024;
/** Most entries of one export; what stands behind them is told as damage. */
export const EXPORT_ENTRIES_MAX = 1_000_000;
/** Bytes that are read at once. */
export const EXPORT_CHUNK_BYTES: number = 256 * 1024;
