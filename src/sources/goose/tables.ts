/** Goose's database: a message is one row, appended, with its content as JSON. */
import type { Database, Value } from "../../sqlite/index.ts";
import type { DocumentElement } from "../document/format.ts";
import { parseJson } from "../document/json.ts";
import type { MessageRow } from "../document/message-store.ts";
import { objectOf, timeOf, wordOf } from "../fields.ts";
import { jsonCell, selected, sessionRow, textCell } from "../sqlite/cells.ts";
import { columnsOf, type DatabaseFormat, type SessionRow } from "../sqlite/format.ts";
import { classifyMessage } from "./message.ts";

export const gooseTables: DatabaseFormat = {
  document: {
    agent: "goose",
    // Only put together from rows: there is no file of it.
    scan: () => {
      throw new Error("a session of Goose's database is no file");
    },
    parse: parseJson,
    classify: ({ value, index }: DocumentElement) => classifyMessage(value, nameOf(value) ?? `@${index}`),
    nameOf,
  },
  tables: { sessions: ["id"], messages: ["id", "session_id", "role", "content_json"] },
  kept: (id) => [
    { table: "sessions", where: "id = ?", values: [id] },
    { table: "messages", where: "session_id = ?", values: [id] },
  ],
  sessions,
  facts,
  messages,
  message,
};

function nameOf(value: unknown): string | undefined {
  const id = objectOf(value)?.["id"];
  return typeof id === "number" ? String(id) : wordOf(id);
}

/** Times of sessions are texts in universal time without a zone. */
function sessionTime(value: Value | undefined): number | undefined {
  const isBare = typeof value === "string" && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?$/.test(value);
  return timeOf(isBare ? `${value.replace(" ", "T")}Z` : value);
}

const SESSION_COLUMNS = [
  "id",
  "name",
  "description",
  "user_set_name",
  "session_type",
  "working_dir",
  "created_at",
  "updated_at",
  "archived_at",
  "parent_session_id",
  "model_config_json",
];

function sessions(database: Database, limit: number): readonly SessionRow[] {
  const columns = columnsOf(database, "sessions");
  const order = columns.has("updated_at") ? "updated_at DESC, id DESC" : "id DESC";
  return database
    .prepare(`SELECT ${selected(columns, SESSION_COLUMNS)} FROM sessions ORDER BY ${order} LIMIT ?`)
    .all(limit)
    .flatMap((row) =>
      row["session_type"] === "hidden"
        ? []
        : sessionRow(row["id"], {
            modifiedAt: sessionTime(row["updated_at"]),
            parent: row["parent_session_id"],
            archived: sessionTime(row["archived_at"]) !== undefined,
          }),
    );
}

/** What a session is called before the model has given it a name. */
const PLACEHOLDER_NAME = /^(?:CLI Session|New Chat|New session(?: \d+)?)$/i;

function facts(database: Database, id: string): ReturnType<DatabaseFormat["facts"]> {
  const wanted = selected(columnsOf(database, "sessions"), SESSION_COLUMNS);
  const [row] = database.prepare(`SELECT ${wanted} FROM sessions WHERE id = ?`).all(id);
  if (row === undefined) return undefined;
  const name = textCell(row["name"]) ?? textCell(row["description"]);
  const isOwn = row["user_set_name"] === 1;
  const title = name !== undefined && !isOwn && PLACEHOLDER_NAME.test(name) ? undefined : name;
  const cwd = textCell(row["working_dir"]);
  const startedAt = sessionTime(row["created_at"]);
  const parentId = textCell(row["parent_session_id"]);
  const model = wordOf(objectOf(jsonCell(row["model_config_json"]))?.["model_name"]);
  return {
    ...(title === undefined ? {} : { title, titled: true }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(parentId === undefined ? {} : { parentId }),
    ...(model === undefined ? {} : { model }),
  };
}

function messages(database: Database, id: string): readonly MessageRow[] {
  const wanted = selected(columnsOf(database, "messages"), ["message_id", "metadata_json"]);
  // The program goes by its times of writing, which are the order of the rows, told to the second.
  return database
    .prepare(
      `SELECT id, length(content_json) AS size, ${wanted} FROM messages WHERE session_id = ? ORDER BY id`,
    )
    .all(id)
    .map((row) => ({
      key: Number(row["id"]),
      ...nameOfRow(row["message_id"]),
      stamp: [row["size"], row["metadata_json"]].join(" "),
      bytes: Number(row["size"] ?? 0),
    }));
}

/** A conversation that is compacted or edited is written anew, in rows with other numbers: only a message's own id stays. */
function nameOfRow(id: Value | undefined): { readonly name?: string } {
  const name = textCell(id);
  return name === undefined ? {} : { name };
}

function message(database: Database, id: string, key: string | number): unknown {
  const wanted = selected(columnsOf(database, "messages"), [
    "message_id",
    "created_timestamp",
    "metadata_json",
  ]);
  const [row] = database
    .prepare(`SELECT id, role, content_json, ${wanted} FROM messages WHERE session_id = ? AND id = ?`)
    .all(id, key);
  const content = jsonCell(row?.["content_json"]);
  if (row === undefined || content === undefined) return undefined;
  const metadata = jsonCell(row["metadata_json"]);
  return {
    id: textCell(row["message_id"]) ?? key,
    role: row["role"],
    created: row["created_timestamp"],
    content,
    ...(metadata === undefined ? {} : { metadata }),
  };
}
