/** The changes of one session on a lane: one reader of the log, whatever the number of clients. */
import {
  type Change,
  type DriverState,
  type Position,
  type Session,
  SourceError,
  type TailPage,
} from "../session/index.ts";
import { cutEntry } from "./cut.ts";
import { type LaneFrame, type LiveBlocks, type Standing, tellChange, wireInfo } from "./frames.ts";
import { type Hub, Lane } from "./lane.ts";
import { CATCH_UP_ENTRIES, HUB_TAIL_ENTRIES, LANE_TEXT_MAX } from "./limits.ts";
import { checkOf, formatLanePosition, type LanePosition } from "./position.ts";
import { type EncodedFrame, encodeEvent } from "./ring.ts";
import { isDriven } from "./served.ts";
import type { ServedSession } from "./types.ts";

function jsonOf(frame: LaneFrame): string {
  if (!("entry" in frame)) return JSON.stringify(frame);
  return JSON.stringify({ ...frame, entry: cutEntry(frame.entry, LANE_TEXT_MAX, true) });
}

function tell(frame: LaneFrame, at: LanePosition): EncodedFrame {
  return encodeEvent(jsonOf(frame), at);
}

/** The place in the log before which everything is finished. */
interface Mark {
  readonly log: Position;
  /** The entry just before it; absent where that is not known or there is none. */
  readonly last?: string;
}

function placeOf({ log, last }: Mark): Omit<LanePosition, "frame"> {
  return { log, ...(last === undefined ? {} : { check: checkOf(last) }) };
}

/** Whether an error says that a position is void, rather than that something failed. */
export function isVoid(error: unknown): boolean {
  return error instanceof SourceError && error.code === "bad-position";
}

/** The mark that a tail page ends at: before its first block that may still change. */
export function markOf(page: TailPage): Mark {
  const live = new Set(page.live);
  const first = page.entries.findIndex((entry) => live.has(entry.name));
  const at = first < 0 ? page.entries.length : first;
  const last = page.entries[at - 1]?.name;
  return {
    log: first < 0 ? page.end : (page.positions[at] ?? page.end),
    ...(last === undefined ? {} : { last }),
  };
}

/** The lane position of a page that was read: a lane from there on tells all that the page does not hold finished. */
export function lanePositionOf(page: TailPage): string {
  return formatLanePosition(placeOf(markOf(page)));
}

/**
 * Reads the tail of a session and follows it on a lane until closed. Does not close the session. `onFailure` is told of an error that ended
 * the lane.
 */
export async function openChangesHub(
  served: ServedSession,
  onFailure: (error: unknown) => void,
  lane: Lane = new Lane(),
): Promise<Hub> {
  const page = await served.session.tail(HUB_TAIL_ENTRIES);
  return new ChangesHub(served, page, onFailure, lane);
}

class ChangesHub implements Hub {
  readonly lane: Lane;
  readonly #session: Session;
  readonly #onFailure: (error: unknown) => void;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;
  #live: LiveBlocks;
  #mark: Mark;
  #driver: DriverState | undefined;

  constructor(served: ServedSession, page: TailPage, onFailure: (error: unknown) => void, lane: Lane) {
    const { session, drivers } = served;
    this.#session = session;
    this.#onFailure = onFailure;
    this.lane = lane;
    const live = new Set(page.live);
    const first = page.entries.findIndex((entry) => live.has(entry.name));
    const pending = first < 0 ? [] : page.entries.slice(first);
    this.#live = { pending: new Map(pending.map((entry) => [entry.name, entry])), turnOpen: page.turnOpen };
    this.#mark = markOf(page);
    this.#driver = isDriven(session) ? session.driver : undefined;
    this.#running = Promise.all([this.#run(page), drivers === undefined ? undefined : this.#watch(drivers)]);
  }

