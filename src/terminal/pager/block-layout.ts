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

export interface BlockLayoutRequest {
  readonly entry: Entry;
  /** The block above it; undefined where the window begins with this one. */
  readonly previous: Entry | undefined;
  readonly detail: Detail;
  readonly width: number;
  readonly bytes?: Uint8Array;
  readonly isCut?: boolean;
}

interface LaidOut {
  readonly request: BlockLayoutRequest;
  readonly rows: readonly BlockRow[];
}

export type BlockLayoutOptions = Pick<RenderOptions, "time" | "highlighter" | "moreKey">;

/** The rows of blocks. The one used longest ago goes first when there are too many rows. */
export class BlockLayouts {
  readonly #options: BlockLayoutOptions;
  readonly #rowsMax: number;
  readonly #byName = new Map<string, LaidOut>();
  #pinned: ReadonlySet<string> = new Set();
  #rowCount = 0;
  #laidOutCount = 0;

  constructor(options: BlockLayoutOptions, rowsMax = laidOutRowsMax) {
    this.#options = options;
    this.#rowsMax = rowsMax;
  }

  /** Rows kept. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** How many times a block was laid out: what a key costs is told by it. */
  get laidOutCount(): number {
    return this.#laidOutCount;
  }

  /** The blocks on the screen: never forgotten, or each frame would lay them out again. */
  pin(names: ReadonlySet<string>): void {
    this.#pinned = names;
  }

  rowsOf(request: BlockLayoutRequest): readonly BlockRow[] {
    const { name } = request.entry;
    const known = this.#byName.get(name);
    if (known !== undefined && isSameLook(known.request, request)) {
      // Moved to the end: used last.
      this.#byName.delete(name);
      this.#byName.set(name, known);
      return known.rows;
    }
    const { entry, width, detail, previous, bytes, isCut } = request;
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
    this.#laidOutCount += 1;
    this.#forget(name);
    this.#byName.set(name, { request, rows });
    this.#rowCount += rows.length;
    for (const old of this.#byName.keys()) {
      if (this.#rowCount <= this.#rowsMax) break;
      if (old !== name && !this.#pinned.has(old)) this.#forget(old);
    }
    return rows;
  }

  #forget(name: string): void {
    const known = this.#byName.get(name);
    if (known === undefined) return;
    this.#rowCount -= known.rows.length;
    this.#byName.delete(name);
  }
}

function isSameLook(known: BlockLayoutRequest, wanted: BlockLayoutRequest): boolean {
  return (
    known.entry === wanted.entry &&
    known.detail === wanted.detail &&
    known.width === wanted.width &&
    known.bytes === wanted.bytes &&
    // The block above still stands there when the window has left it behind.
    (known.previous === wanted.previous || wanted.previous === undefined)
  );
}
