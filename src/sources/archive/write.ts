/** Archiving a session: its files as they are, compressed, and a manifest that makes them count. */
import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SourceError } from "../errors.ts";
import { isFileError } from "../file-errors.ts";
import { makePrivateFolder } from "../private-folder.ts";
import type { FoundSession, Pieces, SessionInfo } from "../types.ts";
import {
  ARCHIVE_DEPTH_MAX,
  ARCHIVE_FILES_MAX,
  type ArchivedFile,
  folderOf,
  MANIFEST_NAME,
  type Manifest,
  manifestText,
} from "./format.ts";
import { packFile } from "./pack.ts";
import { readManifest } from "./read.ts";

export interface Archived {
  readonly state: "archived" | "unchanged";
  /** The manifest. */
  readonly path: string;
  readonly bytes: number;
}

interface Present {
  readonly name: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/**
 * Keeps a verbatim copy of a session that another program wrote. Nothing is done where the copy there is of the same sizes and times.
 * The new copy takes the old one's place only when all of it was read back and is on stable storage; a crash leaves the one or the other.
 * A file that grows meanwhile is copied as long as it was. Throws a SourceError, and the system's error where the disk refuses.
 */
export async function archiveSession(
  archive: string,
  found: FoundSession,
  info: SessionInfo,
  nowMs: number,
  pieces?: Pieces,
): Promise<Archived> {
  if (pieces?.type !== "made") {
    const base = pieces?.base ?? found.path;
    const present = pieces === undefined ? await filesOf(found.path) : await namedFiles(pieces);
    return await archiveFiles(archive, found, info, nowMs, { present, base, isMoved: pieces !== undefined });
  }
  const folder = await makePrivateFolder("archive");
  try {
    const made = join(folder, pieces.name);
    await pieces.make(made);
    // When it was made says nothing: it is the session's time that stands in the archive.
    const facts = { size: (await stat(made)).size, mtimeMs: found.modifiedAt };
    const present = [presentOf(pieces.name, facts)];
    return await archiveFiles(archive, found, info, nowMs, {
      present,
      base: folder,
      isMoved: true,
      shownBase: pieces.base,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Taken {
  readonly present: readonly Present[];
  /** The folder that the names are relative to, or the one file. */
  readonly base: string;
  /** Set where the names are not relative to the session's own path: then the manifest says to what. */
  readonly isMoved: boolean;
  /** What the manifest says of a file that was made for the archive. */
  readonly shownBase?: string;
}

async function archiveFiles(
  archive: string,
  found: FoundSession,
  info: SessionInfo,
  nowMs: number,
  taken: Taken,
): Promise<Archived> {
  const { present, base } = taken;
  const folder = folderOf(archive, found);
  const path = join(folder, MANIFEST_NAME);
  const bytes = present.reduce((sum, file) => sum + file.bytes, 0);
  const old = await readManifest(path);
  const isMade = taken.shownBase !== undefined;
  // Rows may change within the second that their time tells.
  if (old !== undefined && !isMade && isSame(old.files, present)) return { state: "unchanged", path, bytes };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files: ArchivedFile[] = [];
  for (const { name, bytes: size, modifiedAt } of present) {
    const from = name === "" ? base : join(base, name);
    const packed = await packFile(from, size, folder, randomUUID());
    if (packed.bytes < size)
      throw new SourceError("unreadable", `${from} became shorter while it was read.`, {
        path: from,
        next: "Archive it again.",
      });
    files.push({ name, bytes: size, modifiedAt, sha256: packed.sha256 });
  }
  if (isMade && old?.files.length === 1 && old.files[0]?.sha256 === files[0]?.sha256)
    return { state: "unchanged", path, bytes };
  const moved = taken.isMoved ? { base: taken.shownBase ?? base } : {};
  await publish(path, { found, info, archivedAt: nowMs, ...moved, files });
  await sweep(folder, files);
  return { state: "archived", path, bytes };
}

function isSame(old: readonly ArchivedFile[], present: readonly Present[]): boolean {
  return (
    old.length === present.length &&
    old.every((file, at) => {
      const now = present[at];
      return file.name === now?.name && file.bytes === now.bytes && file.modifiedAt === now.modifiedAt;
    })
  );
}

/** The session's files in name order: one with no name, or all regular files of its folder. */
async function filesOf(path: string): Promise<readonly Present[]> {
  const facts = await stat(path);
  if (!facts.isDirectory()) return [presentOf("", facts)];
  const files: Present[] = [];
  const walk = async (name: string, depth: number): Promise<void> => {
    const entries = await readdir(join(path, name), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const inner = name === "" ? entry.name : `${name}/${entry.name}`;
      if (entry.isDirectory() && depth < ARCHIVE_DEPTH_MAX) await walk(inner, depth + 1);
      else if (entry.isDirectory() || entry.isFile()) {
        if (entry.isDirectory() || files.length >= ARCHIVE_FILES_MAX)
          throw new SourceError("unreadable", `${path} holds too many files or folders to be archived.`, {
            path,
          });
        files.push(presentOf(inner, await stat(join(path, inner))));
      }
    }
  };
  await walk("", 1);
  return files;
}

async function namedFiles({ base, names }: Extract<Pieces, { type: "files" }>): Promise<readonly Present[]> {
  if (names.length > ARCHIVE_FILES_MAX)
    throw new SourceError("unreadable", `${base} holds too many files of one session to be archived.`, {
      path: base,
    });
  const files: Present[] = [];
  for (const name of names) files.push(presentOf(name, await stat(join(base, name))));
  return files;
}

function presentOf(name: string, facts: { readonly size: number; readonly mtimeMs: number }): Present {
  return { name, bytes: facts.size, modifiedAt: Math.floor(facts.mtimeMs) };
}

async function publish(path: string, manifest: Manifest): Promise<void> {
  const made = join(dirname(path), `.new-${randomUUID()}`);
  const file = await open(made, "wx", 0o600);
  try {
    await file.writeFile(manifestText(manifest));
    await file.sync();
  } finally {
    await file.close();
  }
  // The packed files have their names for good before the manifest that counts on them has its own.
  await syncFolder(dirname(path));
  await rename(made, path);
  await syncFolder(dirname(path));
  await syncFolder(dirname(dirname(path)));
}

async function syncFolder(path: string): Promise<void> {
  // Windows opens no folders.
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Takes away what no manifest names: older copies, and what an archiving left that was cut off. */
async function sweep(folder: string, files: readonly ArchivedFile[]): Promise<void> {
  const named = new Set([MANIFEST_NAME, ...files.map(({ sha256 }) => `${sha256}.gz`)]);
  for (const name of await readdir(folder)) {
    if (named.has(name)) continue;
    try {
      await rm(join(folder, name));
    } catch (error) {
      // What is left over harms nothing.
      if (!isFileError(error)) throw error;
    }
  }
}
