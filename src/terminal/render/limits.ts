/** The caps of the renderer. Each has a test at its limit. */

/** Code units of Markdown read as one block; a longer block is cut, at a line end or a space where there is one. */
export const blockUnitsMax = 16_384;

/** List and quote markers in front of one another on a line; a deeper line makes its block plain text. */
export const nestingMax = 24;

/** Lines of a code fence that are laid out together; a piece ends at a blank line once it has the lower number of lines. */
export const codePieceLinesMin = 24;
export const codePieceLinesMax = 60;

/** Lines of one code fence that get syntax colour, and code units of one piece of it. */
export const highlightLinesMax = 400;
export const highlightUnitsMax = 16_384;

/** Rows that a tool's output takes in compact detail. */
export const outputRowsMax = 5;

/** Rows of a failed output that are taken from its end, where most errors say what they are. */
export const outputTailRows = 3;

/** Rows of thinking in compact detail. */
export const thinkingRowsMax = 2;

/** Rows of a prompt in compact detail: long pastes are folded. */
export const promptRowsMax = 20;

/** Rows of a file change in compact detail. */
export const diffRowsMax = 16;

/** Code units of both sides of a change together that are compared; larger ones are told by their size. */
export const diffUnitsMax = 400_000;

/** Milliseconds a comparison may take, and edits it may find, before the change is told by its size. */
export const diffTimeMaxMs = 150;
export const diffEditsMax = 4_000;

/** Unchanged lines shown around a change. */
export const diffContextLines = 2;

/** Cells that prose is laid out to at most: longer rows are hard to read. */
export const proseCellsMax = 100;
