/** SQLite as the runtime has it: `node:sqlite`, else the optional package better-sqlite3. */
export { canRead, type Database, openDatabase, SqliteError, type Statement, type Value } from "./database.ts";
