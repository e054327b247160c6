/**
 * The changes of a driven session, kept until those who read them have read them. How far a reader may be behind is bounded: the agent
 * is held up for a moment, and one who is behind still is told to read the tail again.
 */
import type { Change } from "../session/index.ts";
import type { Entry } from "../transcript/index.ts";
import { changesBehindMax, changesKeptCharsMax, changesKeptMax } from "./limits.ts";

interface Kept {
  /** Counts from the session's start. */
  readonly serial: number;
  readonly change: Change;
  readonly weight: number;
}

/** One who reads: the serial of what it reads next. */
interface Reader {
  at: number;
}

export class ChangeHub {
  #kept: Kept[] = [];
  #weight = 0;
  #next = 0;
  /** What is older was read by all, or dropped. */
  #firstKept = 0;
  #isClosed = false;
  /** Where one will begin to read who has read the tail and has not begun yet. */
  #claimed: number | undefined;
  readonly #readers = new Set<Reader>();
  readonly #wake = new Set<() => void>();

  /** The serial from which one reads on who has just read the tail. What is told from now on is kept for it. */
  claim(): number {
    this.#claimed = this.#next;
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
    this.#trim();
    this.#wakeAll();
  }

  /** Whether some reader is so far behind that the agent should wait for it. */
  get isBehind(): boolean {
    return this.#readers.size > 0 && this.#kept.length > changesBehindMax;
  }

  /** Resolves when nobody is far behind any more, or when `signal` aborts. */
  async caughtUp(signal: AbortSignal): Promise<void> {
    while (this.isBehind && !this.#isClosed && !signal.aborted) await this.#sleep(signal);
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeAll();
  }

  /** All changes from a serial on, until aborted or closed. Ends with a `reset` where some of them are not kept any more. */
  async *from(serial: number, signal: AbortSignal): AsyncGenerator<Change> {
    const reader: Reader = { at: serial };
    this.#readers.add(reader);
    if (this.#claimed === serial) this.#claimed = undefined;
    try {
      while (!signal.aborted) {
        if (reader.at < this.#firstKept) {
          yield { type: "reset", reason: "more came than could be kept for it" };
          return;
        }
        const kept = this.#firstFrom(reader.at);
        if (kept !== undefined) {
          yield kept.change;
          reader.at = kept.serial + 1;
          this.#trim();
          // The agent may be waiting for this reader.
          this.#wakeAll();
        } else if (this.#isClosed) return;
        else await this.#sleep(signal);
      }
    } finally {
      this.#readers.delete(reader);
      this.#trim();
      this.#wakeAll();
    }
  }

  /** Lets go of what all have read, and of the oldest where too much is kept. */
  #trim(): void {
    let floor = this.#claimed ?? this.#next;
    for (const { at } of this.#readers) floor = Math.min(floor, at);
    let drop = 0;
    for (const { serial, weight } of this.#kept) {
      const isTooMuch = this.#kept.length - drop > changesKeptMax || this.#weight > changesKeptCharsMax;
      if (serial >= floor && !(isTooMuch && drop < this.#kept.length - 1)) break;
      this.#weight -= weight;
      this.#firstKept = serial + 1;
      drop += 1;
    }
    if (drop > 0) this.#kept.splice(0, drop);
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
