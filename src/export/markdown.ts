/** The Markdown export: prompts as quotes, answers as they were written but for HTML, tools in fences. */

import { Marked, type Token } from "marked";
import {
  attachmentWords,
  beginsTurn,
  callWords,
  changeLines,
  inertLine,
  inertText,
  outcomeWords,
  PROSE_UNITS_MAX,
  safeAddress,
  speakerOf,
  timeWords,
  titleOf,
  usageWords,
} from "../html/index.ts";
import type { SessionInfo } from "../session/index.ts";
import type { ContentBlock, Entry, FileChange } from "../transcript/index.ts";
import type { Exporter, ExportItem } from "./types.ts";

const marked = new Marked({ gfm: true });

/** A fence longer than any run of its sign in the text, so that nothing in the text ends it. */
function fenced(text: string, language = ""): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}\n\n`;
}

/** Words without a meaning in Markdown. */
function literal(text: string): string {
  return inertLine(text).replace(/[\\`*_{}[\]<>()#+\-.!|~&]/g, "\\$&");
}

/** Whether the tokens hold what does something: HTML, a link to run, a picture to fetch, a definition that names an address from afar. */
function acts(tokens: readonly Token[]): boolean {
  let isFound = false;
  void marked.walkTokens([...tokens], (token) => {
    if (token.type === "html" || token.type === "image" || token.type === "def") isFound = true;
    if (token.type === "link" && safeAddress(String(token["href"])) === undefined) isFound = true;
  });
  return isFound;
}

/** A line that opens or closes a fence; one of backticks has none in what follows them. */
const fenceMark = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;

/** The fence that is open after `line`, where `fence` was before it. */
function fenceAfter(line: string, fence: string | undefined): string | undefined {
  const mark = fenceMark.exec(line)?.[1];
  if (fence === undefined) return mark;
  return mark?.startsWith(fence) === true && line.trim() === mark ? undefined : fence;
}

/** Outside of fences no `<` and no `!` before a bracket keeps its meaning. */
function disarmed(text: string): string {
  let fence: string | undefined;
  return text
    .split("\n")
    .map((line) => {
      const isFenced = fence !== undefined;
      fence = fenceAfter(line, fence);
      if (isFenced || fence !== undefined) return line;
      return line.replaceAll("<", "&lt;").replaceAll("![", "!\\[");
    })
    .join("\n");
}

/** The text with the fence closed that it leaves open. */
function closed(text: string): string {
  let fence: string | undefined;
  for (const line of text.split("\n")) fence = fenceAfter(line, fence);
  return fence === undefined ? text : `${text}\n${fence}`;
}

/** Whether what is written behind the text is a paragraph of its own. */
function isOver(text: string): boolean {
  const last = marked.lexer(`${text}\n\nbehind`).at(-1);
  return last?.type === "paragraph" && last.raw === "behind";
}

/**
 * Markdown that renders as it was written, or, where that would act (HTML, pictures, links of a scheme that is not allowed), with those
 * parts as text; what still acts then is shown in a fence. A fence that the text leaves open is closed.
 */
export function safeMarkdown(text: string): string {
  const inert = inertText(text).trim();
  if (inert === "") return "";
  if (inert.length > PROSE_UNITS_MAX) return fenced(inert);
  for (const form of [closed(inert), closed(disarmed(inert))])
    if (!acts(marked.lexer(form)) && isOver(form)) return `${form}\n\n`;
  return fenced(inert);
}

function quoted(text: string): string {
  const body = safeMarkdown(text).trimEnd();
  return body === ""
    ? ""
    : `${body
        .split("\n")
        .map((line) => (line === "" ? ">" : `> ${line}`))
        .join("\n")}\n\n`;
}

function changes(list: readonly FileChange[] | undefined): string {
  return (list ?? [])
    .map((change) => {
      const lines = changeLines(change).map(({ text }) => inertText(text));
      return `${literal(change.path)}\n\n${lines.length === 0 ? "" : fenced(lines.join("\n"), "diff")}`;
    })
    .join("");
}

