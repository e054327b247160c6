/** OpenCode: its database, and exports of sessions. */
import { basename, join } from "node:path";
import { createDocumentSource } from "../document/source.ts";
import { folderFrom } from "../folders.ts";
import type { OnProblem } from "../line-source.ts";
import { isFilePath } from "../sqlite/files.ts";
import { isDatabase, splitSessionPath } from "../sqlite/session-path.ts";
import { describeRow, discoverDatabase, openDatabaseLog } from "../sqlite/source.ts";
import type { FoundSession, Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { openCodeFormat } from "./format.ts";
import { openCodePlaces } from "./places.ts";
import { openCodeTables } from "./tables.ts";

const exportSource = createDocumentSource({
  places: openCodePlaces,
  format: openCodeFormat,
  // Exports lie wherever a person put them.
  async *find() {},
  idOf: (path) => basename(path).replace(/\.json$/, ""),
  isOwn,
});

export const openCodeSource: Source = {
  ...openCodePlaces,
  discover,
  // A database is asked for its tables by who lists the readers: that takes a copy of it.
  detects: async (_path, head) => !isDatabase(head) && isOwn(head),
  describe: (found) =>
    splitSessionPath(found.path).id === undefined
      ? exportSource.describe(found)
      : describeRow(found, openCodeTables),
  open: async (path) =>
    (await isExport(path)) ? exportSource.open(path) : openDatabaseLog(path, openCodeTables),
};

async function isExport(path: string): Promise<boolean> {
  return isFilePath(path, (head) => !isDatabase(head));
}

/** `opencode.db`, and one for each channel of releases that was used. */
async function* discover(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundSession> {
  const paths: string[] = [];
  for (const root of openCodePlaces.roots(around)) {
    for await (const file of walkFiles(root, 0, (name) => /^opencode(?:-[\w.]+)?\.db$/.test(name), onProblem))
      paths.push(file.path);
    const named = folderFrom(around, "OPENCODE_DB");
    if (named !== undefined && named !== ":memory:")
      paths.unshift(named.includes("/") ? named : join(root, named));
  }
  const seen = new Set<string>();
  for (const path of new Set(paths))
    for (const found of await discoverDatabase(path, openCodeTables, onProblem)) {
      if (seen.has(found.id)) continue;
      seen.add(found.id);
      yield found;
    }
}

/** An export: a session's record, then its messages. */
function isOwn(head: Uint8Array): boolean {
  const text = new TextDecoder().decode(head.subarray(0, 16 * 1024)).replace(/^\uFEFF/, "");
  return /^\s*\{\s*"info"\s*:\s*\{/.test(text) && /"id"\s*:\s*"ses_/.test(text);
}
