/** Small files that other processes read: there whole or not at all. */
import { dirname, join } from "node:path";
import type { Files } from "../log/index.ts";
import { errnoOf } from "./errors.ts";

/** What of the log's ports the step directory and the inbox need. */
export interface SmallFilePorts {
  readonly files: Files;
  readonly randomId: () => string;
}

/** Makes one folder where it is missing; its parent must be there. */
export async function ensureFolder(files: Files, path: string): Promise<void> {
  try {
    await files.makeFolder(path);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

async function writeBeside(ports: SmallFilePorts, path: string, text: string): Promise<string> {
  const made = join(dirname(path), `.${ports.randomId()}.tmp`);
  const file = await ports.files.open(made, "create");
  try {
    try {
      const bytes = Buffer.from(text, "utf8");
      for (let at = 0; at < bytes.length; ) at += await file.write(bytes.subarray(at));
    } finally {
      await file.close();
    }
  } catch (error) {
    await discard(ports.files, made);
    throw error;
  }
  return made;
}

/** Removes what was begun and failed: it must not take the room that others need. The failure is what is told. */
async function discard(files: Files, path: string): Promise<void> {
  try {
    await files.remove(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

/** Places a file, in the place of one that is there. */
export async function placeFile(ports: SmallFilePorts, path: string, text: string): Promise<void> {
  const made = await writeBeside(ports, path, text);
  try {
    await ports.files.rename(made, path);
  } catch (error) {
    await discard(ports.files, made);
    throw error;
  }
}

/** Places a file that must not be there yet; false where it is. Of several at once exactly one succeeds. */
export async function placeOnce(ports: SmallFilePorts, path: string, text: string): Promise<boolean> {
  const made = await writeBeside(ports, path, text);
  try {
    await ports.files.link(made, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await removeFile(ports.files, made);
  }
}

/** Removes a file where it is there. */
export async function removeFile(files: Files, path: string): Promise<void> {
  try {
    await files.remove(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

/** The text of a file of at most `bytesMax` bytes; absent where there is none, "" where it is longer or no file. */
export async function readSmallFile(
  files: Files,
  path: string,
  bytesMax: number,
): Promise<string | undefined> {
  const facts = await files.facts(path);
  if (facts === undefined) return undefined;
  if (!facts.isFile || facts.size > bytesMax) return "";
  const file = await files.open(path, "read");
  try {
    const bytes = Buffer.alloc(facts.size);
    return bytes.toString("utf8", 0, await file.read(bytes, 0));
  } finally {
    await file.close();
  }
}

/** The names in a folder; none where it is not there. */
export async function namesIn(files: Files, folder: string): Promise<readonly string[]> {
  try {
    return await files.list(folder);
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}
