/** The HTML export: one file that fetches nothing, runs nothing and reads well on a phone and on paper. */
import type { SessionInfo } from "../session/index.ts";
import type { Attachment, ContentBlock, Entry, FileChange } from "../transcript/index.ts";
import { attachmentWords, callWords, changeLines, outcomeWords, usageWords } from "./call-words.ts";
import { plainHtml, proseHtml } from "./html-prose.ts";
import { htmlStyle } from "./html-style.ts";
import { escapeHtml } from "./inert.ts";
import { CONTENTS_MAX } from "./limits.ts";
import { beginsTurn, speakerOf, timeWords, titleOf } from "./turns.ts";
import type { Exporter, ExportItem } from "./types.ts";

export interface HtmlOptions {
  /** The sha256 of the style sheet, in base64: what the page's policy lets in. */
  readonly styleHash: string;
}

const signs = { "+": "add", "-": "del", "@": "at", " ": "" } as const;

function details(
  summary: string,
  body: string,
  options: { readonly isBad?: boolean; readonly isOpen?: boolean } = {},
): string {
  const bad = options.isBad === true ? ' class="bad"' : "";
  if (body === "") return `<p${bad === "" ? ' class="note"' : bad}>${summary}</p>`;
  return `<details${bad}${options.isOpen === true ? " open" : ""}><summary>${summary}</summary>${body}</details>`;
}

function outputHtml(text: string): string {
  return text === "" ? "" : `<pre class="output" tabindex="0" dir="auto">${escapeHtml(text)}</pre>`;
}

function changesHtml(changes: readonly FileChange[] | undefined): string {
  return (changes ?? [])
    .map((change) => {
      const rows = changeLines(change).map(({ sign, text }) => {
        const kind = signs[sign];
        return `<span${kind === "" ? "" : ` class="${kind}"`}>${escapeHtml(text)}</span>`;
      });
      const body = rows.length === 0 ? "" : `<pre class="output diff" tabindex="0">${rows.join("")}</pre>`;
      return `<p class="note">${escapeHtml(change.path)}</p>${body}`;
    })
    .join("");
}

function attachmentsHtml(attachments: readonly Attachment[] | undefined): string {
  return (attachments ?? []).map((one) => `<p class="note">${escapeHtml(attachmentWords(one))}</p>`).join("");
}

function callSummary(block: ContentBlock & { readonly kind: "tool-use" }): string {
  const { name, subject } = callWords(block);
  const outcome = outcomeWords(block.outcome);
  return `<b>${escapeHtml(name)}</b> ${escapeHtml(subject)}${outcome === "" ? "" : ` <span class="note">${escapeHtml(outcome)}</span>`}`;
}

function blockHtml(block: ContentBlock): string {
  switch (block.kind) {
    case "text":
      return proseHtml(block.text, 2);
    case "thinking":
      return block.text.trim() === "" ? "" : details("Thinking", proseHtml(block.text, 2));
    case "tool-use": {
      const isBad = block.outcome?.state === "failed" || block.outcome?.state === "denied";
      const input = block.subject === undefined ? "" : outputHtml(block.inputSummary);
      return details(callSummary(block), `${input}${changesHtml(block.changes)}`, { isBad });
    }
    case "attachment":
      return attachmentsHtml([block.attachment]);
    case "other":
      return details(escapeHtml(block.type), outputHtml(block.text));
  }
}

function entryHtml(entry: Entry): string {
  switch (entry.kind) {
    case "delivered": {
      const body = `${plainHtml(entry.body)}${attachmentsHtml(entry.attachments)}`;
      if (entry.sender === "system") return details(escapeHtml(speakerOf(entry)), body);
      const epitaph = entry.epitaph === undefined ? "" : ` (${escapeHtml(entry.epitaph)})`;
      const queued = entry.queued === true ? " (typed while the agent was at work)" : "";
      return `<div class="${entry.sender === "user" ? "you" : "peer"}"><div class="who">${escapeHtml(speakerOf(entry))}${epitaph}${queued}</div>${body}</div>`;
    }
    case "model": {
      const usage = usageWords(entry.usage);
      return `${entry.blocks.map(blockHtml).join("")}${usage === "" ? "" : `<p class="usage">${escapeHtml(usage)}</p>`}`;
    }
    case "tool-result": {
      const name = entry.call === undefined ? "" : ` of <b>${escapeHtml(entry.call.name)}</b>`;
      const body = `${outputHtml(entry.content)}${changesHtml(entry.changes)}${attachmentsHtml(entry.attachments)}`;
      const outcome = outcomeWords(entry.outcome);
      return details(
        `Result${name}${entry.isError ? " (error)" : ""}${outcome === "" ? "" : ` <span class="note">${escapeHtml(outcome)}</span>`}`,
        body,
        { isBad: entry.isError },
      );
    }
    case "streaming":
      return `${entry.thinking === "" ? "" : details("Thinking", proseHtml(entry.thinking, 2))}${proseHtml(entry.text, 2)}<p class="note">(not finished)</p>`;
    case "wounded": {
      const words = "words" in entry.wound ? entry.wound.words : undefined;
      return `<p class="bad"><b>The conversation stopped: ${escapeHtml(entry.wound.kind)}</b></p>${words === undefined ? "" : plainHtml(words)}`;
    }
    case "compacted":
      return details("What came before was compacted", proseHtml(entry.summary, 2));
    case "raw":
      return details(escapeHtml(entry.reason), outputHtml(entry.text), { isBad: entry.damaged === true });
  }
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
