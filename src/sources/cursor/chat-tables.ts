/**
 * A chat of Cursor's command line, a database of its own: texts under the hash of their bytes, and one that lists the messages in their
 * order. A message is never changed; one more is one more text, and another list.
 */
import type { Database, Value } from "../../sqlite/index.ts";
import { parseJson } from "../document/json.ts";
import type { MessageRow } from "../document/message-store.ts";
import { type Fields, objectOf, timeOf, wordOf } from "../fields.ts";
import { jsonCell } from "../sqlite/cells.ts";
import type { DatabaseFormat } from "../sqlite/format.ts";
import { chatNameOf, classifyChatMessage } from "./chat-message.ts";
import { CHAT_ROOT_BYTES_MAX } from "./limits.ts";

export const chatTables: DatabaseFormat = {
  document: {
    agent: "cursor",
    // Only put together from rows: there is no file of it.
    scan: () => {
      throw new Error("a chat of Cursor is no file");
    },
    parse: parseJson,
    classify: classifyChatMessage,
    nameOf: chatNameOf,
  },
  tables: { blobs: ["id", "data"], meta: ["key", "value"] },
  kept: () => [
    { table: "blobs", where: "true", values: [] },
    { table: "meta", where: "true", values: [] },
  ],
  sessions(database) {
    const id = wordOf(metaOf(database)?.["agentId"]);
    return id === undefined ? [] : [{ id }];
  },
  // A database of this kind is one session, under whatever name.
  facts(database) {
    const meta = metaOf(database);
    if (meta === undefined) return undefined;
    const title = wordOf(meta["name"]);
    const startedAt = timeOf(meta["createdAt"]);
    const model = wordOf(meta["lastUsedModel"]);
    return {
      ...(title === undefined || PLACEHOLDER_NAME.test(title) ? {} : { title, titled: true }),
      ...(startedAt === undefined ? {} : { startedAt }),
      ...(model === undefined ? {} : { model }),
    };
  },
  messages(database): readonly MessageRow[] {
    const size = database.prepare("SELECT length(data) AS size FROM blobs WHERE id = ?");
    return messageIds(database).map((id) => ({
      key: id,
      // The bytes are what the id says.
      stamp: id,
      bytes: Number(size.all(id)[0]?.["size"] ?? 0),
    }));
  },
  message(database, _id, key) {
    const [row] = database.prepare("SELECT data FROM blobs WHERE id = ?").all(key);
    const fields = objectOf(jsonCell(row?.["data"]));
    return fields === undefined ? undefined : { ...fields, blob: String(key) };
  },
};

/** What a chat is called before the model has given it a name. */
const PLACEHOLDER_NAME = /^(?:New Agent|New Chat|Untitled)$/i;

/** JSON as the digits of its bytes, in some versions as it is. */
function metaOf(database: Database): Fields | undefined {
  const [row] = database.prepare("SELECT value FROM meta WHERE key = '0'").all();
  const value: Value | undefined = row?.["value"];
  const isHex = typeof value === "string" && value.length % 2 === 0 && /^[0-9a-f]+$/i.test(value);
  return objectOf(jsonCell(isHex ? Buffer.from(value, "hex") : value));
}

function messageIds(database: Database): readonly string[] {
  const root = wordOf(metaOf(database)?.["latestRootBlobId"]);
  if (root === undefined) return [];
  const [row] = database
    .prepare("SELECT data FROM blobs WHERE id = ? AND length(data) <= ?")
    .all(root, CHAT_ROOT_BYTES_MAX);
  const data = row?.["data"];
  return data instanceof Uint8Array ? listedIds(data) : [];
}

/** Bytes of a hash. */
const HASH_BYTES = 32;

/** The hashes in field 1 of a protobuf message, as hex digits. What is no such message gives those before it went wrong. */
export function listedIds(data: Uint8Array): readonly string[] {
  const ids: string[] = [];
  const reader = { at: 0 };
  while (reader.at < data.length) {
    const tag = readNumber(data, reader);
    if (tag === undefined) break;
    const wire = tag & 7;
    if (wire === 0) {
      if (readNumber(data, reader) === undefined) break;
      continue;
    }
    const length = wire === 1 ? 8 : wire === 5 ? 4 : wire === 2 ? readNumber(data, reader) : undefined;
    if (length === undefined || reader.at + length > data.length) break;
    if (tag === ((1 << 3) | 2) && length === HASH_BYTES)
      ids.push(Buffer.from(data.subarray(reader.at, reader.at + length)).toString("hex"));
    reader.at += length;
  }
  return ids;
}

/** A number in groups of seven bits, the lowest first; undefined where it does not end, or is too large. */
function readNumber(data: Uint8Array, reader: { at: number }): number | undefined {
  let value = 0;
  for (let factor = 1; factor <= 2 ** 42; factor *= 128) {
    const byte = data[reader.at];
    if (byte === undefined) return undefined;
    reader.at += 1;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return value;
  }
  return undefined;
}
