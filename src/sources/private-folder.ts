/** Folders for what is unpacked or copied to be read, which only this user can look into. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isFileError } from "./file-errors.ts";

/** Folders of dead processes are looked for, so many of them, before another one is made. */
export const LEFT_FOLDERS_MAX = 1_000;

/** A new folder of this kind; what processes that have died left of the kind is removed first, where it can be. */
export async function makePrivateFolder(kind: "archive" | "copy"): Promise<string> {
  await sweepLeft(new RegExp(`^hansard-${kind}-(\\d{1,10})-`));
  return mkdtemp(join(tmpdir(), `hansard-${kind}-${process.pid}-`));
}

/** What cannot be judged or removed stays. */
async function sweepLeft(form: RegExp): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => form.test(name));
  for (const name of names.slice(0, LEFT_FOLDERS_MAX)) {
    const owner = Number(form.exec(name)?.[1]);
    if (owner === process.pid || isRunning(owner)) continue;
    try {
      await rm(join(tmpdir(), name), { recursive: true, force: true });
    } catch (error) {
      if (!isFileError(error, "EACCES", "EPERM", "EBUSY", "ENOTEMPTY")) throw error;
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
