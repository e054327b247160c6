/** Finds session files under a root by names and stat alone. */
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isFileError } from "./file-errors.ts";

export interface WalkedFile {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** Stats in flight at once. */
const STAT_BATCH = 64;

/**
 * The regular files under `root` whose name `accepts`, at most `depthMax` folders down, in name order. Links inside are not
 * followed. A root that is not there gives nothing; a folder that cannot be read is told to `onProblem` and skipped.
 */
export async function* walkFiles(
  root: string,
  depthMax: number,
  accepts: (name: string) => boolean,
  onProblem: (path: string, message: string) => void,
): AsyncIterable<WalkedFile> {
  const folders: { path: string; depth: number }[] = [{ path: root, depth: 0 }];
  while (folders.length > 0) {
    const folder = folders.shift();
    if (!folder) return;
    const entries = await listFolder(folder.path, onProblem);
    const names: string[] = [];
    for (const entry of entries) {
      if (entry.isDirectory()) {
        if (folder.depth < depthMax)
          folders.push({ path: join(folder.path, entry.name), depth: folder.depth + 1 });
      } else if (entry.isFile() && accepts(entry.name)) names.push(entry.name);
    }
    for (let at = 0; at < names.length; at += STAT_BATCH) {
      const batch = names.slice(at, at + STAT_BATCH);
      const found = await Promise.all(
        batch.map((name) => statFile(join(folder.path, name), name, onProblem)),
      );
      for (const file of found) if (file) yield file;
    }
  }
}

/** A folder's entries in name order; none where it is not there. */
export async function listFolder(
  path: string,
  onProblem: (path: string, message: string) => void,
): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  } catch (error) {
    if (isFileError(error, "ENOENT", "ENOTDIR")) return [];
    if (!isFileError(error)) throw error;
    onProblem(path, error.message);
    return [];
  }
}

async function statFile(
  path: string,
  name: string,
  onProblem: (path: string, message: string) => void,
): Promise<WalkedFile | undefined> {
  try {
    const stats = await stat(path);
    return { path, name, bytes: stats.size, modifiedAt: stats.mtimeMs };
  } catch (error) {
    // Gone between the listing and the look: it is no session any more.
    if (isFileError(error, "ENOENT")) return undefined;
    if (!isFileError(error)) throw error;
    onProblem(path, error.message);
    return undefined;
  }
}
