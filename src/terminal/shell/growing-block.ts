/** A block that is still being written, whose settled lines are printed while it grows. */
import type { Entry } from "../../transcript/index.ts";
import { createStreamRenderer, type RenderOptions, renderEntry } from "../render/index.ts";
import type { Line } from "../text/index.ts";

/** Lines to print once, and how they are laid out for another width. */
export interface Printing {
  readonly lines: readonly Line[];
  readonly relayout: (width: number) => readonly Line[];
}

/** The layout of a block at any width: everything of the options but the width is fixed. */
export type LayoutOptions = Omit<RenderOptions, "width">;

interface Growth {
  readonly thinking: string;
  readonly text: string;
}

/** The growing text of an entry; undefined where it does not grow by its text alone. */
export function growthOf(entry: Entry): Growth | undefined {
  if (entry.subagent !== undefined || entry.offPath === true) return undefined;
  if (entry.kind === "streaming") return { thinking: entry.thinking, text: entry.text };
  if (entry.kind !== "model") return undefined;
  const [first, second, ...others] = entry.blocks;
  if (first === undefined || others.length > 0) return undefined;
  if (first.kind === "text") return second === undefined ? { thinking: "", text: first.text } : undefined;
  if (first.kind !== "thinking") return undefined;
  if (second === undefined) return { thinking: first.text, text: "" };
  return second.kind === "text" ? { thinking: first.text, text: second.text } : undefined;
}

function isEqualLine(a: Line, b: Line): boolean {
  return a.wrap === b.wrap && JSON.stringify(a.spans) === JSON.stringify(b.spans);
}

/** How many lines two layouts have in common at their start. */
function commonLines(a: readonly Line[], b: readonly Line[]): number {
  let count = 0;
  while (count < a.length && count < b.length && isEqualLine(a[count]!, b[count]!)) count += 1;
  return count;
}

/** The lines that stand before the streamed ones: the blank row that parts the block from the one above. */
function leadOf(entry: Entry, options: LayoutOptions): readonly Line[] {
  const parted = renderEntry(entry, { ...options, width: 80 });
  const { previous: _, ...alone } = options;
  return parted.slice(0, parted.length - renderEntry(entry, { ...alone, width: 80 }).length);
}

/** Where one printing ended: sizes of what had come in by then. */
interface Mark {
  readonly thinking: number;
  readonly text: number;
}

/**
 * Follows one block through its versions. The printings it gives, one after the other, are the block's lines: those of `renderEntry` for
 * its last version, where the text only ever grew; where it was rewritten, what is printed stays and the rest of the new version follows.
 */
export class GrowingBlock {
  readonly #options: LayoutOptions;
  #lead: readonly Line[] = [];
  #width: number;
  #renderer: ReturnType<typeof createStreamRenderer>;
  #thinking = "";
  #text = "";
  #open: readonly Line[] = [];
  readonly #marks: Mark[] = [];
  #cache: { readonly width: number; readonly chunks: readonly (readonly Line[])[] } | undefined;

  constructor(options: LayoutOptions, width: number) {
    this.#options = options;
    this.#width = width;
    this.#renderer = createStreamRenderer({ ...options, width });
  }

  /** Whether any of its lines are printed. */
  get isStarted(): boolean {
    return this.#marks.length > 0;
  }

  /** The unsettled lines as they stand. */
  get open(): readonly Line[] {
    return this.isStarted ? this.#open : [...this.#lead, ...this.#open];
  }

  /**
   * Takes a newer version in. The lines that became settled are to be printed now. Undefined where the version is no continuation:
   * nothing is taken in.
   */
  grow(entry: Entry): Printing | undefined | "rewritten" {
    const growth = growthOf(entry);
    if (growth === undefined) return "rewritten";
    if (!growth.thinking.startsWith(this.#thinking) || !growth.text.startsWith(this.#text))
      return "rewritten";
    if (this.#text !== "" && growth.thinking.length > this.#thinking.length) return "rewritten";
    if (!this.isStarted && this.#lead.length === 0) this.#lead = leadOf(entry, this.#options);
    const settled: Line[] = [];
    const moreThinking = growth.thinking.slice(this.#thinking.length);
    if (moreThinking !== "") {
      const lines = this.#renderer.pushThinking(moreThinking);
      settled.push(...lines.settled);
      this.#open = lines.open;
    }
    const moreText = growth.text.slice(this.#text.length);
    if (moreText !== "") {
      const lines = this.#renderer.pushText(moreText);
      settled.push(...lines.settled);
      this.#open = lines.open;
    }
    this.#thinking = growth.thinking;
    this.#text = growth.text;
    if (settled.length === 0) return undefined;
    const lines = this.isStarted ? settled : [...this.#lead, ...settled];
    const index = this.#marks.length;
    this.#marks.push({ thinking: this.#thinking.length, text: this.#text.length });
    return { lines, relayout: (width) => this.#chunks(width)[index] ?? [] };
  }

  /** The rest of the block, which is finished as `entry`. */
  finish(entry: Entry): Printing {
    const all = (width: number): readonly Line[] => renderEntry(entry, { ...this.#options, width });
    if (!this.isStarted) return { lines: all(this.#width), relayout: all };
    const rest = (width: number): readonly Line[] => {
      const lines = all(width);
      return lines.slice(commonLines(lines, this.#chunks(width).flat()));
    };
    return { lines: rest(this.#width), relayout: rest };
  }

  /** Goes on at another width: what is printed counts as printed. */
  rebase(width: number): void {
    if (width === this.#width) return;
    this.#width = width;
    this.#renderer = createStreamRenderer({ ...this.#options, width });
    if (this.#thinking !== "") this.#open = this.#renderer.pushThinking(this.#thinking).open;
    if (this.#text !== "") this.#open = this.#renderer.pushText(this.#text).open;
  }

  /** The printed lines of each printing, laid out for `width`. Costs the text once a width. */
  #chunks(width: number): readonly (readonly Line[])[] {
    if (this.#cache?.width === width && this.#cache.chunks.length === this.#marks.length)
      return this.#cache.chunks;
    const renderer = createStreamRenderer({ ...this.#options, width });
    let thinking = 0;
    let text = 0;
    const chunks = this.#marks.map((mark, index) => {
      const lines: Line[] = index === 0 ? [...this.#lead] : [];
      if (mark.thinking > thinking)
        lines.push(...renderer.pushThinking(this.#thinking.slice(thinking, mark.thinking)).settled);
      if (mark.text > text) lines.push(...renderer.pushText(this.#text.slice(text, mark.text)).settled);
      thinking = mark.thinking;
      text = mark.text;
      return lines;
    });
    this.#cache = { width, chunks };
    return chunks;
  }
}
