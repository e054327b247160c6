/** The page's documents: what is shown before any script runs. Pure. */
import { escapeHtml, titleOf } from "../html/index.ts";
import type { Entry } from "../transcript/index.ts";
import { PROMPT_UNITS_MAX } from "./limits.ts";
import { type Listed, listItemHtml } from "./list.ts";
import { type Placed, turnsHtml } from "./turns.ts";

/** Names of the page's files, their content's mark in them, so that they may be kept for ever. */
export interface AssetNames {
  readonly script: string;
  /** The style sheet, in the document itself: over a slow line one way there and back less. */
  readonly style: string;
}

function documentHtml(names: AssetNames, view: string, title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#ffffff" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#15171a" media="(prefers-color-scheme: dark)">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${names.style}</style>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="manifest" href="/manifest.webmanifest">
<script type="module" src="${names.script}"></script>
</head>
<body data-view="${view}">
${body}
</body>
</html>
`;
}

const hitsHtml =
  '<section id="hits" aria-label="Found" aria-live="polite" hidden><p class="note"></p><ul class="list"></ul></section>';

const searchSign =
  '<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><circle cx="10.5" cy="10.5" r="6.5" fill="none" stroke="currentColor" stroke-width="2"/><path d="M15.5 15.5 21 21" stroke="currentColor" stroke-width="2" stroke-linecap="round"/></svg>';

/** A value as the content of a script element that holds data: nothing in it can end the element. */
function dataHtml(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Asks for the code that `hansard serve` or `hansard keys code` shows. */
export function signInHtml(names: AssetNames): string {
  return documentHtml(
    names,
    "sign-in",
    "Hansard",
    `<main class="sign-in">
<h1>Hansard</h1>
<p>The record of your coding agents, on another screen.</p>
<form id="sign-in">
<label for="code">One-time code</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" required maxlength="64">
<button type="submit">Open</button>
<p id="said" role="alert"></p>
</form>
<p class="note">The terminal that runs <code>hansard serve</code> shows a code; <code>hansard keys code</code> makes another one.</p>
<noscript><p class="bad">Signing in needs script to be allowed for this page.</p></noscript>
</main>`,
  );
}

/** Said at the address of a session that is not here, or that the key may not see: the same in both cases. */
export function missingHtml(names: AssetNames): string {
  return documentHtml(
    names,
    "missing",
    "No such session · Hansard",
    `<main class="sign-in">
<h1>No such session</h1>
<p>It was removed, or this key may not see it.</p>
<p><a href="/">All sessions</a></p>
</main>`,
  );
}

export function listHtml(names: AssetNames, sessions: readonly Listed[], left: number): string {
  const last = sessions.at(-1);
  const rows =
    sessions.length === 0
      ? '<p class="note">No session is here yet, or none that this key may see.</p>'
      : `<ul id="sessions" class="list">${sessions.map(listItemHtml).join("")}</ul>`;
  const more =
    left === 0 || last === undefined
      ? ""
      : `<button type="button" id="more" data-before="${escapeHtml(last.id)}">${left} older</button>`;
  return documentHtml(
    names,
    "list",
    "Sessions · Hansard",
    `<header><h1>Sessions</h1>
<form id="search" role="search"><label for="words" class="hidden">Search</label><input id="words" type="search" placeholder="Search all sessions" maxlength="200" enterkeyhint="search"><button type="submit">Search</button></form>
</header>
<main>
${hitsHtml}
<section aria-label="Sessions">${rows}${more}</section>
</main>`,
  );
}

export interface SessionPage {
  readonly id: string;
  readonly info: {
    readonly agent: string;
    readonly title?: string;
    readonly model?: string;
    readonly cwd?: string;
  };
  readonly agentSessionId: string;
  readonly placed: readonly Placed[];
  /** The position of the first entry, where older ones are read from. */
  readonly start: string;
  readonly atStart: boolean;
  readonly turnOpen: boolean;
  /** The position at which the lane of changes goes on. */
  readonly lane: string;
  readonly mayAnswer: boolean;
  /** The entries that may still change: what comes to their ends is put there. */
  readonly pending: readonly Entry[];
}

export function sessionHtml(names: AssetNames, page: SessionPage): string {
  const { id, info, agentSessionId, placed, start, atStart, turnOpen, lane, mayAnswer } = page;
  const title = titleOf(info.title ?? "") || agentSessionId;
  const facts = [info.agent, info.model, info.cwd]
    .filter((fact) => fact !== undefined && fact !== "")
    .map((fact) => escapeHtml(String(fact)));
  const older = `<button type="button" id="older"${atStart ? " hidden" : ""}>Earlier</button>`;
  const data = { id, start, lane, "may-answer": String(mayAnswer), "turn-open": String(turnOpen) };
  const attributes = Object.entries(data)
    .map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`)
    .join("");
  return documentHtml(
    names,
    "session",
    `${title} · Hansard`,
    `<header class="bar">
<div class="row"><a href="/" class="back" aria-label="All sessions">‹</a>
<div class="name"><h1 dir="auto">${escapeHtml(title)}</h1><p class="facts">${facts.join(" · ")}</p></div>
<button type="button" id="find" class="sign" aria-label="Search this session" aria-expanded="false" aria-controls="search">${searchSign}</button></div>
<form id="search" role="search" hidden><label for="words" class="hidden">Search this session</label><input id="words" type="search" placeholder="Search this session" maxlength="200" enterkeyhint="search"><button type="submit">Search</button></form>
${hitsHtml}
</header>
<main id="log"${attributes}>
<p class="start note"${atStart ? "" : " hidden"}>The beginning</p>
${older}
<div id="turns">${turnsHtml(placed, turnOpen)}</div>
</main>
<footer>
<button type="button" id="newest" hidden>Newest</button>
<section id="asked" aria-label="Waiting for you" aria-live="assertive" hidden></section>
<details id="plan" hidden><summary></summary><ol></ol></details>
<p id="said" role="status"></p>
<div class="row"><p id="standing" class="note" role="status" aria-live="off"></p>
<nav id="jump" aria-label="Prompts"><button type="button" id="previous" class="sign" aria-label="Earlier prompt">↑</button><button type="button" id="next" class="sign" aria-label="Later prompt">↓</button></nav></div>
<form id="prompt" hidden><label for="text" class="hidden">Prompt</label><textarea id="text" rows="1" placeholder="Ask something" maxlength="${PROMPT_UNITS_MAX}"></textarea><button type="submit">Send</button><button type="button" id="cancel" hidden>Stop</button></form>
</footer>
<div id="live" class="hidden" role="log" aria-live="polite"></div>
<script type="application/json" id="pending">${dataHtml(page.pending)}</script>`,
  );
}
