/** Claude Code: where its transcripts are, how one is told from other files, what its ends say of it, how it is opened. */
import { basename, dirname, sep } from "node:path";
import type { Classified } from "../classifier.ts";
import { parseLine, readEnds, textLines, textLinesBackward } from "../ends.ts";
import { type Fields, objectOf, stringOf, timeOf, wordOf } from "../fields.ts";
import { fileStateAt } from "../file-errors.ts";
import { titleFromPrompt } from "../prompt-title.ts";
import type { FoundSession, Log, SessionInfo, Source, Surroundings } from "../types.ts";
import { walkFiles } from "../walk.ts";
import { createClaudeClassifier } from "./classifier.ts";
import { claudeCodePlaces } from "./places.ts";

/** `projects/<folder>/<session>/subagents/workflows/<id>`. */
const DEPTH_MAX = 5;
export const CLAUDE_HEAD_BYTES = 16 * 1024;
export const CLAUDE_TAIL_BYTES = 16 * 1024;
/** Read further, step by step, where the first prompt lies behind long attachments. */
export const CLAUDE_LONG_HEADS_BYTES = [96 * 1024, 1024 * 1024] as const;

const classifier = createClaudeClassifier(false);
const subagentClassifier = createClaudeClassifier(true);

export const claudeCodeSource: Source = {
  ...claudeCodePlaces,
  discover,
  detects: async (_path, head) => isClaude(head),
  describe,
  open: openClaude,
};

async function* discover(
  around: Surroundings,
  onProblem: (path: string, message: string) => void,
): AsyncIterable<FoundSession> {
  for (const root of claudeCodePlaces.roots(around)) {
    for await (const file of walkFiles(root, DEPTH_MAX, isTranscriptName, onProblem)) {
      const parentId = parentOf(file.path);
      // Deeper files that are no subagent's are other things.
      const isTop = dirname(dirname(file.path)) === root;
      if (!isTop && parentId === undefined) continue;
      yield {
        agent: "claude-code",
        id: idOf(file.path),
        path: file.path,
        bytes: file.bytes,
        modifiedAt: file.modifiedAt,
        ...(parentId === undefined ? {} : { parentId }),
      };
    }
  }
}

function isTranscriptName(name: string): boolean {
  return name.endsWith(".jsonl") && name !== "journal.jsonl";
}

function idOf(path: string): string {
  return basename(path).replace(/\.jsonl$/, "");
}

function isSubagentFile(path: string): boolean {
  return basename(path).startsWith("agent-");
}

/** The session that a subagent's file belongs to: named by its folder; in older layouts only by its records. */
function parentOf(path: string): string | undefined {
  if (!isSubagentFile(path)) return undefined;
  const parts = path.split(sep);
  const at = parts.lastIndexOf("subagents");
  return at > 0 ? parts[at - 1] : "";
}

const chainTypes: ReadonlySet<string | undefined> = new Set([
  "user",
  "assistant",
  "system",
  "attachment",
  "progress",
]);
const sideTypes =
  /^(?:agent-name|ai-title|bridge-session|custom-title|file-history-snapshot|last-prompt|mode|permission-mode|queue-operation|summary)$/;

function isClaudeRecord(value: Fields): boolean {
  const type = stringOf(value["type"]);
  if (type === undefined) return false;
  if (chainTypes.has(type)) {
    if (wordOf(value["sessionId"]) !== undefined && "parentUuid" in value) return true;
    return wordOf(value["uuid"]) !== undefined && "isSidechain" in value;
  }
  if (!sideTypes.test(type)) return false;
  return (
    wordOf(value["sessionId"]) !== undefined ||
    "leafUuid" in value ||
    objectOf(value["snapshot"]) !== undefined
  );
}

