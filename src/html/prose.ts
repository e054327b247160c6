/** Markdown of an answer as inert HTML: every text escaped, links by scheme, no picture, no HTML of the text's own. */
import { Marked, type Token, type Tokens } from "marked";
import { escapeHtml, safeAddress } from "./inert.ts";
import { PROSE_DEPTH_MAX, PROSE_UNITS_MAX } from "./limits.ts";

const marked = new Marked({ gfm: true });

/** As it is written, line breaks and all. */
export function plainHtml(text: string): string {
  return `<pre class="text" dir="auto">${escapeHtml(text)}</pre>`;
}

/** The text laid out, headings below `level`; too long or too deep a text as it is written. */
export function proseHtml(text: string, level: number): string {
  if (text.trim() === "") return "";
  if (text.length > PROSE_UNITS_MAX || isDeep(text)) return plainHtml(text);
  return `<div class="prose" dir="auto">${blocksHtml(marked.lexer(text), level, 0)}</div>`;
}

/** Deeply nested quotes and lists cost the lexer more than their length. */
function isDeep(text: string): boolean {
  return new RegExp(`^(?:[ \\t]*(?:>|[-+*](?= )|\\d{1,9}[.)](?= ))[ \\t]*){${PROSE_DEPTH_MAX}}`, "m").test(
    text,
  );
}

function blocksHtml(tokens: readonly Token[], level: number, depth: number): string {
  return tokens.map((token) => blockHtml(token, level, depth)).join("");
}

function blockHtml(token: Token, level: number, depth: number): string {
  if (depth > PROSE_DEPTH_MAX) return escapeHtml(token.raw);
  switch (token.type) {
    case "space":
    case "def":
      return token.type === "def" ? `<p>${escapeHtml(token.raw)}</p>` : "";
    case "heading": {
      const { depth: size, tokens } = token as Tokens.Heading;
      const rank = Math.min(6, level + size);
      return `<h${rank}>${inlineHtml(tokens)}</h${rank}>`;
    }
    case "paragraph":
      return `<p>${inlineHtml((token as Tokens.Paragraph).tokens)}</p>`;
    case "code": {
      const { text, lang } = token as Tokens.Code;
      const name = lang === undefined || lang === "" ? "" : ` data-language="${escapeHtml(lang)}"`;
      return `<pre class="code" tabindex="0"${name}><code>${escapeHtml(text)}</code></pre>`;
    }
    case "blockquote":
      return `<blockquote>${blocksHtml((token as Tokens.Blockquote).tokens, level, depth + 1)}</blockquote>`;
    case "list": {
      const { ordered, start, items } = token as Tokens.List;
      const tag = ordered ? "ol" : "ul";
      const from = ordered && typeof start === "number" && start !== 1 ? ` start="${start}"` : "";
      const rows = items.map((item) => {
        const box = item.task ? `<span class="box">${item.checked === true ? "☑" : "☐"}</span> ` : "";
        return `<li>${box}${blocksHtml(
          item.tokens.filter((part) => part.type !== "checkbox"),
          level,
          depth + 1,
        )}</li>`;
      });
      return `<${tag}${from}>${rows.join("")}</${tag}>`;
    }
    case "table": {
      const { header, rows } = token as Tokens.Table;
      const head = header.map((cell) => `<th scope="col">${inlineHtml(cell.tokens)}</th>`).join("");
      const body = rows
        .map((row) => `<tr>${row.map((cell) => `<td>${inlineHtml(cell.tokens)}</td>`).join("")}</tr>`)
        .join("");
      return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
    }
    case "hr":
      return "<hr>";
    case "text": {
      const { tokens, text } = token as Tokens.Text;
      return tokens === undefined ? escapeHtml(text) : inlineHtml(tokens);
    }
    default:
      return `<p>${escapeHtml(token.raw)}</p>`;
  }
}

const wraps: Readonly<Record<string, string>> = { strong: "strong", em: "em", del: "del" };

function inlineHtml(tokens: readonly Token[], depth = 0): string {
  return tokens.map((token) => partHtml(token, depth)).join("");
}

function partHtml(token: Token, depth: number): string {
  if (depth > PROSE_DEPTH_MAX) return escapeHtml(token.raw);
  switch (token.type) {
    case "text":
    case "escape": {
      const { tokens, text } = token as Tokens.Text;
      return tokens === undefined ? escapeHtml(unescaped(text)) : inlineHtml(tokens, depth + 1);
    }
    case "strong":
    case "em":
    case "del": {
      const tag = wraps[token.type] ?? "em";
      return `<${tag}>${inlineHtml((token as Tokens.Strong).tokens, depth + 1)}</${tag}>`;
    }
    case "codespan":
      return `<code>${escapeHtml((token as Tokens.Codespan).text)}</code>`;
    case "br":
      return "<br>";
    case "link":
    case "image": {
      const { href, tokens, text } = token as Tokens.Link;
      const address = safeAddress(href);
      const words =
        token.type === "link" ? inlineHtml(tokens, depth + 1) : escapeHtml(text === "" ? "picture" : text);
      if (address === undefined) return `${words} <span class="address">(${escapeHtml(href)})</span>`;
      return `<a href="${escapeHtml(address)}" rel="noopener noreferrer nofollow">${words}</a>`;
    }
    default:
      return escapeHtml(token.raw);
  }
}

const named: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": "\u00A0",
};

/** The few entities that people write in Markdown; others are shown as they are. */
function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|nbsp|#39);/g, (entity) => named[entity] ?? entity);
}
