/** Where Kimi CLI and Kimi Code keep their sessions. */
import { join } from "node:path";
import { folderFrom } from "../folders.ts";
import type { SourcePlaces } from "../types.ts";

export const kimiPlaces: SourcePlaces = {
  agent: "kimi",
  label: "Kimi CLI",
  roots: (around) => [
    join(folderFrom(around, "KIMI_SHARE_DIR") ?? join(around.home, ".kimi"), "sessions"),
    join(folderFrom(around, "KIMI_CODE_HOME") ?? join(around.home, ".kimi-code"), "sessions"),
  ],
};
