/** Folders that the environment names. */
import { join } from "node:path";
import { wordOf } from "./fields.ts";
import type { Surroundings } from "./types.ts";

/** The folder that a variable names, absent where it is unset or empty; a leading `~` stands for the home. */
export function folderFrom(around: Surroundings, variable: string): string | undefined {
  return wordOf(around.env[variable])?.replace(/^~(?=$|[/\\])/, () => around.home);
}

/** Where programs keep their data under the base directory rules: `XDG_DATA_HOME`, else `~/.local/share`. */
export function dataHome(around: Surroundings): string {
  return folderFrom(around, "XDG_DATA_HOME") ?? join(around.home, ".local", "share");
}

/** Where editors keep their settings on this system. */
export function editorsHome(around: Surroundings): string {
  switch (around.platform) {
    case "darwin":
      return join(around.home, "Library", "Application Support");
    case "win32":
      return folderFrom(around, "APPDATA") ?? join(around.home, "AppData", "Roaming");
    default:
      return folderFrom(around, "XDG_CONFIG_HOME") ?? join(around.home, ".config");
  }
}
