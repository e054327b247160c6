/** What following needs from outside: files, a watcher, a timer. */
import { watch } from "node:fs";
import { type FileSource, type FileState, fileStateAt, openFile } from "./source.ts";

export interface Watch {
  close(): void;
}

export interface FollowPorts {
  open(path: string): Promise<FileSource>;
  /** The state of the file under a name; undefined where there is none. */
  stat(path: string): Promise<FileState | undefined>;
  /**
   * Calls `hint` when something may have happened at a file or in a folder (with the name of the entry, where it is known), `fail`
   * when it stops working. May throw.
   */
  watch(path: string, hint: (name: string | undefined) => void, fail: (error: Error) => void): Watch;
  /** Runs `run` once after `delayMs`; the answer calls it off. */
  after(delayMs: number, run: () => void): () => void;
}

/** The ports on this computer. The watcher alone keeps no process alive; the timer of a follower that is waited for does. */
export const realPorts: FollowPorts = {
  open: openFile,
  stat: fileStateAt,
  watch: (path, hint, fail) => {
    const watcher = watch(path, { persistent: false }, (_event, name) => hint(name ?? undefined));
    watcher.on("error", fail);
    return { close: () => watcher.close() };
  },
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
