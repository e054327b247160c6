/** Entries to styled lines. @module */
export { spinnerFrames } from "./call.ts";
export { woundWords } from "./entries.ts";
export { renderEntry } from "./entry.ts";
export {
  createClock,
  formatBytes,
  formatCount,
  formatDuration,
  formatElapsed,
  formatTokens,
  type TimeFormat,
} from "./format.ts";
export { type Highlighter, loadHighlighter } from "./highlight.ts";
export type { Detail, RenderOptions } from "./options.ts";
export { isParted } from "./shape.ts";
export { type Notice, renderNotice, renderStatus, type Status } from "./status.ts";
export { createStreamRenderer, type StreamLines, type StreamRenderer } from "./stream.ts";
