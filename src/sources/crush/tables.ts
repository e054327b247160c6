/** Crush's database: a message is one row, with its parts as JSON. Its times are seconds, in some versions milliseconds. */
import type { Database } from "../../sqlite/index.ts";
import { parseJson } from "../document/json.ts";
import type { MessageRow } from "../document/message-store.ts";
import { timeOf } from "../fields.ts";
import { jsonCell, selected, sessionRow, textCell } from "../sqlite/cells.ts";
import { columnsOf, type DatabaseFormat, type SessionRow } from "../sqlite/format.ts";
import { classifyMessage, nameOf } from "./message.ts";

export const crushTables: DatabaseFormat = {
  document: {
    agent: "crush",
    // Only put together from rows: there is no file of it.
    scan: () => {
      throw new Error("a session of Crush is no file");
    },
    parse: parseJson,
    classify: classifyMessage,
    nameOf,
  },
  tables: { sessions: ["id", "title"], messages: ["id", "session_id", "role", "parts", "created_at"] },
  kept: (id) => [
    { table: "sessions", where: "id = ?", values: [id] },
    { table: "messages", where: "session_id = ?", values: [id] },
  ],
  sessions,
  facts,
  messages,
  message,
};

function sessions(database: Database, limit: number): readonly SessionRow[] {
  const columns = columnsOf(database, "sessions");
  const order = columns.has("updated_at") ? "updated_at DESC, id DESC" : "id DESC";
  const wanted = selected(columns, ["id", "parent_session_id", "updated_at"]);
  return database
    .prepare(`SELECT ${wanted} FROM sessions ORDER BY ${order} LIMIT ?`)
    .all(limit)
    .flatMap((row) =>
      sessionRow(row["id"], { modifiedAt: timeOf(row["updated_at"]), parent: row["parent_session_id"] }),
    );
}

/** What a session is called before the model has given it a title, and where it gave none. */
const PLACEHOLDER_TITLE = /^(?:New|Untitled) Session$/;

function facts(database: Database, id: string): ReturnType<DatabaseFormat["facts"]> {
  const wanted = selected(columnsOf(database, "sessions"), ["title", "created_at", "parent_session_id"]);
  const [row] = database.prepare(`SELECT ${wanted} FROM sessions WHERE id = ?`).all(id);
  if (row === undefined) return undefined;
  const named = textCell(row["title"]);
  const title = named !== undefined && PLACEHOLDER_TITLE.test(named) ? undefined : named;
  const startedAt = timeOf(row["created_at"]);
  const parentId = textCell(row["parent_session_id"]);
  return {
    ...(title === undefined ? {} : { title, titled: true }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(parentId === undefined ? {} : { parentId }),
  };
}

function messages(database: Database, id: string): readonly MessageRow[] {
  const wanted = selected(columnsOf(database, "messages"), ["updated_at", "finished_at"]);
  return database
    .prepare(
      `SELECT id, length(parts) AS size, ${wanted} FROM messages WHERE session_id = ? ORDER BY created_at, rowid`,
    )
    .all(id)
    .map((row) => ({
      key: String(row["id"]),
      stamp: [row["size"], row["updated_at"], row["finished_at"]].join(" "),
      bytes: Number(row["size"] ?? 0),
    }));
}

function message(database: Database, id: string, key: string | number): unknown {
  const wanted = selected(columnsOf(database, "messages"), ["model", "provider", "is_summary_message"]);
  const [row] = database
    .prepare(`SELECT id, role, parts, created_at, ${wanted} FROM messages WHERE session_id = ? AND id = ?`)
    .all(id, key);
  const parts = jsonCell(row?.["parts"]);
  return row === undefined || parts === undefined ? undefined : { ...row, parts };
}
