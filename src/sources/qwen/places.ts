/** Where Qwen Code keeps its chats. */
import { join } from "node:path";
import { folderFrom } from "../folders.ts";
import type { SourcePlaces } from "../types.ts";

export const qwenPlaces: SourcePlaces = {
  agent: "qwen",
  label: "Qwen Code",
  roots(around) {
    const home = folderFrom(around, "QWEN_HOME") ?? join(around.home, ".qwen");
    const runtime = folderFrom(around, "QWEN_RUNTIME_DIR");
    return [...(runtime === undefined ? [] : [join(runtime, "projects")]), join(home, "projects")];
  },
};
