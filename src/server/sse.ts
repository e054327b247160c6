/** One client of a lane over server-sent events. Holds a number and what waits in its socket, nothing else. */
import type { ServerResponse } from "node:http";
import type { LaneFrame } from "./frames.ts";
import type { Batch, Hub } from "./lane.ts";
import { CLIENT_BYTES_MAX, CLIENT_STALL_MS, HEARTBEAT_MS } from "./limits.ts";
import type { LanePosition } from "./position.ts";
import type { EncodedFrame } from "./ring.ts";

/** How frames are written for a client. */
export interface Envelope {
  frame(frame: EncodedFrame): Buffer | string;
  batch(batch: Batch): Buffer | string;
  /** Said once the client has all there is; absent where nothing is. */
  caughtUp?(position: string): string;
  /** Said to the client by the server itself, not by the lane. */
  say(frame: LaneFrame): string;
}

/** Frames as they are: an id and the frame's JSON. */
export const plainEnvelope: Envelope = {
  frame: ({ event }) => event,
  batch: ({ event }) => event,
  say: (frame) => `data: ${JSON.stringify(frame)}\n\n`,
};

/** The same for the lane of steps, whose events have names. */
export const stepsEnvelope: Envelope = {
  frame: ({ event }) => event,
  batch: ({ event }) => event,
  say({ type, ...fields }) {
    // A client that comes back has no need to be told that it was slow, nor that the server went.
    const isTold = type === "reset" || ("again" in fields && !fields.again);
    return isTold ? `event: ${type}\ndata: ${JSON.stringify(fields)}\n\n` : "";
  },
};

/** How long a browser waits before it connects anew. */
const RETRY_MS = 1_000;
const heartbeat = ":\n\n";

export class SseClient {
  readonly #out: ServerResponse;
  readonly #envelope: Envelope;
  readonly #now: () => number;
  #next = 0;
  #position = "";
  #isOver = false;
  #hasToldUpToDate = false;
  #unwatch: () => void = () => undefined;
  #wake: () => void = () => undefined;
  #lastWriteAt: number;
  #lastFlushAt: number;

  constructor(out: ServerResponse, envelope: Envelope, now: () => number) {
    this.#out = out;
    this.#envelope = envelope;
    this.#now = now;
    this.#lastWriteAt = now();
    this.#lastFlushAt = now();
    out.once("close", () => this.#stop());
    // A socket that fails is closed as well; without a listener its error would end the process.
    out.on("error", () => this.#stop());
  }

  /** True once nothing is written to the client any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Serves the lane from a position on; resolves when the client has gone or the lane is over. Rejects where the log cannot be read. */
  async run(hub: Hub, from: LanePosition | "now" | undefined): Promise<void> {
    this.#out.write(`retry: ${RETRY_MS}\n\n`);
    const missed = hub.catchUp(from);
    try {
      for (;;) {
        const step = await missed.next();
        if (this.#isOver) return;
        if (step.done === true) {
          if (step.value === undefined) return this.#end();
          this.#next = step.value;
          break;
        }
        this.#write(this.#envelope.frame(step.value));
        this.#position = step.value.position;
        if (this.#isFull()) await this.#drained();
      }
    } finally {
      await missed.return(undefined);
    }
    if (this.#isOver) return;
    if (this.#position === "") this.#position = hub.end;
    await new Promise<void>((resolve) => {
      const pump = (): void => {
        this.#pump(hub);
        if (this.#isOver) resolve();
      };
      this.#unwatch = hub.lane.watch(pump);
      this.#out.on("drain", pump);
      this.#out.once("close", resolve);
      pump();
    });
  }

  /** Looked in on by the server's own tick: says that the lane lives, and lets go of a client that takes nothing. */
  tick(): void {
    if (this.#isOver) return;
    const now = this.#now();
    if (this.#out.writableLength > 0) {
      if (now - this.#lastFlushAt >= CLIENT_STALL_MS) this.#out.destroy();
    } else if (now - this.#lastWriteAt >= HEARTBEAT_MS) {
      this.#write(heartbeat);
    }
  }

  /** Says why and ends the lane for this client. */
  close(reason: string, again: boolean): void {
    if (this.#isOver) return;
    this.#write(this.#envelope.say({ type: "closed", reason, again }));
    this.#end();
  }

  /** Says that nothing of what the client missed can be told, and ends the lane for it. */
  reset(reason: string): void {
    this.#write(this.#envelope.say({ type: "reset", reason }));
    this.#end();
  }

  #pump(hub: Hub): void {
    while (!this.#isOver && !this.#isFull()) {
      const batch = hub.lane.batch(this.#next);
      if (batch === "gone") {
        // The ring has gone on without it. What it missed is read from its own position when it asks again.
        this.#write(this.#envelope.say({ type: "lagged" }));
        this.#end();
      } else if (batch === "ahead") {
        if (hub.lane.isOver) this.#end();
        else this.#tellUpToDate();
        return;
      } else {
        this.#write(this.#envelope.batch(batch));
        this.#position = batch.position;
        this.#hasToldUpToDate = false;
        this.#next = batch.next;
      }
    }
  }

  #tellUpToDate(): void {
    if (this.#hasToldUpToDate || this.#envelope.caughtUp === undefined) return;
    this.#hasToldUpToDate = true;
    this.#write(this.#envelope.caughtUp(this.#position));
  }

  #isFull(): boolean {
    return this.#out.writableLength >= CLIENT_BYTES_MAX;
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#out.once("drain", resolve);
    });
  }

  readonly #onFlushed = (): void => {
    this.#lastFlushAt = this.#now();
  };

  #write(bytes: Buffer | string): void {
    if (this.#isOver || bytes.length === 0) return;
    if (this.#out.writableLength === 0) this.#lastFlushAt = this.#now();
    this.#lastWriteAt = this.#now();
    this.#out.write(bytes, this.#onFlushed);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#stop();
    this.#out.end();
  }

  #stop(): void {
    this.#isOver = true;
    this.#unwatch();
    this.#wake();
  }
}
