/** The list of sessions as HTML. Pure. */
import { escapeHtml, titleOf } from "../html/index.ts";
import { timeHtml } from "./turns.ts";

/** What the list shows of a session. */
export interface Listed {
  readonly id: string;
  readonly agent: string;
  readonly agentSessionId: string;
  readonly title?: string;
  readonly cwd?: string;
  readonly modifiedAt?: number;
}

/** The end of a path, which tells projects apart on a narrow screen. */
function shortPath(path: string): string {
  const parts = path.split(/[\\/]+/).filter((part) => part !== "");
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join("/")}`;
}

function factsHtml(facts: readonly (string | undefined)[], time: number | undefined): string {
  const told = facts
    .filter((fact) => fact !== undefined && fact !== "")
    .map((fact) => `<span>${escapeHtml(fact as string)}</span>`);
  return `<span class="facts">${told.join("")}${time === undefined ? "" : timeHtml(time)}</span>`;
}

export function listItemHtml({ id, agent, agentSessionId, title, cwd, modifiedAt }: Listed): string {
  const name = titleOf(title ?? "") || agentSessionId;
  const facts = factsHtml([agent, cwd === undefined ? undefined : shortPath(cwd)], modifiedAt);
  return `<li><a href="/s/${escapeHtml(id)}"><span class="title" dir="auto">${escapeHtml(name)}</span>${facts}</a></li>`;
}

/** One place where the words of a search were found. */
export interface Hit {
  readonly session: string;
  readonly at: string;
  readonly excerpt: string;
  readonly title?: string;
  readonly time?: number;
}

/** A hit as a row that leads to its place; the words that were looked for are marked. */
export function hitHtml({ session, at, excerpt, title, time }: Hit, words: string): string {
  const facts = factsHtml([titleOf(title ?? "")], time);
  return `<li><a href="/s/${escapeHtml(session)}#at=${encodeURIComponent(at)}" data-at="${escapeHtml(at)}"><span class="excerpt" dir="auto">${markedHtml(excerpt, words)}</span>${facts}</a></li>`;
}

/** A text with each of the words that were looked for marked, whatever their case. */
export function markedHtml(text: string, words: string): string {
  const wanted = words
    .replace(/(^|\s)-(?:"[^"]*"?|\S+)/g, " ")
    .split(/[\s"]+/)
    .map((word) => word.replace(/\*+$/, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .filter((word) => word !== "");
  if (wanted.length === 0) return escapeHtml(text);
  return text
    .split(new RegExp(`(${wanted.join("|")})`, "giu"))
    .map((part, index) => (index % 2 === 0 ? escapeHtml(part) : `<mark>${escapeHtml(part)}</mark>`))
    .join("");
}
