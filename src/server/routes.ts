/** The routes: what each needs, and what it answers. Every one is in this table, and nothing else is served. */
import { gzipSync } from "node:zlib";
import type { Page, TailPage } from "../session/index.ts";
import type { Entry } from "../transcript/index.ts";
import { isRefusal, sees } from "./access.ts";
import { type Ask, asRefused, missing, type RouteContext, sessionOf } from "./ask.ts";
import { lanePositionOf } from "./changes-hub.ts";
import { cutEntry } from "./cut.ts";
import { wireInfo } from "./frames.ts";
import { policyOf } from "./headers.ts";
import type { Key } from "./keys.ts";
import { serveChanges, serveStep, serveSteps } from "./lane-routes.ts";
import {
  LIST_SESSIONS_DEFAULT,
  LIST_SESSIONS_MAX,
  PACKED_UNITS_MIN,
  PAGE_ENTRIES_DEFAULT,
  PAGE_ENTRIES_MAX,
  PAGE_TEXT_MAX,
  RAW_BYTES_MAX,
  SEARCH_HITS_MAX,
  SEARCH_WORDS_MAX,
} from "./limits.ts";
import {
  answerBody,
  countOf,
  emptyBody,
  exchangeBody,
  promptBody,
  Refused,
  readJsonBody,
  refused,
} from "./requests.ts";
import { isDriven } from "./served.ts";
import type { CatalogueItem, ServedSession, SessionActs } from "./types.ts";

/** What a route needs: nothing, a key, or a key that may answer. */
export type Need = "nothing" | "read" | "answer";

export interface Route {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly need: Need;
  readonly serve: (ask: Ask, context: RouteContext) => Promise<Response>;
}

/** Runs a reading of a session; what can go wrong with its file is told without its place. */
async function read<T>(
  ask: Ask,
  context: RouteContext,
  work: (served: ServedSession, item: CatalogueItem) => Promise<T>,
): Promise<T> {
  const item = await sessionOf(ask, context);
  try {
    return await context.sessions.use(item, (served) => work(served, item));
  } catch (error) {
    throw asRefused(error);
  }
}

function mayAnswer(ask: Ask, context: RouteContext, served: ServedSession): boolean {
  return served.acts !== undefined && ask.get("key").may === "answer" && !context.isReadOnly;
}

function tellPage(ask: Ask, page: Page): object {
  const textMax = countOf(ask.req.query("text"), "text", PAGE_TEXT_MAX, PAGE_TEXT_MAX);
  const { entries, ...places } = page;
  return { ...places, entries: entries.map((entry: Entry) => cutEntry(entry, textMax)) };
}

function limitOf(ask: Ask): number {
  return countOf(ask.req.query("limit"), "limit", PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX);
}

function positionOf(ask: Ask, name: string): string {
  const position = ask.req.query(name);
  if (position === undefined || position === "")
    throw refused(400, "bad-query", `${name} is needed: a position of a page.`);
  return position;
}

async function serveExchange(ask: Ask, { access, cookie }: RouteContext): Promise<Response> {
  const { code, label, as } = await readJsonBody(ask.env.incoming, exchangeBody);
  const made = await access.redeem(code, label ?? "a browser", ask.get("client"));
  if (isRefusal(made)) throw new Refused(made);
  const { key, secret } = made;
  if (as === "bearer") return ask.json({ key: tellKey(key), secret });
  ask.header("set-cookie", cookie(secret));
  return ask.json({ key: tellKey(key) });
}

function tellKey({ id, label, may, sessions, madeAt }: Key): object {
  return { id, label, may, madeAt, sessions: sessions === "all" ? "all" : "some" };
}

async function serveMe(ask: Ask, { isReadOnly }: RouteContext): Promise<Response> {
  const key = ask.get("key");
  return ask.json({ key: tellKey(key), mayAnswer: key.may === "answer" && !isReadOnly });
}

async function serveList(ask: Ask, { sessions }: RouteContext): Promise<Response> {
  const limit = countOf(ask.req.query("limit"), "limit", LIST_SESSIONS_DEFAULT, LIST_SESSIONS_MAX);
  const before = ask.req.query("before");
  const seen = (await sessions.catalogue.list()).filter(({ id }) => sees(ask.get("key"), id));
  const start = before === undefined ? 0 : seen.findIndex(({ id }) => id === before) + 1;
  if (before !== undefined && start === 0) throw missing;
  const shown = seen.slice(start, start + limit);
  const infos = await Promise.all(
    shown.map(async (item) => ({ id: item.id, ...wireInfo(await sessions.catalogue.describe(item)) })),
  );
  return ask.json({ sessions: infos, left: seen.length - start - shown.length });
}

