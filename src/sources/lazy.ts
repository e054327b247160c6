/** A reader that is loaded when it is first needed, so that the number of readers costs nothing to those who have no use for them. */
import { stat } from "node:fs/promises";
import { isFileError } from "./file-errors.ts";
import type { Source, SourcePlaces, Surroundings } from "./types.ts";

/** The reader that `load` gives, loaded once, and for `discover` only where one of its folders is there. */
export function lazySource(places: SourcePlaces, load: () => Promise<Source>): Source {
  let loading: Promise<Source> | undefined;
  const loaded = (): Promise<Source> => {
    loading ??= load();
    return loading;
  };
  return {
    ...places,
    async *discover(around, onProblem) {
      if (await hasRoot(places, around)) yield* (await loaded()).discover(around, onProblem);
    },
    detects: async (path, head) => (await loaded()).detects(path, head),
    describe: async (found) => (await loaded()).describe(found),
    open: async (path) => (await loaded()).open(path),
    pieces: async (path) => (await loaded()).pieces?.(path),
  };
}

/** A folder that cannot be looked at counts as there: its reader tells why. */
async function hasRoot(places: SourcePlaces, around: Surroundings): Promise<boolean> {
  for (const root of places.roots(around)) {
    try {
      await stat(root);
      return true;
    } catch (error) {
      if (!isFileError(error, "ENOENT", "ENOTDIR")) return true;
    }
  }
  return false;
}
