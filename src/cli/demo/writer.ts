/** Plays the demo's script into a real file that grows. */
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { createRecorder } from "./records.ts";
import { script } from "./script.ts";

export const demoSessionId = "d0000000-0000-4000-8000-000000000001";

export interface DemoOptions {
  /** Times faster than at talking pace; Infinity writes all at once. */
  readonly speed: number;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Called once the file holds its first records. */
  readonly onBegun?: () => void;
}

/** Appends the demo to a new file at `path` (0600), beat by beat. Resolves at the end of the script or when aborted. */
export async function playDemo(path: string, cwd: string, options: DemoOptions): Promise<void> {
  const file: FileHandle = await open(path, "ax", 0o600);
  let isBegun = false;
  try {
    const recorder = createRecorder(demoSessionId, cwd, options.now);
    for (const beat of script()) {
      const delayMs = beat.waitMs / options.speed;
      if (delayMs >= 1) await wait(delayMs, undefined, { signal: options.signal });
      if (options.signal.aborted) return;
      const lines = beat.records(recorder).map((record) => `${JSON.stringify(record)}\n`);
      await file.appendFile(lines.join(""));
      if (lines.length > 0 && !isBegun) {
        isBegun = true;
        options.onBegun?.();
      }
    }
  } catch (error) {
    if (!(error instanceof Error && error.name === "AbortError")) throw error;
  } finally {
    await file.close();
  }
}
