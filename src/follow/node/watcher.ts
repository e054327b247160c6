/** Tells when to look again: hints of the file system, with a steady look as the truth. */
import { watch as watchPath } from "node:fs";
import { HOLD_TICK_MS } from "../limits.ts";
import { codeOf } from "./files.ts";
import { WATCHED_TICK_MS } from "./limits.ts";

export interface WatcherPorts {
  /** Watches a folder; throws or calls `onFailure` where that cannot be done (any more). */
  watch(path: string, onHint: () => void, onFailure: () => void): { close(): void };
  /** Calls back once after the time; the answer takes it back. */
  after(ms: number, act: () => void): () => void;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
}

export const nodeWatcherPorts: WatcherPorts = {
  watch(path, onHint, onFailure) {
    const watcher = watchPath(path, { persistent: true }, onHint);
    watcher.on("error", onFailure);
    return watcher;
  },
  after(ms, act) {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  now: () => performance.now(),
};

export interface Watcher {
  /** Slow where everything is watched, `HOLD_TICK_MS` where not. */
  readonly tickMs: number;
  /** Forgets the hints so far: what they told is looked at now. */
  lookingNow(): void;
  /** Watches exactly these folders. One that is not there (yet) is tried again each time; a new one counts as a hint. */
  setPaths(paths: readonly string[]): void;
  /**
   * True when there was a hint, but not before `HOLD_TICK_MS` since the last look: a writer of any speed is looked at so often and no more.
   * False after `ms`, or when the watcher was closed.
   */
  wait(ms: number): Promise<boolean>;
  close(): void;
}

export function createWatcher(ports: WatcherPorts = nodeWatcherPorts): Watcher {
  const watched = new Map<string, { close(): void }>();
  let isHinted = false;
  let isClosed = false;
  let hasFailed = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let wake: ((isHint: boolean) => void) | undefined;

  function hint(): void {
    isHinted = true;
    wake?.(true);
  }

  function drop(path: string): void {
    watched.get(path)?.close();
    watched.delete(path);
  }

  function add(path: string): void {
    try {
      const onFailure = (): void => {
        // A folder that was taken away, too: what is there now is for the next look.
        drop(path);
        hint();
      };
      watched.set(path, ports.watch(path, hint, onFailure));
      // What came into it before it was watched is not told.
      hint();
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined) throw error;
      // Not there yet: its parent tells. Else the limit of watches, or a file system without any: the tick has to do.
      if (code !== "ENOENT") hasFailed = true;
    }
  }

  return {
    get tickMs() {
      return hasFailed ? HOLD_TICK_MS : WATCHED_TICK_MS;
    },
    lookingNow() {
      isHinted = false;
      lookedAt = ports.now();
    },
    setPaths(paths) {
      if (isClosed) return;
      hasFailed = false;
      for (const path of [...watched.keys()]) if (!paths.includes(path)) drop(path);
      for (const path of paths) if (!watched.has(path)) add(path);
    },
    wait(ms) {
      if (isClosed) return Promise.resolve(false);
      return new Promise((resolve) => {
        let cancel: () => void = () => undefined;
        const finish = (isHint: boolean): void => {
          wake = undefined;
          cancel();
          resolve(isHint);
        };
        const onHint = (): void => {
          const restMs = lookedAt + HOLD_TICK_MS - ports.now();
          if (restMs <= 0) {
            finish(true);
            return;
          }
          cancel();
          cancel = ports.after(restMs, () => finish(true));
          // Further hints are of the same look.
          wake = (isHint) => {
            if (!isHint) finish(false);
          };
        };
        wake = (isHint) => {
          if (isHint) onHint();
          else finish(false);
        };
        if (isHinted) onHint();
        else cancel = ports.after(ms, () => finish(false));
      });
    },
    close() {
      isClosed = true;
      for (const path of [...watched.keys()]) drop(path);
      wake?.(false);
    },
  };
}
