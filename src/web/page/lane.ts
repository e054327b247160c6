/**
 * The lane of changes, kept open: read as a stream, taken up from its last position after every break, by polls where something on the way
 * holds streams up. Time and the network are ports.
 */
import { createParser } from "eventsource-parser";
import type { LaneFrame } from "../frames.ts";
import { EVENT_UNITS_MAX, HELD_UP_MS, RETRY_FIRST_MS, RETRY_MAX_MS, SILENT_MS_MAX } from "../limits.ts";

/** `live`: what is shown is how it is. `away`: it is as it was when something was last heard. `over`: it will not be heard again. */
export type Standing = "connecting" | "live" | "away" | "over";

export interface LanePorts {
  readonly fetch: (
    path: string,
    init: { readonly signal: AbortSignal; readonly accept: string },
  ) => Promise<Response>;
  readonly now: () => number;
  /** Runs `act` after `ms` unless called off. */
  readonly after: (ms: number, act: () => void) => () => void;
}

export interface LaneOptions {
  /** The route of the lane. */
  readonly path: string;
  readonly position: string;
  readonly ports: LanePorts;
  readonly onFrame: (frame: LaneFrame) => void;
  readonly onStanding: (standing: Standing, words: string) => void;
}

class Over extends Error {}

export class LaneClient {
  readonly #options: LaneOptions;
  #position: string;
  #mode: "events" | "polls" = "events";
  #standing: Standing = "connecting";
  #heardAt: number;
  #isStopped = false;
  #failures = 0;
  #request: AbortController | undefined;
  #wake: (() => void) | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#position = options.position;
    this.#heardAt = options.ports.now();
  }

  get position(): string {
    return this.#position;
  }

  /** When something was last heard, milliseconds since the epoch. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** Reads until stopped, or until the server says that there is nothing more to come. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        if (this.#mode === "events") await this.#events();
        else await this.#poll();
      } catch (error) {
        if (error instanceof Over) {
          this.#stand("over", error.message);
          return;
        }
        if (this.#isStopped) return;
        this.#stand("away", "");
        await this.#pause();
      }
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#request?.abort();
    this.#wake?.();
  }

  /** The device woke up, or with `isAnew` it is on another network: a connection that may be dead is not waited for. */
  wake(isAnew = false): void {
    this.#failures = 0;
    if (this.#wake !== undefined) this.#wake();
    else if (isAnew || this.#options.ports.now() - this.#heardAt > HELD_UP_MS) this.#request?.abort();
  }

  #stand(standing: Standing, words: string): void {
    if (standing === this.#standing && words === "") return;
    this.#standing = standing;
    this.#options.onStanding(standing, words);
  }

  async #pause(): Promise<void> {
    const { ports } = this.#options;
    const ms = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** this.#failures);
    this.#failures += 1;
    await new Promise<void>((resolve) => {
      const callOff = ports.after(ms, done);
      const self = this;
      function done(): void {
        callOff();
        self.#wake = undefined;
        resolve();
      }
      this.#wake = done;
    });
  }

  async #open(query: string, accept: string, request: AbortController): Promise<Response> {
    const { path, ports } = this.#options;
    const answer = await ports.fetch(`${path}?offset=${encodeURIComponent(this.#position)}&${query}`, {
      signal: request.signal,
      accept,
    });
    if (answer.status === 401 || answer.status === 403) throw new Over("This page is signed out.");
    if (answer.status === 404) throw new Over("The session is not there any more.");
    if (answer.status === 410 || answer.status === 400) {
      this.#options.onFrame({ type: "reset", reason: "its records are others now" });
      throw new Over("");
    }
    if (!answer.ok) throw new TypeError(`the server answered ${answer.status}`);
    return answer;
  }

  /** One connection, to its end. */
  async #events(): Promise<void> {
    const { ports } = this.#options;
    const request = new AbortController();
    this.#request = request;
    let isAnything = false;
    let callOff = ports.after(HELD_UP_MS, () => {
      // Nothing came through at all: polls may.
      if (!isAnything) this.#mode = "polls";
      request.abort();
    });
    const heard = (): void => {
      isAnything = true;
      this.#heardAt = ports.now();
      this.#failures = 0;
      this.#stand("live", "");
      callOff();
      callOff = ports.after(SILENT_MS_MAX, () => request.abort());
    };
    try {
      const answer = await this.#open("live=events", "text/event-stream", request);
      if (answer.body === null) throw new TypeError("an answer without a body");
      let isLagged = false;
      const parser = createParser({
        maxBufferSize: EVENT_UNITS_MAX,
        onError: ({ type }) => {
          if (type === "max-buffer-size-exceeded") throw new TypeError("an event without an end");
        },
        onEvent: ({ data, id }) => {
          const frame = JSON.parse(data) as LaneFrame;
          isLagged ||= frame.type === "lagged";
          this.#tell(frame);
          if (id !== undefined && id !== "") this.#position = id;
        },
      });
      const reader = answer.body.getReader();
      const decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        heard();
        parser.feed(decoder.decode(value, { stream: true }));
      }
      if (!isLagged) throw new TypeError("the connection ended");
    } finally {
      callOff();
      request.abort();
    }
  }

  /** One poll: what there is, or what comes within the server's patience. */
  async #poll(): Promise<void> {
    const { ports } = this.#options;
    const request = new AbortController();
    this.#request = request;
    const callOff = ports.after(SILENT_MS_MAX, () => request.abort());
    try {
      const answer = await this.#open("live=long-poll", "application/json", request);
      const frames = answer.status === 204 ? [] : ((await answer.json()) as readonly LaneFrame[]);
      this.#heardAt = ports.now();
      this.#failures = 0;
      this.#stand("live", "");
      for (const frame of frames) this.#tell(frame);
      this.#position = answer.headers.get("stream-next-offset") ?? this.#position;
    } finally {
      callOff();
    }
  }

  #tell(frame: LaneFrame): void {
    if (this.#isStopped) return;
    switch (frame.type) {
      case "lagged":
        return;
      case "closed":
        if (!frame.again) throw new Over(frame.reason);
        throw new TypeError(frame.reason);
      case "reset":
        this.#options.onFrame(frame);
        throw new Over("");
      default:
        this.#options.onFrame(frame);
    }
  }
}