function isClaude(head: Uint8Array): boolean {
  let seen = 0;
  for (const line of textLines(head, true)) {
    if (line.trim() === "") continue;
    const value = parseLine(line.replace(/^\uFEFF/, "").trim());
    if (value !== undefined && isClaudeRecord(value)) return true;
    if (++seen >= 16) break;
  }
  // The first record may be longer than what was read, or stand glued to another: its start tells.
  const start = new TextDecoder().decode(head.subarray(0, 2000)).replace(/^\uFEFF/, "");
  return /^\s*\{/.test(start) && /"(?:parentUuid|leafUuid|isSidechain)"\s*:/.test(start);
}

async function describe(found: FoundSession): Promise<SessionInfo> {
  let ends = await readEnds(found.path, CLAUDE_HEAD_BYTES, CLAUDE_TAIL_BYTES);
  let head = factsOf(ends.head, ends.head.length === ends.bytes, "head");
  for (const headBytes of CLAUDE_LONG_HEADS_BYTES) {
    if (head.prompt !== undefined || ends.bytes <= ends.head.length) break;
    ends = await readEnds(found.path, headBytes, CLAUDE_TAIL_BYTES);
    head = factsOf(ends.head, ends.head.length === ends.bytes, "head");
  }
  const tail = ends.tail.length === 0 ? undefined : factsOf(ends.tail, true, "tail");
  const named = tail?.custom ?? head.custom ?? tail?.agent ?? head.agent ?? tail?.ai ?? head.ai;
  const title = named ?? tail?.summary ?? head.summary ?? head.prompt ?? tail?.prompt;
  const { cwd, gitBranch, agentVersion, model } = { ...head.info, ...tail?.info };
  const parentId = found.parentId === "" || found.parentId === undefined ? head.sessionId : found.parentId;
  return {
    agent: "claude-code",
    id: found.id,
    path: found.path,
    bytes: found.bytes,
    modifiedAt: found.modifiedAt,
    ...(isSubagentFile(found.path) && parentId !== undefined ? { parentId } : {}),
    ...(head.startedAt === undefined ? {} : { startedAt: head.startedAt }),
    ...(title === undefined ? {} : { title }),
    ...(named === undefined ? {} : { titled: true }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(gitBranch === undefined ? {} : { gitBranch }),
    ...(agentVersion === undefined ? {} : { agentVersion }),
    ...(model === undefined ? {} : { model }),
  };
}

interface Facts {
  info: Partial<SessionInfo>;
  startedAt?: number;
  sessionId?: string;
  prompt?: string;
  custom?: string;
  agent?: string;
  ai?: string;
  summary?: string;
}

/** Rows that are parsed for the place, the version and the model. */
const INFO_ROWS_MAX = 12;
/** Units of a row that gives a name: longer ones are of the conversation. */
const NAME_ROW_UNITS_MAX = 4096;
const nameKeys = ['"customTitle"', '"agentName"', '"aiTitle"', '"summary"'] as const;
/** What one of them is found by three times as fast: it begins with no quote, of which JSON is full. */
const nameEnds = ['Title"', 'agentName"', 'mmary"'].map((end) => Buffer.from(end));

/** What one end of a transcript says; of names the last one counts, of prompts the first. Rows that say none of it are not parsed. */
function factsOf(bytes: Uint8Array, isWhole: boolean, end: "head" | "tail"): Facts {
  const facts: Facts = { info: {} };
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hasNames = nameEnds.some((end) => all.includes(end));
  const rows = (): Iterable<string> => textLines(bytes, isWhole);
  const summaries: { readonly text: string; readonly leaf: string | undefined }[] = [];
  for (const row of rows()) {
    const isNamed = hasNames && row.length <= NAME_ROW_UNITS_MAX && nameKeys.some((key) => row.includes(key));
    const isFirst = facts.startedAt === undefined || facts.sessionId === undefined;
    const mayPrompt = end === "head" && facts.prompt === undefined && row.includes('"user"');
    // Where the bytes hold no name, nothing further can be said once the prompt is known.
    if (!hasNames && (end === "tail" || (facts.prompt !== undefined && !isFirst))) break;
    if (!isNamed && !mayPrompt && !(end === "head" && isFirst)) continue;
    const value = parseLine(row.replace(/^\uFEFF/, "").trim());
    if (value === undefined) continue;
    if (isNamed) {
      addName(facts, value);
      const text = wordOf(value["summary"]);
      if (value["type"] === "summary" && text !== undefined)
        summaries.push({ text, leaf: wordOf(value["leafUuid"]) });
    }
    addStart(facts, value);
    if (mayPrompt) addPrompt(facts, value);
  }
  facts.info = infoOf(end === "tail" || isWhole ? textLinesBackward(bytes) : rows());
  // A summary of another session's leaf is that session's title.
  const own = summaries.findLast(({ leaf }) => leaf !== undefined && all.includes(`"uuid":"${leaf}"`));
  if (own !== undefined) facts.summary = own.text;
  return facts;
}

function addName(facts: Facts, value: Fields): void {
  const custom = wordOf(value["customTitle"]);
  const agent = value["type"] === "agent-name" ? wordOf(value["agentName"]) : undefined;
  const ai = wordOf(value["aiTitle"]);
  if (custom !== undefined) facts.custom = custom;
  if (agent !== undefined) facts.agent = agent;
  if (ai !== undefined) facts.ai = ai;
}

function addStart(facts: Facts, value: Fields): void {
  const sessionId = wordOf(value["sessionId"]);
  const startedAt = timeOf(value["timestamp"]);
  if (facts.sessionId === undefined && sessionId !== undefined) facts.sessionId = sessionId;
  if (facts.startedAt === undefined && startedAt !== undefined) facts.startedAt = startedAt;
}

function saidBy(value: Fields): Classified {
  const reader = value["isSidechain"] === true ? subagentClassifier : classifier;
  return reader.classify({ type: "record", start: 0, end: 0, value });
}

function addPrompt(facts: Facts, value: Fields): void {
  if (!chainTypes.has(stringOf(value["type"]))) return;
  const prompt = saidBy(value).entries.find((draft) => draft.kind === "delivered" && draft.sender === "user");
  const title = prompt?.kind === "delivered" ? titleFromPrompt(prompt.body) : undefined;
  if (title !== undefined) facts.prompt = title;
}

/** Place, branch, version and model as the first of `rows` says them; those that say nothing of it are not parsed. */
function infoOf(rows: Iterable<string>): Partial<SessionInfo> {
  let info: Partial<SessionInfo> = {};
  let parsed = 0;
  for (const row of rows) {
    if (parsed >= INFO_ROWS_MAX || (info.cwd !== undefined && info.model !== undefined)) break;
    if (!(info.cwd === undefined ? row.includes('"cwd"') : row.includes('"model"'))) continue;
    parsed += 1;
    const value = parseLine(row.replace(/^\uFEFF/, "").trim());
    if (value === undefined || !chainTypes.has(stringOf(value["type"]))) continue;
    info = { ...saidBy(value).info, ...info };
  }
  return info;
}

async function openClaude(path: string): Promise<Log> {
  const { openJsonlFile } = await import("../jsonl-log.ts");
  return openJsonlFile({
    agent: "claude-code",
    path,
    classifier: createClaudeClassifier(isSubagentFile(path)),
    async describe() {
      const state = await fileStateAt(path);
      const parentId = parentOf(path);
      return describe({
        agent: "claude-code",
        id: idOf(path),
        path,
        bytes: state?.size ?? 0,
        modifiedAt: state === undefined ? 0 : Number(state.modified / 1_000_000n),
        ...(parentId === undefined ? {} : { parentId }),
      });
    },
  });
}
