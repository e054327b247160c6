/** Bounds of what is laid out as HTML. */

/** Code points of a turn's title. */
export const TITLE_MAX = 80;
/** UTF-16 units of one Markdown text that are laid out; longer ones are shown as they are written. */
export const PROSE_UNITS_MAX: number = 512 * 1024;
/** Levels of quotes and lists that are laid out; deeper ones are shown as they are written. */
export const PROSE_DEPTH_MAX = 24;
