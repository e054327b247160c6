/** Finding words in all sessions. @module */
export { matches, parseQuery, type Query } from "./query.ts";
export { type ScanHit, type Scanned, type ScanOptions, scan } from "./scan.ts";
export { forgetOthers, type SearchOptions, search } from "./search.ts";
