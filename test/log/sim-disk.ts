/**
 * A computer for the log to run on: a disk that keeps only what was synced, processes that can be killed at any operation, and a clock
 * that stands still. A power loss keeps any choice of the unsynced sectors of a file, any size between its old and its new one, and any
 * first part of the unsynced changes of a folder.
 */
import { basename, dirname } from "node:path";
import type { FileFacts, Files, LogPorts, OpenFile, OpenMode } from "../../src/log/index.ts";

const sectorBytes = 512;

/** A repeatable source of numbers in [0, 1). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), { code });
}

class SimFile {
  readonly isFolder = false;
  readonly inode: number;
  modifiedMs: number;
  bytes: Buffer = Buffer.alloc(0);
  durable: Buffer = Buffer.alloc(0);
  /** Sectors that the next sync brings to the disk. */
  readonly dirty = new Set<number>();
  constructor(inode: number, nowMs: number) {
    this.inode = inode;
    this.modifiedMs = nowMs;
  }

  put(bytes: Uint8Array, at: number): void {
    const size = Math.max(this.bytes.length, at + bytes.length);
    if (size > this.bytes.length) {
      const grown = Buffer.alloc(size);
      this.bytes.copy(grown);
      this.bytes = grown;
    }
    this.bytes.set(bytes, at);
    const first = Math.floor(at / sectorBytes);
    for (let sector = first; sector * sectorBytes < at + bytes.length; sector += 1) this.dirty.add(sector);
  }

  cut(size: number): void {
    const next = Buffer.alloc(size);
    this.bytes.copy(next, 0, 0, size);
    this.bytes = next;
  }

  sync(): void {
    this.durable = this.#settle(this.bytes.length, () => true);
    this.dirty.clear();
  }

  /** A sync that failed: the system forgets which sectors were not written. */
  forget(): void {
    this.dirty.clear();
  }

  losePower(random: () => number): void {
    const from = this.durable.length;
    const to = this.bytes.length;
    const size = from + Math.round((to - from) * (random() < 0.4 ? Math.round(random()) : random()));
    this.durable = this.#settle(size, () => random() < 0.7);
    this.bytes = Buffer.from(this.durable);
    this.dirty.clear();
  }

  #settle(size: number, isKept: (sector: number) => boolean): Buffer {
    const next = Buffer.alloc(size);
    this.durable.copy(next, 0, 0, Math.min(size, this.durable.length));
    for (const sector of this.dirty) {
      const start = sector * sectorBytes;
      if (start < size && isKept(sector))
        this.bytes.copy(next, start, start, Math.min(size, start + sectorBytes));
    }
    return next;
  }
}

type FolderChange = readonly (readonly [name: string, node: SimNode | undefined])[];

class SimFolder {
  readonly isFolder = true;
  readonly inode: number;
  modifiedMs: number;
  entries = new Map<string, SimNode>();
  durable = new Map<string, SimNode>();
  pending: FolderChange[] = [];
  constructor(inode: number, nowMs: number) {
    this.inode = inode;
    this.modifiedMs = nowMs;
  }

  change(change: FolderChange): void {
    SimFolder.#apply(this.entries, change);
    this.pending.push(change);
  }

  static #apply(entries: Map<string, SimNode>, change: FolderChange): void {
    for (const [name, node] of change) {
      if (node === undefined) entries.delete(name);
      else entries.set(name, node);
    }
  }

  sync(): void {
    for (const change of this.pending) SimFolder.#apply(this.durable, change);
    this.pending = [];
  }

  losePower(random: () => number): void {
    const kept = Math.floor(random() * (this.pending.length + 1));
    for (const change of this.pending.slice(0, kept)) SimFolder.#apply(this.durable, change);
    this.pending = [];
    this.entries = new Map(this.durable);
    for (const node of this.entries.values()) node.losePower(random);
  }
}

type SimNode = SimFile | SimFolder;

/** What happens to one operation that changes something. `part`: how much of a write is done, 0 to 1. */
export type Fate =
  | { readonly type: "done" }
  /** The process dies: before the operation, or when a part or all of it is done. */
  | { readonly type: "kill"; readonly part: number }
  | { readonly type: "fail"; readonly code: string; readonly part: number };

export interface Operation {
  readonly name: string;
  readonly path: string;
  readonly index: number;
}

/** A process of the computer, with the ports it sees. */
export interface SimProcess {
  readonly pid: number;
  readonly ports: LogPorts;
  /** Resolves when it dies. */
  readonly death: Promise<void>;
  kill(): void;
}

