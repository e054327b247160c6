/** Tells when it is time to look again: a watcher is the hint, a steady sweep is the truth. */
import { watch as watchPath } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Time between two looks where no hint comes. */
export const SWEEP_MS = 1000;
/** Time between two looks while things are changing: hints may be missing on network disks. */
export const BUSY_SWEEP_MS = 200;
/** Looks in a row without a change after which the slow sweep is enough. */
export const BUSY_SWEEPS = 10;

export interface WatchPorts {
  /** Watches a path; throws or calls `onFailure` where that cannot be done (any more). */
  watch(path: string, onHint: () => void, onFailure: (message: string) => void): { close(): void };
  /** Resolves after the time, or rejects when the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const nodeWatchPorts: WatchPorts = {
  watch(path, onHint, onFailure) {
    const watcher = watchPath(path, { persistent: true }, onHint);
    watcher.on("error", (error) => onFailure(error instanceof Error ? error.message : String(error)));
    return watcher;
  },
  wait: (ms, signal) => sleep(ms, undefined, { signal }),
};

export interface Looker {
  /** Resolves when it is time to look; `changed` says whether the last look found anything. False once aborted. */
  next(changed: boolean): Promise<boolean>;
  /** The words of a watcher's failure, once. */
  failure(): string | undefined;
  /** Watches exactly these paths; those that are not there (yet) are tried again at every look. */
  setPaths(paths: readonly string[]): void;
  close(): void;
}

/** A looker over some paths. Hints that come while a look is under way are one further look. */
export function createLooker(signal: AbortSignal, ports: WatchPorts = nodeWatchPorts): Looker {
  const watchers = new Map<string, { close(): void }>();
  let wanted: readonly string[] = [];
  let isHinted = false;
  let wake: (() => void) | undefined;
  let failure: string | undefined;
  let isFailureTold = false;
  let quiet = BUSY_SWEEPS;

  const hint = (): void => {
    isHinted = true;
    wake?.();
  };

  function drop(path: string): void {
    watchers.get(path)?.close();
    watchers.delete(path);
  }

  function ensure(): void {
    for (const path of [...watchers.keys()]) if (!wanted.includes(path)) drop(path);
    for (const path of wanted) {
      if (watchers.has(path)) continue;
      try {
        const watcher = ports.watch(path, hint, (message) => {
          drop(path);
          failure ??= message;
          hint();
        });
        watchers.set(path, watcher);
      } catch (error) {
        // The watch limit, a path that is not there yet, a file system without events: the sweep sees what the watcher cannot.
        const code = (error as NodeJS.ErrnoException).code;
        if (typeof code !== "string") throw error;
        if (code !== "ENOENT") failure ??= (error as Error).message;
      }
    }
  }

  function close(): void {
    for (const path of [...watchers.keys()]) drop(path);
  }

  return {
    async next(changed) {
      quiet = changed ? 0 : Math.min(quiet + 1, BUSY_SWEEPS);
      ensure();
      if (!isHinted && !signal.aborted) {
        const timer = new AbortController();
        const hinted = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const stop = (): void => timer.abort();
        signal.addEventListener("abort", stop, { once: true });
        const waited = ports
          .wait(quiet < BUSY_SWEEPS ? BUSY_SWEEP_MS : SWEEP_MS, timer.signal)
          .catch((error: unknown) => {
            if (!timer.signal.aborted) throw error;
          });
        await Promise.race([hinted, waited]);
        timer.abort();
        signal.removeEventListener("abort", stop);
        wake = undefined;
      }
      isHinted = false;
      if (signal.aborted) close();
      return !signal.aborted;
    },
    failure() {
      if (failure === undefined || isFailureTold) return undefined;
      isFailureTold = true;
      return failure;
    },
    setPaths(paths) {
      wanted = paths;
    },
    close,
  };
}
