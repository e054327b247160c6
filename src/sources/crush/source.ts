/** Crush: the databases of the projects it knows. */
import { dirname, isAbsolute, join } from "node:path";
import { parseLine } from "../ends.ts";
import { arrayOf, objectOf, wordOf } from "../fields.ts";
import type { OnProblem } from "../line-source.ts";
import { textBeside } from "../line-source.ts";
import { splitSessionPath } from "../sqlite/session-path.ts";
import { databasePieces, describeRow, discoverDatabase, openDatabaseLog } from "../sqlite/source.ts";
import type { FoundSession, Source, Surroundings } from "../types.ts";
import { crushPlaces } from "./places.ts";
import { crushTables } from "./tables.ts";

export const crushSource: Source = {
  ...crushPlaces,
  discover,
  detects: async () => false,
  async describe(found) {
    const cwd = dirname(dirname(splitSessionPath(found.path).file));
    return { cwd, ...(await describeRow(found, crushTables)) };
  },
  open: (path) => openDatabaseLog(path, crushTables),
  pieces: async (path) => databasePieces(path, crushTables),
};

async function* discover(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundSession> {
  for (const root of crushPlaces.roots(around)) {
    const text = await textBeside(join(root, "projects.json"));
    const list = text === undefined ? undefined : parseLine(text);
    const folders = new Set<string>();
    for (const project of arrayOf(list?.["projects"]) ?? []) {
      const path = wordOf(objectOf(project)?.["path"]);
      const data = wordOf(objectOf(project)?.["data_dir"]) ?? ".crush";
      const folder = path === undefined || isAbsolute(data) ? data : join(path, data);
      if (isAbsolute(folder)) folders.add(folder);
    }
    for (const folder of folders)
      yield* await discoverDatabase(join(folder, "crush.db"), crushTables, onProblem);
  }
}
