/** A session over an array of entries, for tests of what stands on sessions. */
import type { Change, Session } from "../../src/session/index.ts";
import type { Page, SessionInfo, TailPage } from "../../src/sources/index.ts";
import type { Entry } from "../../src/transcript/index.ts";

export function entryOf(index: number, body = `entry ${index}`): Entry {
  return {
    kind: "delivered",
    name: `@${index}`,
    sender: "user",
    body,
    time: 0,
    place: { start: index, end: index + 1 },
  };
}

export interface FakeSession extends Session {
  readonly log: Entry[];
  /** Reads that wait until they are let through; set `isHeld` to make reads wait. */
  isHeld: boolean;
  letThrough(): Promise<void>;
  /** The next read fails with this message. */
  failNext: string | undefined;
  emit(change: Change): void;
  endChanges(): void;
}

/** Positions are indices into the log. `live` names what a tail page calls unfinished. */
export function createFakeSession(log: Entry[], tail: Partial<TailPage> = {}): FakeSession {
  const info: SessionInfo = { agent: "claude-code", id: "fake", path: "fake.jsonl", title: "A fake" };
  let waiting: (() => void)[] = [];
  let queue: Change[] = [];
  let wake: (() => void) | undefined;
  let isEnded = false;
  const gate = async (): Promise<void> => {
    if (session.isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
    const failure = session.failNext;
    session.failNext = undefined;
    if (failure !== undefined) throw new Error(failure);
  };
  const page = (from: number, to: number): Page => {
    const start = Math.max(0, from);
    const end = Math.min(log.length, to);
    return {
      entries: log.slice(start, end),
      positions: log.slice(start, end).map((_, index) => String(start + index)),
      start: String(start),
      end: String(end),
      atStart: start === 0,
      atEnd: end === log.length,
      damage: [],
    };
  };
  const session: FakeSession = {
    log,
    info,
    isHeld: false,
    failNext: undefined,
    async letThrough() {
      const resolvers = waiting;
      waiting = [];
      for (const resolve of resolvers) resolve();
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    },
    async tail(limit) {
      await gate();
      return { ...page(log.length - limit, log.length), turnOpen: false, live: [], ...tail };
    },
    async older(from, limit) {
      await gate();
      return page(Number(from) - limit, Number(from));
    },
    async newer(from, limit) {
      await gate();
      return page(Number(from), Number(from) + limit);
    },
    async first(limit) {
      await gate();
      return page(0, limit);
    },
    async *changes(_after, signal) {
      signal.addEventListener("abort", () => wake?.());
      while (!signal.aborted && !isEnded) {
        const changes = queue;
        queue = [];
        yield* changes;
        if (queue.length === 0 && !signal.aborted && !isEnded)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
    async raw(place, limit) {
      await gate();
      return new TextEncoder().encode(`{"raw":${place.start}}`).subarray(0, limit);
    },
    async close() {},
    emit(change) {
      queue.push(change);
      wake?.();
    },
    endChanges() {
      isEnded = true;
      wake?.();
    },
  };
  return session;
}