export class SimComputer {
  nowMs = 1_790_000_000_000;
  operations = 0;
  /** Asked before every operation that changes something. */
  fate: (operation: Operation) => Fate = () => ({ type: "done" });
  /** Awaited before every operation of any kind; lets a test choose who goes next. */
  turn: () => Promise<void> = () => Promise.resolve();
  #root: SimFolder;
  #inodes = 1;
  #ids = 0;
  #pids = 100;
  #boot = 1;
  #running = new Set<number>();
  #timers: { readonly at: number; readonly run: () => void }[] = [];

  constructor() {
    this.#root = new SimFolder(0, this.nowMs);
    const state = new SimFolder(1, this.nowMs);
    this.#root.change([["state", state]]);
    this.#root.sync();
  }

  /** Everything dies, the disk keeps what it must and some of the rest, and half a minute later the computer is there again. */
  losePower(random: () => number): void {
    this.#running.clear();
    this.#timers = [];
    this.#boot += 1;
    this.nowMs += 30_000;
    this.#root.losePower(random);
  }

  /** Lets time pass, with what falls due in it. */
  async advance(ms: number): Promise<void> {
    const until = this.nowMs + ms;
    await settle();
    for (;;) {
      const next = this.#timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.nowMs = Math.max(this.nowMs, next.at);
      next.run();
      await settle();
    }
    this.nowMs = until;
  }

  /** A file's bytes as a process would read them now; undefined where there is none. */
  bytesAt(path: string): Buffer | undefined {
    const node = this.#find(path);
    return node === undefined || node.isFolder ? undefined : Buffer.from(node.bytes);
  }

  /** What another program does to a file: its whole content. */
  overwrite(path: string, bytes: Uint8Array): void {
    const node = this.#find(path);
    if (node === undefined || node.isFolder) throw new Error(`no file ${path}`);
    node.bytes = Buffer.from(bytes);
    node.durable = Buffer.from(bytes);
    node.dirty.clear();
  }

  names(path: string): string[] {
    const node = this.#find(path);
    return node?.isFolder === true ? [...node.entries.keys()].sort() : [];
  }

  spawn(): SimProcess {
    this.#pids += 1;
    const pid = this.#pids;
    this.#running.add(pid);
    let die: () => void = () => {};
    const death = new Promise<void>((resolve) => {
      die = resolve;
    });
    const isAlive = (): boolean => this.#running.has(pid);
    const kill = (): void => {
      this.#running.delete(pid);
      die();
    };
    const self = {
      pid,
      startedAt: `start-${pid}`,
      host: "computer",
      bootId: `boot-${this.#boot}`,
    };
    const ports: LogPorts = {
      files: this.#files(isAlive, kill),
      clock: {
        now: () => this.nowMs,
        after: (delayMs, run) => {
          const timer = { at: this.nowMs + delayMs, run: () => isAlive() && run() };
          this.#timers.push(timer);
          return () => {
            this.#timers = this.#timers.filter((each) => each !== timer);
          };
        },
      },
      host: {
        self: () => Promise.resolve(self),
        process: (asked) =>
          Promise.resolve(this.#running.has(asked) ? { startedAt: `start-${asked}` } : undefined),
      },
      randomId: () => {
        this.#ids += 1;
        return `id-${this.#ids}`;
      },
    };
    return { pid, ports, death, kill };
  }

  #find(path: string): SimNode | undefined {
    let node: SimNode = this.#root;
    for (const name of path.split("/").filter((part) => part !== "")) {
      if (!node.isFolder) return undefined;
      const next = node.entries.get(name);
      if (next === undefined) return undefined;
      node = next;
    }
    return node;
  }

