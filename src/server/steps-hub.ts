/** The steps of one session on a lane: frames as docs/follow.md has them, one reader whatever the number of clients. */
import {
  absorbFrame,
  emptyHeld,
  type Frame,
  encodeFrame as frameJson,
  type Held,
  type LaneEvent,
} from "../follow/index.ts";
import { type Hub, Lane } from "./lane.ts";
import { STEP_BYTES_MAX, STEP_EVENTS_MAX } from "./limits.ts";
import { formatLanePosition, type LanePosition } from "./position.ts";
import { type EncodedFrame, encodeEvent } from "./ring.ts";
import type { ServedSession } from "./types.ts";

/** Steps have no place in the log: what a client holds of one is worth nothing once the lane is another. */
const noPlace = "0";

/** The lane of a session without steps: silent, until nobody listens any more. A lane that ended would be asked for again and again. */
async function* noFrames(signal: AbortSignal): AsyncGenerator<LaneEvent, void> {
  yield* [];
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

export async function openStepsHub(served: ServedSession, onFailure: (error: unknown) => void): Promise<Hub> {
  return new StepsHub(served.steps ?? noFrames, onFailure);
}

class StepsHub implements Hub {
  readonly lane = new Lane();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #held: Held = emptyHeld;
  #heldBytes = 0;

  constructor(steps: (signal: AbortSignal) => AsyncIterable<LaneEvent>, onFailure: (error: unknown) => void) {
    this.#running = this.#run(steps, onFailure);
  }

  get end(): string {
    return formatLanePosition({ log: noPlace, frame: { epoch: this.lane.epoch, seq: this.lane.next - 1 } });
  }

  async *catchUp(
    from: LanePosition | "now" | undefined,
  ): AsyncGenerator<EncodedFrame, number | undefined, undefined> {
    if (from === "now") return this.lane.next;
    const resumed = from === undefined ? undefined : this.lane.resume(from);
    if (resumed !== undefined) return resumed;
    const { next, epoch } = this.lane;
    const at = { log: noPlace, frame: { epoch, seq: next - 1 } };
    const held = this.#held;
    // What the client holds of a step is told again from the step's first byte: nothing is lost, and nothing is there twice.
    if (from !== undefined) yield encodeEvent("{}", at, "over");
    if (held !== emptyHeld) yield encodeEvent(frameJson(held), at, "frame");
    return next;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(
    steps: (signal: AbortSignal) => AsyncIterable<LaneEvent>,
    onFailure: (error: unknown) => void,
  ): Promise<void> {
    try {
      for await (const event of steps(this.#stop.signal)) {
        if (event.type === "over") this.#begin();
        else this.#tell(event.frame);
      }
    } catch (error) {
      onFailure(error);
    } finally {
      this.lane.end();
    }
  }

  #begin(): void {
    this.#held = emptyHeld;
    this.#heldBytes = 0;
    this.lane.publish("{}", { log: noPlace }, "over");
  }

  #tell(frame: Frame): void {
    const json = frameJson(frame);
    this.#heldBytes += json.length;
    // A step that says more than may be kept is told from here on: the transcript has what came before.
    const isFull = this.#heldBytes > STEP_BYTES_MAX || this.#held.tools.length > STEP_EVENTS_MAX;
    if (isFull) this.#begin();
    this.#held = absorbFrame(this.#held, frame);
    this.lane.publish(json, { log: noPlace }, "frame");
  }
}
