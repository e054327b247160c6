/** Bounds of reading Cursor's databases. */

/** The editor's database is listed up to this size: it must be copied for it, and grows to gigabytes. Above, it is opened by its path. */
export const EDITOR_LIST_BYTES_MAX: number = 256 * 1024 * 1024;
/** Newest messages of the editor that are compared whole; older ones by their lengths. */
export const EDITOR_FRESH_MESSAGES_MAX = 64;
/** The list of a chat's messages above this size is not read. */
export const CHAT_ROOT_BYTES_MAX: number = 16 * 1024 * 1024;
