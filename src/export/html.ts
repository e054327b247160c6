/** The HTML export: one file that fetches nothing, runs nothing and reads well on a phone and on paper. */

import { beginsTurn, details, entryHtml, escapeHtml, outputHtml, timeWords, titleOf } from "../html/index.ts";
import type { SessionInfo } from "../session/index.ts";
import { htmlStyle } from "./html-style.ts";
import { CONTENTS_MAX } from "./limits.ts";
import type { Exporter, ExportItem } from "./types.ts";

export interface HtmlOptions {
  /** The sha256 of the style sheet, in base64: what the page's policy lets in. */
  readonly styleHash: string;
}

/** A page with an anchor for each turn (`#turn-3`); the list of turns is at its end, since they are not known before. */
export function createHtmlExporter({ styleHash }: HtmlOptions): Exporter {
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'`;
  const contents: string[] = [];
  let turns = 0;
  let isOpen = false;
  const close = (): string => {
    const end = isOpen ? "</section>\n" : "";
    isOpen = false;
    return end;
  };
  return {
    start(info: SessionInfo) {
      const title = escapeHtml(titleOf(info.title ?? info.id));
      const facts: (string | undefined)[] = [
        info.agent,
        info.model,
        info.cwd,
        info.gitBranch,
        info.startedAt === undefined ? undefined : timeWords(info.startedAt),
        info.id,
      ];
      const told = facts
        .filter((fact) => fact !== undefined && fact !== "")
        .map((fact) => escapeHtml(String(fact)));
      return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${htmlStyle}</style>
</head>
<body>
<header><h1 dir="auto">${title}</h1><p class="facts">${told.join(" · ")}</p><a class="skip" href="#contents">Contents</a></header>
<main>
`;
    },
    item({ entry, raw }: ExportItem) {
      let head = "";
      if (beginsTurn(entry)) {
        turns += 1;
        const time = entry.time === undefined ? "" : timeWords(entry.time);
        if (contents.length < CONTENTS_MAX && entry.kind === "delivered")
          contents.push(
            `<li><a href="#turn-${turns}" dir="auto">${escapeHtml(titleOf(entry.body) || `Turn ${turns}`)}</a></li>`,
          );
        head = `${close()}<section class="turn" id="turn-${turns}"><h2><a href="#turn-${turns}">Turn ${turns}</a>${time === "" ? "" : ` <time>${time}</time>`}</h2>\n`;
        isOpen = true;
      } else if (!isOpen) {
        head = '<section class="turn" id="before"><h2>Before the first prompt</h2>\n';
        isOpen = true;
      }
      const record = raw === undefined ? "" : details("Record", outputHtml(raw));
      const body = `${entryHtml(entry)}${record}`;
      return `${head}${entry.offPath === true ? `<div class="left"><p class="note">On a branch that was left</p>${body}</div>` : body}\n`;
    },
    end() {
      const more = turns > contents.length ? `<p class="note">… and ${turns - contents.length} more</p>` : "";
      const list =
        contents.length === 0 ? '<p class="note">No prompt</p>' : `<ol>${contents.join("\n")}</ol>`;
      return `${close()}</main>
<nav id="contents" aria-label="Contents"><h2>Contents</h2>${list}${more}</nav>
</body>
</html>
`;
    },
  };
}
