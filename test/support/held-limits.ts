/** A part's bounds and the tests that stand at them: a table that none is missing from. */
import { readFile } from "node:fs/promises";
import { expect } from "vitest";

/** For each bound the file and the test's name, or how it begins. */
export type HeldLimits<T> = { readonly [Limit in keyof T]: readonly [file: string, test: string] };

/** Fails where a bound is not in the table, or the file of its test, which lies beside `here`, has no such test or does not name the bound. */
export async function expectHeld<T extends object>(
  limits: T,
  held: HeldLimits<T>,
  here: string,
): Promise<void> {
  const missing: string[] = [];
  const rows: readonly (readonly [string, readonly [string, string]])[] = Object.entries(held);
  for (const [limit, [file, title]] of rows) {
    const text = await readFile(new URL(file, here), "utf8");
    const starts = ["test(", "it(", "])("].map((start) => `${start}"${title}`);
    if (!starts.some((start) => text.includes(start)))
      missing.push(`${limit}: ${file} has no test "${title}"`);
    const uses = text.split("\n").filter((line) => new RegExp(`\\b${limit}\\b`).test(line));
    // Imported, in this table perhaps, and used.
    if (uses.length < 2) missing.push(`${limit}: ${file} does not use it`);
  }
  expect(missing).toEqual([]);
  expect(Object.keys(held).sort()).toEqual(Object.keys(limits).sort());
}
