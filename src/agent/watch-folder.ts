/** The system's watcher as a hint. */
import { watch } from "node:fs";
import { errnoOf } from "./errors.ts";
import type { WatchFolder } from "./types.ts";

/** Watches a folder; one that cannot be watched gives no hints. */
export const watchNodeFolder: WatchFolder = (path, onHint) => {
  try {
    const watcher = watch(path, { persistent: false }, () => onHint());
    watcher.on("error", () => watcher.close());
    return () => watcher.close();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return () => undefined;
  }
};
