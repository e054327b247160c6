/** Where Claude Code keeps its transcripts. */
import { join } from "node:path";
import { wordOf } from "../fields.ts";
import type { SourcePlaces } from "../types.ts";

export const claudeCodePlaces: SourcePlaces = {
  agent: "claude-code",
  label: "Claude Code",
  roots(around) {
    const moved = wordOf(around.env["CLAUDE_CONFIG_DIR"]);
    if (moved !== undefined) return moved.split(",").map((root) => join(root.trim(), "projects"));
    const config = wordOf(around.env["XDG_CONFIG_HOME"]) ?? join(around.home, ".config");
    return [join(around.home, ".claude", "projects"), join(config, "claude", "projects")];
  },
};
