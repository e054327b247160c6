/** The newest printings: those that may still be visible, and can be laid out again. */
import type { Line } from "../text/index.ts";
import { recentLinesMax } from "./limits.ts";
import type { RowRange } from "./rows.ts";
import type { Printing } from "./types.ts";

export interface PrintedBlock {
  /** As written, in the layout of the width they were written at. */
  readonly lines: readonly Line[];
  readonly printing: Printing;
}

export class RecentPrintings {
  #blocks: PrintedBlock[] = [];
  #lines = 0;

  get lines(): number {
    return this.#lines;
  }

  add(lines: readonly Line[], printing: Printing): void {
    if (lines.length === 0) return;
    this.#blocks.push({ lines, printing });
    this.#lines += lines.length;
    while (this.#lines > recentLinesMax && this.#blocks.length > 0) {
      this.#lines -= this.#blocks.shift()!.lines.length;
    }
  }

  /** Rows of the live region that went up into the scrollback, out of reach: should they come back, they are left out. */
  addRefuse(lines: readonly Line[]): void {
    this.add(lines, { lines, relayout: () => [] });
  }

  /**
   * Takes away the newest blocks that together take at most `rows` rows, oldest first, with the rows they take. A block whose rows cannot be
   * told exactly ends the search.
   */
  takeVisible(
    rows: number,
    measure: (lines: readonly Line[]) => RowRange,
  ): { readonly blocks: readonly PrintedBlock[]; readonly rows: number } {
    let taken = 0;
    let at = this.#blocks.length;
    while (at > 0) {
      const { least, most } = measure(this.#blocks[at - 1]!.lines);
      if (least !== most || taken + most > rows) break;
      taken += most;
      at -= 1;
    }
    const blocks = this.#blocks.splice(at);
    for (const block of blocks) this.#lines -= block.lines.length;
    return { blocks, rows: taken };
  }

  clear(): void {
    this.#blocks = [];
    this.#lines = 0;
  }
}
