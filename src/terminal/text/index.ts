/** Text for the terminal: the filter, the width rule, wrapping, and the bytes of styled lines. @module */
export { binaryKind, decodeBytes, looksBinary } from "./bytes.ts";
export { type Cut, cellsOf, cutCells, cutStart, graphemes, hasUncertainWidth, takeCells } from "./cells.ts";
export { plainLine, plainLines } from "./plain.ts";
export {
  createSanitizer,
  isSafe,
  type SafeLine,
  type SanitizeOptions,
  type Sanitizer,
  safeSpans,
  sanitize,
  sanitizeLine,
  sanitizeLines,
} from "./sanitize.ts";
export { encodeLine } from "./sgr.ts";
export { themeOf } from "./theme.ts";
export type { ColorDepth, Line, Span, Theme, Tone } from "./types.ts";
export { joinSpans, rowsOf, spansCells, splitRows, wrapHard, wrapWords } from "./wrap.ts";
