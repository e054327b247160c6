/** pi and its relatives: where their sessions are, how one is told from other files, what its ends say of it, how it is opened. */
import { dirname, join } from "node:path";
import { parseLine, readEnds, textLines } from "../ends.ts";
import { type Fields, objectOf, stringOf, timeOf, wordOf } from "../fields.ts";
import { fileStateAt } from "../file-errors.ts";
import { titleFromPrompt } from "../prompt-title.ts";
import type { FoundSession, Log, SessionInfo, Source, Surroundings } from "../types.ts";
import { listFolder, walkFiles } from "../walk.ts";
import { idOfPath, piClassifier } from "./classifier.ts";
import { piPlaces } from "./places.ts";

/** `sessions/<folder of the working directory>/<session>`: the last one holds a session's subagents. */
const DEPTH_MAX = 2;
export const PI_HEAD_BYTES = 64 * 1024;
export const PI_TAIL_BYTES = 64 * 1024;

export const piSource: Source = {
  ...piPlaces,
  discover,
  detects: async (_path, head) => isPi(head),
  describe,
  open: openPi,
};

/** A folder that a variable names; `~` stands for the home, as it does for pi itself. */
async function* discover(
  around: Surroundings,
  onProblem: (path: string, message: string) => void,
): AsyncIterable<FoundSession> {
  const [own, omp, openclaw] = piPlaces.roots(around) as [string, string, string];
  yield* discoverIn(own, onProblem);
  yield* discoverIn(omp, onProblem);
  for (const agent of await listFolder(openclaw, onProblem))
    if (agent.isDirectory()) yield* discoverIn(join(openclaw, agent.name, "sessions"), onProblem);
}

async function* discoverIn(
  root: string,
  onProblem: (path: string, message: string) => void,
): AsyncIterable<FoundSession> {
  for await (const file of walkFiles(root, DEPTH_MAX, (name) => name.endsWith(".jsonl"), onProblem)) {
    // A folder within the folder of a working directory is named as a session is, and holds that session's subagents.
    const folder = dirname(file.path);
    const isNested = folder !== root && dirname(folder) !== root;
    yield {
      agent: "pi",
      id: idOfPath(file.path),
      path: file.path,
      bytes: file.bytes,
      modifiedAt: file.modifiedAt,
      ...(isNested ? { parentId: idOfPath(folder) } : {}),
    };
  }
}

/** True where one of the first lines is a session header, or a message only pi writes. */
function isPi(head: Uint8Array): boolean {
  let seen = 0;
  let isOwn = false;
  for (const line of textLines(head, true)) {
    if (line.trim() === "") continue;
    const value = parseLine(line.replace(/^\uFEFF/, ""));
    // clio-coder begins with the same header, but its entries name turns.
    if (value && "parentTurnId" in value) return false;
    if (value && isPiRecord(value)) isOwn = true;
    if (++seen >= 8) return isOwn;
  }
  return isOwn;
}

function isPiRecord(value: Fields): boolean {
  if (value["type"] === "session")
    return (
      wordOf(value["id"]) !== undefined && timeOf(value["timestamp"]) !== undefined && !("sessionId" in value)
    );
  if (value["type"] !== "message") return false;
  const message = objectOf(value["message"]);
  const role = stringOf(message?.["role"]);
  if (role === "toolResult") return stringOf(message?.["toolCallId"]) !== undefined;
  return (
    role === "assistant" &&
    stringOf(message?.["stopReason"]) !== undefined &&
    stringOf(message?.["api"]) !== undefined
  );
}

async function describe(found: FoundSession): Promise<SessionInfo> {
  const { head, tail, bytes } = await readEnds(found.path, PI_HEAD_BYTES, PI_TAIL_BYTES);
  return {
    agent: "pi",
    id: found.id,
    path: found.path,
    bytes: found.bytes,
    modifiedAt: found.modifiedAt,
    ...(found.parentId === undefined ? {} : { parentId: found.parentId }),
    ...(factsOf(head, head.length === bytes, true) ?? {}),
    ...(tail.length > 0 ? factsOf(tail, true, false) : {}),
  };
}

/** Facts of one end: header, model and name; from the head also a title from the first prompt, unless a name is given. */
function factsOf(bytes: Uint8Array, isWhole: boolean, isHead: boolean): Partial<SessionInfo> {
  let info: Partial<SessionInfo> = {};
  let prompt: string | undefined;
  for (const line of textLines(bytes, isWhole)) {
    const hasFact = line.includes('"session') || line.includes('"model_change"') || line.includes('"title"');
    const isPrompt = isHead && prompt === undefined && line.includes('"user"');
    if (!hasFact && !isPrompt && !line.includes('"assistant"')) continue;
    const value = parseLine(line.replace(/^\uFEFF/, ""));
    if (!value) continue;
    const said = piClassifier.classify({ type: "record", start: 0, end: 0, value });
    if (said.info) info = { ...info, ...said.info };
    const delivered = said.entries.find((e) => e.kind === "delivered" && e.sender === "user");
    if (isPrompt && delivered?.kind === "delivered") prompt = titleFromPrompt(delivered.body);
  }
  return isHead && info.title === undefined && prompt !== undefined ? { ...info, title: prompt } : info;
}

async function openPi(path: string): Promise<Log> {
  const { openJsonlFile } = await import("../jsonl-log.ts");
  return openJsonlFile({
    agent: "pi",
    path,
    classifier: piClassifier,
    async describe() {
      const state = await fileStateAt(path);
      const modifiedAt = state === undefined ? 0 : Number(state.modified / 1_000_000n);
      return describe({ agent: "pi", id: idOfPath(path), path, bytes: state?.size ?? 0, modifiedAt });
    },
  });
}
