/** The history view (Ctrl+O) and its painter. @module */
export { createPager } from "./pager.ts";
export { createPagerPainter, type PagerPainter } from "./painter.ts";
export type { Pager, PagerBlock, PagerOptions, PagerRequest, PagerView } from "./types.ts";
