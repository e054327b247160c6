/** The terminal shell over a session. @module */
export { createShell, type ResizeWay, type Shell, type ShellEnd, type ShellOptions } from "./shell.ts";
