/** A source whose sessions are rows of a database: `<path of the database>#<id>` names one. */
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { logOfStore } from "../document/log.ts";
import { describeShelf } from "../document/message-store.ts";
import { SourceError } from "../errors.ts";
import { isFileError } from "../file-errors.ts";
import type { OnProblem } from "../line-source.ts";
import type { AgentName, FoundSession, Log, Pieces, SessionInfo } from "../types.ts";
import { acquireCopy, releaseCopy } from "./copy.ts";
import { extractSession } from "./extract.ts";
import { type DatabaseFormat, isOf } from "./format.ts";
import { DATABASE_SESSIONS_MAX } from "./limits.ts";
import { splitSessionPath } from "./session-path.ts";
import { openSessionStore, shelfOf } from "./store.ts";

/** The sessions of one database, the newest first. A database that cannot be read is told to `onProblem`. */
export async function discoverDatabase(
  path: string,
  format: DatabaseFormat,
  onProblem: OnProblem,
): Promise<readonly FoundSession[]> {
  if (!(await isThere(path, onProblem))) return [];
  try {
    return await withCopy(path, (copy) =>
      copy.read((database) => {
        if (!isOf(database, format)) {
          onProblem(path, "it has not the tables of a known version");
          return [];
        }
        return format.sessions(database, DATABASE_SESSIONS_MAX).map((row) => ({
          agent: format.document.agent,
          id: row.id,
          path: `${path}#${row.id}`,
          bytes: copy.bytes,
          modifiedAt: row.modifiedAt ?? copy.modifiedAt,
          ...(row.parentId === undefined ? {} : { parentId: row.parentId }),
          ...(row.archived === true ? { archived: true } : {}),
        }));
      }),
    );
  } catch (error) {
    if (error instanceof Error && (error instanceof SourceError || isFileError(error))) {
      onProblem(path, error.message);
      return [];
    }
    throw error;
  }
}

async function isThere(path: string, onProblem: OnProblem): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (!isFileError(error)) throw error;
    const { code, message } = error;
    if (code !== "ENOENT" && code !== "ENOTDIR") onProblem(path, message);
    return false;
  }
}

/** What the database's rows say of a found session. */
export async function describeRow(found: FoundSession, format: DatabaseFormat): Promise<SessionInfo> {
  const { file, id } = splitSessionPath(found.path);
  const shelf = shelfOf(await acquireCopy(file), format, id ?? found.id);
  try {
    return { ...(await describeShelf(shelf)), ...found };
  } finally {
    await shelf.close();
  }
}

/** Opens one session. Where the path names none, the only one of the database, else the error tells how to name one. */
export async function openDatabaseLog(path: string, format: DatabaseFormat): Promise<Log> {
  const split = splitSessionPath(path);
  const { file } = split;
  const id = split.id ?? (await onlySession(file, format));
  const named = `${file}#${id}`;
  const store = await openSessionStore(file, format, id);
  const { agent } = format.document;
  return logOfStore(
    { path: named, format: format.document, describe: () => Promise.resolve({ agent, id, path: named }) },
    store,
  );
}

/** What an archive keeps of a session in a database; undefined where the path names none. */
export function databasePieces(path: string, format: DatabaseFormat): Pieces | undefined {
  const { file, id } = splitSessionPath(path);
  if (id === undefined) return undefined;
  const make = (to: string): Promise<void> => extractSession(file, format, id, to);
  return { type: "made", base: dirname(file), name: basename(file), make };
}

async function onlySession(file: string, format: DatabaseFormat): Promise<string> {
  const rows = await withCopy(file, (copy) => copy.read((database) => format.sessions(database, 2)));
  const [first] = rows;
  if (first === undefined) throw new SourceError("empty", `${file} holds no sessions.`, { path: file });
  if (rows.length === 1) return first.id;
  throw new SourceError("unknown-format", `${file} is a database of several sessions.`, {
    path: file,
    next: `Name one of them: \`${file}#${first.id}\` is the newest; \`hansard list\` shows them all.`,
  });
}

/** The agent whose tables a database has; undefined where it is another program's. */
export async function detectDatabase(
  file: string,
  formats: readonly DatabaseFormat[],
): Promise<AgentName | undefined> {
  return (await formatAt(file, formats))?.document.agent;
}

/** The format whose tables a database has; undefined where it is another program's. */
export async function formatAt(
  file: string,
  formats: readonly DatabaseFormat[],
): Promise<DatabaseFormat | undefined> {
  return withCopy(file, (copy) => copy.read((database) => formats.find((format) => isOf(database, format))));
}

async function withCopy<T>(
  file: string,
  work: (copy: Awaited<ReturnType<typeof acquireCopy>>) => T,
): Promise<T> {
  const copy = await acquireCopy(file);
  try {
    await copy.settle();
    return work(copy);
  } finally {
    await releaseCopy(copy);
  }
}
