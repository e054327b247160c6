/** Pieces that several kinds of entries share: attachments, hidden text, thinking. */
import type { Attachment } from "../../transcript/index.ts";
import { type Line, type Span, safeSpans, sanitizeLine, sanitizeLines } from "../text/index.ts";
import { countLines, hintLine } from "./fold.ts";
import { formatBytes, formatCount, plural } from "./format.ts";
import { cutSpans, fitLine, indentOf, tone, wrapped } from "./layout.ts";
import { thinkingRowsMax } from "./limits.ts";
import type { RenderOptions } from "./options.ts";

/** Cells in front of prose. */
export const proseIndent = 3;
/** Cells in front of what belongs to a tool call. */
export const outputIndent = 5;

export function moreKeyOf(options: RenderOptions): string {
  return sanitizeLine(options.moreKey ?? "Ctrl+O");
}

/** One row a stub: `▣ image/png  34 kB  shot.png`. */
export function attachmentLines(
  attachments: readonly Attachment[] | undefined,
  indent: number,
  options: RenderOptions,
): readonly Line[] {
  return (attachments ?? []).map((attachment) => {
    const size = attachment.bytes === undefined ? "" : `  ${formatBytes(attachment.bytes)}`;
    const name = attachment.name === undefined ? [] : [{ text: "  " }, ...safeSpans(attachment.name)];
    const spans: readonly Span[] = [
      { text: " ".repeat(indentOf(options.width, indent)) },
      tone("▣ ", "dim"),
      ...safeSpans(attachment.mediaType, { tone: "dim" }),
      tone(size, "dim"),
      ...name,
    ];
    return fitLine(cutSpans(spans, options.width));
  });
}

/** Text as it was typed: its line breaks and indents kept, long lines wrapped between words. */
export function typedLines(
  text: string,
  width: number,
  style: Omit<Span, "text">,
  first: readonly Span[],
  rest: readonly Span[],
): readonly Line[] {
  return sanitizeLines(text.replace(/\s+$/, "")).flatMap((line, index) =>
    wrapped(
      line.map((span) => (span.tone === "danger" ? span : { ...span, ...style })),
      width,
      index === 0 ? first : rest,
      rest,
    ),
  );
}

export interface TypedFold {
  readonly rowsMax: number;
  readonly style: Omit<Span, "text">;
  readonly first: readonly Span[];
  readonly rest: readonly Span[];
  readonly indent: number;
}

/** Such text folded to rows, with the hidden lines (or, where they are one long line, words) said. */
export function foldedTyped(text: string, fold: TypedFold, options: RenderOptions): readonly Line[] {
  const { width } = options;
  const { rowsMax, style, first, rest } = fold;
  if (rowsMax === Number.POSITIVE_INFINITY) return typedLines(text, width, style, first, rest);
  // Far more than the rows can hold, cut where no character is split.
  const reach = rowsMax * width * 4 + 1024;
  const cutAt = /[\ud800-\udbff]/.test(text.charAt(reach - 1)) ? reach - 1 : reach;
  const isWhole = text.length <= cutAt;
  const lines = typedLines(isWhole ? text : text.slice(0, cutAt), width, style, first, rest);
  if (isWhole && lines.length <= rowsMax) return lines;
  const shown = lines.slice(0, rowsMax);
  const rows = lines.length - rowsMax;
  const indent = indentOf(width, fold.indent);
  const key = moreKeyOf(options);
  if (isWhole)
    return [
      ...shown,
      hintLine(`${plural(rows, "row")} more`, `${formatCount(rows)} more`, key, width, indent),
    ];
  const what = `${formatBytes(text.length)} in ${plural(countLines(text, 0, text.length), "line")}`;
  return [...shown, hintLine(`${what} in all`, formatBytes(text.length), key, width, indent)];
}

/** Thinking: dim, folded in compact detail. */
export function thinkingLines(text: string, options: RenderOptions): readonly Line[] {
  if (text.trim() === "") return [];
  const indent = indentOf(options.width, proseIndent);
  const lead = " ".repeat(Math.max(0, indent - 2));
  return foldedTyped(
    text.trim(),
    {
      rowsMax: options.detail === "compact" ? thinkingRowsMax : Number.POSITIVE_INFINITY,
      style: { tone: "dim", italic: true },
      first: indent < 2 ? [] : [{ text: lead }, tone("∴ ", "dim")],
      rest: [{ text: " ".repeat(indent) }],
      indent: proseIndent,
    },
    options,
  );
}
