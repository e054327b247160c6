/** The terminal shell over a session. @module */
export { createShell } from "./shell.ts";
export type { ResizeWay, Shell, ShellEnd, ShellOptions, TalkSpec } from "./types.ts";
