/** All sources together: finding, telling and opening the sessions of any agent. */
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { aiderPlaces } from "./aider/places.ts";
import { ampPlaces } from "./amp/places.ts";
import { archiveFolder, MANIFEST_NAME } from "./archive/format.ts";
import { claudeCodePlaces } from "./claude-code/places.ts";
import { clinePlaces } from "./cline/places.ts";
import { clioCoderPlaces } from "./clio-coder/places.ts";
import { codexPlaces } from "./codex/places.ts";
import { copilotPlaces } from "./copilot/places.ts";
import { crushPlaces } from "./crush/places.ts";
import { cursorPlaces } from "./cursor/places.ts";
import { droidPlaces } from "./droid/places.ts";
import { readEnds } from "./ends.ts";
import { asSourceError, SourceError } from "./errors.ts";
import { isFileError } from "./file-errors.ts";
import { fxPlaces } from "./fx/places.ts";
import { geminiPlaces } from "./gemini/places.ts";
import { goosePlaces } from "./goose/places.ts";
import { hansardPlaces } from "./hansard/places.ts";
import { kimiPlaces } from "./kimi/places.ts";
import { lazySource } from "./lazy.ts";
import { messagesPlaces } from "./messages/places.ts";
import { openCodePlaces } from "./opencode/places.ts";
import { guessFormat } from "./other-formats.ts";
import { piPlaces } from "./pi/places.ts";
import { qwenPlaces } from "./qwen/places.ts";
import { isDatabase, splitSessionPath } from "./sqlite/session-path.ts";
import type { FoundSession, Log, Pieces, SessionInfo, Source, Surroundings } from "./types.ts";

/** Bytes from the start of a file that detection looks at. */
export const DETECT_BYTES: number = 64 * 1024;

const codexSource = lazySource(codexPlaces, async () => (await import("./codex/source.ts")).codexSource);
const messagesSource = lazySource(
  messagesPlaces,
  async () => (await import("./messages/source.ts")).messagesSource,
);

/** The readers, in the order in which they are asked whether a file is theirs. Each is loaded when it is first needed. */
export const sources: readonly Source[] = [
  // First: its records have a checksum, which no other log has, and fields that some others share.
  lazySource(hansardPlaces, async () => (await import("./hansard/source.ts")).hansardSource),
  lazySource(claudeCodePlaces, async () => (await import("./claude-code/source.ts")).claudeCodeSource),
  codexSource,
  lazySource(geminiPlaces, async () => (await import("./gemini/source.ts")).geminiSource),
  lazySource(copilotPlaces, async () => (await import("./copilot/source.ts")).copilotSource),
  lazySource(qwenPlaces, async () => (await import("./qwen/source.ts")).qwenSource),
  lazySource(droidPlaces, async () => (await import("./droid/source.ts")).droidSource),
  lazySource(ampPlaces, async () => (await import("./amp/source.ts")).ampSource),
  lazySource(clinePlaces, async () => (await import("./cline/source.ts")).clineSource),
  lazySource(kimiPlaces, async () => (await import("./kimi/source.ts")).kimiSource),
  lazySource(aiderPlaces, async () => (await import("./aider/source.ts")).aiderSource),
  lazySource(fxPlaces, async () => (await import("./fx/source.ts")).fxSource),
  lazySource(clioCoderPlaces, async () => (await import("./clio-coder/source.ts")).clioCoderSource),
  lazySource(openCodePlaces, async () => (await import("./opencode/source.ts")).openCodeSource),
  lazySource(goosePlaces, async () => (await import("./goose/source.ts")).gooseSource),
  lazySource(crushPlaces, async () => (await import("./crush/source.ts")).crushSource),
  lazySource(cursorPlaces, async () => (await import("./cursor/source.ts")).cursorSource),
  lazySource(piPlaces, async () => (await import("./pi/source.ts")).piSource),
  messagesSource,
];

export interface DiscoverOptions {
  /** Only sessions of this agent. */
  readonly agent?: string;
  /** Told of folders and files that could not be read; they are left out. */
  readonly onProblem?: (path: string, message: string) => void;
}

function sourcesOf(agent: string | undefined): readonly Source[] {
  if (agent === undefined) return sources;
  const wanted = sources.filter((source) => source.agent === agent);
  if (wanted.length > 0) return wanted;
  throw new SourceError("unknown-agent", `No reader is called ${agent}.`, {
    next: `Known are ${sources.map((source) => source.agent).join(", ")}.`,
  });
}

/** All sessions found, by names and stat alone, in no order; each path once. Throws `unknown-agent` for a name that no source has. */
export async function* discoverAll(
  around: Surroundings,
  options: DiscoverOptions = {},
): AsyncGenerator<FoundSession> {
  const seen = new Set<string>();
  for (const source of sourcesOf(options.agent)) {
    for await (const found of source.discover(around, options.onProblem ?? (() => undefined))) {
      if (seen.has(found.path)) continue;
      seen.add(found.path);
      // Finer than a millisecond is the file system's own matter.
      yield { ...found, modifiedAt: Math.floor(found.modifiedAt) };
    }
  }
  yield* archivedOf(around, options, seen);
}

/** The archived sessions whose originals were not found. */
async function* archivedOf(
  around: Surroundings,
  options: DiscoverOptions,
  seen: ReadonlySet<string>,
): AsyncGenerator<FoundSession> {
  if (!(await isFolder(archiveFolder(around)))) return;
  const { discoverArchived } = await import("./archive/index.ts");
  for await (const { found, original } of discoverArchived(around, options.onProblem ?? (() => undefined)))
    if (!seen.has(original) && (options.agent === undefined || found.agent === options.agent)) yield found;
}

