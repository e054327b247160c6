/** The lane of any session: from its step directory where the agent's driver publishes one, else from the changes of its log. */
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  absorbFrame,
  emptyHeld,
  type Frame,
  followWorld,
  type LaneEvent,
  REASK_MS,
  readOnce,
  stepsFolder,
} from "../follow/index.ts";
import { openStepWorld } from "../follow/node/index.ts";
import { readHolder } from "../log/index.ts";
import { messagesDriving, type SessionInfo } from "../sources/index.ts";
import { createLaneTeller } from "./lane-teller.ts";
import { DRIVEN_KNOWN_MS, LANE_TAIL_ENTRIES } from "./limits.ts";
import type { Session } from "./types.ts";

/** Where a session's steps are published. */
export interface StepPlace {
  /** The folder of the steps; it need not be there. */
  readonly steps: string;
  /** Whether somebody drives the session now. */
  readonly isDriven: () => Promise<boolean>;
}

/** The place of a session whose agent publishes its steps; undefined for agents that keep a log alone. */
export function stepPlaceOf(info: SessionInfo, now: () => number = Date.now): StepPlace | undefined {
  switch (info.agent) {
    case "hansard": {
      const folder = dirname(info.path);
      const lease = { sessions: dirname(folder), id: basename(folder) };
      const isDriven = async (): Promise<boolean> => (await readHolder(lease)).state !== "free";
      return { steps: stepsFolder(folder), isDriven: rememberTrue(isDriven, now) };
    }
    case "messages": {
      const driving = messagesDriving(info.path);
      return driving && { steps: driving.steps, isDriven: rememberTrue(() => driving.isDriven(now()), now) };
    }
    default:
      return undefined;
  }
}

/**
 * A yes is good for a moment, so that a fast writer's every line does not ask again; a no is asked again at once. A disk that refuses reads
 * as a no.
 */
function rememberTrue(ask: () => Promise<boolean>, now: () => number): () => Promise<boolean> {
  let until = Number.NEGATIVE_INFINITY;
  return async () => {
    if (now() < until) return true;
    const isTrue = await ask().catch(refusedByDisk);
    if (isTrue) until = now() + DRIVEN_KNOWN_MS;
    return isTrue;
  };
}

function refusedByDisk(error: unknown): false {
  if (error instanceof Error && typeof (error as NodeJS.ErrnoException).code === "string") return false;
  throw error;
}

/**
 * Follows the steps of a session, one read after another, until aborted. Rejects where the log cannot be read. The session stays open.
 */
export async function* followSession(
  session: Session,
  signal: AbortSignal,
  place: StepPlace | undefined = stepPlaceOf(session.info),
): AsyncGenerator<LaneEvent, void> {
  if (place === undefined) {
    yield* followChanges(session, signal);
    return;
  }
  const world = openStepWorld(place);
  const close = (): void => world.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    yield* followWorld(world, { stop: signal });
  } finally {
    signal.removeEventListener("abort", close);
    world.close();
  }
}

/** What the step under way has told up to now, as one frame; an empty one where none is. */
export async function readSessionOnce(
  session: Session,
  place: StepPlace | undefined = stepPlaceOf(session.info),
): Promise<Frame> {
  if (place === undefined) {
    const events = createLaneTeller().begin(await session.tail(LANE_TAIL_ENTRIES));
    return events.reduce(
      (held, event) => (event.type === "frame" ? absorbFrame(held, event.frame) : held),
      emptyHeld,
    );
  }
  const world = openStepWorld(place);
  try {
    return await readOnce(world);
  } finally {
    world.close();
  }
}

async function* followChanges(session: Session, signal: AbortSignal): AsyncGenerator<LaneEvent, void> {
  while (!signal.aborted) {
    const teller = createLaneTeller();
    const page = await session.tail(LANE_TAIL_ENTRIES);
    yield* teller.begin(page);
    for await (const change of session.changes(page, signal)) {
      yield* teller.tell(change);
      if (signal.aborted) return;
    }
    // Positions became void: the step under way is told anew.
    yield* teller.end();
    await pause(REASK_MS, signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
