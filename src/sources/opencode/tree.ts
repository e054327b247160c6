/** OpenCode's tree of files, before it had a database: a file for the session, one for each message, one for each part. */
import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { parseJson } from "../document/json.ts";
import { ELEMENT_BYTES_MAX } from "../document/limits.ts";
import {
  describeShelf,
  type MessageRow,
  type MessageShelf,
  MessageStore,
} from "../document/message-store.ts";
import { SourceError } from "../errors.ts";
import { arrayOf, objectOf } from "../fields.ts";
import { isFileError } from "../file-errors.ts";
import type { Pieces, SessionInfo } from "../types.ts";
import { listFolder } from "../walk.ts";
import { openCodeFormat } from "./format.ts";
import { TREE_FRESH_MESSAGES_MAX, TREE_PARTS_MAX, TREE_RECORD_BYTES_MAX } from "./limits.ts";
import { sessionFacts } from "./message.ts";
import { layoutOf, type TreeLayout } from "./tree-layout.ts";

/** What a file was when it was looked at. */
interface Look {
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** A message's files as they were when they were looked at, the parts by their names, in their order. */
interface Shelved {
  readonly file: Look;
  readonly parts: ReadonlyMap<string, Look>;
  /** Parts above the most that are read. */
  readonly leftOut: number;
}

/** Opens the session whose own record stands at the path; its messages are read once. Throws a SourceError where it is gone. */
export async function openTreeStore(
  record: string,
  partsMax: number = TREE_PARTS_MAX,
): Promise<MessageStore> {
  const shelf = new TreeShelf(layoutOf(record), partsMax);
  await shelf.refresh(true);
  const store = await MessageStore.open(shelf);
  if (store !== undefined) return store;
  throw new SourceError("not-found", `${record} holds no session.`, {
    path: record,
    next: "`hansard list` shows the sessions that were found.",
  });
}

/** What a session's own record says; undefined where it is not there, or holds none. */
export async function treeFacts(record: string): Promise<Partial<SessionInfo> | undefined> {
  const fields = objectOf(await jsonAt(record, TREE_RECORD_BYTES_MAX));
  return fields === undefined ? undefined : sessionFacts(fields);
}

/** The files of the session, as they are now. */
export async function treePieces(record: string): Promise<Pieces> {
  const layout = layoutOf(record);
  const paths = [record];
  for (const id of await idsIn(layout.messages)) {
    paths.push(join(layout.messages, `${id}.json`));
    const folder = layout.parts(id);
    for (const part of await idsIn(folder)) paths.push(join(folder, `${part}.json`));
  }
  const names = paths.map((path) => relative(layout.base, path).split(sep).join("/"));
  return { type: "files", base: layout.base, names };
}

/** What is known of the session, for a list. */
export async function describeTreeRecord(record: string): Promise<Partial<SessionInfo>> {
  const facts = await treeFacts(record);
  if (facts === undefined || facts.title !== undefined) return facts ?? {};
  const shelf = new TreeShelf(layoutOf(record), TREE_PARTS_MAX);
  await shelf.refresh(true);
  return (await describeShelf(shelf)) ?? {};
}

class TreeShelf implements MessageShelf {
  readonly format = openCodeFormat;
  version = 0;
  readonly #layout: TreeLayout;
  readonly #partsMax: number;
  #record: Look | undefined;
  /** By id; ids tell the time, so their order is the messages'. */
  #shelved: ReadonlyMap<string, Shelved> = new Map();

  constructor(layout: TreeLayout, partsMax: number) {
    this.#layout = layout;
    this.#partsMax = partsMax;
  }

