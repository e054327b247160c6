/** The chats of Cursor's editor: keys and values of one table, a value for each chat, and one for each of its messages. */
import type { Database } from "../../sqlite/index.ts";
import { parseJson } from "../document/json.ts";
import type { MessageRow } from "../document/message-store.ts";
import { arrayOf, type Fields, objectOf, stringOf, timeOf, wordOf } from "../fields.ts";
import { printOf } from "../print.ts";
import { jsonCell, sessionRow, textCell } from "../sqlite/cells.ts";
import type { DatabaseFormat } from "../sqlite/format.ts";
import { bubbleNameOf, classifyBubble } from "./bubble.ts";
import { EDITOR_FRESH_MESSAGES_MAX } from "./limits.ts";

const CHAT = "composerData:";
const MESSAGE = "bubbleId:";
/** The character behind the one that ends a prefix: what is before it begins with the prefix. */
const BEHIND = ";";

export const editorTables: DatabaseFormat = {
  document: {
    agent: "cursor",
    // Only put together from rows: there is no file of it.
    scan: () => {
      throw new Error("a chat of Cursor's editor is no file");
    },
    parse: parseJson,
    classify: classifyBubble,
    nameOf: bubbleNameOf,
  },
  tables: { cursorDiskKV: ["key", "value"] },
  kept: (id) => [
    { table: "cursorDiskKV", where: "key = ?", values: [CHAT + id] },
    {
      table: "cursorDiskKV",
      where: "key >= ? AND key < ?",
      values: [`${MESSAGE}${id}:`, `${MESSAGE}${id}${BEHIND}`],
    },
  ],
  sessions,
  facts(database, id) {
    const chat = chatOf(database, id);
    return chat === undefined ? undefined : factsOf(chat);
  },
  messages,
  message,
};

/** Chats in which nothing was said are made with each window, and are left out. */
function sessions(database: Database, limit: number): ReturnType<DatabaseFormat["sessions"]> {
  const rows = database
    .prepare(
      `SELECT key, coalesce(json_extract(value, '$.lastUpdatedAt'), json_extract(value, '$.createdAt')) AS updated,
        json_extract(value, '$.isArchived') AS archived, json_extract(value, '$.subagentInfo.parentComposerId') AS parent
      FROM (SELECT key, CAST(value AS TEXT) AS value FROM cursorDiskKV WHERE key >= ? AND key < ? AND value IS NOT NULL)
      WHERE json_valid(value)
        AND coalesce(json_array_length(value, '$.fullConversationHeadersOnly'), json_array_length(value, '$.conversation'), 0) > 0
      ORDER BY updated DESC LIMIT ?`,
    )
    .all(CHAT, `composerData${BEHIND}`, limit);
  return rows.flatMap((row) =>
    sessionRow(String(row["key"]).slice(CHAT.length), {
      modifiedAt: timeOf(row["updated"]),
      parent: row["parent"],
      archived: row["archived"] === 1,
    }),
  );
}

function chatOf(database: Database, id: string): Fields | undefined {
  const [row] = database.prepare("SELECT value FROM cursorDiskKV WHERE key = ?").all(CHAT + id);
  return objectOf(jsonCell(row?.["value"]));
}

function factsOf(chat: Fields): ReturnType<DatabaseFormat["facts"]> {
  const title = wordOf(chat["name"]);
  const startedAt = timeOf(chat["createdAt"]);
  const named = wordOf(objectOf(chat["modelConfig"])?.["modelName"]);
  return {
    ...(title === undefined ? {} : { title, titled: true }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(named === undefined || named === "default" ? {} : { model: named }),
  };
}

interface Listed {
  readonly id: string;
  /** In older versions the messages stand in the chat's own value. */
  readonly own: unknown;
  /** The last before a prompt, or at the chat's end. */
  readonly isLast: boolean;
  readonly isRunning: boolean;
}

/** The chat's messages in their order. */
function listedOf(chat: Fields): readonly Listed[] {
  const headers = arrayOf(chat["fullConversationHeadersOnly"]) ?? [];
  const own = headers.length === 0 ? (arrayOf(chat["conversation"]) ?? []) : [];
  const all = (headers.length === 0 ? own : headers).map((header) => objectOf(header) ?? {});
  const isRunning = stringOf(chat["status"]) === "generating";
  return all.flatMap((header, at) => {
    const id = bubbleNameOf(header);
    if (id === undefined) return [];
    const isEnd = at === all.length - 1;
    return [
      {
        id,
        own: own[at],
        isLast: isEnd || all[at + 1]?.["type"] === 1,
        isRunning: isEnd && isRunning,
      },
    ];
  });
}

/** A key says how its message stands among the others, so that it can be put together alone. */
function keyOf({ id, isLast, isRunning }: Listed): string {
  return `${isRunning ? "running" : isLast ? "last" : "inner"}:${id}`;
}

function messages(database: Database, id: string): readonly MessageRow[] {
  const chat = chatOf(database, id);
  const listed = chat === undefined ? [] : listedOf(chat);
  const size = database.prepare("SELECT length(value) AS size FROM cursorDiskKV WHERE key = ?");
  const whole = database.prepare("SELECT CAST(value AS TEXT) AS value FROM cursorDiskKV WHERE key = ?");
  return listed.map((each, at) => {
    const key = `${MESSAGE}${id}:${each.id}`;
    const bytes = Number(size.all(key)[0]?.["size"] ?? 0);
    const isFresh = at >= listed.length - EDITOR_FRESH_MESSAGES_MAX;
    const text = isFresh ? textCell(whole.all(key)[0]?.["value"]) : undefined;
    const own = each.own === undefined ? "" : JSON.stringify(each.own);
    const print = printOf(new TextEncoder().encode(text ?? own));
    return { key: keyOf(each), name: each.id, stamp: `${bytes} ${print}`, bytes: bytes + own.length };
  });
}

function message(database: Database, id: string, key: string | number): unknown {
  const [, standing, bubbleId = ""] = /^(\w+):(.*)$/s.exec(String(key)) ?? [];
  const [row] = database
    .prepare("SELECT value FROM cursorDiskKV WHERE key = ?")
    .all(`${MESSAGE}${id}:${bubbleId}`);
  const fields = row === undefined ? ownMessage(database, id, bubbleId) : objectOf(jsonCell(row["value"]));
  if (fields === undefined) return undefined;
  const isRunning = standing === "running";
  return { ...fields, bubbleId, isLast: isRunning || standing === "last", isRunning };
}

function ownMessage(database: Database, id: string, bubbleId: string): Fields | undefined {
  const chat = chatOf(database, id);
  const all = chat === undefined ? [] : (arrayOf(chat["conversation"]) ?? []);
  return all
    .map((each) => objectOf(each))
    .find((each) => each !== undefined && bubbleNameOf(each) === bubbleId);
}
