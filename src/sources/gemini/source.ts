/** Gemini CLI: where its chats are, how one is told from other files, which folder a chat worked in. */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { parseLine, readEnds, textLines } from "../ends.ts";
import { type Fields, objectOf, stringOf, timeOf, wordOf } from "../fields.ts";
import { isFileError } from "../file-errors.ts";
import { titleFromPrompt } from "../prompt-title.ts";
import type { FoundSession, Log, SessionInfo, Source, Surroundings } from "../types.ts";
import { listFolder, walkFiles } from "../walk.ts";
import { readMessage } from "./message.ts";
import { geminiPlaces } from "./places.ts";
import { recordKind } from "./rows.ts";

export const GEMINI_HEAD_BYTES = 64 * 1024;
const GEMINI_TAIL_BYTES = 64 * 1024;
/** Largest `projects.json` that is read. */
const PROJECTS_BYTES_MAX = 4 * 1024 * 1024;

const NAME = /^session-(.+)\.jsonl?$/;

export const geminiSource: Source = {
  ...geminiPlaces,
  discover,
  detects: async (_path, head) => isGemini(head),
  describe: async (found) => describeChat(found),
  open: openChat,
};

async function* discover(
  around: Surroundings,
  onProblem: (path: string, message: string) => void,
): AsyncIterable<FoundSession> {
  const [root] = geminiPlaces.roots(around) as [string];
  for (const project of await listFolder(root, onProblem)) {
    if (!project.isDirectory()) continue;
    const chats = join(root, project.name, "chats");
    const found: FoundSession[] = [];
    for await (const file of walkFiles(chats, 1, (name) => /\.jsonl?$/.test(name), onProblem)) {
      const folder = dirname(file.path);
      const isNested = folder !== chats;
      if (!isNested && !NAME.test(file.name)) continue;
      found.push({
        agent: "gemini",
        id: idOf(file.path),
        path: file.path,
        bytes: file.bytes,
        modifiedAt: file.modifiedAt,
        ...(isNested ? { parentId: basename(folder) } : {}),
      });
    }
    // A resumed session goes on in a new file beside the old one of the same name.
    const newer = new Set(
      found.filter((f) => f.path.endsWith(".jsonl")).map((f) => f.path.slice(0, -"l".length)),
    );
    for (const session of found) if (!newer.has(session.path)) yield underSession(session, found);
  }
}

/** A subagent's folder has the whole id of its session; the session's own file is named by the first characters of it. */
function underSession(session: FoundSession, found: readonly FoundSession[]): FoundSession {
  const { parentId } = session;
  if (parentId === undefined) return session;
  const parent = found.find((f) => f.parentId === undefined && f.id.endsWith(`-${parentId.slice(0, 8)}`));
  return parent === undefined ? session : { ...session, parentId: parent.id };
}

function idOf(path: string): string {
  const name = basename(path);
  return NAME.exec(name)?.[1] ?? name.replace(/\.jsonl?$/, "");
}

