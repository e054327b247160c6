/** fx: where its sessions are, how one is told from other files, and what stands beside it. */
import { basename, dirname, join } from "node:path";
import { parseLine } from "../ends.ts";
import { countOf, type Fields, objectOf, wordOf } from "../fields.ts";
import { createLineSource, type FoundFile, type OnProblem, textBeside } from "../line-source.ts";
import type { SessionInfo, Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { fxClassifier } from "./classifier.ts";
import { fxPlaces } from "./places.ts";

const LOG = "events.jsonl";
export const fxSource: Source = createLineSource({
  places: fxPlaces,
  classifier: fxClassifier,
  find,
  idOf,
  isOwn,
  aside,
});

async function* find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile> {
  for (const root of fxPlaces.roots(around))
    for await (const file of walkFiles(root, 1, (name) => name === LOG, onProblem))
      yield { id: idOf(file.path), path: file.path, bytes: file.bytes, modifiedAt: file.modifiedAt };
}

function idOf(path: string): string {
  const name = basename(path);
  return name === LOG ? basename(dirname(path)) : name.replace(/\.jsonl$/, "");
}

function isOwn(value: Fields): boolean {
  const isFrame = wordOf(value["kind"]) !== undefined && objectOf(value["payload"]) !== undefined;
  return (
    countOf(value["schema_version"]) !== undefined &&
    countOf(value["seq"]) !== undefined &&
    countOf(value["timestamp_ms"]) !== undefined &&
    (isFrame || objectOf(value["event"]) !== undefined)
  );
}

/** The title that is shown for the session. */
async function aside(path: string): Promise<Partial<SessionInfo>> {
  const text = await textBeside(join(dirname(path), "display.json"));
  const title = text === undefined ? undefined : wordOf(parseLine(text)?.["title"]);
  return title === undefined ? {} : { title, titled: true };
}