  #folder(path: string): SimFolder {
    const node = this.#find(path);
    if (node === undefined) throw systemError("ENOENT");
    if (!node.isFolder) throw systemError("ENOTDIR");
    return node;
  }

  #existing(path: string): SimNode {
    const node = this.#find(path);
    if (node === undefined) throw systemError("ENOENT");
    return node;
  }

  #facts(node: SimNode): FileFacts {
    return {
      size: node.isFolder ? 0 : node.bytes.length,
      inode: `disk:${node.inode}`,
      isFile: !node.isFolder,
      isFolder: node.isFolder,
      modifiedMs: node.modifiedMs,
    };
  }

  #files(isAlive: () => boolean, kill: () => void): Files {
    const never = <T>(): Promise<T> => new Promise<T>(() => {});
    /** An operation that only looks. */
    const look = async <T>(run: () => T): Promise<T> => {
      await this.turn();
      return isAlive() ? run() : await never<T>();
    };
    /** An operation that changes something; `half` is done where it is broken off. */
    const act = async <T>(
      name: string,
      path: string,
      run: () => T,
      half: (part: number, isKill: boolean) => void = () => {},
    ): Promise<T> => {
      await this.turn();
      if (!isAlive()) return await never<T>();
      const fate = this.fate({ name, path, index: this.operations });
      this.operations += 1;
      if (fate.type === "done") return run();
      if (fate.type === "kill" && fate.part >= 1) run();
      else half(fate.part, fate.type === "kill");
      if (fate.type === "fail") throw systemError(fate.code);
      kill();
      return await never<T>();
    };
    const openFile = (path: string, node: SimFile, mode: OpenMode): OpenFile => {
      const write = (bytes: Uint8Array, position: number | undefined): number => {
        if (mode === "read") throw systemError("EBADF");
        node.modifiedMs = this.nowMs;
        node.put(bytes, mode === "patch" ? (position ?? 0) : node.bytes.length);
        return bytes.length;
      };
      return {
        read: (into, position) => look(() => node.bytes.copy(into, 0, position, position + into.length)),
        write: (bytes, position) => {
          // The bytes are the caller's again once the operation is over, not before.
          return act(
            "write",
            path,
            () => write(bytes, position),
            (part) => write(bytes.subarray(0, Math.floor(bytes.length * part)), position),
          );
        },
        truncate: (size) =>
          act("truncate", path, () => {
            if (size <= node.bytes.length) node.cut(size);
            else node.put(Buffer.alloc(size - node.bytes.length), node.bytes.length);
          }),
        sync: () =>
          act(
            "sync",
            path,
            () => node.sync(),
            (_part, isKill) => {
              if (!isKill) node.forget();
            },
          ),
        facts: () => look(() => this.#facts(node)),
        close: () => act("close", path, () => {}),
      };
    };
    const at = (path: string): { readonly folder: SimFolder; readonly name: string } => ({
      folder: this.#folder(dirname(path)),
      name: basename(path),
    });
    return {
      open: (path, mode) => {
        const run = (): OpenFile => {
          const node = this.#find(path);
          if (mode !== "create") {
            if (node === undefined) throw systemError("ENOENT");
            if (node.isFolder) throw systemError("EISDIR");
            return openFile(path, node, mode);
          }
          const { folder, name } = at(path);
          if (node !== undefined) throw systemError("EEXIST");
          this.#inodes += 1;
          const made = new SimFile(this.#inodes, this.nowMs);
          folder.change([[name, made]]);
          return openFile(path, made, mode);
        };
        return mode === "read" ? look(run) : act("open", path, run);
      },
      facts: (path) =>
        look(() => {
          const node = this.#find(path);
          return node === undefined ? undefined : this.#facts(node);
        }),
      list: (path) => look(() => [...this.#folder(path).entries.keys()]),
      makeFolder: (path) =>
        act("makeFolder", path, () => {
          const { folder, name } = at(path);
          if (folder.entries.has(name)) throw systemError("EEXIST");
          this.#inodes += 1;
          folder.change([[name, new SimFolder(this.#inodes, this.nowMs)]]);
        }),
      rename: (from, to) =>
        act("rename", to, () => {
          const node = this.#existing(from);
          const { folder, name } = at(to);
          if (at(from).folder !== folder) throw new Error("a rename between folders is not simulated");
          const there = folder.entries.get(name);
          if (there?.isFolder === true && there.entries.size > 0) throw systemError("ENOTEMPTY");
          if (node.isFolder && there?.isFolder === false) throw systemError("ENOTDIR");
          folder.change([
            [basename(from), undefined],
            [name, node],
          ]);
        }),
      link: (from, to) =>
        act("link", to, () => {
          const node = this.#existing(from);
          const { folder, name } = at(to);
          if (folder.entries.has(name)) throw systemError("EEXIST");
          folder.change([[name, node]]);
        }),
      remove: (path) =>
        act("remove", path, () => {
          const node = this.#existing(path);
          if (node.isFolder) throw systemError("EISDIR");
          const { folder, name } = at(path);
          folder.change([[name, undefined]]);
        }),
      removeFolder: (path) =>
        act("removeFolder", path, () => {
          if (this.#find(path) === undefined) return;
          const { folder, name } = at(path);
          folder.change([[name, undefined]]);
        }),
      setMode: (path) => act("setMode", path, () => void this.#existing(path)),
      syncFolder: (path) => act("syncFolder", path, () => this.#folder(path).sync()),
    };
  }
}

/** Resolves once everything that can go on without time passing has gone on. */
export async function settle(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
