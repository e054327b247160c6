/** Our own sessions: where they are, how one is told from other files, what its ends say of it, how it is opened. */
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isSessionId } from "../../log/paths.ts";
import type { Classified } from "../classifier.ts";
import { type FileEnds, parseLine, readEnds, textLines, textLinesBackward } from "../ends.ts";
import { countOf, type Fields, objectOf, stringOf } from "../fields.ts";
import { fileStateAt, isFileError } from "../file-errors.ts";
import { titleFromPrompt } from "../prompt-title.ts";
import type { FoundSession, Log, SessionInfo, Source, Surroundings } from "../types.ts";
import { listFolder } from "../walk.ts";
import { hansardClassifier, settingInfo } from "./classifier.ts";
import { hansardPlaces } from "./places.ts";

const LOG_NAME = "log.jsonl";
export const HANSARD_HEAD_BYTES = 32 * 1024;
/** A snapshot, which names the settings, is due every 64 KiB of log. */
export const HANSARD_TAIL_BYTES = 96 * 1024;
/** Read once more, where a long record lies behind the newest snapshot. */
export const HANSARD_LONG_TAIL_BYTES = 4 * 1024 * 1024;

export const hansardSource: Source = {
  ...hansardPlaces,
  discover,
  detects: async (_path, head) => isOurs(head),
  describe,
  open: openHansard,
};

async function* discover(
  around: Surroundings,
  onProblem: (path: string, message: string) => void,
): AsyncIterable<FoundSession> {
  for (const root of hansardPlaces.roots(around)) {
    for (const folder of await listFolder(root, onProblem)) {
      if (!folder.isDirectory() || !isSessionId(folder.name)) continue;
      const path = join(root, folder.name, LOG_NAME);
      try {
        const stats = statSync(path, { throwIfNoEntry: false });
        if (stats?.isFile())
          yield { agent: "hansard", id: folder.name, path, bytes: stats.size, modifiedAt: stats.mtimeMs };
      } catch (error) {
        if (!isFileError(error)) throw error;
        onProblem(path, error.message);
      }
    }
  }
}

/** True where one of the first lines is a record of ours. A damaged first line is looked past. */
function isOurs(head: Uint8Array): boolean {
  let seen = 0;
  for (const line of textLines(head, true)) {
    if (isRecordLine(line)) return true;
    if (++seen >= 8) break;
  }
  // The first record may be longer than what was read: its start tells.
  const start = new TextDecoder().decode(head.subarray(0, 400));
  return /^\{"v":\d{1,9},"seq":\d+,"ts":\d+,(?:"synced":\d+,)?"kind":"/.test(start);
}

function isRecordLine(line: string): boolean {
  if (!line.startsWith('{"v":') || !/,"crc":"[0-9a-f]{8}"\}$/.test(line)) return false;
  const value = parseLine(line);
  return countOf(value?.["seq"]) !== undefined && stringOf(value?.["kind"]) !== undefined;
}

async function describe(found: FoundSession): Promise<SessionInfo> {
  let ends = await readEnds(found.path, HANSARD_HEAD_BYTES, HANSARD_TAIL_BYTES);
  let settings = settingsOf(ends);
  if (!settings.isWhole && ends.bytes > ends.head.length + ends.tail.length) {
    ends = await readEnds(found.path, HANSARD_HEAD_BYTES, HANSARD_LONG_TAIL_BYTES);
    settings = settingsOf(ends);
  }
  return {
    agent: "hansard",
    id: found.id,
    path: found.path,
    bytes: found.bytes,
    modifiedAt: found.modifiedAt,
    ...headFacts(ends.head, ends.head.length === ends.bytes),
    ...settingInfo(settings.values),
  };
}

function saidBy(value: Fields): Classified {
  return hansardClassifier.classify({ type: "record", start: 0, end: 0, value });
}

/** What the session record says, and the first prompt as a title. */
function headFacts(head: Uint8Array, isWhole: boolean): Partial<SessionInfo> {
  let info: Partial<SessionInfo> = {};
  for (const line of textLines(head, isWhole)) {
    const isPrompt = line.includes('"role":"user"');
    if (!isPrompt && !line.includes('"kind":"session"')) continue;
    const value = parseLine(line);
    if (value === undefined) continue;
    const said = saidBy(value);
    if (value["kind"] === "session") info = { ...said.info, ...info };
    const prompt = said.entries.find((entry) => entry.kind === "delivered" && entry.sender === "user");
    const title = prompt?.kind === "delivered" ? titleFromPrompt(prompt.body) : undefined;
    if (title !== undefined) return { ...info, title };
  }
  return info;
}

/** The settings at the log's end: the newest value of each key, back to the newest snapshot, which holds all that were set before it. */
function settingsOf(ends: FileEnds): { readonly values: Fields; readonly isWhole: boolean } {
  const values = new Map<string, unknown>();
  for (const line of textLinesBackward(ends.tail.length === 0 ? ends.head : ends.tail)) {
    const isSnapshot = line.includes('"kind":"snapshot"');
    if (!isSnapshot && !line.includes('"kind":"set"')) continue;
    const value = parseLine(line);
    const told =
      value?.["kind"] === "snapshot"
        ? (objectOf(value["settings"]) ?? {})
        : value?.["kind"] === "set"
          ? { [String(value["key"])]: value["value"] }
          : {};
    for (const [key, setting] of Object.entries(told)) if (!values.has(key)) values.set(key, setting);
    if (value?.["kind"] === "snapshot") return { values: Object.fromEntries(values), isWhole: true };
  }
  return { values: Object.fromEntries(values), isWhole: false };
}

async function openHansard(path: string): Promise<Log> {
  const { openHansardLog } = await import("./open.ts");
  return openHansardLog(path, async () => {
    const state = await fileStateAt(path);
    return describe({
      agent: "hansard",
      id: basename(dirname(path)),
      path,
      bytes: state?.size ?? 0,
      modifiedAt: state === undefined ? 0 : Number(state.modified / 1_000_000n),
    });
  });
}
