/** Transcripts as inert HTML, for an export, the server and the page alike: pure, and made to run in a browser too. @module */
export {
  attachmentWords,
  callWords,
  changeLines,
  durationWords,
  outcomeWords,
  usageWords,
} from "./call-words.ts";
export { changesHtml, details, entryHtml, outputHtml } from "./entry.ts";
export { escapeHtml, inertLine, inertText, safeAddress } from "./inert.ts";
export { PROSE_UNITS_MAX } from "./limits.ts";
export { contentStyle } from "./style.ts";
export { beginsTurn, speakerOf, timeWords, titleOf } from "./words.ts";
