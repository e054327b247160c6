/** The seam between the reader of databases and what one agent's tables mean. */
import type { Database, Value } from "../../sqlite/index.ts";
import type { DocumentFormat } from "../document/format.ts";
import type { MessageRow } from "../document/message-store.ts";
import type { SessionInfo } from "../types.ts";

/** A session as its row tells it. */
export interface SessionRow {
  readonly id: string;
  /** Milliseconds since the epoch; absent where the row has none that can be read. */
  readonly modifiedAt?: number;
  readonly parentId?: string;
  readonly archived?: boolean;
}

/** Rows of one table, by a condition of SQL with its values. */
export interface KeptRows {
  readonly table: string;
  readonly where: string;
  readonly values: readonly Value[];
}

/** What one agent's database means. Columns that older schemas lack are looked for first. */
export interface DatabaseFormat {
  readonly document: DocumentFormat;
  /** Columns by table, all of which are there in a database of this agent and not in those of the others. */
  readonly tables: Readonly<Record<string, readonly string[]>>;
  /** The rows that make up one session: what is kept of it alone. */
  kept(id: string): readonly KeptRows[];
  /** The newest first, at most `limit`. */
  sessions(database: Database, limit: number): readonly SessionRow[];
  /** What is known of one session; undefined where there is none of that id. */
  facts(database: Database, id: string): Partial<SessionInfo> | undefined;
  /** The messages of a session in their order. */
  messages(database: Database, id: string): readonly MessageRow[];
  /** A message put together, as the document's format classifies it; undefined where it is gone or its cells cannot be read. */
  message(database: Database, id: string, key: string | number): unknown;
}

/** The names of a table's columns; none where there is no such table. */
export function columnsOf(database: Database, table: string): ReadonlySet<string> {
  const rows = database.prepare("SELECT name FROM pragma_table_info(?)").all(table);
  return new Set(rows.map((row) => String(row["name"])));
}

/** True where all tables and columns of the format are there. */
export function isOf(database: Database, format: DatabaseFormat): boolean {
  return Object.entries(format.tables).every(([table, wanted]) => {
    const columns = columnsOf(database, table);
    return wanted.every((column) => columns.has(column));
  });
}
