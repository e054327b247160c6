/** The bounds of the screen. Each has a test at its limit. */

/** Milliseconds from one frame to the next, at least. */
export const frameMs = 16;

/** Printed lines that are remembered, so that those still visible can be laid out again when the width changes. */
export const recentLinesMax = 1_000;

/** Bytes printed in one write; more printed lines follow in further writes, each waited for. */
export const writeUnitsMax = 262_144;
