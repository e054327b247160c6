/** Where Cline, Roo Code and their relatives keep their tasks. */
import { join } from "node:path";
import { editorsHome, folderFrom } from "../folders.ts";
import type { SourcePlaces } from "../types.ts";

const EDITORS = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
const EXTENSIONS = ["saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code"];
const SERVERS = [".vscode-server", ".cursor-server", ".windsurf-server", ".vscodium-server"];

export const clinePlaces: SourcePlaces = {
  agent: "cline",
  label: "Cline or Roo Code",
  roots(around) {
    const settings = [
      ...EDITORS.map((editor) => join(editorsHome(around), editor, "User")),
      ...SERVERS.map((server) => join(around.home, server, "data", "User")),
    ];
    return [
      join(folderFrom(around, "CLINE_DIR") ?? join(around.home, ".cline"), "data", "tasks"),
      ...settings.flatMap((folder) =>
        EXTENSIONS.map((extension) => join(folder, "globalStorage", extension, "tasks")),
      ),
    ];
  },
};
