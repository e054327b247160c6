/** When the screen is painted: soon after something changed, by time alone while the agent is at work, and when a message goes. */
import type { Clock, Unsubscribe } from "../port.ts";
import type { Notice } from "../render/index.ts";
import { noticeMs, spinnerMs } from "./limits.ts";

export interface RepaintsOptions {
  readonly clock: Clock;
  /** Runs what a timer called for; errors end the shell. */
  readonly guard: (call: () => void) => void;
  readonly paint: () => void;
  readonly setNotice: (notice: Notice | undefined) => void;
  /** Whether the agent is at work, and whether a picture of the spinner is seen. */
  readonly isRunning: () => boolean;
  readonly isSpinning: () => boolean;
  readonly spin: () => void;
}

export class Repaints {
  readonly #options: RepaintsOptions;
  #cancelPaint: Unsubscribe | undefined;
  #cancelSpin: Unsubscribe | undefined;
  #cancelNotice: Unsubscribe | undefined;

  constructor(options: RepaintsOptions) {
    this.#options = options;
  }

  schedule(): void {
    this.#cancelPaint ??= this.#options.clock.after(0, () => {
      this.#cancelPaint = undefined;
      this.#options.guard(this.#options.paint);
    });
  }

  /** Time alone changes the screen only while the agent is at work. */
  keepSpinning(): void {
    const { clock, guard, paint, isRunning, isSpinning, spin } = this.#options;
    if (this.#cancelSpin !== undefined || !isRunning()) return;
    this.#cancelSpin = clock.after(isSpinning() ? spinnerMs : 1000, () => {
      this.#cancelSpin = undefined;
      guard(() => {
        spin();
        paint();
      });
    });
  }

  stopSpinning(): void {
    this.#cancelSpin?.();
    this.#cancelSpin = undefined;
  }

  say(notice: Notice): void {
    this.#options.setNotice(notice);
    this.#cancelNotice?.();
    this.#cancelNotice = this.#options.clock.after(noticeMs, () => this.#endNotice());
    this.schedule();
  }

  stop(): void {
    this.#cancelPaint?.();
    this.#cancelNotice?.();
    this.stopSpinning();
  }

  #endNotice(): void {
    this.#cancelNotice = undefined;
    this.#options.setNotice(undefined);
    this.schedule();
  }
}
