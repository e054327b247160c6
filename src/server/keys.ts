/**
 * The keys of the server: one file a key, one file a one-time code, in a folder that only its owner may read. Files are made and removed,
 * never changed, so that the server and `hansard keys` need no lock between them: a key is there or it is not.
 */
import { chmod, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import {
  CODE_LIFE_MS,
  CODES_MAX,
  KEY_FILE_BYTES_MAX,
  KEY_SESSIONS_MAX,
  KEYS_MAX,
  LABEL_MAX,
} from "./limits.ts";
import {
  hasHash,
  hashSecret,
  isKeyId,
  keyIdOf,
  makeCode,
  makeKeyId,
  makeSecret,
  normalizeCode,
} from "./secrets.ts";

/** What a key opens. */
export interface KeyScope {
  /** The sessions it may see, by the ids of the catalogue. */
  readonly sessions: "all" | readonly string[];
  /** Whether it may answer calls and send prompts as well. */
  readonly may: "read" | "answer";
}

export interface Key extends KeyScope {
  readonly id: string;
  /** Whose key it is, in the words of a person: also who answered, for those that come late. */
  readonly label: string;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  /** The key whose one-time code made this one. It is void with it. */
  readonly parent?: string;
}

/** A key and the secret that opens with it. The secret is stored nowhere: it can be shown now and never again. */
export interface MadeKey {
  readonly key: Key;
  readonly secret: string;
}

export interface KeySpec extends KeyScope {
  readonly label: string;
}

export type KeyErrorCode =
  /** Others than the owner may read the folder. */
  "unsafe-folder" | "too-many-keys" | "too-many-codes" | "too-many-sessions" | "no-such-key" | "unreadable";

/** An expected failure of the key store. */
export class KeyError extends Error {
  readonly code: KeyErrorCode;
  /** What to do about it. */
  readonly next: string;
  constructor(code: KeyErrorCode, message: string, next: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "KeyError";
    this.code = code;
    this.next = next;
  }
}

export interface KeyStore {
  /** All keys that open, oldest first. */
  list(): Promise<readonly Key[]>;
  add(spec: KeySpec): Promise<MadeKey>;
  /** Revokes a key and all that came from its codes; the ids of those that went. Empty where there was none. */
  revoke(id: string): Promise<readonly string[]>;
  /** The key that a secret opens with; undefined where it opens nothing (any more). One look into the folder. */
  find(secret: string): Promise<Key | undefined>;
  /** The ids of all keys that open now. One look into the folder. */
  valid(): Promise<ReadonlySet<string>>;
  /** A code that makes one key of the same scope, once, within `CODE_LIFE_MS`. */
  makeCode(keyId: string): Promise<{ readonly code: string; readonly expiresAt: number }>;
  /** The key that a code makes; undefined where the code is wrong, used or expired. However many try, one of them gets it. */
  redeem(typed: string, label: string): Promise<MadeKey | undefined>;
}

interface StoredKey extends Key {
  readonly hash: string;
}

const isWindows = process.platform === "win32";

function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === "ENOENT";
}

function asKeyError(error: unknown, path: string): unknown {
  if (error instanceof KeyError || !(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code !== "string" || !/^E[A-Z]+$/.test(code)) return error;
  return new KeyError(
    "unreadable",
    `${path} cannot be used (${code}).`,
    "Its folder must be yours to read and write.",
    error,
  );
}

async function makeOwnFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const { mode } = await stat(path);
  if (!isWindows && (mode & 0o077) !== 0) {
    // The umask of the process may have nothing to do with it: somebody opened it up. What lies in it may have been read.
    throw new KeyError(
      "unsafe-folder",
      `Others may read ${path}.`,
      `Remove the keys in it and make new ones, or close it with chmod 700.`,
    );
  }
}

/** Writes a file of our own that must not be there yet; all of it is on the disk once it resolves. */
async function writeNew(path: string, value: unknown): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(value)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  if (!isWindows) await chmod(path, 0o600);
}

async function readBounded(path: string): Promise<string | undefined> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(KEY_FILE_BYTES_MAX + 1), 0);
    return bytesRead > KEY_FILE_BYTES_MAX ? undefined : buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function readJson(path: string): Promise<unknown> {
  const text = await readBounded(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    // A file that is being written, or damaged: a key that cannot be read opens nothing.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toStoredKey(id: string, value: unknown): StoredKey | undefined {
  if (!isRecord(value)) return undefined;
  const { label, madeAt, parent, sessions, may, hash } = value;
  if (typeof label !== "string" || typeof madeAt !== "number" || typeof hash !== "string") return undefined;
  if (parent !== undefined && typeof parent !== "string") return undefined;
  if (may !== "read" && may !== "answer") return undefined;
  const isList = Array.isArray(sessions) && sessions.every((each) => typeof each === "string");
  if (sessions !== "all" && !isList) return undefined;
  return { id, label, madeAt, sessions, may, hash, ...(parent === undefined ? {} : { parent }) };
}

function withoutHash({ hash: _, ...key }: StoredKey): Key {
  return key;
}

function cutLabel(label: string): string {
  // A label is shown in terminals and logs: nothing of it may be more than a printable character.
  const plain = label.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, " ").trim();
  return Array.from(plain === "" ? "unnamed" : plain)
    .slice(0, LABEL_MAX)
    .join("");
}

