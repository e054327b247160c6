/** A home directory made for one test file, removed after it. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { FoundSession, Source, Surroundings } from "../../src/sources/types.ts";

export interface Home {
  readonly path: string;
  readonly around: Surroundings;
  /** Writes a file under the home, with its folders; answers its path. */
  write(name: string, content: string | Uint8Array): string;
  remove(): void;
}

export function makeHome(env: Surroundings["env"] = {}): Home {
  const path = mkdtempSync(join(tmpdir(), "hansard-home-"));
  return {
    path,
    around: { env, home: path, platform: process.platform },
    write(name, content) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      utimesSync(file, 1_700_000_000, 1_700_000_000);
      return file;
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

export interface Discovered {
  readonly found: FoundSession[];
  readonly problems: string[];
}

export async function discoverAll(source: Source, around: Surroundings): Promise<Discovered> {
  const found: FoundSession[] = [];
  const problems: string[] = [];
  for await (const session of source.discover(around, (path, message) =>
    problems.push(`${path}: ${message}`),
  ))
    found.push(session);
  return { found, problems };
}

/** Records as the lines of a log. */
export function lines(...records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}
