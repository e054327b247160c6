/** The application: the gate before everything, the table of routes behind it, one answer for every refusal. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { isRefusal } from "./access.ts";
import type { RouteContext } from "./ask.ts";
import { checkRequest, clientOf, type GateRules, type Refusal } from "./gate.ts";
import { setSecurityHeaders } from "./headers.ts";
import type { Key } from "./keys.ts";
import { Refused } from "./requests.ts";
import { type Route, routes, serveAsset } from "./routes.ts";
import type { AccessLine } from "./types.ts";

export interface AppOptions extends RouteContext {
  readonly rules: GateRules;
  /** True where clients reach it over HTTPS. */
  readonly isHttps: boolean;
  readonly onAccess: (line: AccessLine) => void;
}

export type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

interface Noted {
  route: string;
  key?: string;
}

const apiPrefix = "/api/";

function bodyOf({ code, message }: Refusal): string {
  return `${JSON.stringify({ error: { code, message } })}\n`;
}

function answerOf(refusal: Refusal): Response {
  return new Response(bodyOf(refusal), {
    status: refusal.status,
    headers: { "content-type": "application/json", ...refusal.headers },
  });
}

/** Answers a request that is not looked at any further, and what is left of it is not waited for. */
function turnAway(outgoing: ServerResponse, refusal: Refusal): void {
  outgoing.writeHead(refusal.status, {
    "content-type": "application/json",
    connection: "close",
    ...refusal.headers,
  });
  outgoing.end(bodyOf(refusal));
}

/** The listener of a server. It never throws, and every answer of it has the security headers. */
export function createListener(options: AppOptions): Listener {
  const notes = new WeakMap<IncomingMessage, Noted>();
  const app = createApp(options, notes);
  const serve = getRequestListener((request, bindings) => app.fetch(request, bindings), {
    overrideGlobalObjects: false,
    errorHandler: (error) => failed(error, options),
  });
  const { clock, rules } = options;

  return (incoming, outgoing) => {
    const startedAt = clock.now();
    const noted: Noted = { route: "-" };
    notes.set(incoming, noted);
    const { socket } = incoming;
    const client = clientIn(incoming, rules);
    outgoing.once("close", () => {
      options.onAccess({
        at: startedAt,
        address: client,
        method: incoming.method ?? "-",
        route: noted.route,
        status: outgoing.statusCode,
        ms: clock.now() - startedAt,
        ...(noted.key === undefined ? {} : { key: noted.key }),
      });
    });
    // A client that goes while it is answered is no failure of ours.
    outgoing.on("error", () => undefined);
    setSecurityHeaders(outgoing, options.isHttps);
    const refusal = checkRequest(
      {
        method: incoming.method ?? "",
        target: incoming.url ?? "",
        rawHeaders: incoming.rawHeaders,
        localAddress: socket.localAddress ?? "",
        localPort: socket.localPort ?? 0,
        isTls: "encrypted" in socket,
      },
      rules,
    );
    if (refusal !== undefined) turnAway(outgoing, refusal);
    else void serve(incoming, outgoing);
  };
}

function clientIn({ socket, headers }: IncomingMessage, rules: GateRules): string {
  const forwarded = headers["x-forwarded-for"];
  return clientOf(
    socket.remoteAddress ?? "-",
    Array.isArray(forwarded) ? forwarded.join(",") : forwarded,
    rules.isBehindProxy,
  );
}

function failed(error: unknown, { onFailure }: RouteContext): Response {
  if (error instanceof Refused) return answerOf(error.refusal);
  onFailure(error);
  return answerOf({ status: 500, code: "failed", message: "The server failed to answer." });
}

type Hands = { Bindings: HttpBindings; Variables: { client: string; key: Key } };

function createApp(options: AppOptions, notes: WeakMap<IncomingMessage, Noted>): Hono<Hands> {
  const app = new Hono<Hands>();
  const note = (incoming: IncomingMessage, fields: Partial<Noted>): void => {
    Object.assign(notes.get(incoming) ?? {}, fields);
  };
  app.use(async (ask, next) => {
    ask.set("client", clientIn(ask.env.incoming, options.rules));
    await next();
  });
  for (const route of routes)
    app.on(route.method, route.path, async (ask) => {
      note(ask.env.incoming, { route: route.path });
      if (route.need !== "nothing") {
        const key = await options.access.admit(ask.env.incoming, ask.get("client"));
        if (isRefusal(key)) throw new Refused(key);
        note(ask.env.incoming, { key: key.id });
        checkNeed(route, key, options);
        ask.set("key", key);
      }
      return route.serve(ask, options);
    });
  // Without a key nobody learns which routes there are.
  app.all(`${apiPrefix}*`, async (ask) => {
    note(ask.env.incoming, { route: `${apiPrefix}*` });
    const key = await options.access.admit(ask.env.incoming, ask.get("client"));
    if (isRefusal(key)) throw new Refused(key);
    throw new Refused({ status: 404, code: "not-found", message: "There is nothing here." });
  });
  app.get("*", (ask) => {
    note(ask.env.incoming, { route: "page" });
    return serveAsset(ask, options);
  });
  app.notFound(() =>
    answerOf({
      status: 405,
      code: "bad-method",
      message: "That method is not served.",
      headers: { allow: "GET" },
    }),
  );
  app.onError((error) => failed(error, options));
  return app;
}

function checkNeed({ need }: Route, key: Key, { isReadOnly }: RouteContext): void {
  if (need !== "answer") return;
  if (key.may !== "answer")
    throw new Refused({ status: 403, code: "read-only-key", message: "This key may read, not answer." });
  if (isReadOnly)
    throw new Refused({ status: 403, code: "read-only-server", message: "This server only shows sessions." });
}
