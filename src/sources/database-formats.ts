/** The formats of all databases that are read, in the order in which they are asked whether one is theirs. */
import { crushTables } from "./crush/tables.ts";
import { chatTables } from "./cursor/chat-tables.ts";
import { editorTables } from "./cursor/editor-tables.ts";
import { gooseTables } from "./goose/tables.ts";
import { openCodeTables } from "./opencode/tables.ts";
import type { DatabaseFormat } from "./sqlite/format.ts";

export const databaseFormats: readonly DatabaseFormat[] = [
  openCodeTables,
  gooseTables,
  crushTables,
  chatTables,
  editorTables,
];