function isArchive(path: string): boolean {
  return basename(path) === MANIFEST_NAME;
}

/** The reader of the agent whose session was archived, which opens it out of its archive. */
async function archivedSource(path: string): Promise<Source> {
  const { describeArchived, openArchived } = await import("./archive/index.ts");
  const { agent } = await describeArchived(path);
  const sourceOf = (name: string): Source | undefined => sources.find((each) => each.agent === name);
  const source = sourceOf(agent);
  if (source === undefined) throw new SourceError("unknown-agent", `No reader is called ${agent}.`);
  return { ...source, describe: () => describeArchived(path), open: () => openArchived(path, sourceOf) };
}

/** The reader of a JSON export: under its session's own agent. */
async function exportSource(path: string): Promise<Source> {
  const { openExport } = await import("./export-file/log.ts");
  const open = (): Promise<Log> =>
    openExport(
      path,
      sources.map(({ agent }) => agent),
    );
  const log = await open();
  try {
    const source = sources.find(({ agent }) => agent === log.agent);
    if (source === undefined) throw new SourceError("unknown-agent", `No reader is called ${log.agent}.`);
    const info = await log.info();
    return { ...source, describe: async () => info, open };
  } finally {
    await log.close();
  }
}

/** The folders that are looked in, by reader. */
export function sourceRoots(
  around: Surroundings,
  agent?: string,
): readonly { readonly label: string; readonly roots: readonly string[] }[] {
  return sourcesOf(agent).map((source) => ({ label: source.label, roots: source.roots(around) }));
}

/** Title, cwd, model and times of a found session, from the ends of its log. Throws a SourceError where it cannot be read. */
export async function describeSession(found: FoundSession): Promise<SessionInfo> {
  const source = sources.find((candidate) => candidate.agent === found.agent);
  if (source === undefined) throw new SourceError("unknown-agent", `No reader is called ${found.agent}.`);
  try {
    if (isArchive(found.path)) return await (await import("./archive/index.ts")).describeArchived(found.path);
    return await source.describe(found);
  } catch (error) {
    throw asSourceError(error);
  }
}

/** What an archive keeps of a found session; undefined where that is the file or folder at its path. */
export async function piecesOf(found: FoundSession): Promise<Pieces | undefined> {
  return sources.find((source) => source.agent === found.agent)?.pieces?.(found.path);
}

/** The reader whose session the file or folder at `path` is, told by its content; throws a SourceError that says what it is instead. */
export async function detectSource(path: string): Promise<Source> {
  if (await isFolder(path)) {
    if (await messagesSource.detects(path, new Uint8Array(0))) return messagesSource;
    throw new SourceError("directory", `${path} is a folder that holds no messages of a session.`, {
      path,
      next: "Name a session's file, or `hansard list` to see the sessions that were found.",
    });
  }
  let head: Uint8Array;
  try {
    ({ head } = await readEnds(path, DETECT_BYTES, 0));
  } catch (error) {
    const { file, id } = splitSessionPath(path);
    if (id !== undefined && isFileError(error, "not-found") && (await isFile(file)))
      return databaseSource(file);
    // An archive may have taken a rollout's place, or the other way round: its source knows.
    if (isFileError(error, "not-found") && /\.jsonl(?:\.zst)?$/.test(path)) {
      const other = path.endsWith(".zst") ? path.slice(0, -".zst".length) : `${path}.zst`;
      if (await isFile(other)) return codexSource;
    }
    throw asSourceError(error);
  }
  if (isArchive(path)) return archivedSource(path);
  if (isDatabase(head)) return databaseSource(path);
  if (head.length === 0)
    throw new SourceError("empty", `${path} is empty.`, {
      path,
      next: "A session that has just begun may have nothing in it yet: try again once the agent has answered.",
    });
  const { isExport } = await import("./export-file/index-lines.ts");
  if (isExport(head)) return exportSource(path);
  for (const source of sources) if (await source.detects(path, head)) return source;
  throw notASession(path, head);
}

/** The reader whose tables a database has. */
async function databaseSource(file: string): Promise<Source> {
  const { head } = await readEnds(file, DETECT_BYTES, 0);
  if (isDatabase(head)) {
    const [{ detectDatabase }, { databaseFormats }] = await Promise.all([
      import("./sqlite/source.ts"),
      import("./database-formats.ts"),
    ]);
    const agent = await detectDatabase(file, databaseFormats);
    const source = sources.find((each) => each.agent === agent);
    if (source !== undefined) return source;
  }
  throw notASession(file, head);
}

function notASession(path: string, head: Uint8Array): SourceError {
  const guess = guessFormat(head);
  if (guess.isBinary)
    return new SourceError("binary", `${path} is ${guess.name}, not a session's log.`, {
      path,
      next: "`hansard list` shows the sessions that were found.",
    });
  return new SourceError("unknown-format", `${path} holds no session that Hansard can read.`, {
    path,
    next: `It reads sessions of ${sources.map((source) => source.label).join(", ")}.`,
  });
}

/** Opens the session at a path, of whichever agent. Throws a SourceError where there is none. */
export async function openLog(path: string): Promise<Log> {
  const source = await detectSource(path);
  try {
    return await source.open(path);
  } catch (error) {
    throw asSourceError(error);
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (isFileError(error)) return false;
    throw error;
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isFileError(error)) return false;
    throw error;
  }
}
