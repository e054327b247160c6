/** The bounds of the pager. Each has a test at its limit. */

/** Rows kept laid out, over all blocks; the blocks on the screen are kept whatever they take. */
export const laidOutRowsMax = 200_000;

/** Units of what is searched for. */
export const needleUnitsMax = 200;

/** Rows that the wheel moves. */
export const wheelRows = 3;

/** Blocks with a detail of their own; the oldest choice is forgotten beyond that. */
export const choicesMax = 1_000;

/** Records whose verbatim bytes are kept for the raw view. */
export const rawRecordsMax = 4;

/** Requests in a row that bring no further block before a move that needs them is given up. */
export const fruitlessAsksMax = 3;

/** Rows that keys pressed at the window's edge may ask for together before its next blocks come. */
export const waitingRowsMax = 1_000;

/** Letters of the word that stays at the top in a resize, and rows to either side where it is looked for. */
export const anchorUnitsMax = 8;
export const anchorRowsMax = 20;
