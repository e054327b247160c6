/** Archived sessions as sessions: listed, described and opened like any other, whether or not the original is still there. */
import { mkdir, open, readFile, rm, stat, utimes } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { SourceError } from "../errors.ts";
import { isFileError } from "../file-errors.ts";
import { makePrivateFolder } from "../private-folder.ts";
import type { FoundSession, Log, SessionInfo, Source, Surroundings } from "../types.ts";
import { listFolder } from "../walk.ts";
import { archiveFolder, MANIFEST_BYTES_MAX, MANIFEST_NAME, type Manifest, parseManifest } from "./format.ts";
import { unpacked } from "./pack.ts";

/** The manifest at a path; undefined where there is none that can be read as one. */
export async function readManifest(path: string): Promise<Manifest | undefined> {
  try {
    if ((await stat(path)).size > MANIFEST_BYTES_MAX) return undefined;
    return parseManifest(await readFile(path, "utf8"));
  } catch (error) {
    if (isFileError(error, "ENOENT", "ENOTDIR", "EISDIR")) return undefined;
    throw error;
  }
}

export interface ArchivedSession {
  readonly found: FoundSession;
  /** Where the original was. */
  readonly original: string;
}

/** All archived sessions, told by their manifests. */
export async function* discoverArchived(
  around: Surroundings,
  onProblem: (path: string, message: string) => void,
): AsyncIterable<ArchivedSession> {
  const root = archiveFolder(around);
  for (const agent of await listFolder(root, onProblem)) {
    if (!agent.isDirectory()) continue;
    for (const folder of await listFolder(join(root, agent.name), onProblem)) {
      const path = join(root, agent.name, folder.name, MANIFEST_NAME);
      if (!folder.isDirectory() || folder.name.startsWith(".")) continue;
      const manifest = await readManifest(path);
      if (manifest !== undefined) yield { found: foundOf(manifest, path), original: manifest.found.path };
      else onProblem(path, "is missing or damaged; the archived session beside it cannot be opened");
    }
  }
}

function foundOf(manifest: Manifest, path: string): FoundSession {
  return { ...manifest.found, path, archived: true };
}

/** What was known of a session when it was archived. Throws `unknown-format` where there is no archive at the path. */
export async function describeArchived(path: string): Promise<SessionInfo> {
  return infoOf(await manifestAt(path), path);
}

function infoOf(manifest: Manifest, path: string): SessionInfo {
  return { ...manifest.info, path, archived: true };
}

async function manifestAt(path: string): Promise<Manifest> {
  const manifest = await readManifest(path);
  if (manifest !== undefined) return manifest;
  throw new SourceError("unknown-format", `${path} is no archive of a session.`, { path });
}

/** The folder for the files of an open archive, under which they lie as they lay at home: readers look at names above a file, too. */
function placeIn(root: string, original: string): string {
  return join(root, ...original.split(/[/\\:]+/).filter((part) => part !== "" && part !== ".."));
}

/**
 * Opens an archived session with its own agent's reader, over its files unpacked into a private folder that goes when the log is closed.
 * Costs the session's bytes once, in memory of a chunk. Throws `unreadable` where the archive is not what was archived.
 */
export async function openArchived(
  path: string,
  sourceOf: (agent: string) => Source | undefined,
): Promise<Log> {
  const manifest = await manifestAt(path);
  const source = sourceOf(manifest.found.agent);
  if (source === undefined)
    throw new SourceError("unknown-agent", `No reader is called ${manifest.found.agent}.`, { path });
  const root = await makePrivateFolder("archive");
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true });
  try {
    const { base } = manifest;
    const folder = placeIn(root, base ?? manifest.found.path);
    const place = base === undefined ? folder : join(folder, relative(base, manifest.found.path));
    for (const file of manifest.files) {
      const to = file.name === "" ? folder : join(folder, file.name);
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      const out = await open(to, "wx", 0o600);
      try {
        for await (const chunk of unpacked(join(dirname(path), `${file.sha256}.gz`), file))
          await out.appendFile(chunk);
      } finally {
        await out.close();
      }
      await utimes(to, file.modifiedAt / 1000, file.modifiedAt / 1000);
    }
    const log = await source.open(place);
    return {
      agent: log.agent,
      path,
      info: () => Promise.resolve(infoOf(manifest, path)),
      // Nobody works on an archive.
      tail: async (limit) => ({ ...(await log.tail(limit)), turnOpen: false, live: [] }),
      older: (from, limit) => log.older(from, limit),
      newer: (from, limit) => log.newer(from, limit),
      first: (limit) => log.first(limit),
      follow: (after, signal) => log.follow(after, signal),
      check: async (signal) => ({ ...(await log.check(signal)), path }),
      raw: (where, limit) => log.raw(where, limit),
      close: async () => {
        await log.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw namedAs(error, root, path);
  }
}

/** What goes wrong with an unpacked file is told of the archive: nobody knows the folder that it was unpacked into. */
function namedAs(error: unknown, root: string, path: string): unknown {
  if (!(error instanceof SourceError) || error.path?.startsWith(root) !== true) return error;
  const { next } = error;
  return new SourceError(error.code, error.message.replaceAll(error.path, path), {
    path,
    cause: error,
    ...(next === undefined ? {} : { next }),
  });
}