async function serveSession(ask: Ask, context: RouteContext): Promise<Response> {
  return read(ask, context, async (served, item) => {
    const info = await context.sessions.catalogue.describe(item);
    const driver = isDriven(served.session) ? served.session.driver : undefined;
    return ask.json({
      id: item.id,
      ...wireInfo(info),
      mayAnswer: mayAnswer(ask, context, served),
      ...(driver === undefined ? {} : { driver }),
    });
  });
}

async function serveTail(ask: Ask, context: RouteContext): Promise<Response> {
  return read(ask, context, async (served) => {
    const page: TailPage = await served.session.tail(limitOf(ask));
    return ask.json({
      ...tellPage(ask, page),
      info: wireInfo(served.session.info),
      mayAnswer: mayAnswer(ask, context, served),
      lane: lanePositionOf(page),
    });
  });
}

function servePage(way: "older" | "newer"): Route["serve"] {
  return (ask, context) =>
    read(ask, context, async ({ session }) =>
      ask.json(tellPage(ask, await session[way](positionOf(ask, "from"), limitOf(ask)))),
    );
}

async function serveFirst(ask: Ask, context: RouteContext): Promise<Response> {
  return read(ask, context, async ({ session }) =>
    ask.json(tellPage(ask, await session.first(limitOf(ask)))),
  );
}

async function serveEntry(ask: Ask, context: RouteContext): Promise<Response> {
  return read(ask, context, async ({ session }) => {
    const page = await session.newer(positionOf(ask, "at"), 1);
    const [entry] = page.entries;
    if (entry === undefined) throw refused(404, "no-such-entry", "There is no entry at that position.");
    return ask.json({ entry, start: page.start, end: page.end });
  });
}

async function serveRaw(ask: Ask, context: RouteContext): Promise<Response> {
  return read(ask, context, async ({ session }) => {
    const limit = countOf(ask.req.query("limit"), "limit", RAW_BYTES_MAX, RAW_BYTES_MAX);
    const [entry] = (await session.newer(positionOf(ask, "at"), 1)).entries;
    // The place is the reader's own, never the client's: it names a file in a session of many.
    if (entry?.place === undefined)
      throw refused(404, "no-such-entry", "There is no entry at that position.");
    const bytes = await session.raw(entry.place, limit);
    return ask.body(Uint8Array.from(bytes).buffer, 200, {
      "content-type": "application/octet-stream",
      "content-disposition": "attachment; filename=entry.bin",
    });
  });
}

async function serveSearch(ask: Ask, context: RouteContext): Promise<Response> {
  if (context.search === undefined) throw refused(404, "no-search", "This server has no search.");
  const words = ask.req.query("q") ?? "";
  if (words === "" || words.length > SEARCH_WORDS_MAX)
    throw refused(400, "bad-query", `q is what to look for, at most ${SEARCH_WORDS_MAX} characters.`);
  const session = ask.req.query("session");
  if (session !== undefined && !sees(ask.get("key"), session)) throw missing;
  const stop = new AbortController();
  ask.env.outgoing.once("close", () => stop.abort());
  const limit = countOf(ask.req.query("limit"), "limit", SEARCH_HITS_MAX, SEARCH_HITS_MAX);
  const hits = await context.search({
    words,
    limit,
    allows: (id) => sees(ask.get("key"), id),
    signal: stop.signal,
    ...(session === undefined ? {} : { session }),
  });
  // What a search finds outside of a key's scope is not the search's to give.
  const seen = hits.filter((hit) => sees(ask.get("key"), hit.session)).slice(0, limit);
  const titles = await titlesOf(new Set(seen.map((hit) => hit.session)), context);
  return ask.json({
    hits: seen.map((hit) => {
      const title = titles.get(hit.session);
      return title === undefined ? hit : { ...hit, title };
    }),
  });
}

/** What sessions are called; those that are not called anything, or are not there any more, are left out. */
async function titlesOf(
  ids: ReadonlySet<string>,
  { sessions: { catalogue } }: RouteContext,
): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  for (const id of ids) {
    const item = await catalogue.find(id);
    const title = item === undefined ? undefined : (await catalogue.describe(item)).title;
    if (title !== undefined) titles.set(id, title);
  }
  return titles;
}

const notDriven = refused(409, "not-driven", "Hansard does not run this session's agent now.");

/** Runs an act on a session that Hansard drives. */
async function act<T>(ask: Ask, context: RouteContext, work: (acts: SessionActs) => Promise<T>): Promise<T> {
  return read(ask, context, async ({ acts }) => {
    if (acts === undefined) throw notDriven;
    return work(acts);
  });
}

async function serveAnswer(ask: Ask, context: RouteContext): Promise<Response> {
  const { approval, option } = await readJsonBody(ask.env.incoming, answerBody);
  const answered = await act(ask, context, (acts) => acts.answer(approval, option, ask.get("key").label));
  if (answered === undefined)
    throw refused(404, "no-such-approval", "No such call waits, or it has no such option.");
  return ask.json(answered, answered.taken ? 200 : 409);
}

