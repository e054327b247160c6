/** Codex: where its rollouts are, how one is told from other files, what its ends say of it, how it is opened. */
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { parseLine, readEnds, textLines } from "../ends.ts";
import { type Fields, objectOf, stringOf, timeOf, wordOf } from "../fields.ts";
import { fileStateAt, isFileError } from "../file-errors.ts";
import { titleFromPrompt } from "../prompt-title.ts";
import type { FoundSession, Log, SessionInfo, Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { isZstd, zstdHead } from "../zstd/zstd.ts";
import { codexClassifier, contextInfo, metaInfo } from "./classifier.ts";
import { codexPlaces } from "./places.ts";

/** `sessions/YYYY/MM/DD`. */
const DEPTH_MAX = 4;
/** Bytes of the head read for describing: enough for the base instructions, the injected context and the first prompt. */
export const CODEX_HEAD_BYTES = 128 * 1024;
/** Bytes of an archive's head: one packed block (128 KiB) fits in it, with the header before it. */
const ARCHIVE_HEAD_BYTES = 160 * 1024;
/** Read once more, where the first prompt lies behind longer instructions. */
const CODEX_LONG_HEAD_BYTES = 1024 * 1024;
const CODEX_TAIL_BYTES = 64 * 1024;
/** Bytes of the names index that are read, from its end: the last name of a thread wins. */
export const CODEX_INDEX_BYTES_MAX = 4 * 1024 * 1024;

const NAME = /^rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-(.+?)\.jsonl(\.zst)?$/;

export const codexSource: Source = {
  ...codexPlaces,
  discover,
  detects: async (path, head) => isCodex(isZstd(head) ? await unpackedHead(path, head) : head),
  describe,
  open: openCodex,
};

async function* discover(
  around: Surroundings,
  onProblem: (path: string, message: string) => void,
): AsyncIterable<FoundSession> {
  for (const [at, root] of codexPlaces.roots(around).entries()) {
    let folder = "";
    let plain = new Set<string>();
    const archives: FoundSession[] = [];
    for await (const file of walkFiles(root, DEPTH_MAX, (name) => NAME.test(name), onProblem)) {
      if (dirname(file.path) !== folder) {
        yield* unshadowed(archives.splice(0), plain);
        folder = dirname(file.path);
        plain = new Set();
      }
      const found: FoundSession = {
        agent: "codex",
        id: idOf(file.path),
        path: file.path,
        bytes: file.bytes,
        modifiedAt: file.modifiedAt,
        ...(at === 1 ? { archived: true } : {}),
      };
      if (file.name.endsWith(".zst")) archives.push(found);
      else {
        plain.add(file.path);
        yield found;
      }
    }
    yield* unshadowed(archives, plain);
  }
}

/** The archives whose plain sibling is not there: a plain file wins over its archive. */
function unshadowed(archives: readonly FoundSession[], plain: ReadonlySet<string>): readonly FoundSession[] {
  return archives.filter((found) => !plain.has(found.path.slice(0, -".zst".length)));
}

/** The thread's id from the name of its file; the name without its endings where it has another shape. */
function idOf(path: string): string {
  const name = basename(path);
  return NAME.exec(name)?.[2] ?? name.replace(/\.jsonl(\.zst)?$/, "");
}

/** The first bytes an archive holds. Its first block may be longer than the head that was read. */
async function unpackedHead(path: string, head: Uint8Array): Promise<Uint8Array> {
  const decoded = await zstdHead(head, CODEX_HEAD_BYTES);
  if (decoded.length > 0 || head.length >= ARCHIVE_HEAD_BYTES) return decoded;
  const ends = await readEnds(path, ARCHIVE_HEAD_BYTES, 0);
  return zstdHead(ends.head, CODEX_HEAD_BYTES);
}

const WRAPPED_TYPES = /"type"\s*:\s*"(session_meta|turn_context|response_item|event_msg|compacted)"/;

/** True where the first lines are a rollout's: wrapped records, or the bare ones of the oldest files. */
function isCodex(head: Uint8Array): boolean {
  let seen = 0;
  for (const line of textLines(head, false)) {
    if (line.trim() === "") continue;
    const value = parseLine(line.replace(/^\uFEFF/, ""));
    if (value && isCodexRecord(value)) return true;
    if (++seen >= 8) return false;
  }
  // The first record may be longer than what was read: its start tells.
  const start = new TextDecoder().decode(head.subarray(0, 400));
  return (
    seen === 0 && /^\uFEFF?\s*\{/.test(start) && WRAPPED_TYPES.test(start) && start.includes('"payload"')
  );
}

function isCodexRecord(value: Fields): boolean {
  const type = stringOf(value["type"]);
  if (objectOf(value["payload"]))
    return (
      type !== undefined &&
      /^(session_meta|turn_context|response_item|event_msg|compacted|world_state)$/.test(type)
    );
  if (value["record_type"] === "state") return true;
  if (type !== undefined || wordOf(value["id"]) === undefined) return false;
  return timeOf(value["timestamp"]) !== undefined && ("instructions" in value || "git" in value);
}

async function describe(found: FoundSession): Promise<SessionInfo> {
  const facts = found.path.endsWith(".zst") ? await archiveFacts(found.path) : await plainFacts(found.path);
  const named = await threadName(found);
  return {
    agent: "codex",
    id: found.id,
    path: found.path,
    bytes: found.bytes,
    modifiedAt: found.modifiedAt,
    ...(found.archived ? { archived: true } : {}),
    ...facts,
    ...(named ? { title: named, titled: true } : {}),
  };
}

async function plainFacts(path: string): Promise<Partial<SessionInfo>> {
  let ends = await readEnds(path, CODEX_HEAD_BYTES, CODEX_TAIL_BYTES);
  let head = headFacts(ends.head, ends.head.length === ends.bytes);
  if (head.title === undefined && ends.bytes > ends.head.length) {
    ends = await readEnds(path, CODEX_LONG_HEAD_BYTES, CODEX_TAIL_BYTES);
    head = headFacts(ends.head, ends.head.length === ends.bytes);
  }
  return { ...head, ...tailFacts(ends.tail) };
}

async function archiveFacts(path: string): Promise<Partial<SessionInfo>> {
  const ends = await readEnds(path, ARCHIVE_HEAD_BYTES, 0);
  return headFacts(await zstdHead(ends.head, CODEX_LONG_HEAD_BYTES), false);
}

/** Start, place, version from the first record; the first turn's model; the first prompt as a title. */
function headFacts(head: Uint8Array, isWhole: boolean): Partial<SessionInfo> {
  let info: Partial<SessionInfo> = {};
  let isFirst = true;
  for (const line of textLines(head, isWhole)) {
    const isWanted =
      isFirst ||
      line.includes('"turn_context"') ||
      line.includes('"user"') ||
      line.includes('"user_message"');
    if (!isWanted) continue;
    const value = parseLine(line.replace(/^\uFEFF/, ""));
    if (!value) continue;
    if (isFirst) info = { ...metaInfo(objectOf(value["payload"]) ?? value) };
    isFirst = false;
    const payload = objectOf(value["payload"]);
    if (value["type"] === "turn_context" && payload) info = { ...info, ...contextInfo(payload) };
    const said = codexClassifier.classify({ type: "record", start: 1, end: 1, value });
    const prompt = said.entries.find((e) => e.kind === "delivered" && e.sender === "user");
    const title = prompt?.kind === "delivered" ? titleFromPrompt(prompt.body) : undefined;
    if (title !== undefined) return { ...info, title };
  }
  return info;
}

/** The last turn's place and model, and a name given within the rollout. */
function tailFacts(tail: Uint8Array): Partial<SessionInfo> {
  let info: Partial<SessionInfo> = {};
  for (const line of textLines(tail, true)) {
    if (!line.includes('"turn_context"') && !line.includes('"thread_name_updated"')) continue;
    const value = parseLine(line);
    if (value)
      info = { ...info, ...codexClassifier.classify({ type: "record", start: 1, end: 1, value }).info };
  }
  return info;
}

async function openCodex(asked: string): Promise<Log> {
  const { openRollout } = await import("./open.ts");
  return openRollout(asked, async (path) => {
    const state = await fileStateAt(path);
    const modifiedAt = state === undefined ? 0 : Number(state.modified / 1_000_000n);
    const isArchived = basename(dirname(path)) === "archived_sessions";
    return describe({
      agent: "codex",
      id: idOf(path),
      path,
      bytes: state?.size ?? 0,
      modifiedAt,
      ...(isArchived ? { archived: true } : {}),
    });
  });
}

interface NameIndex {
  readonly modifiedAt: number;
  readonly bytes: number;
  readonly names: ReadonlyMap<string, string>;
}

/** The index of each home, as last read; read again when its size or time changes. */
const nameIndexes = new Map<string, NameIndex>();
/** Homes whose index is remembered. */
const NAME_INDEXES_MAX = 8;

async function threadName(found: FoundSession): Promise<string | undefined> {
  const home = homeOf(found.path);
  if (home === undefined) return undefined;
  return (await readNames(join(home, "session_index.jsonl")))?.get(found.id);
}

/** The folder that holds `sessions` or `archived_sessions`, from a rollout's path. */
function homeOf(path: string): string | undefined {
  let folder = dirname(path);
  for (let up = 0; up <= DEPTH_MAX; up++) {
    if (/^(archived_)?sessions$/.test(basename(folder))) return dirname(folder);
    folder = dirname(folder);
  }
  return undefined;
}

async function readNames(path: string): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    const known = nameIndexes.get(path);
    if (known && known.bytes === size && known.modifiedAt === mtimeMs) return known.names;
    const { tail } = await readEnds(path, 0, CODEX_INDEX_BYTES_MAX);
    const names = new Map<string, string>();
    for (const line of textLines(tail, true)) {
      const row = parseLine(line);
      const id = wordOf(row?.["id"]);
      const name = wordOf(row?.["thread_name"]);
      if (id && name) names.set(id, name);
    }
    if (nameIndexes.size >= NAME_INDEXES_MAX) nameIndexes.clear();
    nameIndexes.set(path, { modifiedAt: mtimeMs, bytes: size, names });
    return names;
  } catch (error) {
    // No index, or none we may read: titles come from the rollouts then.
    if (isFileError(error)) return undefined;
    throw error;
  }
}