  get end(): string {
    return formatLanePosition({
      ...placeOf(this.#mark),
      frame: { epoch: this.lane.epoch, seq: this.lane.next - 1 },
    });
  }

  async *catchUp(
    from: LanePosition | "now" | undefined,
  ): AsyncGenerator<EncodedFrame, number | undefined, undefined> {
    if (from === "now") return this.lane.next;
    const resumed = from === undefined ? undefined : this.lane.resume(from);
    if (resumed !== undefined) return resumed;
    let told = from === undefined ? await this.#beginning() : await this.#verify(from);
    // What is finished while the client takes what it missed is read as well, until it stands where the lane does.
    while (told !== "void" && told.log !== this.#mark.log) {
      const goal: Mark = this.#mark;
      told = yield* this.#readTo(goal, told, new Set(this.#live.pending.keys()));
      if (goal === this.#mark) break;
    }
    if (told === "void") {
      const reason = "the position is of another log, or its records are others now";
      yield tell({ type: "reset", reason }, { log: this.#mark.log });
      return undefined;
    }
    // Taken before the frame is given away: what comes while the client takes it is in the ring.
    const { next, epoch } = this.lane;
    yield tell(this.#standing(), { ...placeOf(this.#mark), frame: { epoch, seq: next - 1 } });
    return next;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  #standing(): Standing {
    return {
      type: "standing",
      turnOpen: this.#live.turnOpen,
      pending: [...this.#live.pending.values()].map((entry) => cutEntry(entry, LANE_TEXT_MAX, true)),
      info: wireInfo(this.#session.info),
      ...(this.#driver === undefined ? {} : { driver: this.#driver }),
    };
  }

  async #beginning(): Promise<Mark> {
    return { log: (await this.#session.first(1)).start };
  }

  /** The mark of a position from elsewhere, once it is known to be a place of this log that the client's copy ends at. */
  async #verify({ log, check }: LanePosition): Promise<Mark | "void"> {
    try {
      const before = (await this.#session.older(log, 1)).entries.at(-1);
      if (check !== undefined && (before === undefined || checkOf(before.name) !== check)) return "void";
      // The conversation went back behind it: what the client holds is not on its path any more.
      if (before?.offPath === true) return "void";
      return { log, ...(before === undefined ? {} : { last: before.name }) };
    } catch (error) {
      if (isVoid(error)) return "void";
      throw error;
    }
  }

  /** Tells the entries from a mark to another one as finished, a page at a time. */
  async *#readTo(
    goal: Mark,
    from: Mark,
    pending: ReadonlySet<string>,
  ): AsyncGenerator<EncodedFrame, Mark | "void", undefined> {
    let told = from;
    // A position inside of what waits: the entry before it is live again, and all that is finished was told.
    if (told.last !== undefined && pending.has(told.last)) return goal;
    for (;;) {
      let page: Awaited<ReturnType<Session["newer"]>>;
      try {
        page = await this.#session.newer(told.log, CATCH_UP_ENTRIES);
      } catch (error) {
        if (isVoid(error)) return "void";
        throw error;
      }
      for (const [index, entry] of page.entries.entries()) {
        if (pending.has(entry.name)) return goal;
        const start = page.positions[index] ?? page.start;
        const end = page.positions[index + 1] ?? page.end;
        told = { log: end, last: entry.name };
        yield tell({ type: "blockFinished", entry, start, end }, placeOf(told));
        if (entry.name === goal.last) return told;
      }
      if (page.atEnd || page.entries.length === 0) return told;
    }
  }

  async #run(page: TailPage): Promise<void> {
    try {
      for await (const change of this.#session.changes(page, this.#stop.signal)) {
        this.#tell(change);
        if (change.type === "reset") break;
      }
    } catch (error) {
      this.#onFailure(error);
    } finally {
      this.lane.end();
      this.#stop.abort();
    }
  }

  async #watch(drivers: NonNullable<ServedSession["drivers"]>): Promise<void> {
    try {
      for await (const driver of drivers(this.#stop.signal)) this.#tell({ type: "driver", driver });
    } catch (error) {
      // The transcript goes on without it.
      this.#onFailure(error);
    }
  }

  #tell(change: Change): void {
    if (change.type === "driver") this.#driver = change.driver;
    if (change.type === "blockFinished") this.#mark = { log: change.end, last: change.entry.name };
    const { frames, live } = tellChange(this.#live, change);
    this.#live = live;
    for (const frame of frames) this.lane.publish(jsonOf(frame), placeOf(this.#mark));
  }
}
