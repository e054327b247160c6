/** Blocks to rows, laid out once and kept while there is room. */
import type { Entry } from "../../transcript/index.ts";
import { type Detail, type RenderOptions, renderEntry } from "../render/index.ts";
import { type Line, splitRows } from "../text/index.ts";
import { laidOutRowsMax } from "./limits.ts";

export interface BlockRow {
  readonly line: Line;
  /** True where the row goes on from the one before without a blank between. */
  readonly isContinued: boolean;
}

interface LaidOut {
  readonly entry: Entry;
  readonly previous: Entry | undefined;
  readonly detail: Detail;
  readonly bytes: Uint8Array | undefined;
  readonly width: number;
  readonly rows: readonly BlockRow[];
}

export interface BlockLayoutRequest {
  readonly entry: Entry;
  readonly previous: Entry | undefined;
  readonly detail: Detail;
  readonly width: number;
  readonly bytes?: Uint8Array;
  readonly isCut?: boolean;
}

/** The rows of blocks. The one used longest ago goes first when there are too many rows. */
export class BlockLayouts {
  readonly #options: Pick<RenderOptions, "time" | "highlighter" | "moreKey">;
  readonly #byName = new Map<string, LaidOut>();
  #rows = 0;
  /** How many blocks were laid out: for tests of what a key costs. */
  laidOutCount = 0;

  constructor(options: Pick<RenderOptions, "time" | "highlighter" | "moreKey">) {
    this.#options = options;
  }

  get rowCount(): number {
    return this.#rows;
  }

  rowsOf(request: BlockLayoutRequest): readonly BlockRow[] {
    const { entry, previous, detail, width, bytes, isCut } = request;
    const known = this.#byName.get(entry.name);
    if (
      known !== undefined &&
      known.entry === entry &&
      known.previous === previous &&
      known.detail === detail &&
      known.width === width &&
      known.bytes === bytes
    ) {
      // Moved to the end: used last.
      this.#byName.delete(entry.name);
      this.#byName.set(entry.name, known);
      return known.rows;
    }
    const lines = renderEntry(entry, {
      ...this.#options,
      width,
      detail,
      ...(previous === undefined ? {} : { previous }),
      ...(bytes === undefined ? {} : { bytes }),
      ...(isCut === undefined ? {} : { isCut }),
    });
    const rows = lines.flatMap((line) =>
      splitRows(line, width).map((row, index) => ({ line: row, isContinued: index > 0 })),
    );
    this.laidOutCount += 1;
    this.#forget(entry.name);
    this.#byName.set(entry.name, { entry, previous, detail, bytes, width, rows });
    this.#rows += rows.length;
    for (const name of this.#byName.keys()) {
      if (this.#rows <= laidOutRowsMax || name === entry.name) break;
      this.#forget(name);
    }
    return rows;
  }

  #forget(name: string): void {
    const known = this.#byName.get(name);
    if (known === undefined) return;
    this.#rows -= known.rows.length;
    this.#byName.delete(name);
  }
}
