/** OpenCode: its database, the tree of files that it kept before, and exports of sessions. */
import { basename, join } from "node:path";
import { logOfStore } from "../document/log.ts";
import { createDocumentSource } from "../document/source.ts";
import { readEnds } from "../ends.ts";
import { isFileError } from "../file-errors.ts";
import { folderFrom } from "../folders.ts";
import type { OnProblem } from "../line-source.ts";
import { isDatabase, splitSessionPath } from "../sqlite/session-path.ts";
import { databasePieces, describeRow, discoverDatabase, openDatabaseLog } from "../sqlite/source.ts";
import type { FoundSession, Log, Pieces, SessionInfo, Source, Surroundings } from "../types.ts";
import { listFolder, walkFiles } from "../walk.ts";
import { openCodeFormat } from "./format.ts";
import { openCodePlaces } from "./places.ts";
import { openCodeTables } from "./tables.ts";
import { describeTreeRecord, openTreeStore, treePieces } from "./tree.ts";
import { isTreeRecord } from "./tree-layout.ts";

/** Bytes of a file that tell what it is. */
const HEAD_BYTES: number = 16 * 1024;

const exportSource = createDocumentSource({
  places: openCodePlaces,
  format: openCodeFormat,
  // Exports lie wherever a person put them.
  async *find() {},
  idOf: (path) => basename(path).replace(/\.json$/, ""),
  isOwn: isExport,
});

export const openCodeSource: Source = {
  ...openCodePlaces,
  discover,
  // A database is asked for its tables by who lists the readers: that takes a copy of it.
  detects: async (_path, head) => isTreeRecord(head) || isExport(head),
  async describe(found) {
    if (splitSessionPath(found.path).id !== undefined) return describeRow(found, openCodeTables);
    return isTreeRecord(await headOf(found.path)) ? describeTree(found) : exportSource.describe(found);
  },
  async open(path) {
    const head = await headOf(path);
    if (head.length === 0 || isDatabase(head)) return openDatabaseLog(path, openCodeTables);
    return isTreeRecord(head) ? openTree(path) : exportSource.open(path);
  },
  pieces,
};

async function pieces(path: string): Promise<Pieces | undefined> {
  const made = databasePieces(path, openCodeTables);
  if (made !== undefined || !isTreeRecord(await headOf(path))) return made;
  return treePieces(path);
}

/** Nothing where the path names no file: a session in a database has none of its own. */
async function headOf(path: string): Promise<Uint8Array> {
  try {
    return (await readEnds(path, HEAD_BYTES, 0)).head;
  } catch (error) {
    if (isFileError(error)) return new Uint8Array(0);
    throw error;
  }
}

async function openTree(path: string): Promise<Log> {
  const store = await openTreeStore(path);
  const id = basename(path).replace(/\.json$/, "");
  const describe = (): Promise<SessionInfo> => Promise.resolve({ agent: "opencode", id, path });
  return logOfStore({ path, format: openCodeFormat, describe }, store);
}

async function describeTree(found: FoundSession): Promise<SessionInfo> {
  return { ...(await describeTreeRecord(found.path)), ...found };
}

/** A session that was taken into the database is left where it was in the tree: it is found once, in the database. */
async function* discover(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundSession> {
  const seen = new Set<string>();
  for (const path of await databasesIn(around, onProblem))
    for (const found of await discoverDatabase(path, openCodeTables, onProblem)) {
      if (seen.has(found.id)) continue;
      seen.add(found.id);
      yield found;
    }
  for (const root of openCodePlaces.roots(around))
    for await (const found of discoverTree(root, onProblem)) {
      if (seen.has(found.id)) continue;
      seen.add(found.id);
      yield found;
    }
}

/** `opencode.db`, and one for each channel of releases that was used. */
async function databasesIn(around: Surroundings, onProblem: OnProblem): Promise<ReadonlySet<string>> {
  const paths: string[] = [];
  for (const root of openCodePlaces.roots(around)) {
    for await (const file of walkFiles(root, 0, (name) => /^opencode(?:-[\w.]+)?\.db$/.test(name), onProblem))
      paths.push(file.path);
    const named = folderFrom(around, "OPENCODE_DB");
    if (named !== undefined && named !== ":memory:")
      paths.unshift(named.includes("/") ? named : join(root, named));
  }
  return new Set(paths);
}

/** The size is that of the session's own record: its messages are looked at when it is opened. */
async function* discoverTree(root: string, onProblem: OnProblem): AsyncIterable<FoundSession> {
  const records: string[] = [join(root, "storage", "session")];
  // The first versions had a tree in each project's folder.
  const projects = join(root, "project");
  for (const entry of await listFolder(projects, onProblem))
    if (entry.isDirectory()) records.push(join(projects, entry.name, "storage", "session", "info"));
  const isRecord = (name: string): boolean => /^ses_[^.]*\.json$/.test(name);
  for (const folder of records) {
    const depth = basename(folder) === "info" ? 0 : 1;
    for await (const { path, bytes, modifiedAt } of walkFiles(folder, depth, isRecord, onProblem))
      yield { agent: "opencode", id: basename(path).replace(/\.json$/, ""), path, bytes, modifiedAt };
  }
}

/** An export: a session's record, then its messages. */
function isExport(head: Uint8Array): boolean {
  const text = new TextDecoder().decode(head.subarray(0, HEAD_BYTES)).replace(/^\uFEFF/, "");
  return /^\s*\{\s*"info"\s*:\s*\{/.test(text) && /"id"\s*:\s*"ses_/.test(text);
}
