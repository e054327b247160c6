/** Cursor: the transcripts of its agent on disk, and how one is told from other files. */
import { basename, dirname } from "node:path";
import { type Fields, objectOf, stringOf } from "../fields.ts";
import { createLineSource, type FoundFile, type OnProblem } from "../line-source.ts";
import type { Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { cursorClassifier } from "./classifier.ts";
import { cursorPlaces } from "./places.ts";

/** `projects/<folder>/agent-transcripts/<id>/subagents/<id>.jsonl`. */
const DEPTH_MAX = 4;

export const cursorSource: Source = createLineSource({
  places: cursorPlaces,
  classifier: cursorClassifier,
  find,
  idOf: (path) => basename(path).replace(/\.jsonl$/, ""),
  isOwn,
});

async function* find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile> {
  for (const root of cursorPlaces.roots(around))
    for await (const file of walkFiles(root, DEPTH_MAX, (name) => name.endsWith(".jsonl"), onProblem)) {
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
