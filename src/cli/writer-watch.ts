/** A session that another process writes, with word of when that process does not any more. */
import type { Change, Session } from "../session/index.ts";

/** How often the lease is looked at: who waits for a session knows within a second that it is free. */
export const writerPollMs = 500;

/** Resolves once `isWritten` says no; never, where the signal aborts before. */
async function untilFree(isWritten: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, writerPollMs);
      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done);
    });
    if (!signal.aborted && !(await isWritten())) return true;
  }
  return false;
}

/** The changes of a session, with `notice` among them once its writer has gone. */
async function* withNotice(
  changes: AsyncIterable<Change>,
  isFree: Promise<boolean>,
  notice: Change,
): AsyncGenerator<Change> {
  const source = changes[Symbol.asyncIterator]();
  let isTold = false;
  let isDue = false;
  let wake = (): void => undefined;
  void isFree.then((free) => {
    isDue = free;
    wake();
  });
  try {
    for (let next = source.next(); ; ) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (isDue && !isTold) resolve();
        next.then(
          () => resolve(),
          () => resolve(),
        );
      });
      if (isDue && !isTold) {
        isTold = true;
        yield notice;
        continue;
      }
      const { done, value } = await next;
      if (done === true) return;
      yield value;
      next = source.next();
    }
  } finally {
    await source.return?.();
  }
}

/** The session as it is, whose changes tell `notice` once, when nobody writes it any more. */
export function tellWhenFree(session: Session, isWritten: () => Promise<boolean>, notice: Change): Session {
  return {
    get info() {
      return session.info;
    },
    tail: (limit) => session.tail(limit),
    older: (from, limit) => session.older(from, limit),
    newer: (from, limit) => session.newer(from, limit),
    first: (limit) => session.first(limit),
    changes(after, signal) {
      const stop = new AbortController();
      const isFree = untilFree(isWritten, AbortSignal.any([signal, stop.signal]));
      const told = withNotice(session.changes(after, signal), isFree, notice);
      return {
        [Symbol.asyncIterator]: async function* () {
          try {
            yield* told;
          } finally {
            stop.abort();
          }
        },
      };
    },
    raw: (place, limit) => session.raw(place, limit),
    close: () => session.close(),
  };
}
