/** GitHub Copilot CLI: where its sessions are, how one is told from other files, what stands beside it. */
import { basename, dirname, join } from "node:path";
import { type Fields, objectOf, stringOf, wordOf } from "../fields.ts";
import { createLineSource, type FoundFile, type OnProblem, textBeside } from "../line-source.ts";
import type { SessionInfo, Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { copilotClassifier } from "./classifier.ts";
import { copilotPlaces } from "./places.ts";

export const copilotSource: Source = createLineSource({
  places: copilotPlaces,
  classifier: copilotClassifier,
  find,
  idOf,
  isOwn,
  aside: (path) => (basename(path) === "events.jsonl" ? workspaceFacts(dirname(path)) : Promise.resolve({})),
});

async function* find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile> {
  for (const root of copilotPlaces.roots(around)) {
    for await (const file of walkFiles(root, 1, (name) => name.endsWith(".jsonl"), onProblem)) {
      // A session is a folder with its events in it; in older versions a file of its own.
      if (dirname(file.path) !== root && file.name !== "events.jsonl") continue;
      yield { id: idOf(file.path), path: file.path, bytes: file.bytes, modifiedAt: file.modifiedAt };
    }
  }
}

function idOf(path: string): string {
  const name = basename(path);
  return name === "events.jsonl" ? basename(dirname(path)) : name.replace(/\.jsonl$/, "");
}

function isOwn(value: Fields): boolean {
  const type = stringOf(value["type"]) ?? "";
  const data = objectOf(value["data"]);
  if (data === undefined || !/^[a-z_]+(?:\.[a-z_]+)*$/.test(type)) return false;
  if (type === "session.start" || type === "session.resume")
    return data["copilotVersion"] !== undefined || data["producer"] === "copilot-agent";
  return (
    wordOf(value["id"]) !== undefined &&
    "parentId" in value &&
    /^(?:user\.message|assistant\.(?:message|turn_start|turn_end)|tool\.execution_(?:start|complete))$/.test(
      type,
    )
  );
}

/** The session's title and folder from the small YAML file beside its events: single-line values of its first level only. */
async function workspaceFacts(folder: string): Promise<Partial<SessionInfo>> {
  const text = await textBeside(join(folder, "workspace.yaml"));
  if (text === undefined) return {};
  const title = yamlWord(text, "name") ?? yamlWord(text, "summary");
  const cwd = yamlWord(text, "cwd");
  const gitBranch = yamlWord(text, "branch");
  return {
    ...(title === undefined ? {} : { title, titled: true }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(gitBranch === undefined ? {} : { gitBranch }),
  };
}

function yamlWord(text: string, key: string): string | undefined {
  const line = new RegExp(`^${key}: *(\\S.*?) *\\r?$`, "m").exec(text)?.[1];
  // A value that goes on in the next lines is not read.
  if (line === undefined || /^[|>&*{[~]|^null$/.test(line)) return undefined;
  const quoted = /^"(.*)"$/.exec(line);
  if (quoted !== null) return wordOf(jsonText(line) ?? quoted[1]);
  const single = /^'(.*)'$/.exec(line)?.[1];
  return wordOf(single === undefined ? line : single.replaceAll("''", "'"));
}

function jsonText(json: string): string | undefined {
  try {
    return stringOf(JSON.parse(json));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
