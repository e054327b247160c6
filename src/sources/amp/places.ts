/** Where Amp keeps its threads. */
import { join } from "node:path";
import { dataHome, folderFrom } from "../folders.ts";
import type { SourcePlaces } from "../types.ts";

export const ampPlaces: SourcePlaces = {
  agent: "amp",
  label: "Amp",
  roots(around) {
    const home = folderFrom(around, "AMP_HOME") ?? join(dataHome(around), "amp");
    return [join(home, "threads")];
  },
};
