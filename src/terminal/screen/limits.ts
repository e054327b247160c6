/** The bounds of the screen. Each has a test at its limit. */

/** Milliseconds from one frame to the next, at least. */
export const frameMs = 16;

/** Printed lines that are remembered, so that those still visible can be laid out again when the width changes. */
export const recentLinesMax = 1_000;

/** Code units after which a write takes no further printing: the rest follows in further writes, each waited for. */
export const writeUnitsMax = 262_144;

/** How often the terminal is asked for its cursor while its size goes on changing. */
export const askTriesMax = 4;

/** How long a terminal, or what stands between it and us, may take to tell of a new size that it shows already. */
export const sizeLateMs = 500;
