/** OpenCode's database: a message is a row and its parts are rows of another table, each changed in place while it grows. */
import type { Database } from "../../sqlite/index.ts";
import type { MessageRow } from "../document/message-store.ts";
import { objectOf, timeOf } from "../fields.ts";
import { jsonCell, selected, sessionRow } from "../sqlite/cells.ts";
import { columnsOf, type DatabaseFormat, type SessionRow } from "../sqlite/format.ts";
import { openCodeFormat } from "./format.ts";
import { sessionFacts } from "./message.ts";

export const openCodeTables: DatabaseFormat = {
  document: openCodeFormat,
  tables: {
    session: ["id"],
    message: ["id", "session_id", "time_created", "data"],
    part: ["id", "message_id", "session_id", "data"],
  },
  kept: (id) => [
    { table: "session", where: "id = ?", values: [id] },
    { table: "message", where: "session_id = ?", values: [id] },
    { table: "part", where: "session_id = ?", values: [id] },
  ],
  sessions,
  facts,
  messages,
  message,
};

const SESSION_COLUMNS = [
  "id",
  "parent_id",
  "directory",
  "title",
  "version",
  "time_created",
  "time_updated",
  "time_archived",
];

function sessions(database: Database, limit: number): readonly SessionRow[] {
  const columns = columnsOf(database, "session");
  const order = columns.has("time_updated") ? "time_updated DESC, id DESC" : "id DESC";
  const rows = database
    .prepare(`SELECT ${selected(columns, SESSION_COLUMNS)} FROM session ORDER BY ${order} LIMIT ?`)
    .all(limit);
  return rows.flatMap((row) =>
    sessionRow(row["id"], {
      modifiedAt: timeOf(row["time_updated"]),
      parent: row["parent_id"],
      archived: timeOf(row["time_archived"]) !== undefined,
    }),
  );
}

function facts(database: Database, id: string): ReturnType<DatabaseFormat["facts"]> {
  const columns = columnsOf(database, "session");
  const [row] = database
    .prepare(`SELECT ${selected(columns, SESSION_COLUMNS)} FROM session WHERE id = ?`)
    .all(id);
  if (row === undefined) return undefined;
  return sessionFacts({
    title: row["title"],
    directory: row["directory"],
    version: row["version"],
    parentID: row["parent_id"],
    time: { created: row["time_created"], archived: row["time_archived"] },
  });
}

/** The counts and lengths beside the times: a removed part raises no time, and two changes may fall into one millisecond. */
function messages(database: Database, id: string): readonly MessageRow[] {
  const updated = (table: string, name: string): string =>
    columnsOf(database, table).has("time_updated") ? `${name}.time_updated` : "0";
  const rows = database
    .prepare(
      `SELECT m.id AS id, length(m.data) AS size, ${updated("message", "m")} AS updated,
        p.parts AS parts, p.size AS partsSize, p.updated AS partsUpdated
      FROM message m LEFT JOIN (
        SELECT p.message_id AS message_id, count(*) AS parts, sum(length(p.data)) AS size,
          max(${updated("part", "p")}) AS updated
        FROM part p WHERE p.session_id = ? GROUP BY p.message_id
      ) p ON p.message_id = m.id
      WHERE m.session_id = ? ORDER BY m.time_created, m.id`,
    )
    .all(id, id);
  return rows.map((row) => ({
    key: String(row["id"]),
    stamp: [row["size"], row["updated"], row["parts"], row["partsSize"], row["partsUpdated"]].join(" "),
    bytes: Number(row["size"] ?? 0) + Number(row["partsSize"] ?? 0),
  }));
}

/** Parts whose cell holds no JSON are told as such in their place: a full disk leaves them empty. */
function message(database: Database, id: string, key: string | number): unknown {
  const [row] = database.prepare("SELECT data FROM message WHERE session_id = ? AND id = ?").all(id, key);
  const info = objectOf(jsonCell(row?.["data"]));
  if (info === undefined) return undefined;
  const parts: unknown[] = [];
  for (const part of database
    .prepare("SELECT id, data FROM part WHERE message_id = ? AND session_id = ? ORDER BY id")
    .iterate(key, id)) {
    const fields = objectOf(jsonCell(part["data"]));
    parts.push({ ...(fields ?? { type: "unreadable" }), id: part["id"] });
  }
  return { info: { ...info, id: key }, parts };
}
