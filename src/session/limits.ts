/** Bounds of the session layer. */

/** Most blocks that may wait for an unfinished one before them; past it the oldest is finished as it stands. */
export const PENDING_BLOCKS_MAX = 64;

/** Entries of the tail in which the step under way is looked for when a lane begins. */
export const LANE_TAIL_ENTRIES = 64;
/** Calls that a lane remembers to have told; of older ones no end is told any more. */
export const TOLD_CALLS_MAX = 4096;
/** Code units of text of one frame. */
export const FRAME_TEXT_MAX: number = 1024 * 1024;
/** For how long it is taken that a session is driven after it was seen to be. */
export const DRIVEN_KNOWN_MS = 500;
