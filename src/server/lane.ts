/**
 * A lane: the newest frames of one session, shared by all who watch it. Frames are kept once, in a bounded ring; a watcher keeps only the
 * number of the frame that it is to have next, so that a slow one costs nothing and holds nobody.
 */
import { randomBytes } from "node:crypto";
import { BATCH_BYTES_MAX, RING_BYTES_MAX, RING_FRAMES_MAX } from "./limits.ts";
import type { LanePosition } from "./position.ts";
import { type EncodedFrame, encodeEvent, FrameRing } from "./ring.ts";

/** Told that there are further frames, or that the lane has ended. Must not throw. */
export type Watcher = () => void;

/** Consecutive frames that go out in one write. */
export interface Batch {
  readonly frames: readonly EncodedFrame[];
  /** Their events, one behind the other. */
  readonly event: Buffer;
  /** The number of the frame after them. */
  readonly next: number;
  /** The position after them. */
  readonly position: string;
}

export class Lane {
  /** Names this lane among all that ever were. */
  readonly epoch: string = BigInt(`0x${randomBytes(8).toString("hex")}`).toString(36);
  readonly #ring: FrameRing;
  readonly #watchers = new Set<Watcher>();
  #isOver = false;
  #isTelling = false;
  /** The batch that was asked for last: those who are up to date all ask for the same one. */
  #batch: (Batch & { readonly first: number; readonly isFull: boolean }) | undefined;

  constructor(framesMax: number = RING_FRAMES_MAX, bytesMax: number = RING_BYTES_MAX) {
    this.#ring = new FrameRing(framesMax, bytesMax);
  }

  /** The number of the next frame. */
  get next(): number {
    return this.#ring.next;
  }

  /** True once no frame will follow those that are kept. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** The frame of a number; "ahead" where it is still to come, "gone" where it is not kept any more. */
  frame(seq: number): EncodedFrame | "ahead" | "gone" {
    return this.#ring.get(seq) ?? (seq >= this.#ring.next ? "ahead" : "gone");
  }

  /** The frames from a number on, as many as fit into `BATCH_BYTES_MAX` and at least one; "ahead" and "gone" as for `frame`. */
  batch(seq: number): Batch | "ahead" | "gone" {
    const first = this.frame(seq);
    if (typeof first === "string") return first;
    const known = this.#batch;
    if (known?.first === seq && (known.isFull || known.next === this.#ring.next)) return known;
    const frames = [first];
    let bytes = first.event.length;
    let isFull = false;
    let last = first;
    for (
      let frame = this.frame(seq + 1);
      typeof frame !== "string";
      frame = this.frame(seq + frames.length)
    ) {
      bytes += frame.event.length;
      isFull = bytes > BATCH_BYTES_MAX;
      if (isFull) break;
      frames.push(frame);
      last = frame;
    }
    const event = frames.length === 1 ? first.event : Buffer.concat(frames.map((frame) => frame.event));
    const batch = { frames, event, next: seq + frames.length, position: last.position };
    this.#batch = { ...batch, first: seq, isFull };
    return this.#batch;
  }

  /** Where the ring takes a position up: the number of the frame after it; undefined where it is none of this lane's that is kept. */
  resume({ frame }: LanePosition): number | undefined {
    if (frame === undefined || frame.epoch !== this.epoch) return undefined;
    const next = frame.seq + 1;
    return next <= this.#ring.next && (next === this.#ring.next || this.#ring.get(next)) ? next : undefined;
  }

  /** Tells a frame to all watchers, once what is going on now is done: what comes at once is told at once. `log` and `check` are the place in the log that the frame leaves a client at. */
  publish(json: string, at: Omit<LanePosition, "frame">, name?: string): void {
    if (this.#isOver) return;
    this.#ring.push(encodeEvent(json, { ...at, frame: { epoch: this.epoch, seq: this.#ring.next } }, name));
    if (this.#isTelling) return;
    this.#isTelling = true;
    // After all that the promises of this moment bring: the changes of one read are one write for each client.
    process.nextTick(() => {
      this.#isTelling = false;
      this.#wake();
    });
  }

  /** Ends the lane, once: watchers get what is kept and then its end. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake();
  }

  #wake(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
    };
  }
}

/** What feeds a lane, and what brings a client to where the ring can take it on. */
export interface Hub {
  readonly lane: Lane;
  /**
   * What a client at `from` has missed; "now" misses nothing, undefined has nothing yet. Returns the number of the frame to go on with, or
   * undefined where the position is void: then the last frame given says so.
   */
  catchUp(
    from: LanePosition | "now" | undefined,
  ): AsyncGenerator<EncodedFrame, number | undefined, undefined>;
  /** The position of the newest frame. */
  readonly end: string;
  /** Ends the lane and lets go of the session. */
  close(): Promise<void>;
}