async function servePrompt(ask: Ask, context: RouteContext): Promise<Response> {
  const { text } = await readJsonBody(ask.env.incoming, promptBody);
  const prompted = await act(ask, context, (acts) => acts.prompt(text, ask.get("key").label));
  if (prompted.taken) return ask.json(prompted);
  if (prompted.why === "not-driven") throw notDriven;
  throw refused(409, "full", "Too many prompts wait already, or this one is too long.");
}

async function serveCancel(ask: Ask, context: RouteContext): Promise<Response> {
  await readJsonBody(ask.env.incoming, emptyBody);
  await act(ask, context, async ({ cancel }) => {
    if (cancel === undefined)
      throw refused(409, "no-cancel", "Only the terminal that runs the agent can stop it.");
    await cancel(ask.get("key").label);
  });
  return ask.json({ taken: true });
}

/** The page's own files. Anybody may have them: there is nothing of a session in them unless a key came along. */
export async function serveAsset(ask: Ask, context: RouteContext): Promise<Response> {
  const found = await context.access.admit(ask.env.incoming, ask.get("client"));
  const key = isRefusal(found) ? undefined : found;
  const { sessions } = context;
  const asset = await context.pages?.({
    path: ask.req.path,
    ...(key === undefined
      ? {}
      : {
          reader: {
            mayAnswer: key.may === "answer" && !context.isReadOnly,
            list: async (limit) =>
              (await sessions.catalogue.list()).filter(({ id }) => sees(key, id)).slice(0, limit),
            describe: (item) => sessions.catalogue.describe(item),
            find: async (id) => {
              const item = await sessions.catalogue.find(id);
              return item !== undefined && sees(key, item.id) ? item : undefined;
            },
            use: (item, work) => sessions.use(item, work),
          },
        }),
  });
  if (asset === undefined) throw refused(404, "not-found", "There is nothing here.");
  const packed = packedFor(ask.req.header("accept-encoding"), asset.body);
  const body = packed ?? (typeof asset.body === "string" ? asset.body : Uint8Array.from(asset.body).buffer);
  return ask.body(body, asset.isMissing === true ? 404 : 200, {
    "content-type": asset.contentType,
    vary: "accept-encoding, cookie",
    ...(asset.styleHash === undefined ? {} : { "content-security-policy": policyOf(asset.styleHash) }),
    ...(packed === undefined ? {} : { "content-encoding": "gzip" }),
    ...(asset.isImmutable === true ? { "cache-control": "public, max-age=31536000, immutable" } : {}),
  });
}

/** A text as gzip for who takes it; undefined where it is too short to gain from it, or may not be packed. */
function packedFor(accepts: string | undefined, body: string | Uint8Array): ArrayBuffer | undefined {
  if (typeof body !== "string" || body.length < PACKED_UNITS_MIN) return undefined;
  if (!/(?:^|,)\s*gzip\s*(?:,|;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|$)/i.test(accepts ?? "")) return undefined;
  return Uint8Array.from(gzipSync(body)).buffer;
}

const inSession = "/api/sessions/:id";

/** All routes but those of the page's files. */
export const routes: readonly Route[] = [
  { method: "POST", path: "/api/exchange", need: "nothing", serve: serveExchange },
  { method: "GET", path: "/api/me", need: "read", serve: serveMe },
  { method: "GET", path: "/api/sessions", need: "read", serve: serveList },
  { method: "GET", path: "/api/search", need: "read", serve: serveSearch },
  { method: "GET", path: inSession, need: "read", serve: serveSession },
  { method: "GET", path: `${inSession}/tail`, need: "read", serve: serveTail },
  { method: "GET", path: `${inSession}/older`, need: "read", serve: servePage("older") },
  { method: "GET", path: `${inSession}/newer`, need: "read", serve: servePage("newer") },
  { method: "GET", path: `${inSession}/first`, need: "read", serve: serveFirst },
  { method: "GET", path: `${inSession}/entry`, need: "read", serve: serveEntry },
  { method: "GET", path: `${inSession}/raw`, need: "read", serve: serveRaw },
  { method: "GET", path: `${inSession}/changes`, need: "read", serve: serveChanges },
  { method: "GET", path: `${inSession}/lane`, need: "read", serve: serveSteps },
  { method: "GET", path: `${inSession}/step`, need: "read", serve: serveStep },
  { method: "POST", path: `${inSession}/answers`, need: "answer", serve: serveAnswer },
  { method: "POST", path: `${inSession}/prompts`, need: "answer", serve: servePrompt },
  { method: "POST", path: `${inSession}/cancel`, need: "answer", serve: serveCancel },
];
