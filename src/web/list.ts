/** The list of sessions as HTML. Pure. */
import { escapeHtml, timeWords, titleOf } from "../html/index.ts";

/** What the list shows of a session. */
export interface Listed {
  readonly id: string;
  readonly agent: string;
  readonly agentSessionId: string;
  readonly title?: string;
  readonly cwd?: string;
  readonly modifiedAt?: number;
}

export function listItemHtml({ id, agent, agentSessionId, title, cwd, modifiedAt }: Listed): string {
  const name = titleOf(title ?? "") || agentSessionId;
  const facts = [agent, cwd, modifiedAt === undefined ? undefined : timeWords(modifiedAt)]
    .filter((fact) => fact !== undefined && fact !== "")
    .map((fact) => escapeHtml(String(fact)));
  return `<li><a href="/s/${escapeHtml(id)}"><span class="title" dir="auto">${escapeHtml(name)}</span><span class="facts">${facts.join(" · ")}</span></a></li>`;
}

/** One place where the words of a search were found. */
export interface Hit {
  readonly session: string;
  readonly at: string;
  readonly excerpt: string;
  readonly title?: string;
  readonly time?: number;
}

export function hitHtml({ session, at, excerpt, title, time }: Hit): string {
  const facts = [titleOf(title ?? ""), time === undefined ? "" : timeWords(time)].filter(
    (fact) => fact !== "",
  );
  return `<li><a href="/s/${escapeHtml(session)}#at=${encodeURIComponent(at)}"><span class="title" dir="auto">${escapeHtml(excerpt)}</span><span class="facts">${facts.map(escapeHtml).join(" · ")}</span></a></li>`;
}
