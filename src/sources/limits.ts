/** Bounds of reading a line log. */

/** Most entries one page holds; a larger limit is taken as this one. */
export const PAGE_ENTRIES_MAX = 1000;

/** Most UTF-16 units of one text of an entry; past it the text is cut and says how much is missing. */
export const ENTRY_TEXT_MAX = 256 * 1024;
/** Most content blocks, attachments or file changes of one entry; what is past it is counted in a last block or note. */
export const ENTRY_PARTS_MAX = 256;
/** Most bytes of damaged bytes or of an unreadable line that its raw entry shows. */
export const DAMAGE_TEXT_BYTES_MAX = 2048;

/** How far beyond a page calls and results are looked for to be paired: records, and bytes of the log. */
export const PAIR_RECORDS_MAX = 256;
export const PAIR_BYTES_MAX = 4 * 1024 * 1024;

/** How far back the last turn's begin or end is looked for. Past it, a log that was still speaking counts as in a turn. */
export const TURN_RECORDS_MAX = 1024;
export const TURN_BYTES_MAX = 4 * 1024 * 1024;

/** How far back the bytes are searched for the parent of a record that does not follow the one before it. */
export const PARENT_SEARCH_BYTES_MAX = 16 * 1024 * 1024;
/** Bytes one step of that search reads. */
export const PARENT_CHUNK_BYTES = 256 * 1024;
/** Most parents walked through, and most records read forward, to find where a branch began. */
export const BRANCH_RECORDS_MAX = 256;
export const BRANCH_BYTES_MAX = 1024 * 1024;
/** How far back the turns are counted that a rollback undoes. */
export const ROLLBACK_RECORDS_MAX = 16 * 1024;
export const ROLLBACK_BYTES_MAX = 16 * 1024 * 1024;
/** Most branches one open log remembers; past it the oldest found are forgotten. */
export const BRANCHES_MAX = 1024;

/**
 * Two records are told as one entry only within one cell of this many bytes, counted from the start of the file, so that a run of them
 * is bounded and ends at the same place in whichever direction it is read.
 */
export const MERGE_CELL_BYTES = 8 * 1024 * 1024;

/** Records without entries whose places and marks a page keeps while it looks for entries. */
export const SILENT_RECORDS_MAX = 4096;

/** What following keeps: calls that may still be answered, and the last records' seats in the tree. */
export const FOLLOW_CALLS_MAX = 4096;
export const FOLLOW_SEATS_MAX = 4096;
/** How far back following reads to know what the next records may change. */
export const FOLLOW_RECORDS_MAX = 1024;
export const FOLLOW_BYTES_MAX = 4 * 1024 * 1024;

/** Bytes that are read of a file beside a session: its settings, its title, a list of projects. */
export const BESIDE_BYTES_MAX: number = 1024 * 1024;
