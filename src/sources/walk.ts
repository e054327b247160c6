/** Finds session files under a root by names and stat alone. */
import { type Dirent, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isFileError } from "./file-errors.ts";

export interface WalkedFile {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

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
    for (const name of names) {
      const file = statFile(join(folder.path, name), name, onProblem);
      if (file !== undefined) yield file;
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

/** Asked at once: through the thread pool a look would cost many times more. */
function statFile(
  path: string,
  name: string,
  onProblem: (path: string, message: string) => void,
): WalkedFile | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    // Gone between the listing and the look: it is no session any more.
    return stats === undefined ? undefined : { path, name, bytes: stats.size, modifiedAt: stats.mtimeMs };
  } catch (error) {
    if (!isFileError(error)) throw error;
    onProblem(path, error.message);
    return undefined;
  }
}
