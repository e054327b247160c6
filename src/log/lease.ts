/**
 * The right to write a session, held by one process. The folder `lease/` has one file a holder, named by its epoch; the newest epoch
 * is the holder. Taking it means making the file of the next epoch, which only one process can; a process that finds a newer epoch than
 * its own has lost the right. A lease ends with its owner: a dead owner's is free at once, without any waiting time.
 */
import { join } from "node:path";
import { writeWhole } from "./bytes.ts";
import { errnoOf, LogError } from "./errors.ts";
import { leaseBlankMs, leaseBytesMax, leasePollMs, leaseRoundsMax } from "./limits.ts";
import type { Files, LogPorts, ProcessFacts } from "./ports.ts";

/** What a lease file says. */
export interface LeaseOwner extends ProcessFacts {
  readonly epoch: number;
  /** When it was taken, milliseconds since the epoch. */
  readonly takenAt: number;
  /** Given back by its owner. */
  readonly released?: boolean;
}

/** What a lease stands for: nobody, a process that lives, or one that cannot be seen from here (another machine, another container). */
export type LeaseHolder =
  | { readonly state: "free" }
  | { readonly state: "held"; readonly owner: LeaseOwner }
  | { readonly state: "elsewhere"; readonly owner: LeaseOwner }
  /** A lease file without readable content, too young to count as left behind. */
  | { readonly state: "unclear" };

export type LeaseCheck = "held" | "lost" | "gone";

const epochForm = /^\d{10}$/;
function epochName(epoch: number): string {
  return String(epoch).padStart(10, "0");
}

