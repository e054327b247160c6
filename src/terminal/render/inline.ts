/** Inline Markdown to spans: emphasis, code, links told with their address, HTML shown as text. */
import type { Token, Tokens } from "marked";
import type { Span } from "../text/index.ts";
import type { GuardedSource } from "./guarded-source.ts";

type Style = Omit<Span, "text">;

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&#39;": "'",
  "&nbsp;": " ",
};

function decoded(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|apos|#39|nbsp);/g, (entity) => entities[entity]!);
}

/** The address of a link, where the text does not say it already. */
function addressSpans(
  token: Tokens.Link | Tokens.Image,
  said: string,
  guard: GuardedSource,
): readonly Span[] {
  const title = token.title === null || token.title === undefined ? "" : ` "${token.title}"`;
  const href = token.href.replace(/^mailto:/, "");
  if ((said === token.href || said === href || `http://${said}` === href) && title === "") return [];
  return [
    { text: " (", tone: "dim" },
    ...guard.reveal(token.href.replace(/\s/g, " "), { tone: "link" }),
    ...guard.reveal(title.replace(/\s/g, " "), { tone: "dim" }),
    { text: ")", tone: "dim" },
  ];
}

/** Spans of inline tokens; a line feed in the text, and a hard break, is a span of the text `\n` for the caller to break at. */
export function inlineSpans(
  tokens: readonly Token[],
  guard: GuardedSource,
  style: Style = {},
): readonly Span[] {
  return tokens.flatMap((token) => inlineToken(token, guard, style));
}

function inlineToken(token: Token, guard: GuardedSource, style: Style): readonly Span[] {
  switch (token.type) {
    case "strong":
      return inlineSpans(token.tokens ?? [], guard, { ...style, bold: true });
    case "em":
      return inlineSpans(token.tokens ?? [], guard, { ...style, italic: true });
    case "del":
      return inlineSpans(token.tokens ?? [], guard, { ...style, strike: true });
    case "codespan":
      return textSpans((token as Tokens.Codespan).text, guard, { ...style, tone: "code" });
    case "br":
      return [{ text: "\n" }];
    case "escape":
      return textSpans(decoded((token as Tokens.Escape).text), guard, style);
    case "link": {
      const link = token as Tokens.Link;
      const said = inlineSpans(link.tokens, guard, { ...style, tone: "link", underline: true });
      return [...said, ...addressSpans(link, link.text, guard)];
    }
    case "image": {
      const image = token as Tokens.Image;
      const said = image.text === "" ? "[image]" : `[image: ${image.text}]`;
      return [...textSpans(said, guard, { ...style, tone: "dim" }), ...addressSpans(image, "", guard)];
    }
    case "html":
      return textSpans(token.raw, guard, { ...style, tone: "dim" });
    case "text": {
      const text = token as Tokens.Text;
      if (text.tokens !== undefined) return inlineSpans(text.tokens, guard, style);
      return textSpans(decoded(text.text), guard, style);
    }
    default:
      return textSpans(token.raw, guard, style);
  }
}

function textSpans(text: string, guard: GuardedSource, style: Style): readonly Span[] {
  if (!text.includes("\n")) return guard.reveal(text, style);
  return text.split("\n").flatMap((line, index) => {
    const spans = guard.reveal(index === 0 ? line : line.trimStart(), style);
    return index === 0 ? spans : [{ text: "\n" }, ...spans];
  });
}

/** Spans parted at the line feeds that `inlineSpans` leaves. */
export function splitLines(spans: readonly Span[]): readonly (readonly Span[])[] {
  const lines: Span[][] = [[]];
  for (const span of spans) {
    if (span.text === "\n") lines.push([]);
    else lines.at(-1)!.push(span);
  }
  return lines;
}
