/** An entry of a transcript as inert HTML: the same in an export, from the server and on the page. Pure. */
import type { Attachment, ContentBlock, Entry, FileChange } from "../transcript/index.ts";
import { attachmentWords, callWords, changeLines, outcomeWords, usageWords } from "./call-words.ts";
import { escapeHtml } from "./inert.ts";
import { plainHtml, proseHtml } from "./prose.ts";
import { speakerOf } from "./words.ts";

const signs = { "+": "add", "-": "del", "@": "at", " ": "" } as const;

/** Something folded under its summary, which is HTML; a line of its own where nothing is. */
export function details(
  summary: string,
  body: string,
  options: { readonly isBad?: boolean; readonly isOpen?: boolean } = {},
): string {
  const bad = options.isBad === true ? ' class="bad"' : "";
  if (body === "") return `<p${bad === "" ? ' class="note"' : bad}>${summary}</p>`;
  return `<details${bad}${options.isOpen === true ? " open" : ""}><summary>${summary}</summary>${body}</details>`;
}

/** A text as it was written, in a box of its own. */
export function outputHtml(text: string): string {
  return text === "" ? "" : `<pre class="output" tabindex="0" dir="auto">${escapeHtml(text)}</pre>`;
}

/** Changes of files, each line with its sign. */
export function changesHtml(changes: readonly FileChange[] | undefined): string {
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

/** An entry, every text of it escaped, what is long folded. */
export function entryHtml(entry: Entry): string {
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
