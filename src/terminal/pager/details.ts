/** How much of each block is shown. */
import type { Detail } from "../render/index.ts";
import { choicesMax, rawRecordsMax } from "./limits.ts";

export interface RawRecord {
  readonly bytes: Uint8Array;
  /** True where `bytes` is only the first part of the record. */
  readonly isCut: boolean;
}

/** The detail of all blocks, those of some that have their own, and the bytes that the raw view shows. */
export class Details {
  #common: "full" | "compact" = "full";
  readonly #choices = new Map<string, Detail>();
  readonly #raw = new Map<string, RawRecord>();

  of(name: string): Detail {
    return this.#choices.get(name) ?? this.#common;
  }

  rawOf(name: string): RawRecord | undefined {
    return this.#raw.get(name);
  }

  /** Gives one block a detail of its own. */
  choose(name: string, detail: Detail): void {
    this.#choices.delete(name);
    if (detail === this.#common) return;
    this.#choices.set(name, detail);
    trim(this.#choices, choicesMax);
  }

  /** From one detail to `detail`, or back to what it is without. */
  toggle(name: string, detail: "compact" | "raw"): Detail {
    const back = detail === "compact" ? "full" : this.#common;
    this.choose(name, this.of(name) === detail ? back : detail);
    return this.of(name);
  }

  /** Folds all blocks, or unfolds them; no block has a detail of its own any more. */
  toggleAll(): void {
    this.#common = this.#common === "full" ? "compact" : "full";
    this.#choices.clear();
  }

  giveRaw(name: string, record: RawRecord): void {
    this.#raw.delete(name);
    this.#raw.set(name, record);
    trim(this.#raw, rawRecordsMax);
  }
}

function trim(map: Map<string, unknown>, max: number): void {
  for (const name of map.keys()) {
    if (map.size <= max) return;
    map.delete(name);
  }
}
