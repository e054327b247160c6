/** Keys, pastes and reports from the terminal's input. @module */
export { createInputDecoder, type InputDecoder } from "./decoder.ts";
export { pasteUnitsMax } from "./limits.ts";
export { createQueries, type Queries } from "./queries.ts";
export { type Key, keyName, type Report } from "./types.ts";
