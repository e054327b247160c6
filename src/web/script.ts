/** The page's script as the build left it. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** Reads the built script: beside the compiled code, whether this runs from there or from its source. */
export async function readPageScript(): Promise<string> {
  const beside = import.meta.url.endsWith(".ts") ? "../../dist/web/page.js" : "./page.js";
  return await readFile(fileURLToPath(new URL(beside, import.meta.url)), "utf8");
}
