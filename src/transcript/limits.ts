/** Bounds of the projections. */

/** Most code points of a row's preview, before the ellipsis. */
export const PREVIEW_MAX = 160;
