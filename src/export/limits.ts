/** Bounds of an export. */

/** Verbatim bytes of a record that `raw` adds to an entry; what is longer is cut and said to be. */
export const RAW_BYTES_MAX: number = 256 * 1024;
/** Places that the review list of a redaction names; all are counted. */
export const FINDINGS_MAX = 10_000;
/** Turns that the contents of a page name; later ones are counted. */
export const CONTENTS_MAX = 10_000;
/** Code points of a turn's title. */
export const TITLE_MAX = 80;
/** UTF-16 units of one Markdown text that are laid out; longer ones are shown as they are written. */
export const PROSE_UNITS_MAX: number = 512 * 1024;
/** Levels of quotes and lists that are laid out; deeper ones are shown as they are written. */
export const PROSE_DEPTH_MAX = 24;
