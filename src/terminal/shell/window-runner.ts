/** Runs the window core: one event after the other, each with its effects, each told to the trace. */
import {
  createWindow,
  formatEvent,
  formatState,
  formatTraceLine,
  formatTraceStart,
  type Rejection,
  type SaveMode,
  step,
  type WindowConfig,
  type WindowEffect,
  type WindowEvent,
  type WindowState,
} from "../../window/index.ts";

export interface WindowRunnerOptions {
  readonly config: WindowConfig;
  readonly save: SaveMode;
  /** Runs one effect. `state` is the state after the step. It may not feed events before it returns. */
  readonly run: (effect: WindowEffect, state: WindowState) => void;
  /** Takes the lines of the trace, each with its line feed. */
  readonly trace?: (line: string) => void;
}

/** Thrown where the shell fed an event that the core must not be asked for in this state: a bug of the shell. */
export class RefusedEventError extends Error {
  override readonly name = "RefusedEventError";
}

/** Holds the state of the window. All changes of the transcript view go through `feed`. */
export class WindowRunner {
  readonly #run: WindowRunnerOptions["run"];
  readonly #trace: ((line: string) => void) | undefined;
  #state: WindowState;
  #isRunning = false;

  constructor(options: WindowRunnerOptions) {
    this.#run = options.run;
    this.#trace = options.trace;
    this.#state = createWindow(options.config, options.save);
    this.#trace?.(formatTraceStart(this.#state));
  }

  get state(): WindowState {
    return this.#state;
  }

  /** Feeds an event that may be refused (a key at an edge, a late reply); tells why it was. */
  offer(event: WindowEvent): Rejection | undefined {
    if (this.#isRunning) throw new RefusedEventError(`${formatEvent(event)} was fed from within an effect`);
    const result = step(this.#state, event);
    this.#trace?.(formatTraceLine(event, result));
    this.#state = result.state;
    this.#isRunning = true;
    try {
      for (const effect of result.effects) this.#run(effect, result.state);
    } finally {
      this.#isRunning = false;
    }
    return result.rejected;
  }

  /** Feeds an event that must be accepted. Throws a RefusedEventError where it is not. */
  feed(event: WindowEvent): void {
    const rejected = this.offer(event);
    if (rejected === undefined) return;
    throw new RefusedEventError(
      `${formatEvent(event)} was refused (${rejected}) in ${formatState(this.#state)}`,
    );
  }
}
