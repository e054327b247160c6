/** clio-coder: where its sessions are, how one is told from other files, and what stands beside it. */
import { basename, dirname, join } from "node:path";
import { parseLine } from "../ends.ts";
import { type Fields, timeOf, wordOf } from "../fields.ts";
import { createLineSource, type FoundFile, type OnProblem, textBeside } from "../line-source.ts";
import type { SessionInfo, Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { clioCoderClassifier } from "./classifier.ts";
import { clioCoderPlaces } from "./places.ts";

const LOG = "current.jsonl";
/** `<hash of the working directory>/<session>/current.jsonl`. */
const DEPTH_MAX = 2;
export const clioCoderSource: Source = createLineSource({
  places: clioCoderPlaces,
  classifier: clioCoderClassifier,
  find,
  idOf,
  isOwn,
  aside,
});

async function* find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile> {
  for (const root of clioCoderPlaces.roots(around))
    for await (const file of walkFiles(root, DEPTH_MAX, (name) => name === LOG, onProblem))
      yield { id: idOf(file.path), path: file.path, bytes: file.bytes, modifiedAt: file.modifiedAt };
}

function idOf(path: string): string {
  const name = basename(path);
  return name === LOG ? basename(dirname(path)) : name.replace(/\.jsonl$/, "");
}

/** The header is the same as pi's; the entries are not. */
function isOwn(value: Fields): boolean {
  return (
    wordOf(value["kind"]) !== undefined && wordOf(value["turnId"]) !== undefined && "parentTurnId" in value
  );
}

async function aside(path: string): Promise<Partial<SessionInfo>> {
  const text = await textBeside(join(dirname(path), "meta.json"));
  const meta = text === undefined ? undefined : parseLine(text);
  const cwd = wordOf(meta?.["cwd"]);
  const startedAt = timeOf(meta?.["createdAt"]);
  const agentVersion = wordOf(meta?.["clioVersion"]);
  const model = wordOf(meta?.["model"]);
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(agentVersion === undefined ? {} : { agentVersion }),
    ...(model === undefined ? {} : { model }),
  };
}
