/** The sessions of this computer as the server lists them. */
import { createHash } from "node:crypto";
import type { Catalogue, CatalogueItem } from "../server/index.ts";
import { servedSession } from "../server/index.ts";
import { createSession } from "../session/index.ts";
import { describeSession, type FoundSession, openLog, type SessionInfo } from "../sources/index.ts";

/** How long a list that was read is taken as it is. Finding sessions reads folders, not files. */
const LIST_MS = 1_000;
/** Sessions whose titles are remembered, each for as long as its file does not change. */
export const DESCRIBED_MAX = 2_000;

/** The id under which the server knows the session of a file: the same at each start, and telling nothing of where it lies. */
export function servedId(agent: string, path: string): string {
  return createHash("sha256").update(`${agent}\n${path}`).digest("base64url").slice(0, 22);
}

interface Listed extends CatalogueItem {
  readonly found: FoundSession;
}

export interface CatalogueOptions {
  /** All sessions there are, newest first. */
  readonly find: () => Promise<readonly FoundSession[]>;
  readonly now: () => number;
  /** The ids of the sessions that are served; all where it is absent. */
  readonly only?: ReadonlySet<string>;
  /** What is known of a session; reads its file. */
  readonly describe?: (found: FoundSession) => Promise<SessionInfo>;
}

/** A catalogue over what is found on disk, looked for anew at most once a second. */
export function createCatalogue({
  find,
  now,
  only,
  describe = describeSession,
}: CatalogueOptions): Catalogue {
  let listed: { readonly at: number; readonly items: Promise<ReadonlyMap<string, Listed>> } | undefined;
  const described = new Map<string, { readonly mark: string; readonly info: Promise<SessionInfo> }>();

  function items(): Promise<ReadonlyMap<string, Listed>> {
    if (listed === undefined || now() - listed.at >= LIST_MS) {
      const reading = read();
      listed = { at: now(), items: reading };
      // A list that failed is not kept.
      reading.catch(() => {
        if (listed?.items === reading) listed = undefined;
      });
    }
    return listed.items;
  }

  async function read(): Promise<ReadonlyMap<string, Listed>> {
    const all = new Map<string, Listed>();
    for (const found of await find()) {
      const id = servedId(found.agent, found.path);
      if (only === undefined || only.has(id)) all.set(id, { id, info: found, found });
    }
    return all;
  }

  return {
    list: async () => [...(await items()).values()],
    find: async (id) => (await items()).get(id),
    async describe(item) {
      const found = (await items()).get(item.id)?.found;
      if (found === undefined) return item.info;
      const mark = `${found.bytes}.${found.modifiedAt}`;
      const known = described.get(item.id);
      // One that cannot be described is told by its name and stat.
      const info = known?.mark === mark ? known.info : describe(found).catch(() => found);
      // The one that was asked for last comes last.
      described.delete(item.id);
      described.set(item.id, { mark, info });
      if (described.size > DESCRIBED_MAX) described.delete(described.keys().next().value ?? "");
      return info;
    },
    async open(item) {
      const log = await openLog(item.info.path);
      try {
        return servedSession(createSession(log, await log.info()), now);
      } catch (error) {
        await log.close();
        throw error;
      }
    },
  };
}
