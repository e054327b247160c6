/** Cursor: the chats of its editor and of its command line in their databases, and the transcripts of both. */
import { basename, dirname } from "node:path";
import { canRead } from "../../sqlite/index.ts";
import { SourceError } from "../errors.ts";
import { type Fields, objectOf, stringOf } from "../fields.ts";
import { createLineSource, type FoundFile, type OnProblem } from "../line-source.ts";
import { isFilePath } from "../sqlite/files.ts";
import type { DatabaseFormat } from "../sqlite/format.ts";
import { isDatabase, splitSessionPath } from "../sqlite/session-path.ts";
import {
  databasePieces,
  describeRow,
  discoverDatabase,
  formatAt,
  openDatabaseLog,
} from "../sqlite/source.ts";
import type { FoundSession, Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { chatTables } from "./chat-tables.ts";
import { cursorClassifier } from "./classifier.ts";
import { editorTables } from "./editor-tables.ts";
import { EDITOR_LIST_BYTES_MAX } from "./limits.ts";
import { chatsFolder, cursorPlaces, editorFolder, transcriptsFolder } from "./places.ts";

/** `projects/<folder>/agent-transcripts/<id>/subagents/<id>.jsonl`. */
const TRANSCRIPTS_DEPTH_MAX = 4;
/** `chats/<hash of the folder>/<id>/store.db`. */
const CHATS_DEPTH_MAX = 2;

const transcriptSource = createLineSource({
  places: cursorPlaces,
  classifier: cursorClassifier,
  find,
  idOf: (path) => basename(path).replace(/\.jsonl$/, ""),
  isOwn,
});

export const cursorSource: Source = {
  ...cursorPlaces,
  discover,
  // A database is asked for its tables by who lists the readers: that takes a copy of it.
  detects: async (path, head) => !isDatabase(head) && transcriptSource.detects(path, head),
  async describe(found) {
    const { file, id } = splitSessionPath(found.path);
    return id === undefined ? transcriptSource.describe(found) : describeRow(found, await tablesOf(file));
  },
  async open(path) {
    if (await isFilePath(path, (head) => !isDatabase(head))) return transcriptSource.open(path);
    return openDatabaseLog(path, await tablesOf(splitSessionPath(path).file));
  },
  async pieces(path) {
    const { file, id } = splitSessionPath(path);
    return id === undefined ? undefined : databasePieces(path, await tablesOf(file));
  },
};

async function tablesOf(file: string): Promise<DatabaseFormat> {
  const tables = await formatAt(file, [chatTables, editorTables]);
  if (tables !== undefined) return tables;
  throw new SourceError("unknown-format", `${file} has not the tables of a known version.`, { path: file });
}

/** A session that stands in a database and in a transcript is found once: in the database, where it can be read, for its results and times. */
async function* discover(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundSession> {
  const seen = new Set<string>();
  const databases = canRead() ? [editorSessions, chats] : [];
  for (const found of databases)
    for await (const session of found(around, onProblem)) {
      if (seen.has(session.id)) continue;
      seen.add(session.id);
      yield session;
    }
  for await (const found of transcriptSource.discover(around, onProblem))
    if (!seen.has(found.id)) yield found;
}

/** The editor's chats; a database above `bytesMax` is told to `onProblem`. */
export async function* editorSessions(
  around: Surroundings,
  onProblem: OnProblem,
  bytesMax: number = EDITOR_LIST_BYTES_MAX,
): AsyncIterable<FoundSession> {
  const isState = (name: string): boolean => name === "state.vscdb";
  for await (const { path, bytes } of walkFiles(editorFolder(around), 0, isState, onProblem)) {
    if (bytes <= bytesMax) yield* await discoverDatabase(path, editorTables, onProblem);
    else onProblem(path, `it is larger than ${bytesMax} bytes: its chats are opened by their paths`);
  }
}

/** Told by their names: each is a database of its own. */
async function* chats(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundSession> {
  const isStore = (name: string): boolean => name === "store.db" || name === "store.db-wal";
  let store: FoundSession | undefined;
  for await (const { path, name, bytes, modifiedAt } of walkFiles(
    chatsFolder(around),
    CHATS_DEPTH_MAX,
    isStore,
    onProblem,
  )) {
    const id = basename(dirname(path));
    if (name === "store.db") {
      if (store !== undefined) yield store;
      store = { agent: "cursor", id, path: `${path}#${id}`, bytes, modifiedAt };
    } else if (store?.path === `${path.slice(0, -"-wal".length)}#${id}`)
      // What was said last stands in the log.
      store = { ...store, bytes: store.bytes + bytes, modifiedAt: Math.max(store.modifiedAt, modifiedAt) };
  }
  if (store !== undefined) yield store;
}

async function* find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile> {
  const isTranscript = (name: string): boolean => name.endsWith(".jsonl");
  for await (const file of walkFiles(
    transcriptsFolder(around),
    TRANSCRIPTS_DEPTH_MAX,
    isTranscript,
    onProblem,
  )) {
    if (!/[/\\]agent-transcripts[/\\]/.test(file.path)) continue;
    const { path, bytes, modifiedAt } = file;
    const folder = dirname(path);
    const isSub = basename(folder) === "subagents";
    const id = basename(path).replace(/\.jsonl$/, "");
    yield { id, path, bytes, modifiedAt, ...(isSub ? { parentId: basename(dirname(folder)) } : {}) };
  }
}

/** A row has a role and a message, and nothing that tells it from the next one. */
function isOwn(value: Fields): boolean {
  const role = stringOf(value["role"]);
  const message = objectOf(value["message"]);
  return (
    (role === "user" || role === "assistant") &&
    message !== undefined &&
    Array.isArray(message["content"]) &&
    !["id", "uuid", "type", "timestamp", "messageId"].some((key) => key in value)
  );
}