/** The keys in a folder, which is made where it is missing. Throws `unsafe-folder` where others may read it. */
export async function openKeyStore(folder: string, now: () => number): Promise<KeyStore> {
  const keysFolder = join(folder, "keys");
  const codesFolder = join(folder, "codes");
  try {
    for (const each of [folder, keysFolder, codesFolder]) await makeOwnFolder(each);
  } catch (error) {
    throw asKeyError(error, folder);
  }
  let known: ReadonlyMap<string, StoredKey> = new Map();

  /** The keys by id. Files never change, so that only those with a new name are read. */
  async function look(): Promise<ReadonlyMap<string, StoredKey>> {
    const next = new Map<string, StoredKey>();
    for (const name of await readdir(keysFolder)) {
      const id = name.endsWith(".json") ? name.slice(0, -".json".length) : "";
      if (!isKeyId(id) || next.size >= 2 * KEYS_MAX) continue;
      const key = known.get(id) ?? (await readKey(id));
      if (key !== undefined) next.set(id, key);
    }
    for (const [id, { parent }] of next) if (parent !== undefined && !next.has(parent)) next.delete(id);
    known = next;
    return next;
  }

  async function readKey(id: string): Promise<StoredKey | undefined> {
    try {
      return toStoredKey(id, await readJson(join(keysFolder, `${id}.json`)));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async function store(spec: KeySpec, parent?: string): Promise<MadeKey> {
    if (spec.sessions !== "all" && spec.sessions.length > KEY_SESSIONS_MAX)
      throw new KeyError(
        "too-many-sessions",
        `A key names at most ${KEY_SESSIONS_MAX} sessions.`,
        "Make a key for all of them.",
      );
    if ((await look()).size >= KEYS_MAX)
      throw new KeyError(
        "too-many-keys",
        `There are ${KEYS_MAX} keys already.`,
        "`hansard keys revoke` makes room.",
      );
    const id = makeKeyId();
    const secret = makeSecret(id);
    const key: Key = {
      id,
      label: cutLabel(spec.label),
      madeAt: now(),
      sessions: spec.sessions,
      may: spec.may,
      ...(parent === undefined ? {} : { parent }),
    };
    await writeNew(join(keysFolder, `${id}.json`), { ...key, hash: hashSecret(secret) });
    return { key, secret };
  }

  async function remove(path: string): Promise<boolean> {
    try {
      await unlink(path);
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** Removes the codes that are over, and says how many are left. */
  async function sweepCodes(): Promise<number> {
    let left = 0;
    for (const name of await readdir(codesFolder)) {
      const value = await readJson(join(codesFolder, name)).catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      });
      const isOver =
        !isRecord(value) || typeof value["expiresAt"] !== "number" || value["expiresAt"] <= now();
      if (isOver) await remove(join(codesFolder, name));
      else left += 1;
    }
    return left;
  }

  const codePath = (code: string): string => join(codesFolder, `${hashSecret(code).slice(0, 40)}.json`);

  async function take(code: string): Promise<string | undefined> {
    let value: unknown;
    try {
      value = await readJson(codePath(code));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    // Only one remover of a file succeeds: that one has the code.
    if (!(await remove(codePath(code)))) return undefined;
    if (!isRecord(value)) return undefined;
    const { key, expiresAt } = value;
    if (typeof key !== "string" || typeof expiresAt !== "number" || expiresAt <= now()) return undefined;
    return key;
  }

  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw asKeyError(error, folder);
    }
  }

  return {
    list: () =>
      guarded(async () => [...(await look()).values()].map(withoutHash).sort((a, b) => a.madeAt - b.madeAt)),
    add: (spec) => guarded(() => store(spec)),
    revoke: (id) =>
      guarded(async () => {
        const keys = await look();
        const gone = [...keys.values()]
          .filter((key) => key.id === id || key.parent === id)
          .map((key) => key.id);
        // The key goes first: what came from it is void from then on, whether or not its own file is gone yet.
        gone.sort((a, b) => Number(b === id) - Number(a === id));
        for (const each of gone) await remove(join(keysFolder, `${each}.json`));
        return gone;
      }),
    find: (secret) =>
      guarded(async () => {
        const id = keyIdOf(secret);
        if (id === undefined) return undefined;
        const key = (await look()).get(id);
        return key !== undefined && hasHash(secret, key.hash) ? withoutHash(key) : undefined;
      }),
    valid: () => guarded(async () => new Set((await look()).keys())),
    makeCode: (keyId) =>
      guarded(async () => {
        const key = (await look()).get(keyId);
        if (key === undefined)
          throw new KeyError("no-such-key", `There is no key ${keyId}.`, "`hansard keys list` shows them.");
        if ((await sweepCodes()) >= CODES_MAX)
          throw new KeyError(
            "too-many-codes",
            `${CODES_MAX} codes wait to be used.`,
            "Use one, or wait until they expire.",
          );
        const code = makeCode();
        const expiresAt = now() + CODE_LIFE_MS;
        await writeNew(codePath(code), { key: keyId, expiresAt });
        return { code, expiresAt };
      }),
    redeem: (typed, label) =>
      guarded(async () => {
        const code = normalizeCode(typed);
        const keyId = code === undefined ? undefined : await take(code);
        const key = keyId === undefined ? undefined : (await look()).get(keyId);
        if (key === undefined) return undefined;
        return store({ label, sessions: key.sessions, may: key.may }, key.parent ?? key.id);
      }),
  };
}

/** Whether a key may see a session. */
export function allowsSession(key: KeyScope, session: string): boolean {
  return key.sessions === "all" || key.sessions.includes(session);
}
