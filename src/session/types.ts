/** What every front end talks to: one session of any agent, its pages and its changes, in the words of the window. */

import type { Page, Position, SessionInfo, TailPage } from "../sources/index.ts";
import type { Entry, Place } from "../transcript/index.ts";

export type Change =
  | { readonly type: "turnStarted"; readonly time?: number }
  | { readonly type: "turnEnded"; readonly time?: number }
  /** A block that may still change; it will be finished under the same name. Blocks finish in log order. */
  | { readonly type: "blockOpened"; readonly entry: Entry }
  /** `was`: the name it was opened under, where it has another from now on (what was streamed is committed). */
  | { readonly type: "blockChanged"; readonly entry: Entry; readonly was?: string }
  /** A block that will not change any more (opened before or not); `start`/`end` are the positions around it. */
  | {
      readonly type: "blockFinished";
      readonly entry: Entry;
      readonly start: Position;
      readonly end: Position;
    }
  /** A finished block whose record was told again: held text may be replaced, printed rows stay. */
  | { readonly type: "blockRevised"; readonly entry: Entry }
  /** Everything finished so far is in the log. */
  | { readonly type: "saved" }
  | { readonly type: "compacted" }
  /** The conversation went back: the entries between the two positions are off its path now. */
  | { readonly type: "branchLeft"; readonly from: Position; readonly to: Position }
  | { readonly type: "info"; readonly info: SessionInfo }
  /** Said by the session, not in the log. */
  | { readonly type: "notice"; readonly tone: "information" | "warning" | "error"; readonly text: string }
  /** All positions are void: read the tail again. */
  | { readonly type: "reset"; readonly reason: string }
  | { readonly type: "caughtUp" };

export interface Session {
  /** The newest knowledge of the session; replaced, never mutated, as `info` changes arrive. */
  readonly info: SessionInfo;
  /**
   * Newest blocks; cost bounded by the page, not by the log. `live` names every block that is not finished: the first one that may
   * still change and all that follow it, since blocks finish in log order.
   */
  tail(limit: number): Promise<TailPage>;
  older(from: Position, limit: number): Promise<Page>;
  newer(from: Position, limit: number): Promise<Page>;
  first(limit: number): Promise<Page>;
  /** All that happens after a tail page was read, until aborted. The page tells which blocks were live then. */
  changes(after: TailPage, signal: AbortSignal): AsyncIterable<Change>;
  /** Verbatim bytes of an entry's place, at most `limit`. */
  raw(place: Place, limit?: number): Promise<Uint8Array>;
  close(): Promise<void>;
}
