/** What is searched for, and the match that was reached last. */
import type { Entry } from "../../transcript/index.ts";
import type { BlockRow } from "./block-layout.ts";
import {
  mayHold,
  type Needle,
  needleOf,
  placeBefore,
  placeFrom,
  rowAt,
  type SearchText,
  type Stretch,
  searchTextOf,
  stretchesIn,
} from "./search.ts";
import type { Direction, Place, Viewport } from "./viewport.ts";

/** A unit of a block's searched text. */
export interface Spot {
  readonly name: string;
  readonly at: number;
}

/** Finds in the blocks of a viewport. What a block's rows say is read once and kept as long as the rows are. */
export class Finder {
  readonly #viewport: Viewport;
  #needle: Needle | undefined;
  #match: Spot | undefined;
  #texts = new WeakMap<readonly BlockRow[], SearchText>();
  #mayHold = new WeakMap<Entry, boolean>();
  #readCount = 0;

  constructor(viewport: Viewport) {
    this.#viewport = viewport;
  }

  /** False where there is nothing to find in `text`; then nothing is searched any more. */
  seek(text: string): boolean {
    this.#needle = needleOf(text);
    this.#match = undefined;
    this.#texts = new WeakMap();
    this.#mayHold = new WeakMap();
    return this.#needle !== undefined;
  }

  /** How many times the rows of a block were read: what a key costs is told by it. */
  get readCount(): number {
    return this.#readCount;
  }

  get isSeeking(): boolean {
    return this.#needle !== undefined;
  }

  forget(): void {
    this.seek("");
  }

  /** Where the next search that way begins: behind the match on the screen, else at the screen's border. */
  from(direction: Direction): Spot | undefined {
    const viewport = this.#viewport;
    const match = this.#match;
    const known = match === undefined ? undefined : viewport.indexOf(match.name);
    if (match !== undefined && known !== undefined && viewport.isSeen(this.#placeOf(known, match.at)))
      return { name: match.name, at: direction === "older" ? match.at : match.at + this.#size };
    return direction === "older" ? this.fromBottom() : this.#spotOf(viewport.top);
  }

  /** Where a search going older begins that takes in all that is seen. */
  fromBottom(): Spot | undefined {
    const { index, row } = this.#viewport.bottom();
    return this.#spotOf({ index, row: row + 1 });
  }

  /** The first match of block `index` that way, beyond `bound`; a folded block that holds one out of sight is unfolded. */
  find(index: number, direction: Direction, bound: number | undefined): Spot | undefined {
    const viewport = this.#viewport;
    const entry = viewport.entryAt(index);
    const needle = this.#needle;
    if (entry === undefined || needle === undefined) return undefined;
    const { name } = entry;
    const isRaw = viewport.details.of(name) === "raw";
    if (!isRaw && !this.#isWorthLayingOut(entry, needle)) return undefined;
    const seen = this.#textOf(viewport.rowsOf(index));
    const at = nearest(seen, needle, direction, bound);
    if (at !== undefined) return { name, at };
    const isFolded = viewport.details.of(name) === "compact";
    if (!isFolded || placeFrom(seen, needle, 0) !== undefined) return undefined;
    const whole = this.#textOf(viewport.rowsOf(index, "full"));
    const within = nearest(whole, needle, direction, undefined);
    if (within === undefined) return undefined;
    viewport.details.choose(name, "full");
    return { name, at: within };
  }

  /** Notes that a match was reached; answers where it is. */
  reach(index: number, match: Spot): Place {
    this.#match = match;
    return this.#placeOf(index, match.at);
  }

  /** What to highlight in a row that is shown. */
  stretches(index: number, row: number): readonly Stretch[] {
    if (this.#needle === undefined) return [];
    const rows = this.#viewport.rowsOf(index);
    const isMatchHere = this.#match?.name === this.#viewport.entryAt(index)?.name;
    return stretchesIn(
      rows,
      this.#textOf(rows),
      this.#needle,
      row,
      isMatchHere ? this.#match?.at : undefined,
    );
  }

  #isWorthLayingOut(entry: Entry, needle: Needle): boolean {
    const known = this.#mayHold.get(entry);
    if (known !== undefined) return known;
    const may = mayHold(entry, needle);
    this.#mayHold.set(entry, may);
    return may;
  }

  get #size(): number {
    return this.#needle?.text.length ?? 0;
  }

  #textOf(rows: readonly BlockRow[]): SearchText {
    const known = this.#texts.get(rows);
    if (known !== undefined) return known;
    const text = searchTextOf(rows, this.#needle?.isCaseKept ?? true);
    this.#texts.set(rows, text);
    this.#readCount += 1;
    return text;
  }

  #placeOf(index: number, at: number): Place {
    return { index, row: rowAt(this.#textOf(this.#viewport.rowsOf(index)), at) };
  }

  #spotOf({ index, row }: Place): Spot | undefined {
    const name = this.#viewport.entryAt(index)?.name;
    if (name === undefined) return undefined;
    const { starts } = this.#textOf(this.#viewport.rowsOf(index));
    return { name, at: starts[row] ?? Number.POSITIVE_INFINITY };
  }
}

function nearest(
  searched: SearchText,
  needle: Needle,
  direction: Direction,
  bound: number | undefined,
): number | undefined {
  return direction === "older"
    ? placeBefore(searched, needle, bound ?? Number.POSITIVE_INFINITY)
    : placeFrom(searched, needle, bound ?? 0);
}
