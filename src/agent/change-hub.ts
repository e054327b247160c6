/**
 * The changes of a driven session, kept for a while for those who read them. One who reads too slowly is told to read the tail again,
 * so a slow reader costs a bounded amount of memory and never slows the agent down.
 */
import type { Change } from "../session/index.ts";
import type { Entry } from "../transcript/index.ts";
import { changesKeptCharsMax, changesKeptMax } from "./limits.ts";

interface Kept {
  /** Counts from the session's start. */
  readonly serial: number;
  readonly change: Change;
  readonly weight: number;
}

export class ChangeHub {
  #kept: Kept[] = [];
  #weight = 0;
  #next = 0;
  /** What is older was dropped. */
  #firstKept = 0;
  #isClosed = false;
  readonly #wake = new Set<() => void>();

  /** The serial of the next change: where one begins to read who has just read the tail. */
  get next(): number {
    return this.#next;
  }

  tell(change: Change): void {
    const last = this.#kept.at(-1);
    // A block that changes often counts once: only its newest state is kept. Whoever has read the older one gets the newer one.
    if (last !== undefined && isSameBlock(last.change, change)) {
      this.#kept.pop();
      this.#weight -= last.weight;
    }
    const weight = weightOf(change);
    this.#kept.push({ serial: this.#next, change, weight });
    this.#next += 1;
    this.#weight += weight;
    let drop = 0;
    while (
      this.#kept.length - drop > changesKeptMax ||
      (this.#weight > changesKeptCharsMax && this.#kept.length - drop > 1)
    ) {
      const dropped = this.#kept[drop];
      this.#weight -= dropped?.weight ?? 0;
      this.#firstKept = (dropped?.serial ?? 0) + 1;
      drop += 1;
    }
    if (drop > 0) this.#kept.splice(0, drop);
    this.#wakeAll();
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeAll();
  }

  /** All changes from a serial on, until aborted or closed. Ends with a `reset` where some of them are not kept any more. */
  async *from(serial: number, signal: AbortSignal): AsyncGenerator<Change> {
    let at = serial;
    for (;;) {
      if (signal.aborted) return;
      if (at < this.#firstKept) {
        yield { type: "reset", reason: "more came than could be kept for it" };
        return;
      }
      const kept = this.#firstFrom(at);
      if (kept !== undefined) {
        at = kept.serial + 1;
        yield kept.change;
      } else if (this.#isClosed) return;
      else await this.#sleep(signal);
    }
  }

  #firstFrom(serial: number): Kept | undefined {
    let low = 0;
    let high = this.#kept.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#kept[middle]?.serial ?? 0) < serial) low = middle + 1;
      else high = middle;
    }
    return this.#kept[low];
  }

  async #sleep(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#wake.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#wake.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  #wakeAll(): void {
    for (const wake of [...this.#wake]) wake();
  }
}

function isSameBlock(a: Change, b: Change): boolean {
  if (a.type === "driver" && b.type === "driver") return true;
  return (
    a.type === "blockChanged" &&
    b.type === "blockChanged" &&
    a.was === undefined &&
    b.was === undefined &&
    a.entry.name === b.entry.name
  );
}

function weightOf(change: Change): number {
  return "entry" in change ? entryChars(change.entry) : 100;
}

function entryChars(entry: Entry): number {
  switch (entry.kind) {
    case "delivered":
      return entry.body.length;
    case "model":
      return entry.blocks.reduce((sum, block) => sum + ("text" in block ? block.text.length : 200), 100);
    case "tool-result":
      return entry.content.length + changeChars(entry.changes);
    case "raw":
      return entry.text.length;
    case "streaming":
      return entry.text.length + entry.thinking.length;
    case "compacted":
      return entry.summary.length;
    case "wounded":
      return 100;
  }
}

function changeChars(
  changes: readonly { readonly oldText?: string; readonly newText?: string }[] = [],
): number {
  return changes.reduce((sum, { oldText = "", newText = "" }) => sum + oldText.length + newText.length, 0);
}
