/** Files kept with the tests; the larger ones are packed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const ROOT = join(import.meta.dirname, "..", "fixtures");

export function fixturePath(name: string): string {
  return join(ROOT, name);
}

/** The file's bytes, unpacked where its name ends in `.gz`. */
export function fixture(name: string): Buffer {
  const bytes = readFileSync(fixturePath(name));
  return name.endsWith(".gz") ? gunzipSync(bytes) : bytes;
}
