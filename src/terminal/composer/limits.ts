/** The bounds of the composer. Each has a test at its limit. */

/** Units of a prompt's own text; what is beyond is not taken in, and that is said. Pasted text that is shown as a chip counts apart. */
export const textUnitsMax = 32_768;

/** A paste above either of these is shown as one chip. */
export const pasteShownUnitsMax = 1_000;
export const pasteShownLinesMax = 8;

/** Chips kept at once, in the text and in what undo, the kill ring and the history may bring back. */
export const chipsMax = 200;

/** Units of all chips together. */
export const chipUnitsMax = 4_000_000;

/** Steps that undo goes back. */
export const undoStepsMax = 200;

/** Killed texts that can be yanked. */
export const killsMax = 16;

/** Prompts that Up brings back. */
export const historyPromptsMax = 200;

/** Commands of the agent that the menu shows at once. */
export const menuRowsMax = 6;

/** Rows of the composer, at most; it is also never more than a part of the window. */
export const composerRowsMax = 12;
