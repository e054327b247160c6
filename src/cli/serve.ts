/** `hansard serve`: the sessions of this computer for a browser and for other machines. */
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import {
  type AccessLine,
  isLoopbackHost,
  type KeyStore,
  type RunningServer,
  ServerError,
  type ServerOptions,
  startServer,
} from "../server/index.ts";
import { createPages, readPageScript } from "../web/index.ts";
import { CommandError } from "./errors.ts";
import { exitCodes } from "./exit.ts";
import type { Io } from "./io.ts";
import { openKeys, servedIds, withKeyErrors } from "./keys.ts";
import { findSessions } from "./resolve.ts";
import { indexPath } from "./search.ts";
import { openAt } from "./serve-addresses.ts";
import { createCatalogue } from "./serve-catalogue.ts";
import { createServedSearch } from "./serve-search.ts";

/** Where the server listens where nothing else is said. */
export const SERVE_PORT = 7737;

export interface ServeOptions {
  readonly port?: number;
  readonly host?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly behindProxy?: boolean;
  readonly origin?: readonly string[];
  readonly readOnly?: boolean;
  readonly sessions?: readonly string[];
  readonly log?: boolean;
}

export interface ServeWorld {
  /** Ends the server when aborted. */
  readonly signal: AbortSignal;
  /** Called once it serves. */
  readonly onStart?: (server: RunningServer) => void;
}

function whyUnread(code: string | undefined): string {
  if (code === "ENOENT") return "There is no such file.";
  return code === "EISDIR" ? "It is a folder." : "Is it yours to read?";
}

async function readPem(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new CommandError(exitCodes.unreadable, `${path} cannot be read.`, [
      whyUnread((error as NodeJS.ErrnoException).code),
    ]);
  }
}

async function tlsOf({ tlsCert, tlsKey }: ServeOptions): Promise<ServerOptions["tls"]> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new CommandError(exitCodes.usage, "A certificate and its key belong together.", [
      "Give both --tls-cert and --tls-key.",
    ]);
  return { cert: await readPem(tlsCert), key: await readPem(tlsKey) };
}

function logLine({ at, address, method, route, status, ms, key }: AccessLine): string {
  return `${new Date(at).toISOString()} ${address} ${method} ${route} ${status} ${ms}ms ${key ?? "-"}\n`;
}

/** The first key, made where there is none yet, and whether it was. */
async function firstKey(io: Io, keys: KeyStore): Promise<string> {
  const [first] = await keys.list();
  if (first !== undefined) return first.id;
  const { key, secret } = await keys.add({ label: "first key", sessions: "all", may: "answer" });
  await io.err.write(
    `hansard: made the first key, for programs; it is shown this once, and revoked with \`hansard keys revoke ${key.id}\`:\n${secret}\n`,
  );
  return key.id;
}

async function start(io: Io, options: ServeOptions, keys: KeyStore): Promise<RunningServer> {
  const only = options.sessions === undefined ? undefined : new Set(await servedIds(io, options.sessions));
  const tls = await tlsOf(options);
  const find = () => findSessions(io);
  try {
    return await startServer({
      catalogue: createCatalogue({ find, now: io.now, ...(only === undefined ? {} : { only }) }),
      search: createServedSearch({
        find,
        index: indexPath(io.around),
        ...(only === undefined ? {} : { only }),
      }),
      keys,
      pages: createPages({ script: await readPageScript() }),
      port: options.port ?? SERVE_PORT,
      ...(options.host === undefined ? {} : { host: options.host }),
      ...(tls === undefined ? {} : { tls }),
      isBehindProxy: options.behindProxy === true,
      origins: options.origin ?? [],
      isReadOnly: options.readOnly === true,
      ...(options.log === true ? { onAccess: (line) => void io.err.write(logLine(line)) } : {}),
      onFailure: (error) =>
        void io.err.write(
          `hansard: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
        ),
    });
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    const code = error.code === "cannot-listen" ? exitCodes.unreadable : exitCodes.usage;
    throw new CommandError(code, error.message, [error.next]);
  }
}

/** How it is opened on another device, as far as this start allows it. */
function hintFor({ behindProxy, origin = [] }: ServeOptions, host: string): string {
  if (behindProxy === true)
    return origin.length === 0
      ? "give the proxy's own address as --origin: under any other name requests are refused"
      : "the proxy has to pass on the Host header as it came";
  if (isLoopbackHost(host))
    return "only this computer reaches it; for a phone: --host with --tls-cert and --tls-key, or --behind-proxy";
  return "a device in the same network opens it there, once it trusts the certificate; a name needs --origin";
}

/** An address for a phone's camera: dark on light, whatever the terminal's colours are. */
async function pictureOf(address: string): Promise<string> {
  const { renderANSI } = await import("uqr");
  return renderANSI(address, { border: 2 });
}

/** Serves until aborted. Throws a CommandError where it cannot be started as asked. */
export async function serveUntil(io: Io, options: ServeOptions, world: ServeWorld): Promise<void> {
  const keys = await openKeys(io);
  const server = await start(io, options, keys);
  try {
    await withKeyErrors(async () => {
      const { code } = await keys.makeCode(await firstKey(io, keys));
      const host = options.host ?? "127.0.0.1";
      const origins = openAt(server, host, networkInterfaces());
      await io.err.write(
        `hansard: serving ${server.origin}${options.readOnly === true ? " (only to read)" : ""}. Open, once and within five minutes:\n`,
      );
      await io.out.write(origins.map((origin) => `${origin}/#code=${code}\n`).join(""));
      const reachable = origins.find((origin) => !isLoopbackHost(new URL(origin).hostname));
      if (io.out.isTTY && reachable !== undefined)
        await io.out.write(`${await pictureOf(`${reachable}/#code=${code}`)}\n`);
      await io.err.write(`hansard: ${hintFor(options, host)}\n`);
      await io.err.write("hansard: `hansard keys code` makes another code · Ctrl+C ends it\n");
    });
    world.onStart?.(server);
    if (!world.signal.aborted)
      await new Promise<void>((resolve) => {
        world.signal.addEventListener("abort", () => resolve(), { once: true });
      });
  } finally {
    await server.close();
  }
}

export async function runServe(io: Io, options: ServeOptions): Promise<number> {
  const stop = new AbortController();
  let code: number = exitCodes.ok;
  const end = (exit: number) => (): void => {
    code = exit;
    stop.abort();
  };
  const ends: readonly (readonly [NodeJS.Signals, () => void])[] = [
    ["SIGINT", end(130)],
    ["SIGTERM", end(143)],
    ["SIGHUP", end(129)],
  ];
  for (const [signal, act] of ends) process.once(signal, act);
  try {
    await serveUntil(io, options, { signal: stop.signal });
  } finally {
    for (const [signal, act] of ends) process.off(signal, act);
  }
  return code;
}
