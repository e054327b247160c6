/** Following a log whose looks the test asks for: no time passes but by `look`. */
import type { Log } from "../../src/sources/types.ts";
import type { WatchPorts } from "../../src/sources/watch.ts";
import { Told } from "./log-laws.ts";

export interface Looks {
  readonly ports: WatchPorts;
  /** Lets the follower look once; resolves when it waits again, or is over. */
  look(): Promise<void>;
  /** Resolves when the follower waits for the next look, or is over. */
  rest(): Promise<void>;
  end(): void;
}

export function createLooks(): Looks {
  let wake: (() => void) | undefined;
  let rested: (() => void) | undefined;
  let isOver = false;
  const rest = (): Promise<void> =>
    wake !== undefined || isOver
      ? Promise.resolve()
      : new Promise((resolve) => {
          rested = resolve;
        });
  return {
    ports: {
      watch: () => ({ close: () => undefined }),
      wait: (_ms, signal) =>
        new Promise((resolve, reject) => {
          const stop = (): void => {
            wake = undefined;
            reject(new Error("stopped"));
          };
          signal.addEventListener("abort", stop, { once: true });
          wake = () => {
            wake = undefined;
            signal.removeEventListener("abort", stop);
            resolve();
          };
          rested?.();
          rested = undefined;
        }),
    },
    rest,
    async look() {
      await rest();
      wake?.();
      await rest();
    },
    end() {
      isOver = true;
      rested?.();
    },
  };
}

/** A log followed as the session layer does it: from its tail on, and from a new tail after a reset. */
export class Follower {
  readonly told = new Told();
  readonly events: string[] = [];
  readonly #stop = new AbortController();
  readonly #looks: Looks;
  readonly #run: Promise<void>;

  constructor(log: Log, looks: Looks) {
    this.#looks = looks;
    this.#run = this.#follow(log).finally(() => looks.end());
  }

  async #follow(log: Log): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const tail = await log.tail(1000);
      this.told.begin(tail);
      for await (const event of log.follow(tail.end, this.#stop.signal)) {
        this.events.push(event.type);
        this.told.take(event);
        if (event.type === "reset") break;
      }
    }
  }

  look(): Promise<void> {
    return Promise.race([this.#looks.look(), this.#run]);
  }

  async stop(): Promise<void> {
    await Promise.race([this.#looks.rest(), this.#run]);
    this.#stop.abort();
    await this.#run;
  }
}
