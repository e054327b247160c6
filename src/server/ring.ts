/** The newest frames of a lane, encoded once for all who watch it. */
import { formatLanePosition, type LanePosition } from "./position.ts";

/** One frame as it goes over the wire. */
export interface EncodedFrame {
  /** The position after it, as clients send it back. */
  readonly position: string;
  /** The whole server-sent event. */
  readonly event: Buffer;
  /** The frame's JSON alone: a part of the same bytes. */
  readonly json: Buffer;
}

/** The event of a frame whose JSON is written already; `name` is the event's, where it is not a plain message. */
export function encodeEvent(json: string, at: LanePosition, name?: string): EncodedFrame {
  const position = formatLanePosition(at);
  const type = name === undefined ? "" : `event: ${name}\n`;
  const head = Buffer.from(`${type}id: ${position}\ndata: `, "latin1");
  // JSON has no line ends of its own: one data line holds it whole.
  const event = Buffer.concat([head, Buffer.from(json, "utf8"), Buffer.from("\n\n", "latin1")]);
  return { position, event, json: event.subarray(head.length, event.length - 2) };
}

/** A ring of frames under consecutive numbers, bounded by count and by bytes; the newest frame is always kept. */
export class FrameRing {
  readonly #framesMax: number;
  readonly #bytesMax: number;
  readonly #frames: EncodedFrame[];
  #first = 1;
  #next = 1;
  #bytes = 0;

  constructor(framesMax: number, bytesMax: number) {
    this.#framesMax = framesMax;
    this.#bytesMax = bytesMax;
    this.#frames = new Array(framesMax);
  }

  /** The number of the oldest frame kept; `next` where none is. */
  get first(): number {
    return this.#first;
  }

  /** The number that the next frame gets. */
  get next(): number {
    return this.#next;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(frame: EncodedFrame): void {
    while (this.#next - this.#first >= this.#framesMax) this.#drop();
    this.#frames[this.#next % this.#framesMax] = frame;
    this.#next += 1;
    this.#bytes += frame.event.length;
    while (this.#bytes > this.#bytesMax && this.#next - this.#first > 1) this.#drop();
  }

  /** The frame of a number; undefined where it is not kept (any more, or yet). */
  get(seq: number): EncodedFrame | undefined {
    return seq >= this.#first && seq < this.#next ? this.#frames[seq % this.#framesMax] : undefined;
  }

  #drop(): void {
    const slot = this.#first % this.#framesMax;
    this.#bytes -= this.#frames[slot]?.event.length ?? 0;
    delete this.#frames[slot];
    this.#first += 1;
  }
}
