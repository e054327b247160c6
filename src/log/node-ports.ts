/** The ports on Node: the only place of the log that touches the disk, the clock and the process. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
import {
  chmod,
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  unlink,
} from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";
import { errnoOf } from "./errors.ts";
import type { FileFacts, Files, Host, LogPorts, OpenFile, OpenMode, ProcessFacts } from "./ports.ts";

const fileMode = 0o600;
const folderMode = 0o700;
const isWindows = process.platform === "win32";
// O_NOFOLLOW is undefined on Windows.
const noFollow = constants.O_NOFOLLOW ?? 0;

const openFlags: Readonly<Record<OpenMode, number>> = {
  // Without O_NONBLOCK, opening a FIFO that took the file's place would wait for a writer.
  read: constants.O_RDONLY | (constants.O_NONBLOCK ?? 0),
  append: constants.O_RDWR | constants.O_APPEND | noFollow,
  create: constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | noFollow,
  patch: constants.O_RDWR | noFollow,
};

function toFacts(stats: BigIntStats): FileFacts {
  return {
    size: Number(stats.size),
    inode: `${stats.dev}:${stats.ino}`,
    isFile: stats.isFile(),
    isFolder: stats.isDirectory(),
    modifiedMs: Number(stats.mtimeMs),
  };
}

class NodeFile implements OpenFile {
  readonly #handle: FileHandle;
  constructor(handle: FileHandle) {
    this.#handle = handle;
  }
  async read(into: Uint8Array, position: number): Promise<number> {
    let filled = 0;
    while (filled < into.length) {
      const { bytesRead } = await this.#handle.read(into, filled, into.length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return filled;
  }
  async write(bytes: Uint8Array, position?: number): Promise<number> {
    const { bytesWritten } = await this.#handle.write(bytes, 0, bytes.length, position ?? null);
    return bytesWritten;
  }
  async truncate(size: number): Promise<void> {
    await this.#handle.truncate(size);
  }
  async sync(): Promise<void> {
    await this.#handle.datasync();
  }
  async facts(): Promise<FileFacts> {
    return toFacts(await this.#handle.stat({ bigint: true }));
  }
  async close(): Promise<void> {
    await this.#handle.close();
  }
}

const files: Files = {
  async open(path, mode, permissions = fileMode) {
    return new NodeFile(await open(path, openFlags[mode], permissions));
  },
  async facts(path) {
    try {
      return toFacts(await lstat(path, { bigint: true }));
    } catch (error) {
      const code = errnoOf(error);
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      throw error;
    }
  },
  async list(path) {
    return await readdir(path);
  },
  async makeFolder(path) {
    await mkdir(path, { mode: folderMode });
  },
  rename,
  link,
  remove: unlink,
  async removeFolder(path) {
    await rm(path, { recursive: true, force: true });
  },
  async setMode(path, permissions) {
    await chmod(path, permissions);
  },
  async syncFolder(path) {
    if (isWindows) return; // a folder cannot be opened there; its names are journalled
    const handle = await open(path, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

/** A small file of the system as trimmed text, or undefined where it does not tell. */
async function tellsOf(read: () => Promise<string>): Promise<string | undefined> {
  try {
    const text = (await read()).trim();
    return text === "" ? undefined : text;
  } catch (error) {
    // Whatever the reason: a fact that is not told is absent, and then not compared.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

const run = promisify(execFile);
async function output(command: string, ...args: readonly string[]): Promise<string> {
  return (
    await run(command, [...args], {
      timeout: 2000,
      env: { LC_ALL: "C", PATH: "/bin:/usr/bin:/sbin:/usr/sbin" },
    })
  ).stdout;
}

/** State letter and start of a Linux process, from its stat line. The name in parentheses may hold anything, so count from its end. */
function readStatLine(line: string): { readonly state: string; readonly startedAt: string } | undefined {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  const startedAt = fields[19];
  return state === undefined || startedAt === undefined ? undefined : { state, startedAt };
}

function isSignalable(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ESRCH") return false;
    if (errnoOf(error) === "EPERM") return true;
    throw error;
  }
}

async function findProcess(pid: number): Promise<{ readonly startedAt?: string } | undefined> {
  if (process.platform === "linux") {
    const line = await tellsOf(() => readFile(`/proc/${pid}/stat`, "utf8"));
    const stat = line === undefined ? undefined : readStatLine(line);
    if (stat !== undefined) {
      const isOver = stat.state === "Z" || stat.state === "X" || stat.state === "x";
      return isOver ? undefined : { startedAt: stat.startedAt };
    }
  }
  if (!isSignalable(pid)) return undefined;
  if (process.platform === "darwin") {
    const startedAt = await tellsOf(() => output("ps", "-o", "lstart=", "-p", String(pid)));
    if (startedAt !== undefined) return { startedAt };
  }
  return {};
}

async function describeSelf(): Promise<ProcessFacts> {
  const [own, bootId, machineId, pidSpace] = await Promise.all([
    findProcess(process.pid),
    process.platform === "darwin"
      ? tellsOf(() => output("sysctl", "-n", "kern.bootsessionuuid"))
      : tellsOf(() => readFile("/proc/sys/kernel/random/boot_id", "utf8")),
    tellsOf(() => readFile("/etc/machine-id", "utf8")),
    tellsOf(() => readlink("/proc/self/ns/pid")),
  ]);
  return {
    pid: process.pid,
    host: hostname(),
    ...(own?.startedAt === undefined ? {} : { startedAt: own.startedAt }),
    ...(bootId === undefined ? {} : { bootId }),
    ...(machineId === undefined ? {} : { machineId }),
    ...(pidSpace === undefined ? {} : { pidSpace }),
  };
}

let self: Promise<ProcessFacts> | undefined;
const host: Host = {
  self() {
    self ??= describeSelf();
    return self;
  },
  process: findProcess,
};

/** The real ports. Timers do not keep the process alive. */
export const nodePorts: LogPorts = {
  files,
  clock: {
    now: () => Date.now(),
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs);
      timer.unref();
      return () => clearTimeout(timer);
    },
  },
  host,
  randomId: () => randomUUID(),
};
