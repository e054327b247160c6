/** The patience around the lane: a read held until it is over or quiet for too long, one read after another, and a read answered at once. */
import { absorbFrame, emptyHeld, type Frame } from "./frame.ts";
import { type LaneState, type Look, poll, startLane, type Want } from "./lane.ts";
import { HOLD_MS, ONCE_LOOKS_MAX, REASK_MS } from "./limits.ts";

/** The world that a lane looks at. Every failure of the disk reads as "nothing yet". */
export interface World {
  /** Time between two looks where no change is told, in milliseconds. May change from look to look. */
  readonly tickMs: number;
  look(want: Want): Promise<Look>;
  /** Resolves with true when something changed, with false when the time is over or the follower was stopped. */
  wait(ms: number): Promise<boolean>;
}

/** The part of an AbortSignal that is asked. */
export interface Stop {
  readonly aborted: boolean;
}

export interface HoldOptions {
  /** A read that told nothing for this long ends; Infinity where nobody can vanish unseen. `HOLD_MS` where absent. */
  readonly holdMs?: number;
  readonly stop?: Stop;
  /** The step that the read before ended with. */
  readonly past?: string;
}

/** Why a read ended, and with which step. */
export interface ReadEnd {
  readonly reason: "over" | "quiet" | "stopped";
  readonly step?: string;
}

/**
 * One read: its frames as they come. A quiet look counts with the time that was waited before it, a frame sets the count back, so a talking
 * read never ends by itself and a quiet one does after `holdMs`. A look that a change called for does not count.
 */
export async function* holdRead(world: World, options: HoldOptions = {}): AsyncGenerator<Frame, ReadEnd> {
  const { holdMs = HOLD_MS, stop, past } = options;
  let state: LaneState = startLane(past);
  let quietMs = 0;
  const ended = (reason: ReadEnd["reason"]): ReadEnd => ({
    reason,
    ...(state.step === undefined ? {} : { step: state.step }),
  });
  while (!stop?.aborted) {
    const look = await world.look(state);
    if (stop?.aborted) break;
    const { state: next, outcome } = poll(state, look);
    state = next;
    if (outcome.type === "over") return ended("over");
    if (outcome.type === "ready") {
      quietMs = 0;
      yield outcome.frame;
      continue;
    }
    if (outcome.isBehind) continue;
    const { tickMs } = world;
    quietMs += tickMs;
    if (quietMs >= holdMs) return ended("quiet");
    if (await world.wait(tickMs)) quietMs -= tickMs;
  }
  return ended("stopped");
}

export type LaneEvent =
  | { readonly type: "frame"; readonly frame: Frame }
  /** A read that told something has ended: its stream is dropped, the next frame begins the next read. */
  | { readonly type: "over" };

/**
 * The lane: read after read until stopped. Ends of reads without a frame are not told. After a silent read the next one begins after
 * `REASK_MS`, after one that told something at once.
 */
export async function* followWorld(world: World, options: HoldOptions = {}): AsyncGenerator<LaneEvent, void> {
  let past = options.past;
  while (!options.stop?.aborted) {
    const read = holdRead(world, {
      holdMs: Number.POSITIVE_INFINITY,
      ...options,
      ...(past === undefined ? {} : { past }),
    });
    let hasTold = false;
    let next = await read.next();
    for (; !next.done; next = await read.next()) {
      hasTold = true;
      yield { type: "frame", frame: next.value };
    }
    const { reason, step } = next.value;
    if (reason === "stopped") return;
    // Only a step that ended is past; one that was quiet too long is told again, whole.
    past = reason === "over" ? (step ?? past) : undefined;
    if (hasTold) yield { type: "over" };
    else await world.wait(REASK_MS);
  }
}

/**
 * The same read answered at once, for those who cannot hold one: all frames up to now as one. Costs what the step has said so far; of a
 * step that never stops, what `ONCE_LOOKS_MAX` looks give.
 */
export async function readOnce(world: Pick<World, "look">): Promise<Frame> {
  let state: LaneState = startLane();
  let held = emptyHeld;
  for (let looks = 0; looks < ONCE_LOOKS_MAX; looks++) {
    const { state: next, outcome } = poll(state, await world.look(state));
    state = next;
    if (outcome.type === "ready") held = absorbFrame(held, outcome.frame);
    else if (outcome.type === "over" || !outcome.isBehind) break;
  }
  return held;
}
