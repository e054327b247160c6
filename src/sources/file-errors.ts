/** Errors and states of files, told from bugs. */
import { stat } from "node:fs/promises";
import { FileError, type FileState } from "../lines/index.ts";

/** True for an error that the file system gave, directly or through the reader of lines; with codes, only for one of them. */
export function isFileError(
  error: unknown,
  ...codes: readonly string[]
): error is Error & { readonly code: string } {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (typeof code !== "string") return false;
  if (typeof syscall !== "string" && !(error instanceof FileError)) return false;
  return codes.length === 0 || codes.includes(code);
}

/** The state of what stands under a path; undefined where nothing does. */
export async function fileStateAt(path: string): Promise<FileState | undefined> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return { identity: `${dev}:${ino}`, size: Number(size), modified: mtimeNs };
  } catch (error) {
    if (isFileError(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}
