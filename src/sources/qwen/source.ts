/** Qwen Code: where its chats are and how one is told from other files. */
import { basename, dirname, join } from "node:path";
import { type Fields, objectOf, stringOf, wordOf } from "../fields.ts";
import { createLineSource, type FoundFile, type OnProblem } from "../line-source.ts";
import type { Source, Surroundings } from "../types.ts";
import { listFolder, type WalkedFile, walkFiles } from "../walk.ts";
import { qwenClassifier } from "./classifier.ts";
import { qwenPlaces } from "./places.ts";

export const qwenSource: Source = createLineSource({
  places: qwenPlaces,
  classifier: qwenClassifier,
  find,
  idOf,
  isOwn,
});

async function* find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile> {
  for (const root of qwenPlaces.roots(around))
    for (const project of await listFolder(root, onProblem)) {
      if (!project.isDirectory()) continue;
      const folder = join(root, project.name);
      for await (const file of walkFiles(join(folder, "chats"), 1, isLog, onProblem)) {
        const isArchived = basename(dirname(file.path)) === "archive";
        yield { ...foundAt(file), ...(isArchived ? { archived: true } : {}) };
      }
      // A subagent's chat lies in a folder named as its session.
      for await (const file of walkFiles(join(folder, "subagents"), 1, isLog, onProblem))
        yield { ...foundAt(file), parentId: basename(dirname(file.path)) };
    }
}

function isLog(name: string): boolean {
  return name.endsWith(".jsonl");
}

function foundAt(file: WalkedFile): FoundFile {
  return { id: idOf(file.path), path: file.path, bytes: file.bytes, modifiedAt: file.modifiedAt };
}

function idOf(path: string): string {
  return basename(path).replace(/\.jsonl$/, "");
}

/** Rows look like Claude Code's; the parts of a message, or the system's payload, are Qwen's own. */
function isOwn(value: Fields): boolean {
  if (wordOf(value["uuid"]) === undefined || wordOf(value["sessionId"]) === undefined) return false;
  const type = stringOf(value["type"]);
  if (type === "system") return "systemPayload" in value;
  if (type === "tool_result") return true;
  return (type === "user" || type === "assistant") && Array.isArray(objectOf(value["message"])?.["parts"]);
}
