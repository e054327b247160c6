/** The main screen: printed lines in the scrollback, the live region below. @module */
export { hasSynchronizedOutput, reflows } from "./detect.ts";
export { roomOf } from "./rows.ts";
export { createScreen } from "./screen.ts";
export type { CursorPlace, LiveCursor, Printing, Screen, ScreenOptions } from "./types.ts";
