/** The pager's view as the shell uses it. */
import type { Entry } from "../../transcript/index.ts";
import type { Key } from "../input/index.ts";
import type { RenderOptions } from "../render/index.ts";
import type { Line } from "../text/index.ts";

export interface PagerBlock {
  readonly entry: Entry;
  /** It may still change. */
  readonly live?: boolean;
}

/** What the pager wants of the shell. */
export type PagerRequest =
  | { readonly type: "older" | "newer" | "start" | "end" | "close" }
  /** The verbatim bytes of an entry's record; answered by `giveRaw`. */
  | { readonly type: "raw"; readonly entry: Entry }
  | { readonly type: "copy"; readonly text: string };

/** What the window shows. */
export interface PagerView {
  /** Neighbours in the log, in order. */
  readonly blocks: readonly PagerBlock[];
  /** Whether the first of them is the first of the log, the last one the newest. */
  readonly atStart: boolean;
  readonly atEnd: boolean;
  /** Whether a read is in flight. */
  readonly loading: boolean;
  /** Finished blocks that are newer than the window. */
  readonly newBlocks: number;
}

/**
 * The history as the person sees it: which rows of which blocks, what is searched, what is unfolded. It knows neither the terminal nor the
 * session. A move that needs blocks which are not there is carried out when they come.
 */
export interface Pager {
  /** The window or one of its blocks changed. The row at the top stays; at the end it follows. Answers what it wants next. */
  show(view: PagerView): readonly PagerRequest[];
  /** The verbatim bytes that were asked for. */
  giveRaw(name: string, bytes: Uint8Array, isCut: boolean): void;
  /** What was asked for last cannot be had; moves that wait for it are given up. */
  failed(message: string): void;
  /** Another size of the terminal. What was at the top stays there. Answers what it wants next. */
  resize(columns: number, rows: number): readonly PagerRequest[];
  key(key: Key): readonly PagerRequest[];
  /** It is opened anew: at the end, nothing searched, nothing waited for. */
  reset(): void;
  /** Exactly as many rows as the terminal has, each narrower than it; the last one is the status row. */
  rows(): readonly Line[];
}

/** How much the window shows at most, and by how many blocks one request moves it. */
export interface WindowReach {
  readonly blocksMax: number;
  readonly stepMax: number;
}

export interface PagerOptions {
  /** Absent: without limit. A screen that is higher than what the window holds is not filled beyond it. */
  readonly reach?: WindowReach;
  readonly layout: Pick<RenderOptions, "time" | "highlighter" | "moreKey">;
}
