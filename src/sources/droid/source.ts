/** Factory Droid: its sessions on disk, how one is told from other files, and the settings beside it. */
import { basename } from "node:path";
import { parseLine } from "../ends.ts";
import { type Fields, objectOf, stringOf, wordOf } from "../fields.ts";
import { createLineSource, type FoundFile, type OnProblem, textBeside } from "../line-source.ts";
import type { SessionInfo, Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { droidClassifier } from "./classifier.ts";
import { droidPlaces } from "./places.ts";

/** `sessions/<folder of the working directory>/<id>.jsonl`. */
const DEPTH_MAX = 1;
export const droidSource: Source = createLineSource({
  places: droidPlaces,
  classifier: droidClassifier,
  find,
  idOf,
  isOwn,
  aside: settingsFacts,
});

async function* find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile> {
  for (const root of droidPlaces.roots(around))
    for await (const file of walkFiles(root, DEPTH_MAX, (name) => name.endsWith(".jsonl"), onProblem))
      yield { id: idOf(file.path), path: file.path, bytes: file.bytes, modifiedAt: file.modifiedAt };
}

function idOf(path: string): string {
  return basename(path).replace(/\.jsonl$/, "");
}

function isOwn(value: Fields): boolean {
  if (value["type"] === "session_start")
    return wordOf(value["id"]) !== undefined && ("version" in value || "owner" in value || "cwd" in value);
  const role = stringOf(objectOf(value["message"])?.["role"]);
  return (
    value["type"] === "message" &&
    wordOf(value["id"]) !== undefined &&
    // pi's rows always name a parent, or null; its model's messages tell how they ended.
    (role === "user" || role === "assistant") &&
    Array.isArray(objectOf(value["message"])?.["content"]) &&
    !("stopReason" in (objectOf(value["message"]) ?? {})) &&
    value["parentId"] !== null &&
    /^[0-9a-f]{8}-/.test(stringOf(value["id"]) ?? "")
  );
}

/** The model that the session's settings name. */
async function settingsFacts(path: string): Promise<Partial<SessionInfo>> {
  const text = await textBeside(path.replace(/\.jsonl$/, ".settings.json"));
  const model = text === undefined ? undefined : wordOf(parseLine(text)?.["model"]);
  return model === undefined ? {} : { model };
}
