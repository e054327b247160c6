/** Bounds of an export. */

/** Verbatim bytes of a record that `raw` adds to an entry; what is longer is cut and said to be. */
export const RAW_BYTES_MAX: number = 256 * 1024;
/** Places that the review list of a redaction names; all are counted. */
export const FINDINGS_MAX = 10_000;
/** Turns that the contents of a page name; later ones are counted. */
export const CONTENTS_MAX = 10_000;
