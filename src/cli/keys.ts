/** `hansard keys`: who may ask the server. */
import { join } from "node:path";
import { stateFolder } from "../log/index.ts";
import { type Key, KeyError, type KeyStore, openKeyStore } from "../server/index.ts";

import { detectSource } from "../sources/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import { formatAge } from "./format.ts";
import type { Io } from "./io.ts";
import { resolveSession } from "./resolve.ts";
import { servedId } from "./serve-catalogue.ts";

export interface KeysAddOptions {
  readonly label: string;
  readonly sessions?: readonly string[];
  readonly readOnly?: boolean;
}

/** The key store in the state folder. */
export function openKeys(io: Io): Promise<KeyStore> {
  return withKeyErrors(() => openKeyStore(join(stateFolder(io.around), "server"), io.now));
}

/** Does the work; what the key store cannot do comes as a CommandError. */
export async function withKeyErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    const isMissing = error.code === "no-such-key";
    throw new CommandError(isMissing ? exitCodes.notFound : exitCodes.unreadable, error.message, [
      error.next,
    ]);
  }
}

/** The ids under which the server knows the sessions that a person named. */
export async function servedIds(io: Io, names: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const name of names) {
    const path = await resolveSession(io, name);
    ids.push(servedId((await detectSource(path)).agent, path));
  }
  return ids;
}

function tellScope({ sessions, may }: Key): string {
  const which =
    sessions === "all"
      ? "all sessions"
      : `${sessions.length} ${sessions.length === 1 ? "session" : "sessions"}`;
  return `${may === "answer" ? "read, answer" : "read"} · ${which}`;
}

export async function runKeysList(io: Io, options: { readonly json?: boolean }): Promise<number> {
  const keys = await withKeyErrors(async () => (await openKeys(io)).list());
  if (options.json === true) {
    await io.out.write(keys.map((key) => `${JSON.stringify(key)}\n`).join(""));
    return exitCodes.ok;
  }
  const lines = keys.map((key) => {
    const from = key.parent === undefined ? "" : ` · by a code of ${key.parent}`;
    return `${key.id}  ${key.label}  ${tellScope(key)} · ${formatAge(key.madeAt, io.now())}${from}\n`;
  });
  await io.out.write(
    lines.length === 0 ? "There are no keys yet: `hansard serve` makes the first one.\n" : lines.join(""),
  );
  return exitCodes.ok;
}

export async function runKeysAdd(io: Io, options: KeysAddOptions): Promise<number> {
  const sessions = options.sessions === undefined ? "all" : await servedIds(io, options.sessions);
  const { key, secret } = await withKeyErrors(async () =>
    (await openKeys(io)).add({
      label: options.label,
      sessions,
      may: options.readOnly === true ? "read" : "answer",
    }),
  );
  await io.err.write(`hansard: key ${key.id} (${tellScope(key)}). It is shown this once:\n`);
  await io.out.write(`${secret}\n`);
  return exitCodes.ok;
}

export async function runKeysCode(io: Io, id: string | undefined): Promise<number> {
  const { code, expiresAt } = await withKeyErrors(async () => {
    const store = await openKeys(io);
    const first = id ?? (await store.list())[0]?.id;
    if (first === undefined)
      throw new CommandError(exitCodes.notFound, "There are no keys yet.", [
        "`hansard serve` makes the first one.",
      ]);
    return store.makeCode(first);
  });
  await io.err.write(
    `hansard: good for one use within ${Math.round((expiresAt - io.now()) / 60_000)} minutes:\n`,
  );
  await io.out.write(`${code}\n`);
  return exitCodes.ok;
}

export async function runKeysRevoke(io: Io, id: string): Promise<number> {
  const gone = await withKeyErrors(async () => (await openKeys(io)).revoke(id));
  if (gone.length === 0)
    throw new CommandError(exitCodes.notFound, "There is no such key.", ["`hansard keys list` shows them."]);
  const more = gone.length - 1;
  const children = more === 0 ? "" : ` and ${more} that came from its codes`;
  await io.err.write(`hansard: revoked ${id}${children}; open lanes end within a second\n`);
  return exitCodes.ok;
}
