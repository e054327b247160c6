/** The bounds of the shell. Each has a test at its limit. */
import type { WindowConfig } from "../../window/index.ts";

/**
 * The number that the first block after the newest ones at opening gets: above any count of blocks that may precede it, and low enough that
 * traces stay within the 32-bit integers of TLC.
 */
export const originNumber = 2 ** 30;

/** Blocks read and printed when a session is opened. */
export const tailBlocks = 100;

/** Blocks read from the log at once, to open the pager far back or to move it. */
const pageBlocks = 60;

/** The bounds of the shell's window. `maxLive` is above what a tail page and the session's tracker can leave unfinished together. */
export const windowConfig: WindowConfig = {
  window: 240,
  step: pageBlocks,
  slice: 20,
  maxLive: 2 * tailBlocks,
  maxHeld: 400,
  followWhileOpen: true,
  jump: true,
};

/** Finished blocks that wait for the main screen while the pager has the terminal; beyond it the oldest are left to the pager. */
export const waitingBlocksMax = 1_000;

/** Blocks handed to the screen before it is waited for. */
export const unflushedBlocksMax = 50;

/** A size that has not changed for this long is settled. */
export const resizeSettleMs = 80;

/** Between two pictures of the spinner. */
export const spinnerMs = 120;

/** An open turn whose log has said nothing for this long is shown as quiet: the agent may be gone. */
export const quietAfterMs = 10 * 60_000;

/** How long a message stays above the status row. */
export const noticeMs = 8_000;

/** Bytes of a record shown by the raw toggle. */
export const rawBytesMax = 16 * 1_048_576;

/** Characters put on the clipboard at once; many terminals take no more. */
export const copyUnitsMax = 75_000;

/** How long a terminal may take to say where its cursor is. */
export const askCursorMs = 250;

/** Between two questions where the terminal has another size than the system says, and how many there are. */
export const askAgainMs = 60;
export const askTriesMax = 10;

/** Cells of the window's title. */
export const titleCellsMax = 80;
