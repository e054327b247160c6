/** The lane by polls, for networks that hold events back: what there is now, or what comes within a while. */
import type { Hub } from "./lane.ts";
import { LONG_POLL_MS, POLL_BYTES_MAX, POLL_FRAMES_MAX } from "./limits.ts";
import type { LanePosition } from "./position.ts";
import type { EncodedFrame } from "./ring.ts";
import type { Clock } from "./types.ts";

export interface Polled {
  readonly frames: readonly EncodedFrame[];
  /** The position to ask from next. */
  readonly next: string;
  /** True where nothing more is there now. */
  readonly isUpToDate: boolean;
  /** True where this lane is over: its positions lead nowhere, or only into another one. */
  readonly isClosed: boolean;
  /** True where the position given was void: nothing that was missed can be told. */
  readonly isVoid: boolean;
}

export interface PollOptions {
  /** Waits for the first frame where there is none. */
  readonly waits: boolean;
  readonly clock: Clock;
  /** Ends the waiting: the client has gone, or its key. */
  readonly signal: AbortSignal;
}

/** The frames after a position, bounded by count and bytes; at least one where there is any. */
export async function pollLane(
  hub: Hub,
  from: LanePosition | "now" | undefined,
  fromText: string | undefined,
  options: PollOptions,
): Promise<Polled> {
  const frames: EncodedFrame[] = [];
  let bytes = 0;
  const isFull = (): boolean => frames.length >= POLL_FRAMES_MAX || bytes >= POLL_BYTES_MAX;
  const take = (frame: EncodedFrame): void => {
    frames.push(frame);
    bytes += frame.json.length;
  };
  const nextOf = (): string => frames.at(-1)?.position ?? fromText ?? hub.end;

  const missed = hub.catchUp(from);
  let seq: number;
  try {
    for (;;) {
      const step = await missed.next();
      if (step.done === true) {
        if (step.value === undefined)
          return { frames, next: nextOf(), isUpToDate: true, isClosed: true, isVoid: true };
        seq = step.value;
        break;
      }
      take(step.value);
      if (isFull()) return { frames, next: nextOf(), isUpToDate: false, isClosed: false, isVoid: false };
    }
  } finally {
    await missed.return(undefined);
  }

  const { lane } = hub;
  const start = from === "now" ? hub.end : nextOf();
  if (options.waits && frames.length === 0 && lane.frame(seq) === "ahead" && !lane.isOver)
    await nextFrame(hub, seq, options);
  for (let frame = lane.frame(seq); typeof frame !== "string" && !isFull(); frame = lane.frame(++seq))
    take(frame);
  const isUpToDate = lane.frame(seq) === "ahead";
  return {
    frames,
    next: frames.at(-1)?.position ?? start,
    isUpToDate,
    isClosed: isUpToDate && lane.isOver,
    isVoid: false,
  };
}

/** Resolves when the lane has the frame or ends, after `LONG_POLL_MS`, or when nobody waits any more. */
function nextFrame({ lane }: Hub, seq: number, { clock, signal }: PollOptions): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      unwatch();
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    // Lanes tell a moment after they have a frame: it may be one that was taken already.
    const unwatch = lane.watch(() => {
      if (lane.frame(seq) !== "ahead" || lane.isOver) done();
    });
    const cancel = clock.after(LONG_POLL_MS, done);
    signal.addEventListener("abort", done, { once: true });
  });
}
