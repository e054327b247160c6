/** Files that may be databases. */
import { readEnds } from "../ends.ts";
import { isFileError } from "../file-errors.ts";

/** True where the path is a file whose first bytes are as wanted. */
export async function isFilePath(path: string, isWanted: (head: Uint8Array) => boolean): Promise<boolean> {
  try {
    return isWanted((await readEnds(path, 64, 0)).head);
  } catch (error) {
    if (isFileError(error)) return false;
    throw error;
  }
}
