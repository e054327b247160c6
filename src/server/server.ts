/** A listening server: where it listens, for how long it waits, and how it ends. */
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { isIP } from "node:net";
import { Access } from "./access.ts";
import { createListener } from "./app.ts";
import { certificateProblem } from "./certificate.ts";
import { isOrigin } from "./gate.ts";
import type { KeyStore } from "./keys.ts";
import {
  CONNECTIONS_MAX,
  COOKIE_LIFE_S,
  HEADER_BYTES_MAX,
  HEADERS_MS,
  KEEP_ALIVE_MS,
  KEYS_LOOK_MS,
  REQUEST_MS,
} from "./limits.ts";
import { Sessions } from "./sessions.ts";
import type { AccessLine, Catalogue, Clock, Pages, Search } from "./types.ts";

export interface ServerOptions {
  readonly catalogue: Catalogue;
  readonly keys: KeyStore;
  readonly clock?: Clock;
  readonly search?: Search;
  readonly pages?: Pages;
  /** Default: loopback, 127.0.0.1. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  readonly isBehindProxy?: boolean;
  /** Further origins under which it is reached, as `https://name[:port]`. */
  readonly origins?: readonly string[];
  readonly isReadOnly?: boolean;
  readonly onAccess?: (line: AccessLine) => void;
  /** Told of what went wrong inside, a bug or a file that cannot be read. */
  readonly onFailure?: (error: unknown) => void;
  readonly hubsMax?: number;
  readonly connectionsMax?: number;
  /** How long the head of a request and all of it may take, in milliseconds. */
  readonly headersMs?: number;
  readonly requestMs?: number;
}

export interface RunningServer {
  /** Where it is reached: the first of its origins, or its own address. */
  readonly origin: string;
  readonly port: number;
  /** Lanes that are open, and hubs that feed them. */
  readonly load: { readonly lanes: number; readonly hubs: number };
  /** Tells all lanes that it ends, and resolves once every connection is closed. */
  close(): Promise<void>;
}

export type ServerErrorCode = "not-loopback" | "bad-origin" | "cannot-listen" | "bad-certificate";

/** A server that cannot be started as it was asked to. */
export class ServerError extends Error {
  readonly code: ServerErrorCode;
  readonly next: string;
  constructor(code: ServerErrorCode, message: string, next: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "ServerError";
    this.code = code;
    this.next = next;
  }
}

const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, act) {
    const timer = setTimeout(act, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Whether a host is this computer alone. A name other than `localhost` is not: what it means is decided elsewhere. */
export function isLoopbackHost(host: string): boolean {
  if (host === "localhost" || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

function checkOptions({ host = "127.0.0.1", tls, isBehindProxy, origins = [] }: ServerOptions): void {
  if (!isLoopbackHost(host) && tls === undefined && isBehindProxy !== true)
    throw new ServerError(
      "not-loopback",
      `Listening at ${host} without TLS would send keys and sessions in the clear.`,
      "Give --tls-cert and --tls-key, or --behind-proxy where a proxy in front of it speaks TLS.",
    );
  for (const origin of origins)
    if (!isOrigin(origin))
      throw new ServerError(
        "bad-origin",
        `"${origin}" is no origin.`,
        "An origin is as https://name or https://name:port.",
      );
}

function cookieOf(name: string, isHttps: boolean): (secret: string | undefined) => string {
  const fixed = `Path=/; HttpOnly; SameSite=Strict${isHttps ? "; Secure" : ""}`;
  return (secret) => `${name}=${secret ?? ""}; ${fixed}; Max-Age=${secret === undefined ? 0 : COOKIE_LIFE_S}`;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const next =
        error.code === "EADDRINUSE"
          ? "Give another --port, or 0 for a free one."
          : "Give another --host or --port.";
      reject(
        new ServerError(
          "cannot-listen",
          `${host}:${port} cannot be listened at (${error.code}).`,
          next,
          error,
        ),
      );
    });
    server.listen({ port, host }, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

function createNodeServer(options: ServerOptions, now: number): Server {
  const headersTimeout = options.headersMs ?? HEADERS_MS;
  const requestTimeout = options.requestMs ?? REQUEST_MS;
  const settings = {
    headersTimeout,
    requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.max(20, Math.min(headersTimeout, 1_000)),
    maxHeaderSize: HEADER_BYTES_MAX,
  };
  if (options.tls === undefined) return createServer(settings);
  const { cert, key } = options.tls;
  const problem = certificateProblem(cert, key, now);
  if (problem !== undefined) throw new ServerError("bad-certificate", problem.message, problem.next);
  try {
    return createTlsServer({ ...settings, cert, key, minVersion: "TLSv1.2" });
  } catch (error) {
    // What only TLS itself finds wrong: a key too short for it, a broken certificate behind the first one.
    throw new ServerError(
      "bad-certificate",
      "The certificate and its key cannot be used.",
      "--tls-cert and --tls-key are PEM files that belong together.",
      error,
    );
  }
}

/** Starts a server. Throws a ServerError where it may not or cannot listen as asked. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  checkOptions(options);
  const { host = "127.0.0.1", clock = systemClock, origins = [] } = options;
  const onFailure = options.onFailure ?? (() => undefined);
  const isHttps = options.tls !== undefined || options.isBehindProxy === true;
  const server = createNodeServer(options, clock.now());
  server.maxConnections = options.connectionsMax ?? CONNECTIONS_MAX;
  // What cannot be read as a request is not told why.
  server.on("clientError", (_error, socket) => {
    if (socket.writable)
      socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    else socket.destroy();
  });
  const port = await listen(server, options.port, host);
  // Cookies know no ports: two servers on one computer have a name each.
  const cookie = isHttps ? "__Host-hansard" : `hansard-${port}`;
  const access = new Access({ keys: options.keys, clock, cookie });
  const sessions = new Sessions({
    catalogue: options.catalogue,
    clock,
    onFailure,
    ...(options.hubsMax === undefined ? {} : { hubsMax: options.hubsMax }),
  });
  const listener = createListener({
    access,
    sessions,
    clock,
    search: options.search,
    pages: options.pages,
    isReadOnly: options.isReadOnly === true,
    cookie: cookieOf(cookie, isHttps),
    rules: { origins, isBehindProxy: options.isBehindProxy === true },
    isHttps,
    onAccess: options.onAccess ?? (() => undefined),
    onFailure,
  });
  server.on("request", listener);

  let cancelTick = (): void => undefined;
  const tick = (): void => {
    access.tick().catch(onFailure);
    cancelTick = clock.after(KEYS_LOOK_MS, tick);
  };
  tick();

  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    cancelTick();
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    access.closeLanes("the server ends");
    server.closeIdleConnections();
    // A client that takes its time to hear that does not hold the end up.
    const cancelClose = clock.after(CLOSE_MS, () => server.closeAllConnections());
    await sessions.close();
    await closed;
    cancelClose();
  }
  return {
    port,
    origin:
      origins[0] ??
      `${options.tls === undefined ? "http" : "https"}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
    get load() {
      return { lanes: access.lanes, hubs: sessions.hubs };
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** How long clients may take to hear that the server ends. */
const CLOSE_MS = 500;