/** The newest epoch of a lease folder, 0 where there is none; undefined where the folder is missing. */
async function newestEpoch(files: Files, folder: string): Promise<number | undefined> {
  try {
    const epochs = (await files.list(folder)).filter((name) => epochForm.test(name)).map(Number);
    return epochs.reduce((a, b) => Math.max(a, b), 0);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** The content of a lease file; undefined where it is gone, null where it cannot be read as one. */
async function readOwner(files: Files, path: string): Promise<LeaseOwner | null | undefined> {
  let text: string;
  try {
    const file = await files.open(path, "read");
    try {
      const bytes = Buffer.alloc(leaseBytesMax);
      text = bytes.toString("utf8", 0, await file.read(bytes, 0));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const value = JSON.parse(text) as Partial<LeaseOwner> | null;
    return Number.isSafeInteger(value?.pid) && typeof value?.host === "string" ? (value as LeaseOwner) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function differ(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

/** Whether the owner of a lease still runs. */
async function judge(owner: LeaseOwner, ports: LogPorts): Promise<LeaseHolder> {
  if (owner.released === true) return { state: "free" };
  const self = await ports.host.self();
  if (owner.host !== self.host || differ(owner.machineId, self.machineId))
    return { state: "elsewhere", owner };
  if (differ(owner.bootId, self.bootId)) return { state: "free" };
  if (differ(owner.pidSpace, self.pidSpace)) return { state: "elsewhere", owner };
  const running = await ports.host.process(owner.pid);
  if (running === undefined || differ(running.startedAt, owner.startedAt)) return { state: "free" };
  return { state: "held", owner };
}

/** Who holds the lease of a session, without touching it. */
export async function readLease(folder: string, ports: LogPorts): Promise<LeaseHolder & { epoch: number }> {
  for (let round = 0; round < leaseRoundsMax; round += 1) {
    const epoch = await newestEpoch(ports.files, folder);
    if (epoch === undefined || epoch === 0) return { state: "free", epoch: 0 };
    const path = join(folder, epochName(epoch));
    const owner = await readOwner(ports.files, path);
    if (owner === undefined) continue; // a newer one has just taken its place
    if (owner !== null) return { ...(await judge(owner, ports)), epoch };
    const facts = await ports.files.facts(path);
    if (facts === undefined) continue;
    // A crash of the system can leave the name without the content; so can, for a moment, a file system that knows no links.
    const ageMs = Math.abs(ports.clock.now() - facts.modifiedMs);
    return { state: ageMs >= leaseBlankMs ? "free" : "unclear", epoch };
  }
  return { state: "unclear", epoch: 0 };
}

/** Makes a file with its whole content under a name that must be free; false where the name is taken. */
async function claim(
  files: Files,
  folder: string,
  epoch: number,
  content: string,
  nonce: string,
): Promise<boolean> {
  const made = join(folder, `${nonce}.tmp`);
  const path = join(folder, epochName(epoch));
  const file = await files.open(made, "create");
  try {
    await writeWhole(file, Buffer.from(content));
  } finally {
    await file.close();
  }
  try {
    await files.link(made, path);
    return true;
  } catch (error) {
    const code = errnoOf(error);
    // ENOENT: what was made was swept away, by one who took it for a leftover.
    if (code === "EEXIST" || code === "ENOENT") return false;
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "ENOSYS") throw error;
    return await claimWithoutLinks(files, path, content);
  } finally {
    await removeQuietly(files, made);
  }
}

/** For file systems that know no hard links: the name first, then the content. */
async function claimWithoutLinks(files: Files, path: string, content: string): Promise<boolean> {
  try {
    const file = await files.open(path, "create");
    try {
      await writeWhole(file, Buffer.from(content));
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

async function removeQuietly(files: Files, path: string): Promise<void> {
  try {
    await files.remove(path);
  } catch (error) {
    // What cannot be removed does no harm: it bears no epoch, or an old one.
    if (errnoOf(error) === undefined) throw error;
  }
}

/** Takes away what older holders left, oldest first: a holder that looks for its own file and the next one always finds out. */
async function sweep({ files, clock }: LogPorts, folder: string, epoch: number): Promise<void> {
  const names = [...(await files.list(folder))].sort();
  for (const name of names) {
    const path = join(folder, name);
    if (epochForm.test(name) && Number(name) < epoch) await removeQuietly(files, path);
    if (!name.endsWith(".tmp")) continue;
    // A young one is being made by somebody right now.
    const facts = await files.facts(path);
    if (facts !== undefined && Math.abs(clock.now() - facts.modifiedMs) >= leaseBlankMs)
      await removeQuietly(files, path);
  }
}

/** A lease that was taken. */
export class Lease {
  readonly owner: LeaseOwner;
  readonly #ports: LogPorts;
  #folder: string;

  /** @internal */
  constructor(folder: string, owner: LeaseOwner, ports: LogPorts) {
    this.#folder = folder;
    this.owner = owner;
    this.#ports = ports;
  }

  get epoch(): number {
    return this.owner.epoch;
  }

  /** The folder of the session got another name. */
  moveTo(folder: string): void {
    this.#folder = folder;
  }

  /** Whether it still stands. The next epoch is looked for first: a holder is only removed after its successor was made. */
  async check(): Promise<LeaseCheck> {
    const { files } = this.#ports;
    if ((await files.facts(join(this.#folder, epochName(this.epoch + 1)))) !== undefined) return "lost";
    if ((await files.facts(join(this.#folder, epochName(this.epoch)))) !== undefined) return "held";
    // An older epoch beside a missing own file: the folder was emptied, and somebody began anew.
    const newest = await newestEpoch(files, this.#folder);
    return newest !== undefined && newest > 0 ? "lost" : "gone";
  }

  /** Makes its file again where somebody removed it and nobody else has taken the lease. */
  async restore(): Promise<LeaseCheck> {
    const { files } = this.#ports;
    await ensureFolder(files, this.#folder);
    const content = JSON.stringify(this.owner);
    if (!(await claim(files, this.#folder, this.epoch, content, this.#ports.randomId()))) return "lost";
    const names = await files.list(this.#folder);
    if (names.filter((name) => epochForm.test(name)).length === 1) return "held";
    await removeQuietly(files, join(this.#folder, epochName(this.epoch)));
    return "lost";
  }

  /** Gives it back; its file stays, so that epochs never start again. A lease that was lost is left alone. */
  async release(): Promise<void> {
    const { files } = this.#ports;
    if ((await this.check()) !== "held") return;
    const made = join(this.#folder, `${this.#ports.randomId()}.tmp`);
    const file = await files.open(made, "create");
    try {
      await writeWhole(file, Buffer.from(JSON.stringify({ ...this.owner, released: true })));
    } finally {
      await file.close();
    }
    await files.rename(made, join(this.#folder, epochName(this.epoch)));
  }
}

/** Gives a lease back where the disk lets it; one that cannot be given back ends with its process. */
export async function releaseQuietly(lease: Lease): Promise<void> {
  try {
    await lease.release();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

/** Makes a folder where it is missing. Its parent must be there. */
export async function ensureFolder(files: Files, path: string): Promise<void> {
  try {
    await files.makeFolder(path);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

export type TakenLease =
  /** `isTakenOver`: somebody held it who lives, or of whom it is not known. */
  | { readonly ok: true; readonly lease: Lease; readonly isTakenOver: boolean }
  | { readonly ok: false; readonly holder: Exclude<LeaseHolder, { readonly state: "free" }> };

/**
 * Takes the lease of a session, where nobody who lives holds it. `steal` takes it from anyone: the owner's writer stops at its next
 * append. Errors of the file system are thrown as they are.
 */
export async function takeLease(
  folder: string,
  ports: LogPorts,
  options: { readonly steal?: boolean } = {},
): Promise<TakenLease> {
  const { files } = ports;
  await ensureFolder(files, folder);
  const self = await ports.host.self();
  for (let round = 0; round < leaseRoundsMax; round += 1) {
    const holder = await readLease(folder, ports);
    if (holder.state !== "free" && options.steal !== true) return { ok: false, holder };
    const owner: LeaseOwner = { epoch: holder.epoch + 1, takenAt: ports.clock.now(), ...self };
    if (!(await claim(files, folder, owner.epoch, JSON.stringify(owner), ports.randomId()))) continue;
    // Between the look and the claim others may have taken, and swept away, the epoch that was claimed.
    const newest = await newestEpoch(files, folder);
    if (newest !== owner.epoch) {
      await removeQuietly(files, join(folder, epochName(owner.epoch)));
      continue;
    }
    await sweep(ports, folder, owner.epoch);
    return { ok: true, lease: new Lease(folder, owner, ports), isTakenOver: holder.state !== "free" };
  }
  return { ok: false, holder: { state: "unclear" } };
}

/** Resolves once nobody who lives holds the lease; looks every 200 ms. Rejects with the signal's reason. */
export async function waitForLease(folder: string, ports: LogPorts, signal?: AbortSignal): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    if ((await readLease(folder, ports)).state === "free") return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        callOff();
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const callOff = ports.clock.after(leasePollMs, wake);
      signal?.addEventListener("abort", wake);
    });
  }
}

/** The refusal that a person reads: who writes the session. */
export function busyError(id: string, holder: Exclude<LeaseHolder, { readonly state: "free" }>): LogError {
  if (holder.state === "unclear")
    return new LogError("busy", `session ${id} is being opened by another process`, {
      next: "Try again in a moment, or follow it read-only.",
    });
  const { owner } = holder;
  const where = holder.state === "held" ? "" : ` on ${owner.host}, which cannot be looked at from here`;
  return new LogError("busy", `session ${id} is being written by process ${owner.pid}${where}`, {
    next:
      holder.state === "held"
        ? "Follow it read-only, or end that process."
        : "Follow it read-only, or take it over explicitly once that process is known to be gone.",
    details: { pid: owner.pid, host: owner.host, epoch: owner.epoch, takenAt: owner.takenAt },
  });
}
