/** What the log needs from the outside: files, a clock, facts about processes, random ids. Tests put their own behind these. */

export interface FileFacts {
  readonly size: number;
  /** Names the file itself, whatever its path: device and inode. */
  readonly inode: string;
  readonly isFile: boolean;
  readonly isFolder: boolean;
  readonly modifiedMs: number;
}

/** `read`: as it is. `append`: read, and write at the end; must exist. `create`: the same for a file that must not exist yet.
 * `patch`: write anywhere in a file that exists. A symbolic link is refused by all but `read`. */
export type OpenMode = "read" | "append" | "create" | "patch";

/** An open file. Every failure of the system is an error with its `code`. */
export interface OpenFile {
  /** Fills `into` from `position` as far as the file reaches; the count of bytes. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** One write: at the end (`append`, `create`), or at `position` (`patch`). The count of bytes taken, which may be less than all. */
  write(bytes: Uint8Array, position?: number): Promise<number>;
  truncate(size: number): Promise<void>;
  /** Returns once the file's data and size are on stable storage. */
  sync(): Promise<void>;
  facts(): Promise<FileFacts>;
  close(): Promise<void>;
}

export interface Files {
  open(path: string, mode: OpenMode, permissions?: number): Promise<OpenFile>;
  /** Facts of what lies at the path itself (a link is not followed), or undefined where nothing does. */
  facts(path: string): Promise<FileFacts | undefined>;
  list(path: string): Promise<readonly string[]>;
  /** Makes one folder, mode 0700; one that is there already is an EEXIST. */
  makeFolder(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** A second name for a file; EEXIST where `to` is taken. */
  link(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes a folder with all that is in it. */
  removeFolder(path: string): Promise<void>;
  setMode(path: string, permissions: number): Promise<void>;
  /** Returns once the folder's names are on stable storage. */
  syncFolder(path: string): Promise<void>;
}

export interface Clock {
  /** Milliseconds since the epoch; may jump. */
  now(): number;
  /** Runs `run` once after `delayMs`; the returned function calls it off. */
  after(delayMs: number, run: () => void): () => void;
}

/** Who a process is. A fact that the system does not tell is absent, and then not compared. */
export interface ProcessFacts {
  readonly pid: number;
  /** When it started, in the system's own counting: with the pid it names one process of one boot. */
  readonly startedAt?: string;
  readonly bootId?: string;
  readonly host: string;
  /** The machine's own id, where host names may repeat. */
  readonly machineId?: string;
  /** The space in which the pid counts (containers). */
  readonly pidSpace?: string;
}

export interface Host {
  self(): Promise<ProcessFacts>;
  /** The process that has the pid now, on this host: its start, or undefined where none runs (a zombie runs no more). */
  process(pid: number): Promise<{ readonly startedAt?: string } | undefined>;
}

export interface LogPorts {
  readonly files: Files;
  readonly clock: Clock;
  readonly host: Host;
  /** A new id that no other call gives. */
  readonly randomId: () => string;
}
