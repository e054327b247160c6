/** Bounds of reading databases. */

/** A database above this size, with its log, is not copied, and so not read. */
export const COPY_BYTES_MAX: number = 4 * 1024 * 1024 * 1024;
/** Times a copy is begun again where the database was written meanwhile. */
export const COPY_TRIES_MAX = 3;
/** The main file is not copied again before this many times the last copying's own time went by; what was copied stands until then. */
export const COPY_REST_FACTOR = 10;
/** Copies that nobody uses and that are kept for the next reader. */
export const COPIES_KEPT_MAX = 2;
/** Most sessions of one database that are listed, the newest first. */
export const DATABASE_SESSIONS_MAX = 20_000;
