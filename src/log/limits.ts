/** Every bound of the session log. */

const kib = 1024;
const mib = 1024 * kib;

/** Bytes of one line, its line feed included. A longer record is refused before anything is written. */
export const lineBytesMax: number = 4 * mib;
/** Bytes of a text of a message or custom record that stay on the line; longer ones go to a blob. */
export const inlineBytesMax: number = 64 * kib;
/** The bound for texts of a record that would not fit on a line although none of them is long. */
export const inlineTightBytesMax: number = 4 * kib;
/** Characters (UTF-16 units) of a text that stay in the record when the text goes to a blob. */
export const blobHeadChars = 1024;
export const blobBytesMax: number = 512 * mib;
/** Bytes read or written at once while a blob is made, checked or copied. */
export const copyChunkBytes: number = 256 * kib;

/** Bytes of log after which a snapshot is due; at least `snapshotShare` times the newest snapshot's own size. */
export const snapshotEveryBytes: number = 64 * kib;
export const snapshotShare = 8;

export const settingsMax = 64;
export const settingKeyBytesMax = 128;
export const settingBytesMax: number = 4 * kib;
/** Characters of an id, and of the header's texts. */
export const idCharsMax = 256;
export const headerTextBytesMax: number = 16 * kib;
/** Nesting of a payload. Deeper ones would overflow the stack of some reader. */
export const jsonDepthMax = 500;

/** Bytes of one write. A single larger record batch is still one write. */
export const groupBytesMax: number = 8 * mib;
/** Bytes written and not synced after which a sync is made whatever the durability. They are kept, for a disk that fails a sync. */
export const unsyncedBytesMax: number = 8 * mib;
/** What is held in memory while the disk refuses; beyond it records are missed, and the log says how many. */
export const heldBytesMax: number = 64 * mib;
export const heldRecordsMax = 100_000;

/** Pauses between attempts to write again: doubling from the first to the last. */
export const retryFirstMs = 250;
export const retryMaxMs = 4000;

/** The last millisecond of year 9999: a clock beyond it, which no text of a time in a record can say, counts as one that says nothing. */
export const clockMsMax = 253_402_300_799_999;

/** How often one who waits for a lease looks again. */
export const leasePollMs = 200;
/** Rounds of taking a lease against others who take it at the same moment. */
export const leaseRoundsMax = 32;
/** Age at which a lease file without readable content counts as left behind. */
export const leaseBlankMs = 2000;
export const leaseBytesMax: number = 4 * kib;

/** Bytes of one read while the end of a log is inspected. */
export const readBlockBytes: number = 64 * kib;
/** Damaged ranges listed of one log; more are counted. */
export const damageListMax = 1000;
