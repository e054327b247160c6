/** Bounds of the server. Each one has a test at its edge. */

/** How long a browser keeps its key. */
export const COOKIE_LIFE_S: number = 90 * 24 * 3_600;
/** Most keys that are kept; past it one has to be revoked first. */
export const KEYS_MAX = 256;
/** Most one-time codes that wait to be used. */
export const CODES_MAX = 32;
/** How long a one-time code can be used. */
export const CODE_LIFE_MS: number = 5 * 60_000;
/** Most bytes of a key's file that are read. */
export const KEY_FILE_BYTES_MAX: number = 64 * 1024;
/** Most sessions one key names. */
export const KEY_SESSIONS_MAX = 256;
/** Most characters of a key's label. */
export const LABEL_MAX = 80;
/** How often open lanes look whether their key is still there. */
export const KEYS_LOOK_MS = 1_000;

/** Failed keys or codes one address may try within `FAILURES_WINDOW_MS`. */
export const FAILURES_MAX = 20;
/** Failed codes all addresses together may try within it: codes are short. */
export const CODE_FAILURES_MAX = 30;
export const FAILURES_WINDOW_MS = 60_000;
/** Most addresses whose failures are remembered; past it the one that failed longest ago is forgotten. */
export const FAILURE_ADDRESSES_MAX = 1_024;

/** Most bytes of a request's path and query. */
export const TARGET_MAX = 4_096;
/** Most bytes of all headers of a request. */
export const HEADER_BYTES_MAX: number = 16 * 1024;
/** Most bytes of a request's body. */
export const BODY_BYTES_MAX: number = 128 * 1024;
/** Most UTF-16 units of a prompt. */
export const PROMPT_MAX = 65_536;
/** How long the headers of a request may take, and all of it. */
export const HEADERS_MS = 10_000;
export const REQUEST_MS = 20_000;
/** How long an idle connection is kept. */
export const KEEP_ALIVE_MS = 30_000;
/** Most connections at once; further ones are closed. */
export const CONNECTIONS_MAX = 4_096;

/** Entries of a page where none are asked for, and at most. */
export const PAGE_ENTRIES_DEFAULT = 50;
export const PAGE_ENTRIES_MAX = 200;
/** UTF-16 units of one text of an entry on a page. Entries read one by one are whole. */
export const PAGE_TEXT_MAX: number = 64 * 1024;
/** Sessions of a list where none are asked for, and at most. */
export const LIST_SESSIONS_DEFAULT = 50;
export const LIST_SESSIONS_MAX = 200;
/** Most bytes of one entry that are given raw. */
export const RAW_BYTES_MAX: number = 16 * 1024 * 1024;
/** Most UTF-16 units of a search's words, and most hits. */
export const SEARCH_WORDS_MAX = 400;
export const SEARCH_HITS_MAX = 100;

/** Sessions followed at once, watched or lingering. */
export const HUBS_MAX = 128;
/** How long a session that nobody watches is followed on, so that a client that comes back goes on where it was. */
export const HUB_LINGER_MS = 30_000;
/** Frames and bytes of them that are kept for clients that come back. The newest frame is always kept. */
export const RING_FRAMES_MAX = 1_024;
export const RING_BYTES_MAX: number = 1024 * 1024;
/** What is kept of a running step for clients that come later: bytes of its frames, and tool events. */
export const STEP_BYTES_MAX: number = 4 * 1024 * 1024;
export const STEP_EVENTS_MAX = 4_096;
/** Calls that are told to wait for an answer at once, of a session that another process drives. */
export const APPROVALS_MAX = 64;
/** Entries of the page that a hub begins with; more than ever wait to be finished. */
export const HUB_TAIL_ENTRIES = 100;
/** UTF-16 units of one text of an entry on a lane; what the model writes is whole. */
export const LANE_TEXT_MAX: number = 16 * 1024;
/** Entries that one read of a catch-up gives. */
export const CATCH_UP_ENTRIES = 32;

/** Bytes of frames that go to a client in one write. A longer frame goes alone. */
export const BATCH_BYTES_MAX: number = 16 * 1024;
/** Bytes that may wait in one client's socket; past it frames wait in the ring that all share. */
export const CLIENT_BYTES_MAX: number = 256 * 1024;
/** How long a client may take none of what waits for it. */
export const CLIENT_STALL_MS = 60_000;
/** Most lanes that one key holds open at once. */
export const KEY_LANES_MAX = 1_200;
/** Silence after which a lane says that it lives. */
export const HEARTBEAT_MS = 15_000;
/** How long a long-poll waits. */
export const LONG_POLL_MS = 25_000;
/** Frames and bytes of one answer to a poll. */
export const POLL_FRAMES_MAX = 256;
export const POLL_BYTES_MAX: number = 1024 * 1024;
/** Longest lane position that is looked at. */
export const LANE_POSITION_MAX = 1_500;

/** UTF-16 units of a document below which packing it gains nothing. */
export const PACKED_UNITS_MIN = 1_000;
