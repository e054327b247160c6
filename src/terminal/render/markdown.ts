/** Markdown of an answer to lines. */
import { Marked, type Token, type Tokens } from "marked";
import type { Line, Span } from "../text/index.ts";
import { BlockScanner, type MarkdownBlock } from "./blocks.ts";
import { GuardedSource } from "./guarded-source.ts";
import type { Highlighter } from "./highlight.ts";
import { inlineSpans, splitLines } from "./inline.ts";
import { blankLine, codeLines, fitLine, indentOf, prefixed, tone, wrapped } from "./layout.ts";
import { blockUnitsMax, highlightUnitsMax, nestingMax, proseCellsMax } from "./limits.ts";
import { type Alignment, tableLines } from "./table.ts";

export interface ProseOptions {
  readonly width: number;
  /** Cells in front of prose; code fences stand in column 0. */
  readonly indent: number;
  readonly highlighter?: Highlighter;
  /** A style under that of the Markdown itself: `dim` for side notes. */
  readonly style?: Omit<Span, "text">;
}

const marked = new Marked({
  gfm: true,
  // An address that is defined at the end of an answer would change what was drawn long before: such definitions are shown as text.
  tokenizer: { def: () => undefined },
});

const tooDeep = new RegExp(`^(?:[ \\t]*(?:>|[-+*](?= )|\\d{1,9}[.)](?= ))[ \\t]*){${nestingMax}}`, "m");

/** Lays the blocks of one text out, each from itself alone. */
class BlockRenderer {
  private readonly options: ProseOptions;
  private readonly guard: GuardedSource;
  private readonly lead: string;
  private readonly width: number;

  constructor(options: ProseOptions, guard: GuardedSource) {
    this.options = options;
    this.guard = guard;
    this.lead = " ".repeat(indentOf(options.width, options.indent));
    this.width = Math.max(1, Math.min(options.width - this.lead.length, proseCellsMax));
  }

  /** The lines of `block`, a blank row in front where it is parted from the one before. */
  lines(block: MarkdownBlock): readonly Line[] {
    const body =
      block.kind === "code" ? this.code(block.lines, block.language, block.isPlain) : this.markdown(block);
    return block.hasGap && body.length > 0 ? [blankLine, ...body] : body;
  }

  private markdown(block: MarkdownBlock & { kind: "markdown" }): readonly Line[] {
    const { source } = block;
    const body =
      tooDeep.test(source) || source.length > blockUnitsMax * 2
        ? this.plain(source)
        : this.tokens(marked.lexer(source), this.width, 0);
    return this.lead === ""
      ? body
      : prefixed(body, [{ text: this.lead }], [{ text: this.lead }]).map(noBlank);
  }

  private plain(source: string): readonly Line[] {
    return source.split("\n").flatMap((line) => wrapped(this.guard.reveal(line, this.style), this.width));
  }

  private get style(): Omit<Span, "text"> {
    return this.options.style ?? {};
  }

  private inline(tokens: readonly Token[] | undefined, style: Omit<Span, "text"> = {}): readonly Span[] {
    return inlineSpans(tokens ?? [], this.guard, { ...this.style, ...style });
  }

  private paragraph(spans: readonly Span[], width: number): readonly Line[] {
    return splitLines(spans).flatMap((line) => wrapped(line, width));
  }

  private tokens(tokens: readonly Token[], width: number, depth: number): readonly Line[] {
    const lines: Line[] = [];
    let wantsGap = false;
    for (const token of tokens) {
      if (token.type === "space") {
        wantsGap = true;
        continue;
      }
      const body = this.token(token, width, depth);
      if (body.length === 0) continue;
      const standsApart = token.type === "code" || token.type === "heading" || token.type === "table";
      if (lines.length > 0 && (wantsGap || standsApart)) lines.push(blankLine);
      lines.push(...body);
      wantsGap = standsApart || token.type === "hr";
    }
    return lines;
  }

