/** Sizes of the terminal: a new one counts when it has settled. */
import type { Clock, TerminalSize, Unsubscribe } from "../port.ts";
import { resizeSettleMs } from "./limits.ts";

export class Sizes {
  readonly #clock: Clock;
  readonly #settled: () => void;
  #known: TerminalSize;
  #cancel: Unsubscribe | undefined;

  /** `settled` is called when a size has not changed for a while. */
  constructor(clock: Clock, first: TerminalSize, settled: () => void) {
    this.#clock = clock;
    this.#known = first;
    this.#settled = settled;
  }

  /** The terminal told of a size. */
  heard(): void {
    this.stop();
    this.#cancel = this.#clock.after(resizeSettleMs, () => {
      this.#cancel = undefined;
      this.#settled();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** What of the size is another than the last time. */
  take({ columns, rows }: TerminalSize): "nothing" | "height" | "width" {
    const known = this.#known;
    this.#known = { columns, rows };
    if (columns !== known.columns) return "width";
    return rows === known.rows ? "nothing" : "height";
  }
}
