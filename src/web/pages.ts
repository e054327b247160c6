/** The page's files and documents, as the server asks for them. */
import { createHash } from "node:crypto";
import {
  type Asset,
  type CutEntry,
  cutEntry,
  lanePositionOf,
  type PageReader,
  type Pages,
} from "../server/index.ts";
import type { TailPage } from "../session/index.ts";
import { type AssetNames, listHtml, missingHtml, sessionHtml, signInHtml } from "./document.ts";
import { iconSvg, manifestText } from "./identity.ts";
import { FIRST_ENTRIES_MAX, FIRST_TEXT_MAX, FIRST_UNITS_MAX, LIST_MAX } from "./limits.ts";
import type { Listed } from "./list.ts";
import { pageStyle } from "./style.ts";
import { articleHtml, type Placed, placedOf } from "./turns.ts";

export interface PagesOptions {
  /** The page's script, built. */
  readonly script: string;
}

const html = "text/html; charset=utf-8";

function markOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 12);
}

/** The documents and files of the page: the list at `/`, a session at `/s/<id>`; without a key, the sign-in. Holds nothing between requests. */
export function createPages({ script }: PagesOptions): Pages {
  const names: AssetNames = {
    script: `/page.${markOf(script)}.js`,
    style: pageStyle,
  };
  const styleHash = createHash("sha256").update(pageStyle).digest("base64");
  const documentOf = (body: string): Asset => ({ contentType: html, body, styleHash });
  return async ({ path, reader }) => {
    switch (path) {
      case names.script:
        return { contentType: "text/javascript; charset=utf-8", body: script, isImmutable: true };
      case "/icon.svg":
        return { contentType: "image/svg+xml", body: iconSvg };
      case "/manifest.webmanifest":
        return { contentType: "application/manifest+json", body: manifestText };
      case "/":
        return documentOf(reader === undefined ? signInHtml(names) : await list(names, reader));
    }
    const id = /^\/s\/([\w-]{1,64})$/.exec(path)?.[1];
    if (id === undefined) return undefined;
    if (reader === undefined) return documentOf(signInHtml(names));
    const body = await session(names, reader, id);
    return body === undefined ? { ...documentOf(missingHtml(names)), isMissing: true } : documentOf(body);
  };
}

async function list(names: AssetNames, reader: PageReader): Promise<string> {
  const items = await reader.list(Number.POSITIVE_INFINITY);
  const shown = await Promise.all(
    items.slice(0, LIST_MAX).map(async (item): Promise<Listed> => {
      const info = await reader.describe(item);
      return {
        id: item.id,
        agent: info.agent,
        agentSessionId: info.id,
        ...(info.title === undefined ? {} : { title: info.title }),
        ...(info.cwd === undefined ? {} : { cwd: info.cwd }),
        ...(info.modifiedAt === undefined ? {} : { modifiedAt: info.modifiedAt }),
      };
    }),
  );
  return listHtml(names, shown, items.length - shown.length);
}

async function session(names: AssetNames, reader: PageReader, id: string): Promise<string | undefined> {
  const item = await reader.find(id);
  if (item === undefined) return undefined;
  return await reader.use(item, async (served) => {
    const page = await served.session.tail(FIRST_ENTRIES_MAX);
    const { info } = served.session;
    const placed = newestWithin(page);
    const first = placed[0]?.at;
    const live = new Set(page.live);
    return sessionHtml(names, {
      id,
      info: {
        agent: info.agent,
        ...(info.title === undefined ? {} : { title: info.title }),
        ...(info.model === undefined ? {} : { model: info.model }),
        ...(info.cwd === undefined ? {} : { cwd: info.cwd }),
      },
      agentSessionId: info.id,
      placed,
      start: first ?? page.start,
      atStart: page.atStart && placed.length === page.entries.length,
      turnOpen: page.turnOpen,
      lane: lanePositionOf(page),
      mayAnswer: reader.mayAnswer,
      pending: placed.flatMap(({ entry }) => (live.has(entry.name) ? [entry] : [])),
    });
  });
}

/** The newest entries of a page whose HTML is small enough for a slow link, at least one. */
function newestWithin(page: TailPage): readonly Placed[] {
  const live = new Set(page.live);
  const kept: Placed[] = [];
  let units = 0;
  for (let index = page.entries.length - 1; index >= 0; index -= 1) {
    const whole = page.entries[index]!;
    const cut: CutEntry = cutEntry(whole, FIRST_TEXT_MAX, live.has(whole.name));
    const placed = placedOf(cut, page.positions[index]);
    units += articleHtml(placed).length;
    if (units > FIRST_UNITS_MAX && kept.length > 0) break;
    kept.push(placed);
  }
  return kept.reverse();
}
