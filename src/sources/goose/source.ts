/** Goose: its database, and the files of one line a message that it kept before. */
import { basename, join } from "node:path";
import type { Classified, Classifier } from "../classifier.ts";
import { arrayOf, type Fields, objectOf, stringOf, wordOf } from "../fields.ts";
import { createLineSource, type FoundFile, type OnProblem } from "../line-source.ts";
import { isFilePath } from "../sqlite/files.ts";
import { isDatabase, splitSessionPath } from "../sqlite/session-path.ts";
import { databasePieces, describeRow, discoverDatabase, openDatabaseLog } from "../sqlite/source.ts";
import type { FoundSession, SessionInfo, Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { classifyMessage } from "./message.ts";
import { goosePlaces } from "./places.ts";
import { gooseTables } from "./tables.ts";

/** The meaning of a line: the first says what the session is, each other one is a message. */
function classifyLine(value: unknown, start: number): Classified {
  const fields = objectOf(value);
  if (fields !== undefined && isHeader(fields))
    return { kind: "session", known: true, entries: [], info: headerFacts(fields) };
  return classifyMessage(value, wordOf(fields?.["id"]) ?? `@${start}`);
}

function isHeader(fields: Fields): boolean {
  return !("role" in fields) && "working_dir" in fields;
}

function headerFacts(fields: Fields): Partial<SessionInfo> {
  const title = wordOf(fields["description"]);
  const cwd = wordOf(fields["working_dir"]);
  return { ...(title === undefined ? {} : { title, titled: true }), ...(cwd === undefined ? {} : { cwd }) };
}

export const gooseFileClassifier: Classifier = {
  agent: "goose",
  classify: ({ value, start }) => classifyLine(value, start),
};

const fileSource = createLineSource({
  places: goosePlaces,
  classifier: gooseFileClassifier,
  find,
  idOf: (path) => basename(path).replace(/\.jsonl$/, ""),
  isOwn: (fields) =>
    (isHeader(fields) && ("message_count" in fields || "description" in fields)) ||
    (/^(?:user|assistant)$/.test(stringOf(fields["role"]) ?? "") &&
      "created" in fields &&
      arrayOf(fields["content"]) !== undefined),
});

async function* find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile> {
  for (const root of goosePlaces.roots(around))
    for await (const { path, bytes, modifiedAt } of walkFiles(
      root,
      0,
      (name) => name.endsWith(".jsonl"),
      onProblem,
    ))
      yield { id: basename(path).replace(/\.jsonl$/, ""), path, bytes, modifiedAt };
}

export const gooseSource: Source = {
  ...goosePlaces,
  async *discover(around, onProblem): AsyncIterable<FoundSession> {
    const seen = new Set<string>();
    for (const root of goosePlaces.roots(around))
      for (const found of await discoverDatabase(join(root, "sessions.db"), gooseTables, onProblem)) {
        seen.add(found.id);
        yield found;
      }
    // Files that were taken into the database stay where they were.
    for await (const found of fileSource.discover(around, onProblem)) if (!seen.has(found.id)) yield found;
  },
  detects: async (path, head) => !isDatabase(head) && fileSource.detects(path, head),
  describe: (found) =>
    splitSessionPath(found.path).id === undefined
      ? fileSource.describe(found)
      : describeRow(found, gooseTables),
  open: async (path) =>
    (await isFilePath(path, (head) => !isDatabase(head)))
      ? fileSource.open(path)
      : openDatabaseLog(path, gooseTables),
  pieces: async (path) => databasePieces(path, gooseTables),
};
