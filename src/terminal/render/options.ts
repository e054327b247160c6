/** What a renderer may know beside the entry: all of it is given, nothing is read from the surroundings. */
import type { Entry } from "../../transcript/index.ts";
import type { TimeFormat } from "./format.ts";
import type { Highlighter } from "./highlight.ts";

/** `compact`: folded, as in the main screen. `full`: everything, as in the pager. `raw`: the verbatim bytes. */
export type Detail = "compact" | "full" | "raw";

export interface RenderOptions {
  /** Columns of the terminal, 1 at least. */
  readonly width: number;
  readonly detail: Detail;
  /** The entry drawn just before: decides on the blank row between the two and on headers that would repeat it. Absent: the first. */
  readonly previous?: Entry;
  /** Overrides what `previous` says on whether a tool result stands right under its call. */
  readonly afterCall?: boolean;
  /** Writes times of day; the computer's own time zone where absent. */
  readonly time?: TimeFormat;
  /** Milliseconds since the epoch: for the time a running call has taken. Absent: not shown. */
  readonly now?: number;
  /** Which picture of the spinner running calls show. */
  readonly spinnerFrame?: number;
  readonly highlighter?: Highlighter;
  /** The key that unfolds, as it is said in hints. */
  readonly moreKey?: string;
  /** The verbatim bytes of the entry's record, for `raw`. */
  readonly bytes?: Uint8Array;
  /** True where `bytes` is only the first part of the record. */
  readonly isCut?: boolean;
}