  get watched(): readonly string[] {
    const { record, messages, parts } = this.#layout;
    // Writing goes on in the newest; the steady sweep sees the others.
    return [record, messages, ...[...this.#shelved.keys()].slice(-2).map(parts)];
  }

  get modifiedAt(): number {
    const last = [...this.#shelved.values()].at(-1);
    const looks = [this.#record, last?.file, ...(last?.parts.values() ?? [])];
    return Math.floor(looks.reduce((newest, look) => Math.max(newest, look?.modifiedAt ?? 0), 0));
  }

  async refresh(isForced: boolean): Promise<"same" | "changed" | "gone"> {
    const record = lookAt(this.#layout.record);
    if (record === undefined) return "gone";
    const shelved = await this.#look(isForced);
    const isSame =
      this.version > 0 && isSameLook(record, this.#record) && isSameShelf(shelved, this.#shelved);
    if (isSame) return "same";
    this.#record = record;
    this.#shelved = shelved;
    this.version += 1;
    return "changed";
  }

  facts(): Promise<Partial<SessionInfo> | undefined> {
    return treeFacts(this.#layout.record);
  }

  async messages(): Promise<readonly MessageRow[]> {
    return [...this.#shelved].map(([key, { file, parts, leftOut }]) => ({
      key,
      stamp: JSON.stringify([file, [...parts], leftOut]),
      bytes: [...parts.values()].reduce((sum, part) => sum + part.bytes, file.bytes),
    }));
  }

  /** Parts whose file holds no JSON are told as such in their place: a full disk leaves them empty. */
  async message(key: string | number): Promise<unknown> {
    const id = String(key);
    const info = objectOf(await jsonAt(join(this.#layout.messages, `${id}.json`), ELEMENT_BYTES_MAX));
    if (info === undefined) return undefined;
    const folder = this.#layout.parts(id);
    const parts: unknown[] = [];
    const shelved = this.#shelved.get(id);
    for (const part of shelved?.parts.keys() ?? []) {
      const fields = objectOf(await jsonAt(join(folder, `${part}.json`), ELEMENT_BYTES_MAX));
      parts.push({ ...(fields ?? { type: "unreadable" }), id: part });
    }
    const leftOut = shelved?.leftOut ?? 0;
    if (leftOut > 0) parts.push({ type: "left-out", description: `${leftOut} more parts` });
    // The first versions kept the parts within the message.
    return { info: { ...info, id }, parts: parts.length > 0 ? parts : (arrayOf(info["parts"]) ?? []) };
  }

  async close(): Promise<void> {}

  /** A message is looked at anew where it is one of the newest, or is not known yet. */
  async #look(isForced: boolean): Promise<ReadonlyMap<string, Shelved>> {
    const ids = await idsIn(this.#layout.messages);
    const fresh = new Set(ids.slice(-TREE_FRESH_MESSAGES_MAX));
    const shelved = new Map<string, Shelved>();
    for (const id of ids) {
      const old = this.#shelved.get(id);
      const seen = old !== undefined && !isForced && !fresh.has(id) ? old : await this.#lookAtMessage(id);
      if (seen !== undefined) shelved.set(id, seen);
    }
    return shelved;
  }

  async #lookAtMessage(id: string): Promise<Shelved | undefined> {
    const file = lookAt(join(this.#layout.messages, `${id}.json`));
    if (file === undefined) return undefined;
    const folder = this.#layout.parts(id);
    const parts = new Map<string, Look>();
    const ids = await idsIn(folder);
    for (const part of ids.slice(0, this.#partsMax)) {
      const look = lookAt(join(folder, `${part}.json`));
      if (look !== undefined) parts.set(part, look);
    }
    return { file, parts, leftOut: Math.max(0, ids.length - this.#partsMax) };
  }
}

function isSameLook(a: Look, b: Look | undefined): boolean {
  return a.bytes === b?.bytes && a.modifiedAt === b.modifiedAt;
}

function isSameShelf(a: ReadonlyMap<string, Shelved>, b: ReadonlyMap<string, Shelved>): boolean {
  if (a.size !== b.size) return false;
  for (const [id, one] of a) {
    const other = b.get(id);
    if (one === other) continue;
    if (
      other === undefined ||
      !isSameLook(one.file, other.file) ||
      one.parts.size !== other.parts.size ||
      one.leftOut !== other.leftOut
    )
      return false;
    for (const [part, look] of one.parts) if (!isSameLook(look, other.parts.get(part))) return false;
  }
  return true;
}

/** Files that are being written have other names. */
async function idsIn(folder: string): Promise<readonly string[]> {
  const entries = await listFolder(folder, () => undefined);
  return entries.flatMap(({ name }) =>
    name.endsWith(".json") && !name.startsWith(".") ? [name.slice(0, -".json".length)] : [],
  );
}

function lookAt(path: string): Look | undefined {
  try {
    const facts = statSync(path, { throwIfNoEntry: false });
    return facts?.isFile() === true ? { bytes: facts.size, modifiedAt: facts.mtimeMs } : undefined;
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}

async function jsonAt(path: string, bytesMax: number): Promise<unknown> {
  const look = lookAt(path);
  if (look === undefined || look.bytes > bytesMax) return undefined;
  try {
    return parseJson(await readFile(path));
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}
