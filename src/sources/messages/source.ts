/** Messages directories: found where the environment names workspaces, opened by the path of a workspace, an agent, or the folder itself. */
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { openFile } from "../../lines/index.ts";
import { readFully } from "../ends.ts";
import { SourceError } from "../errors.ts";
import { isFileError } from "../file-errors.ts";
import { titleFromPrompt } from "../prompt-title.ts";
import type { FoundSession, Log, SessionInfo, Source, Surroundings } from "../types.ts";
import { listFolder } from "../walk.ts";
import { classifyMessage } from "./classify.ts";
import { listRows, placeOf } from "./listing.ts";
import { openMessagesLog } from "./log.ts";
import { parseMessageName } from "./name.ts";
import { messagesPlaces } from "./places.ts";

/** First messages that a title, and last ones that a model, is looked for in. */
const DESCRIBE_FILES = 8;
const DESCRIBE_BYTES_MAX = 1024 * 1024;

export const messagesSource: Source = {
  ...messagesPlaces,
  discover,
  detects: async (path) => (await messagesFolder(path)) !== undefined,
  describe,
  open: openMessages,
};

async function* discover(
  around: Surroundings,
  onProblem: (path: string, message: string) => void,
): AsyncIterable<FoundSession> {
  for (const workspace of messagesPlaces.roots(around)) yield* agentsOf(workspace, onProblem);
}

async function* agentsOf(
  workspace: string,
  onProblem: (path: string, message: string) => void,
): AsyncIterable<FoundSession> {
  const agents = join(workspace, "agents");
  const ids = (await listFolder(agents, onProblem)).filter((e) => e.isDirectory()).map((e) => e.name);
  for (const id of ids) {
    const path = join(agents, id, "messages");
    const state = await folderState(path, onProblem);
    if (state === undefined) continue;
    // A child's id is its parent's with something behind it.
    const parentId = ids.filter((other) => id.startsWith(`${other}-`)).sort((a, b) => b.length - a.length)[0];
    yield { agent: "messages", id, path, ...state, ...(parentId === undefined ? {} : { parentId }) };
  }
}

async function folderState(
  path: string,
  onProblem: (path: string, message: string) => void,
): Promise<{ readonly bytes: number; readonly modifiedAt: number } | undefined> {
  try {
    const { mtimeMs } = await stat(path);
    let bytes = 0;
    for (const entry of await listFolder(path, onProblem))
      if (entry.isFile()) bytes += (await stat(join(path, entry.name))).size;
    return { bytes, modifiedAt: mtimeMs };
  } catch (error) {
    if (isFileError(error, "ENOENT", "ENOTDIR")) return undefined;
    if (!isFileError(error)) throw error;
    onProblem(path, error.message);
    return undefined;
  }
}

/**
 * The messages folder that a path means: itself, an agent's folder, or a workspace, of which the agent that was written to last is taken.
 */
async function messagesFolder(path: string): Promise<string | undefined> {
  const clean = path.length > 1 ? path.replace(/[/\\]+$/, "") : path;
  if (await isMessagesFolder(clean)) return clean;
  const own = join(clean, "messages");
  if (await isFolder(own)) return own;
  let newest: FoundSession | undefined;
  for await (const found of agentsOf(clean, () => undefined))
    if (newest === undefined || found.modifiedAt > newest.modifiedAt) newest = found;
  return newest?.path;
}

/** A folder of that name in an agent's folder, or one that holds message files. */
async function isMessagesFolder(path: string): Promise<boolean> {
  if (!(await isFolder(path))) return false;
  if (basename(path) === "messages" && basename(dirname(dirname(path))) === "agents") return true;
  const entries = await listFolder(path, () => undefined);
  const messages = entries.filter((e) => e.isFile() && isMessageName(e.name));
  return messages.length > 0 && messages.length * 2 >= entries.length;
}

function isMessageName(name: string): boolean {
  const parsed = parseMessageName(name);
  return (
    parsed !== undefined &&
    (parsed.extension === "md" || parsed.extension === "json") &&
    /^\d{3,}-/.test(name)
  );
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (isFileError(error)) return false;
    throw error;
  }
}

async function describe(found: FoundSession): Promise<SessionInfo> {
  const folder = (await messagesFolder(found.path)) ?? found.path;
  const names = (await listRows(folder)).filter((r) => !r.gap).map((r) => r.name);
  const head = await Promise.all(names.slice(0, DESCRIBE_FILES).map((n) => readEntry(folder, n)));
  const prompt = head.find((e) => e.kind === "delivered");
  const title = prompt?.kind === "delivered" ? titleFromPrompt(prompt.body) : undefined;
  const startedAt = head.find((e) => e.time !== undefined)?.time;
  const modelName = names.findLast((n) => n.endsWith(".json") && !n.endsWith("-tool.json"));
  const model = modelName === undefined ? undefined : parseMessageName(modelName)?.origin;
  return {
    agent: "messages",
    id: found.id,
    path: folder,
    bytes: found.bytes,
    modifiedAt: found.modifiedAt,
    cwd: dirname(folder),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(title === undefined ? {} : { title }),
    ...(model === undefined ? {} : { model }),
    ...(found.parentId === undefined ? {} : { parentId: found.parentId }),
  };
}

async function readEntry(folder: string, name: string): Promise<ReturnType<typeof classifyMessage>> {
  try {
    const source = await openFile(join(folder, name));
    try {
      return classifyMessage(
        name,
        await readFully(source, 0, Math.min(await source.size(), DESCRIBE_BYTES_MAX)),
      );
    } finally {
      await source.close();
    }
  } catch (error) {
    if (isFileError(error)) return classifyMessage(name, new Uint8Array(0));
    throw error;
  }
}

async function openMessages(path: string): Promise<Log> {
  const folder = await messagesFolder(path);
  if (folder === undefined)
    throw new SourceError("unknown-format", `${path} is no folder of messages`, {
      path,
      next: "Give a workspace, the folder of one of its agents, or the messages folder itself.",
    });
  const place = placeOf(folder);
  const state = await folderState(folder, () => undefined);
  const info = await describe({
    agent: "messages",
    id: place.agentId,
    path: folder,
    bytes: state?.bytes ?? 0,
    modifiedAt: state?.modifiedAt ?? 0,
  });
  return openMessagesLog({ place, info });
}
