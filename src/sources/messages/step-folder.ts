/** The steps of an agent of a workspace by their names, and whether somebody drives it. */
import { readdir, readFile } from "node:fs/promises";
import { fileStateAt, isFileError } from "../file-errors.ts";

/** A call whose response has not grown for this long counts as under way only where its driver's lock is seen. */
export const IN_FLIGHT_MS = 10 * 60 * 1000;
/** Newest steps that are looked at. */
export const STEPS_MAX = 1000;

/** The steps of a folder by number, the newest `countMax`; a step's name is at least three digits. */
export async function stepNames(folder: string, countMax: number = STEPS_MAX): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries.filter((e) => e.isDirectory() && /^\d{3,9}$/.test(e.name)).map((e) => e.name);
    return names.sort((a, b) => Number(a) - Number(b) || a.length - b.length).slice(-countMax);
  } catch (error) {
    // No steps: nothing was ever run here, or it is not for us to see.
    if (isFileError(error)) return [];
    throw error;
  }
}

/** The name of the numerically greatest step; absent where there is none. */
export async function latestStep(folder: string): Promise<string | undefined> {
  const [name] = await stepNames(folder, 1);
  return name;
}

/**
 * Whether somebody holds the lock on a folder, as far as the system tells: Linux lists the locks of the processes it shows us. Undefined
 * where it lists none for the folder: that is no proof that nobody does.
 */
export async function isLocked(folder: string, locksPath = "/proc/locks"): Promise<true | undefined> {
  try {
    const state = await fileStateAt(folder);
    if (state === undefined) return undefined;
    const [, inode] = state.identity.split(":");
    const locks = await readFile(locksPath, "utf8");
    return locks.split("\n").some((line) => line.includes(`:${inode} `) && !line.includes("->"))
      ? true
      : undefined;
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}
