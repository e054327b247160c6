/** Errors of the file system, told from bugs. */

/** True for an error the file system gave; with codes, only for one of them. */
export function isFileError(error: unknown, ...codes: readonly string[]): error is NodeJS.ErrnoException & { code: string } {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (typeof code !== "string" || typeof syscall !== "string") return false;
  return codes.length === 0 || codes.includes(code);
}
