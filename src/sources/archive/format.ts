/** Archived sessions: verbatim, compressed copies of other programs' files in our state folder. What lies where, and how one is named. */
import { createHash } from "node:crypto";
import { join, relative } from "node:path";
// Not through the log's door: a list of sessions should not load all that writes a log.
import { type StateSurroundings, stateFolder } from "../../log/paths.ts";
import { arrayOf, countOf, numberOf, objectOf, stringOf, wordOf } from "../fields.ts";
import type { FoundSession, SessionInfo } from "../types.ts";

export const MANIFEST_NAME = "archive.json";
const FORMAT = "hansard-archive";
const VERSION = 1;

/** Files of one session, and folders down in which they are looked for. */
export const ARCHIVE_FILES_MAX = 20_000;
export const ARCHIVE_DEPTH_MAX = 8;
/** Bytes that are compressed at once: an archive is written and read in memory of this order. */
export const ARCHIVE_CHUNK_BYTES: number = 1024 * 1024;
/** Bytes of a manifest. */
export const MANIFEST_BYTES_MAX: number = 16 * 1024 * 1024;

export interface ArchivedFile {
  /** Relative to the session's folder, with `/`; empty where the session is one file. */
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since the epoch, whole. */
  readonly modifiedAt: number;
  /** Of its bytes. They lie beside the manifest in `<sha256>.gz`, which any gunzip reads. */
  readonly sha256: string;
}

export interface Manifest {
  readonly found: FoundSession;
  readonly info: SessionInfo;
  /** Milliseconds since the epoch. */
  readonly archivedAt: number;
  /** The folder that the files' names are relative to, where that is not the session's own path. */
  readonly base?: string;
  readonly files: readonly ArchivedFile[];
}

export function archiveFolder(around: StateSurroundings): string {
  return join(stateFolder(around), "archive");
}

/** The folder of a session's archive: the same for the same file, another for every other one. */
export function folderOf(archive: string, found: FoundSession): string {
  const id = found.id.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 80);
  const sum = createHash("sha256").update(found.path).digest("hex").slice(0, 12);
  return join(archive, found.agent, `${id === "" || id.startsWith(".") ? `_${id}` : id}-${sum}`);
}

export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify({ format: FORMAT, v: VERSION, ...manifest })}\n`;
}

/** The manifest of a text; undefined where it is none of this version, or names files that could lead out of its folder. */
export function parseManifest(text: string): Manifest | undefined {
  const fields = objectOf(parseJson(text));
  if (fields?.["format"] !== FORMAT || fields["v"] !== VERSION) return undefined;
  const found = objectOf(fields["found"]);
  const info = objectOf(fields["info"]);
  const archivedAt = numberOf(fields["archivedAt"]);
  const files = arrayOf(fields["files"])?.map(fileOf);
  const isWhole =
    stringOf(found?.["agent"]) !== undefined &&
    stringOf(found?.["id"]) !== undefined &&
    stringOf(found?.["path"]) !== undefined;
  if (!isWhole || info === undefined || archivedAt === undefined || files === undefined) return undefined;
  if (files.some((file) => file === undefined)) return undefined;
  const base = wordOf(fields["base"]);
  // The session lies below the folder of its files.
  if (base !== undefined && /^(?:\.\.|$)/.test(relative(base, String(found?.["path"])))) return undefined;
  return {
    found: found as unknown as FoundSession,
    info: info as unknown as SessionInfo,
    archivedAt,
    ...(base === undefined ? {} : { base }),
    files: files as ArchivedFile[],
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function fileOf(value: unknown): ArchivedFile | undefined {
  const fields = objectOf(value);
  const name = stringOf(fields?.["name"]);
  const sha256 = stringOf(fields?.["sha256"]);
  const bytes = countOf(fields?.["bytes"]);
  const modifiedAt = numberOf(fields?.["modifiedAt"]);
  if (name === undefined || sha256 === undefined || bytes === undefined || modifiedAt === undefined)
    return undefined;
  const isInside = !/^[/\\]|(?:^|[/\\])\.\.(?:[/\\]|$)|[\0:]/.test(name);
  return isInside && /^[0-9a-f]{64}$/.test(sha256) ? { name, bytes, modifiedAt, sha256 } : undefined;
}
