/** A session over the log of any source. */
import { type DamageNote, type Log, type SessionInfo, SourceError, type TailPage } from "../sources/index.ts";
import { createTracker } from "./tracker.ts";
import type { Change, Session } from "./types.ts";

/** What stands behind the last entry of a tail page and is no whole record; undefined where nothing does. */
export function tornEnd(page: TailPage): DamageNote | undefined {
  const end = Number.parseInt(page.end, 10);
  return page.damage.findLast(({ reason, start }) => reason === "torn" && start >= end);
}

/** The page with `live` naming the first block that may still change and all after it. */
function withPendingNames(page: TailPage): TailPage {
  const live = new Set(page.live);
  const first = page.entries.findIndex((e) => live.has(e.name));
  return first < 0 ? page : { ...page, live: page.entries.slice(first).map((e) => e.name) };
}

/**
 * The session of an open log. It reads nothing by itself; closing it closes the log. `changes` may run once at a time for each page it is
 * given, and ends with a `reset` change where positions became void: read the tail again and ask anew.
 */
export function createSession(log: Log, info: SessionInfo): Session {
  let known = info;
  // The tracker needs to know which blocks of a page may really change, not only which are unfinished.
  const asRead = new WeakMap<TailPage, TailPage>();

  async function* changes(after: TailPage, signal: AbortSignal): AsyncGenerator<Change> {
    try {
      yield* follow(after, signal);
    } catch (error) {
      // The log was rewritten since the page was read: its end is no place of it any more.
      if (!(error instanceof SourceError) || error.code !== "bad-position") throw error;
      yield { type: "reset", reason: "its records are others now" };
    }
  }

  async function* follow(after: TailPage, signal: AbortSignal): AsyncGenerator<Change> {
    const tracker = createTracker(asRead.get(after) ?? after);
    for await (const event of log.follow(after.end, signal)) {
      switch (event.type) {
        case "items": {
          yield* tracker.apply(event.items);
          for (const item of event.items) {
            if (item.type !== "info") continue;
            known = { ...known, ...item.info };
            yield { type: "info", info: known };
          }
          break;
        }
        case "reset":
          yield { type: "reset", reason: event.reason };
          return;
        case "gone":
          yield {
            type: "notice",
            tone: "warning",
            text: "The session's file is gone; what is shown stays. Waiting for it to return.",
          };
          break;
        case "notice":
          yield { type: "notice", tone: "information", text: event.text };
          break;
        case "caughtUp":
          yield { type: "caughtUp" };
          break;
      }
    }
  }

  return {
    get info() {
      return known;
    },
    async tail(limit) {
      const page = await log.tail(limit);
      const shown = withPendingNames(page);
      asRead.set(shown, page);
      return shown;
    },
    older: (from, limit) => log.older(from, limit),
    newer: (from, limit) => log.newer(from, limit),
    first: (limit) => log.first(limit),
    changes,
    raw: (place, limit) => log.raw(place, limit),
    close: () => log.close(),
  };
}
