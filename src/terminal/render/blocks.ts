/**
 * Cuts Markdown into blocks, line by line, so that what a block is never depends on lines after its end. A long answer can then be
 * drawn while it is being written: a block that has ended is settled. Items of a list and pieces of a code fence are blocks too.
 */
import { blockUnitsMax, codePieceLinesMax, codePieceLinesMin, highlightLinesMax } from "./limits.ts";

export type MarkdownBlock =
  /** Markdown that is parsed by itself. `item`: one item of a list, with its marker. */
  | { readonly kind: "markdown"; readonly source: string; readonly isItem: boolean; readonly hasGap: boolean }
  /** Lines of a fence. `isPlain`: too far into a long fence for syntax colour. */
  | {
      readonly kind: "code";
      readonly lines: readonly string[];
      readonly language: string;
      readonly hasGap: boolean;
      readonly isPlain: boolean;
    };

interface Fence {
  readonly char: string;
  readonly length: number;
  readonly indent: number;
  readonly language: string;
}

const fenceOpen = /^( *)(`{3,}|~{3,})([^\n]*)$/;
const itemStart = /^( {0,3})([-+*]|\d{1,9}[.)])( +|$)/;
const thematicBreak = /^ {0,3}(?:(?:- *){3,}|(?:_ *){3,}|(?:\* *){3,})$/;
const blockStart = /^ {0,3}(?:#{1,6}(?: |$)|>|<\/?[a-zA-Z!])/;
const htmlStart = /^ {0,3}<[a-zA-Z/!?]/;

function fenceOf(line: string): Fence | undefined {
  const match = fenceOpen.exec(line);
  if (match === null || (match[2]!.startsWith("`") && match[3]!.includes("`"))) return undefined;
  const language = /^\s*([^\s{]*)/.exec(match[3]!)![1]!;
  return { char: match[2]![0]!, length: match[2]!.length, indent: match[1]!.length, language };
}

function closesFence(line: string, fence: Fence): boolean {
  const text = line.trim();
  return text.length >= fence.length && text === fence.char.repeat(text.length);
}

function indentOfLine(line: string): number {
  return line.length - line.trimStart().length;
}

/** The state between two lines: small, and copied to look ahead at an unfinished line. */
interface State {
  mode: "none" | "text" | "item" | "fence";
  lines: string[];
  units: number;
  /** Blank lines seen since the last line with text. */
  blanks: number;
  /** Whether the block under work is parted from the one before by a blank row. */
  hasGap: boolean;
  isFirst: boolean;
  wasCode: boolean;
  contentIndent: number;
  itemFence: Fence | undefined;
  fence: Fence | undefined;
  /** Lines of the fence given out in earlier pieces. */
  fenceLines: number;
}

const initial: State = {
  mode: "none",
  lines: [],
  units: 0,
  blanks: 0,
  hasGap: false,
  isFirst: true,
  wasCode: false,
  contentIndent: 0,
  itemFence: undefined,
  fence: undefined,
  fenceLines: 0,
};

export class BlockScanner {
  private state: State = { ...initial, lines: [] };
  private done: MarkdownBlock[] = [];

  /** The blocks that `line` brought to an end. */
  push(line: string): readonly MarkdownBlock[] {
    this.line(line);
    return this.take();
  }

  /** The block under work, ended as it stands. */
  end(): readonly MarkdownBlock[] {
    this.close();
    return this.take();
  }

  /** What `push(line)` and `end()` would give; nothing changes. `undefined` stands for no line. */
  preview(line: string | undefined): readonly MarkdownBlock[] {
    const copy = new BlockScanner();
    copy.state = { ...this.state, lines: [...this.state.lines] };
    if (line !== undefined) copy.line(line);
    copy.close();
    return copy.take();
  }

  private take(): readonly MarkdownBlock[] {
    const { done } = this;
    this.done = [];
    return done;
  }

  private line(line: string): void {
    const { mode } = this.state;
    if (mode === "fence") this.inFence(line);
    else if (mode === "item") this.inItem(line);
    else if (mode === "text") this.inText(line);
    else this.start(line);
  }

  private add(line: string): void {
    const { state } = this;
    state.lines.push(line);
    state.units += line.length + 1;
    if (state.units >= blockUnitsMax) this.close();
  }

  /** Ends the block under work. Blank lines at its end part it from the next one. */
  private close(): void {
    const { state } = this;
    if (state.mode === "fence") {
      this.codePiece();
    } else if (state.mode !== "none") {
      let end = state.lines.length;
      while (end > 0 && state.lines[end - 1]!.trim() === "") end -= 1;
      const source = state.lines.slice(0, end).join("\n");
      this.done.push({ kind: "markdown", source, isItem: state.mode === "item", hasGap: state.hasGap });
      state.isFirst = false;
      state.wasCode = false;
    }
    state.mode = "none";
    state.lines = [];
    state.units = 0;
    state.itemFence = undefined;
    state.fence = undefined;
    state.fenceLines = 0;
  }

  private begin(mode: State["mode"], isParted: boolean): void {
    const { state } = this;
    state.hasGap = !state.isFirst && (isParted || state.blanks > 0 || state.wasCode);
    state.mode = mode;
    state.blanks = 0;
  }

  /** A line outside of any block. */
  private start(line: string): void {
    const { state } = this;
    if (line.trim() === "") {
      state.blanks += 1;
      return;
    }
    const fence = indentOfLine(line) <= 3 ? fenceOf(line) : undefined;
    if (fence !== undefined) {
      this.begin("fence", true);
      state.fence = fence;
      return;
    }
    const item = thematicBreak.test(line) ? null : itemStart.exec(line);
    if (item !== null) {
      this.begin("item", false);
      const lead = item[1]!.length + item[2]!.length;
      const spaces = item[3]!.length;
      state.contentIndent = lead + (spaces > 4 || spaces === 0 ? 1 : spaces);
      state.itemFence = fenceOf(line.slice(item[0].length));
    } else {
      this.begin("text", false);
    }
    this.add(line);
  }

  private restart(line: string): void {
    const { blanks } = this.state;
    this.close();
    this.state.blanks = blanks;
    this.start(line);
  }

  private inText(line: string): void {
    const { state } = this;
    if (line.trim() === "") {
      this.close();
      state.blanks = 1;
      return;
    }
    const isFence = indentOfLine(line) <= 3 && fenceOf(line) !== undefined;
    if (isFence || (!htmlStart.test(state.lines[0]!) && this.interruptsText(line))) this.restart(line);
    else this.add(line);
  }

  /** An item interrupts a paragraph where it has text and, if it is numbered, starts at 1. */
  private interruptsText(line: string): boolean {
    const item = thematicBreak.test(line) ? null : itemStart.exec(line);
    if (item === null || line.length === item[0].length) return false;
    return !/\d/.test(item[2]!) || /^1[.)]$/.test(item[2]!);
  }

  private inItem(line: string): void {
    const { state } = this;
    if (line.trim() === "") {
      state.blanks += 1;
      this.add(line);
      if (state.mode === "none") state.blanks = 1;
      return;
    }
    const isInside = indentOfLine(line) >= state.contentIndent;
    if (isInside) {
      if (state.itemFence === undefined) state.itemFence = fenceOf(line);
      else if (closesFence(line, state.itemFence)) state.itemFence = undefined;
      state.blanks = 0;
      this.add(line);
      return;
    }
    const endsItem =
      state.itemFence !== undefined ||
      state.blanks > 0 ||
      itemStart.test(line) ||
      thematicBreak.test(line) ||
      blockStart.test(line) ||
      (indentOfLine(line) <= 3 && fenceOf(line) !== undefined);
    if (endsItem) this.restart(line);
    else this.add(line);
  }

  private inFence(line: string): void {
    const { state } = this;
    const fence = state.fence!;
    if (indentOfLine(line) <= 3 && closesFence(line, fence)) {
      this.close();
      return;
    }
    const strip = Math.min(fence.indent, indentOfLine(line));
    state.lines.push(line.slice(strip));
    state.units += line.length + 1;
    const isFull = state.lines.length >= codePieceLinesMax || state.units >= blockUnitsMax;
    if (isFull || (state.lines.length >= codePieceLinesMin && line.trim() === "")) this.codePiece();
  }

  /** Gives out the lines of a fence so far; the fence goes on. */
  private codePiece(): void {
    const { state } = this;
    if (state.lines.length === 0) return;
    this.done.push({
      kind: "code",
      lines: state.lines,
      language: state.fence?.language ?? "",
      hasGap: state.fenceLines === 0 && state.hasGap,
      isPlain: state.fenceLines >= highlightLinesMax,
    });
    state.fenceLines += state.lines.length;
    state.lines = [];
    state.units = 0;
    state.isFirst = false;
    state.wasCode = true;
  }
}
