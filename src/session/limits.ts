/** Bounds of the session layer. */

/** Most blocks that may wait for an unfinished one before them; past it the oldest is finished as it stands. */
export const PENDING_BLOCKS_MAX = 64;
