/** The bounds of the pager. Each has a test at its limit. */

/** Rows kept laid out, over all blocks; a single block may have more while it is looked at. */
export const laidOutRowsMax = 400_000;

/** Units of what is searched for. */
export const needleUnitsMax = 200;

/** Rows that the wheel moves. */
export const wheelRows = 3;

/** Blocks with a detail of their own; the oldest choice is forgotten beyond that. */
export const choicesMax = 1_000;

/** Records whose verbatim bytes are kept for the raw view. */
export const rawRecordsMax = 4;
