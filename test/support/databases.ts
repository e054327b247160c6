/** Databases as the agents that keep one write them, made small. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Database, openDatabase } from "../../src/sqlite/index.ts";

export const OPENCODE_SCHEMA = `
CREATE TABLE session(id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT, time_created INT, time_updated INT, time_archived INT);
CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INT, time_updated INT, data TEXT);
CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INT, time_updated INT, data TEXT);`;

/** As of its schema's version 5; later ones add columns. */
export const GOOSE_SCHEMA = `
CREATE TABLE schema_version(version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE sessions(id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '', user_set_name BOOLEAN DEFAULT FALSE,
  session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, extension_data TEXT DEFAULT '{}', total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER,
  accumulated_total_tokens INTEGER, schedule_id TEXT, recipe_json TEXT, user_recipe_values_json TEXT, provider_name TEXT, model_config_json TEXT);
CREATE TABLE messages(id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
  content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT);`;

export const CRUSH_SCHEMA = `
CREATE TABLE sessions(id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0,
  prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0, updated_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL, summary_message_id TEXT, todos TEXT);
CREATE TABLE messages(id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT, is_summary_message INTEGER DEFAULT 0 NOT NULL);`;

/** A database that its writer still has open, with all that it wrote in the write-ahead log. */
export function writeAhead(path: string, schema: string): Database {
  const database = openDatabase(path);
  database.prepare("PRAGMA journal_mode = WAL").all();
  database.prepare("PRAGMA wal_autocheckpoint = 0").all();
  database.run(schema);
  return database;
}

/** One database of OpenCode under a writer's hand. */
export class OpenCodeWriter {
  readonly database: Database;
  #time = 1_700_000_000_000;

  constructor(path: string) {
    this.database = writeAhead(path, OPENCODE_SCHEMA);
  }

  session(id: string, title = id, parentId: string | null = null): void {
    this.database
      .prepare("INSERT INTO session VALUES (?, ?, '/w', ?, '1.2.0', ?, ?, NULL)")
      .run(id, parentId, title, this.#time, this.#time);
  }

  message(session: string, id: string, info: object): void {
    this.#time += 1;
    this.database
      .prepare(
        "INSERT OR REPLACE INTO message VALUES (?, ?, coalesce((SELECT time_created FROM message WHERE id = ?), ?), ?, ?)",
      )
      .run(
        id,
        session,
        id,
        this.#time,
        this.#time,
        JSON.stringify({ time: { created: 1_700_000_000_000 }, ...info }),
      );
  }

  part(session: string, message: string, id: string, data: object | string): void {
    this.#time += 1;
    this.database
      .prepare("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)")
      .run(
        id,
        message,
        session,
        this.#time,
        this.#time,
        typeof data === "string" ? data : JSON.stringify(data),
      );
  }

  prompt(session: string, id: string, text: string): void {
    this.message(session, id, { role: "user" });
    this.part(session, id, `${id}-1`, { type: "text", text });
  }

  close(): void {
    this.database.close();
  }
}

/** Every file of a folder with a hash of its bytes. */
export function hashes(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder)
    .sort()
    .map(
      (name) =>
        [
          name,
          createHash("sha256")
            .update(readFileSync(join(folder, name)))
            .digest("hex"),
        ] as const,
    );
  return Object.fromEntries(entries);
}
