/**
 * The vocabulary of the transcript window core: its configuration, state, events and effects.
 * Names follow the design document of the window: event and effect types are its words, spelled as it spells them.
 */

/** Bounds of one window. All are safe integers; `1 <= step <= window`, the others at least 1. */
export interface WindowConfig {
  /** Most blocks the pager (Ctrl+O) shows at once. */
  readonly window: number;
  /** Most blocks one in-memory scroll or one log read moves the pager. */
  readonly step: number;
  /** Most blocks one reprint slice prints. */
  readonly slice: number;
  /** Most live blocks at once. */
  readonly maxLive: number;
  /** E2: most blocks held between turns in a saved session; absent switches the extension off. */
  readonly maxHeld?: number;
  /** E1: whether the pager follows new blocks while it stands at the tail. */
  readonly followWhileOpen: boolean;
  /** E3: whether `ctrlo_jumped` is accepted. */
  readonly jump: boolean;
}

/** Whether the session has a log behind it. */
export type SaveMode = "saved" | "unsaved";

/** What a log read is for: blocks before the edge, after it, or (E3) the first blocks of the log. */
export type ReadDirection = "older" | "newer" | "first";

/** The one read that may be in flight. Its `from` is in the numbering of the window's anchor at that time. */
export interface PendingRead {
  readonly token: number;
  readonly dir: ReadDirection;
  /** The edge of the pager's window it was asked from (0 for `first`). */
  readonly from: number;
}

/**
 * The pager. `[lo, hi)` are block numbers: with anchor `tail` they are the window's own numbers; with anchor `start` (E3, after
 * a jump to the log's first block) they count from the first block of the log, whose distance to the tail is not known.
 * Anchored at the start, `atStart` is exactly `lo === 0`, and the window ends at or before the oldest held block.
 */
export interface PagerState {
  readonly open: boolean;
  readonly anchor: "tail" | "start";
  readonly lo: number;
  readonly hi: number;
  readonly atStart: boolean;
  readonly pending: PendingRead | undefined;
}

/** The whole state: a small value of fixed size that holds no text. */
export interface WindowState {
  readonly config: WindowConfig;
  readonly save: SaveMode;
  readonly cycle: number;
  readonly cycleFirst: number;
  readonly prevFirst: number | undefined;
  /**
   * The oldest held block; held are `[heldFloor, nextSeq)`. It is `prevFirst` where that is set; else `cycleFirst`, or above it
   * once the held cap (E2) has dropped a part of the current cycle.
   */
  readonly heldFloor: number;
  readonly nextSeq: number;
  readonly savedThrough: number;
  /** Ids of the live blocks, in order of opening. */
  readonly live: readonly number[];
  readonly turnOpen: boolean;
  readonly epoch: number;
  readonly paintedThrough: number;
  readonly reprinting: boolean;
  readonly ctrlo: PagerState;
  readonly nextToken: number;
}

export type WindowEvent =
  | { readonly type: "turn_started" }
  | { readonly type: "turn_ended" }
  | { readonly type: "block_opened"; readonly id: number }
  | { readonly type: "block_changed"; readonly id: number }
  | { readonly type: "block_finished"; readonly id: number }
  | { readonly type: "saved_through"; readonly seq: number }
  | { readonly type: "compacted" }
  | { readonly type: "resized" }
  | { readonly type: "reprint_tick" }
  | { readonly type: "ctrlo_opened" }
  | { readonly type: "ctrlo_scrolled"; readonly dir: "older" | "newer" }
  /** E3. */
  | { readonly type: "ctrlo_jumped"; readonly to: "start" | "end" }
  | { readonly type: "ctrlo_closed" }
  /**
   * `count` is how many blocks the read found. `met` (E3) is said of a `first` read, and of a read going newer from a window
   * anchored at the start: its blocks end right at the block that is the oldest held one now, so that the window can be anchored
   * at the tail again. Such reads stop at the oldest held block. Absent means false; it says nothing of other reads.
   */
  | { readonly type: "log_read_done"; readonly token: number; readonly count: number; readonly met?: boolean }
  | { readonly type: "log_read_failed"; readonly token: number }
  | {
      readonly type: "resumed";
      readonly cycle: number;
      readonly cycleFirst: number;
      readonly nextSeq: number;
    };

export type WindowEffect =
  | { readonly type: "paint_final"; readonly seq: number }
  | { readonly type: "repaint_block"; readonly id: number }
  | { readonly type: "reprint_begin" }
  | { readonly type: "reprint_slice"; readonly from: number; readonly to: number }
  | { readonly type: "repaint_live" }
  | { readonly type: "drop"; readonly from: number; readonly to: number }
  | {
      readonly type: "ctrlo_show";
      readonly lo: number;
      readonly hi: number;
      readonly anchor: "tail" | "start";
    }
  | {
      readonly type: "read_log";
      readonly token: number;
      readonly dir: ReadDirection;
      readonly from: number;
      readonly count: number;
    };

/** Why an event was refused. The words are stable: the shell reports them, scripts and traces hold them. */
export type Rejection =
  | "malformed event"
  | "counter is spent"
  | "turn is open"
  | "no turn is open"
  | "blocks are live"
  | "block is live"
  | "block is not live"
  | "too many live blocks"
  | "session is unsaved"
  | "watermark goes back"
  | "watermark past the newest block"
  | "no reprint"
  | "pager is open"
  | "pager is closed"
  | "at the start"
  | "at the end"
  | "read is pending"
  | "not the pending read"
  | "jumps are off"
  | "cycle starts past the newest block";

/**
 * The result of one step: at most two effects, to be run in order. `rejected` says why an event was refused; then `state` is the
 * same value and `effects` is empty.
 */
export interface StepResult {
  readonly state: WindowState;
  readonly effects: readonly WindowEffect[];
  readonly rejected?: Rejection;
}
