/** The main screen as the shell uses it. */
import type { Line, Theme } from "../text/index.ts";

/** Lines that are final, and how they would be laid out at another width. */
export interface Printing {
  readonly lines: readonly Line[];
  /** The same content in at most `width` cells (`roomOf` the columns). Absent: the lines stay as they are. */
  readonly relayout?: (width: number) => readonly Line[];
  /** A person's prompt: marked, so that the terminal can jump to it. */
  readonly isPrompt?: boolean;
}

export interface CursorPlace {
  /** From 1. */
  readonly row: number;
  readonly column: number;
}

/** Where the person's cursor stands among the lines of the live region. */
export interface LiveCursor {
  /** Index of its line. That line and those below it take one row each. */
  readonly line: number;
  /** Cells from the start of the line. */
  readonly column: number;
}

/**
 * Printed lines flow up into the terminal's scrollback; the live region stays below them. Lines may be wider than the terminal: `flow`
 * lines are wrapped by it, `fit` lines are expected to be narrower than it by a cell.
 */
export interface Screen {
  /** Appends lines that cannot change any more. Each is on the terminal exactly once, in order, above the live region. */
  commit(printing: Printing): void;
  /**
   * What the live region shows from now on. Rows that do not fit the window above its last row are left out, the first ones first. The
   * terminal's cursor is shown where `cursor` says; absent, it is hidden (the caller hides it at first).
   */
  setLive(lines: readonly Line[], cursor?: LiveCursor): void;
  /** With the next frame, screen and scrollback are cleared; nothing of what was printed before is known any more. */
  clear(): void;
  /** Another has the terminal: no frames. What is committed meanwhile is kept; the caller bounds it. */
  suspend(): void;
  resume(): void;
  /** The terminal told of a size, which may not be its last one. */
  sizeHeard(): void;
  /**
   * The size is settled; from a change of size until this call there are no frames. `adopt`: the terminal has wrapped its rows for the new
   * width; rows in the scrollback stay, printings that are visible as a whole are laid out again, the visible rows of one that is partly
   * in the scrollback stay as the terminal wrapped them, the live region is drawn anew. `reprint`: the caller clears and commits again.
   * Resolves when the frame is written, or is left to `resume`. Equal sizes do nothing.
   */
  resized(way: "adopt" | "reprint"): Promise<void>;
  /** Resolves when all that was committed has been taken by the terminal, or cannot be now (suspended, ended). */
  flush(): Promise<void>;
  /** The last frame: the live region goes, `lines` are printed, the cursor stands in the row below. Nothing is written afterwards. */
  end(lines?: readonly Line[]): void;
}

export interface ScreenOptions {
  readonly theme: Theme;
  /** Whether frames are bracketed by synchronized-output marks. */
  readonly isSynchronized: boolean;
  /** Whether prompts are marked (OSC 133). Default: they are not. */
  readonly hasMarks?: boolean;
  /** Where the cursor is; undefined where the terminal does not answer in time. Never rejects. */
  readonly askCursor: () => Promise<CursorPlace | undefined>;
}