  private token(token: Token, width: number, depth: number): readonly Line[] {
    switch (token.type) {
      case "heading":
        return this.paragraph(this.inline(token.tokens, { tone: "heading", bold: true }), width);
      case "paragraph":
        return this.paragraph(this.inline(token.tokens), width);
      case "text":
        return this.paragraph(this.inline(token.tokens ?? [token]), width);
      case "code": {
        const code = token as Tokens.Code;
        return this.code(code.text.split("\n"), /^\s*([^\s{]*)/.exec(code.lang ?? "")![1]!, false);
      }
      case "blockquote": {
        const quote = token as Tokens.Blockquote;
        const inner = this.tokens(quote.tokens, Math.max(1, width - 2), depth + 1);
        const bar = width > 4 ? [tone("│ ", "rule")] : [];
        return prefixed(inner, bar, bar);
      }
      case "list":
        return this.list(token as Tokens.List, width, depth);
      case "table": {
        const table = token as Tokens.Table;
        const cell = (of: Tokens.TableCell): readonly Span[] =>
          this.inline(of.tokens).map((span) => (span.text === "\n" ? { ...span, text: " " } : span));
        return tableLines(
          {
            header: table.header.map(cell),
            rows: table.rows.map((row) => row.map(cell)),
            align: table.align as readonly Alignment[],
          },
          width,
        );
      }
      case "hr":
        return [fitLine([tone("─".repeat(Math.max(1, Math.min(width - 1, 40))), "rule")])];
      case "html":
        return this.paragraph(this.source(token.raw.trimEnd(), { tone: "dim" }), width);
      default:
        return this.paragraph(this.source(token.raw.trimEnd(), {}), width);
    }
  }

  private source(text: string, style: Omit<Span, "text">): readonly Span[] {
    return text
      .split("\n")
      .flatMap((line, index) => [
        ...(index === 0 ? [] : [{ text: "\n" }]),
        ...this.guard.reveal(line, { ...this.style, ...style }),
      ]);
  }

  private list(list: Tokens.List, width: number, depth: number): readonly Line[] {
    const lines: Line[] = [];
    const start = typeof list.start === "number" ? list.start : 1;
    for (const [index, item] of list.items.entries()) {
      if (index > 0 && list.loose) lines.push(blankLine);
      const marker = list.ordered ? `${start + index}. ` : `${["•", "◦", "▪"][Math.min(depth, 2)]} `;
      const hang = Math.min(marker.length, Math.floor(width / 2));
      const box = item.task ? (item.checked === true ? "☑ " : "☐ ") : "";
      const content = item.tokens.filter((token) => token.type !== "checkbox");
      const inner = this.tokens(content, Math.max(1, width - hang - box.length), depth + 1);
      const first = [tone(marker.slice(0, hang), "dim"), ...(box === "" ? [] : [tone(box, "code")])];
      const body = inner.length === 0 || inner[0]!.wrap === "flow" ? [blankLine, ...inner] : inner;
      lines.push(...prefixed(body, first, [{ text: " ".repeat(hang + box.length) }]).map(noBlank));
    }
    return lines;
  }

  private code(lines: readonly string[], language: string, isPlain: boolean): readonly Line[] {
    const { highlighter, width } = this.options;
    const code = lines.join("\n");
    const colored =
      isPlain || language === "" || code.length > highlightUnitsMax
        ? undefined
        : highlighter?.lines(code, this.guard.plain(language));
    if (colored === undefined) {
      return lines.flatMap((line) => codeLines(this.guard.reveal(line, { ...this.style }), width));
    }
    return colored.flatMap((spans) =>
      codeLines(
        spans.flatMap(({ text, ...style }) => this.guard.reveal(text, { ...this.style, ...style })),
        width,
      ),
    );
  }
}

function noBlank(line: Line): Line {
  return line.wrap === "fit" && line.spans.every((span) => /^ *$/.test(span.text)) ? blankLine : line;
}

/** A growing text: gives the lines that are settled, and those of the block under work. */
export class ProseStream {
  private readonly guard: GuardedSource = new GuardedSource();
  private readonly scanner = new BlockScanner();
  private readonly renderer: BlockRenderer;
  private partial = "";

  constructor(options: ProseOptions) {
    this.renderer = new BlockRenderer(options, this.guard);
  }

  /** Takes `delta` in; gives the lines that cannot change any more, in order, each once. */
  push(delta: string): readonly Line[] {
    const settled: Line[] = [];
    let from = 0;
    for (let to = delta.indexOf("\n"); to !== -1; to = delta.indexOf("\n", from)) {
      this.partial += delta.slice(from, to);
      from = to + 1;
      this.cut(settled);
      this.feed(this.partial, settled);
      this.partial = "";
    }
    this.partial += delta.slice(from);
    this.cut(settled);
    return settled;
  }

  /** The lines of the block under work as it stands. */
  open(): readonly Line[] {
    const line = this.partial === "" ? undefined : this.guard.line(this.partial);
    return this.scanner.preview(line).flatMap((block) => this.renderer.lines(block));
  }

  /** The rest, settled. */
  end(): readonly Line[] {
    const settled: Line[] = [];
    if (this.partial !== "") this.feed(this.partial, settled);
    this.partial = "";
    settled.push(...this.scanner.end().flatMap((block) => this.renderer.lines(block)));
    return settled;
  }

  private feed(raw: string, settled: Line[]): void {
    const line = this.guard.line(raw);
    for (const block of this.scanner.push(line)) settled.push(...this.renderer.lines(block));
  }

  /** A line that is too long to be held is read in pieces, cut at a space where there is one. */
  private cut(settled: Line[]): void {
    while (this.partial.length > blockUnitsMax) {
      const space = this.partial.lastIndexOf(" ", blockUnitsMax);
      let end = space > blockUnitsMax / 2 ? space + 1 : blockUnitsMax;
      const unit = this.partial.charCodeAt(end - 1);
      if (unit >= 0xd800 && unit < 0xdc00) end -= 1;
      this.feed(this.partial.slice(0, end), settled);
      this.partial = this.partial.slice(end);
    }
  }
}

/** The lines of a whole Markdown text. */
export function proseLines(text: string, options: ProseOptions): readonly Line[] {
  const stream = new ProseStream(options);
  return [...stream.push(text), ...stream.end()];
}