/** True where the file begins as a chat does: a header with the project's hash, or messages of Gemini's own kinds. */
function isGemini(head: Uint8Array): boolean {
  const text = new TextDecoder().decode(head).replace(/^\uFEFF/, "");
  if (/^\s*\{\s*\n/.test(text)) return isDocumentHead(text);
  let seen = 0;
  for (const line of textLines(head, true)) {
    if (line.trim() === "") continue;
    const value = parseLine(line.replace(/^\uFEFF/, ""));
    if (value && isGeminiRecord(value)) return true;
    if (seen === 0 && !value && isDocumentHead(line)) return true;
    if (++seen >= 8) return false;
  }
  return false;
}

function isDocumentHead(text: string): boolean {
  const start = text.slice(0, 4096);
  return /"sessionId"\s*:\s*"/.test(start) && /"projectHash"\s*:\s*"/.test(start);
}

function isGeminiRecord(value: Fields): boolean {
  const kind = recordKind(value);
  if (kind === "header") return stringOf(value["projectHash"]) !== undefined;
  if (kind === "set" || kind === "rewind") return true;
  if (kind !== "message" || timeOf(value["timestamp"]) === undefined || "payload" in value) return false;
  const type = value["type"];
  if (type === "gemini") return true;
  return (
    type === "user" &&
    "content" in value &&
    !("message" in value) &&
    !("uuid" in value) &&
    !("parentId" in value)
  );
}

async function describeChat(found: FoundSession): Promise<SessionInfo> {
  const ends = await readEnds(found.path, GEMINI_HEAD_BYTES, GEMINI_TAIL_BYTES);
  const cwd = await projectFolder(found.path);
  return {
    agent: "gemini",
    id: found.id,
    path: found.path,
    bytes: found.bytes,
    modifiedAt: found.modifiedAt,
    ...(found.parentId === undefined ? {} : { parentId: found.parentId }),
    ...(cwd === undefined ? {} : { cwd }),
    ...headFacts(ends.head, ends.head.length === ends.bytes),
    ...tailFacts(ends.tail.length > 0 ? ends.tail : ends.head),
  };
}

function headFacts(head: Uint8Array, isWhole: boolean): Partial<SessionInfo> {
  const text = new TextDecoder().decode(head).replace(/^\uFEFF/, "");
  const facts: { startedAt?: number; title?: string } = {};
  const startedAt = timeOf(/"startTime"\s*:\s*"([^"]{1,40})"/.exec(text.slice(0, 4096))?.[1]);
  if (startedAt !== undefined) facts.startedAt = startedAt;
  for (const value of /^\s*\{\s*\n/.test(text) ? documentMessages(text) : lineValues(head, isWhole)) {
    const { entries, isPrompt } = readMessage(value);
    const [first] = entries;
    if (!isPrompt || first?.kind !== "delivered") continue;
    const title = titleFromPrompt(first.body);
    if (title === undefined) continue;
    facts.title = title;
    break;
  }
  return facts;
}

function* lineValues(head: Uint8Array, isWhole: boolean): Iterable<unknown> {
  for (const line of textLines(head, isWhole)) {
    const value = parseLine(line.replace(/^\uFEFF/, ""));
    if (!value) continue;
    const set = objectOf(value["$set"]) ?? value;
    if (Array.isArray(set["messages"])) yield* set["messages"];
    else yield value;
  }
}

/** The whole messages of a pretty-printed document's head: elements as the agent indents them. */
function* documentMessages(text: string): Iterable<unknown> {
  for (const match of text.matchAll(/\n {4}(\{\n[\s\S]*?\n {4}\})/g)) {
    const value = parseLine(match[1] ?? "");
    if (value) yield value;
  }
}

/** The newest model and summary that the end of the file tells. */
function tailFacts(tail: Uint8Array): Partial<SessionInfo> {
  const text = new TextDecoder().decode(tail);
  const model = lastMatch(text, /"model"\s*:\s*"([^"\\]{1,100})"/g);
  // As a member of the document (two spaces deep), of a header line or of a `$set`; not of anything within a message.
  const summary = lastMatch(
    text,
    /(?:\n {2}|"\$set":\{[^{}\n]{0,4000}|\{"sessionId"[^{}\n]{0,4000})"summary"\s*:\s*("(?:[^"\\\n]|\\.){1,2000}")/g,
  );
  const title = summary === undefined ? undefined : wordOf(parseText(summary));
  return { ...(model ? { model } : {}), ...(title ? { title, titled: true } : {}) };
}

function lastMatch(text: string, pattern: RegExp): string | undefined {
  let found: string | undefined;
  for (const match of text.matchAll(pattern)) found = match[1];
  return found;
}

function parseText(json: string): unknown {
  return parseLine(`{"text":${json}}`)?.["text"];
}

/**
 * The folder a project's name stands for: as a file in the project's own folder says, else by the map of projects, where the name is a
 * short one or the hash of the path.
 */
async function projectFolder(path: string): Promise<string | undefined> {
  const project = projectOf(path);
  if (project === undefined) return undefined;
  const own = await readText(join(project, ".project_root"), 4096);
  if (own !== undefined && own.trim() !== "") return own.trim();
  const map = await readText(join(dirname(dirname(project)), "projects.json"), PROJECTS_BYTES_MAX);
  const projects = map === undefined ? undefined : objectOf(parseLine(map)?.["projects"]);
  const name = basename(project);
  for (const [folder, short] of Object.entries(projects ?? {}))
    if (short === name || createHash("sha256").update(folder).digest("hex") === name) return folder;
  return undefined;
}

/** `…/tmp/<project>` of a chat's path. */
function projectOf(path: string): string | undefined {
  for (let folder = dirname(path), up = 0; up < 2; up++, folder = dirname(folder))
    if (basename(folder) === "chats") return dirname(folder);
  return undefined;
}

async function readText(path: string, bytesMax: number): Promise<string | undefined> {
  try {
    const { head } = await readEnds(path, bytesMax, 0);
    return new TextDecoder().decode(head);
  } catch (error) {
    // Not there, or not for us: the chat's folder stays unknown.
    if (isFileError(error)) return undefined;
    throw error;
  }
}

async function openChat(path: string): Promise<Log> {
  const { bytes } = await readEnds(path, 0, 0);
  const info = await describeChat({ agent: "gemini", id: idOf(path), path, bytes, modifiedAt: 0 });
  const { modifiedAt: _, ...known } = info;
  const { openGeminiLog } = await import("./log.ts");
  return openGeminiLog({ path, info: known });
}
