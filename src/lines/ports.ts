/** What following needs from outside: files, a watcher, a timer. */
import { type FSWatcher, watch } from "node:fs";
import { basename } from "node:path";
import { type FileSource, type FileState, fileStateAt, fileStateNow, openFile } from "./source.ts";

export interface Watch {
  close(): void;
}

export interface FollowPorts {
  open(path: string): Promise<FileSource>;
  /** The state of the file under a name; undefined where there is none. */
  stat(path: string): Promise<FileState | undefined>;
  /** `stat` at once, for a file that a program of this computer has just written. */
  statNow?(path: string): FileState | undefined;
  /**
   * Calls `hint` when something may have happened at a file or in a folder (with the name of the entry, where it is known), `fail`
   * when it stops working. May throw. Where an `entry` is given, only hints of that one in the folder are needed.
   */
  watch(
    path: string,
    hint: (name: string | undefined) => void,
    fail: (error: Error) => void,
    entry?: string,
  ): Watch;
  /** Runs `run` once what has come at this moment is told. Absent: at once. */
  soon?(run: () => void): void;
  /** Runs `run` once after `delayMs`; the answer calls it off. */
  after(delayMs: number, run: () => void): () => void;
}

interface Listener {
  readonly hint: (name: string | undefined) => void;
  readonly fail: (error: Error) => void;
}

interface Folder {
  readonly watcher: FSWatcher;
  readonly entries: Map<string, Set<Listener>>;
}

/** One watcher a folder for all that follow files in it: a hint costs one call, however many files are followed there. */
const folders = new Map<string, Folder>();

function watchEntry(path: string, entry: string, listener: Listener): Watch {
  const folder = folders.get(path) ?? watchFolder(path);
  const listeners = folder.entries.get(entry) ?? new Set();
  folder.entries.set(entry, listeners.add(listener));
  return {
    close() {
      listeners.delete(listener);
      if (listeners.size === 0 && folder.entries.get(entry) === listeners) folder.entries.delete(entry);
      if (folder.entries.size > 0) return;
      if (folders.get(path) === folder) folders.delete(path);
      folder.watcher.close();
    },
  };
}

function watchFolder(path: string): Folder {
  const entries = new Map<string, Set<Listener>>();
  const all = (): readonly Listener[] => [...entries.values()].flatMap((listeners) => [...listeners]);
  const watcher = watch(path, { persistent: false }, (_event, name) => {
    const told = name === null ? all() : [...(entries.get(name) ?? [])];
    for (const { hint } of told) hint(name ?? undefined);
    // The folder itself was moved or removed: this watcher tells of no folder under its name any more.
    if (name === basename(path)) forget();
  });
  const folder = { watcher, entries };
  const forget = (): void => {
    if (folders.get(path) === folder) folders.delete(path);
  };
  watcher.on("error", (error) => {
    forget();
    for (const { fail } of all()) fail(error);
  });
  folders.set(path, folder);
  return folder;
}

/** The ports on this computer. The watcher alone keeps no process alive; the timer of a follower that is waited for does. */
export const realPorts: FollowPorts = {
  open: openFile,
  stat: fileStateAt,
  statNow: fileStateNow,
  watch: (path, hint, fail, entry) => {
    if (entry !== undefined) return watchEntry(path, entry, { hint, fail });
    const watcher = watch(path, { persistent: false }, (_event, name) => hint(name ?? undefined));
    watcher.on("error", fail);
    return { close: () => watcher.close() };
  },
  soon: (run) => void setImmediate(run),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
