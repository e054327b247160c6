/** What every route is given, and how it finds its session. */
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import { SourceError } from "../session/index.ts";
import { type Access, sees } from "./access.ts";
import { isVoid } from "./changes-hub.ts";
import type { Key } from "./keys.ts";
import { type Refused, refused } from "./requests.ts";
import type { Sessions } from "./sessions.ts";
import type { CatalogueItem, Clock, Pages, Search } from "./types.ts";

export interface RouteContext {
  readonly access: Access;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly search: Search | undefined;
  readonly pages: Pages | undefined;
  /** True where nobody may answer or prompt, whatever their key. */
  readonly isReadOnly: boolean;
  /** The whole Set-Cookie value that puts a secret into the browser, or takes it out. */
  readonly cookie: (secret: string | undefined) => string;
  readonly onFailure: (error: unknown) => void;
}

export type Ask = Context<{ Bindings: HttpBindings; Variables: { client: string; key: Key } }>;

/** What a hidden session and a missing one are told alike. */
export const missing: Refused = refused(404, "no-such-session", "There is no such session.");

/** The session of a path, as far as the key sees it: a hidden one and a missing one are told in the same words. */
export async function sessionOf(ask: Ask, { sessions }: RouteContext): Promise<CatalogueItem> {
  const item = await sessions.catalogue.find(ask.req.param("id") ?? "");
  if (item === undefined || !sees(ask.get("key"), item.id)) throw missing;
  return item;
}

/** A reader's error as a refusal; any other error as it is. */
export function asRefused(error: unknown): unknown {
  if (!(error instanceof SourceError)) return error;
  if (isVoid(error))
    return refused(400, "bad-position", "That is no position of this session: read its tail again.");
  if (error.code === "not-found") return missing;
  return refused(503, "unreadable", "The session cannot be read now.");
}
