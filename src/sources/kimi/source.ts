/** Kimi CLI and Kimi Code: where their sessions are, how one is told from other files, and what stands beside it. */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { parseLine } from "../ends.ts";
import { arrayOf, type Fields, objectOf, stringOf, timeOf, wordOf } from "../fields.ts";
import { createLineSource, type FoundFile, type OnProblem, textBeside } from "../line-source.ts";
import type { SessionInfo, Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { kimiClassifier } from "./classifier.ts";
import { kimiPlaces } from "./places.ts";

/** `<folder of the working directory>/<session>/wire.jsonl`, or two folders deeper per agent. */
const DEPTH_MAX = 4;
const WIRE = "wire.jsonl";
const MAIN = "main";

export const kimiSource: Source = createLineSource({
  places: kimiPlaces,
  classifier: kimiClassifier,
  find,
  idOf,
  isOwn,
  aside,
});

async function* find(around: Surroundings, onProblem: OnProblem): AsyncIterable<FoundFile> {
  for (const root of kimiPlaces.roots(around))
    for await (const file of walkFiles(root, DEPTH_MAX, (name) => name === WIRE, onProblem)) {
      const agent = agentOf(file.path);
      const isSubagent = agent !== undefined && agent !== MAIN;
      yield {
        id: idOf(file.path),
        path: file.path,
        bytes: file.bytes,
        modifiedAt: file.modifiedAt,
        ...(isSubagent ? { parentId: basename(sessionFolder(file.path)) } : {}),
      };
    }
}

/** The agent whose log it is, where a session has one for each. */
function agentOf(path: string): string | undefined {
  const folder = dirname(path);
  return basename(dirname(folder)) === "agents" ? basename(folder) : undefined;
}

function sessionFolder(path: string): string {
  const folder = dirname(path);
  return agentOf(path) === undefined ? folder : dirname(dirname(folder));
}

function idOf(path: string): string {
  if (basename(path) !== WIRE) return basename(path).replace(/\.jsonl$/, "");
  const agent = agentOf(path);
  const session = basename(sessionFolder(path));
  return agent === undefined || agent === MAIN ? session : `${session}-${agent}`;
}

function isOwn(value: Fields): boolean {
  const type = stringOf(value["type"]) ?? "";
  if (type === "metadata") return wordOf(value["protocol_version"]) !== undefined;
  if (/^(?:turn\.prompt|context\.append_(?:message|loop_event))$/.test(type)) return true;
  const event = stringOf(objectOf(value["message"])?.["type"]) ?? "";
  return (
    type === "" &&
    typeof value["timestamp"] === "number" &&
    /^(?:TurnBegin|TurnEnd|StepBegin|ContentPart|ToolCall|ToolResult|StatusUpdate)$/.test(event)
  );
}

/** The title and the folder that the session's state names; in older versions the folder is told by its hash. */
async function aside(path: string): Promise<Partial<SessionInfo>> {
  const folder = sessionFolder(path);
  const state = await jsonBeside(join(folder, "state.json"));
  const title = wordOf(state?.["custom_title"]) ?? wordOf(state?.["title"]);
  const cwd = wordOf(state?.["workDir"]) ?? (await hashedFolder(dirname(folder)));
  const startedAt = timeOf(state?.["createdAt"]);
  return {
    ...(title === undefined ? {} : { title, titled: true }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(startedAt === undefined ? {} : { startedAt }),
  };
}

async function hashedFolder(folder: string): Promise<string | undefined> {
  const hash = basename(folder);
  if (!/^[0-9a-f]{32}$/.test(hash)) return undefined;
  const known = await jsonBeside(join(dirname(dirname(folder)), "kimi.json"));
  for (const entry of arrayOf(known?.["work_dirs"]) ?? []) {
    const path = wordOf(objectOf(entry)?.["path"]);
    if (path !== undefined && createHash("md5").update(path).digest("hex") === hash) return path;
  }
  return undefined;
}

async function jsonBeside(path: string): Promise<Fields | undefined> {
  const text = await textBeside(path);
  return text === undefined ? undefined : parseLine(text);
}