function blockText(block: ContentBlock): string {
  switch (block.kind) {
    case "text":
      return safeMarkdown(block.text);
    case "thinking":
      return block.text.trim() === "" ? "" : `*Thinking*\n\n${quoted(block.text)}`;
    case "tool-use": {
      const { name, subject } = callWords(block);
      const outcome = outcomeWords(block.outcome);
      const head = `**${literal(name)}** ${literal(subject)}${outcome === "" ? "" : ` — ${literal(outcome)}`}`;
      return `${head.trimEnd()}\n\n${changes(block.changes)}`;
    }
    case "attachment":
      return `${literal(attachmentWords(block.attachment))}\n\n`;
    case "other":
      return `*${literal(block.type)}*\n\n${fenced(inertText(block.text))}`;
  }
}

function entryText(entry: Entry): string {
  switch (entry.kind) {
    case "delivered": {
      const speaker = `**${literal(speakerOf(entry))}**${entry.epitaph === undefined ? "" : ` (${literal(entry.epitaph)})`}`;
      const pinned = (entry.attachments ?? []).map((a) => `${literal(attachmentWords(a))}\n\n`).join("");
      return `${speaker}\n\n${quoted(entry.body)}${pinned}`;
    }
    case "model": {
      const usage = usageWords(entry.usage);
      const said = entry.blocks.map(blockText).join("");
      return usage === "" ? said : `${said}*${literal(usage)}*\n\n`;
    }
    case "tool-result": {
      const head = entry.call === undefined ? "Result" : `Result of ${literal(entry.call.name)}`;
      const isTold = entry.changes !== undefined && entry.changes.length > 0;
      const body = entry.content === "" ? "" : fenced(inertText(entry.content));
      const pinned = (entry.attachments ?? []).map((a) => `${literal(attachmentWords(a))}\n\n`).join("");
      return `*${head}${entry.isError ? " (error)" : ""}*\n\n${body}${isTold ? changes(entry.changes) : ""}${pinned}`;
    }
    case "streaming":
      return `${entry.thinking === "" ? "" : `*Thinking*\n\n${quoted(entry.thinking)}`}${safeMarkdown(entry.text)}*(not finished)*\n\n`;
    case "wounded":
      return `**The conversation stopped: ${literal(entry.wound.kind)}**\n\n${"words" in entry.wound && entry.wound.words !== undefined ? quoted(entry.wound.words) : ""}`;
    case "compacted":
      return `---\n\n*What came before was compacted.*\n\n${quoted(entry.summary)}`;
    case "raw":
      return `*${literal(entry.reason)}*\n\n${fenced(inertText(entry.text))}`;
  }
}

/** Safe to render: no HTML, no picture, no address but of http, https and mailto. */
export function createMarkdownExporter(): Exporter {
  let turn = 0;
  return {
    start(info: SessionInfo) {
      const facts: (string | undefined)[] = [
        info.agent,
        info.model,
        info.cwd,
        info.startedAt === undefined ? undefined : timeWords(info.startedAt),
        info.id,
      ];
      const told = facts
        .filter((fact) => fact !== undefined && fact !== "")
        .map((fact) => literal(String(fact)));
      return `# ${literal(titleOf(info.title ?? info.id))}\n\n${told.join(" · ")}\n\n`;
    },
    item({ entry, raw }: ExportItem) {
      let head = "";
      if (beginsTurn(entry)) {
        turn += 1;
        const time = entry.time === undefined ? "" : ` · ${literal(timeWords(entry.time))}`;
        head = `## Turn ${turn}${time}\n\n`;
      }
      const left = entry.offPath === true ? "*On a branch that was left:*\n\n" : "";
      return `${head}${left}${entryText(entry)}${raw === undefined ? "" : fenced(inertText(raw), "json")}`;
    },
    end: () => "",
  };
}
