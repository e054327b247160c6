/** One session of a database as a database of its own: its rows as they are, and those of no other session. */
import { openDatabase } from "../../sqlite/index.ts";
import { acquireCopy, asReadError, releaseCopy } from "./copy.ts";
import { columnsOf, type DatabaseFormat } from "./format.ts";

/**
 * Writes the rows of a session to a new database at `to`, in the tables of the old one and in the same order: the same rows give the same
 * bytes. Memory holds a row. Throws a SourceError where the database cannot be read.
 */
export async function extractSession(
  path: string,
  tables: DatabaseFormat,
  id: string,
  to: string,
): Promise<void> {
  const copy = await acquireCopy(path);
  try {
    await copy.settle();
    copy.read((database) => {
      const made = openDatabase(to);
      try {
        // Rows name rows of tables that are not kept.
        made.run("PRAGMA foreign_keys = OFF");
        made.run("BEGIN");
        const tablesMade = new Set<string>();
        for (const { table, where, values } of tables.kept(id)) {
          const [schema] = database
            .prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?")
            .all(table);
          const sql = schema?.["sql"];
          if (typeof sql !== "string") continue;
          if (!tablesMade.has(table)) made.run(sql);
          tablesMade.add(table);
          const columns = [...columnsOf(database, table)];
          const names = columns.map((name) => `"${name.replaceAll('"', '""')}"`).join(", ");
          const insert = made.prepare(
            `INSERT INTO "${table}" (${names}) VALUES (${columns.map(() => "?").join(", ")})`,
          );
          const rows = database.prepare(`SELECT ${names} FROM "${table}" WHERE ${where} ORDER BY rowid`);
          for (const row of rows.iterate(...values)) insert.run(...columns.map((name) => row[name] ?? null));
        }
        made.run("COMMIT");
      } finally {
        made.close();
      }
    });
  } catch (error) {
    throw asReadError(error, path);
  } finally {
    await releaseCopy(copy);
  }
}
